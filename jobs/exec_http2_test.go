package jobs_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/jobs"
)

// Frames of HTTP/2 (RFC 9113, section 6) and codes of errors (section 7).
const (
	frameHeaders, frameReset, frameSettings, framePing, frameGoAway byte = 1, 3, 4, 6, 7
	endStream, endHeaders, ack                                      byte = 1, 4, 1
	codeProtocol, codeRefused, codeCancel                                = 1, 7, 8
)

// raw2 is a target of bare HTTP/2 frames, behind TLS. It lets the behaviour
// answer each call that came whole, by its stream.
type raw2 struct {
	url          string
	roots        *x509.CertPool
	calls, conns atomic.Int64
}

func rawHTTP2(t *testing.T, behave func(c net.Conn, stream uint32, call int64)) *raw2 {
	t.Helper()
	certPEM, key := ownCert(t)
	pair, err := tls.X509KeyPair(certPEM, key)
	require.NoError(t, err)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"}})
	require.NoError(t, err)
	target := &raw2{url: "https://" + l.Addr().String(), roots: x509.NewCertPool()}
	target.roots.AppendCertsFromPEM(certPEM)
	var open sync.WaitGroup
	open.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			target.conns.Add(1)
			open.Go(func() {
				defer func() { _ = c.Close() }()
				target.serve(c, behave)
			})
			t.Cleanup(func() { _ = c.Close() })
		}
	})
	t.Cleanup(func() { _ = l.Close(); open.Wait() })
	return target
}

func (r *raw2) serve(c net.Conn, behave func(c net.Conn, stream uint32, call int64)) {
	if _, err := io.CopyN(io.Discard, c, 24); err != nil { // the preface
		return
	}
	sendFrame(c, frameSettings, 0, 0, nil)
	for {
		head := make([]byte, 9)
		if _, err := io.ReadFull(c, head); err != nil {
			return
		}
		body := make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
		if _, err := io.ReadFull(c, body); err != nil {
			return
		}
		kind, flags, stream := head[3], head[4], binary.BigEndian.Uint32(head[5:])
		switch {
		case kind == frameSettings && flags&ack == 0:
			sendFrame(c, frameSettings, ack, 0, nil)
		case kind == framePing && flags&ack == 0:
			sendFrame(c, framePing, ack, 0, body)
		case kind <= frameHeaders && flags&endStream != 0: // headers or data
			behave(c, stream, r.calls.Add(1))
		}
	}
}

func sendFrame(c io.Writer, kind, flags byte, stream uint32, body []byte) {
	head := []byte{byte(len(body) >> 16), byte(len(body) >> 8), byte(len(body)), kind, flags, 0, 0, 0, 0}
	binary.BigEndian.PutUint32(head[5:], stream)
	_, _ = c.Write(append(head, body...))
}

// whole answers 200; half begins such an answer.
func whole(c io.Writer, stream uint32) {
	sendFrame(c, frameHeaders, endHeaders|endStream, stream, []byte{0x88})
}

func half(c io.Writer, stream uint32) {
	sendFrame(c, frameHeaders, endHeaders, stream, []byte{0x88})
}

func goAway(c io.Writer, last uint32) {
	sendFrame(c, frameGoAway, 0, 0, binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, last), 0))
}

func resetStream(c io.Writer, stream, code uint32) {
	sendFrame(c, frameReset, 0, stream, binary.BigEndian.AppendUint32(nil, code))
}

