package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// What no other test shows of the flaws of protocol.md section 4, each by its
// number; the table of bench/model/README.md names all.

// A running instance that is canceled at once would free its place while its
// request is still out (flaw 6).
func TestFlaw06AWishFreesNoPlace(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d, dbtest.Limit(1)), dbtest.MakeNode(t, d)
		c := running(t, d, task, node)
		other := dbtest.MakeInstance(t, d, task)
		cancel(t, d, c.Instance.ID, later(1))
		got := claim(t, d, other.ID, node, later(2))
		require.Equal(t, sched.ClaimDefer, got.Verdict.Kind)
		settle(t, d, c, cutOff(), later(3))
		v := look(t, d, c.Instance.ID)
		require.Equal(t, sched.Canceled, v.State)
		require.Equal(t, []sched.Outcome{sched.OutcomeCanceled}, outcomes(v), "no attempt stays open")
		take(t, d, other.ID, node, got.Verdict.Due)
	})
}

// Only the sweeper would bring back what found no place and was dropped: the
// row is due later, and the message comes back at the same time (flaw 12).
func TestFlaw12WhatFindsNoPlaceIsDueLater(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d, dbtest.Limit(1)), dbtest.MakeNode(t, d)
		running(t, d, task, node)
		in := dbtest.MakeInstance(t, d, task)
		queue(t, d, in, t0)
		got := claim(t, d, in.ID, node, later(1))
		require.Equal(t, sched.ClaimDefer, got.Verdict.Kind)
		row := read(t, d, in.ID)
		require.Equal(t, sched.Queued, row.State)
		require.Equal(t, 1, row.Defers)
		require.Zero(t, row.Attempt)
		require.True(t, row.DueAt.After(later(1)))
		require.Equal(t, got.Verdict.Due, row.DueAt)
		require.Equal(t, row.DueAt.Add(sched.LookAgain), row.LookAt)
		require.Equal(t, in.WantedAt, row.WantedAt, "it keeps its turn")
	})
}

// One process that holds two messages of an instance claims it once, even when
// both wait for the same batch (flaw 16).
func TestFlaw16TwoMessagesOfOneInstanceTakeItOnce(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d), dbtest.MakeNode(t, d)
		in := dbtest.MakeInstance(t, d, task)
		got := together(t, d, asks(node, t0, in.ID, in.ID))
		require.ElementsMatch(t, []sched.ClaimKind{sched.ClaimTake, sched.ClaimDrop}, verdicts(got))
		require.Len(t, look(t, d, in.ID).Attempts, 1)
	})
}

// A claim that commits after its node was declared dead and swept would be
// seen by no sweep again (flaw 17).
func TestFlaw17WhatADeadNodeStillClaimedIsFoundLater(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		node := dbtest.MakeNode(t, d)
		c := running(t, d, dbtest.MakeTask(t, d), node)
		exec(t, d, "UPDATE instances SET state='queued', node_id=NULL") // not committed yet
		exec(t, d, "UPDATE nodes SET dead_at=1 WHERE id=?", node.ID)
		found, err := d.Orphans(t.Context(), 10)
		require.NoError(t, err)
		require.Empty(t, found)
		exec(t, d, "UPDATE instances SET state='running', node_id=?", node.ID)
		found, err = d.Orphans(t.Context(), 10)
		require.NoError(t, err)
		require.Len(t, found, 1)
		_, again := lose(t, d, found[0], later(30))
		require.True(t, again)
		require.Equal(t, sched.Queued, read(t, d, c.Instance.ID).State)
	})
}

// A slot that was planned for an earlier version and is still wanted runs as
// the task is now (flaw 20).
func TestFlaw20AnEditedTasksPlannedSlotRunsAsTheTaskIsNow(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d, dbtest.Every(time.Minute)), dbtest.MakeNode(t, d)
		in := dbtest.MakeInstance(t, d, task, dbtest.Slot(later(60)))
		change(t, d, sched.TaskChange{Code: task.Code, Now: later(1), Version: true}, func(task *sched.Task) { task.Spec.Policy.TimeoutSeconds = 7 })
		got := take(t, d, in.ID, node, later(60))
		require.Equal(t, 7, got.Task.Spec.Policy.TimeoutSeconds)
		require.Equal(t, later(67), got.Instance.DeadlineAt)
		require.Equal(t, 2, look(t, d, in.ID).Attempts[0].TaskVersion)
	})
}

// A mark kept from the first attempt would refuse the second one's, which then
// could never be sent (flaw 23).
func TestFlaw23ARepeatedAttemptIsMarkedAnew(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d, dbtest.Unsafe(1)), dbtest.MakeNode(t, d)
		c := running(t, d, task, node)
		mark(t, d, c, later(1))
		require.Equal(t, sched.Retrying, settle(t, d, c, failure(), later(2)).Ending.To)
		again := take(t, d, c.Instance.ID, node, later(20))
		require.True(t, read(t, d, c.Instance.ID).SentAt.IsZero())
		mark(t, d, again, later(21))
		v := look(t, d, c.Instance.ID)
		require.Equal(t, later(21), v.SentAt)
		require.Equal(t, []time.Time{later(1), later(21)}, []time.Time{v.Attempts[0].SentAt, v.Attempts[1].SentAt})
	})
}

// Nobody knows what silence means: an owner's leave to repeat covers answers
// only (flaw 24).
func TestFlaw24SilenceEndsWorkThatIsToBeDoneOnce(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		c := running(t, d, dbtest.MakeTask(t, d, dbtest.Unsafe(3)), dbtest.MakeNode(t, d))
		mark(t, d, c, later(1))
		require.Equal(t, sched.TimedOut, settle(t, d, c, silence(), later(31)).Ending.To)
		require.NotZero(t, look(t, d, c.Instance.ID).Letter)
	})
}

// A skipped replay would leave its letter waiting for it for ever (flaw 33).
func TestFlaw33AReplayWaitsWhereASlotIsSkipped(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d, dbtest.Every(time.Minute), dbtest.Limit(1)), dbtest.MakeNode(t, d)
		l, _ := dbtest.MakeLetter(t, d, task)
		c := running(t, d, task, node)
		in := replay(t, d, l.ID, later(60))
		got := claim(t, d, in.ID, node, later(60))
		require.Equal(t, sched.ClaimDefer, got.Verdict.Kind)
		settle(t, d, c, success(), later(61))
		settle(t, d, take(t, d, in.ID, node, got.Verdict.Due), success(), later(70))
		require.Equal(t, sched.LetterSolved, letterAt(t, d, l.ID).Status)
	})
}
