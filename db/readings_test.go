package db_test

import (
	"cmp"
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

// readings asks and puts the answers in order.
func readings(t testing.TB, d *db.DB, q alert.Question, now time.Time) []alert.Reading {
	t.Helper()
	got, err := d.Readings(t.Context(), q, now)
	require.NoError(t, err)
	slices.SortFunc(got, func(a, b alert.Reading) int {
		return cmp.Or(cmp.Compare(a.TaskID, b.TaskID), cmp.Compare(a.Subject.Key, b.Subject.Key), cmp.Compare(a.TeamID, b.TeamID))
	})
	return got
}

// byTask is readings by task.
func byTask(t testing.TB, d *db.DB, q alert.Question, now time.Time) map[int64]alert.Reading {
	t.Helper()
	out := map[int64]alert.Reading{}
	for _, r := range readings(t, d, q, now) {
		require.NotContains(t, out, r.TaskID)
		out[r.TaskID] = r
	}
	return out
}

func TestRatesAndFailuresAreThoseOfTheWindow(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		tasks, r := teamTasks(t, d), rand.New(rand.NewPCG(31, 32))
		now := later(3600)
		rollUp(t, d, t0)
		runs := slices.Concat(anyPast(r, 3, 150, t0, now), anyPast(r, 2, 20, later(3300), now))
		putPast(t, d, tasks, runs)
		rollUp(t, d, now)
		countEnds(t, d, now)
		exec(t, d, "UPDATE tasks SET team_id=? WHERE id=?", tasks[2].TeamID, tasks[0].ID) // moved; its rows are not yet
		for _, window := range []time.Duration{5 * time.Minute, time.Hour, 24 * time.Hour} {
			rates := byTask(t, d, alert.Question{Metric: alert.SuccessRate, Window: window}, now)
			failures := byTask(t, d, alert.Question{Metric: alert.Failures, Window: window}, now)
			tries := byTask(t, d, alert.Question{Metric: alert.Failures, Window: window, EachTry: true}, now)
			for i, task := range tasks {
				var good, bad, badTries int
				for _, run := range runs {
					if run.task != i {
						continue
					}
					if !run.end.Before(now.Add(-window)) && run.good() {
						good++
					}
					if !run.end.Before(now.Add(-window)) && run.bad() {
						bad++
					}
					for _, a := range run.tries {
						if !a.end.Before(now.Add(-window)) && a.outcome != "succeeded" && a.outcome != "canceled" {
							badTries++
						}
					}
				}
				got := rates[task.ID]
				require.Equal(t, []int{good, bad, good + bad}, []int{got.Good, got.Bad, got.N}, "%d in %s", i, window)
				if got.N > 0 {
					require.InDelta(t, 100*float64(good)/float64(good+bad), got.Value, 1e-9)
				}
				require.EqualValues(t, bad, failures[task.ID].Value)
				require.EqualValues(t, badTries, tries[task.ID].Value)
				if bad > 0 {
					require.Equal(t, beatOf(task, i, runs).BadCause, failures[task.ID].Cause)
					require.Equal(t, "127.0.0.1:9", got.Host)
				}
				want := task.TeamID
				if i == 0 {
					want = tasks[2].TeamID
				}
				if got.N > 0 {
					require.Equal(t, want, got.TeamID, "the team that it has now")
				}
			}
		}
	})
}

