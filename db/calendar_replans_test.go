package db_test

import (
	"context"
	"log/slog"
	"sync"
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

func replanner(d *db.DB, now time.Time) *sched.Replanner {
	return sched.NewReplanner(d, noHand{}, sched.NewClock(func() time.Time { return now }), slog.New(slog.DiscardHandler))
}

// forget drops the notes of tasks that were made without their calendar.
func forget(t *testing.T, d *db.DB) {
	t.Helper()
	exec(t, d, "DELETE FROM calendar_replans")
}

func replans(t *testing.T, d *db.DB) []int64 {
	t.Helper()
	ids, err := d.Replans(t.Context(), "", 0, 1000)
	require.NoError(t, err)
	return ids
}

// A holiday that is moved moves the slot that was moved before it.
func TestAChangedCalendarFindsTheNextSlotAnew(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		storeCalendar(t, d, 0, "cn", dateIn(12, 4)) // a Friday
		storeCalendar(t, d, 0, "de", dateIn(12, 4))
		daily := dbtest.Cron("0 9 4 12 *")
		task := dbtest.MakeTask(t, d, daily, follows("cn", sched.MovePrevious))
		other := dbtest.MakeTask(t, d, daily, follows("de", sched.MovePrevious))
		nine := func(day int) time.Time { return time.Date(2026, 12, day, 9, 0, 0, 0, time.UTC) }
		for _, each := range []sched.Task{task, other} {
			exec(t, d, "UPDATE tasks SET next_fire_at=? WHERE id=?", nine(3).UnixMilli(), each.ID)
		}
		forget(t, d)
		changeDays(t, d, "cn", func(c *calendar.Calendar) { c.Listed[dateIn(12, 3)] = calendar.Entry{} })
		require.Equal(t, []int64{task.ID}, replans(t, d), "noted with the change")

		// Nobody carried it out: the process died. Another one's loop finds it.
		more, err := replanner(d, t0).Tick(t.Context())
		require.NoError(t, err)
		require.False(t, more)
		require.Empty(t, replans(t, d))
		got := reload(t, d, task)
		require.Equal(t, nine(2), got.NextFireAt)
		require.Equal(t, task.Version, got.Version)
		require.Equal(t, task.UpdatedBy, got.UpdatedBy, "nobody edited it")
		require.Equal(t, nine(3), reload(t, d, other).NextFireAt)
		more, err = replanner(d, t0).Tick(t.Context())
		require.NoError(t, err)
		require.False(t, more)
	})
}

// What was owed until now is planned before the next slot is found from now on.
func TestAChangedCalendarLosesNoSlotThatWasOwed(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		storeCalendar(t, d, 0, "cn")
		task := dbtest.MakeTask(t, d, dbtest.Cron("* * * * *"), follows("cn", sched.MoveDrop))
		exec(t, d, "UPDATE tasks SET next_fire_at=? WHERE id=?", t0.UnixMilli(), task.ID)
		now := t0.Add(3*time.Minute + 10*time.Second)
		changeDays(t, d, "cn", func(c *calendar.Calendar) { c.Listed[dateIn(12, 25)] = calendar.Entry{} })
		require.NoError(t, replanner(d, now).Replan(t.Context(), "cn"))
		require.NotEmpty(t, slotsOf(t, d, task), "the owed ones")
		require.Equal(t, t0.Add(4*time.Minute), reload(t, d, task).NextFireAt)
	})
}

func TestPlanningAnewMarksWhatCantBePlanned(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		storeCalendar(t, d, 0, "cn")
		task := dbtest.MakeTask(t, d, dbtest.Cron("0 9 * * *"), follows("cn", sched.MoveDrop))
		exec(t, d, "UPDATE calendars SET code='other'")
		require.NoError(t, replanner(d, t0).Replan(t.Context(), "cn"))
		require.Contains(t, reload(t, d, task).PlanError, `"cn"`)
		exec(t, d, "UPDATE calendars SET code='cn'")
		exec(t, d, "INSERT INTO calendar_replans (task_id, code) VALUES (?,?)", task.ID, "cn")
		require.NoError(t, replanner(d, t0).Replan(t.Context(), "cn"))
		require.Empty(t, reload(t, d, task).PlanError)
		require.NotZero(t, reload(t, d, task).NextFireAt)
	})
}

