package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

func wake(t *testing.T, d *db.DB, task sched.Task, now time.Time) (sched.Message, bool) {
	t.Helper()
	m, ok, err := d.Wake(t.Context(), task.ID, now)
	require.NoError(t, err)
	return m, ok
}

// deferred makes n requests of a full task, deferred at t0.
func deferred(t *testing.T, d *db.DB, task sched.Task, node sched.NodeInfo, n int) []string {
	t.Helper()
	ids := make([]string, n)
	for i := range ids {
		ids[i] = dbtest.MakeInstance(t, d, task, dbtest.Due(later(float64(i-n)))).ID
		require.Equal(t, sched.ClaimDefer, claim(t, d, ids[i], node, t0).Verdict.Kind)
	}
	return ids
}

// protocol.md (flaw 30): two settles wake two.
func TestTheOldestDeferredIsWokenAndOnlyOnce(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d, dbtest.Limit(1)), dbtest.MakeNode(t, d)
		running(t, d, task, node)
		ids := deferred(t, d, task, node, 2)
		m, ok := wake(t, d, task, later(0.5))
		require.True(t, ok)
		require.Equal(t, sched.Message{InstanceID: ids[0], Dispatch: 1, Queue: "default", DueAt: later(0.5)}, m)
		in := read(t, d, ids[0])
		require.Equal(t, later(0.5), in.DueAt)
		require.Equal(t, later(10.5), in.LookAt)
		m, ok = wake(t, d, task, later(0.6))
		require.True(t, ok)
		require.Equal(t, ids[1], m.InstanceID, "the next one, not the first again (flaw 30)")
		_, ok = wake(t, d, task, later(0.7))
		require.False(t, ok)
	})
}

func TestNothingIsWoken(t *testing.T) {
	t.Parallel()
	for name, breaking := range map[string]string{
		"before a pause ends":       "UPDATE tasks SET paused_from=0, paused_until=99999999999999",
		"of a task without a limit": "UPDATE tasks SET spec=REPLACE(spec, '\"max_concurrent\":1', '\"max_concurrent\":0')",
		"that was never deferred":   "UPDATE instances SET defers=0",
		"that is due already":       "UPDATE instances SET due_at=1",
		"that has ended":            "UPDATE instances SET state='canceled', finished_at=1 WHERE state='pending'",
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				task, node := dbtest.MakeTask(t, d, dbtest.Limit(1)), dbtest.MakeNode(t, d)
				running(t, d, task, node)
				deferred(t, d, task, node, 1)
				exec(t, d, breaking)
				before := dump(t, d, "instances")
				_, ok := wake(t, d, task, later(0.5))
				require.False(t, ok)
				require.Equal(t, before, dump(t, d, "instances"))
			})
		})
	}
}

// bench/model, guard/wake-in-a-pause: a pause that ends by its time resumes
// nothing, so a place that becomes free in it would stay free for the whole
// delay of what was deferred before.
func TestAPlaceThatBecomesFreeInAPauseIsTakenAtItsEnd(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d, dbtest.Limit(1)), dbtest.MakeNode(t, d)
		c := running(t, d, task, node)
		ids := deferred(t, d, task, node, 2)
		exec(t, d, "UPDATE instances SET due_at=? WHERE state='pending'", db.At(later(30)))
		pause(t, d, task, later(1), later(4.2))
		settle(t, d, c, success(), later(2))
		m, ok := wake(t, d, task, later(2))
		require.True(t, ok)
		end := later(5) // the whole second after it
		require.Equal(t, sched.Message{InstanceID: ids[0], Dispatch: 1, Queue: "default", DueAt: end}, m)
		in := read(t, d, ids[0])
		require.Equal(t, end, in.DueAt)
		require.Equal(t, end.Add(sched.LookAgain), in.LookAt)
		m, ok = wake(t, d, task, later(3))
		require.True(t, ok)
		require.Equal(t, ids[1], m.InstanceID, "what is due at the end already is not woken again")
		_, ok = wake(t, d, task, later(3))
		require.False(t, ok)
		take(t, d, ids[0], node, end)
	})
}

// protocol.md (flaw 29): a wake that doesn't wait for a claim in progress finds
// nobody, and the claim then defers: the place stays free.
func TestAWakeWaitsForAClaimInProgress(t *testing.T) {
	t.Parallel()
	d := dbtest.MariaDB(t)
	task, node := dbtest.MakeTask(t, d, dbtest.Limit(1)), dbtest.MakeNode(t, d)
	running(t, d, task, node)
	in := dbtest.MakeInstance(t, d, task)
	var woken bool
	var g errgroup.Group
	holdGate(t, d, task, func() {
		g.Go(func() (err error) {
			_, woken, err = d.Wake(t.Context(), task.ID, later(0.5))
			return err
		})
		awaitLockWait(t, d)
		exec(t, d, "UPDATE instances SET defers=1, due_at=due_at+2000, look_at=1 WHERE id=?", in.ID)
	})
	require.NoError(t, g.Wait())
	require.True(t, woken)
}