func TestLateStartsAreThoseOfTheWindowAndWhatStillWaits(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		tasks, r := teamTasks(t, d), rand.New(rand.NewPCG(41, 42))
		now, steps := later(3600), []float64{0.5, 5, 60}
		runs := anyPast(r, 3, 200, t0, now)
		for i := range 60 {
			wanted := now.Add(-time.Duration(r.IntN(400_000)) * time.Millisecond)
			run := pastRun{id: dbtest.IDAt(wanted), task: i % 3, state: []string{"pending", "queued", "running", "awaiting", "retrying"}[i%5], wanted: wanted}
			if i%5 > 1 {
				run.tries = []tried{{begin: wanted.Add(time.Duration(r.IntN(9000)) * time.Millisecond)}}
			}
			runs = append(runs, run)
		}
		ahead := pastRun{id: dbtest.ID(), state: "pending", wanted: now.Add(time.Second)}
		putPast(t, d, tasks, append(runs, ahead))
		for _, window := range []time.Duration{5 * time.Minute, time.Hour, 24 * time.Hour} {
			got := byTask(t, d, alert.Question{Metric: alert.TriggerLag, Window: window, Steps: steps}, now)
			since := now.Add(-min(window, db.MaxLagWindow))
			for i, task := range tasks {
				want := alert.Reading{TaskID: task.ID, TeamID: task.TeamID, Late: make([]int, len(steps))}
				for _, run := range runs {
					begin := now
					if len(run.tries) > 0 {
						begin = run.tries[0].begin
					} else if run.state == "skipped" {
						continue
					}
					if run.task != i || begin.Before(since) {
						continue
					}
					want.N++
					lag := begin.Sub(run.wanted).Seconds()
					want.Value = max(want.Value, lag)
					for s, step := range steps {
						if lag >= step {
							want.Late[s]++
						}
					}
				}
				require.Equal(t, want, got[task.ID], "%d in %s", i, window)
			}
		}
	})
}

func TestAStreakIsReadWithItsCause(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		tasks := append(teamTasks(t, d), dbtest.MakeTask(t, d, dbtest.Disabled()))
		refused := func(i, task int) pastRun {
			begin := later(float64(i * 10))
			return pastRun{id: dbtest.IDAt(begin), task: task, state: "failed", wanted: begin, end: begin.Add(2 * time.Second), tries: []tried{
				{outcome: "timed_out", begin: begin, end: begin.Add(time.Second), text: "no answer in time"},
				{outcome: "failed", begin: begin.Add(time.Second), end: begin.Add(2 * time.Second), text: "dial tcp 127.0.0.1:9: connect: connection refused"},
			}}
		}
		runs := []pastRun{refused(1, 0), refused(2, 0), refused(3, 1), refused(1, 3)}
		runs = append(runs, pastRun{id: dbtest.IDAt(later(50)), task: 1, state: "succeeded", wanted: later(50), end: later(51), tries: []tried{{outcome: "succeeded", begin: later(50), end: later(51)}}})
		putPast(t, d, tasks, runs)
		none, err := d.Readings(t.Context(), alert.Question{Metric: alert.InARow}, later(60))
		require.NoError(t, err)
		require.Empty(t, none, "nothing is counted yet")
		countEnds(t, d, later(60))
		want := alert.Reading{
			TaskID: tasks[0].ID, TeamID: tasks[0].TeamID, Value: 2, N: 2, Since: later(12), Cause: "unreachable 127.0.0.1:9", Host: "127.0.0.1:9",
			Detail: "dial tcp 127.0.0.1:9: connect: connection refused", Instance: runs[1].id,
		}
		require.Equal(t, []alert.Reading{want}, readings(t, d, alert.Question{Metric: alert.InARow}, later(61)))
		want.Value, want.N, want.Since = 4, 4, later(11)
		require.Equal(t, []alert.Reading{want}, readings(t, d, alert.Question{Metric: alert.InARow, EachTry: true}, later(61)))
		_, err = d.Readings(t.Context(), alert.Question{Metric: alert.InARow}, later(300))
		require.ErrorContains(t, err, "last counted", "what isn't counted can't be told")
	})
}

