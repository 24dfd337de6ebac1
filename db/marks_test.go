package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// The reader that reads what changed says the same as the one that reads all.
func TestMarksFollowTheTasks(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h, ctx := newDesk(t, d), t.Context()
		marks := db.NewMarks(d, func() time.Time { return h.now })
		same := func(want int) {
			t.Helper()
			all, err := d.TaskMarks(ctx)
			require.NoError(t, err)
			got, err := marks.TaskMarks(ctx)
			require.NoError(t, err)
			require.Equal(t, all, got)
			require.Len(t, got, want)
		}
		change := func(code string, set func(*sched.Task)) {
			t.Helper()
			_, _, err := d.ChangeTask(ctx, sched.TaskChange{Code: code, Now: h.now, By: cli, Version: true, Apply: func(task sched.Task) (sched.Task, access.Entry, error) {
				set(&task)
				return task, access.Entry{At: h.now, Actor: cli, Action: "task.update"}, nil
			}})
			require.NoError(t, err)
		}
		first, second := dbtest.MakeTask(t, d, dbtest.Of(h.team)), dbtest.MakeTask(t, d, dbtest.Of(h.team))
		same(2)
		h.now = later(300)
		same(2)
		change(first.Code, func(task *sched.Task) { task.Tags, task.Spec.Policy.AlertLevel = []string{"new"}, sched.AlertNone })
		h.now = later(305)
		same(2)
		got, err := marks.TaskMarks(ctx)
		require.NoError(t, err)
		require.Equal(t, []string{"new"}, got[0].Tags)
		change(second.Code, func(task *sched.Task) { task.Enabled, task.ArchivedAt = false, h.now })
		h.now = later(310)
		same(1)
		dbtest.MakeTask(t, d, dbtest.Of(h.team), func(task *sched.Task) { task.UpdatedAt = later(300) }) // stamped before, committed now
		h.now = later(315)
		same(2)
		exec(t, d, "UPDATE tasks SET name='by another hand' WHERE id=?", first.ID)
		h.now = later(1000)
		same(2)
	})
}
