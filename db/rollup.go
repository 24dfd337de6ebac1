package db

import (
	"context"
	"time"

	"gorm.io/gorm"

	"ax/app/fail"
)

// Bounds of the roll-up.
const (
	// rollBack is how far before its last end a roll-up begins again: an
	// instance may commit its end somewhat later than the moment that it names.
	rollBack = 3 * time.Minute
	// rollMost is the most that one roll-up covers, so that its transaction
	// stays short after an outage; the next one goes on from there.
	rollMost = 30 * time.Minute
	rollName = "stats.rolled"
)

// RollUp recomputes the minutes of stats_minute from the instances that ended
// in them, from where the last roll-up stood until now, and then the hours that
// are over from their minutes; then what attempts took, likewise. Whole minutes and hours are replaced, so a crash
// can neither double nor lose a count; one node at a time holds the row of the
// last end. more tells that it is not up to now yet.
func (d *DB) RollUp(ctx context.Context, now time.Time) (more bool, err error) {
	err = d.tx(ctx, "roll up", func(tx *gorm.DB) error {
		last, err := d.lastRolled(tx, now)
		if err != nil {
			return err
		}
		from := last.Add(-rollBack).Truncate(time.Minute)
		to := now.Truncate(time.Minute).Add(time.Minute)
		if more = to.Sub(from) > rollMost; more {
			to = from.Add(rollMost)
		}
		if err := replaceMinutes(tx, from, to); err != nil {
			return err
		}
		done := to.Add(-time.Minute)
		return setMoment(tx, rollName, done)
	})
	for _, next := range []func(context.Context) (bool, error){d.rollHour, d.sketchMinute, d.sketchHour} {
		if err != nil || more {
			return more, err
		}
		more, err = next(ctx)
	}
	return more, err
}

func replaceMinutes(tx *gorm.DB, from, to time.Time) error {
	if err := tx.Exec("DELETE FROM stats_minute WHERE minute_at>=? AND minute_at<?", at(from), at(to)).Error; err != nil {
		return err
	}
	if err := fail.At("rollup.deleted"); err != nil {
		return err
	}
	return rollInstances(tx, from, to)
}

// lastRolled locks and reads the end of the last roll-up; a new ledger begins
// an hour ago.
func (d *DB) lastRolled(tx *gorm.DB, now time.Time) (time.Time, error) {
	begin := now.Add(-time.Hour).Truncate(time.Minute)
	return d.takeMoment(tx, rollName, begin)
}

// rollInstances counts what ended by task, minute and state. What succeeded
// after a retry is counted as "retried". The minute is cut with % because
// both dialects divide integers differently.
func rollInstances(tx *gorm.DB, from, to time.Time) error {
	const state = "CASE WHEN state='succeeded' AND attempt>1 THEN 'retried' ELSE state END"
	const minute = "finished_at - finished_at % 60000"
	return tx.Exec("INSERT INTO stats_minute (task_id, minute_at, state, team_id, n, run_sum_ms, run_max_ms, lag_sum_ms, lag_max_ms)"+
		" SELECT task_id, "+minute+", "+state+", MIN(team_id), COUNT(*),"+
		" COALESCE(SUM(finished_at-started_at),0), COALESCE(MAX(finished_at-started_at),0),"+
		" COALESCE(SUM(started_at-wanted_at),0), COALESCE(MAX(started_at-wanted_at),0)"+
		" FROM instances WHERE finished_at>=? AND finished_at<? GROUP BY task_id, "+minute+", "+state,
		at(from), at(to)).Error
}