func TestOpenLettersAreCountedByTask(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		tasks := teamTasks(t, d)
		for i, status := range []string{"open", "taken", "solved", "wont_fix", "open"} {
			exec(t, d, "INSERT INTO dead_letters (task_id, team_id, biz_id, instance_id, status, outcome, opened_at) VALUES (?,?,?,?,?,'failed',?)",
				tasks[i/4].ID, tasks[i/4].TeamID, dbtest.ID(), dbtest.ID(), status, db.At(later(float64(3600*i))))
		}
		now := later(5 * 3600)
		require.Equal(t, []alert.Reading{
			{TaskID: tasks[0].ID, TeamID: tasks[0].TeamID, Value: 2, N: 2, Since: t0},
			{TaskID: tasks[1].ID, TeamID: tasks[1].TeamID, Value: 1, N: 1, Since: later(4 * 3600)},
		}, readings(t, d, alert.Question{Metric: alert.OpenLetters}, now))
		require.Equal(t, []alert.Reading{
			{TaskID: tasks[0].ID, TeamID: tasks[0].TeamID, Value: 5, N: 2, Since: t0},
			{TaskID: tasks[1].ID, TeamID: tasks[1].TeamID, Value: 1, N: 1, Since: later(4 * 3600)},
		}, readings(t, d, alert.Question{Metric: alert.LetterAge}, now))
	})
}

// runAt is a run of a task that ended a second after it began.
func runAt(task int, state string, at time.Time) pastRun {
	return pastRun{id: dbtest.IDAt(at), task: task, state: state, wanted: at, end: at.Add(time.Second),
		tries: []tried{{outcome: state, begin: at, end: at.Add(time.Second), text: "answered 500 Internal Server Error", status: 500}}}
}

func TestAMissingSuccessIsReadFromThePulse(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		hourly := dbtest.Every(time.Hour)
		tasks := make([]sched.Task, 7)
		for i := range tasks {
			tasks[i] = dbtest.MakeTask(t, d, hourly)
		}
		now := later(3600*5 + 600)
		runs := []pastRun{
			runAt(0, "succeeded", later(5*3600)),                                   // fine
			runAt(1, "succeeded", later(3*3600)), runAt(1, "failed", later(18000)), // fails since
			runAt(2, "succeeded", later(3*3600)), // nothing since
			runAt(3, "succeeded", later(3*3600)), // paused
			runAt(4, "succeeded", later(3*3600)), // runs now
			runAt(5, "succeeded", later(3*3600)), // held
			runAt(6, "succeeded", later(3*3600)), // hangs
			{id: dbtest.ID(), task: 4, state: "running", wanted: later(18000), tries: []tried{{begin: later(18000)}}},
			{id: dbtest.ID(), task: 6, state: "running", wanted: later(18000), tries: []tried{{begin: later(18000)}}},
		}
		putPast(t, d, tasks, runs)
		exec(t, d, "UPDATE tasks SET paused_from=?, paused_until=? WHERE id=?", db.At(later(18001)), db.At(later(99999)), tasks[3].ID)
		exec(t, d, "UPDATE instances SET deadline_at=? WHERE id=?", db.At(now.Add(time.Second)), runs[8].id)
		exec(t, d, "UPDATE instances SET deadline_at=? WHERE id=?", db.At(now.Add(-time.Second)), runs[9].id)
		exec(t, d, "INSERT INTO held_tasks (task_id, silence_id, until_at) VALUES (?,1,?)", tasks[5].ID, db.At(later(99999)))
		q := alert.Question{Metric: alert.MissedRun}
		require.Empty(t, readings(t, d, q, now), "nothing is counted yet")
		countEnds(t, d, now)
		due := later(4 * 3600)
		want := []alert.Reading{
			{TaskID: tasks[1].ID, TeamID: tasks[1].TeamID, Value: 70, Since: due, Cause: "5xx 127.0.0.1:9", Host: "127.0.0.1:9", Detail: "answered 500 Internal Server Error", Instance: runs[2].id},
			{TaskID: tasks[2].ID, TeamID: tasks[2].TeamID, Value: 70, Since: due},
			{TaskID: tasks[6].ID, TeamID: tasks[6].TeamID, Value: 70, Since: due},
		}
		require.Equal(t, want, readings(t, d, q, now))
		// A pause that is cut short: from its end on a success is expected again.
		exec(t, d, "UPDATE tasks SET paused_until=? WHERE id=?", db.At(later(18030)), tasks[3].ID)
		require.Equal(t, want, readings(t, d, q, now), "the next slot is to come")
		exec(t, d, "UPDATE tasks SET paused_from=?, paused_until=? WHERE id=?", db.At(later(17000)), db.At(later(17990)), tasks[3].ID)
		require.Equal(t, 10.0, byTask(t, d, q, now)[tasks[3].ID].Value)
		// A new version is counted without an end.
		exec(t, d, "UPDATE tasks SET version=2, updated_at=? WHERE id=?", db.At(later(18001)), tasks[2].ID)
		require.NotContains(t, byTask(t, d, q, now), tasks[2].ID)
	})
}

