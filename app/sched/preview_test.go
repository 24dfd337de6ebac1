package sched

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/fault"
)

func TestAPreviewSaysWhatAScheduleMeans(t *testing.T) {
	p, err := PreviewSchedule(ScheduleSpec{Kind: KindCron, Cron: " 0  2 * * *", Timezone: "Asia/Shanghai"}, nil, noon(), 2)
	require.NoError(t, err)
	require.Equal(t, moments("2026-03-02T18:00:00Z", "2026-03-03T18:00:00Z"), p.Next)
	require.Equal(t, "Asia/Shanghai", p.Zone.String())
	require.NotEmpty(t, p.Words["en"])
	require.NotEmpty(t, p.Words["zh-CN"])
	require.NotEqual(t, p.Words["en"], p.Words["zh-CN"])
	require.Empty(t, p.Warnings)
}

func TestAPreviewWarns(t *testing.T) {
	p, err := PreviewSchedule(ScheduleSpec{Kind: KindCron, Cron: "30 2 * * *", Timezone: "America/New_York"}, nil, noon(), 1)
	require.NoError(t, err)
	require.NotEmpty(t, p.Warnings)
	for _, w := range p.Warnings {
		require.NotContains(t, w.String(), "%!")
	}
}

func TestAPreviewOfOtherKinds(t *testing.T) {
	for name, c := range map[string]struct {
		w    ScheduleSpec
		want []time.Time
	}{
		"interval": {ScheduleSpec{Kind: KindInterval, EverySeconds: 90, Anchor: noon()}, moments("2026-03-02T12:01:30Z", "2026-03-02T12:03:00Z")},
		"once":     {ScheduleSpec{Kind: KindOnce, RunAt: noon().Add(time.Hour)}, moments("2026-03-02T13:00:00Z")},
		"delay":    {ScheduleSpec{Kind: KindDelay, DelaySeconds: 5}, nil},
		"manual":   {ScheduleSpec{Kind: KindManual}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := PreviewSchedule(c.w, nil, noon(), 2)
			require.NoError(t, err)
			require.Equal(t, c.want, p.Next)
			require.Empty(t, p.Words)
		})
	}
}

func TestAPreviewIsBounded(t *testing.T) {
	for count, want := range map[int]int{-5: 1, 0: 1, 1: 1, 50: 50, 51: 50, 1 << 30: 50} {
		p, err := PreviewSchedule(ScheduleSpec{Kind: KindCron, Cron: "* * * * *", Timezone: "UTC"}, nil, noon(), count)
		require.NoError(t, err)
		require.Len(t, p.Next, want, "%d", count)
	}
}

func TestAPreviewOfABadScheduleNamesItsFields(t *testing.T) {
	for name, c := range map[string]struct {
		w    ScheduleSpec
		want []string
	}{
		"an expression and a zone": {ScheduleSpec{Kind: KindCron, Cron: "x", Timezone: "Mars/Base"}, []string{"schedule.cron", "schedule.timezone"}},
		"a zone and no fields":     {ScheduleSpec{Kind: KindCron, Cron: "TZ=0", Timezone: "UTC"}, []string{"schedule.cron"}},
		"no period":                {ScheduleSpec{Kind: KindInterval}, []string{"schedule.every_seconds"}},
		"what comes later":         {ScheduleSpec{Kind: KindManual, JitterSeconds: 1}, []string{"schedule.jitter_seconds"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := PreviewSchedule(c.w, nil, noon(), 5)
			require.Equal(t, fault.KindInvalid, fault.KindOf(err))
			require.Equal(t, c.want, fieldNames(err))
		})
	}
}
