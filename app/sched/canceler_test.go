package sched

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
)

// cancelShelf keeps cancel calls, and answers them by their task.
type cancelShelf struct {
	mu      sync.Mutex
	due     []CancelDue
	taken   []string
	settled []CancelCall
	answers map[int64]Result
	elseHas bool
	fails   error
}

func (s *cancelShelf) DueCancels(context.Context, time.Time, int) ([]CancelDue, error) {
	return s.due, s.fails
}

func (s *cancelShelf) TakeCancel(_ context.Context, d CancelDue, now, until time.Time) (CancelOrder, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken = append(s.taken, d.InstanceID)
	return CancelOrder{CancelCall: CancelCall{InstanceID: d.InstanceID, Tries: d.Tries + 1, AskedAt: now, DueAt: until}, Call: Call{TeamID: d.TaskID}}, !s.elseHas, nil
}

func (s *cancelShelf) SettleCancel(_ context.Context, c CancelCall) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settled = append(s.settled, c)
	return nil
}

func (s *cancelShelf) Tell(_ context.Context, o CancelOrder) Result { return s.answers[o.Call.TeamID] }

func newCanceler(s *cancelShelf) *Canceler {
	return NewCanceler(s, s, NewClock(noon), quiet())
}

func TestATurnMakesSomeCallsOfEachTask(t *testing.T) {
	s := &cancelShelf{answers: map[int64]Result{8: {Outcome: OutcomeSucceeded, Definite: true, StatusCode: 204}}}
	for i := range 40 {
		s.due = append(s.due, CancelDue{InstanceID: "dead " + string(rune('a'+i)), TaskID: 7})
	}
	s.due = append(s.due, CancelDue{InstanceID: "well", TaskID: 8, Tries: 1})
	again, err := newCanceler(s).Tick(t.Context())
	require.NoError(t, err)
	require.True(t, again)
	require.ElementsMatch(t, []string{"dead a", "dead b", "well"}, s.taken)
	at := slices.IndexFunc(s.settled, func(c CancelCall) bool { return c.InstanceID == "well" })
	require.Equal(t, CancelCall{InstanceID: "well", Tries: 2, StatusCode: 204, AskedAt: noon(), EndedAt: noon()}, s.settled[at])

	s.taken, s.settled, s.elseHas, s.due = nil, nil, true, s.due[40:]
	again, err = newCanceler(s).Tick(t.Context())
	require.NoError(t, err)
	require.False(t, again)
	require.Empty(t, s.settled, "another node has it")
	s.fails = errors.New("the ledger is away")
	_, err = newCanceler(s).Tick(t.Context())
	require.ErrorIs(t, err, s.fails)
}

func TestWhatBecomesOfACancelCall(t *testing.T) {
	answer := func(code int) Result {
		return Result{Outcome: OutcomeFailed, Definite: true, StatusCode: code, Error: "answered it"}
	}
	silence := Result{Outcome: OutcomeTimedOut, Error: "no answer in time"}
	for name, c := range map[string]struct {
		r     Result
		tries int
		old   time.Duration // since it was asked for
		again time.Duration // 0: it is over
		told  bool
	}{
		"it is taken":                     {Result{Outcome: OutcomeSucceeded, Definite: true, StatusCode: 200}, 1, 0, 0, true},
		"it is accepted":                  {Result{Outcome: OutcomeAccepted, Definite: true, StatusCode: 202}, 3, 0, 0, true},
		"the broker took it":              {Result{Outcome: OutcomeAccepted, Definite: true}, 1, 0, 0, true},
		"silence":                         {silence, 1, 0, 2 * time.Second, false},
		"silence again":                   {silence, 4, time.Minute, 30 * time.Second, false},
		"the seventh time":                {silence, 7, 5 * time.Minute, 4 * time.Minute, false},
		"the last time":                   {silence, CancelTries, 8 * time.Minute, 0, false},
		"a first try hours later":         {silence, 1, 3 * time.Hour, 0, false},
		"a server's fault":                {answer(503), 1, 0, 2 * time.Second, false},
		"too many":                        {answer(429), 2, 0, 5 * time.Second, false},
		"no such run":                     {answer(404), 1, 0, 0, false},
		"an answer that broke off":        {Result{Outcome: OutcomeFailed, StatusCode: 404, Error: "it broke off"}, 1, 0, 2 * time.Second, false},
		"nothing is said of what's wrong": {Result{Outcome: OutcomeFailed}, 1, 0, 2 * time.Second, false},
	} {
		now := noon()
		got := CancelCall{Tries: c.tries, AskedAt: now.Add(-c.old), Error: "before"}.after(c.r, now)
		require.Equal(t, c.told, got.Told(), name)
		require.Equal(t, c.again > 0, got.Waiting(), name)
		require.Equal(t, c.r.StatusCode, got.StatusCode, name)
		require.Equal(t, !c.told, got.Error != "", name)
		if c.again > 0 {
			require.Equal(t, now.Add(c.again), got.DueAt, name)
			continue
		}
		require.True(t, got.DueAt.IsZero(), name)
		require.Equal(t, now, got.EndedAt, name)
	}
}

