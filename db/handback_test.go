package db_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// protocol.md (flaw 9): under the old number Asynq would take the new message
// for sent.
func TestUnsentWorkIsHandedBack(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d, dbtest.NonIdempotent()), dbtest.MakeNode(t, d)
		run := running(t, d, task, node)
		require.True(t, handBack(t, d, run, later(1)))
		v := look(t, d, run.Instance.ID)
		require.Equal(t, sched.Pending, v.State)
		require.Equal(t, 1, v.Dispatch, "the old message must not count as sent")
		require.Empty(t, v.NodeID+v.ClaimID)
		require.Equal(t, 1, v.Attempt)
		require.Equal(t, []sched.Outcome{sched.OutcomeCanceled}, outcomes(v))
		require.Equal(t, []sched.EventKind{sched.EvHandedBack}, kinds(v))
		due, err := d.Due(t.Context(), later(1), 10)
		require.NoError(t, err)
		require.Equal(t, []sched.Message{{InstanceID: v.ID, Dispatch: 1, Queue: "default", DueAt: t0}}, due)
		require.False(t, handBack(t, d, run, later(2)), "once only")
		require.Equal(t, 2, take(t, d, v.ID, node, later(2)).Instance.Attempt)
	})
}

// protocol.md (flaw 10): what was sent would be sent twice.
func TestWhatIsNotOursOrWasSentIsNotHandedBack(t *testing.T) {
	t.Parallel()
	breaks := notOurs()
	breaks["it was sent"] = "UPDATE instances SET sent_at=1"
	for name, breaking := range breaks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				run := running(t, d, dbtest.MakeTask(t, d, dbtest.NonIdempotent()), dbtest.MakeNode(t, d))
				exec(t, d, breaking)
				before := dump(t, d, "instances", "attempts", "instance_events")
				require.False(t, handBack(t, d, run, later(1)))
				require.Equal(t, before, dump(t, d, "instances", "attempts", "instance_events"))
			})
		})
	}
}

// Somebody canceled it while it ran, and it was not sent: nothing is left to
// be done.
func TestHandedBackWorkThatWasToBeCanceledIsCanceled(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		run := running(t, d, dbtest.MakeTask(t, d), dbtest.MakeNode(t, d))
		cancel(t, d, run.Instance.ID, later(1))
		require.True(t, handBack(t, d, run, later(2)))
		v := look(t, d, run.Instance.ID)
		require.Equal(t, sched.Canceled, v.State)
		require.Equal(t, []sched.Outcome{sched.OutcomeCanceled}, outcomes(v))
	})
}
