package db_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/alert"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

func marksOf(tasks []sched.Task) (out []alert.TaskMark) {
	for _, t := range tasks {
		out = append(out, alert.TaskMark{ID: t.ID, TeamID: t.TeamID, Code: t.Code, Level: t.Spec.Policy.AlertLevel})
	}
	return out
}

func series(t *testing.T, d *db.DB, r alert.Rule, tasks []sched.Task, from, to time.Time) alert.Series {
	t.Helper()
	if r.Scope.Kind == "" {
		r.Scope.Kind = alert.All
	}
	s, err := d.Series(t.Context(), r, marksOf(tasks), from, to)
	require.NoError(t, err)
	for _, l := range s.Lines {
		require.True(t, slices.IsSortedFunc(l.Points, func(a, b alert.Point) int { return a.At.Compare(b.At) }))
	}
	return s
}

// valueAt is what a line says at a moment.
func valueAt(points []alert.Point, at time.Time) alert.Point {
	out := alert.Point{Blank: true}
	for _, p := range points {
		if !p.At.After(at) {
			out = p
		}
	}
	return out
}

func lineOf(s alert.Series, task sched.Task) []alert.Point {
	for _, l := range s.Lines {
		if l.Subject.Key == task.Code {
			return l.Points
		}
	}
	return nil
}

// worldOfDays is three days of runs of three tasks of two teams, rolled up.
func worldOfDays(t *testing.T, d *db.DB) (tasks []sched.Task, runs []pastRun, now time.Time) {
	tasks, now = teamTasks(t, d), t0.Add(72*time.Hour+20*time.Minute)
	rollUp(t, d, t0)
	r := rand.New(rand.NewPCG(51, 52))
	runs = slices.Concat(anyPast(r, 3, 500, t0, now), anyPast(r, 3, 60, now.Add(-90*time.Minute), now))
	putPast(t, d, tasks, runs)
	rollUp(t, d, now)
	countEnds(t, d, now)
	return tasks, runs, now
}

func TestThePastOfARateIsThatOfTheRuns(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		tasks, runs, now := worldOfDays(t, d)
		for _, window := range []time.Duration{10 * time.Minute, time.Hour, 6 * time.Hour} {
			rule := alert.Rule{TeamID: tasks[0].TeamID, Metric: alert.SuccessRate, Window: window}
			s := series(t, d, rule, tasks, t0, now)
			failures := series(t, d, alert.Rule{Metric: alert.Failures, Window: window, Level: alert.P1}, tasks, t0, now)
			require.Len(t, s.Lines, 1)
			require.Equal(t, t0, s.Known)
			if window < time.Hour {
				require.False(t, s.Exact.After(t0), "minutes of eight days are kept")
			} else {
				require.Zero(t, s.Exact)
			}
			step := time.Hour
			if window < step {
				step = time.Minute
			}
			for at := t0.Add(window); at.Before(now.Truncate(time.Hour)); at = at.Add(step) {
				good, bad, bads := 0, 0, [3]int{}
				for _, run := range runs {
					if run.end.Before(at.Add(-window)) || !run.end.Before(at) {
						continue
					}
					if run.bad() {
						bads[run.task]++
					}
					if run.task < 2 && run.good() {
						good++
					}
					if run.task < 2 && run.bad() {
						bad++
					}
				}
				got := valueAt(s.Lines[0].Points, at)
				require.Equal(t, good+bad, got.N, "%s at %s", window, at)
				require.Equal(t, good+bad == 0, got.Blank)
				if good+bad > 0 {
					require.InDelta(t, 100*float64(good)/float64(good+bad), got.Value, 1e-9)
				}
				for i, task := range tasks {
					require.EqualValues(t, bads[i], valueAt(lineOf(failures, task), at).Value, "%s at %s", window, at)
				}
			}
		}
		tries := series(t, d, alert.Rule{Metric: alert.Failures, Window: time.Hour, EachTry: true}, tasks, t0, now)
		n := 0
		for _, run := range runs {
			for _, a := range run.tries {
				if run.task == 1 && a.outcome != "succeeded" && a.outcome != "canceled" && !a.end.Before(now.Add(-61*time.Minute)) && a.end.Before(now.Add(-time.Minute)) {
					n++
				}
			}
		}
		require.EqualValues(t, n, valueAt(lineOf(tries, tasks[1]), now.Add(-time.Minute)).Value)
	})
}

