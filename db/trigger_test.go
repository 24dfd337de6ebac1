package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"ax/app/fault"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

func request(task sched.Task, biz string) sched.Instance {
	return sched.Instance{
		ID: dbtest.IDAt(t0), TaskID: task.ID, TeamID: task.TeamID, Queue: "default", BizID: biz, Origin: sched.FromAPI,
		RequestedBy: "ci", Payload: []byte(`{"id":4711}`), WantedAt: t0, DueAt: t0, State: sched.Pending, CreatedAt: t0,
	}
}

// DUP-11: the same biz_id again gives the first instance, whatever the repeat
// says, and only the first is audited.
func TestDUP11ABizIDIsTakenOnce(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d)
		first := request(task, "order-4711")
		got, created, err := d.Trigger(t.Context(), first, ask("task.trigger"))
		require.NoError(t, err)
		require.True(t, created)
		require.Equal(t, first, got)
		require.Equal(t, first, read(t, d, first.ID))
		audited := count(t, d, "audit_log")

		again := request(task, "order-4711")
		again.Payload, again.DueAt = []byte(`{}`), later(60)
		got, created, err = d.Trigger(t.Context(), again, ask("task.trigger"))
		require.NoError(t, err)
		require.False(t, created)
		require.Equal(t, first, got)
		require.Equal(t, audited, count(t, d, "audit_log"))
		require.Equal(t, 1, count(t, d, "instances"))

		other := dbtest.MakeTask(t, d)
		_, created, err = d.Trigger(t.Context(), request(other, "order-4711"), ask("task.trigger"))
		require.NoError(t, err)
		require.True(t, created, "a biz_id is unique within its task")
		_, created, err = d.Trigger(t.Context(), request(task, "ORDER-4711"), ask("task.trigger"))
		require.NoError(t, err)
		require.True(t, created, "byte by byte")
	})
}

func TestDUP11OfManyTriggersAtOnceOneIsStored(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d)
		ids, made := make([]string, 8), make([]bool, 8)
		var g errgroup.Group
		for i := range ids {
			g.Go(func() error {
				in, created, err := d.Trigger(t.Context(), request(task, "order-1"), ask("task.trigger"))
				ids[i], made[i] = in.ID, created
				return err
			})
		}
		require.NoError(t, g.Wait())
		n := 0
		for i := range ids {
			require.Equal(t, ids[0], ids[i], "all get the same instance")
			if made[i] {
				n++
			}
		}
		require.Equal(t, 1, n)
		require.Equal(t, 1, count(t, d, "instances"))
	})
}

func TestTheRepeatedTriggerOfAnEndedInstanceGivesIt(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d)
		l, in := dbtest.MakeLetter(t, d, task, dbtest.Biz("order-1"))
		replay(t, d, l.ID, later(60))
		got, created, err := d.Trigger(t.Context(), request(task, "order-1"), ask("task.trigger"))
		require.NoError(t, err)
		require.False(t, created)
		require.Equal(t, in.ID, got.ID, "the first, not its replay")
		require.Equal(t, sched.Failed, got.State)
	})
}

func TestADisabledTaskTakesNoRequests(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d)
		in := dbtest.MakeInstance(t, d, task)
		edit(t, d, task, later(1), func(task *sched.Task) { task.Enabled = false })
		before := dump(t, d, "instances", "audit_log")
		_, _, err := d.Trigger(t.Context(), request(task, "order-1"), ask("task.trigger"))
		require.Equal(t, fault.KindConflict, fault.KindOf(err))
		require.Equal(t, before, dump(t, d, "instances", "audit_log"))
		take(t, d, in.ID, dbtest.MakeNode(t, d), later(2))
	})
}

// The answer of a trigger's commit was cut off: the caller asks again with the
// same biz_id and learns of its one instance.
func TestATriggerWhoseAnswerWasCutOffIsStoredOnce(t *testing.T) {
	t.Parallel()
	d, w := through(t)
	task := dbtest.MakeTask(t, d)
	w.after.Store("COMMIT")
	_, _, err := d.Trigger(t.Context(), request(task, "order-1"), ask("task.trigger"))
	require.ErrorIs(t, err, sched.ErrCommitUnknown)
	w.after.Store("")
	require.Eventually(t, func() bool { return count(t, d, "instances") == 1 }, waitLimit, waitTick)
	_, created, err := d.Trigger(t.Context(), request(task, "order-1"), ask("task.trigger"))
	require.NoError(t, err)
	require.False(t, created)
	clean(t, d)
}

func TestDueInstancesAreListedTheLongestDueFirst(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d)
		c := dbtest.MakeInstance(t, d, task, dbtest.Due(later(3)))
		a := dbtest.MakeInstance(t, d, task, dbtest.Due(later(1)))
		b := dbtest.MakeInstance(t, d, task, dbtest.Due(later(2)))
		queue(t, d, dbtest.MakeInstance(t, d, task, dbtest.Due(t0)), t0)
		due := func(until time.Time, limit int) (ids []string) {
			ms, err := d.Due(t.Context(), until, limit)
			require.NoError(t, err)
			for _, m := range ms {
				ids = append(ids, m.InstanceID)
			}
			return ids
		}
		require.Equal(t, []string{a.ID, b.ID, c.ID}, due(later(3), 10))
		require.Equal(t, []string{a.ID, b.ID}, due(later(2), 10))
		require.Equal(t, []string{a.ID}, due(later(3), 1))
		require.Empty(t, due(t0, 10))
	})
}

func TestWhatWasSentIsQueuedAndLookedAtInTime(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d)
		late := dbtest.MakeInstance(t, d, task, dbtest.Due(later(-100)))
		ahead := dbtest.MakeInstance(t, d, task, dbtest.Due(later(2)))
		require.NoError(t, d.MarkQueued(t.Context(), []sched.Message{{InstanceID: ahead.ID}, {InstanceID: late.ID}, {InstanceID: dbtest.ID()}}, t0))
		require.Equal(t, later(10), read(t, d, late.ID).LookAt, "from the hand-over, or a backlog would be sent twice at once")
		require.Equal(t, later(12), read(t, d, ahead.ID).LookAt, "from its due time")
		require.Equal(t, t0, read(t, d, ahead.ID).QueuedAt)
	})
}

// "queued" is conditional: a message may have been taken, or its row raised,
// before it is marked.
func TestWhatMovedMeanwhileIsNotMarkedAsQueued(t *testing.T) {
	t.Parallel()
	breaks := map[string]string{"it was given back with a new message": "UPDATE instances SET dispatch=1"}
	for _, s := range sched.States() {
		if s != sched.Pending {
			breaks["it is "+string(s)] = "UPDATE instances SET state='" + string(s) + "'"
		}
	}
	for name, breaking := range breaks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				in := dbtest.MakeInstance(t, d, dbtest.MakeTask(t, d))
				exec(t, d, breaking)
				before := dump(t, d, "instances")
				require.NoError(t, d.MarkQueued(t.Context(), []sched.Message{{InstanceID: in.ID}}, t0))
				require.Equal(t, before, dump(t, d, "instances"))
			})
		})
	}
}

// LOST-01: the process dies between commit and hand-over: the row is the
// outbox, and the next dispatcher finds it.
func TestLOST01WhatWasNotHandedOverIsFoundAgain(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, dbtest.Every(time.Minute))
		r := plan(t, d, t0) // and then nothing more
		dbtest.MakeInstance(t, d, task)
		due, err := d.Due(t.Context(), later(2), 100)
		require.NoError(t, err)
		require.Len(t, due, 2)
		require.Contains(t, due, r.Messages[0])
	})
}