// All tries, each as slow as it may be, are over within the promised time.
func TestAllTriesOfACancelCallEndInTime(t *testing.T) {
	took := time.Duration(0)
	for n := 1; n <= CancelTries; n++ {
		took += cancelWithin
		if n < CancelTries {
			took += cancelWait(n)
		}
	}
	require.Less(t, took, CancelFor)
}

func TestWhereATargetIsToldIsChecked(t *testing.T) {
	with := func(field string, change func(*TargetSpec)) refused {
		return refused{func(w *TaskSpec) { change(&w.Target) }, []string{field}}
	}
	onMQ := func(change func(*TargetSpec)) refused {
		return refused{func(w *TaskSpec) { *w = posting(); change(&w.Target) }, []string{"target.cancel_routing_key"}}
	}
	requireRefused(t, KindCron, map[string]refused{
		"no address":   with("target.http.cancel_url", func(w *TargetSpec) { w.HTTP = &HTTPRules{CancelURL: "orders/stop"} }),
		"a file":       with("target.http.cancel_url", func(w *TargetSpec) { w.HTTP = &HTTPRules{CancelURL: "file:///etc/passwd"} }),
		"a password":   with("target.http.cancel_url", func(w *TargetSpec) { w.HTTP = &HTTPRules{CancelURL: "https://a:b@x.example"} }),
		"of a message": with("target.cancel_routing_key", func(w *TargetSpec) { w.CancelRoutingKey = "order.stop" }),
		"of an executor": with("target.http.cancel_url", func(w *TargetSpec) {
			*w = TargetSpec{Kind: TargetHTTP, Executor: "billing", Type: "close", HTTP: &HTTPRules{CancelURL: "https://x.example"}}
		}),
		"a pattern": onMQ(func(w *TargetSpec) { w.CancelRoutingKey = "order.*" }),
		"of a stream": onMQ(func(w *TargetSpec) {
			w.Exchange, w.RoutingKey, w.Stream, w.CancelRoutingKey = "", "", "orders", "order.stop"
		}),
		"a line too long": onMQ(func(w *TargetSpec) { w.CancelRoutingKey = strings.Repeat("k", 256) }),
	})
	w := written(KindCron)
	w.Target.HTTP = &HTTPRules{CancelURL: " https://orders.example/stop "}
	got, err := w.Resolve(Task{}, defaults(), noon())
	require.NoError(t, err)
	require.True(t, got.Spec.Target.TakesCancel())
	again, err := got.Written("shop").Resolve(got, defaults(), noon())
	require.NoError(t, err)
	require.Equal(t, got.Spec, again.Spec)
}

// The address and the key to stop it are judged as those of the work.
func TestATeamTellsOnlyWhereItMayCall(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*TargetSpec)
		field  string // "": it is taken
	}{
		"a public address":           {func(w *TargetSpec) { w.HTTP = &HTTPRules{CancelURL: "http://8.8.8.8/stop"} }, ""},
		"an address inside":          {func(w *TargetSpec) { w.HTTP = &HTTPRules{CancelURL: "http://10.2.2.3/stop"} }, "target.http.cancel_url"},
		"a metadata service":         {func(w *TargetSpec) { w.HTTP = &HTTPRules{CancelURL: "http://169.254.169.254/"} }, "target.http.cancel_url"},
		"a key of the broker's list": {func(w *TargetSpec) { *w = posting().Target; w.CancelRoutingKey = "order.stop" }, ""},
		"a key outside of that":      {func(w *TargetSpec) { *w = posting().Target; w.CancelRoutingKey = "refund.stop" }, "target.cancel_routing_key"},
		"with the default exchange": {func(w *TargetSpec) {
			*w = posting().Target
			w.Exchange, w.RoutingKey, w.CancelRoutingKey = access.DefaultExchange, "shop.jobs", "shop.stop"
		}, "target.cancel_routing_key"},
		"another address than before": {func(w *TargetSpec) { w.HTTP = &HTTPRules{CancelURL: "http://fe.internal/stop"} }, ""},
	} {
		o := newOffice()
		w := written(KindCron)
		c.change(&w.Target)
		w.Version = 1
		_, err := o.tasks.Update(t.Context(), as(access.Editor), w.Code, w)
		if c.field == "" {
			require.NoError(t, err, name)
			continue
		}
		require.Len(t, fault.Fields(err), 1, name)
		require.Equal(t, c.field, fault.Fields(err)[0].Name, name)
	}
}
