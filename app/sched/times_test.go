package sched

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ax/app/fault"
)

func timesOf(t require.TestingT, s Schedule) Times {
	times, err := s.Times(nil)
	require.NoError(t, err)
	return times
}

func TestTheSlotsOfASchedule(t *testing.T) {
	for name, c := range map[string]struct {
		schedule Schedule
		from     string
		want     []time.Time
	}{
		"minutely": {
			cronOf("* * * * *", "UTC"), "2026-03-02T12:00:00.5Z",
			moments("2026-03-02T12:01:00Z", "2026-03-02T12:02:00Z", "2026-03-02T12:03:00Z"),
		},
		"a zone of its own": {
			cronOf("0 9 * * *", "Asia/Shanghai"), "2026-03-02T12:00:00Z",
			moments("2026-03-03T01:00:00Z", "2026-03-04T01:00:00Z", "2026-03-05T01:00:00Z"),
		},
		"two of one expression that fall together (DST-16)": {
			cronOf("0,30 2,3 * * *", "America/New_York"), "2025-03-09T06:00:00Z",
			moments("2025-03-09T07:00:00Z", "2025-03-09T07:30:00Z", "2025-03-10T06:00:00Z"),
		},
		"an interval from its anchor (MISF-10)": {
			everyOf(6*3600, moment("2026-03-02T00:00:00Z")), "2026-03-02T04:00:00Z",
			moments("2026-03-02T06:00:00Z", "2026-03-02T12:00:00Z", "2026-03-02T18:00:00Z"),
		},
		"an interval asked again later (MISF-10)": {
			everyOf(6*3600, moment("2026-03-02T00:00:00Z")), "2026-03-02T08:00:00Z",
			moments("2026-03-02T12:00:00Z", "2026-03-02T18:00:00Z", "2026-03-03T00:00:00Z"),
		},
		"an interval before its anchor": {
			everyOf(60, moment("2026-03-03T00:00:00Z")), "2026-03-02T04:00:00Z",
			moments("2026-03-03T00:00:00Z", "2026-03-03T00:01:00Z", "2026-03-03T00:02:00Z"),
		},
		"@every from the anchor": {
			Schedule{Kind: KindCron, Cron: "@every 90s", Timezone: "UTC", Anchor: moment("2026-03-02T12:00:07Z")}, "2026-03-02T12:00:07Z",
			moments("2026-03-02T12:01:37Z", "2026-03-02T12:03:07Z", "2026-03-02T12:04:37Z"),
		},
		"@every without an anchor counts from 1970": {
			Schedule{Kind: KindCron, Cron: "@every 90s", Timezone: "UTC"}, "2026-03-02T12:00:07Z",
			moments("2026-03-02T12:01:30Z", "2026-03-02T12:03:00Z", "2026-03-02T12:04:30Z"),
		},
		"once":          {Schedule{Kind: KindOnce, RunAt: noon()}, "2026-03-02T11:00:00Z", moments("2026-03-02T12:00:00Z")},
		"once, rounded": {Schedule{Kind: KindOnce, RunAt: noon().Add(1)}, "2026-03-02T11:00:00Z", moments("2026-03-02T12:00:01Z")},
		"once, over":    {Schedule{Kind: KindOnce, RunAt: noon()}, "2026-03-02T12:00:00Z", nil},
		"delay":         {Schedule{Kind: KindDelay, DelaySeconds: 5}, "2026-03-02T12:00:00Z", nil},
		"manual":        {Schedule{Kind: KindManual}, "2026-03-02T12:00:00Z", nil},
	} {
		t.Run(name, func(t *testing.T) {
			times := timesOf(t, c.schedule)
			require.Equal(t, c.want, nextSlots(times, moment(c.from), 3))
			for i, slot := range c.want {
				require.True(t, times.Wants(slot))
				require.False(t, times.Wants(slot.Add(time.Second/2)))
				if i > 0 {
					prev, ok := times.Prev(slot)
					require.True(t, ok)
					require.Equal(t, c.want[i-1], prev)
				}
			}
			require.Equal(t, c.schedule.Kind.Slots(), len(c.want) > 0 || c.schedule.Kind == KindOnce)
		})
	}
}

