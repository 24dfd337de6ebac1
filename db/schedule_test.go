package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/calendar"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// with changes a task's definition before it is stored.
func with(set func(*sched.Spec)) dbtest.TaskOption {
	return func(t *sched.Task) { set(&t.Spec) }
}

// makeCalendar stores a calendar of the usual week with days off.
func makeCalendar(t *testing.T, d *db.DB, code string, off ...calendar.Day) {
	t.Helper()
	exec(t, d, "INSERT INTO calendars (code, name, week, created_at, updated_at) VALUES (?,?,?,0,0)", code, code, int(calendar.MondayToFriday))
	for _, day := range off {
		exec(t, d, "INSERT INTO calendar_days (calendar_id, day, work) SELECT id, ?, 0 FROM calendars WHERE code=?", int(day), code)
	}
}

func TestSlotsOnDaysOffAreRecordedAndMovedOnesRun(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		// t0 is Tuesday, 1 December 2026; Wednesday and Thursday are off.
		makeCalendar(t, d, "cn", calendar.DayOf(t0)+1, calendar.DayOf(t0)+2)
		byDay := func(move sched.CalendarMove) dbtest.TaskOption {
			return with(func(s *sched.Spec) {
				s.Schedule.Calendar, s.Schedule.CalendarMode, s.Schedule.CalendarMove = "cn", sched.OnWorkdays, move
			})
		}
		dropped := dbtest.MakeTask(t, d, dbtest.Cron("0 13 * * *"), byDay(sched.MoveDrop))
		moved := dbtest.MakeTask(t, d, dbtest.Cron("0 13 2 * *"), byDay(sched.MoveNext))
		exec(t, d, "UPDATE tasks SET next_fire_at=? WHERE id=?", later(25*3600).UnixMilli(), moved.ID)
		for now := t0; now.Before(t0.AddDate(0, 0, 6)); now = now.Add(10 * time.Minute) {
			plan(t, d, now)
		}
		at := func(day int) time.Time { return t0.AddDate(0, 0, day).Add(time.Hour) }
		require.Equal(t, []time.Time{at(0), at(3)}, slotsOf(t, d, dropped), "Tuesday and Friday")
		require.Equal(t, []time.Time{at(3)}, slotsOf(t, d, moved), "moved to Friday")

		m := missed(t, d, dropped)
		require.Len(t, m, 2)
		require.Equal(t, sched.MissedCalendar, m[0].Reason)
		require.Equal(t, "drop", m[0].Policy)
		require.Equal(t, at(4), m[1].From, "the weekend")
		require.Equal(t, []int{2, 2}, []int{m[0].Slots, m[1].Slots})
		m = missed(t, d, moved)
		require.Len(t, m, 1)
		require.Equal(t, "next_workday", m[0].Policy)
		require.Equal(t, at(1), m[0].From)
		totals, err := d.MissedTotals(t.Context(), dropped.ID)
		require.NoError(t, err)
		require.Equal(t, map[sched.MissReason]sched.MissedTotal{sched.MissedCalendar: {Ranges: 2, Slots: 4}}, totals)

		// The claim asks the same calendar.
		node := dbtest.MakeNode(t, d)
		claimed := claim(t, d, instancesOf(t, d, moved)[0], node, at(3))
		require.Equal(t, sched.ClaimTake, claimed.Verdict.Kind)
	})
}

func TestATaskWhoseCalendarIsGoneIsMarked(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		makeCalendar(t, d, "cn")
		task := dbtest.MakeTask(t, d, dbtest.Cron("* * * * *"), with(func(s *sched.Spec) {
			s.Schedule.Calendar, s.Schedule.CalendarMode, s.Schedule.CalendarMove = "cn", sched.OnWorkdays, sched.MoveDrop
		}))
		other := dbtest.MakeTask(t, d, dbtest.Cron("* * * * *"))
		exec(t, d, "DELETE FROM calendars")
		r := plan(t, d, t0)
		require.Equal(t, 1, r.Failed)
		require.Contains(t, reload(t, d, task).PlanError, "cn")
		require.Len(t, slotsOf(t, d, other), 1)
	})
}