func TestThePastOfAStreakIsThatOfTheRuns(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		tasks, runs, now := worldOfDays(t, d)
		s := series(t, d, alert.Rule{Metric: alert.InARow, Level: alert.P1}, tasks, t0, now)
		require.Equal(t, t0, s.Known)
		require.False(t, s.Cut)
		for i, task := range tasks {
			for at := t0; at.Before(now); at = at.Add(17 * time.Minute) {
				until := slices.DeleteFunc(slices.Clone(runs), func(r pastRun) bool { return r.end.After(at) })
				require.EqualValues(t, beatOf(task, i, until).InARow, valueAt(lineOf(s, task), at).Value, "%d at %s", i, at)
			}
		}
		tried := alert.BackTest(alert.Rule{Metric: alert.InARow, Level: alert.P1, Threshold: 3, Recovery: true}, s)
		require.NotEmpty(t, tried.Incidents)
		require.Equal(t, "5xx 127.0.0.1:9", tried.Incidents[0].Cause)
		quiet := series(t, d, alert.Rule{Metric: alert.InARow, Level: alert.ByTask, Scope: alert.Scope{Kind: alert.OfTask, Value: "nosuch"}}, tasks, t0, now)
		require.Empty(t, quiet.Lines, "no task is watched")
	})
}

func TestThePastOfTheLagIsThatOfTheAttempts(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		tasks, runs, now := worldOfDays(t, d)
		for _, window := range []time.Duration{time.Hour, 5 * time.Hour} {
			s := series(t, d, alert.Rule{Metric: alert.TriggerLag, Window: window}, tasks, t0, now)
			for at := t0.Add(window); at.Before(now.Truncate(time.Hour)); at = at.Add(time.Hour) {
				var lags []float64
				for _, run := range runs {
					if len(run.tries) > 0 && !run.tries[0].end.Before(at.Add(-window)) && run.tries[0].end.Before(at) {
						lags = append(lags, run.tries[0].begin.Sub(run.wanted).Seconds())
					}
				}
				slices.Sort(lags)
				got := valueAt(s.Lines[0].Points, at)
				require.Equal(t, len(lags), got.N, "%s at %s", window, at)
				if len(lags) > 0 {
					want := lags[(99*len(lags)+99)/100-1]
					require.InDelta(t, want, got.Value, want*0.011+0.001)
				}
			}
		}
	})
}

