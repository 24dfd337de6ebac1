package main

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
)

const (
	rolledTasks = 50 // that the instances are of
	rollEvery   = 10 * time.Second
	insertRows  = 500 // of a statement
)

// rollUp tells what the roll-up costs an instance: of n that end evenly within
// an hour, with a turn each ten seconds as in production, until counts and
// sketches of minutes and of the hour stand.
func (l *ledger) rollUp(ctx context.Context, n int) (time.Duration, error) {
	begin := noon().AddDate(0, 0, -3) // nothing else ended then
	if err := l.addEnded(ctx, n, begin); err != nil {
		return 0, err
	}
	// A table that grows by itself has such figures for its queries long since.
	for _, table := range []string{"instances", "attempts"} {
		if _, err := l.sql.ExecContext(ctx, l.analyze+table); err != nil {
			return 0, fmt.Errorf("analyze what was made: %w", err)
		}
	}
	for _, name := range []string{"stats.rolled", "stats.hours", "stats.sketched", "stats.sketched_hours"} {
		if _, err := l.sql.ExecContext(ctx, "INSERT INTO settings (name, value) VALUES (?,?)", name, begin.Format(time.RFC3339)); err != nil {
			return 0, fmt.Errorf("begin the roll-up: %w", err)
		}
	}
	var spent time.Duration
	for now := begin; now.Before(begin.Add(80 * time.Minute)); now = now.Add(rollEvery) {
		for more := true; more; {
			began := time.Now()
			var err error
			if more, err = l.ax.RollUp(ctx, now); err != nil {
				return 0, err
			}
			spent += time.Since(began)
		}
	}
	var counted, sketched int
	for table, into := range map[string]*int{"stats_hour": &counted, "sketch_hour": &sketched} {
		if err := l.sql.QueryRowContext(ctx, "SELECT COALESCE(SUM(n),0) FROM "+table).Scan(into); err != nil {
			return 0, fmt.Errorf("read %s: %w", table, err)
		}
	}
	if counted != n || sketched != 2*n { // how long it took, and its lag
		return 0, fmt.Errorf("of %d instances %d are counted and %d measured", n, counted, sketched)
	}
	return spent / time.Duration(n), nil
}

// addEnded makes instances with one attempt each that end evenly within an
// hour, one in sixteen badly.
func (l *ledger) addEnded(ctx context.Context, n int, begin time.Time) error {
	tx, err := l.sql.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("make instances: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	for from := 0; from < n; from += insertRows {
		if err := addSome(ctx, tx, from, min(insertRows, n-from), time.Hour/time.Duration(n), begin); err != nil {
			return fmt.Errorf("make instances: %w", err)
		}
	}
	return tx.Commit()
}

func addSome(ctx context.Context, tx *sql.Tx, from, n int, apart time.Duration, begin time.Time) error {
	var instances, attempts []any
	for i := from; i < from+n; i++ {
		end := begin.Add(time.Duration(i) * apart).UnixMilli()
		started := end - int64(20+i*37%400)
		wanted := started - int64(i%50)
		state := "succeeded"
		if i%16 == 0 {
			state = "failed"
		}
		id, task := fmt.Sprintf("0193868e-0000-7000-8000-%012d", i), 1+i%rolledTasks
		instances = append(instances, id, task, id, state, wanted, wanted, wanted, started, end)
		attempts = append(attempts, id, task, started, end, state)
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO instances (id, task_id, team_id, queue, biz_id, origin, state, attempt, wanted_at, due_at, created_at, started_at, finished_at) VALUES "+
		rowsOf(n, "(?,?,1,'default',?,'api',?,1,?,?,?,?,?)"), instances...)
	if err == nil {
		_, err = tx.ExecContext(ctx, "INSERT INTO attempts (instance_id, no, task_id, team_id, task_version, started_at, ended_at, outcome) VALUES "+
			rowsOf(n, "(?,1,?,1,1,?,?,?)"), attempts...)
	}
	return err
}

func rowsOf(n int, row string) string { return row + strings.Repeat(","+row, n-1) }
