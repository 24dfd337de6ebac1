package views

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
)

func TestALengthOfTimeIsSaidSoThatItCanBeTypedAgain(t *testing.T) {
	t.Parallel()
	en, zh := Viewer{Lang: English}, Viewer{Lang: Chinese}
	for n, want := range map[int][2]string{
		0:      {"0 s", "0 秒"},
		30:     {"30 s", "30 秒"},
		90:     {"1 min 30 s", "1 分钟 30 秒"},
		5400:   {"1 h 30 min", "1 小时 30 分钟"},
		86_461: {"1 d 1 min 1 s", "1 天 1 分钟 1 秒"},
	} {
		require.Equal(t, want[0], en.Exactly(n))
		require.Equal(t, want[1], zh.Exactly(n))
	}
	require.Equal(t, "10 s, 30 s, 2 min", en.ExactlyAll([]int{10, 30, 120}))
}

func TestAMomentSaysItsWeekdayAndNoMoreThanNeeded(t *testing.T) {
	t.Parallel()
	v := GalleryViewer(English, "light")
	at := time.Date(2026, 12, 3, 1, 30, 0, 0, time.UTC)
	require.Equal(t, "Thu 3 Dec 09:30", v.Moment(at, v.Zone))
	require.Equal(t, "Thu 3 Dec 01:30:07", v.Moment(at.Add(7*time.Second), time.UTC))
	require.Equal(t, "Mon 1 Feb 2027 01:30", v.Moment(at.AddDate(0, 1, 29), time.UTC))
	v.Lang = Chinese
	require.Equal(t, "12-03 周四 09:30", v.Moment(at, v.Zone))
	require.Equal(t, "2027-02-01 周一 01:30", v.Moment(at.AddDate(0, 1, 29), time.UTC))
}

func TestAScheduleIsSaidInWordsForEveryKind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		s      sched.Schedule
		en, zh string
	}{
		"cron":         {sched.Schedule{Kind: sched.KindCron, Cron: "30 2 * * MON-FRI", Timezone: "Europe/Berlin"}, "At 2:30 on Monday to Friday, Europe/Berlin", "周一至周五 2:30，Europe/Berlin"},
		"not readable": {sched.Schedule{Kind: sched.KindCron, Cron: "x", Timezone: "UTC"}, "x, UTC", "x，UTC"},
		"interval":     {sched.Schedule{Kind: sched.KindInterval, EverySeconds: 90, Timezone: "UTC"}, "Every 1 min 30 s", "每 1 分钟 30 秒"},
		"once":         {sched.Schedule{Kind: sched.KindOnce, RunAt: sampleTime(0), Timezone: "UTC"}, "Once, Wed 2 Dec 06:32:07, UTC", "一次，12-02 周三 06:32:07，UTC"},
		"delay":        {sched.Schedule{Kind: sched.KindDelay, DelaySeconds: 1800}, "30 min after each request", "每次请求后 30 分钟"},
		"manual":       {sched.Schedule{Kind: sched.KindManual}, "On request only", "仅按需运行"},
	} {
		require.Equal(t, c.en, scheduleSentence(With(t.Context(), GalleryViewer(English, "")), c.s), name)
		require.Equal(t, c.zh, scheduleSentence(With(t.Context(), GalleryViewer(Chinese, "")), c.s), name)
	}
}

func TestATaskHasTheOneStateThatMatters(t *testing.T) {
	t.Parallel()
	now := sampleTime(0)
	good := sched.Run{State: sched.Succeeded}
	for name, c := range map[string]struct {
		change func(*sched.Task)
		ran    bool
		want   string
	}{
		"its last run":              {func(*sched.Task) {}, true, "succeeded"},
		"never ran is no failure":   {func(*sched.Task) {}, false, "never_ran"},
		"a pause hides the run":     {func(k *sched.Task) { k.PausedFrom, k.PausedUntil = now, now.Add(time.Hour) }, true, "paused"},
		"a pause that is over":      {func(k *sched.Task) { k.PausedFrom, k.PausedUntil = now.Add(-time.Hour), now }, true, "succeeded"},
		"disabled goes before":      {func(k *sched.Task) { k.Enabled, k.PausedUntil = false, now.Add(time.Hour) }, true, "disabled"},
		"what can't be planned too": {func(k *sched.Task) { k.PlanError = "no zone" }, true, "broken"},
		"archived is the end":       {func(k *sched.Task) { k.ArchivedAt, k.PlanError = now, "no zone" }, true, "archived"},
	} {
		task := sched.Task{Enabled: true}
		c.change(&task)
		require.Equal(t, c.want, taskState(task, good, c.ran, now), name)
	}
}

