package db_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// measuredRun is an attempt as history would have left it.
type measuredRun struct {
	task    int // which of the tasks
	no      int
	outcome string
	took    int64 // ms
	lag     int64 // ms; only of a first attempt
	end     time.Time
}

// putRuns stores each as an attempt of an instance of its own.
func putRuns(t *testing.T, d *db.DB, tasks []sched.Task, runs []measuredRun) {
	t.Helper()
	for some := range slices.Chunk(runs, 100) {
		require.NoError(t, d.Tx(t.Context(), "put runs", func(tx *gormDB) error {
			for _, r := range some {
				id, task := dbtest.ID(), tasks[r.task]
				start := r.end.Add(-time.Duration(r.took) * time.Millisecond)
				wanted := start.Add(-time.Duration(r.lag) * time.Millisecond)
				err := tx.Exec("INSERT INTO instances (id, task_id, team_id, queue, biz_id, origin, state, attempt, wanted_at, due_at, created_at, started_at, finished_at)"+
					" VALUES (?,?,?,'default',?,'api','failed',?,?,?,?,?,?)", id, task.ID, task.TeamID, id, r.no,
					db.At(wanted), db.At(wanted), db.At(wanted), db.At(start), db.At(r.end)).Error
				if err == nil {
					err = tx.Exec("INSERT INTO attempts (instance_id, no, task_id, team_id, task_version, started_at, ended_at, outcome) VALUES (?,?,?,?,1,?,?,?)",
						id, r.no, task.ID, task.TeamID, db.At(start), db.At(r.end), r.outcome).Error
				}
				if err != nil {
					return err
				}
			}
			return nil
		}))
	}
}

// anyRuns draws n attempts that ended between the instants; what they took
// lies between a millisecond and hours.
func anyRuns(r *rand.Rand, tasks, n int, from, to time.Time) []measuredRun {
	outcomes := []string{"succeeded", "succeeded", "failed", "timed_out", "lost", "canceled"}
	out := make([]measuredRun, n)
	for i := range out {
		out[i] = measuredRun{
			task: r.IntN(tasks), no: 1 + r.IntN(2), outcome: outcomes[r.IntN(len(outcomes))],
			took: int64(math.Exp(r.NormFloat64()*2 + 5)), lag: int64(r.IntN(3)) * int64(math.Exp(r.NormFloat64()+3)),
			end: from.Add(time.Duration(r.Int64N(to.Sub(from).Milliseconds())) * time.Millisecond),
		}
	}
	return out
}

// exact sorts what a measure is of, in ms.
func exact(runs []measuredRun, since time.Time, of sched.Measure, task func(int) bool) (out []float64) {
	for _, r := range runs {
		if r.end.Before(since) || !task(r.task) {
			continue
		}
		switch {
		case of == sched.Lag && r.no == 1:
			out = append(out, float64(r.lag))
		case of == sched.TookWell && r.outcome == "succeeded", of == sched.TookBadly && (r.outcome == "failed" || r.outcome == "timed_out"):
			out = append(out, float64(r.took))
		}
	}
	slices.Sort(out)
	return out
}

func requireSpread(t *testing.T, values []float64, got sched.Spread, what string) {
	t.Helper()
	require.Equal(t, len(values), got.Of, what)
	for percent, of := range map[float64]time.Duration{50: got.P50, 95: got.P95, 99: got.P99} {
		if len(values) == 0 {
			require.Zero(t, of, what)
			continue
		}
		want := values[int(math.Ceil(float64(len(values))*percent/100))-1]
		require.InDelta(t, want, float64(of)/1e6, want*0.01+1e-5, "%s: percentile %v of %d", what, percent, len(values))
	}
}

// The percentiles of every window are within a hundredth of those of the
// sorted values: of a task, a team and all, whether minutes or hours are read.
func TestPercentilesAreThoseOfTheAttempts(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		r := rand.New(rand.NewPCG(9, 10))
		tasks, other := teamTasks(t, d), dbtest.MakeTeam(t, d)
		rollUp(t, d, t0)
		now := t0.Add(50*time.Hour + 17*time.Minute)
		runs := slices.Concat(anyRuns(r, 3, 600, t0, now.Add(-4*time.Minute)), anyRuns(r, 3, 300, now.Add(-time.Hour), now.Add(-4*time.Minute)))
		putRuns(t, d, tasks, runs)
		rollUp(t, d, now)
		require.NotZero(t, count(t, d, "sketch_hour"))
		moved := move(t, d, tasks[2], other, now)
		check := func(remark string) {
			for _, since := range []time.Duration{time.Hour, 26*time.Hour + 13*time.Minute, 49 * time.Hour, 100 * time.Hour} {
				for _, of := range []sched.Measure{sched.TookWell, sched.TookBadly, sched.Lag} {
					from := now.Add(-since)
					what := fmt.Sprintf("%s of %s%s", of, since, remark)
					got, err := d.Spread(t.Context(), all, 0, from, of)
					require.NoError(t, err)
					requireSpread(t, exact(runs, from, of, func(int) bool { return true }), got, "all: "+what)
					got, err = d.Spread(t.Context(), all, tasks[1].ID, from, of)
					require.NoError(t, err)
					requireSpread(t, exact(runs, from, of, func(i int) bool { return i == 1 }), got, "a task: "+what)
					got, err = d.Spread(t.Context(), access.Scope{Teams: []int64{moved.TeamID}}, 0, from, of)
					require.NoError(t, err)
					requireSpread(t, exact(runs, from, of, func(i int) bool { return i == 2 }), got, "a team: "+what)
				}
			}
		}
		check("")
		follow(t, d, now.Add(3*time.Minute))
		check(", moved")
		rollUp(t, d, now.Add(time.Second))
		exec(t, d, "UPDATE settings SET value=? WHERE name IN ('stats.sketched', 'stats.sketched_hours')", t0.Format(time.RFC3339))
		rollUp(t, d, now.Add(2*time.Second))
		check(", made again")
		got, err := d.Spread(t.Context(), access.Scope{}, 0, t0, sched.Lag)
		require.NoError(t, err)
		require.Zero(t, got, "nobody's")
	})
}

