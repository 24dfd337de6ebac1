package sched

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBadSlotsAreRefused(t *testing.T) {
	requireRefused(t, KindCron, map[string]refused{
		"a misfire there is not":    {func(w *TaskSpec) { w.Schedule.Misfire = "maybe" }, []string{"schedule.misfire"}},
		"a grace below nothing":     {func(w *TaskSpec) { w.Schedule.MisfireGraceSeconds = -1 }, []string{"schedule.misfire_grace_seconds"}},
		"a grace of over a day":     {func(w *TaskSpec) { w.Schedule.MisfireGraceSeconds = 86_401 }, []string{"schedule.misfire_grace_seconds"}},
		"a cap without fire_all":    {func(w *TaskSpec) { w.Schedule.MisfireCap = 5 }, []string{"schedule.misfire_cap"}},
		"a cap of 1,001":            {func(w *TaskSpec) { w.Schedule.Misfire, w.Schedule.MisfireCap = FireAll, 1001 }, []string{"schedule.misfire_cap"}},
		"a fixed delay of a cron":   {func(w *TaskSpec) { w.Schedule.FixedDelay = true }, []string{"schedule.fixed_delay"}},
		"run now of a cron":         {func(w *TaskSpec) { w.Schedule.RunNow = true }, []string{"schedule.run_now"}},
		"an end at the start":       {func(w *TaskSpec) { w.Schedule.StartAt, w.Schedule.EndAt = noon(), noon() }, []string{"schedule.end_at"}},
		"a negative jitter":         {func(w *TaskSpec) { w.Schedule.JitterSeconds = -1 }, []string{"schedule.jitter_seconds"}},
		"a jitter of over an hour":  {func(w *TaskSpec) { w.Schedule.JitterSeconds = 3601 }, []string{"schedule.jitter_seconds"}},
		"a mode without a calendar": {func(w *TaskSpec) { w.Schedule.CalendarMode = OnWorkdays }, []string{"schedule.calendar"}},
		"a move without a calendar": {func(w *TaskSpec) { w.Schedule.CalendarMove = MoveNext }, []string{"schedule.calendar"}},
		"a mode there is not":       {func(w *TaskSpec) { w.Schedule.Calendar, w.Schedule.CalendarMode = "cn", "some" }, []string{"schedule.calendar_mode"}},
		"a move there is not":       {func(w *TaskSpec) { w.Schedule.Calendar, w.Schedule.CalendarMove = "cn", "away" }, []string{"schedule.calendar_move"}},
		"a minutely task moved": {func(w *TaskSpec) {
			w.Schedule.Cron, w.Schedule.Calendar, w.Schedule.CalendarMove = "*/30 * * * *", "cn", MoveNext
		}, []string{"schedule.calendar_move"}},
	})
	requireRefused(t, KindInterval, map[string]refused{
		"a fixed delay by a calendar": {func(w *TaskSpec) { w.Schedule.FixedDelay, w.Schedule.Calendar = true, "cn" }, []string{"schedule.calendar"}},
		"a fast rate moved": {func(w *TaskSpec) {
			w.Schedule.Calendar, w.Schedule.CalendarMove = "cn", MovePrevious
		}, []string{"schedule.calendar_move"}},
	})
	requireRefused(t, KindOnce, map[string]refused{
		"a moment by a calendar":   {func(w *TaskSpec) { w.Schedule.Calendar = "cn" }, []string{"schedule.calendar"}},
		"a moment that has passed": {func(w *TaskSpec) { w.Schedule.RunAt = noon().Add(-time.Second) }, []string{"schedule.run_at"}},
	})
	requireRefused(t, KindManual, map[string]refused{
		"what only slots have": {func(w *TaskSpec) {
			w.Schedule.Misfire, w.Schedule.MisfireGraceSeconds, w.Schedule.MisfireCap = SkipAll, 5, 5
			w.Schedule.Calendar, w.Schedule.StartAt, w.Schedule.EndAt, w.Schedule.JitterSeconds = "cn", noon(), noon(), 5
		}, []string{
			"schedule.misfire", "schedule.misfire_grace_seconds", "schedule.misfire_cap",
			"schedule.calendar", "schedule.start_at", "schedule.end_at", "schedule.jitter_seconds",
		}},
	})
}

func TestASlotsRulesAreKeptAndWrittenAgain(t *testing.T) {
	w := written(KindCron)
	w.Schedule.Misfire, w.Schedule.MisfireCap, w.Schedule.MisfireGraceSeconds = FireAll, 7, 300
	w.Schedule.Calendar, w.Schedule.CalendarMove = "cn", MoveNext
	w.Schedule.StartAt, w.Schedule.EndAt, w.Schedule.JitterSeconds = noon(), noon().AddDate(1, 0, 0), 90
	task, err := w.Resolve(Task{}, defaults(), noon())
	require.NoError(t, err)
	s := task.Spec.Schedule
	require.Equal(t, OnWorkdays, s.CalendarMode, "the default")
	require.Equal(t, 5*time.Minute, s.Grace())
	require.Equal(t, 7, s.catchUp())
	again, err := task.Written("shop").Resolve(Task{}, defaults(), noon())
	require.NoError(t, err)
	require.Equal(t, s, again.Spec.Schedule)
}

func TestAPassedMomentRunsNowIfThatIsMeant(t *testing.T) {
	w := written(KindOnce)
	w.Schedule.RunAt, w.Schedule.RunNow = noon().Add(-time.Hour), true
	task, err := w.Resolve(Task{}, defaults(), noon())
	require.NoError(t, err)
	require.Equal(t, noon(), task.Spec.Schedule.RunAt)

	old := task
	old.ID, old.Spec.Schedule.RunAt = 3, noon().Add(-time.Hour)
	w.Schedule.RunAt = old.Spec.Schedule.RunAt
	task, err = w.Resolve(old, defaults(), noon())
	require.NoError(t, err)
	require.Equal(t, noon(), task.Spec.Schedule.RunAt, "the moment that the task had, too")

	w.Schedule.RunAt = noon().Add(time.Hour)
	task, err = w.Resolve(Task{}, defaults(), noon())
	require.NoError(t, err)
	require.Equal(t, noon().Add(time.Hour), task.Spec.Schedule.RunAt, "a moment to come stays")
}

func TestWithoutALimitSlotsMayOverlap(t *testing.T) {
	for name, c := range map[string]struct {
		kind    ScheduleKind
		written PolicySpec
		overlap Overlap
		limit   int
	}{
		"nothing said":       {KindCron, PolicySpec{}, OverlapSkip, 1},
		"no limit":           {KindCron, PolicySpec{MaxConcurrent: new(0)}, OverlapAllow, 0},
		"overlap allowed":    {KindCron, PolicySpec{Overlap: OverlapAllow}, OverlapAllow, 0},
		"allowed to a limit": {KindCron, PolicySpec{Overlap: OverlapAllow, MaxConcurrent: new(3)}, OverlapAllow, 3},
		"queued":             {KindCron, PolicySpec{Overlap: OverlapQueue}, OverlapQueue, 1},
		"on request":         {KindManual, PolicySpec{}, OverlapSkip, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := written(c.kind)
			c.written.Idempotent = new(true)
			w.Policy = c.written
			task, err := w.Resolve(Task{}, defaults(), noon())
			require.NoError(t, err)
			require.Equal(t, c.overlap, task.Spec.Policy.Overlap)
			require.Equal(t, c.limit, task.Spec.Policy.MaxConcurrent)
		})
	}
}
