package db_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// The commit stood, but its answer was cut off: the worker settles again and
// must learn what the first did, or a retry's message would be dropped.
func TestOurOwnRepeatedSettlementIsOurs(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]sched.Result{"success": success(), "a retry": failure(), "accepted": accepted()} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				run := running(t, d, dbtest.MakeTask(t, d), dbtest.MakeNode(t, d))
				first := settle(t, d, run, r, later(1))
				before := dump(t, d, "instances", "attempts", "dead_letters", "instance_events")
				again := settle(t, d, run, r, later(2))
				require.False(t, again.Refused)
				require.Equal(t, first.Ending.To, again.Ending.To)
				require.Equal(t, first.Ending.Outcome, again.Ending.Outcome)
				require.Equal(t, first.Ending.DueAt, again.Ending.DueAt)
				require.Equal(t, before, dump(t, d, "instances", "attempts", "dead_letters", "instance_events"))
			})
		})
	}
}

func TestSTUCK07ASettlementWhoseAnswerWasCutOffIsSettledOnce(t *testing.T) {
	t.Parallel()
	d, w := through(t)
	run := running(t, d, dbtest.MakeTask(t, d, dbtest.Retries(0)), dbtest.MakeNode(t, d))
	w.after.Store("COMMIT")
	_, err := d.Settle(t.Context(), dbtest.Settlement(run, failure(), later(1)))
	require.ErrorIs(t, err, sched.ErrCommitUnknown)
	w.after.Store("")
	require.Eventually(t, func() bool { return read(t, d, run.Instance.ID).State.Final() }, waitLimit, waitTick)
	require.False(t, settle(t, d, run, failure(), later(2)).Refused)
	require.Equal(t, 1, letter(t, d, run.Instance.ID).Opens)
	clean(t, d)
}

// The same result of another claim is another's.
func TestTheSameResultOfAnotherClaimIsRefused(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		run := running(t, d, dbtest.MakeTask(t, d), dbtest.MakeNode(t, d))
		settle(t, d, run, success(), later(1))
		run.Instance.ClaimID = dbtest.ID()
		require.True(t, settle(t, d, run, success(), later(2)).Refused)
		require.Equal(t, []sched.EventKind{sched.EvRefusedResult}, kinds(look(t, d, run.Instance.ID)))
	})
}
