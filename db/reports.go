package db

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"ax/app/access"
	"ax/app/sched"
)

// openStates are all states that are no end.
var openStates = []sched.State{sched.Pending, sched.Queued, sched.Running, sched.Awaiting, sched.Retrying}

// retried is how the roll-up counts what succeeded after more than one attempt.
const retried = "retried"

// Runs gives the latest runs of each task, oldest first, at most limit each.
// Skipped and canceled ones are among them.
func (d *DB) Runs(ctx context.Context, taskIDs []int64, limit int) (map[int64][]sched.Run, error) {
	out := make(map[int64][]sched.Run, len(taskIDs))
	if len(taskIDs) == 0 {
		return out, nil
	}
	const one = "SELECT * FROM (SELECT id, task_id, state, attempt, wanted_at, started_at, finished_at FROM instances WHERE task_id=? ORDER BY id DESC LIMIT ?) AS r"
	args := make([]any, 0, 2*len(taskIDs))
	for _, id := range taskIDs {
		args = append(args, id, limit)
	}
	var rows []instanceRow
	q := strings.Repeat(one+" UNION ALL ", len(taskIDs)-1) + one
	if err := d.view(ctx).Raw(q, args...).Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("read runs of tasks: %w", err)
	}
	slices.SortFunc(rows, func(a, b instanceRow) int { return strings.Compare(a.ID, b.ID) })
	for _, r := range rows {
		out[r.TaskID] = append(out[r.TaskID], sched.Run{
			InstanceID: r.ID, TaskID: r.TaskID, State: sched.State(r.State), Attempt: r.Attempt,
			WantedAt: r.WantedAt.Time, StartedAt: r.StartedAt.Time, FinishedAt: r.FinishedAt.Time,
		})
	}
	return out, nil
}

// statRow is a sum over stats_minute or stats_hour.
type statRow struct {
	TeamID int64
	At     Millis
	State  string
	N      int
}

// TaskRate counts what of a task ended since a moment: to the minute within
// the last eight days, else to the hour.
func (d *DB) TaskRate(ctx context.Context, taskID int64, since time.Time) (sched.Rate, error) {
	rows, err := d.ended(ctx, nil, access.Scope{All: true}, taskID, since)
	if err != nil {
		return sched.Rate{}, fmt.Errorf("read rate of task %d: %w", taskID, err)
	}
	return rateOf(rows), nil
}

func rateOf(rows []statRow) sched.Rate {
	var out sched.Rate
	for _, r := range rows {
		switch state := sched.State(r.State); {
		case state == sched.Succeeded || r.State == retried:
			out.Succeeded += r.N
		case state.Bad():
			out.Bad += r.N
		}
	}
	return out
}

// StateCounts counts open instances as they are, and those that ended since a
// moment, as exactly as TaskRate; taskID 0: of all tasks.
func (d *DB) StateCounts(ctx context.Context, scope access.Scope, taskID int64, since time.Time) (map[sched.State]int, error) {
	m, err := d.moving(ctx, scope)
	if err != nil {
		return nil, err
	}
	out := map[sched.State]int{}
	w := &where{}
	w.and("state IN ?", openStates)
	m.scope(w, "", scope)
	if taskID != 0 {
		w.and("task_id=?", taskID)
	}
	var rows []statRow
	if err := d.view(ctx).Raw("SELECT state, COUNT(*) AS n FROM instances"+w.sql()+" GROUP BY state", w.args...).Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("count open instances: %w", err)
	}
	ended, err := d.ended(ctx, m, scope, taskID, since)
	if err != nil {
		return nil, fmt.Errorf("count ended instances: %w", err)
	}
	for _, r := range append(rows, ended...) {
		state := sched.State(r.State)
		if r.State == retried {
			state = sched.Succeeded
		}
		out[state] += r.N
	}
	return out, nil
}

// QueueDepth counts, per queue, the instances that are due and have not begun:
// the ledger's own figure, which works with Redis down.
func (d *DB) QueueDepth(ctx context.Context, now time.Time) (map[string]int, error) {
	var rows []struct {
		Queue string
		N     int
	}
	err := d.view(ctx).Raw("SELECT queue, COUNT(*) AS n FROM instances WHERE state IN ? AND due_at<=? GROUP BY queue", claimableStates, at(now)).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("count queue depth: %w", err)
	}
	out := make(map[string]int, len(rows))
	for _, r := range rows {
		out[r.Queue] = r.N
	}
	return out, nil
}
