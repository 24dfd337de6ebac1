package sched

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// newHooked is a worker whose task has a hook. Its ledger judges claims.
func newHooked(t *testing.T) *worker {
	w := newWorker(t)
	w.task = hooked(w.task, asking())
	w.in = requestOf(w.task, w.clock.Now())
	w.ledger.claim[0] = func(r ClaimRequest) (Claimed, error) {
		v := DecideClaim(ClaimView{Instance: w.in, Task: w.task, Ready: r.Ready}, r.Now)
		if v.Kind == ClaimTake {
			return w.taken(r), nil
		}
		return Claimed{Verdict: v, Instance: w.in, Task: w.task, State: w.in.State}, nil
	}
	return w
}

func TestAHookThatSaysReadyLetsTheInstanceBegin(t *testing.T) {
	for status, o := range map[int]Outcome{200: OutcomeSucceeded, 202: OutcomeAccepted} {
		t.Run(string(o), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newHooked(t)
				w.hook.do = func(ctx context.Context, c Call) Result {
					require.Empty(t, w.target.calls, "the target comes after the answer")
					left, ok := ctx.Deadline()
					require.True(t, ok)
					require.Equal(t, 5*time.Second, time.Until(left))
					return Result{Outcome: o, StatusCode: status}
				}
				require.Equal(t, Answer{}, w.run(t.Context()))
				require.Len(t, w.target.calls, 1)
				require.Len(t, w.hook.calls, 1)
				call := w.hook.calls[0]
				require.True(t, call.Probe)
				require.Empty(t, call.Key)
				require.Equal(t, "GET", call.Target.HTTP.Method)
				require.Equal(t, "http://10.1.0.1/ready", call.Target.URL)
				require.True(t, w.ledger.probed[0].Ready)
				require.Zero(t, w.node.Busy())
			})
		})
	}
}

func TestA202OutsideOfTheStatusesIsNotReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newHooked(t)
		w.task.Spec.Hooks.Before.Statuses = "200"
		w.hook.do = func(context.Context, Call) Result { return Result{Outcome: OutcomeAccepted, StatusCode: 202} }
		require.True(t, w.run(t.Context()).Again)
		require.Equal(t, "answered 202", w.ledger.probed[0].Answer.Said)
	})
}

func TestAHookThatIsNotReadySendsTheMessageBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newHooked(t)
		w.hook.do = func(context.Context, Call) Result {
			return Result{Outcome: OutcomeFailed, StatusCode: 503, Error: strings.Repeat("busy ", 100)}
		}
		require.Equal(t, Answer{Again: true, DueAt: w.clock.Now().Add(10 * time.Second)}, w.run(t.Context()))
		require.Empty(t, w.target.calls)
		require.Empty(t, w.ledger.settles)
		require.Equal(t, 503, w.ledger.probed[0].Answer.Status)
		require.LessOrEqual(t, len(w.ledger.probed[0].Answer.Said), maxSaid+len("…"))

		w.ledger.probing = Probing{Asked: 7, FirstAt: w.clock.Now().Add(-time.Minute)}
		require.Equal(t, Answer{}, w.run(t.Context()), "it has ended: its message is done with")
		require.Empty(t, w.target.calls)
	})
}

// A hook that hangs, panics, or whose answer can't be stored asks again later;
// nothing is called without an answer that is in the ledger.
func TestAHookThatBreaksHoldsItsOwnInstanceAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newHooked(t)
		w.hook.do = func(context.Context, Call) Result { panic("hook") }
		require.Equal(t, 10*time.Second, w.run(t.Context()).DueAt.Sub(w.clock.Now()))
		require.Equal(t, "the question broke off: hook", w.ledger.probed[0].Answer.Said)

		w.hook.do = until(time.Hour)
		began := time.Now()
		require.True(t, w.run(t.Context()).Again)
		require.Equal(t, 5*time.Second, time.Since(began))

		w.hook.do = nil // ready
		w.ledger.fails("Probed", errAway)
		require.Equal(t, w.soon(), w.run(t.Context()))
		require.Empty(t, w.target.calls)
	})
}

// Of four questions at once, two are of one task at most: its others go back,
// and another task finds a place.
func TestHooksThatHangLeavePlacesToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newHooked(t)
		w.hook.do = until(time.Hour)
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() { w.run(t.Context()) })
		}
		synctest.Wait()
		require.Equal(t, w.soon(), w.run(t.Context()))
		require.Len(t, w.hook.calls, 2)
		require.True(t, w.runner.asker.enter(99))
		w.runner.asker.leave(99)
		all.Wait()
		require.Zero(t, w.runner.asker.all)
		require.Empty(t, w.runner.asker.of)
	})
}

func TestAProcessThatEndsStoresNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newHooked(t)
		w.hook.do = until(time.Hour)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		require.True(t, w.run(ctx).Again)
		require.Empty(t, w.ledger.probed)
	})
}