func TestJitterMovesWhatIsDueAndNotTheSlot(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, dbtest.Cron("* * * * *"), dbtest.Code("spread"), with(func(s *sched.Spec) { s.Schedule.JitterSeconds = 600 }))
		offset := task.Offset()
		require.Positive(t, offset)
		plan(t, d, t0)
		in := read(t, d, instancesOf(t, d, task)[0])
		require.Equal(t, t0, in.SlotAt)
		require.Equal(t, t0.Add(offset), in.DueAt)
		require.Equal(t, t0.Add(offset), in.WantedAt)
		due, err := d.Due(t.Context(), t0.Add(sched.PlanHorizon), 10)
		require.NoError(t, err)
		require.Empty(t, due, "it is handed over when it is due")
		node := dbtest.MakeNode(t, d)
		require.Equal(t, sched.ClaimBack, claim(t, d, in.ID, node, t0).Verdict.Kind)
		require.Equal(t, sched.ClaimTake, claim(t, d, in.ID, node, in.DueAt).Verdict.Kind)
	})
}

func TestMISF07EightHoursAwayFireAllRunsEachUpToTheCap(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		all := dbtest.MakeTask(t, d, dbtest.Cron("0 * * * *"), with(func(s *sched.Spec) { s.Schedule.Misfire = sched.FireAll }))
		capped := dbtest.MakeTask(t, d, dbtest.Cron("0 * * * *"), with(func(s *sched.Spec) {
			s.Schedule.Misfire, s.Schedule.MisfireCap = sched.FireAll, 3
		}))
		none := dbtest.MakeTask(t, d, dbtest.Cron("0 * * * *"), with(func(s *sched.Spec) { s.Schedule.Misfire = sched.SkipAll }))
		planUpTo(t, d, later(8*3600+1800), 5) // in small pieces
		for range 9 {
			planUpTo(t, d, later(8*3600+1800), 5)
		}
		require.Len(t, slotsOf(t, d, all), 9, "12:00 to 20:00")
		require.Empty(t, missed(t, d, all))
		require.Equal(t, []time.Time{later(6 * 3600), later(7 * 3600), later(8 * 3600)}, slotsOf(t, d, capped))
		m := missed(t, d, capped)
		require.Len(t, m, 1)
		require.Equal(t, 6, m[0].Slots)
		require.Equal(t, later(6*3600), read(t, d, m[0].InstanceID).SlotAt, "the first that makes up for them")
		require.Empty(t, slotsOf(t, d, none))
		require.Equal(t, 9, missed(t, d, none)[0].Slots)
		require.Empty(t, missed(t, d, none)[0].InstanceID)
		require.Equal(t, later(9*3600), reload(t, d, none).NextFireAt)
	})
}

func TestAFixedDelayIsPlannedAfterTheEnd(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d, dbtest.Every(time.Minute), with(func(s *sched.Spec) { s.Schedule.FixedDelay = true })), dbtest.MakeNode(t, d)
		plan(t, d, t0)
		plan(t, d, later(60))
		first := instancesOf(t, d, task)
		require.Len(t, first, 1)
		c := take(t, d, first[0], node, later(60))
		plan(t, d, later(65))
		require.Len(t, instancesOf(t, d, task), 1, "the first still runs")
		settle(t, d, c, success(), later(80.5))
		for s := 70.0; s <= 141; s++ {
			plan(t, d, later(s))
		}
		require.Equal(t, []time.Time{t0, later(141)}, slotsOf(t, d, task), "60 s after its end, on the whole second")

		// An edit of an idle task starts nothing: the delay counts on.
		second := instancesOf(t, d, task)[1]
		settle(t, d, take(t, d, second, node, later(141)), success(), later(150))
		change(t, d, sched.TaskChange{Code: task.Code, Now: later(152), Version: true, Owed: true}, func(next *sched.Task) {
			next.Spec.Schedule.EverySeconds, next.NextFireAt = 30, later(152)
		})
		for s := 152.0; s <= 181; s++ {
			plan(t, d, later(s))
		}
		require.Equal(t, []time.Time{t0, later(141), later(180)}, slotsOf(t, d, task))
	})
}