// How late it began can't be told any more; how long it took can.
func TestAnAttemptWhoseInstanceIsGoneHasNoLag(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d)
		rollUp(t, d, t0)
		putRuns(t, d, []sched.Task{task}, []measuredRun{{no: 1, outcome: "succeeded", took: 1000, lag: 50, end: later(30)}})
		exec(t, d, "DELETE FROM instances")
		rollUp(t, d, later(300))
		lag, err := d.Spread(t.Context(), all, task.ID, t0, sched.Lag)
		require.NoError(t, err)
		require.Zero(t, lag)
		took, err := d.Spread(t.Context(), all, task.ID, t0, sched.TookWell)
		require.NoError(t, err)
		require.Equal(t, 1, took.Of)
	})
}

// Of a window within the day, what all tasks took is read by teams: a row per
// minute, whatever tasks there are.
func TestPercentilesOfATeamAreReadFromItsTotals(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		r := rand.New(rand.NewPCG(11, 12))
		tasks := teamTasks(t, d)
		rollUp(t, d, t0)
		now := t0.Add(30 * time.Minute)
		runs := anyRuns(r, 3, 300, t0, now.Add(-4*time.Minute))
		putRuns(t, d, tasks, runs)
		rollUp(t, d, now)
		exec(t, d, "DELETE FROM sketch_minute")
		team := func(i int) access.Scope { return access.Scope{Teams: []int64{tasks[i].TeamID}} }
		mine := func(i int) bool { return tasks[i].TeamID == tasks[0].TeamID }
		check := func(scope access.Scope, task func(int) bool, what string) {
			t.Helper()
			for _, of := range []sched.Measure{sched.TookWell, sched.Lag} {
				got, err := d.Spread(t.Context(), scope, 0, t0.Add(5*time.Minute), of)
				require.NoError(t, err)
				requireSpread(t, exact(runs, t0.Add(5*time.Minute), of, task), got, what)
			}
		}
		check(all, func(int) bool { return true }, "all")
		check(team(0), mine, "a team")
		got, err := d.Spread(t.Context(), access.Scope{}, 0, t0, sched.Lag)
		require.NoError(t, err)
		require.Zero(t, got, "nobody's")

		require.NoError(t, d.PruneStats(t.Context(), t0.Add(27*time.Hour)))
		require.Zero(t, count(t, d, "sketch_team"))
	})
}

// A version of ax before totals made sketches in between: those minutes, and
// the ones around them, are read by tasks.
func TestMinutesWithoutTotalsAreReadByTasks(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		r := rand.New(rand.NewPCG(13, 14))
		tasks := teamTasks(t, d)
		rollUp(t, d, t0)
		runs := anyRuns(r, 3, 300, t0, t0.Add(30*time.Minute))
		putRuns(t, d, tasks, runs)
		check := func(what string) {
			t.Helper()
			got, err := d.Spread(t.Context(), all, 0, t0, sched.Lag)
			require.NoError(t, err)
			requireSpread(t, exact(runs, t0, sched.Lag, func(int) bool { return true }), got, what)
		}
		rollUp(t, d, t0.Add(10*time.Minute))
		totals := count(t, d, "sketch_team")
		require.NotZero(t, totals)
		var mark string
		require.NoError(t, d.View(t.Context()).Raw("SELECT value FROM settings WHERE name='stats.totals_to'").Scan(&mark).Error)
		rollUp(t, d, t0.Add(20*time.Minute))
		exec(t, d, "DELETE FROM sketch_team WHERE minute_at>=?", db.At(t0.Add(7*time.Minute)))
		exec(t, d, "UPDATE settings SET value=? WHERE name='stats.totals_to'", mark)
		rollUp(t, d, t0.Add(34*time.Minute))
		check("after the gap")
	})
}

// The list of tasks has of each what its own page has.
func TestTheFiguresOfManyTasksAreThoseOfEach(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		r := rand.New(rand.NewPCG(15, 16))
		tasks := teamTasks(t, d)
		rollUp(t, d, t0)
		now := t0.Add(50*time.Hour + 17*time.Minute)
		putRuns(t, d, tasks[:2], anyRuns(r, 2, 500, t0, now.Add(-4*time.Minute)))
		rollUp(t, d, now)
		ids := []int64{tasks[0].ID, tasks[1].ID, tasks[2].ID}
		for _, since := range []time.Time{t0, now.Add(-time.Hour), now.Add(-26 * time.Hour)} {
			spreads, err := d.Spreads(t.Context(), ids, since, sched.TookWell)
			require.NoError(t, err)
			rates, err := d.Rates(t.Context(), ids, since)
			require.NoError(t, err)
			require.NotEmpty(t, spreads)
			require.NotContains(t, spreads, tasks[2].ID, "it never ran")
			require.NotContains(t, rates, tasks[2].ID)
			for _, id := range ids {
				one, err := d.Spread(t.Context(), all, id, since, sched.TookWell)
				require.NoError(t, err)
				require.Equal(t, one, spreads[id])
				rate, err := d.TaskRate(t.Context(), id, since)
				require.NoError(t, err)
				require.Equal(t, rate, rates[id])
			}
		}
	})
}
