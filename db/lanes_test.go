package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// needs makes the task need labels.
func needs(labels ...string) dbtest.TaskOption {
	return func(t *sched.Task) { t.Spec.Labels = labels }
}

func lanes(t *testing.T, d *db.DB) []sched.Lane {
	t.Helper()
	got, err := d.Lanes(t.Context())
	require.NoError(t, err)
	return got
}

func due(t *testing.T, d *db.DB, now time.Time) map[string]sched.Message {
	t.Helper()
	got, err := d.Due(t.Context(), now, 100)
	require.NoError(t, err)
	out := map[string]sched.Message{}
	for _, m := range got {
		out[m.InstanceID] = m
	}
	return out
}

func gpu() sched.Lane { return sched.Lane{Queue: "default", Labels: "cn-north,gpu"} }

// Every way that sends makes its message for the lane of the task.
func TestEveryMessageTakesTheLaneOfItsTask(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, needs("cn-north", "gpu"), dbtest.Limit(1))
		plain := dbtest.MakeInstance(t, d, dbtest.MakeTask(t, d))
		node := dbtest.MakeNode(t, d)
		is := func(m sched.Message, what string) {
			t.Helper()
			require.Equal(t, gpu(), sched.Lane{Queue: m.Queue, Labels: m.Labels}, what)
		}
		in := dbtest.MakeInstance(t, d, task)
		got := due(t, d, later(1))
		is(got[in.ID], "hand over")
		require.Equal(t, sched.Labels(""), got[plain.ID].Labels)
		require.NoError(t, d.MarkQueued(t.Context(), []sched.Message{got[in.ID]}, t0))
		m, ok, err := d.Raise(t.Context(), sched.Stale{InstanceID: in.ID, State: sched.Queued}, later(20))
		require.NoError(t, err)
		require.True(t, ok)
		is(m, "sweep a")
		run := labeled(t, d, in.ID, node, later(20))
		waits := dbtest.MakeInstance(t, d, task, func(in *sched.Instance) { in.Origin = sched.FromAPI })
		require.Equal(t, sched.ClaimDefer, claimLabeled(t, d, waits.ID, node, later(20)).Verdict.Kind)
		m, again := lose(t, d, held(run), later(21))
		require.True(t, again)
		is(m, "lost")
		run = labeled(t, d, in.ID, node, later(22))
		settle(t, d, run, sched.Result{Outcome: sched.OutcomeFailed, Error: "no", Definite: true}, later(23))
		m, ok, err = d.Wake(t.Context(), task.ID, later(20))
		require.NoError(t, err)
		require.True(t, ok)
		is(m, "wake")
		lane, err := d.Lane(t.Context(), in)
		require.NoError(t, err)
		require.Equal(t, gpu(), lane, "replay")
	})
}

func claimLabeled(t *testing.T, d *db.DB, id string, node sched.NodeInfo, now time.Time) sched.Claimed {
	t.Helper()
	got, err := d.Claim(t.Context(), sched.ClaimRequest{InstanceID: id, NodeID: node.ID, ClaimID: dbtest.ID(), Now: now, Labels: []string{"cn-north", "gpu", "x"}})
	require.NoError(t, err)
	return got
}

func labeled(t *testing.T, d *db.DB, id string, node sched.NodeInfo, now time.Time) sched.Claimed {
	t.Helper()
	got := claimLabeled(t, d, id, node, now)
	require.Equal(t, sched.ClaimTake, got.Verdict.Kind)
	return got
}

