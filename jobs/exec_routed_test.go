package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/jobs"
	"ax/jobs/redistest"
)

// book is the ledger of executors in memory.
type book struct {
	mu     sync.Mutex
	all    []sched.ExecutorInfo
	shards []sched.ShardRun
	fail   error // of every method
	deaf   bool  // ends are not noted
}

func (b *book) Executors(_ context.Context, team int64, name string) (out []sched.ExecutorInfo, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.all {
		if e.TeamID == team && e.Name == name {
			out = append(out, e)
		}
	}
	return out, b.fail
}

func (b *book) Shards(context.Context, string) ([]sched.ShardRun, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.shards), b.fail
}

func (b *book) BeginShards(_ context.Context, _ string, shards []sched.ShardRun) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shards = append(b.shards, shards...)
	return b.fail
}

func (b *book) EndShard(_ context.Context, _ string, s sched.ShardRun) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.deaf {
		return errors.New("the ledger is away")
	}
	i := slices.IndexFunc(b.shards, func(x sched.ShardRun) bool { return x.Attempt == s.Attempt && x.Index == s.Index })
	b.shards[i] = s
	return b.fail
}

// crew are executors of billing that answer as they are told.
type crew struct {
	*book
	mu   sync.Mutex
	got  []*http.Request // by the order of their coming
	body []string
	now  time.Time
}

func newCrew() *crew { return &crew{book: &book{}, now: time.UnixMilli(1_796_000_000_000).UTC()} }

// add lets an executor answer calls with what answer writes.
func (c *crew) add(t *testing.T, answer http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		c.got, c.body = append(c.got, r), append(c.body, string(body))
		c.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	c.list(s.URL)
	return s
}

// seen are the calls that came, in their order.
func (c *crew) seen() []*http.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.got)
}

// list adds an address to those online.
func (c *crew) list(address string) {
	c.all = append(c.all, sched.ExecutorInfo{
		ID: fmt.Sprintf("e%d", len(c.all)), TeamID: 7, Name: "billing", Address: address, Weight: 100, Types: []sched.TaskType{{Type: "close-day"}}, BeatAt: c.now,
	})
}

func (c *crew) routed(t *testing.T, r *jobs.Redis) *jobs.Routed {
	return jobs.NewRouted(jobs.RoutedOptions{
		Call: caller(t), Book: c.book, Turns: jobs.NewTurns(r), Now: func() time.Time { return c.now }, Dice: func() float64 { return 0.5 },
		Log: slog.New(slog.DiscardHandler),
	})
}

func routedCall(route sched.Route) sched.Call {
	call := callTo("")
	call.TeamID, call.Attempt = 7, 1
	call.ReceiptURL, call.ReceiptToken = "https://ax.example/receipt", "1.secret-token"
	call.Target = sched.Target{Kind: sched.TargetHTTP, Executor: "billing", Type: "close-day", Route: route}
	return call
}

func done(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "done") }

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code); _, _ = io.WriteString(w, "no") }
}

// refusing is an address at which nobody listens.
func refusing(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return "http://" + l.Addr().String()
}

func TestAnExecutorGetsTheCallOfACallbackAndItsType(t *testing.T) {
	t.Parallel()
	c := newCrew()
	s := c.add(t, done)
	c.all[0].Address += "/svc"
	r := c.routed(t, redistest.Embedded(t)).Execute(within(t, 5*time.Second), routedCall(sched.RoundRobin))
	require.Equal(t, sched.OutcomeSucceeded, r.Outcome, r.Error)
	got := c.seen()[0]
	require.Equal(t, "/svc/ax/close-day", got.RequestURI)
	for name, want := range map[string]string{
		"Ax-Executor": "billing", "Ax-Task-Type": "close-day", "Ax-Shard-Index": "", "Ax-Shard-Total": "", "Idempotency-Key": "close-order/order-7",
		"Ax-Receipt-Token": "1.secret-token", "Ax-Signature": signer(t).Sign(time.Unix(sentAt, 0), instanceID, []byte(c.body[0])),
	} {
		require.Equal(t, want, got.Header.Get(name), name)
	}
	require.Contains(t, c.body[0], `"task_type":"close-day"`)
	require.NotContains(t, c.body[0], "shard")
	require.True(t, strings.HasPrefix(r.Request, "POST "+s.URL+"/svc/ax/close-day\n"), r.Request)
	require.Contains(t, r.Request, "Ax-Executor: billing\n")
}

func TestAnAddressIsCalledAsItIs(t *testing.T) {
	t.Parallel()
	c := newCrew()
	s := c.add(t, done)
	call := callTo(s.URL + "/plain")
	r := c.routed(t, redistest.Embedded(t)).Execute(within(t, 5*time.Second), call)
	require.Equal(t, sched.OutcomeSucceeded, r.Outcome)
	require.Equal(t, "/plain", c.seen()[0].RequestURI)
	require.NotContains(t, c.seen()[0].Header, "Ax-Executor")
}

