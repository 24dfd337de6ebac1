package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/fault"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// A sign of life of the present attempt in each state that an instance can
// have: it never changes a state, and nothing of what has ended.
func TestASignOfLifeInEachState(t *testing.T) {
	t.Parallel()
	for state, reach := range stages() {
		t.Run(string(state), func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				id := reach(t, d, dbtest.MakeTask(t, d))
				in := read(t, d, id)
				before := dump(t, d, "instances", "attempts", "dead_letters")
				got, err := d.Sign(t.Context(), sched.Sign{InstanceID: id, Attempt: in.Attempt, Percent: new(40), Message: "四成"}, later(50))
				require.Equal(t, before, dump(t, d, "instances", "attempts", "dead_letters"))
				switch {
				case state == sched.Running || state == sched.Awaiting:
					require.NoError(t, err)
					require.Equal(t, sched.Signed{State: state, Stored: true}, got)
				case state.Final() && in.Attempt > 0:
					require.NoError(t, err)
					require.Equal(t, sched.Signed{State: state, Already: true, Cancel: state == sched.Canceled}, got)
					require.Zero(t, count(t, d, "attempt_progress"))
				default:
					require.Equal(t, fault.KindConflict, fault.KindOf(err))
				}
				_, err = d.Sign(t.Context(), sched.Sign{InstanceID: id, Attempt: in.Attempt + 1}, later(50))
				require.Equal(t, fault.KindConflict, fault.KindOf(err), "an attempt that was never made")
			})
		})
	}
}

func TestASignASecondIsStoredAndAHeartbeatKeepsTheWord(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		id := stages()[sched.Awaiting](t, d, dbtest.MakeTask(t, d))
		sign := func(percent *int, message string, at time.Time) bool {
			got, err := d.Sign(t.Context(), sched.Sign{InstanceID: id, Attempt: 1, Percent: percent, Message: message}, at)
			require.NoError(t, err)
			return got.Stored
		}
		require.True(t, sign(new(40), "481 of 1,204", later(50)))
		require.False(t, sign(new(41), "soon after", later(50).Add(500*time.Millisecond)))
		require.True(t, sign(nil, "", later(52)))
		require.True(t, sign(new(100), "", later(52).Add(10*time.Millisecond)), "the end is not dropped")
		require.False(t, sign(new(100), "", later(52).Add(20*time.Millisecond)), "but said once")
		all, err := d.Progress(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, []sched.Progress{{Attempt: 1, Percent: new(100), Message: "481 of 1,204", SaidAt: later(52).Add(10 * time.Millisecond), Signs: 3}}, all)
	})
}

// Each sign moves the deadline, and none past the whole one, which counts from
// the acceptance.
func TestASignOfLifePutsTheDeadlineOff(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, func(t *sched.Task) {
			t.Spec.Policy.TimeoutSeconds, t.Spec.Policy.AwaitSeconds, t.Spec.Policy.HeartbeatSeconds = 600, 60, 15
		})
		id := stages()[sched.Awaiting](t, d, task)
		accepted := look(t, d, id).ReceiptDeadline.Add(-15 * time.Second)
		until := accepted.Add(time.Minute)
		for _, after := range []time.Duration{12 * time.Second, 24 * time.Second, 36 * time.Second, 48 * time.Second, 59 * time.Second} {
			_, err := d.Sign(t.Context(), sched.Sign{InstanceID: id, Attempt: 1}, accepted.Add(after))
			require.NoError(t, err)
			want := accepted.Add(after + 15*time.Second)
			if want.After(until) {
				want = until
			}
			require.Equal(t, want, look(t, d, id).ReceiptDeadline)
		}
		held, err := d.Overdue(t.Context(), until, 10)
		require.NoError(t, err)
		require.Len(t, held, 1, "then it is over, whatever it says")
	})
}

// What a target said before it answered 202 doesn't make its time longer.
func TestASignBeforeTheAcceptanceMovesNoDeadline(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, func(t *sched.Task) {
			t.Spec.Policy.TimeoutSeconds, t.Spec.Policy.AwaitSeconds, t.Spec.Policy.HeartbeatSeconds = 600, 60, 15
		})
		c := running(t, d, task, dbtest.MakeNode(t, d))
		_, err := d.Sign(t.Context(), sched.Sign{InstanceID: c.Instance.ID, Attempt: 1, Percent: new(5)}, later(1))
		require.NoError(t, err)
		settle(t, d, c, accepted(), later(100))
		first := look(t, d, c.Instance.ID).ReceiptDeadline
		require.Equal(t, later(115), first)
		_, err = d.Sign(t.Context(), sched.Sign{InstanceID: c.Instance.ID, Attempt: 1}, later(110))
		require.NoError(t, err)
		require.Equal(t, later(125), look(t, d, c.Instance.ID).ReceiptDeadline)
	})
}

func TestProgressIsKeptForThirtyDays(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		id := stages()[sched.Awaiting](t, d, dbtest.MakeTask(t, d))
		_, err := d.Sign(t.Context(), sched.Sign{InstanceID: id, Attempt: 1}, later(50))
		require.NoError(t, err)
		require.NoError(t, d.PruneProgress(t.Context(), later(50).Add(30*24*time.Hour)))
		require.Equal(t, 1, count(t, d, "attempt_progress"))
		require.NoError(t, d.PruneProgress(t.Context(), later(50).Add(30*24*time.Hour+time.Second)))
		require.Zero(t, count(t, d, "attempt_progress"))
	})
}
