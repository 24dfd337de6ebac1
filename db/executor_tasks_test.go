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

func TestAnEditNotesWhichExecutorATaskNames(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		named := func(name, kind string) sched.Target {
			return sched.Target{Kind: sched.TargetHTTP, Executor: name, Type: kind, Route: sched.Hash}
		}
		task := dbtest.MakeTask(t, d, func(task *sched.Task) { task.Spec.Target = named("billing", "close-day") })
		dbtest.MakeTask(t, d)
		by := func() []sched.ExecutorTask {
			t.Helper()
			got, err := d.ExecutorTasks(t.Context(), access.Scope{Teams: []int64{task.TeamID}})
			require.NoError(t, err)
			return got
		}
		want := sched.ExecutorTask{ID: task.ID, TeamID: task.TeamID, Code: task.Code, Name: task.Name, Enabled: true, Executor: "billing", Type: "close-day"}
		require.Equal(t, []sched.ExecutorTask{want}, by())
		for _, to := range []sched.Target{named("billing", "accrue"), named("mail", "accrue"), {Kind: sched.TargetHTTP, URL: "http://127.0.0.1:9/"}, named("mail", "send")} {
			change(t, d, sched.TaskChange{Code: task.Code, Now: t0, Version: true}, func(next *sched.Task) { next.Spec.Target = to })
			want.Executor, want.Type = to.Executor, to.Type
			if to.Executor == "" {
				require.Empty(t, by())
			} else {
				require.Equal(t, []sched.ExecutorTask{want}, by())
			}
		}
		change(t, d, sched.TaskChange{Code: task.Code, Now: t0.Add(time.Second)}, func(next *sched.Task) { next.ArchivedAt = t0.Add(time.Second) })
		require.Empty(t, by())
	})
}
