package sched

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWhatASlotWithoutAPlaceDoes(t *testing.T) {
	for name, c := range map[string]struct {
		overlap       Overlap
		limit         int
		started, busy int
		want          ClaimKind
		cancels       int
	}{
		"skip":                                  {OverlapSkip, 1, 1, 1, ClaimSkip, 0},
		"queue":                                 {OverlapQueue, 1, 1, 1, ClaimDefer, 0},
		"queue, behind one that waits to retry": {OverlapQueue, 1, 1, 0, ClaimDefer, 0},
		"queue, a place is free":                {OverlapQueue, 2, 1, 1, ClaimTake, 0},
		"cancel the one that runs":              {OverlapCancel, 1, 1, 1, ClaimDefer, 1},
		"cancel the one that waits to retry":    {OverlapCancel, 1, 1, 0, ClaimDefer, 1},
		"cancel as many as are in the way":      {OverlapCancel, 3, 4, 3, ClaimDefer, 2},
		"cancel none, a place is free":          {OverlapCancel, 2, 1, 1, ClaimTake, 0},
		"allow, beside one that waits to retry": {OverlapAllow, 1, 1, 0, ClaimTake, 0},
		"allow, but as many as are allowed run": {OverlapAllow, 2, 2, 2, ClaimDefer, 0},
		"allow any number":                      {OverlapAllow, 0, 99, 99, ClaimTake, 0},
	} {
		t.Run(name, func(t *testing.T) {
			v := minutely()
			v.Task.Spec.Policy.Overlap, v.Task.Spec.Policy.MaxConcurrent = c.overlap, c.limit
			v.Started, v.Busy, v.BusyWith = c.started, c.busy, "other"
			got := DecideClaim(v, noon())
			require.Equal(t, c.want, got.Kind)
			require.Equal(t, c.cancels, got.CancelOthers)
			if c.want == ClaimDefer {
				require.True(t, got.Due.After(noon()))
			}
			// What was asked for waits, whatever the policy, and cancels nobody.
			v.Instance = requestOf(v.Task, noon())
			got = DecideClaim(v, noon())
			require.NotEqual(t, ClaimSkip, got.Kind)
			require.Zero(t, got.CancelOthers)
		})
	}
}

func TestTheSlotsInTheWayAreCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(t)
		due := w.clock.Now().Add(time.Second)
		w.ledger.claim = []func(ClaimRequest) (Claimed, error){func(r ClaimRequest) (Claimed, error) {
			got, err := says(ClaimVerdict{Kind: ClaimDefer, Due: due, CancelOthers: 2})(r)
			got.Instance = w.in
			return got, err
		}}
		w.ledger.running = []string{"one", "two", "three"}
		require.Equal(t, Answer{Again: true, DueAt: due}, w.runner.Run(t.Context(), Lane{Queue: w.in.Queue}.Message(w.in)))
		require.Equal(t, []string{w.in.ID}, w.ledger.canceledFor)
		require.Equal(t, []string{"one", "two"}, w.hints.hints)

		w.ledger.failsTimes("CancelOthers", 1, errors.New("away"))
		require.Equal(t, Answer{Again: true, DueAt: due}, w.runner.Run(t.Context(), Lane{Queue: w.in.Queue}.Message(w.in)), "it is tried at the next claim")
		w.ledger.claim = []func(ClaimRequest) (Claimed, error){says(ClaimVerdict{Kind: ClaimDefer, Due: due})}
		w.runner.Run(t.Context(), Lane{Queue: w.in.Queue}.Message(w.in))
		require.Len(t, w.ledger.canceledFor, 2, "a slot that only waits cancels nobody")
	})
}
