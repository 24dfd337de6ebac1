package db_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/calendar"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// seedOf is a seed that knows New Year's day of some years, and the last day
// of each year before.
func seedOf(years ...int) calendar.Seed {
	s := calendar.Seed{Code: "cn-workdays", Name: "China 中国", Week: calendar.MondayToFriday, Years: map[int]map[calendar.Day]calendar.Entry{}}
	for _, y := range years {
		s.Years[y] = map[calendar.Day]calendar.Entry{
			calendar.Date(y, 1, 1): {Name: "元旦"}, calendar.Date(y-1, 12, 31): {Name: "元旦"},
		}
	}
	return s
}

func seed(t *testing.T, d *db.DB, years ...int) bool {
	t.Helper()
	wrote, err := d.SeedCalendar(t.Context(), seedOf(years...), t0)
	require.NoError(t, err)
	return wrote
}

func seeded(t *testing.T, d *db.DB) *calendar.Calendar {
	t.Helper()
	c, err := d.Calendar(t.Context(), "cn-workdays")
	require.NoError(t, err)
	return c
}

func TestTheSeedIsMadeOnce(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		require.True(t, seed(t, d, 2025, 2026))
		c := seeded(t, d)
		require.Equal(t, 1, c.Version)
		require.Zero(t, c.TeamID)
		require.Equal(t, "China 中国", c.Name)
		require.Len(t, c.Listed, 4)
		require.False(t, seed(t, d, 2025, 2026))
		require.Equal(t, 1, seeded(t, d).Version)
		require.Equal(t, 1, auditOf(t, d, "calendar.create"))
	})
}

// A later version of ax knows a year more: it is added, and what people wrote
// stays as it is.
func TestTheSeedBringsLaterYears(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		require.True(t, seed(t, d, 2026))
		changeDays(t, d, "cn-workdays", func(c *calendar.Calendar) {
			delete(c.Listed, calendar.Date(2026, 1, 1))
			c.Listed[calendar.Date(2026, 3, 8)] = calendar.Entry{Name: "ours"}
			c.Listed[calendar.Date(2028, 2, 2)] = calendar.Entry{Name: "ours"}
			c.Listed[calendar.Date(2026, 12, 31)] = calendar.Entry{Work: true, Name: "ours"}
		})
		task := dbtest.MakeTask(t, d, dbtest.Cron("0 9 * * *"), follows("cn-workdays", sched.MoveNext))
		forget(t, d)
		require.True(t, seed(t, d, 2026, 2027, 2028))
		c := seeded(t, d)
		require.Equal(t, 3, c.Version)
		require.NotContains(t, c.Listed, calendar.Date(2026, 1, 1))
		require.Equal(t, "ours", c.Listed[calendar.Date(2026, 12, 31)].Name, "listed already")
		require.Contains(t, c.Listed, calendar.Date(2027, 1, 1))
		require.NotContains(t, c.Listed, calendar.Date(2028, 1, 1), "2028 has a day of ours")
		require.Equal(t, []int64{task.ID}, replans(t, d))

		// Somebody takes a year out: it doesn't come back.
		changeDays(t, d, "cn-workdays", func(c *calendar.Calendar) { delete(c.Listed, calendar.Date(2027, 1, 1)) })
		require.False(t, seed(t, d, 2026, 2027, 2028))
		require.NotContains(t, seeded(t, d).Listed, calendar.Date(2027, 1, 1))
	})
}

func TestADeletedSeedIsNotMadeAgain(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		require.True(t, seed(t, d, 2026))
		require.NoError(t, d.DeleteCalendar(t.Context(), "cn-workdays", func(*calendar.Calendar) (access.Entry, error) {
			return access.Entry{At: t0, Action: "calendar.delete"}, nil
		}))
		require.False(t, seed(t, d, 2026))
		require.False(t, seed(t, d, 2026, 2027), "not by an upgrade either")
		list, err := d.Calendars(t.Context(), access.Scope{All: true})
		require.NoError(t, err)
		require.Empty(t, list)
	})
}

func TestACalendarOfTheSeedsCodeIsLeftAlone(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		storeCalendar(t, d, dbtest.MakeTeam(t, d).ID, "cn-workdays", dateIn(5, 5))
		require.False(t, seed(t, d, 2026))
		require.False(t, seed(t, d, 2026, 2027), "not by an upgrade either")
		require.Len(t, seeded(t, d).Listed, 1)
	})
}

// Several nodes start at once.
func TestNodesThatSeedAtOnceMakeOneCalendar(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		var wg sync.WaitGroup
		wrote := make(chan bool, 8)
		for range 8 {
			wg.Go(func() {
				ok, err := d.SeedCalendar(t.Context(), seedOf(2026), time.UnixMilli(t0.UnixMilli()))
				if err != nil {
					t.Error(err)
				}
				wrote <- ok
			})
		}
		wg.Wait()
		close(wrote)
		n := 0
		for ok := range wrote {
			if ok {
				n++
			}
		}
		require.Equal(t, 1, n)
		require.Equal(t, 1, auditOf(t, d, "calendar.create"))
	})
}
