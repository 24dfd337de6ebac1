package db_test

import (
	"cmp"
	"fmt"
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

// tried is an attempt as history would have left it.
type tried struct {
	outcome    string
	begin, end time.Time
	status     int
	text       string
}

// pastRun is an instance with its attempts.
type pastRun struct {
	id     string
	task   int // which of the tasks
	state  string
	wanted time.Time
	tries  []tried
	end    time.Time // zero: it is open
}

func (p pastRun) good() bool { return p.state == "succeeded" }
func (p pastRun) bad() bool  { return sched.State(p.state).Bad() }

// nullable is NULL for the zero time.
func nullable(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// putPast stores runs.
func putPast(t testing.TB, d *db.DB, tasks []sched.Task, runs []pastRun) {
	t.Helper()
	for some := range slices.Chunk(runs, 200) {
		require.NoError(t, d.Tx(t.Context(), "put runs", func(tx *gormDB) error {
			for _, r := range some {
				task, begin, text := tasks[r.task], time.Time{}, ""
				if len(r.tries) > 0 {
					begin, text = r.tries[0].begin, r.tries[len(r.tries)-1].text
				}
				err := tx.Exec("INSERT INTO instances (id, task_id, team_id, queue, biz_id, origin, state, attempt, wanted_at, due_at, created_at, started_at, finished_at, error)"+
					" VALUES (?,?,?,'default',?,'api',?,?,?,?,?,?,?,?)", r.id, task.ID, task.TeamID, r.id, r.state, len(r.tries),
					db.At(r.wanted), db.At(r.wanted), db.At(r.wanted), nullable(begin), nullable(r.end), text).Error
				for i, a := range r.tries {
					if err == nil {
						var outcome any = a.outcome
						if a.outcome == "" {
							outcome = nil
						}
						err = tx.Exec("INSERT INTO attempts (instance_id, no, task_id, team_id, task_version, started_at, ended_at, outcome, status_code, error) VALUES (?,?,?,?,1,?,?,?,?,?)",
							r.id, i+1, task.ID, task.TeamID, db.At(a.begin), nullable(a.end), outcome, a.status, a.text).Error
					}
				}
				if err != nil {
					return err
				}
			}
			return nil
		}))
	}
}

// anyPast draws runs whose ends lie between the instants: ended well or badly
// after some tries, skipped, canceled.
func anyPast(r *rand.Rand, tasks, n int, from, to time.Time) []pastRun {
	out := make([]pastRun, n)
	for i := range out {
		end := from.Add(time.Duration(r.Int64N(to.Sub(from).Milliseconds())) * time.Millisecond)
		run := pastRun{task: r.IntN(tasks), state: []string{"succeeded", "failed", "failed", "timed_out", "lost", "skipped", "canceled"}[r.IntN(7)], end: end}
		n := 1 + r.IntN(3)
		if run.state == "skipped" {
			n = 0
		}
		at := end
		for k := n; k > 0; k-- {
			a := tried{outcome: "failed", end: at, text: fmt.Sprintf("answered 503 Service Unavailable: %d", r.IntN(9)), status: 503}
			if k == n {
				if a.outcome = run.state; run.good() {
					a.status, a.text = 200, ""
				}
			}
			a.begin = at.Add(-time.Duration(1+r.IntN(20_000)) * time.Millisecond)
			run.tries = append(run.tries, a)
			at = a.begin.Add(-time.Duration(r.IntN(30_000)) * time.Millisecond)
		}
		slices.Reverse(run.tries)
		run.wanted = at.Add(-time.Duration(r.IntN(10_000)) * time.Millisecond)
		run.id = dbtest.IDAt(run.wanted)
		out[i] = run
	}
	return out
}

// heartbeat is what the tests look at of a row.
type heartbeat struct {
	TaskID, InARow, TriesInARow int
	RowSince, TriesSince        db.Millis
	LastOkAt, LastEndAt         db.Millis
	BadError, BadCause          string
}

// beatOf is a row by brute force.
func beatOf(task sched.Task, of int, runs []pastRun) heartbeat {
	p := heartbeat{TaskID: int(task.ID)}
	mine := slices.DeleteFunc(slices.Clone(runs), func(r pastRun) bool { return r.task != of || !r.good() && !r.bad() || r.end.IsZero() })
	slices.SortFunc(mine, func(a, b pastRun) int { return cmp.Or(b.end.Compare(a.end), cmp.Compare(b.id, a.id)) })
	ok := false
	for i, r := range mine {
		if i == 0 {
			p.LastEndAt = db.At(r.end)
		}
		if r.bad() && p.BadCause == "" {
			last := r.tries[len(r.tries)-1]
			p.BadError, p.BadCause = last.text, alert.CauseOf("127.0.0.1:9", last.outcome, last.status, last.text)
		}
		if r.good() && !ok {
			ok, p.LastOkAt = true, db.At(r.end)
		}
		if !ok && r.bad() {
			p.InARow, p.RowSince = p.InARow+1, db.At(r.end)
		}
	}
	var tries []tried
	for _, r := range runs {
		for _, a := range r.tries {
			if r.task == of && !a.end.IsZero() && a.outcome != "canceled" {
				tries = append(tries, a)
			}
		}
	}
	slices.SortFunc(tries, func(a, b tried) int { return b.end.Compare(a.end) })
	for _, a := range tries {
		if a.outcome == "succeeded" {
			break
		}
		p.TriesInARow, p.TriesSince = p.TriesInARow+1, db.At(a.end)
	}
	return p
}

func pulses(t *testing.T, d *db.DB) map[int]heartbeat {
	t.Helper()
	var rows []heartbeat
	require.NoError(t, d.View(t.Context()).Raw("SELECT task_id, in_a_row AS in_a_row, tries_in_a_row, row_since, tries_since, last_ok_at, last_end_at, bad_error, bad_cause FROM task_pulse").Scan(&rows).Error)
	out := map[int]heartbeat{}
	for _, r := range rows {
		out[r.TaskID] = r
	}
	return out
}

// countEnds counts until nothing is left.
func countEnds(t testing.TB, d *db.DB, now time.Time) {
	t.Helper()
	for more, n := true, 0; more; n++ {
		require.Less(t, n, 1000)
		var err error
		more, err = d.Pulse(t.Context(), now)
		require.NoError(t, err)
	}
}

func requirePulses(t *testing.T, d *db.DB, tasks []sched.Task, runs []pastRun, what string) {
	t.Helper()
	got := pulses(t, d)
	for i, task := range tasks {
		require.Equal(t, beatOf(task, i, runs), got[int(task.ID)], "task %d, %s", i, what)
	}
}

// The row of each task is what its runs say, whatever the order in which their
// ends are committed: late ones, those of replays, and after a break.
func TestThePulseIsWhatTheLatestRunsSay(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		tasks, r := teamTasks(t, d), rand.New(rand.NewPCG(21, 22))
		runs := anyPast(r, 3, 40, t0.Add(-48*time.Hour), t0)
		putPast(t, d, tasks, runs)
		countEnds(t, d, t0)
		requirePulses(t, d, tasks, runs, "what was there before")
		now := t0
		for turn, step := range []time.Duration{2, 2, 2, 61, 2, 2, 2, 15, 2, 7200, 2, 2, 40_000, 2} {
			now = now.Add(step * time.Second)
			late := min(step, 55)
			more := anyPast(r, 3, 4, now.Add(-late*time.Second), now)
			putPast(t, d, tasks, more)
			runs = append(runs, more...)
			countEnds(t, d, now)
			if step == 2 { // what was late is seen by a deep look
				now = now.Add(15 * time.Second)
				countEnds(t, d, now)
			}
			requirePulses(t, d, tasks, runs, fmt.Sprintf("turn %d", turn))
		}
	})
}