// usual stores a success of each of the days, whose sketches are made.
func usual(t *testing.T, d *db.DB, task sched.Task, took time.Duration, n int) (now time.Time) {
	t.Helper()
	rollUp(t, d, t0)
	for i := range n {
		end := later(float64(i*600) + 300)
		putRuns(t, d, []sched.Task{task}, []measuredRun{{no: 1, outcome: "succeeded", took: took.Milliseconds() + int64(i%3)*10, end: end}})
		exec(t, d, "UPDATE instances SET state='succeeded' WHERE finished_at=?", db.At(end))
	}
	now = later(float64(n*600) + 900)
	rollUp(t, d, now)
	countEnds(t, d, now)
	countEnds(t, d, now.Add(6*time.Minute)) // the usual times are counted later
	countEnds(t, d, now.Add(7*time.Minute))
	return now.Add(7 * time.Minute)
}

func TestRunsAreComparedWithTheirHistory(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		task, other := dbtest.MakeTask(t, d), dbtest.MakeTask(t, d)
		now := usual(t, d, task, 20*time.Second, 30)
		tasks := []sched.Task{task, other}
		short := runAt(0, "succeeded", now.Add(-2*time.Second))
		open := func(of int, since time.Duration) pastRun {
			at := now.Add(-since)
			return pastRun{id: dbtest.IDAt(at), task: of, state: "running", wanted: at, tries: []tried{{begin: at}}}
		}
		long := open(0, 100*time.Second)
		putPast(t, d, tasks, []pastRun{short, long, open(0, 50*time.Second), open(1, time.Hour), open(0, 9*time.Second)})
		countEnds(t, d, now.Add(2*time.Second))
		now = now.Add(2 * time.Second)
		got := readings(t, d, alert.Question{Metric: alert.RunTooLong}, now)
		require.Len(t, got, 1)
		require.InDelta(t, 102/20.02, got[0].Value, 0.1)
		require.Equal(t, 30, got[0].N)
		require.Equal(t, long.id, got[0].Instance)
		require.Equal(t, now.Add(-102*time.Second), got[0].Since)
		got = readings(t, d, alert.Question{Metric: alert.RunTooShort}, now)
		require.Len(t, got, 1)
		require.InDelta(t, 1/20.01, got[0].Value, 0.001)
		require.Equal(t, short.id, got[0].Instance)
		require.Equal(t, 30, got[0].N)
	})
}

func TestAQueueIsReadByTeam(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		tasks := teamTasks(t, d)
		for i := range 5 {
			dbtest.MakeInstance(t, d, tasks[2*(i/3)], dbtest.Due(later(float64(i))))
		}
		dbtest.MakeInstance(t, d, tasks[0], dbtest.Due(later(100)))
		queue := alert.Subject{Kind: alert.QueueSubject, Key: "default", Name: "default"}
		require.Equal(t, []alert.Reading{
			{TeamID: tasks[0].TeamID, Subject: queue, Value: 3, N: 3, Since: t0},
			{TeamID: tasks[2].TeamID, Subject: queue, Value: 2, N: 2, Since: later(3)},
		}, readings(t, d, alert.Question{Metric: alert.QueueDepth}, later(60)))
	})
}

