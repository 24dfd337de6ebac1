package db

import (
	"context"
	"fmt"
	"strings"
	"time"

	"ax/app/access"
	"ax/app/alert"
)

// rate is what of a task ended in a window.
type rate struct{ good, bad int }

// readRates counts what of each task ended in the window, to the minute. What
// is told of the failures is the task's latest one.
func (d *reader) readRates(ctx context.Context, q alert.Question, now time.Time) ([]alert.Reading, error) {
	since := now.Add(-q.Window)
	read := d.rates
	if q.EachTry && q.Metric == alert.Failures {
		read = d.triesOf
	}
	counts, err := read(ctx, since)
	if err != nil {
		return nil, err
	}
	teams, err := d.teamsOf(ctx)
	if err != nil {
		return nil, err
	}
	faults, err := d.latestFaults(ctx, q.EachTry)
	if err != nil {
		return nil, err
	}
	out := make([]alert.Reading, 0, len(counts))
	for id, c := range counts {
		r := alert.Reading{TaskID: id, TeamID: teams[id], Good: c.good, Bad: c.bad, N: c.good + c.bad, Value: float64(c.bad)}
		if r.N == 0 {
			continue
		}
		if q.Metric == alert.SuccessRate {
			r.Value = 100 * float64(c.good) / float64(r.N)
		}
		if c.bad > 0 {
			m := faults[id]
			r.Cause, r.Host, r.Detail, r.Instance = m.cause, m.host, m.detail, string(m.instance)
		}
		out = append(out, r)
	}
	return out, nil
}

// ratesOf counts instances that ended since a moment by task.
func (d *DB) ratesOf(ctx context.Context, since time.Time) (map[int64]rate, error) {
	done, err := momentOf(d.view(ctx), "", hoursName)
	if err != nil {
		return nil, err
	}
	// By the moment: a key that begins with the task is read whole.
	key := map[string]string{"stats_minute": "stats_minute_counts", "stats_hour": "stats_hour_hour"}
	out := map[int64]rate{}
	for _, p := range partsOf("stats", done, since) {
		w := p.where(nil, access.Scope{All: true}, 0)
		q := "SELECT task_id, SUM(CASE WHEN state IN ('succeeded','retried') THEN n ELSE 0 END), SUM(CASE WHEN state IN ('failed','timed_out','lost') THEN n ELSE 0 END) FROM " +
			d.dialect.byIndex(p.table, key[p.table]) + w.sql() + " GROUP BY task_id"
		if err := d.addRates(ctx, out, q, w.args...); err != nil {
			return nil, fmt.Errorf("read %s: %w", p.table, err)
		}
	}
	return out, nil
}

// triesOf counts attempts that ended since a moment by task, the latest of them
// where there are very many.
func (d *DB) triesOf(ctx context.Context, since time.Time) (map[int64]rate, error) {
	out := map[int64]rate{}
	return out, d.addRates(ctx, out, "SELECT task_id, SUM(CASE WHEN outcome='succeeded' THEN 1 ELSE 0 END),"+
		" SUM(CASE WHEN outcome IN ('failed','timed_out','lost') THEN 1 ELSE 0 END)"+
		" FROM (SELECT task_id, outcome FROM "+d.dialect.byIndex("attempts", "attempts_ended")+" WHERE ended_at>=? ORDER BY ended_at DESC LIMIT ?) AS a GROUP BY task_id",
		at(since), maxTries)
}

func (d *DB) addRates(ctx context.Context, to map[int64]rate, query string, args ...any) error {
	rows, err := d.view(ctx).Raw(query, args...).Rows()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var c rate
		if err := rows.Scan(&id, &c.good, &c.bad); err != nil {
			return err
		}
		to[id] = rate{to[id].good + c.good, to[id].bad + c.bad}
	}
	return rows.Err()
}

// latestFaults gives what is told of the latest failure of each task.
func (d *reader) latestFaults(ctx context.Context, eachTry bool) (map[int64]faultLine, error) {
	if known := d.faults[eachTry]; known != nil {
		return known, nil
	}
	kind := "bad"
	if eachTry {
		kind = "try"
	}
	rows, err := d.view(ctx).Raw(strings.ReplaceAll("SELECT task_id, host, X_cause, X_error, X_id FROM task_pulse WHERE X_id IS NOT NULL", "X_", kind+"_")).Rows()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[int64]faultLine{}
	for rows.Next() {
		var m faultLine
		if err := rows.Scan(&m.task, &m.host, &m.cause, &m.detail, &m.instance); err != nil {
			return nil, err
		}
		out[m.task] = m
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	d.faults[eachTry] = out
	return out, nil
}
