package sched

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ax/app/calendar"
)

// daysOff makes a calendar of the usual week in which the given dates are off,
// and those with a + are worked.
func daysOff(dates ...string) *calendar.Calendar {
	c := &calendar.Calendar{Code: "cn", Week: calendar.MondayToFriday, Listed: map[calendar.Day]calendar.Entry{}}
	for _, s := range dates {
		work := s[0] == '+'
		if work {
			s = s[1:]
		}
		d, err := calendar.ParseDay(s)
		if err != nil {
			panic(err)
		}
		c.Listed[d] = calendar.Entry{Work: work}
	}
	return c
}

// byCalendar lets a schedule follow a calendar.
func byCalendar(s Schedule, mode CalendarMode, move CalendarMove) Schedule {
	s.Calendar, s.CalendarMode, s.CalendarMove = "cn", mode, move
	return s
}

// runsOf gives the runs of a schedule within a stretch of time.
func runsOf(times Times, from, until time.Time) (all []time.Time) {
	for at, ok := times.NextRun(from.Add(-time.Millisecond)); ok && !at.After(until); at, ok = times.NextRun(at) {
		all = append(all, at)
	}
	return all
}

func TestRunsByACalendar(t *testing.T) {
	// 2026-05-01 is a Friday; Labour Day lasts to the 5th, 9 May is worked.
	cn := daysOff("2026-05-01", "2026-05-02", "2026-05-03", "2026-05-04", "2026-05-05", "+2026-05-09")
	for name, c := range map[string]struct {
		cron string
		mode CalendarMode
		move CalendarMove
		want []string // the runs from 29 April to 11 May, Shanghai
	}{
		"on workdays, make-up workdays too": {
			"0 9 * * *", OnWorkdays, MoveDrop,
			[]string{"04-29 09:00", "04-30 09:00", "05-06 09:00", "05-07 09:00", "05-08 09:00", "05-09 09:00", "05-11 09:00"},
		},
		"every day but days off": {
			"0 9 * * 5-7", SkipDaysOff, MoveDrop, []string{"05-08 09:00", "05-09 09:00", "05-10 09:00"},
		},
		"to the next workday, which has a slot of its own": {
			"0 9 * * 1-5", OnWorkdays, MoveNext, []string{"04-29 09:00", "04-30 09:00", "05-06 09:00", "05-07 09:00", "05-08 09:00", "05-11 09:00"},
		},
		"to the next workday, which has none":       {"0 9 2 * *", OnWorkdays, MoveNext, []string{"05-06 09:00"}},
		"to the workday before":                     {"0 9 2 * *", OnWorkdays, MovePrevious, []string{"04-30 09:00"}},
		"the last workday of the month":             {"0 18 L * *", OnWorkdays, MovePrevious, []string{"04-30 18:00"}},
		"three slots of a holiday that fall on one": {"0 9,12 4,5 * *", OnWorkdays, MoveNext, []string{"05-06 09:00", "05-06 12:00"}},
	} {
		t.Run(name, func(t *testing.T) {
			times, err := byCalendar(cronOf(c.cron, "Asia/Shanghai"), c.mode, c.move).Times(cn)
			require.NoError(t, err)
			zone, err := time.LoadLocation("Asia/Shanghai")
			require.NoError(t, err)
			var got []string
			for _, at := range runsOf(times, moment("2026-04-28T16:00:00Z"), moment("2026-05-11T16:00:00Z")) {
				require.True(t, times.Wants(at))
				require.False(t, times.Off(at))
				got = append(got, at.In(zone).Format("01-02 15:04"))
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestACalendarThatIsGoneStopsItsTasks(t *testing.T) {
	_, err := byCalendar(cronOf("0 9 * * *", "UTC"), OnWorkdays, MoveDrop).Times(nil)
	require.ErrorContains(t, err, "cn")
}

// Whoever waits for a run over days off must not wait for long: the planner
// asks under a lock.
func TestACalendarWithoutAWorkdayHasNoRuns(t *testing.T) {
	for _, cron := range []string{"0 9 29 2 *", "0 * * * *"} {
		for _, move := range []CalendarMove{MoveDrop, MoveNext, MovePrevious} {
			times, err := byCalendar(cronOf(cron, "UTC"), OnWorkdays, move).Times(&calendar.Calendar{})
			require.NoError(t, err)
			_, ok := times.NextRun(noon())
			require.False(t, ok)
			_, ok = times.prevRun(noon(), noon().AddDate(-1, 0, 0))
			require.False(t, ok)
		}
	}
}

// plainDays is the calendar's rule by brute force: each slot of the schedule on
// its own, and the days around it one by one.
type plainDays struct {
	cal  *calendar.Calendar
	zone *time.Location
	mode CalendarMode
	move CalendarMove
}

func (p plainDays) allows(date time.Time) bool {
	day := calendar.Date(date.Year(), date.Month(), date.Day())
	e, listed := p.cal.Listed[day]
	if p.mode == SkipDaysOff {
		return !listed || e.Work
	}
	return listed && e.Work || !listed && date.Weekday() != time.Saturday && date.Weekday() != time.Sunday
}

// to is where a slot on a day off goes; zero: nowhere.
func (p plainDays) to(slot time.Time) time.Time {
	local := slot.In(p.zone)
	clock := local.Format(time.TimeOnly)
	noonOf := time.Date(local.Year(), local.Month(), local.Day(), 12, 0, 0, 0, time.UTC)
	step := map[CalendarMove]int{MoveNext: 1, MovePrevious: -1}[p.move]
	for n := 1; n <= 31 && step != 0; n++ {
		day := noonOf.AddDate(0, 0, n*step)
		e, listed := p.cal.Listed[calendar.Date(day.Year(), day.Month(), day.Day())]
		weekend := day.Weekday() == time.Saturday || day.Weekday() == time.Sunday
		if listed && !e.Work || !listed && weekend {
			continue
		}
		// The first second of that date that shows the clock, or more.
		for at := day.Add(-30 * time.Hour); ; at = at.Add(time.Minute) {
			l := at.In(p.zone)
			if l.Format(time.DateOnly) == day.Format(time.DateOnly) && l.Format(time.TimeOnly) >= clock {
				return at
			}
		}
	}
	return time.Time{}
}

func TestMovedSlotsAreThoseOfTheRule(t *testing.T) {
	t.Parallel()
	exprs := []string{"0 9 * * *", "30 2 * * *", "0 */3 * * *", "0 18 L * *", "0 10 1 * *", "15 1,13 * * 1-5", "0 0 29 2 *", "45 23 * * 6,0"}
	rapid.Check(t, func(r *rapid.T) {
		zone := rapid.SampledFrom([]string{"America/New_York", "Europe/Berlin", "Asia/Shanghai", "Africa/Cairo"}).Draw(r, "zone")
		s := byCalendar(cronOf(rapid.SampledFrom(exprs).Draw(r, "cron"), zone),
			rapid.SampledFrom([]CalendarMode{OnWorkdays, SkipDaysOff}).Draw(r, "mode"),
			rapid.SampledFrom([]CalendarMove{MoveDrop, MoveNext, MovePrevious}).Draw(r, "move"))
		cal := daysOff()
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, 60), 0, 30).Draw(r, "listed") {
			cal.Listed[calendar.Date(2026, 3, 1)+calendar.Day(n)] = calendar.Entry{Work: rapid.IntRange(0, 2).Draw(r, "work") == 0}
		}
		times, err := s.Times(cal)
		require.NoError(r, err)
		plain := plainDays{cal, times.days.zone, s.CalendarMode, s.CalendarMove}
		from, until := moment("2026-03-20T00:00:00Z"), moment("2026-04-10T00:00:00Z")
		off := map[time.Time]bool{}
		for at, ok := times.raw.Next(from.Add(-40 * 24 * time.Hour)); ok && at.Before(until.Add(40*24*time.Hour)); at, ok = times.raw.Next(at) {
			off[at] = !plain.allows(at.In(plain.zone))
			if to := plain.to(at); off[at] && !to.IsZero() {
				off[to] = !plain.allows(to.In(plain.zone))
			}
		}
		var want []time.Time
		for at := range off {
			if !at.Before(from) && !at.After(until) {
				want = append(want, at)
			}
		}
		slices.SortFunc(want, time.Time.Compare)
		requireWalk(r, times, want, from, until)
		for at := range off {
			require.Equal(r, off[at], times.Off(at), "%s", at)
			require.Equal(r, !off[at], times.Wants(at), "%s", at)
			require.False(r, times.Wants(at.Add(time.Second)))
		}
	})
}

// requireWalk: forwards, backwards, and over the days off.
func requireWalk(r *rapid.T, times Times, want []time.Time, from, until time.Time) {
	var there, back, runs []time.Time
	for at, ok := times.Next(from.Add(-time.Millisecond)); ok && !at.After(until); at, ok = times.Next(at) {
		there = append(there, at)
	}
	require.Equal(r, want, there)
	for at, ok := times.Prev(until.Add(time.Millisecond)); ok && !at.Before(from); at, ok = times.Prev(at) {
		back = append(back, at)
	}
	slices.Reverse(back)
	require.Equal(r, want, back)
	for _, at := range want {
		if !times.Off(at) {
			runs = append(runs, at)
		}
	}
	require.Equal(r, runs, runsOf(times, from, until))
	back = nil
	for at, ok := times.prevRun(until.Add(time.Millisecond), from); ok; at, ok = times.prevRun(at, from) {
		back = append(back, at)
	}
	slices.Reverse(back)
	require.Equal(r, runs, back)
}

func TestSlotsStayWithinTheWindow(t *testing.T) {
	s := cronOf("0 * * * *", "UTC")
	s.StartAt, s.EndAt = moment("2026-03-02T10:30:00Z"), moment("2026-03-02T13:00:00Z")
	times, err := s.Times(nil)
	require.NoError(t, err)
	want := moments("2026-03-02T11:00:00Z", "2026-03-02T12:00:00Z", "2026-03-02T13:00:00Z")
	require.Equal(t, want, nextSlots(times, moment("2026-01-01T00:00:00Z"), 9))
	last, ok := times.Prev(moment("2027-01-01T00:00:00Z"))
	require.True(t, ok)
	require.Equal(t, want[2], last)
	_, ok = times.Prev(want[0])
	require.False(t, ok)
	require.True(t, times.Wants(want[0]))
	require.False(t, times.Wants(moment("2026-03-02T10:00:00Z")))
	require.False(t, times.Wants(moment("2026-03-02T14:00:00Z")))
}

func TestJitterIsStableAndWithinItsBound(t *testing.T) {
	seen := map[time.Duration]bool{}
	for n := range 400 {
		task := taskOf(cronOf("0 * * * *", "UTC"))
		task.Code = task.Code + string(rune('a'+n%26)) + string(rune('a'+n/26))
		task.Spec.Schedule.JitterSeconds = 9
		offset := task.Offset()
		require.Equal(t, offset, task.Offset())
		require.GreaterOrEqual(t, offset, time.Duration(0))
		require.LessOrEqual(t, offset, 9*time.Second)
		require.Zero(t, offset%time.Second)
		seen[offset] = true
		task.NextFireAt = noon()
		require.Equal(t, noon().Add(offset), task.NextRun())
	}
	require.Len(t, seen, 10, "every second of the bound is somebody's")
	require.Zero(t, taskOf(cronOf("0 * * * *", "UTC")).Offset())
	require.Zero(t, Task{}.NextRun())
}