func TestNodesAreReadBySilenceAndOffset(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		now := later(86400)
		at := func(steady, beat time.Duration) dbtest.NodeOption {
			return dbtest.Beaten(now.Add(-steady), now.Add(-beat))
		}
		live := dbtest.MakeNode(t, d, at(time.Hour, time.Second), func(n *sched.NodeInfo) { n.ClockOffset = -6500 * time.Millisecond })
		dead := dbtest.MakeNode(t, d, at(time.Hour, 5*time.Minute))
		exec(t, d, "UPDATE nodes SET dead_at=? WHERE id=?", db.At(now), dead.ID)
		old := dbtest.MakeNode(t, d, at(50*time.Hour, 25*time.Hour))
		exec(t, d, "UPDATE nodes SET dead_at=? WHERE id=?", db.At(now), old.ID)
		closed := dbtest.MakeNode(t, d, at(time.Hour, time.Minute))
		exec(t, d, "UPDATE nodes SET closed_at=? WHERE id=?", db.At(now), closed.ID)
		crashed := dbtest.MakeNode(t, d, at(2*time.Hour, time.Hour))
		exec(t, d, "UPDATE nodes SET dead_at=? WHERE id=?", db.At(now), crashed.ID)
		again := dbtest.MakeNode(t, d, at(30*time.Minute, 0), func(n *sched.NodeInfo) { n.Host = crashed.Host })
		silence := map[string]float64{}
		for _, r := range readings(t, d, alert.Question{Metric: alert.NodeOffline}, now) {
			silence[r.Subject.Key] = r.Value
		}
		require.Equal(t, map[string]float64{live.ID: 1, dead.ID: 300, again.ID: 0}, silence)
		offsets := map[string]float64{}
		for _, r := range readings(t, d, alert.Question{Metric: alert.ClockOffset}, now) {
			offsets[r.Subject.Name] = r.Value
		}
		require.Equal(t, map[string]float64{live.Host: 6.5, again.Host: 0}, offsets)
		// The ledger was away: whoever beats first must not call the others dead.
		exec(t, d, "UPDATE nodes SET steady_at=?, beat_at=? WHERE id=?", db.At(now.Add(40*time.Second)), db.At(now.Add(40*time.Second)), live.ID)
		for _, r := range readings(t, d, alert.Question{Metric: alert.NodeOffline}, now.Add(41*time.Second)) {
			require.LessOrEqual(t, r.Value, 1.0, r)
		}
		require.Empty(t, readings(t, d, alert.Question{Metric: alert.NodeOffline}, now.Add(80*time.Second)), "nobody beats")
	})
}

func TestPlanningAndCalendarsAreRead(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		q := alert.Question{Metric: alert.PlanningLate}
		house := alert.Subject{Kind: alert.HouseSubject, Key: "planning"}
		require.Equal(t, []alert.Reading{{Subject: house}}, readings(t, d, q, later(30)))
		task, bad := dbtest.MakeTask(t, d, dbtest.Every(time.Hour)), dbtest.MakeTask(t, d, dbtest.Every(time.Hour))
		exec(t, d, "UPDATE tasks SET plan_error='x', next_fire_at=1 WHERE id=?", bad.ID)
		require.Equal(t, []alert.Reading{{Subject: house, Value: 30, Since: t0, Detail: task.Code}}, readings(t, d, q, later(30)))

		exec(t, d, "INSERT INTO calendars (id, team_id, code, name, week, created_at, updated_at) VALUES (7,0,'cn','中国',62,1,1),(8,0,'unused','',62,1,1)")
		for _, day := range []string{"2026-10-01", "2027-01-01", "2029-01-01"} {
			at, err := time.Parse(time.DateOnly, day)
			require.NoError(t, err)
			exec(t, d, "INSERT INTO calendar_days (calendar_id, day, work) VALUES (7,?,0)", at.Unix()/86400)
		}
		exec(t, d, "INSERT INTO calendar_tasks (code, task_id) VALUES ('cn',?),('cn',?)", task.ID, bad.ID)
		subject := alert.Subject{Kind: alert.CalendarSubject, Key: "cn", Name: "中国"}
		require.Equal(t, []alert.Reading{
			{TeamID: task.TeamID, Subject: subject, Value: 396}, {TeamID: bad.TeamID, Subject: subject, Value: 396},
		}, readings(t, d, alert.Question{Metric: alert.CalendarEnds}, t0))
		require.Zero(t, readings(t, d, alert.Question{Metric: alert.CalendarEnds}, t0.AddDate(2, 0, 0))[0].Value)
	})
}