// F29: over HTTP/2 a call is sent once, and only a whole answer is a success.
func TestF29WhatEndsOverHTTP2IsSentOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		behave  func(c net.Conn, stream uint32)
		outcome sched.Outcome
		status  int
		says    string
	}{
		"GOAWAY before the answer":    {func(c net.Conn, _ uint32) { goAway(c, 0); _ = c.Close() }, sched.OutcomeFailed, 0, "GOAWAY"},
		"GOAWAY, and it goes on":      {func(c net.Conn, s uint32) { goAway(c, s); whole(c, s) }, sched.OutcomeSucceeded, 200, ""},
		"GOAWAY in the body":          {func(c net.Conn, s uint32) { half(c, s); goAway(c, s); _ = c.Close() }, sched.OutcomeFailed, 200, "broke off"},
		"refused":                     {func(c net.Conn, s uint32) { resetStream(c, s, codeRefused) }, sched.OutcomeFailed, 0, "ended the HTTP/2 call: REFUSED_STREAM"},
		"a protocol error":            {func(c net.Conn, s uint32) { resetStream(c, s, codeProtocol) }, sched.OutcomeFailed, 0, "ended the HTTP/2 call: PROTOCOL_ERROR"},
		"reset in the body":           {func(c net.Conn, s uint32) { half(c, s); resetStream(c, s, codeCancel) }, sched.OutcomeFailed, 200, "ended the HTTP/2 call: CANCEL"},
		"closed without a word":       {func(c net.Conn, _ uint32) { _ = c.Close() }, sched.OutcomeFailed, 0, "closed the connection"},
		"what is no HTTP/2":           {func(c net.Conn, _ uint32) { write(c, "HTTP/1.1 200 OK\r\n\r\n"); _ = c.Close() }, sched.OutcomeFailed, 0, ""},
		"silence":                     {func(net.Conn, uint32) {}, sched.OutcomeTimedOut, 0, "no answer in time"},
		"silence in the body":         {func(c net.Conn, s uint32) { half(c, s) }, sched.OutcomeTimedOut, 200, "no answer in time"},
		"a whole answer":              {func(c net.Conn, s uint32) { whole(c, s) }, sched.OutcomeSucceeded, 200, ""},
		"interim answers without end": {func(c net.Conn, s uint32) { interim(c, s, 10_000) }, sched.OutcomeFailed, 0, ""},
		"a hint, and a whole answer":  {func(c net.Conn, s uint32) { interim(c, s, 1); whole(c, s) }, sched.OutcomeSucceeded, 200, ""},
		"headers that are no headers": {func(c net.Conn, s uint32) {
			sendFrame(c, frameHeaders, endHeaders|endStream, s, []byte{0xff, 0xff, 0xff, 0xff, 0xff})
		}, sched.OutcomeFailed, 0, ""},
		"a frame longer than it may be": {func(c net.Conn, s uint32) { sendFrame(c, 0, 0, s, make([]byte, 1<<21)) }, sched.OutcomeFailed, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := rawHTTP2(t, func(conn net.Conn, stream uint32, _ int64) { c.behave(conn, stream) })
			began := time.Now()
			r := callerWith(t, jobs.HTTPOptions{RootCAs: target.roots}).Execute(within(t, time.Second), callTo(target.url))
			require.Equal(t, c.outcome, r.Outcome, r.Error)
			require.Equal(t, c.status, r.StatusCode)
			require.Contains(t, r.Error, c.says)
			require.Equal(t, c.outcome == sched.OutcomeSucceeded, r.Definite, "the target may have done the work")
			require.NotContains(t, r.Error, "GetBody")
			require.EqualValues(t, 1, target.calls.Load(), "a call is sent once")
			require.Less(t, time.Since(began), 2*time.Second)
		})
	}
}

// interim sends answers of status 103 (":status" as a literal, RFC 7541).
func interim(c io.Writer, stream uint32, n int) {
	for range n {
		sendFrame(c, frameHeaders, endHeaders, stream, append([]byte{0x08, 3}, "103"...))
	}
}

func TestF29AfterGoAwayTheNextCallGetsAnotherConnection(t *testing.T) {
	t.Parallel()
	target := rawHTTP2(t, func(c net.Conn, stream uint32, call int64) {
		whole(c, stream)
		if call == 2 {
			goAway(c, stream)
		}
	})
	h := callerWith(t, jobs.HTTPOptions{RootCAs: target.roots})
	for range 4 {
		r := h.Execute(within(t, 5*time.Second), callTo(target.url))
		require.Equal(t, sched.OutcomeSucceeded, r.Outcome, r.Error)
		time.Sleep(50 * time.Millisecond) // the farewell arrives
	}
	require.EqualValues(t, 4, target.calls.Load())
	require.EqualValues(t, 2, target.conns.Load())
}

func TestF29AConnectionOfHTTP2ThatIsClosedWhileKeptIsReplaced(t *testing.T) {
	t.Parallel()
	target := rawHTTP2(t, func(c net.Conn, stream uint32, _ int64) {
		whole(c, stream)
		_ = c.Close()
	})
	h := callerWith(t, jobs.HTTPOptions{RootCAs: target.roots})
	var unsure int64
	for range 50 {
		if r := h.Execute(within(t, 5*time.Second), callTo(target.url)); r.Outcome != sched.OutcomeSucceeded {
			require.False(t, r.Definite, r.Error) // written to just before the end was seen
			unsure++
		}
	}
	require.Greater(t, target.conns.Load(), int64(25))
	require.LessOrEqual(t, target.calls.Load(), int64(50), "no call is sent twice")
	require.GreaterOrEqual(t, target.calls.Load(), 50-unsure)
}