// One row that can't be planned keeps no other from it, and stays noted.
func TestATaskThatFailsKeepsNoOtherFromBeingPlannedAnew(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		storeCalendar(t, d, 0, "cn")
		gone := dbtest.MakeTask(t, d, dbtest.Cron("0 9 * * *"), follows("cn", sched.MoveDrop))
		exec(t, d, "DELETE FROM tasks WHERE id=?", gone.ID)
		task := dbtest.MakeTask(t, d, dbtest.Cron("0 9 * * *"), follows("cn", sched.MoveDrop))
		changeDays(t, d, "cn", func(c *calendar.Calendar) { c.Listed[dateIn(12, 25)] = calendar.Entry{} })
		err := replanner(d, t0).Replan(t.Context(), "cn")
		require.Equal(t, fault.KindNotFound, fault.KindOf(err))
		require.Equal(t, []int64{gone.ID}, replans(t, d))
		require.NotZero(t, reload(t, d, task).NextFireAt)
		past, err := d.Replans(t.Context(), "cn", gone.ID, 10)
		require.NoError(t, err)
		require.Empty(t, past)
	})
}

// A task that takes the calendar with days that were read before a change is
// noted by itself.
func TestATaskThatReadOlderDaysIsNoted(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		read := storeCalendar(t, d, 0, "cn")
		changeDays(t, d, "cn", func(c *calendar.Calendar) { c.Listed[dateIn(12, 25)] = calendar.Entry{} })
		withCalendar := func(c *calendar.Calendar) dbtest.TaskOption { return func(task *sched.Task) { task.Calendar = c } }
		late := dbtest.MakeTask(t, d, dbtest.Cron("0 9 * * *"), follows("cn", sched.MoveNext), withCalendar(read))
		require.Equal(t, []int64{late.ID}, replans(t, d))
		fresh, err := d.Calendar(t.Context(), "cn")
		require.NoError(t, err)
		dbtest.MakeTask(t, d, dbtest.Cron("0 9 * * *"), follows("cn", sched.MoveNext), withCalendar(fresh))
		require.Equal(t, []int64{late.ID}, replans(t, d))
	})
}

// Edits of tasks, changes of their calendar, planning and planning anew go on
// at once without a deadlock that isn't retried, and nothing stays noted.
func TestChangesOfACalendarAndOfItsTasksGoTogether(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		storeCalendar(t, d, 0, "cn")
		var tasks []sched.Task
		for range 6 {
			tasks = append(tasks, dbtest.MakeTask(t, d, dbtest.Cron("* * * * *"), follows("cn", sched.MoveNext)))
		}
		ctx := t.Context()
		var wg sync.WaitGroup
		errs := make(chan error, 1000)
		run := func(f func(i int) error) {
			wg.Go(func() {
				for i := range 12 {
					errs <- f(i)
				}
			})
		}
		run(func(i int) error {
			_, err := d.ChangeCalendar(ctx, calendar.Change{Code: "cn", Now: t0, Apply: func(c *calendar.Calendar) (access.Entry, error) {
				c.Listed[dateIn(12, 1)+calendar.Day(i)] = calendar.Entry{}
				return access.Entry{At: t0, Action: "calendar.days"}, nil
			}})
			return err
		})
		run(func(i int) error {
			_, _, err := d.ChangeTask(ctx, sched.TaskChange{Code: tasks[i%6].Code, Now: t0, Version: true, Owed: true, Apply: func(old sched.Task) (sched.Task, access.Entry, error) {
				return old, access.Entry{At: t0, Action: "task.update"}, nil
			}})
			return err
		})
		run(func(int) error {
			_, err := d.Plan(ctx, sched.PlanRequest{NodeID: "n", Now: t0, Until: t0, Limit: 500, Budget: 1000})
			return err
		})
		for range 2 {
			run(func(int) error { _, err := replanner(d, t0).Tick(ctx); return err })
		}
		wg.Wait()
		close(errs)
		for err := range errs {
			require.NoError(t, err)
		}
		_, err := replanner(d, t0).Tick(ctx)
		require.NoError(t, err)
		require.Empty(t, replans(t, d))
	})
}

// noHand leaves messages to the dispatcher.
type noHand struct{}

func (noHand) HandOver(context.Context, []sched.Message) (int, error) { return 0, nil }