func TestAnEditNotesWhichCalendarATaskGoesBy(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		makeCalendar(t, d, "cn")
		makeCalendar(t, d, "de")
		task := dbtest.MakeTask(t, d, dbtest.Cron("0 13 * * *"))
		by := func() (codes []string) {
			require.NoError(t, d.View(t.Context()).Raw("SELECT code FROM calendar_tasks WHERE task_id=?", task.ID).Scan(&codes).Error)
			return codes
		}
		require.Empty(t, by())
		for _, code := range []string{"cn", "de", ""} {
			change(t, d, sched.TaskChange{Code: task.Code, Now: t0, Version: true}, func(next *sched.Task) {
				next.Spec.Schedule.Calendar = code
				next.Spec.Schedule.CalendarMode, next.Spec.Schedule.CalendarMove = sched.OnWorkdays, sched.MoveDrop
			})
			want := []string{code}
			if code == "" {
				want = nil
			}
			require.Equal(t, want, by())
		}
	})
}

func TestOVER07TheSlotInTheWayIsCanceled(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, dbtest.Cron("* * * * *"), dbtest.Limit(1), with(func(s *sched.Spec) { s.Policy.Overlap = sched.OverlapCancel }))
		node := dbtest.MakeNode(t, d)
		old := running(t, d, task, node, dbtest.Slot(t0))
		asked := dbtest.MakeInstance(t, d, task, dbtest.Biz("order-1"))
		next := dbtest.MakeInstance(t, d, task, dbtest.Slot(later(60)))
		got := claim(t, d, next.ID, node, later(60))
		require.Equal(t, sched.ClaimDefer, got.Verdict.Kind)
		require.Equal(t, 1, got.Verdict.CancelOthers)

		wished, err := d.CancelOthers(t.Context(), task.ID, 1, next.ID, later(60))
		require.NoError(t, err)
		require.Equal(t, []string{old.Instance.ID}, wished)
		again, err := d.CancelOthers(t.Context(), task.ID, 1, next.ID, later(60))
		require.NoError(t, err)
		require.Empty(t, again, "once is enough")
		require.Equal(t, later(60), read(t, d, old.Instance.ID).CancelWanted)
		require.Equal(t, sched.Pending, read(t, d, asked.ID).State, "a request is let be")

		settle(t, d, old, cutOff(), later(60.5))
		require.Equal(t, sched.Canceled, read(t, d, old.Instance.ID).State)
		require.Contains(t, look(t, d, old.Instance.ID).Events[0].Detail, next.ID, "it says for which slot")
		take(t, d, next.ID, node, later(61))

		// One that waits to be tried again is canceled on the spot.
		third := dbtest.MakeInstance(t, d, task, dbtest.Slot(later(120)))
		settle(t, d, sched.Claimed{Instance: read(t, d, next.ID), Task: task}, failure(), later(62))
		require.Equal(t, sched.Retrying, read(t, d, next.ID).State)
		wished, err = d.CancelOthers(t.Context(), task.ID, 1, third.ID, later(120))
		require.NoError(t, err)
		require.Empty(t, wished)
		require.Equal(t, sched.Canceled, read(t, d, next.ID).State)
	})
}

// instancesOf gives the ids of a task's instances, oldest slot first.
func instancesOf(t *testing.T, d *db.DB, task sched.Task) (ids []string) {
	t.Helper()
	require.NoError(t, d.View(t.Context()).Raw("SELECT id FROM instances WHERE task_id=? ORDER BY wanted_at, id", task.ID).Scan(&ids).Error)
	return ids
}

// What is late is caught up with piece by piece; what is due now is planned
// beside the first piece.
func TestASpentBudgetLeavesTheLateAndPlansTheDue(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		now := later(3600)
		first, second := dbtest.MakeTask(t, d, dbtest.Every(time.Minute)), dbtest.MakeTask(t, d, dbtest.Every(time.Minute))
		due := dbtest.MakeTask(t, d, dbtest.Every(time.Hour))
		exec(t, d, "UPDATE tasks SET next_fire_at=? WHERE id=?", now.UnixMilli(), due.ID)
		r := planUpTo(t, d, now, 10)
		require.Equal(t, 3, r.Tasks)
		require.Equal(t, later(600), reload(t, d, first).NextFireAt)
		require.Equal(t, t0, reload(t, d, second).NextFireAt, "its turn comes")
		require.Len(t, slotsOf(t, d, due), 1)
		for range 20 {
			planUpTo(t, d, now, 10)
		}
		for _, task := range []sched.Task{first, second} {
			accounted(t, d, task, t0, now, time.Minute)
			require.Len(t, missed(t, d, task), 1)
		}
	})
}
