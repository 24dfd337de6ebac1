package db_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

func TestTasksWithCalendarsAreListedByTheirNextSlot(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		storeCalendar(t, d, 0, "cn", dateIn(12, 25))
		team := dbtest.MakeTeam(t, d).ID
		of := func(team int64) dbtest.TaskOption { return func(task *sched.Task) { task.TeamID = team } }
		next := func(task sched.Task, seconds float64) sched.Task {
			exec(t, d, "UPDATE tasks SET next_fire_at=? WHERE id=?", later(seconds).UnixMilli(), task.ID)
			return task
		}
		second := next(dbtest.MakeTask(t, d, dbtest.Cron("0 9 * * *"), follows("cn", sched.MoveDrop), of(team)), 7200)
		first := next(dbtest.MakeTask(t, d, dbtest.Cron("0 9 * * *"), follows("cn", sched.MoveNext), of(team)), 3600)
		next(dbtest.MakeTask(t, d, dbtest.Cron("0 9 * * *"), of(team)), 3600) // without a calendar
		dbtest.MakeTask(t, d, dbtest.Cron("0 9 * * *"), follows("cn", sched.MoveDrop))
		got, err := d.CalendarTasks(t.Context(), access.Scope{Teams: []int64{team}}, "", 10)
		require.NoError(t, err)
		require.Len(t, got, 2)
		require.Equal(t, []int64{first.ID, second.ID}, []int64{got[0].ID, got[1].ID})
		require.Same(t, got[0].Calendar, got[1].Calendar, "read once")
		require.Len(t, got[0].Calendar.Listed, 1)
		got, err = d.CalendarTasks(t.Context(), access.Scope{All: true}, "de", 10)
		require.NoError(t, err)
		require.Empty(t, got, "of another calendar")
		got, err = d.CalendarTasks(t.Context(), access.Scope{}, "", 10)
		require.NoError(t, err)
		require.Empty(t, got)
	})
}

func TestTasksAreFilteredByTheirCalendar(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		storeCalendar(t, d, 0, "cn")
		storeCalendar(t, d, 0, "de")
		exec(t, d, "UPDATE calendars SET name='Bank days 银行' WHERE code='de'")
		one := dbtest.MakeTask(t, d, dbtest.Cron("0 9 * * *"), follows("cn", sched.MoveDrop))
		two := dbtest.MakeTask(t, d, dbtest.Cron("0 9 * * *"), follows("de", sched.MoveDrop))
		dbtest.MakeTask(t, d, dbtest.Cron("0 9 * * *"))
		for calendar, want := range map[string][]string{
			"cn": {one.Name}, "de": {two.Name}, "Bank days 银行": {two.Name}, "c": nil, "%": nil, "CN": nil, "gone": nil,
		} {
			require.Equal(t, want, taskNames(t, d, sched.TaskFilter{Calendar: calendar}), calendar)
		}
		page, err := d.Tasks(t.Context(), sched.TaskFilter{Calendar: "cn"}, sched.PageRequest{})
		require.NoError(t, err)
		require.Empty(t, page.Items, "nobody's scope")
	})
}