func TestWhatOnlyWaitsIsNoLastRun(t *testing.T) {
	t.Parallel()
	now := sampleTime(0)
	runs := []sched.Run{{State: sched.Failed, StartedAt: now, FinishedAt: now}, {State: sched.Skipped, FinishedAt: now}, {State: sched.Pending}}
	last, ok := latestRun(runs)
	require.True(t, ok)
	require.Equal(t, sched.Skipped, last.State)
	_, ok = latestRun(runs[2:])
	require.False(t, ok)
	require.Len(t, runMarks(runs), 2)
}

func TestADiffNamesOnlyWhatDiffers(t *testing.T) {
	t.Parallel()
	v := GalleryViewer(English, "light")
	stored := v.TaskValues(shownTask(), "payments")
	typed := stored
	typed.Note, typed.Team, typed.Payload = "why", "", `{"banks":["house-01","house-02"],"period":"day","tolerance_cents":5,"notify":true}`
	require.Empty(t, taskDiff(stored, typed), "another spelling of the same JSON is no difference")
	typed.Enabled, typed.Owner = false, " "
	require.Equal(t, []FieldDiff{{"owner", "ops-lead", ""}, {"enabled", "true", "false"}}, taskDiff(stored, typed))
	changed := shownTask()
	changed.Enabled, changed.Spec.Policy.TimeoutSeconds = false, 30
	require.Equal(t, "Enabled, Time limit per attempt", v.ChangedFields(shownTask(), changed))
}

func TestTheRunChartShowsWhatEndedBadlyInNoTime(t *testing.T) {
	t.Parallel()
	ctx := With(t.Context(), GalleryViewer(English, "light"))
	now := sampleTime(0)
	runs := []sched.Run{
		{State: sched.Succeeded, Attempt: 1, StartedAt: now, FinishedAt: now.Add(40 * time.Second)},
		{State: sched.Failed, Attempt: 1, StartedAt: now, FinishedAt: now},
		{State: sched.Skipped, FinishedAt: now},
		{State: sched.Pending},
	}
	c := runChart(ctx, runs, 40*time.Second, 40*time.Second)
	require.Equal(t, "seconds", c.Unit)
	require.Len(t, c.Columns.Bars, 3, "what waits has no bar")
	require.Equal(t, "f-fail", c.Columns.Bars[1].Class)
	require.Equal(t, "10", c.Columns.Bars[1].H)
	require.Equal(t, "2", c.Columns.Bars[2].H)
	require.Equal(t, "Last 3 runs, 1 failed. Half of the good ones took at most 40 s, 99 of 100 at most 40 s", c.Columns.Label)
	require.Empty(t, runChart(ctx, nil, 0, 0).Columns.Bars)
	for d, unit := range map[time.Duration]string{300 * time.Millisecond: "milliseconds", 19 * time.Minute: "seconds", time.Hour: "minutes"} {
		_, got := chartUnit(ctx, d)
		require.Equal(t, unit, got)
	}
}

func TestPercentilesSayWhatTheyAreOf(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]sched.TaskReport{
		"no good run yet":          {},
		"last 1 good run":          {Latest: sched.Spread{P50: time.Second, Of: 1}},
		"last 51 good runs":        {Latest: sched.Spread{P50: time.Second, Of: 51}},
		"900 good attempts in 7 d": {Took: sched.Spread{P50: time.Second, Of: 900}, Latest: sched.Spread{Of: 51}},
		"1 good attempt in 7 d":    {Took: sched.Spread{P50: time.Second, Of: 1}, Latest: sched.Spread{Of: 51}},
	} {
		require.Equal(t, want, TaskPage{Task: shownTask(), Report: r}.figures(t.Context())[2].Sub)
	}
}
