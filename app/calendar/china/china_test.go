package china

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/calendar"
)

// notice is what the State Council announced for a year: stretches that are
// off, and weekend days that are worked.
type notice struct {
	off    [][2]string
	worked []string
}

func notices() map[int]notice {
	return map[int]notice{
		2024: {
			[][2]string{{"01-01", "01-01"}, {"02-10", "02-17"}, {"04-04", "04-06"}, {"05-01", "05-05"}, {"06-10", "06-10"}, {"09-15", "09-17"}, {"10-01", "10-07"}},
			[]string{"02-04", "02-18", "04-07", "04-28", "05-11", "09-14", "09-29", "10-12"},
		},
		2025: {
			[][2]string{{"01-01", "01-01"}, {"01-28", "02-04"}, {"04-04", "04-06"}, {"05-01", "05-05"}, {"05-31", "06-02"}, {"10-01", "10-08"}},
			[]string{"01-26", "02-08", "04-27", "09-28", "10-11"},
		},
		2026: {
			[][2]string{{"01-01", "01-03"}, {"02-15", "02-23"}, {"04-04", "04-06"}, {"05-01", "05-05"}, {"06-19", "06-21"}, {"09-25", "09-27"}, {"10-01", "10-07"}},
			[]string{"01-04", "02-14", "02-28", "05-09", "09-20", "10-10"},
		},
	}
}

func date(t *testing.T, s string) calendar.Day {
	t.Helper()
	d, err := calendar.ParseDay(s)
	require.NoError(t, err)
	return d
}

// Every day of three years is what the notices say.
func TestTheYearsAreAsAnnounced(t *testing.T) {
	all := &calendar.Calendar{Week: calendar.MondayToFriday, Listed: map[calendar.Day]calendar.Entry{}}
	for _, days := range Years() {
		for d, e := range days {
			require.NotContains(t, all.Listed, d, "no day is of two notices")
			all.Listed[d] = e
		}
	}
	for year, n := range notices() {
		work := map[calendar.Day]bool{}
		for d := calendar.Date(year, 1, 1); d.Year() == year; d++ {
			work[d] = d.Weekday() != time.Saturday && d.Weekday() != time.Sunday
		}
		prefix := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Format("2006-")
		for _, s := range n.off {
			for d := date(t, prefix+s[0]); d <= date(t, prefix+s[1]); d++ {
				work[d] = false
			}
		}
		for _, s := range n.worked {
			require.False(t, work[date(t, prefix+s)], "a weekend day")
			work[date(t, prefix+s)] = true
		}
		for d, want := range work {
			require.Equal(t, want, all.Workday(d), d.String())
		}
		require.Equal(t, len(n.worked), all.Count(year).Worked, year)
	}
}

func TestOnlyWholeYearsAreKnown(t *testing.T) {
	years := Years()
	require.NotContains(t, years, 2001, "only its end is there, for the next")
	require.NotContains(t, years, 2199)
	for year, days := range years {
		require.Greater(t, len(days), 9, year)
		for d, e := range days {
			require.NotEmpty(t, e.Name)
			require.True(t, d.Year() == year || d.Year() == year-1, "%d: %s", year, d)
		}
	}
	require.Contains(t, years, 2027)
}