// A late, old or restored message must not start work where it can't run.
func TestANodeWithoutTheLabelsTakesNothingAndItIsSentAnew(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		node, task := dbtest.MakeNode(t, d), dbtest.MakeTask(t, d, needs("cn-north", "gpu"))
		in := dbtest.MakeInstance(t, d, task)
		require.Equal(t, sched.ClaimMove, claim(t, d, in.ID, node, later(1)).Verdict.Kind)
		v := look(t, d, in.ID)
		require.Equal(t, sched.Pending, v.State)
		require.Equal(t, 1, v.Dispatch, "a mark for the lost message must not stand")
		require.Zero(t, v.Attempt)
		m := due(t, d, later(1))[in.ID]
		require.NoError(t, d.MarkQueued(t.Context(), []sched.Message{m}, later(1)))
		require.Equal(t, sched.ClaimMove, claim(t, d, in.ID, node, later(2)).Verdict.Kind)
		stale, err := d.Stale(t.Context(), later(2), 10)
		require.NoError(t, err)
		require.Len(t, stale, 1, "the sweep sends it at once")
		run := labeled(t, d, in.ID, node, later(3))
		before := dump(t, d, "instances")
		require.Equal(t, sched.ClaimDrop, claim(t, d, in.ID, node, later(4)).Verdict.Kind, "what runs is not moved")
		require.Equal(t, before, dump(t, d, "instances"))
		settle(t, d, run, success(), later(5))
	})
}

// What waits in an old lane would wait there for ever: nobody may serve it.
func TestAnEditOfLabelsSendsWhatWaitsAnew(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		node, task := dbtest.MakeNode(t, d), dbtest.MakeTask(t, d, needs("gone"), dbtest.Limit(0))
		pending, queued, over := dbtest.MakeInstance(t, d, task), dbtest.MakeInstance(t, d, task), dbtest.MakeInstance(t, d, task)
		require.NoError(t, d.MarkQueued(t.Context(), []sched.Message{task.Message(queued), task.Message(over)}, t0))
		cancel(t, d, over.ID, t0)
		done := dump(t, d, "instances")
		edit(t, d, task, later(1), func(next *sched.Task) { next.Name = "another" })
		require.Equal(t, done, dump(t, d, "instances"), "an edit of something else sends nothing")
		edit(t, d, task, later(2), func(next *sched.Task) { next.Spec.Labels, next.Queue = []string{"cn-north", "gpu"}, "slow" })
		stale, err := d.Stale(t.Context(), later(2), 10)
		require.NoError(t, err)
		require.Len(t, stale, 1)
		m, ok, err := d.Raise(t.Context(), stale[0], later(2))
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, sched.Message{InstanceID: queued.ID, Dispatch: 1, Queue: "slow", Labels: "cn-north,gpu", DueAt: t0}, m)
		require.Equal(t, "slow", due(t, d, later(2))[pending.ID].Queue)
		require.Equal(t, "slow", look(t, d, queued.ID).Queue)
		require.Equal(t, "default", look(t, d, over.ID).Queue, "what has ended stays as it was")
		edit(t, d, task, later(3), func(next *sched.Task) { next.Spec.Labels = nil })
		require.Equal(t, sched.Labels(""), due(t, d, later(3))[pending.ID].Labels)
		take(t, d, pending.ID, node, later(4))
	})
}

func TestLanesInUse(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		dbtest.MakeTask(t, d)
		require.Empty(t, lanes(t, d))
		task := dbtest.MakeTask(t, d, needs("cn-north", "gpu"))
		dbtest.MakeTask(t, d, needs("cn-north", "gpu"))
		require.Equal(t, []sched.Lane{gpu()}, lanes(t, d), "once")
		other := dbtest.MakeTask(t, d, needs("a"))
		in := dbtest.MakeInstance(t, d, other)
		require.Equal(t, []sched.Lane{{Queue: "default", Labels: "a"}, gpu()}, lanes(t, d))
		change(t, d, sched.TaskChange{Code: other.Code, Now: later(1)}, func(next *sched.Task) { next.ArchivedAt = later(1) })
		require.Len(t, lanes(t, d), 2, "something of it waits")
		cancel(t, d, in.ID, later(2))
		require.Equal(t, []sched.Lane{gpu()}, lanes(t, d))
		edit(t, d, task, later(3), func(next *sched.Task) { next.Spec.Labels = nil })
		require.Len(t, lanes(t, d), 1, "the other task is there")
	})
}
