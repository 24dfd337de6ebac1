package jobs_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ax/app/sched"
	"ax/jobs"

	"github.com/stretchr/testify/require"
)

// names is a name server whose answer a test chooses.
type names struct {
	mu      sync.Mutex
	answers []netip.Addr // of version 4, to every name
}

func (n *names) say(texts ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.answers = addrs(texts...)
}

// serve answers until the socket is closed: the question comes back with the
// answers behind it.
func (n *names) serve(conn net.PacketConn) {
	buf := make([]byte, 1500)
	for {
		size, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		end := 12
		for end < size && buf[end] != 0 {
			end += int(buf[end]) + 1
		}
		end += 5 // the root, type and class
		var answers []netip.Addr
		if n.mu.Lock(); buf[end-3] == 1 { // A
			answers = n.answers
		}
		n.mu.Unlock()
		out := append([]byte{buf[0], buf[1], 0x81, 0x80, 0, 1, 0, byte(len(answers)), 0, 0, 0, 0}, buf[12:end]...)
		for _, a := range answers {
			out = append(append(out, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4), a.AsSlice()...)
		}
		_, _ = conn.WriteTo(out, from)
	}
}

// resolver asks a name server of its own.
func resolver(t *testing.T) (*names, *net.Resolver) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	n := &names{}
	go n.serve(conn)
	return n, &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// twoTargets listen on the same port of two addresses and count their calls.
func twoTargets(t *testing.T) (port string, one, two *atomic.Int64) {
	t.Helper()
	one, two = new(atomic.Int64), new(atomic.Int64)
	counting := func(n *atomic.Int64) http.Handler {
		return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { n.Add(1) })
	}
	for range 20 {
		a := httptest.NewServer(counting(one))
		_, port, _ = net.SplitHostPort(a.Listener.Addr().String())
		ln, err := net.Listen("tcp", "127.0.0.2:"+port)
		if err != nil {
			a.Close()
			continue
		}
		b := &httptest.Server{Listener: ln, Config: &http.Server{Handler: counting(two), ReadHeaderTimeout: time.Second}}
		b.Start()
		t.Cleanup(a.Close)
		t.Cleanup(b.Close)
		return port, one, two
	}
	require.Fail(t, "no port is free on both addresses")
	return
}

// teamCaller calls by the lists of teams, under a clock that a test moves.
func teamCaller(t *testing.T, o jobs.HTTPOptions) (*jobs.HTTP, *office) {
	t.Helper()
	f := newOffice(t)
	o.Egress = f.e
	return callerWith(t, o), f
}

func callOf(team int64, url string) sched.Call {
	c := callTo(url)
	c.TeamID = team
	return c
}

func requireBlocked(t *testing.T, r sched.Result) {
	t.Helper()
	require.Equal(t, sched.OutcomeFailed, r.Outcome, r.Error)
	require.True(t, r.Definite, "surely nothing was sent")
	require.Contains(t, r.Error, "address rules")
	require.Zero(t, r.StatusCode)
	require.Empty(t, r.Response, "the answer of what is blocked isn't shown")
}

func newHTTP2Server(h http.Handler) *httptest.Server {
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = true
	s.StartTLS()
	return s
}

func TestAKeptConnectionIsNotLentToAnotherTeam(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(http.Handler) *httptest.Server{"plain": httptest.NewServer, "TLS": httptest.NewTLSServer, "HTTP/2": newHTTP2Server} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int64
			target := start(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
			t.Cleanup(target.Close)
			o := jobs.HTTPOptions{}
			if target.TLS != nil {
				o.RootCAs = target.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
			}
			h, f := teamCaller(t, o)
			f.set(7, "127.0.0.0/8")
			require.Equal(t, sched.OutcomeSucceeded, h.Execute(within(t, 5*time.Second), callOf(7, target.URL)).Outcome)
			requireBlocked(t, h.Execute(within(t, 5*time.Second), callOf(8, target.URL)))
			require.Equal(t, sched.OutcomeSucceeded, h.Execute(within(t, 5*time.Second), callOf(7, target.URL)).Outcome)
			require.EqualValues(t, 2, calls.Load())

			f.set(7)
			f.at = f.at.Add(jobs.ListFresh)
			requireBlocked(t, h.Execute(within(t, 5*time.Second), callOf(7, target.URL)))
			require.EqualValues(t, 2, calls.Load(), "closed means the kept connection, too")
		})
	}
}

func TestOfANamesAddressesOnlyThoseThatAreOpenAreCalled(t *testing.T) {
	t.Parallel()
	dns, resolve := resolver(t)
	port, one, two := twoTargets(t)
	h, f := teamCaller(t, jobs.HTTPOptions{Resolve: resolve})
	f.set(7, "127.0.0.1/32")
	for _, answer := range [][]string{{"127.0.0.1", "127.0.0.2"}, {"127.0.0.2", "127.0.0.1"}} {
		dns.say(answer...)
		r := h.Execute(within(t, 5*time.Second), callOf(7, "http://orders.example:"+port+"/"))
		require.Equal(t, sched.OutcomeSucceeded, r.Outcome, r.Error)
		requireBlocked(t, h.Execute(within(t, 5*time.Second), callOf(8, "http://orders.example:"+port+"/")))
	}
	require.EqualValues(t, 2, one.Load())
	require.Zero(t, two.Load())
}

func TestANameIsJudgedByWhereItLeadsNow(t *testing.T) {
	t.Parallel()
	dns, resolve := resolver(t)
	port, one, two := twoTargets(t)
	h, f := teamCaller(t, jobs.HTTPOptions{Resolve: resolve})
	f.set(7, "127.0.0.1/32")
	call := callOf(7, "http://orders.example:"+port+"/")
	call.Idempotent = false // a connection of its own
	dns.say("127.0.0.1")
	require.Equal(t, sched.OutcomeSucceeded, h.Execute(within(t, 5*time.Second), call).Outcome)
	for _, to := range []string{"127.0.0.2", "10.0.0.1", "169.254.169.254", "0.0.0.0"} {
		dns.say(to)
		requireBlocked(t, h.Execute(within(t, 5*time.Second), call))
	}
	require.EqualValues(t, 1, one.Load())
	require.Zero(t, two.Load())
}

func TestARedirectIntoTheNetworkIsNotFollowed(t *testing.T) {
	t.Parallel()
	port, one, two := twoTargets(t)
	h, f := teamCaller(t, jobs.HTTPOptions{})
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+strings.TrimPrefix(r.URL.Path, "/")+":"+port+"/", http.StatusTemporaryRedirect)
	}))
	t.Cleanup(target.Close)
	f.set(7, "127.0.0.1/32")
	for _, to := range []string{"127.0.0.1", "127.0.0.2", "169.254.169.254"} {
		r := h.Execute(within(t, 5*time.Second), callOf(7, target.URL+"/"+to))
		require.Contains(t, r.Error, "redirects are not followed")
	}
	require.Zero(t, one.Load()+two.Load())
}

func TestWithoutTheListNothingIsCalledAndTheRunSaysWhy(t *testing.T) {
	t.Parallel()
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("was called") }))
	t.Cleanup(target.Close)
	h, f := teamCaller(t, jobs.HTTPOptions{})
	f.away = errAway
	r := h.Execute(within(t, 5*time.Second), callOf(7, target.URL))
	requireBlocked(t, r)
	require.Contains(t, r.Error, "the team's list of ranges can't be read (the database is away)")
}
