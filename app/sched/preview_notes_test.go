package sched

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/calendar"
)

// bankDays has Christmas off, a worked Saturday, and data for 2026 only.
func bankDays() *calendar.Calendar {
	return &calendar.Calendar{
		Code: "bank", Name: "Bank days", Week: calendar.MondayToFriday,
		Listed: map[calendar.Day]calendar.Entry{
			calendar.Date(2026, 12, 25): {Name: "Christmas"},
			calendar.Date(2026, 12, 26): {Name: "Boxing day"},
			calendar.Date(2026, 3, 7):   {Work: true},
		},
	}
}

func previewed(t *testing.T, w ScheduleSpec, c *calendar.Calendar, from time.Time) (Preview, []string) {
	t.Helper()
	p, err := PreviewSchedule(w, c, from, 5)
	require.NoError(t, err)
	var said []string
	for _, n := range p.Warnings {
		require.NotContains(t, n.String(), "%!")
		said = append(said, n.Format)
	}
	return p, said
}

func TestAPreviewPassesOverDaysOffAndNamesThem(t *testing.T) {
	w := ScheduleSpec{Kind: KindCron, Cron: "30 2 * * MON-FRI", Timezone: "Europe/Berlin", Calendar: "bank", CalendarMove: MoveNext}
	p, said := previewed(t, w, bankDays(), moment("2026-12-23T12:00:00Z"))
	require.Equal(t, moments("2026-12-24T01:30:00Z", "2026-12-28T01:30:00Z", "2026-12-29T01:30:00Z", "2026-12-30T01:30:00Z", "2026-12-31T01:30:00Z"), p.Next)
	require.Equal(t, []DayOff{{Slot: moment("2026-12-25T01:30:00Z"), Name: "Christmas", To: moment("2026-12-28T01:30:00Z"), Joins: true}}, p.Off)
	require.Equal(t, "Bank days", p.Calendar)
	require.Contains(t, said, "The calendar %s has no days for %d: that year goes by the week alone")
	require.Equal(t, &ClockShift{At: moment("2027-03-28T01:00:00Z"), Offset: 7200, By: 3600}, p.Shift)
}

// One rule, calendar.NoData, by the day where the schedule is.
func TestATaskIsWarnedOfAYearWithoutDataWhenItsCalendarIs(t *testing.T) {
	w := ScheduleSpec{Kind: KindCron, Cron: "30 2 * * MON-FRI", Timezone: "Asia/Shanghai", Calendar: "bank"}
	const warning = "The calendar %s has no days for %d: that year goes by the week alone"
	for name, c := range map[string]struct {
		at   string
		year int
	}{
		"60 days before, in Shanghai":    {"2026-11-01T16:00:00Z", 2027},
		"a second before, still in 2026": {"2026-11-01T15:59:59Z", 0},
	} {
		t.Run(name, func(t *testing.T) {
			now := moment(c.at)
			p, said := previewed(t, w, bankDays(), now)
			task := taskOf(p.Schedule)
			task.Calendar = bankDays()
			require.Equal(t, c.year, task.NoData(now))
			require.Equal(t, c.year, bankDays().NoData(now.In(p.Zone)))
			if c.year == 0 {
				require.NotContains(t, said, warning)
			} else {
				require.Contains(t, said, warning)
			}
		})
	}
	require.Zero(t, taskOf(cronOf("* * * * *", "UTC")).NoData(noon()))
	gone := cronOf("* * * * *", "UTC")
	gone.Calendar = "bank"
	require.Zero(t, taskOf(gone).NoData(noon()))
}

// Runs are counted as they are: without days that are dropped, once when they
// are moved to a slot that is there, and not at all when it would take long.
func TestThePreviewCountsTheRunsOfAYear(t *testing.T) {
	cron := func(expr string, change ...func(*ScheduleSpec)) ScheduleSpec {
		w := ScheduleSpec{Kind: KindCron, Cron: expr, Timezone: "UTC"}
		for _, c := range change {
			c(&w)
		}
		return w
	}
	by := func(move CalendarMove) func(*ScheduleSpec) {
		return func(w *ScheduleSpec) { w.Calendar, w.CalendarMove = "bank", move }
	}
	empty := bankDays()
	clear(empty.Listed)
	for name, c := range map[string]struct {
		w    ScheduleSpec
		want int
	}{
		"each day":                  {cron("0 9 * * *"), 365},
		"each hour":                 {cron("0 * * * *"), 8760},
		"each half hour: too many":  {cron("0,30 * * * *"), 0},
		"the first of the month":    {cron("0 9 1 * *"), 12},
		"once a year":               {cron("0 9 1 1 *"), 1},
		"workdays":                  {cron("0 9 * * *", by(MoveDrop)), 261},
		"moved to what is there":    {cron("0 9 * * *", by(MoveNext)), 261},
		"moved to where nothing is": {cron("0 9 1 * *", by(MoveNext)), 12},
		"the window ends before":    {cron("0 9 * * *", func(w *ScheduleSpec) { w.EndAt = noon().AddDate(0, 6, 0) }), 0},
		"the window begins later":   {cron("0 9 * * *", func(w *ScheduleSpec) { w.StartAt = noon().AddDate(0, 0, 1) }), 365},
		"an interval":               {ScheduleSpec{Kind: KindInterval, EverySeconds: 86400}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var cal *calendar.Calendar
			if c.w.Calendar != "" {
				cal = empty
			}
			p, _ := previewed(t, c.w, cal, noon())
			require.Equal(t, c.want, p.PerYear)
		})
	}
}

