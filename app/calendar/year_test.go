package calendar

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func calendarOf(days map[Day]Entry) *Calendar {
	return &Calendar{Code: "cn", Name: "China", Week: MondayToFriday, Listed: days, Version: 1}
}

func TestAYearIsShownByMonths(t *testing.T) {
	c := calendarOf(map[Day]Entry{
		d("2026-01-01"): {Name: "元旦"}, d("2026-01-02"): {Name: "元旦"}, d("2026-01-03"): {Name: "元旦"},
		d("2026-01-04"): {Work: true}, d("2026-01-05"): {Work: true},
	})
	months := c.Months(2026)
	require.Len(t, months, 12)
	january := months[0]
	require.Len(t, january.Weeks, 5)
	require.Equal(t, [7]Cell{
		{}, {}, {}, {d("2026-01-01"), DayOff, "元旦"}, {d("2026-01-02"), DayOff, "元旦"}, {d("2026-01-03"), DayOff, "元旦"}, {d("2026-01-04"), Worked, ""},
	}, january.Weeks[0])
	require.Equal(t, Workday, january.Weeks[1][0].Kind, "listed as worked, which the week says too")
	require.Equal(t, Weekend, january.Weeks[1][5].Kind)
	require.Equal(t, Count{Workdays: 260, Off: 105, Worked: 1}, c.Count(2026))
	off, worked := c.Stretches(2026)
	require.Equal(t, []Stretch{{From: d("2026-01-01"), To: d("2026-01-03"), Entry: Entry{Name: "元旦"}}}, off)
	require.Equal(t, 3, off[0].Days())
	require.Len(t, worked, 1)
}

// Every day of a year stands once in its grid, and is counted once.
func TestEveryDayStandsInTheYearOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		year := rapid.IntRange(1970, 2199).Draw(t, "year")
		c := &Calendar{Week: Week(rapid.IntRange(0, 127).Draw(t, "week")), Listed: someDays(t)}
		seen, workdays := Date(year, time.January, 1), 0
		for _, m := range c.Months(year) {
			for _, week := range m.Weeks {
				for i, cell := range week {
					if cell.Kind == "" {
						continue
					}
					require.Equal(t, seen, cell.Day)
					require.Equal(t, i, (int(cell.Day.Weekday())+6)%7, "from Monday")
					require.Equal(t, c.Workday(cell.Day), cell.Kind == Workday || cell.Kind == Worked)
					if c.Workday(cell.Day) {
						workdays++
					}
					seen++
				}
			}
		}
		require.Equal(t, Date(year+1, time.January, 1), seen)
		n := c.Count(year)
		require.Equal(t, workdays, n.Workdays)
		require.Equal(t, int(seen-Date(year, time.January, 1)), n.Workdays+n.Off)
	})
}

func TestTheNextDayOffIsFound(t *testing.T) {
	c := calendarOf(map[Day]Entry{d("2026-12-03"): {}, d("2026-12-05"): {Work: true}, d("2026-12-06"): {Work: true}})
	got, ok := c.NextOff(d("2026-12-02"))
	require.True(t, ok)
	require.Equal(t, "2026-12-03", got.String())
	got, _ = c.NextOff(d("2026-12-04"))
	require.Equal(t, "2026-12-12", got.String(), "the weekend is worked")
	_, ok = (&Calendar{Week: 0b1111111}).NextOff(d("2026-12-02"))
	require.False(t, ok)
}

func TestAYearWithoutDataIsTold(t *testing.T) {
	at := func(s string) time.Time { return d(s).Time() }
	c := calendarOf(map[Day]Entry{d("2026-01-01"): {}})
	require.Zero(t, c.NoData(at("2026-11-01")), "61 days before")
	require.Equal(t, 2027, c.NoData(at("2026-11-02")), "60 days before")
	require.Equal(t, 2025, c.NoData(at("2025-06-01")))
	require.Equal(t, 2027, c.NoData(at("2027-01-01")))
	first, last := c.Years()
	require.Equal(t, []int{2026, 2026}, []int{first, last})

	// It is 2027 already where the viewer is.
	require.Equal(t, 2027, c.NoData(time.Date(2026, 12, 31, 20, 0, 0, 0, time.UTC).In(time.FixedZone("", 8*3600))))
}

func TestAWeekIsReadAndNamed(t *testing.T) {
	w, err := ReadWeek([]string{"sun", "mon"})
	require.NoError(t, err)
	require.True(t, w.Works(time.Sunday) && w.Works(time.Monday) && !w.Works(time.Saturday))
	require.Equal(t, "mon,sun", w.String())
	_, err = ReadWeek([]string{"someday"})
	require.ErrorContains(t, err, "someday")
	for _, d := range Weekdays() {
		w, err := ReadWeek([]string{WeekdayName(d)})
		require.NoError(t, err)
		require.True(t, w.Works(d))
	}
}

// What differs, applied to what was, gives what is.
func TestADiffIsWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		was, is := someDays(t), someDays(t)
		got := map[Day]Entry{}
		for d, e := range was {
			got[d] = e
		}
		days := Diff(was, is)
		n := 0
		for _, s := range Spans(days) {
			n += s.Days()
		}
		require.Len(t, days, n)
		for _, c := range days {
			if c.Was != nil {
				require.Equal(t, was[c.Day], *c.Was)
			}
			if delete(got, c.Day); c.Now != nil {
				got[c.Day] = *c.Now
			}
		}
		require.Equal(t, is, got)
	})
}
