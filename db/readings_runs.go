package db

import (
	"context"
	"slices"
	"time"

	"ax/app/alert"
	"ax/app/sched"
)

// readMissed lists tasks that lack an expected success. The row of the pulse
// says when one may be missing at the earliest; whether it is, the task itself
// says, as it is now. Of tasks that run each minute one is due most of the time:
// what is late by less than any rule minds is not looked at.
func (d *DB) readMissed(ctx context.Context, q alert.Question, now time.Time) ([]alert.Reading, error) {
	if ok, err := d.beating(ctx, now); err != nil || !ok {
		return nil, err
	}
	minded := now
	if len(q.Steps) > 0 {
		minded = now.Add(-time.Duration(max(slices.Min(q.Steps), 0) * float64(time.Minute)))
	}
	var rows []struct {
		Task  taskRow  `gorm:"embedded"`
		Pulse pulseRow `gorm:"embedded;embeddedPrefix:p_"`
	}
	err := d.view(ctx).Raw("SELECT t.*, p.last_ok_at AS p_last_ok_at, p.last_end_at AS p_last_end_at, p.bad_error AS p_bad_error, p.bad_cause AS p_bad_cause,"+
		" p.bad_id AS p_bad_id, p.host AS p_host, p.row_since AS p_row_since FROM task_pulse p JOIN tasks t ON t.id=p.task_id"+
		" LEFT JOIN held_tasks h ON h.task_id=t.id AND h.until_at>? WHERE p.expect_at<=? AND t.enabled=1 AND t.archived_at IS NULL AND h.task_id IS NULL", at(now), at(minded)).Scan(&rows).Error
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	running, err := d.runningInTime(ctx, now)
	if err != nil {
		return nil, err
	}
	cals := calendarsIn(d.view(ctx))
	var out []alert.Reading
	for _, r := range rows {
		task := r.Task.shown()
		if err := cals.give(&task); err != nil {
			return nil, err
		}
		since, ok := alert.Missing(task, r.Pulse.LastOkAt.Time, r.Pulse.LastEndAt.Time, running[task.ID], now)
		if !ok {
			continue
		}
		reading := alert.Reading{TaskID: task.ID, TeamID: task.TeamID, Value: now.Sub(since).Minutes(), Since: since}
		if !r.Pulse.RowSince.IsZero() { // it ran, and failed
			reading.Cause, reading.Host, reading.Detail, reading.Instance = r.Pulse.BadCause, r.Pulse.Host, r.Pulse.BadError, string(r.Pulse.BadID)
		}
		out = append(out, reading)
	}
	return out, nil
}

// runningInTime gives the tasks of which a run is under way and not over its
// time.
func (d *DB) runningInTime(ctx context.Context, now time.Time) (map[int64]bool, error) {
	var ids []int64
	err := d.view(ctx).Raw("SELECT DISTINCT task_id FROM instances WHERE state='running' AND deadline_at>? OR state='awaiting' AND receipt_deadline>?", at(now), at(now)).Scan(&ids).Error
	out := make(map[int64]bool, len(ids))
	for _, id := range ids {
		out[id] = true
	}
	return out, err
}

// readLong compares what runs with the P95 of the task's successes, the longest
// of each task. What has run for less than longRun is left out.
func (d *DB) readLong(ctx context.Context, _ alert.Question, now time.Time) ([]alert.Reading, error) {
	rows, err := d.view(ctx).Raw("SELECT i.task_id, t.team_id, i.id, a.started_at, p.norm_p95_ms, p.norm_n, p.host FROM instances i"+
		" JOIN attempts a ON a.instance_id=i.id AND a.no=i.attempt JOIN task_pulse p ON p.task_id=i.task_id JOIN tasks t ON t.id=i.task_id"+
		" WHERE i.state IN ? AND a.ended_at IS NULL AND a.started_at<=? AND p.norm_n>0 ORDER BY a.started_at, i.id",
		[]sched.State{sched.Running, sched.Awaiting}, at(now.Add(-longRun))).Rows()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []alert.Reading
	seen := map[int64]bool{}
	for rows.Next() {
		var r alert.Reading
		var started Millis
		var norm int64
		if err := rows.Scan(&r.TaskID, &r.TeamID, &r.Instance, &started, &norm, &r.N, &r.Host); err != nil {
			return nil, err
		}
		if seen[r.TaskID] {
			continue
		}
		seen[r.TaskID] = true
		r.Since, r.Value = started.Time, float64(now.Sub(started.Time).Milliseconds())/float64(max(norm, 1))
		out = append(out, r)
	}
	return out, rows.Err()
}

// readShort compares the latest success of each task with the P50 of seven
// days. Tasks whose runs take less than longMedian are left out.
func (d *DB) readShort(ctx context.Context, _ alert.Question, now time.Time) ([]alert.Reading, error) {
	if ok, err := d.beating(ctx, now); err != nil || !ok {
		return nil, err
	}
	rows, err := d.view(ctx).Raw("SELECT p.task_id, t.team_id, p.last_ok_id, p.last_ok_at, p.last_ok_ms, p.norm_p50_ms, p.norm_n FROM task_pulse p JOIN tasks t ON t.id=p.task_id"+
		" WHERE p.norm_p50_ms>=? AND p.last_ok_ms IS NOT NULL AND t.enabled=1 AND t.archived_at IS NULL", longMedian.Milliseconds()).Rows()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []alert.Reading
	for rows.Next() {
		var r alert.Reading
		var ended Millis
		var id maybe
		var took, norm int64
		if err := rows.Scan(&r.TaskID, &r.TeamID, &id, &ended, &took, &norm, &r.N); err != nil {
			return nil, err
		}
		r.Instance, r.Since, r.Value = string(id), ended.Time, float64(took)/float64(norm)
		out = append(out, r)
	}
	return out, rows.Err()
}