func TestAPreviewNamesOnePlainWeekendOnly(t *testing.T) {
	w := ScheduleSpec{Kind: KindCron, Cron: "0 9 * * *", Timezone: "UTC", Calendar: "bank"}
	p, _ := previewed(t, w, bankDays(), noon())
	require.Equal(t, moments("2026-03-08T09:00:00Z", "2026-12-25T09:00:00Z", "2026-12-26T09:00:00Z"), []time.Time{p.Off[0].Slot, p.Off[1].Slot, p.Off[2].Slot})
	require.Zero(t, p.Off[0].To)
	require.Len(t, p.Off, 3)
	require.Equal(t, moment("2026-03-07T09:00:00Z"), p.Next[4], "a worked Saturday")
}

func TestAPreviewWarnsOfWhatIsRarelyMeant(t *testing.T) {
	never := bankDays()
	never.Week = 0
	clear(never.Listed)
	for name, c := range map[string]struct {
		w    ScheduleSpec
		cal  *calendar.Calendar
		want string
	}{
		"a jitter longer than the gap": {ScheduleSpec{Kind: KindCron, Cron: "* * * * *", Timezone: "UTC", JitterSeconds: 90}, nil, "The jitter of %d s is longer than the %d s between two slots: a run may begin after the slot that follows it"},
		"a window that is over":        {ScheduleSpec{Kind: KindCron, Cron: "0 9 * * *", Timezone: "UTC", EndAt: noon().Add(-time.Hour)}, nil, "The window has ended: no slot is left"},
		"a window between two slots":   {ScheduleSpec{Kind: KindCron, Cron: "0 9 * * *", Timezone: "UTC", StartAt: noon(), EndAt: noon().Add(time.Hour)}, nil, "No slot lies in the window"},
		"a calendar without a workday": {ScheduleSpec{Kind: KindCron, Cron: "0 9 * * *", Timezone: "UTC", Calendar: "bank", CalendarMove: MoveNext}, never, "The calendar leaves no slot within %d years"},
		"weekends only":                {ScheduleSpec{Kind: KindCron, Cron: "0 9 * * SUN", Timezone: "UTC", Calendar: "bank"}, bankDays(), "The calendar leaves no slot within %d years"},
	} {
		t.Run(name, func(t *testing.T) {
			p, said := previewed(t, c.w, c.cal, noon())
			require.Contains(t, said, c.want)
			if c.w.JitterSeconds == 0 {
				require.Empty(t, p.Next)
			}
		})
	}
}

func TestAPreviewKeepsQuietWhenAllIsWell(t *testing.T) {
	_, said := previewed(t, ScheduleSpec{Kind: KindCron, Cron: "0 9 * * *", Timezone: "UTC", JitterSeconds: 60, Calendar: "bank"}, bankDays(), noon())
	require.Empty(t, said)
	p, said := previewed(t, ScheduleSpec{Kind: KindInterval, EverySeconds: 60, FixedDelay: true, Anchor: noon().Add(time.Hour)}, nil, noon())
	require.Empty(t, said)
	require.Len(t, p.Next, 1, "the others follow the ends of runs")
	require.Nil(t, p.Shift)
}

// A calendar that leaves nothing must not cost a walk over all slots.
func TestAPreviewOfASecondlyScheduleWithDaysOffIsBounded(t *testing.T) {
	w := ScheduleSpec{Kind: KindCron, Cron: "* * * * * ?", Timezone: "Asia/Shanghai", Calendar: "bank", CalendarMode: SkipDaysOff}
	p, _ := previewed(t, w, bankDays(), moment("2026-12-24T15:59:58Z"))
	require.Equal(t, moment("2026-12-24T15:59:59Z"), p.Next[0])
	require.Equal(t, moment("2026-12-26T16:00:00Z"), p.Next[1])
	require.Equal(t, []string{"Christmas", "Boxing day"}, []string{p.Off[0].Name, p.Off[1].Name})
}

func TestFireAllAndSkipClash(t *testing.T) {
	s := cronOf("0 9 * * *", "UTC")
	s.Misfire = FireAll
	require.Len(t, Clashes(s, Policy{Overlap: OverlapSkip, MaxConcurrent: 1}), 1)
	require.Empty(t, Clashes(s, Policy{Overlap: OverlapQueue, MaxConcurrent: 1}))
	require.Empty(t, Clashes(cronOf("0 9 * * *", "UTC"), Policy{Overlap: OverlapSkip, MaxConcurrent: 1}))
}