// A process that sleeps with its end decided and not committed: the next turns
// look back to before the sleep.
func TestAnEndThatWasCommittedAfterASleepIsCounted(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		tasks := teamTasks(t, d)
		for now := t0; now.Before(later(120)); now = now.Add(10 * time.Second) {
			countEnds(t, d, now)
		}
		awake := later(120 + 3600)
		countEnds(t, d, awake)
		runs := []pastRun{{id: dbtest.IDAt(later(100)), task: 1, state: "failed", wanted: later(100), end: later(118),
			tries: []tried{{outcome: "failed", begin: later(101), end: later(118), text: "dial tcp 10.0.0.7:80: connect: connection refused"}}}}
		putPast(t, d, tasks, runs)
		countEnds(t, d, awake.Add(2*time.Second))
		countEnds(t, d, awake.Add(16*time.Second))
		requirePulses(t, d, tasks, runs, "awake")
		require.Equal(t, "unreachable 127.0.0.1:9", pulses(t, d)[int(tasks[1].ID)].BadCause)
	})
}

// Retries beyond number, and a backlog that waits, hide no end.
func TestAStreakIsFoundBehindRetriesAndABacklog(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		tasks := teamTasks(t, d)
		var runs []pastRun
		for i := range 8 {
			run := pastRun{id: dbtest.IDAt(later(float64(i))), state: "failed", wanted: later(float64(i)), end: later(float64(i*100 + 99))}
			for k := range 30 {
				at := later(float64(i*100 + 3*k))
				run.tries = append(run.tries, tried{outcome: "timed_out", begin: at, end: at.Add(2 * time.Second), text: "no answer in time"})
			}
			run.tries[29].end = run.end
			runs = append(runs, run)
		}
		for i := range 200 {
			runs = append(runs, pastRun{id: dbtest.IDAt(later(float64(900 + i))), state: "queued", wanted: later(float64(900 + i))})
		}
		putPast(t, d, tasks, runs)
		countEnds(t, d, later(1200))
		got := pulses(t, d)[int(tasks[0].ID)]
		require.Equal(t, 8, got.InARow)
		require.Equal(t, db.At(runs[0].end), got.RowSince)
		require.Equal(t, 50, got.TriesInARow, "as many as are looked at")
	})
}

func TestASecondNodeLeavesATurnToTheFirst(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		tasks := teamTasks(t, d)
		countEnds(t, d, t0)
		runs := anyPast(rand.New(rand.NewPCG(1, 1)), 1, 1, t0, later(0.5))
		runs[0].state = "failed"
		putPast(t, d, tasks, runs)
		countEnds(t, d, later(0.9))
		require.Zero(t, pulses(t, d)[int(tasks[0].ID)].InARow)
		countEnds(t, d, later(2))
		require.Equal(t, 1, pulses(t, d)[int(tasks[0].ID)].InARow)
	})
}
