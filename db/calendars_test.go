package db_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/calendar"
	"ax/app/fault"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// dateIn is a date of 2026.
func dateIn(month time.Month, d int) calendar.Day { return calendar.Date(2026, month, d) }

// storeCalendar makes a calendar of a team (0: the installation) with days off.
func storeCalendar(t *testing.T, d *db.DB, team int64, code string, off ...calendar.Day) *calendar.Calendar {
	t.Helper()
	c := &calendar.Calendar{TeamID: team, Code: code, Name: "Calendar " + code, Week: calendar.MondayToFriday, Listed: map[calendar.Day]calendar.Entry{}, UpdatedAt: t0, UpdatedBy: "maker"}
	for _, day := range off {
		c.Listed[day] = calendar.Entry{Name: "元旦"}
	}
	made, err := d.CreateCalendar(t.Context(), c, access.Entry{At: t0, Action: "calendar.create", Object: access.Object{Kind: "calendar", Name: code}, TeamID: team})
	require.NoError(t, err)
	return made
}

// follows lets a task go by a calendar.
func follows(code string, move sched.CalendarMove) dbtest.TaskOption {
	return with(func(s *sched.Spec) {
		s.Schedule.Calendar, s.Schedule.CalendarMode, s.Schedule.CalendarMove = code, sched.OnWorkdays, move
	})
}

// changeDays changes a calendar.
func changeDays(t *testing.T, d *db.DB, code string, set func(*calendar.Calendar)) *calendar.Calendar {
	t.Helper()
	c, err := d.ChangeCalendar(t.Context(), calendar.Change{Code: code, Now: t0, By: access.Actor{Name: "wei"}, Apply: func(c *calendar.Calendar) (access.Entry, error) {
		set(c)
		return access.Entry{At: t0, Action: "calendar.days", Object: access.Object{Kind: "calendar", Name: code, ID: strconv.FormatInt(c.ID, 10)}}, nil
	}})
	require.NoError(t, err)
	return c
}

func auditOf(t *testing.T, d *db.DB, action string) int {
	t.Helper()
	var n int
	require.NoError(t, d.View(t.Context()).Raw("SELECT COUNT(*) FROM audit_log WHERE action=?", action).Scan(&n).Error)
	return n
}

func TestACalendarIsKeptWithItsDays(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		made := storeCalendar(t, d, 0, "cn", dateIn(1, 1), dateIn(1, 2))
		got, err := d.Calendar(t.Context(), "cn")
		require.NoError(t, err)
		require.Equal(t, made.Listed, got.Listed)
		require.Equal(t, 1, got.Version)
		require.Equal(t, "Calendar cn", got.Name)
		require.Equal(t, 1, auditOf(t, d, "calendar.create"))
		_, err = d.CreateCalendar(t.Context(), &calendar.Calendar{Code: "cn", UpdatedAt: t0}, access.Entry{At: t0})
		require.Equal(t, "code", fault.Fields(err)[0].Name)

		changed := changeDays(t, d, "cn", func(c *calendar.Calendar) {
			c.Name, c.Week = "Other", 0b1111111
			delete(c.Listed, dateIn(1, 1))
			c.Listed[dateIn(1, 2)] = calendar.Entry{Work: true, Name: "班 🧾"}
			c.Listed[dateIn(2, 3)] = calendar.Entry{}
		})
		got, err = d.Calendar(t.Context(), "cn")
		require.NoError(t, err)
		require.Equal(t, changed, got)
		require.Equal(t, 2, got.Version)
		require.Equal(t, "wei", got.UpdatedBy)
		require.Equal(t, map[calendar.Day]calendar.Entry{dateIn(1, 2): {Work: true, Name: "班 🧾"}, dateIn(2, 3): {}}, got.Listed)
		require.Equal(t, 1, auditOf(t, d, "calendar.days"))
	})
}

// A refused change leaves nothing behind, neither days nor an audit row.
func TestARefusedChangeOfACalendarLeavesNothing(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		made := storeCalendar(t, d, 0, "cn", dateIn(1, 1))
		_, err := d.ChangeCalendar(t.Context(), calendar.Change{Code: "cn", Now: t0, Apply: func(c *calendar.Calendar) (access.Entry, error) {
			c.Listed[dateIn(3, 3)] = calendar.Entry{}
			return access.Entry{}, fault.Conflict("no")
		}})
		require.Equal(t, fault.KindConflict, fault.KindOf(err))
		got, err := d.Calendar(t.Context(), "cn")
		require.NoError(t, err)
		require.Equal(t, made.Listed, got.Listed)
		require.Equal(t, 1, got.Version)
		require.Zero(t, auditOf(t, d, "calendar.days"))
	})
}

func TestAYearOfManyDaysIsStored(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		storeCalendar(t, d, 0, "cn")
		changeDays(t, d, "cn", func(c *calendar.Calendar) {
			for i := range calendar.Day(calendar.MaxDays) {
				c.Listed[dateIn(1, 1)+i] = calendar.Entry{Name: "休"}
			}
		})
		got := changeDays(t, d, "cn", func(c *calendar.Calendar) { clear(c.Listed) })
		require.Empty(t, got.Listed)
		got, err := d.Calendar(t.Context(), "cn")
		require.NoError(t, err)
		require.Empty(t, got.Listed)
	})
}

