package db_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

func stale(t *testing.T, d *db.DB, now time.Time) []sched.Stale {
	t.Helper()
	s, err := d.Stale(t.Context(), now, 100)
	require.NoError(t, err)
	return s
}

func raise(t *testing.T, d *db.DB, s sched.Stale, now time.Time) (sched.Message, bool) {
	t.Helper()
	m, ok, err := d.Raise(t.Context(), s, now)
	require.NoError(t, err)
	return m, ok
}

// queue hands an instance over at now.
func queue(t *testing.T, d *db.DB, in sched.Instance, now time.Time) {
	t.Helper()
	require.NoError(t, d.MarkQueued(t.Context(), []sched.Message{{InstanceID: in.ID, Dispatch: in.Dispatch}}, now))
	require.Equal(t, sched.Queued, read(t, d, in.ID).State)
}

// LOST-03: what no worker took is sent again, less and less often (flaw 11).
func TestLOST03WhatNobodyTookIsSentAgain(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		in := dbtest.MakeInstance(t, d, dbtest.MakeTask(t, d))
		queue(t, d, in, t0)
		now, number := later(10), 0
		require.Empty(t, stale(t, d, now.Add(-time.Millisecond)), "not yet")
		for _, wait := range []float64{10, 20, 40, 80, 160, 300, 300} {
			all := stale(t, d, now)
			require.Len(t, all, 1)
			m, ok := raise(t, d, all[0], now)
			require.True(t, ok)
			number++
			require.Equal(t, sched.Message{InstanceID: in.ID, Dispatch: number, Queue: "default", DueAt: t0}, m)
			now = now.Add(time.Duration(wait * float64(time.Second)))
			require.Equal(t, now, read(t, d, in.ID).LookAt)
			require.Empty(t, stale(t, d, now.Add(-time.Millisecond)))
		}
		v := look(t, d, in.ID)
		require.Equal(t, sched.EvResent, v.Events[0].Kind)
		require.Equal(t, "message 1", v.Events[0].Detail)
		take(t, d, in.ID, dbtest.MakeNode(t, d), now)
		require.Zero(t, read(t, d, in.ID).Resends, "the claim starts the count anew")
	})
}

func TestARetryThatNobodyTookIsSentAgain(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		run := running(t, d, dbtest.MakeTask(t, d), dbtest.MakeNode(t, d))
		settle(t, d, run, failure(), later(1))
		require.Empty(t, stale(t, d, later(20)), "10 s after it is due")
		all := stale(t, d, later(21))
		require.Equal(t, []sched.Stale{{InstanceID: run.Instance.ID, State: sched.Retrying, Attempt: 1}}, all)
		m, ok := raise(t, d, all[0], later(21))
		require.True(t, ok)
		require.Equal(t, later(11), m.DueAt)
	})
}

func TestARowThatMovedIsNotRaised(t *testing.T) {
	t.Parallel()
	for name, breaking := range map[string]string{
		"it runs":                        "UPDATE instances SET state='running'",
		"it has ended":                   "UPDATE instances SET state='succeeded'",
		"it was canceled":                "UPDATE instances SET state='canceled'",
		"it retries":                     "UPDATE instances SET state='retrying'",
		"another attempt was made":       "UPDATE instances SET attempt=1",
		"another node raised it already": "UPDATE instances SET dispatch=1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				in := dbtest.MakeInstance(t, d, dbtest.MakeTask(t, d))
				queue(t, d, in, t0)
				all := stale(t, d, later(10))
				exec(t, d, breaking)
				before := dump(t, d, "instances", "instance_events")
				_, ok := raise(t, d, all[0], later(10))
				require.False(t, ok)
				require.Equal(t, before, dump(t, d, "instances", "instance_events"))
			})
		})
	}
}

func TestTwoSweepersRaiseARowOnce(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		in := dbtest.MakeInstance(t, d, dbtest.MakeTask(t, d))
		queue(t, d, in, t0)
		s := stale(t, d, later(10))[0]
		var ok [2]bool
		errs := both(func() (err error) { _, ok[0], err = d.Raise(t.Context(), s, later(10)); return err },
			func() (err error) { _, ok[1], err = d.Raise(t.Context(), s, later(10)); return err })
		require.Equal(t, [2]error{}, errs)
		require.True(t, ok[0] != ok[1])
		require.Equal(t, 1, read(t, d, in.ID).Dispatch)
	})
}

// Redis was wiped: what is due is looked at now, the rest in its time.
func TestAfterAWipeWhatIsDueIsLookedAtNow(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d)
		due := dbtest.MakeInstance(t, d, task, dbtest.Due(later(60)))
		soon := dbtest.MakeInstance(t, d, task, dbtest.Due(later(62)))
		far := dbtest.MakeInstance(t, d, task, dbtest.Due(later(63)))
		for _, in := range []sched.Instance{due, soon, far} {
			queue(t, d, in, later(58))
		}
		exec(t, d, "UPDATE instances SET resends=5")
		dbtest.MakeInstance(t, d, task, dbtest.Due(later(59))) // pending: it was never there
		n, err := d.LookNow(t.Context(), later(60))
		require.NoError(t, err)
		require.Equal(t, 2, n)
		require.Len(t, stale(t, d, later(60)), 2)
		require.Zero(t, read(t, d, due.ID).Resends)
		require.Equal(t, later(73), read(t, d, far.ID).LookAt)
		n, err = d.LookNow(t.Context(), later(60))
		require.NoError(t, err)
		require.Zero(t, n)
	})
}

func TestAWipeWithManyRowsIsLookedAtInBatches(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, dbtest.Every(time.Second))
		plan(t, d, later(58)) // 61 slots, in time
		task.NextFireAt = t0
		exec(t, d, "UPDATE instances SET state='queued', look_at=?", db.At(later(9999)))
		for n := range 9 {
			exec(t, d, "INSERT INTO instances (id, task_id, team_id, queue, biz_id, replay, origin, wanted_at, due_at, look_at, state, created_at)"+
				" SELECT REPLACE(id, SUBSTR(id,1,8), ?), task_id, team_id, queue, REPLACE(biz_id,'@',?), 0, 'api', wanted_at, due_at, look_at, state, created_at"+
				" FROM instances WHERE origin='schedule'", fmt.Sprintf("0000000%d", n), fmt.Sprintf("copy-%d-", n))
		}
		n, err := d.LookNow(t.Context(), later(60))
		require.NoError(t, err)
		require.Equal(t, count(t, d, "instances"), n)
		require.Greater(t, n, 500)
	})
}
