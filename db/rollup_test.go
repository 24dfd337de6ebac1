package db_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// minute is a row of stats_minute.
type minute struct {
	TaskID, TeamID                         int64
	MinuteAt                               db.Millis
	State                                  string
	N                                      int
	RunSumMs, RunMaxMs, LagSumMs, LagMaxMs int64
}

// ended is an instance as the roll-up sees it.
type ended struct {
	task                      sched.Task
	state                     string
	attempt                   int
	wanted, started, finished time.Time
}

// put stores it as history would have left it.
func (e ended) put(t *testing.T, d *db.DB) {
	t.Helper()
	exec(t, d, "INSERT INTO instances (id, task_id, team_id, queue, biz_id, origin, state, attempt, wanted_at, due_at, created_at, started_at, finished_at)"+
		" VALUES (?,?,?,'default',?,'api',?,?,?,?,?,?,?)", dbtest.IDAt(e.wanted), e.task.ID, e.task.TeamID, dbtest.ID(), e.state, e.attempt,
		db.At(e.wanted), db.At(e.wanted), db.At(e.wanted), db.At(e.started), db.At(e.finished))
}

// anyEnded draws n instances that ended between the instants.
func anyEnded(r *rand.Rand, tasks []sched.Task, n int, from, to time.Time) []ended {
	states := []string{"succeeded", "succeeded", "succeeded", "failed", "timed_out", "lost", "skipped", "canceled"}
	out := make([]ended, n)
	for i := range out {
		e := ended{task: tasks[r.IntN(len(tasks))], state: states[r.IntN(len(states))], attempt: 1 + r.IntN(3)}
		e.finished = from.Add(time.Duration(r.Int64N(to.Sub(from).Milliseconds())) * time.Millisecond)
		e.started = e.finished.Add(-time.Duration(r.IntN(90_000)) * time.Millisecond)
		e.wanted = e.started.Add(-time.Duration(r.IntN(5_000)) * time.Millisecond)
		if e.state == "skipped" || e.state == "canceled" && r.IntN(2) == 0 {
			e.attempt, e.started = 0, time.Time{}
		}
		out[i] = e
	}
	return out
}

// counted is the roll-up by brute force.
func counted(all []ended) map[string]minute {
	out := map[string]minute{}
	for _, e := range all {
		state := e.state
		if state == "succeeded" && e.attempt > 1 {
			state = "retried"
		}
		at := e.finished.Truncate(time.Minute)
		key := fmt.Sprint(e.task.ID, at, state)
		m := out[key]
		m.TaskID, m.TeamID, m.MinuteAt, m.State = e.task.ID, e.task.TeamID, db.At(at), state
		m.N++
		if !e.started.IsZero() {
			run, lag := e.finished.Sub(e.started).Milliseconds(), e.started.Sub(e.wanted).Milliseconds()
			m.RunSumMs, m.RunMaxMs = m.RunSumMs+run, max(m.RunMaxMs, run)
			m.LagSumMs, m.LagMaxMs = m.LagSumMs+lag, max(m.LagMaxMs, lag)
		}
		out[key] = m
	}
	return out
}

func rolled(t *testing.T, d *db.DB) map[string]minute {
	t.Helper()
	var rows []minute
	require.NoError(t, d.View(t.Context()).Raw("SELECT * FROM stats_minute").Scan(&rows).Error)
	out := map[string]minute{}
	for _, m := range rows {
		out[fmt.Sprint(m.TaskID, m.MinuteAt.Time, m.State)] = m
	}
	return out
}

// rollUp rolls until nothing is left.
func rollUp(t *testing.T, d *db.DB, now time.Time) (times int) {
	t.Helper()
	for {
		times++
		more, err := d.RollUp(t.Context(), now)
		require.NoError(t, err)
		if !more {
			return times
		}
		require.Less(t, times, 1000)
	}
}

func teamTasks(t *testing.T, d *db.DB) []sched.Task {
	t.Helper()
	team := dbtest.MakeTeam(t, d)
	return []sched.Task{dbtest.MakeTask(t, d, dbtest.Of(team)), dbtest.MakeTask(t, d, dbtest.Of(team)), dbtest.MakeTask(t, d)}
}

func TestTheRollUpCountsWhatEnded(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		tasks, r := teamTasks(t, d), rand.New(rand.NewPCG(1, 2))
		all := anyEnded(r, tasks, 200, later(-3000), later(600))
		for _, e := range all {
			e.put(t, d)
		}
		dbtest.MakeInstance(t, d, tasks[0]) // open ones don't count
		require.Equal(t, 3, rollUp(t, d, later(600)), "at most half an hour in one transaction")
		require.Equal(t, counted(all), rolled(t, d))
		require.Equal(t, 1, rollUp(t, d, later(600)))
		require.Equal(t, counted(all), rolled(t, d), "doing it again changes nothing")
	})
}

