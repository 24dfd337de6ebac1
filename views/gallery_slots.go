package views

import (
	"time"

	"ax/app/calendar"
	"ax/app/fault"
	"ax/app/sched"
)

// shownCalendar has data for this year only.
func shownCalendar() *calendar.Calendar {
	return &calendar.Calendar{
		ID: 3, Code: "german-bank-days", Name: "German bank days", Week: calendar.MondayToFriday, Version: 2,
		Listed: map[calendar.Day]calendar.Entry{calendar.Date(2026, 12, 25): {Name: "Christmas"}, calendar.Date(2026, 12, 28): {Name: "Stock-taking"}},
	}
}

func shownBent(task *sched.Task) {
	s := &task.Spec.Schedule
	s.Cron, s.Timezone = "30 2 * * MON-FRI", "Europe/Berlin"
	s.Calendar, s.CalendarMode, s.CalendarMove = "german-bank-days", sched.OnWorkdays, sched.MoveNext
	s.StartAt, s.EndAt, s.JitterSeconds = sampleTime(400*24*time.Hour), sampleTime(-900*24*time.Hour), 90
	s.Misfire, s.MisfireGraceSeconds, s.MisfireCap = sched.FireAll, 300, 50
	task.Spec.Policy.Overlap = sched.OverlapSkip
	task.Calendar = shownCalendar()
}

// shownCalendarTask follows a calendar; all reasons for a missed slot are there.
func shownCalendarTask() TaskPage {
	p := shownTaskPage()
	shownBent(&p.Task)
	p.Coming = p.Task.Coming(sampleTime(0), 5)
	day := 24 * time.Hour
	for i := range 18 {
		at := sampleTime(time.Duration(70+7*i) * day)
		p.Report.Missed = append(p.Report.Missed, sched.MissedRange{From: at, To: at, Slots: 1, Reason: sched.MissedCalendar, Policy: string(sched.MoveNext)})
	}
	p.Report.MissedTotals = map[sched.MissReason]sched.MissedTotal{
		sched.MissedCalendar: {Ranges: 104, Slots: 208}, sched.MissedPaused: {Ranges: 1, Slots: 4}, sched.MissedMisfire: {Ranges: 1, Slots: 1},
	}
	p.Report.Missed[1].Policy = string(sched.FireOnce)
	return p
}

// shownSlotsTask is the form with every field of a schedule filled in.
func shownSlotsTask() TaskFormPage {
	v := GalleryViewer(English, "light")
	p := shownEditTask()
	shownBent(&p.Stored)
	p.Values = v.TaskValues(p.Stored, "payments")
	p.Calendars = []CalendarChoice{{Code: "china", Name: "中国法定节假日"}, {Code: "german-bank-days", Name: "German bank days"}}
	p.Preview.Schedule, p.Preview.Calendar, p.Preview.Overlap, p.Preview.MaxConcurrent = p.Stored.Spec.Schedule, "German bank days", sched.OverlapSkip, 1
	p.Preview.Off = []sched.DayOff{
		{Slot: time.Date(2026, 12, 25, 1, 30, 0, 0, time.UTC), Name: "Christmas", To: time.Date(2026, 12, 29, 1, 30, 0, 0, time.UTC), Joins: true},
	}
	p.Preview.Shift = &sched.ClockShift{At: time.Date(2027, 3, 28, 1, 0, 0, 0, time.UTC), Offset: 7200, By: 3600}
	p.Preview.Warnings = append(p.Preview.Warnings, fault.Text{Format: "The calendar %s has no days for %d: that year goes by the week alone", Args: []any{"German bank days", 2027}})
	return p
}