func TestNodesTakeTurnsTogether(t *testing.T) {
	redistest.Each(t, func(t *testing.T, redis *jobs.Redis) {
		c := newCrew()
		for range 3 {
			c.add(t, done)
		}
		nodes := []*jobs.Routed{c.routed(t, redis), c.routed(t, redis)}
		var wg sync.WaitGroup
		for i := range 60 {
			wg.Go(func() { nodes[i%2].Execute(within(t, 20*time.Second), routedCall(sched.RoundRobin)) })
		}
		wg.Wait()
		hosts := map[string]int{}
		for _, r := range c.seen() {
			hosts[r.Host]++
		}
		require.Len(t, hosts, 3)
		for host, n := range hosts {
			require.Equal(t, 20, n, host)
		}
	})
}

func TestWithoutRedisCallsAreStillMade(t *testing.T) {
	t.Parallel()
	c := newCrew()
	redis, err := jobs.OpenRedis(t.Context(), jobs.RedisOptions{Embedded: true})
	require.NoError(t, err)
	c.add(t, done)
	c.add(t, done)
	routed := c.routed(t, redis)
	require.NoError(t, redis.Close())
	hosts := map[string]bool{}
	for i := range 20 {
		call := routedCall(sched.RoundRobin)
		call.InstanceID = fmt.Sprintf("0193b1f0-7d3a-7c4e-8a51-0123456789%02d", i)
		require.Equal(t, sched.OutcomeSucceeded, routed.Execute(within(t, 5*time.Second), call).Outcome)
	}
	for _, r := range c.seen() {
		hosts[r.Host] = true
	}
	require.Len(t, hosts, 2)
}

func TestTheIdleOneGetsTheNextCallsUntilItsBeatTellsMore(t *testing.T) {
	t.Parallel()
	c := newCrew()
	c.add(t, done)
	idle := c.add(t, done)
	c.all[0].Running = 3
	routed := c.routed(t, redistest.Embedded(t))
	for range 3 {
		routed.Execute(within(t, 5*time.Second), routedCall(sched.LeastBusy))
	}
	for _, r := range c.seen() {
		require.Equal(t, strings.TrimPrefix(idle.URL, "http://"), r.Host)
	}
	for range 2 { // as busy as the other: one each
		routed.Execute(within(t, 5*time.Second), routedCall(sched.LeastBusy))
	}
	require.NotEqual(t, c.seen()[3].Host, c.seen()[4].Host)
}

func TestWithNobodyOnlineNothingIsSent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(c *crew)
		want   string
	}{
		"nobody registered": {func(c *crew) { c.all = nil }, "no executor of billing is online; none has registered within a day"},
		"silent": {func(c *crew) { c.all[0].BeatAt = c.now.Add(-15 * time.Second) },
			"no executor of billing is online; last seen 2026-11-30 00:53:05 UTC"},
		"another team":    {func(c *crew) { c.all[0].TeamID = 8 }, "no executor of billing is online; none has registered within a day"},
		"another type":    {func(c *crew) { c.all[0].Types = []sched.TaskType{{Type: "accrue"}} }, "no executor of billing that is online offers close-day"},
		"the ledger away": {func(c *crew) { c.fail = errors.New("gone") }, "the executors of billing can't be read: gone"},
	} {
		for _, route := range sched.Routes() {
			crew := newCrew()
			crew.add(t, done)
			c.change(crew)
			r := crew.routed(t, redistest.Embedded(t)).Execute(within(t, 5*time.Second), routedCall(route))
			require.Equal(t, sched.Result{Outcome: sched.OutcomeFailed, Definite: true, Error: c.want}, r, name)
			require.Empty(t, crew.seen())
		}
	}
}

func TestFailoverGoesOnOnlyWhenSurelyNobodyWasReached(t *testing.T) {
	t.Parallel()
	hangUp := func(w http.ResponseWriter, _ *http.Request) {
		conn, _, _ := w.(http.Hijacker).Hijack()
		_ = conn.Close()
	}
	for name, c := range map[string]struct {
		first http.HandlerFunc // nil: refuses connections
		want  sched.Outcome
		calls int
	}{
		"refused":                  {nil, sched.OutcomeSucceeded, 1},
		"answered 500":             {status(500), sched.OutcomeFailed, 1},
		"heard it, and hung up":    {hangUp, sched.OutcomeFailed, 1},
		"answered 202":             {status(202), sched.OutcomeAccepted, 1},
		"the first one did it all": {done, sched.OutcomeSucceeded, 1},
	} {
		crew := newCrew()
		if c.first == nil {
			crew.list(refusing(t))
		} else {
			crew.add(t, c.first)
		}
		crew.add(t, done)
		crew.all[1].Weight = 50 // the second choice
		r := crew.routed(t, redistest.Embedded(t)).Execute(within(t, 5*time.Second), routedCall(sched.Failover))
		require.Equal(t, c.want, r.Outcome, name)
		require.Len(t, crew.seen(), c.calls, name)
		if c.first == nil {
			require.Contains(t, r.Request, "before, not reached: "+crew.all[0].Address+": ")
			require.Contains(t, r.Request, "connection refused")
		}
	}
}

func TestFailoverWithNobodyReachedIsADefiniteFailure(t *testing.T) {
	t.Parallel()
	c := newCrew()
	c.list(refusing(t))
	c.list(refusing(t))
	r := c.routed(t, redistest.Embedded(t)).Execute(within(t, 5*time.Second), routedCall(sched.Failover))
	require.True(t, r.Unreached(), r)
	require.Contains(t, r.Error, "connection refused")
}