// The roll-up runs each minute beside work that commits its end a little late,
// and misses nothing over a longer break.
func TestTheRollUpCatchesUpAndTakesLateCommits(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		tasks, r := teamTasks(t, d), rand.New(rand.NewPCG(3, 4))
		var all []ended
		for _, now := range []time.Time{t0, later(60), later(119.999), later(120), later(200), later(7000), later(7060)} {
			batch := anyEnded(r, tasks, 20, now.Add(-150*time.Second), now) // up to 150 s late
			for _, e := range batch {
				e.put(t, d)
			}
			all = append(all, batch...)
			rollUp(t, d, now)
			require.Equal(t, counted(all), rolled(t, d), "at %s", now)
		}
	})
}

func TestRollUpsAtOnceCountOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		all := anyEnded(rand.New(rand.NewPCG(5, 6)), teamTasks(t, d), 50, later(-600), t0)
		for _, e := range all {
			e.put(t, d)
		}
		roll := func() error { _, err := d.RollUp(t.Context(), t0); return err }
		for range 3 {
			require.Equal(t, [2]error{}, both(roll, roll))
		}
		rollUp(t, d, t0)
		require.Equal(t, counted(all), rolled(t, d))
	})
}

func TestReportsCountWhatEnded(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		tasks := teamTasks(t, d)
		for i, state := range []string{"succeeded", "succeeded", "failed", "timed_out", "lost", "skipped", "canceled"} {
			ended{tasks[0], state, 1 + i%2, later(-100), later(-90), later(-60)}.put(t, d)
		}
		ended{tasks[1], "succeeded", 1, later(-1000), later(-990), later(-900)}.put(t, d)
		ended{tasks[2], "failed", 1, later(-100), later(-90), later(-60)}.put(t, d)
		rollUp(t, d, t0)
		dbtest.MakeInstance(t, d, tasks[0])
		running(t, d, tasks[0], dbtest.MakeNode(t, d))

		rate, err := d.TaskRate(t.Context(), tasks[0].ID, later(-120))
		require.NoError(t, err)
		require.Equal(t, sched.Rate{Succeeded: 2, Bad: 3}, rate, "skipped and canceled don't count")
		rate, err = d.TaskRate(t.Context(), tasks[1].ID, later(-120))
		require.NoError(t, err)
		require.Zero(t, rate, "too long ago")

		team := access.Scope{Teams: []int64{tasks[0].TeamID}}
		for name, c := range map[string]struct {
			scope access.Scope
			task  int64
			want  map[sched.State]int
		}{
			"a task": {all, tasks[0].ID, map[sched.State]int{"pending": 1, "running": 1, "succeeded": 2, "failed": 1, "timed_out": 1, "lost": 1, "skipped": 1, "canceled": 1}},
			"a team": {team, 0, map[sched.State]int{"pending": 1, "running": 1, "succeeded": 3, "failed": 1, "timed_out": 1, "lost": 1, "skipped": 1, "canceled": 1}},
			"nobody": {access.Scope{}, 0, map[sched.State]int{}},
		} {
			got, err := d.StateCounts(t.Context(), c.scope, c.task, later(-3600))
			require.NoError(t, err)
			require.Equal(t, c.want, got, name)
		}
	})
}

func TestTheLatestRunsOfEachTask(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		tasks := teamTasks(t, d)
		for i := range 5 {
			ended{tasks[0], "succeeded", i + 1, later(float64(i)), later(float64(i + 1)), later(float64(i + 3))}.put(t, d)
		}
		ended{tasks[1], "skipped", 0, t0, time.Time{}, later(1)}.put(t, d)
		runs, err := d.Runs(t.Context(), []int64{tasks[0].ID, tasks[1].ID, tasks[2].ID}, 3)
		require.NoError(t, err)
		require.Len(t, runs[tasks[0].ID], 3)
		require.Equal(t, []int{3, 4, 5}, []int{runs[tasks[0].ID][0].Attempt, runs[tasks[0].ID][1].Attempt, runs[tasks[0].ID][2].Attempt}, "oldest first")
		last := runs[tasks[0].ID][2]
		require.Equal(t, 2*time.Second, last.Took())
		require.Equal(t, later(4), last.WantedAt)
		require.Equal(t, sched.Skipped, runs[tasks[1].ID][0].State)
		require.Empty(t, runs[tasks[2].ID])
		runs, err = d.Runs(t.Context(), nil, 3)
		require.NoError(t, err)
		require.Empty(t, runs)
	})
}

func TestTheDepthOfEachQueueIsTheLedgers(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d)
		slow := dbtest.MakeTask(t, d, func(task *sched.Task) { task.Queue = "slow" })
		queue(t, d, dbtest.MakeInstance(t, d, task), t0)
		dbtest.MakeInstance(t, d, task, dbtest.Due(later(10)))
		dbtest.MakeInstance(t, d, task, dbtest.Due(later(11)))
		dbtest.MakeInstance(t, d, slow)
		node := dbtest.MakeNode(t, d)
		running(t, d, task, node)
		run := running(t, d, slow, node)
		settle(t, d, run, failure(), later(-5)) // retries at +5 s
		depth, err := d.QueueDepth(t.Context(), later(10))
		require.NoError(t, err)
		require.Equal(t, map[string]int{"default": 2, "slow": 2}, depth)
	})
}