// AUTHZ-03: a list has the calendars of its teams and of the installation, and
// counts tasks of its teams only.
func TestCalendarsAreListedByScope(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		own, other := dbtest.MakeTeam(t, d), dbtest.MakeTeam(t, d)
		storeCalendar(t, d, 0, "all", dateIn(1, 1))
		storeCalendar(t, d, own.ID, "own", dateIn(1, 2), dateIn(1, 3))
		storeCalendar(t, d, other.ID, "theirs", dateIn(1, 4))
		of := func(team int64) dbtest.TaskOption { return func(task *sched.Task) { task.TeamID = team } }
		mine := dbtest.MakeTask(t, d, dbtest.Cron("0 9 * * *"), follows("all", sched.MoveNext), of(own.ID))
		dbtest.MakeTask(t, d, dbtest.Cron("0 9 * * *"), follows("all", sched.MoveDrop), of(other.ID))

		codes := func(s access.Scope) (out []string) {
			list, err := d.Calendars(t.Context(), s)
			require.NoError(t, err)
			for _, c := range list {
				out = append(out, c.Code)
			}
			return out
		}
		require.Equal(t, []string{"all", "own", "theirs"}, codes(access.Scope{All: true}))
		require.Equal(t, []string{"all", "own"}, codes(access.Scope{Teams: []int64{own.ID}}))
		require.Equal(t, []string{"all"}, codes(access.Scope{}))

		list, err := d.CalendarsWithDays(t.Context(), access.Scope{Teams: []int64{own.ID}})
		require.NoError(t, err)
		require.Len(t, list, 2)
		require.Equal(t, 1, list[0].Tasks)
		require.Equal(t, map[calendar.Day]calendar.Entry{dateIn(1, 1): {Name: "元旦"}}, list[0].Listed)
		require.Zero(t, list[1].Tasks)
		require.Len(t, list[1].Listed, 2)

		uses, n, err := d.CalendarUses(t.Context(), "all", access.Scope{Teams: []int64{own.ID}}, 10)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Equal(t, []calendar.Use{{Code: mine.Code, Name: mine.Name, TeamID: own.ID, Mode: "workdays", Move: "next_workday"}}, uses)
		uses, n, err = d.CalendarUses(t.Context(), "all", access.Scope{All: true}, 1)
		require.NoError(t, err)
		require.Equal(t, 2, n)
		require.Len(t, uses, 1)
	})
}

func TestACalendarInUseIsNotDeleted(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		storeCalendar(t, d, 0, "cn", dateIn(1, 1))
		task := dbtest.MakeTask(t, d, dbtest.Cron("0 9 * * *"), follows("cn", sched.MoveDrop))
		remove := func() error {
			return d.DeleteCalendar(t.Context(), "cn", func(c *calendar.Calendar) (access.Entry, error) {
				return access.Entry{At: t0, Action: "calendar.delete", Object: access.Object{Kind: "calendar", Name: c.Code}}, nil
			})
		}
		err := remove()
		require.Equal(t, fault.KindConflict, fault.KindOf(err))
		require.Contains(t, err.Error(), "1 tasks")
		archive(t, d, task)
		require.NoError(t, remove())
		require.Equal(t, 1, auditOf(t, d, "calendar.delete"))
		_, err = d.Calendar(t.Context(), "cn")
		require.Equal(t, fault.KindNotFound, fault.KindOf(err))
		var days int
		require.NoError(t, d.View(t.Context()).Raw("SELECT COUNT(*) FROM calendar_days").Scan(&days).Error)
		require.Zero(t, days)
		require.Equal(t, fault.KindNotFound, fault.KindOf(remove()))
	})
}

// archive ends a task as a person does.
func archive(t *testing.T, d *db.DB, task sched.Task) {
	t.Helper()
	_, _, err := d.ChangeTask(t.Context(), sched.TaskChange{Code: task.Code, Now: t0, Version: true, Apply: func(old sched.Task) (sched.Task, access.Entry, error) {
		old.Enabled, old.ArchivedAt, old.NextFireAt = false, t0, time.Time{}
		return old, access.Entry{At: t0, Action: "task.archive"}, nil
	}})
	require.NoError(t, err)
}

// A task can't take a calendar that has just gone: the form was open longer.
func TestATaskTakesNoCalendarThatIsGone(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := sched.Task{Code: "late", Name: "late", TeamID: dbtest.MakeTeam(t, d).ID, Queue: "default", Version: 1, CreatedAt: t0, UpdatedAt: t0}
		task.Spec.Schedule = sched.Schedule{Kind: sched.KindCron, Cron: "0 9 * * *", Timezone: "UTC", Calendar: "gone"}
		_, err := d.CreateTask(t.Context(), task, "", access.Entry{At: t0, Action: "task.create"})
		require.Equal(t, "schedule.calendar", fault.Fields(err)[0].Name)
		_, err = d.Task(t.Context(), "late")
		require.Equal(t, fault.KindNotFound, fault.KindOf(err))
	})
}