func TestThePastOfQueuesAndLetters(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		tasks := teamTasks(t, d)
		for i, due := range []int{0, 5, 5, 9} {
			exec(t, d, "INSERT INTO queue_samples (queue, at, due) VALUES ('default',?,?),('slow',?,1)", db.At(later(float64(10*i))), due, db.At(later(float64(10*i))))
		}
		exec(t, d, "INSERT INTO queue_samples (queue, at, due) VALUES ('default',?,9)", db.At(later(300)))
		s := series(t, d, alert.Rule{Metric: alert.QueueDepth, Scope: alert.Scope{Kind: alert.OfQueue, Value: "default"}}, nil, t0.Add(-time.Hour), later(600))
		require.Equal(t, t0, s.Known)
		require.Equal(t, []alert.Point{
			{At: t0}, {At: later(10), Value: 5, N: 5}, {At: later(30), Value: 9, N: 9}, {At: later(90), Blank: true}, {At: later(300), Value: 9, N: 9},
		}, s.Lines[0].Points)
		require.Len(t, series(t, d, alert.Rule{Metric: alert.QueueDepth}, nil, t0, later(600)).Lines, 2)

		for _, l := range []struct {
			task         int
			opened, over float64 // hours; over 0: open
		}{{0, -50, 2}, {1, 1, 0}, {0, 3, 4}, {2, 0, 0}, {0, -60, -1}} {
			var closed any
			if l.over != 0 {
				closed = db.At(later(3600 * l.over))
			}
			exec(t, d, "INSERT INTO dead_letters (task_id, team_id, biz_id, instance_id, status, outcome, opened_at, closed_at) VALUES (?,?,?,?,'open','failed',?,?)",
				tasks[l.task].ID, tasks[l.task].TeamID, dbtest.ID(), dbtest.ID(), db.At(later(3600*l.opened)), closed)
		}
		rule := alert.Rule{TeamID: tasks[0].TeamID, Metric: alert.OpenLetters}
		counts := series(t, d, rule, tasks, t0, later(6*3600)).Lines[0].Points
		rule.Metric = alert.LetterAge
		ages := series(t, d, rule, tasks, t0, later(6*3600)).Lines[0].Points
		for hour, want := range map[float64][2]float64{0.5: {1, 50.5}, 1.5: {2, 51.5}, 2.5: {1, 1.5}, 3.5: {2, 2.5}, 5.5: {1, 4.5}} {
			require.InDelta(t, want[0], valueAt(counts, later(3600*hour)).Value, 0, hour)
			require.InDelta(t, want[1], valueAt(ages, later(3600*hour)).Value, 1e-9, hour)
		}
	})
}

func TestThePastOfRunsIsComparedWithTheirHistory(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		tasks := teamTasks(t, d)
		run := func(at, took float64, state string) pastRun {
			begin, end := later(at), later(at+took)
			return pastRun{id: dbtest.IDAt(begin), state: state, wanted: begin, end: end, tries: []tried{{outcome: state, begin: begin, end: end}}}
		}
		var runs []pastRun
		for i := range 40 {
			runs = append(runs, run(float64(i*600), 20, "succeeded"))
		}
		runs = append(runs, run(40*600, 100, "timed_out"), run(41*600, 1, "succeeded"), run(42*600, 20, "succeeded"))
		putPast(t, d, tasks, runs)
		from, to := later(3600), later(50*600)
		long := series(t, d, alert.Rule{Metric: alert.RunTooLong, Level: alert.P2}, tasks, from, to)
		require.Len(t, long.Lines, 1)
		points := long.Lines[0].Points
		require.Equal(t, alert.Point{At: later(40*600 + 20), Value: 1, N: 40}, points[0])
		require.InDelta(t, 3, valueAt(points, later(40*600+60)).Value, 1e-9)
		require.Zero(t, valueAt(points, later(40*600+100)).Value, "it has ended")
		got := alert.BackTest(alert.Rule{Metric: alert.RunTooLong, Threshold: 3, Least: 20}, long)
		require.Len(t, got.Incidents, 1)
		require.Equal(t, later(40*600+60), got.Incidents[0].Since)
		short := series(t, d, alert.Rule{Metric: alert.RunTooShort, Level: alert.P2}, tasks, from, to)
		got = alert.BackTest(alert.Rule{Metric: alert.RunTooShort, Threshold: 0.2, Least: 20}, short)
		require.Len(t, got.Incidents, 1)
		require.Equal(t, later(41*600+1), got.Incidents[0].Since)
		require.Equal(t, later(42*600+20+30), got.Incidents[0].EndedAt)
		require.InDelta(t, 0.05, got.Incidents[0].Worst, 1e-9)
	})
}

func TestAnEmptyPastSaysNothing(t *testing.T) {
	t.Parallel()
	d := dbtest.SQLite(t)
	task := dbtest.MakeTask(t, d)
	for _, m := range alert.Meters() {
		s := series(t, d, alert.Rule{Metric: m.Metric, Window: time.Hour, Level: alert.P1}, []sched.Task{task}, t0, later(60))
		for _, l := range s.Lines {
			require.False(t, slices.ContainsFunc(l.Points, func(p alert.Point) bool { return p.Value != 0 }), m.Metric)
		}
	}
}
