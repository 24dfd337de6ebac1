package alert_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/alert"
	"ax/app/calendar"
	"ax/app/sched"
)

// noon is a Tuesday.
func noon() time.Time { return time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC) }

func ago(d time.Duration) time.Time { return noon().Add(-d) }

func TestASuccessIsMissingWhenASlotIsPastWithoutOne(t *testing.T) {
	t.Parallel()
	daily := sched.Schedule{Kind: sched.KindCron, Cron: "0 2 * * *", Timezone: "UTC"}
	type world struct {
		schedule sched.Schedule
		change   func(*sched.Task)
		ok, end  time.Time
		running  bool
		want     time.Time // zero: nothing is missing
	}
	at2 := time.Date(2026, 12, 1, 2, 0, 0, 0, time.UTC)
	for name, w := range map[string]world{
		"succeeded since":                       {schedule: daily, ok: at2.Add(time.Minute)},
		"succeeded just then":                   {schedule: daily, ok: at2},
		"last one the day before":               {schedule: daily, ok: at2.Add(-23 * time.Hour), want: at2},
		"two days without":                      {schedule: daily, ok: at2.Add(-47 * time.Hour), want: at2.Add(-24 * time.Hour)},
		"never one":                             {schedule: daily, want: at2.Add(-6 * 24 * time.Hour)},
		"each minute, for hours":                {schedule: sched.Schedule{Kind: sched.KindCron, Cron: "* * * * *", Timezone: "UTC"}, ok: ago(2 * time.Hour), end: noon(), running: true, want: ago(2*time.Hour - time.Minute)},
		"each minute, fine":                     {schedule: sched.Schedule{Kind: sched.KindCron, Cron: "* * * * *", Timezone: "UTC"}, ok: noon()},
		"runs now":                              {schedule: daily, ok: at2.Add(-23 * time.Hour), running: true},
		"runs again after it failed":            {schedule: daily, ok: at2.Add(-23 * time.Hour), end: at2.Add(time.Hour), running: true, want: at2},
		"failed before the slot, runs now":      {schedule: daily, ok: at2.Add(-23 * time.Hour), end: at2.Add(-time.Hour), running: true},
		"disabled":                              {schedule: daily, change: func(t *sched.Task) { t.Enabled = false }},
		"archived":                              {schedule: daily, change: func(t *sched.Task) { t.ArchivedAt = ago(time.Hour) }},
		"paused":                                {schedule: daily, change: func(t *sched.Task) { t.PausedFrom, t.PausedUntil = ago(time.Minute), ago(-time.Hour) }},
		"paused over the slot":                  {schedule: daily, change: func(t *sched.Task) { t.PausedFrom, t.PausedUntil = at2.Add(-time.Hour), at2.Add(time.Hour) }},
		"pause over, a slot since":              {schedule: daily, change: func(t *sched.Task) { t.PausedFrom, t.PausedUntil = at2.Add(-time.Hour), at2.Add(-time.Minute) }, want: at2},
		"the pause ended on the slot":           {schedule: daily, change: func(t *sched.Task) { t.PausedFrom, t.PausedUntil = at2.Add(-time.Hour), at2 }, want: at2},
		"a pause to come":                       {schedule: daily, ok: at2.Add(-23 * time.Hour), change: func(t *sched.Task) { t.PausedFrom, t.PausedUntil = ago(-time.Hour), ago(-2*time.Hour) }, want: at2},
		"edited since":                          {schedule: daily, change: func(t *sched.Task) { t.UpdatedAt = ago(time.Hour) }},
		"edited before the slot":                {schedule: daily, change: func(t *sched.Task) { t.UpdatedAt = at2.Add(-time.Hour) }, want: at2},
		"jitter":                                {schedule: jittered(daily), ok: at2.Add(-23 * time.Hour), want: at2.Add(sched.Task{Code: "settle", Spec: sched.Spec{Schedule: jittered(daily)}}.Offset())},
		"once, never done":                      {schedule: sched.Schedule{Kind: sched.KindOnce, RunAt: ago(time.Hour)}, want: ago(time.Hour)},
		"once, done":                            {schedule: sched.Schedule{Kind: sched.KindOnce, RunAt: ago(time.Hour)}, ok: ago(50 * time.Minute)},
		"once, to come":                         {schedule: sched.Schedule{Kind: sched.KindOnce, RunAt: ago(-time.Hour)}},
		"each ten minutes":                      {schedule: sched.Schedule{Kind: sched.KindInterval, EverySeconds: 600, Anchor: ago(24 * time.Hour)}, ok: ago(25 * time.Minute), want: ago(20 * time.Minute)},
		"ten minutes after its end":             {schedule: sched.Schedule{Kind: sched.KindInterval, EverySeconds: 600, Anchor: ago(24 * time.Hour), FixedDelay: true}, ok: ago(25 * time.Minute), want: ago(15 * time.Minute)},
		"ten minutes after its end, not yet":    {schedule: sched.Schedule{Kind: sched.KindInterval, EverySeconds: 600, Anchor: ago(24 * time.Hour), FixedDelay: true}, ok: ago(9 * time.Minute)},
		"the schedule is over":                  {schedule: sched.Schedule{Kind: sched.KindCron, Cron: "0 2 * * *", Timezone: "UTC", EndAt: at2.Add(-time.Hour)}, ok: at2.Add(-23 * time.Hour)},
		"by hand":                               {schedule: sched.Schedule{Kind: sched.KindManual}},
		"a schedule in tatters":                 {schedule: sched.Schedule{Kind: sched.KindCron, Cron: "soon", Timezone: "UTC"}},
		"a day off":                             {schedule: onWorkdays(daily), ok: at2.Add(-23 * time.Hour), change: func(t *sched.Task) { t.Calendar = holiday(1) }},
		"a day off after a workday without one": {schedule: onWorkdays(daily), ok: at2.Add(-47 * time.Hour), change: func(t *sched.Task) { t.Calendar = holiday(1) }, want: at2.Add(-24 * time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			task := sched.Task{Code: "settle", Enabled: true, CreatedAt: ago(7 * 24 * time.Hour), UpdatedAt: ago(7 * 24 * time.Hour), Spec: sched.Spec{Schedule: w.schedule}}
			if w.change != nil {
				w.change(&task)
			}
			since, ok := alert.Missing(task, w.ok, w.end, w.running, noon())
			require.Equal(t, !w.want.IsZero(), ok, since)
			require.True(t, since.Equal(w.want), since)
		})
	}
}

func jittered(s sched.Schedule) sched.Schedule { s.JitterSeconds = 600; return s }

func onWorkdays(s sched.Schedule) sched.Schedule {
	s.Calendar, s.CalendarMode, s.CalendarMove = "c", sched.OnWorkdays, sched.MoveDrop
	return s
}

// holiday is a calendar with one day off in December 2026.
func holiday(day int) *calendar.Calendar {
	return &calendar.Calendar{Code: "c", Week: calendar.MondayToFriday, Listed: map[calendar.Day]calendar.Entry{calendar.Date(2026, 12, day): {}}}
}
