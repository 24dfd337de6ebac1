//go:build failpoint

package sched

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"ax/app/fail"
)

// arm lets a place fail once.
func arm(t *testing.T, place string) {
	t.Helper()
	restore, err := fail.Set(place + "=error")
	require.NoError(t, err)
	t.Cleanup(restore)
}

// An error at a place of a run ends as one of the ledger's would.
func TestAnErrorAtAnyPlaceOfARunLosesNothing(t *testing.T) {
	for place, c := range map[string]struct {
		again                         bool
		claims, marks, calls, settles int
	}{
		"run.taken":    {true, 0, 0, 0, 0},
		"run.claimed":  {true, 1, 0, 0, 0}, // the audit ends the attempt
		"run.marked":   {false, 1, 2, 1, 1},
		"run.answered": {false, 1, 1, 1, 1},
		"run.settled":  {false, 1, 1, 1, 2}, // the ledger knows its own settlement
	} {
		t.Run(place, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorker(t)
				w.task.Spec.Policy.Idempotent = false
				arm(t, place)
				want := Answer{}
				if c.again {
					want = w.soon()
				}
				require.Equal(t, want, w.run(t.Context()))
				require.Equal(t, c.claims, w.ledger.count("Claim"))
				require.Len(t, w.ledger.marks, c.marks)
				require.Len(t, w.target.calls, c.calls)
				require.Len(t, w.ledger.settles, c.settles)
				require.Zero(t, w.node.Busy(), "no claim is left in memory")
			})
		})
	}
}

func TestMessagesThatWereSentButNotNotedStayPending(t *testing.T) {
	b := loopBench()
	b.ledger.due = messagesOf(3)
	arm(t, "send.sent")
	_, err := b.dispatcher().Tick(t.Context())
	require.ErrorContains(t, err, "failpoint send.sent")
	require.Equal(t, messagesOf(3), b.carrier.sent)
	require.Empty(t, b.ledger.queued)
	_, err = b.dispatcher().Tick(t.Context())
	require.NoError(t, err)
	require.Equal(t, messagesOf(3), b.ledger.queued)
}