// modern is a server of this machine that speaks HTTP/2, and what it saw.
func modern(t *testing.T, h http.HandlerFunc) (target *httptest.Server, roots *x509.CertPool, conns *atomic.Int64) {
	t.Helper()
	conns = new(atomic.Int64)
	target = httptest.NewUnstartedServer(h)
	target.EnableHTTP2 = true
	target.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}
	target.StartTLS()
	t.Cleanup(target.Close)
	return target, target.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, conns
}

func TestIdempotentWorkSharesAConnectionOfHTTP2(t *testing.T) {
	t.Parallel()
	var old atomic.Int64
	target, roots, conns := modern(t, func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			old.Add(1)
		}
		_, _ = io.Copy(w, r.Body)
	})
	h := callerWith(t, jobs.HTTPOptions{RootCAs: roots})
	first := h.Execute(within(t, 5*time.Second), callTo(target.URL))
	require.Equal(t, sched.OutcomeSucceeded, first.Outcome, first.Error)
	require.Contains(t, first.Response, "HTTP/2.0 200 OK")
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if r := h.Execute(within(t, 5*time.Second), callTo(target.URL)); r.Outcome != sched.OutcomeSucceeded {
				t.Error(r.Error)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, conns.Load(), "one connection for all")
	require.Zero(t, old.Load())
	got := ruled(target.URL, sched.HTTPRules{Method: "GET"})
	r := h.Execute(within(t, 5*time.Second), got)
	require.Equal(t, sched.OutcomeSucceeded, r.Outcome, "without a body: %s", r.Error)

	once := callTo(target.URL)
	once.Idempotent = false
	for range 2 {
		r := h.Execute(within(t, 5*time.Second), once)
		require.Contains(t, r.Response, "HTTP/1.1 200 OK")
	}
	require.EqualValues(t, 3, conns.Load(), "a connection of its own for work that can't be repeated")
}

func TestConnectionsWithCertificatesOfTheirOwnAreKept(t *testing.T) {
	t.Parallel()
	cert, key := ownCert(t)
	pair, err := tls.X509KeyPair(cert, key)
	require.NoError(t, err)
	mine, mineKey := ownCert(t)
	other, otherKey := ownCert(t)
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(mine)
	clients.AppendCertsFromPEM(other)
	var conns atomic.Int64
	var seen sync.Map
	target := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		seen.Store(string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.TLS.PeerCertificates[0].Raw})), r.Header.Get("X-Team"))
	}))
	target.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients}
	target.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}
	target.StartTLS()
	t.Cleanup(target.Close)
	line := func(cert, key []byte) string { return base64.StdEncoding.EncodeToString(append(cert, key...)) }
	drawer := drawer{"MINE": line(mine, mineKey), "OTHER": line(other, otherKey)}
	h := with(t, drawer)
	call := func(team int64, name string) {
		c := ruled(target.URL, sched.HTTPRules{CA: string(cert), ClientCert: name})
		c.TeamID, c.Target.Headers = team, map[string]string{"X-Team": name}
		r := h.Execute(within(t, 5*time.Second), c)
		require.Equal(t, sched.OutcomeSucceeded, r.Outcome, r.Error)
	}
	for range 3 {
		call(1, "MINE")
	}
	require.EqualValues(t, 1, conns.Load(), "kept")
	call(1, "OTHER")
	call(2, "MINE")
	require.EqualValues(t, 3, conns.Load(), "a certificate and a team are a pool each")
	for cert, name := range map[string]string{string(mine): "MINE", string(other): "OTHER"} {
		got, _ := seen.Load(cert)
		require.Equal(t, name, got)
	}
}

func TestPoolsOfConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	var conns, gone atomic.Int64
	target := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	target.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		switch s {
		case http.StateNew:
			conns.Add(1)
		case http.StateClosed:
			gone.Add(1)
		}
	}
	target.Start()
	t.Cleanup(target.Close)
	h := caller(t)
	for team := range int64(jobs.MaxPools + 20) {
		c := callTo(target.URL)
		c.TeamID = team
		require.Equal(t, sched.OutcomeSucceeded, h.Execute(within(t, 5*time.Second), c).Outcome)
	}
	require.Equal(t, jobs.MaxPools, h.Pools())
	require.EqualValues(t, jobs.MaxPools+20, conns.Load())
	require.Eventually(t, func() bool { return gone.Load() == conns.Load() }, 10*time.Second, 50*time.Millisecond, "idle connections end by themselves")
}
