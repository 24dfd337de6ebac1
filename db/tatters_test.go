package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// A definition that this ax can't read (another hand, a later release) is
// shown as such; it keeps nobody from seeing the other tasks.
func TestATaskInTattersHidesNoOther(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		good, bad := dbtest.MakeTask(t, d), dbtest.MakeTask(t, d, dbtest.Every(time.Minute))
		l, in := dbtest.MakeLetter(t, d, bad)
		exec(t, d, "UPDATE tasks SET spec='{\"schedule\":7}' WHERE id=?", bad.ID)
		require.Equal(t, 1, plan(t, d, t0).Failed)

		page, err := d.Tasks(t.Context(), sched.TaskFilter{Scope: all}, sched.PageRequest{})
		require.NoError(t, err)
		require.Len(t, page.Items, 2)
		byID, err := d.TasksByID(t.Context(), []int64{good.ID, bad.ID})
		require.NoError(t, err)
		require.Equal(t, good.Code, byID[good.ID].Code)
		one, err := d.Task(t.Context(), bad.Code)
		require.NoError(t, err)
		for _, task := range []sched.Task{byID[bad.ID], one, look(t, d, in.ID).Task, dashboard(t, d, all, t0).Troubled[0]} {
			require.Equal(t, bad.Code, task.Code)
			require.Contains(t, task.PlanError, "read the spec")
		}
		require.Equal(t, l.ID, look(t, d, in.ID).Letter)
		versions, err := d.TaskVersions(t.Context(), bad.ID, 10)
		require.NoError(t, err)
		require.Len(t, versions, 1)

		_, _, err = d.ChangeTask(t.Context(), sched.TaskChange{Code: bad.Code, Now: t0})
		require.ErrorContains(t, err, "read the spec", "a change would write over what nobody can read")
		_, err = d.Claim(t.Context(), sched.ClaimRequest{InstanceID: dbtest.MakeInstance(t, d, bad).ID, NodeID: dbtest.MakeNode(t, d).ID, ClaimID: dbtest.ID(), Now: t0})
		require.Error(t, err, "nobody knows what to run")
	})
}
