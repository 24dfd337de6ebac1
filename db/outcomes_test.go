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

// Whether steps are of minutes or hours, and whether the hours stand or not,
// each holds what ended in it.
func TestOutcomesAreCountedByTheStepInWhichTheyEnded(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		tasks := teamTasks(t, d)
		now := t0.Add(50*time.Hour + 17*time.Minute)
		rollUp(t, d, t0)
		ends := map[time.Duration]string{
			0: "succeeded", 59 * time.Minute: "failed", 49 * time.Hour: "lost", 50*time.Hour + 3*time.Minute: "timed_out",
		}
		for after, state := range ends {
			at := t0.Add(after)
			ended{tasks[0], state, 1, at, at, at}.put(t, d)
			ended{tasks[2], "succeeded", 2, at, at, at}.put(t, d)
		}
		rollUp(t, d, now)
		require.NotZero(t, count(t, d, "stats_hour"))
		mine := access.Scope{Teams: []int64{tasks[0].TeamID}}
		get := func(scope access.Scope, from time.Time, step time.Duration, n int) (counts []map[sched.State]int, retried int) {
			t.Helper()
			buckets, err := d.Outcomes(t.Context(), scope, from, step, n)
			require.NoError(t, err)
			for i, b := range buckets {
				require.Equal(t, from.Add(time.Duration(i)*step), b.At)
				counts, retried = append(counts, b.Counts), retried+b.Retried
			}
			return counts, retried
		}
		none := map[sched.State]int{}
		got, _ := get(mine, t0, 17*time.Hour, 3)
		require.Equal(t, []map[sched.State]int{{sched.Succeeded: 1, sched.Failed: 1}, none, {sched.Lost: 1, sched.TimedOut: 1}}, got)
		got, again := get(all, t0.Add(49*time.Hour), time.Hour, 2)
		require.Equal(t, []map[sched.State]int{{sched.Lost: 1, sched.Succeeded: 1}, {sched.TimedOut: 1, sched.Succeeded: 1}}, got)
		require.Equal(t, 2, again)
		got, _ = get(mine, t0.Add(50*time.Hour+2*time.Minute), time.Minute, 3)
		require.Equal(t, []map[sched.State]int{none, {sched.TimedOut: 1}, none}, got)
		got, _ = get(mine, t0.Add(50*time.Hour), time.Hour, 1)
		require.Equal(t, []map[sched.State]int{{sched.TimedOut: 1}}, got)
		got, _ = get(access.Scope{}, t0, 17*time.Hour, 3)
		require.Equal(t, []map[sched.State]int{none, none, none}, got, "nobody's")
	})
}