func TestAScheduleThatCannotBeReadNamesItsFields(t *testing.T) {
	for name, c := range map[string]struct {
		schedule Schedule
		want     []string
	}{
		"cron":                   {cronOf("61 * * * *", "UTC"), []string{"schedule.cron"}},
		"zone":                   {cronOf("* * * * *", "Mars/Base"), []string{"schedule.timezone"}},
		"both":                   {cronOf("", ""), []string{"schedule.cron", "schedule.timezone"}},
		"a period of nothing":    {everyOf(0, noon()), []string{"schedule.every_seconds"}},
		"a rate without anchor":  {everyOf(60, time.Time{}), []string{"schedule.every_seconds"}},
		"a panic of long ago":    {cronOf("TZ=0", "UTC"), []string{"schedule.cron"}},
		"a zone without a field": {cronOf("CRON_TZ=Asia/Shanghai", "UTC"), []string{"schedule.cron"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.schedule.Times(nil)
			require.Equal(t, fault.KindInvalid, fault.KindOf(err))
			require.Equal(t, c.want, fieldNames(err))
		})
	}
}

// fieldNames of a validation's error, in its order.
func fieldNames(err error) []string {
	var names []string
	for _, f := range fault.Fields(err) {
		names = append(names, f.Name)
	}
	return names
}

// Next, Prev and Wants of a rate say the same as counting does.
func TestARateCounts(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		every := rapid.IntRange(1, 5000).Draw(r, "every")
		anchor := noon().Add(time.Duration(rapid.IntRange(-9000, 9000).Draw(r, "anchor")) * time.Second)
		at := noon().Add(time.Duration(rapid.IntRange(-20_000_000, 20_000_000).Draw(r, "ms")) * time.Millisecond)
		times := timesOf(r, everyOf(every, anchor))
		var prev, next time.Time
		wanted := false
		for slot := anchor; next.IsZero(); slot = slot.Add(time.Duration(every) * time.Second) {
			switch {
			case slot.Before(at):
				prev = slot
			case slot.After(at):
				next = slot
			default:
				wanted = true
			}
		}
		got, ok := times.Next(at)
		require.True(r, ok)
		require.Equal(r, next, got)
		got, ok = times.Prev(at)
		require.Equal(r, !prev.IsZero(), ok)
		require.Equal(r, prev, got)
		require.Equal(r, wanted, times.Wants(at))
	})
}

func TestTheFirstSlotAtOrAfter(t *testing.T) {
	times := timesOf(t, cronOf("* * * * *", "UTC"))
	require.Equal(t, noon(), firstFrom(times, noon()), "at it")
	require.Equal(t, noon().Add(time.Minute), firstFrom(times, noon().Add(time.Millisecond)))
	require.Equal(t, noon(), firstFrom(times, noon().Add(-time.Millisecond)))
	require.Zero(t, firstFrom(Times{raw: never{}}, noon()))
	require.Equal(t, noon(), firstFrom(Times{raw: once(noon())}, noon()))
	require.Zero(t, firstFrom(Times{raw: once(noon())}, noon().Add(time.Millisecond)))
}

func TestASlotIsNamedByItsInstant(t *testing.T) {
	zone := time.FixedZone("", 8*3600)
	require.Equal(t, "@2026-12-01T00:00:00Z", SlotBizID(time.Date(2026, 12, 1, 8, 0, 0, 0, zone)))
}

func TestKindsWithSlots(t *testing.T) {
	var with []ScheduleKind
	for _, k := range ScheduleKinds() {
		if k.Slots() {
			with = append(with, k)
		}
	}
	require.Equal(t, []ScheduleKind{KindCron, KindInterval, KindOnce}, with)
	require.False(t, ScheduleKind("weekly").Slots())
}

func TestWhenATaskIsPaused(t *testing.T) {
	task := Task{PausedFrom: noon(), PausedUntil: noon().Add(time.Minute)}
	for offset, want := range map[time.Duration]bool{-1: false, 0: true, time.Minute - 1: true, time.Minute: false} {
		require.Equal(t, want, task.Paused(noon().Add(offset)), "%s", offset)
	}
	require.False(t, Task{}.Paused(noon()))
}
