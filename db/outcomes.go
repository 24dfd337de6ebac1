package db

import (
	"context"
	"fmt"
	"time"

	"ax/app/access"
	"ax/app/sched"
)

// outcomeRows sums what ended since a moment, in steps from there on. A window
// over a day is read by hours: from is then to begin one, and step to be a
// multiple of it. There may be several rows of a team, step and state.
func (d *DB) outcomeRows(ctx context.Context, m moves, scope access.Scope, from time.Time, step time.Duration) ([]statRow, error) {
	done, err := momentOf(d.view(ctx), "", hoursName)
	if err != nil {
		return nil, err
	}
	parts := partsOf("stats", done, from)
	if step%time.Hour == 0 && len(parts) == 1 && done.After(from) { // the hours that stand, however few
		parts = []part{{"stats_hour", "hour_at", from, done}, {"stats_minute", "minute_at", done, time.Time{}}}
	}
	var all []statRow
	for _, p := range parts {
		w := p.where(m, scope, 0)
		var rows []statRow
		moment := fmt.Sprintf("%[1]s - (%[1]s - %[2]d) %% %[3]d", p.at, from.UnixMilli(), step.Milliseconds())
		err := d.view(ctx).Raw("SELECT team_id, "+moment+" AS at, state, SUM(n) AS n FROM "+p.table+w.sql()+" GROUP BY team_id, "+moment+", state",
			w.args...).Scan(&rows).Error
		if err != nil {
			return nil, reading(p.table, err)
		}
		all = append(all, rows...)
	}
	return all, nil
}

// bucketsOf sorts the sums into n buckets; what lies outside is left out.
func bucketsOf(rows []statRow, from time.Time, step time.Duration, n int) []sched.Bucket {
	out := make([]sched.Bucket, n)
	for i := range out {
		out[i] = sched.Bucket{At: from.Add(time.Duration(i) * step), Counts: map[sched.State]int{}}
	}
	for _, r := range rows {
		i := int(r.At.Sub(from) / step)
		if r.At.Before(from) || i >= len(out) {
			continue
		}
		if r.State == retried {
			out[i].Retried += r.N
			r.State = string(sched.Succeeded)
		}
		out[i].Counts[sched.State(r.State)] += r.N
	}
	return out
}

// Outcomes gives what ended in n steps from a moment on. Steps of minutes are
// exact for the last eight days; those of hours begin with one.
func (d *DB) Outcomes(ctx context.Context, scope access.Scope, from time.Time, step time.Duration, n int) ([]sched.Bucket, error) {
	m, err := d.moving(ctx, scope)
	if err != nil {
		return nil, err
	}
	rows, err := d.outcomeRows(ctx, m, scope, from, step)
	if err != nil {
		return nil, err
	}
	return bucketsOf(rows, from, step, n), nil
}

// Rates is TaskRate of each of the tasks, in one query per part of the window;
// a task of which nothing ended is not in it.
func (d *DB) Rates(ctx context.Context, taskIDs []int64, since time.Time) (map[int64]sched.Rate, error) {
	out := make(map[int64]sched.Rate, len(taskIDs))
	if len(taskIDs) == 0 {
		return out, nil
	}
	done, err := momentOf(d.view(ctx), "", hoursName)
	if err != nil {
		return nil, err
	}
	perTask := map[int64][]statRow{}
	for _, p := range partsOf("stats", done, since) {
		w := p.where(nil, access.Scope{All: true}, 0)
		w.and("task_id IN ?", taskIDs)
		var rows []struct {
			TaskID int64
			State  string
			N      int
		}
		err := d.view(ctx).Raw("SELECT task_id, state, SUM(n) AS n FROM "+p.table+w.sql()+" GROUP BY task_id, state", w.args...).Scan(&rows).Error
		if err != nil {
			return nil, reading(p.table, err)
		}
		for _, r := range rows {
			perTask[r.TaskID] = append(perTask[r.TaskID], statRow{State: r.State, N: r.N})
		}
	}
	for id, rows := range perTask {
		out[id] = rateOf(rows)
	}
	return out, nil
}
