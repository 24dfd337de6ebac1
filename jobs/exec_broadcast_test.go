package jobs_test

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/jobs/redistest"
)

func TestABroadcastCallsAllAtOnceEachWithItsShard(t *testing.T) {
	t.Parallel()
	c := newCrew()
	var here atomic.Int32
	all := make(chan struct{})
	together := func(w http.ResponseWriter, r *http.Request) {
		if here.Add(1) == 3 {
			close(all)
		}
		<-all // each waits for the others
		done(w, r)
	}
	for range 3 {
		c.add(t, together)
	}
	r := c.routed(t, redistest.Embedded(t)).Execute(within(t, 5*time.Second), routedCall(sched.Broadcast))
	require.Equal(t, sched.OutcomeSucceeded, r.Outcome, r.Error)
	require.True(t, r.Definite)
	require.Empty(t, r.Error)
	require.True(t, strings.HasPrefix(r.Request, "broadcast of close-day to billing, 3 of 3 parts\n0/3 POST http://127.0.0.1:"), r.Request)

	var index, keys []string
	for i, got := range c.seen() {
		index, keys = append(index, got.Header.Get("Ax-Shard-Index")), append(keys, got.Header.Get("Idempotency-Key"))
		require.Equal(t, "3", got.Header.Get("Ax-Shard-Total"))
		require.Empty(t, got.Header.Get("Ax-Receipt-Token"))
		require.Contains(t, c.body[i], `"shard":{"index":`+got.Header.Get("Ax-Shard-Index")+`,"total":3}`)
	}
	slices.Sort(index)
	slices.Sort(keys)
	require.Equal(t, []string{"0", "1", "2"}, index)
	require.Equal(t, []string{"close-order/order-7 shard 0/3", "close-order/order-7 shard 1/3", "close-order/order-7 shard 2/3"}, keys)
	require.Len(t, c.shards, 3)
	for _, s := range c.shards {
		require.Equal(t, sched.OutcomeSucceeded, s.Outcome)
		require.Equal(t, 200, s.StatusCode)
	}
}

func TestABroadcastNamesThePartsThatDidNotSucceed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers  []http.HandlerFunc
		outcome  sched.Outcome
		definite bool
		says     []string
	}{
		"one answered 500":  {[]http.HandlerFunc{done, status(500), done}, sched.OutcomeFailed, true, []string{"1 of 3 parts did not succeed: ", "answered 500 Internal Server Error: no"}},
		"one answered 202":  {[]http.HandlerFunc{done, status(202)}, sched.OutcomeFailed, false, []string{"1 of 2 parts did not succeed: ", "a part of a broadcast must end with its answer"}},
		"none succeeded":    {[]http.HandlerFunc{status(500), status(404)}, sched.OutcomeFailed, true, []string{"2 of 2 parts", "500", "404"}},
		"one was not there": {[]http.HandlerFunc{done, nil}, sched.OutcomeFailed, true, []string{"1 of 2 parts", "connection refused"}},
	} {
		crew := newCrew()
		for _, answer := range c.answers {
			if answer == nil {
				crew.list(refusing(t))
			} else {
				crew.add(t, answer)
			}
		}
		r := crew.routed(t, redistest.Embedded(t)).Execute(within(t, 5*time.Second), routedCall(sched.Broadcast))
		require.Equal(t, c.outcome, r.Outcome, name)
		require.Equal(t, c.definite, r.Definite, name)
		for _, words := range c.says {
			require.Contains(t, r.Error, words, name)
		}
	}
}

func TestASilentPartMakesTheBroadcastTimeOutAndTheOthersAreKept(t *testing.T) {
	t.Parallel()
	c := newCrew()
	c.add(t, done)
	c.add(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	r := c.routed(t, redistest.Embedded(t)).Execute(within(t, 300*time.Millisecond), routedCall(sched.Broadcast))
	require.Equal(t, sched.OutcomeTimedOut, r.Outcome)
	require.False(t, r.Definite)
	got := map[sched.Outcome]int{}
	for _, s := range c.shards {
		got[s.Outcome]++
	}
	require.Equal(t, map[sched.Outcome]int{sched.OutcomeSucceeded: 1, sched.OutcomeTimedOut: 1}, got)
}

func TestARetryOfABroadcastCallsOnlyWhatDidNotSucceed(t *testing.T) {
	t.Parallel()
	c := newCrew()
	var broken atomic.Bool
	broken.Store(true)
	c.add(t, done)
	c.add(t, func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() {
			status(500)(w, r)
			return
		}
		done(w, r)
	})
	routed := c.routed(t, redistest.Embedded(t))
	require.Equal(t, sched.OutcomeFailed, routed.Execute(within(t, 5*time.Second), routedCall(sched.Broadcast)).Outcome)
	first := c.shards[slices.IndexFunc(c.shards, func(s sched.ShardRun) bool { return s.Outcome == sched.OutcomeFailed })]

	broken.Store(false)
	c.add(t, done) // who came meanwhile has no part in it
	again := routedCall(sched.Broadcast)
	again.Attempt = 2
	r := routed.Execute(within(t, 5*time.Second), again)
	require.Equal(t, sched.OutcomeSucceeded, r.Outcome, r.Error)
	require.Len(t, c.seen(), 3)
	require.Equal(t, first.Address, "http://"+c.seen()[2].Host)
	require.Equal(t, "close-order/order-7 shard "+first.String(), c.seen()[2].Header.Get("Idempotency-Key"))
	require.Contains(t, r.Request, "1 of 2 parts")

	again.Attempt = 3 // the node died before it could settle
	require.Equal(t, sched.OutcomeSucceeded, routed.Execute(within(t, 5*time.Second), again).Outcome)
	require.Len(t, c.seen(), 3, "all of it was done")
}

// A success that nobody noted would be called again by a retry, which work that
// is not idempotent must not be.
func TestAnEndThatIsNotNotedIsNotDefinite(t *testing.T) {
	t.Parallel()
	c := newCrew()
	c.deaf = true
	c.add(t, done)
	c.add(t, status(500))
	r := c.routed(t, redistest.Embedded(t)).Execute(within(t, 5*time.Second), routedCall(sched.Broadcast))
	require.Equal(t, sched.OutcomeFailed, r.Outcome)
	require.False(t, r.Definite)
}
