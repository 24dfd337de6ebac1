package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

func dashboard(t *testing.T, d *db.DB, s access.Scope, now time.Time) sched.Dashboard {
	t.Helper()
	got, err := d.Dashboard(t.Context(), s, now)
	require.NoError(t, err)
	return got
}

func TestAnEmptyDashboardHasNoFigures(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		for _, s := range []access.Scope{all, {}} {
			got := dashboard(t, d, s, t0)
			require.Len(t, got.Buckets, 24)
			require.Equal(t, t0.Add(-23*time.Hour), got.Buckets[0].At)
			require.Zero(t, got.DueSoon+got.Late+got.OpenLetters+got.LagOf+len(got.Next)+len(got.Open))
			require.True(t, got.FirstDue.IsZero())
		}
	})
}

// board is a ledger with something for every figure; the other team has the
// same, so that a leak of scope doubles a figure.
func board(t *testing.T, d *db.DB) (mine, other access.Team) {
	t.Helper()
	node := dbtest.MakeNode(t, d)
	mine, other = dbtest.MakeTeam(t, d), dbtest.MakeTeam(t, d)
	for _, team := range []access.Team{mine, other} {
		dbtest.MakeTask(t, d, dbtest.Of(team), dbtest.Every(10*time.Minute))
		dbtest.MakeTask(t, d, dbtest.Of(team), dbtest.Cron("0 18 * * *"))
		dbtest.MakeTask(t, d, dbtest.Of(team), dbtest.Every(time.Minute), dbtest.Disabled())
		bad := dbtest.MakeTask(t, d, dbtest.Of(team))
		exec(t, d, "UPDATE tasks SET plan_error='no zone' WHERE id=?", bad.ID)
		task := dbtest.MakeTask(t, d, dbtest.Of(team))
		dbtest.MakeInstance(t, d, task, dbtest.Due(later(-30)))
		dbtest.MakeInstance(t, d, task, dbtest.Due(later(-4)))
		dbtest.MakeInstance(t, d, task, dbtest.Due(later(600)))
		take(t, d, dbtest.MakeInstance(t, d, task, dbtest.Due(later(-100))).ID, node, later(-90)) // past its deadline
		l, _ := dbtest.MakeLetter(t, d, task, dbtest.Due(later(-200)))
		dbtest.MakeLetter(t, d, task, dbtest.Due(later(-200)))
		editLetter(t, d, l.ID, func(l *sched.Letter) { l.Status = sched.LetterTaken })
		ok := take(t, d, dbtest.MakeInstance(t, d, task, dbtest.Due(later(-300))).ID, node, later(-298))
		settle(t, d, ok, success(), later(-290))
		for _, ago := range []float64{-7200, -7300} {
			ended{task, "succeeded", 2, later(ago - 20), later(ago - 10), later(ago)}.put(t, d)
		}
		ended{task, "lost", 1, later(-25 * 3600), later(-25 * 3600), later(-25 * 3600)}.put(t, d)
	}
	exec(t, d, "INSERT INTO settings (name, value) VALUES ('stats.rolled', ?)", later(-26*3600).Format(time.RFC3339))
	rollUp(t, d, t0)
	return mine, other
}

func TestTheDashboardCountsItsScope(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		mine, other := board(t, d)
		one := dashboard(t, d, access.Scope{Teams: []int64{mine.ID}}, t0)
		require.Equal(t, 1, one.DueSoon, "the other is due at six, the third is off")
		require.Equal(t, t0, one.FirstDue)
		require.Len(t, one.Next, 2)
		require.Equal(t, map[sched.State]int{sched.Pending: 3, sched.Running: 1}, one.Open)
		require.Equal(t, 1, one.Late, "4 s is in time")
		require.Equal(t, 30*time.Second, one.WorstLate)
		require.Equal(t, 2, one.OpenLetters, "taken ones too")
		require.Len(t, one.Letters, 1, "those that nobody works on")
		require.Equal(t, sched.Rate{Succeeded: 1, Bad: 2}, one.Hour)
		require.Equal(t, 3, one.LagOf, "first attempts that ended")
		require.Equal(t, time.Duration(0), one.LagP50)
		require.InEpsilon(t, 2*time.Second, one.LagP99, 0.01)
		require.Len(t, one.Troubled, 1)
		require.Len(t, one.Overlong, 1)
		require.Equal(t, map[int64]sched.Rate{mine.ID: {Succeeded: 3, Bad: 2}}, one.Teams, "24 hours")
		require.Len(t, one.Buckets, 24)
		now, before := one.Buckets[23], one.Buckets[21]
		require.Equal(t, t0, now.At)
		require.Zero(t, now.Counts[sched.Succeeded])
		require.Equal(t, map[sched.State]int{sched.Succeeded: 1, sched.Failed: 2}, one.Buckets[22].Counts)
		require.Equal(t, sched.Bucket{At: later(-2 * 3600), Counts: map[sched.State]int{sched.Succeeded: 1}, Retried: 1}, before)
		for _, l := range one.Letters {
			require.Contains(t, one.Tasks, l.TaskID)
		}
		requireDouble(t, one, dashboard(t, d, all, t0))
		require.Equal(t, one.Late, dashboard(t, d, access.Scope{Teams: []int64{other.ID}}, t0).Late)
		for _, table := range []string{"sketch_team", "sketch_minute"} {
			exec(t, d, "DELETE FROM "+table)
		}
		fresh := dashboard(t, d, access.Scope{Teams: []int64{mine.ID}}, t0)
		require.Equal(t, []any{4, 10 * time.Second}, []any{fresh.LagOf, fresh.LagP99}, "those that began, until there is a sketch")
		none := dashboard(t, d, access.Scope{}, t0)
		require.Zero(t, none.DueSoon+none.Late+none.OpenLetters+none.LagOf+len(none.Open)+len(none.Teams)+len(none.Letters)+len(none.Troubled)+len(none.Overlong)+none.Hour.Ended())
	})
}

// requireDouble: two teams have twice of all.
func requireDouble(t *testing.T, one, both sched.Dashboard) {
	t.Helper()
	require.Equal(t, 2*one.DueSoon, both.DueSoon)
	require.Equal(t, 2*one.Late, both.Late)
	require.Equal(t, 2*one.OpenLetters, both.OpenLetters)
	require.Equal(t, 2*one.Hour.Ended(), both.Hour.Ended())
	require.Equal(t, 2*one.LagOf, both.LagOf)
	require.Len(t, both.Troubled, 2)
	require.Len(t, both.Overlong, 2)
	require.Len(t, both.Letters, 2)
	require.Len(t, both.Teams, 2)
	require.Equal(t, 2*one.Open[sched.Pending], both.Open[sched.Pending])
}

func TestTheListsOfTheDashboardAreShort(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		team := dbtest.MakeTeam(t, d)
		task := dbtest.MakeTask(t, d, dbtest.Of(team))
		for range 8 {
			dbtest.MakeLetter(t, d, task)
			dbtest.MakeTask(t, d, dbtest.Of(team), dbtest.Every(time.Minute))
		}
		got := dashboard(t, d, all, later(1))
		require.Len(t, got.Letters, 6)
		require.Len(t, got.Next, 6)
		require.Equal(t, 8, got.OpenLetters)
		require.Equal(t, 8, got.DueSoon)
		require.Equal(t, later(0), got.FirstDue)
	})
}
