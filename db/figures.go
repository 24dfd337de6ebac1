package db

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/fail"
)

const (
	// minuteLife is how long minutes are kept once their hours stand: a window
	// of a week can begin at any minute.
	minuteLife = 8 * 24 * time.Hour
	// hourLife is how long hours are kept: a year and its comparison with the
	// month before.
	hourLife = 400 * 24 * time.Hour
	// byHours is the window from which on hours are read instead of minutes.
	byHours = 24 * time.Hour
	// statsBatch bounds one transaction of PruneStats, give or take a minute's
	// rows.
	statsBatch = 5000
)

// part is the part of a window that one table of figures tells.
type part struct {
	table, at string
	from, to  time.Time // to is not within; the zero time: no end
}

// partsOf divides the window since a moment: a long one is read by hours, with
// minutes before the first whole hour and after the last, which ends at done.
// Where the minutes are no longer kept it begins with its whole first hour.
// what is "stats" or "sketch".
func partsOf(what string, done, since time.Time) []part {
	since = since.Truncate(time.Minute)
	minutes := func(from, to time.Time) part { return part{what + "_minute", "minute_at", from, to} }
	if done.Sub(since) < byHours {
		return []part{minutes(since, time.Time{})}
	}
	var out []part
	first := since.Truncate(time.Hour)
	if since.After(first) && !since.Before(done.Add(-minuteLife)) {
		first = first.Add(time.Hour)
		out = append(out, minutes(since, first))
	}
	return append(out, part{what + "_hour", "hour_at", first, done}, minutes(done, time.Time{}))
}

// where limits a query over the part's table.
func (p part) where(m moves, scope access.Scope, taskID int64) *where {
	w := &where{}
	w.and(p.at+">=?", at(p.from))
	if !p.to.IsZero() {
		w.and(p.at+"<?", at(p.to))
	}
	m.scope(w, "", scope)
	if taskID != 0 {
		w.and("task_id=?", taskID)
	}
	return w
}

// ended counts by state what ended since a moment; taskID 0: of all tasks.
// There may be several rows of a state.
func (d *DB) ended(ctx context.Context, m moves, scope access.Scope, taskID int64, since time.Time) ([]statRow, error) {
	done, err := momentOf(d.view(ctx), "", hoursName)
	if err != nil {
		return nil, err
	}
	var all []statRow
	for _, p := range partsOf("stats", done, since) {
		w := p.where(m, scope, taskID)
		var rows []statRow
		err := d.view(ctx).Raw("SELECT state, SUM(n) AS n FROM "+p.table+w.sql()+" GROUP BY state", w.args...).Scan(&rows).Error
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", p.table, err)
		}
		all = append(all, rows...)
	}
	return all, nil
}

// PruneStats removes minutes that are more than eight days older than the last
// hour rolled up, and hours of more than 400 days ago. A minute whose hour
// doesn't stand yet is kept however old it is. Totals of teams go after a day,
// samples of queues after seven.
func (d *DB) PruneStats(ctx context.Context, now time.Time) error {
	for what, setting := range map[string]string{"stats": hoursName, "sketch": sketchHoursName} {
		done, err := momentOf(d.view(ctx), "", setting)
		if err != nil {
			return err
		}
		if !done.IsZero() {
			if err := d.pruneFigures(ctx, what+"_minute", "minute_at", done.Add(-minuteLife)); err != nil {
				return err
			}
		}
		if err := d.pruneFigures(ctx, what+"_hour", "hour_at", now.Add(-hourLife)); err != nil {
			return err
		}
	}
	if err := d.pruneFigures(ctx, "sketch_team", "minute_at", now.Add(-totalsLife)); err != nil {
		return err
	}
	return d.pruneFigures(ctx, "queue_samples", "at", now.Add(-sampleLife))
}

// pruneFigures removes what a table of figures tells of before a moment, in
// batches of whole minutes or hours.
func (d *DB) pruneFigures(ctx context.Context, table, column string, before time.Time) error {
	for {
		var n int64
		err := d.tx(ctx, "prune "+table, func(tx *gorm.DB) error {
			var last Millis
			err := tx.Raw("SELECT MAX("+column+") FROM (SELECT "+column+" FROM "+table+" WHERE "+column+"<? ORDER BY "+column+" LIMIT ?) AS old",
				at(before), statsBatch).Row().Scan(&last)
			if n = 0; err != nil || last.IsZero() {
				return err
			}
			res := tx.Exec("DELETE FROM "+table+" WHERE "+column+"<=?", last)
			n = res.RowsAffected
			return res.Error
		})
		if err != nil || n == 0 {
			return err
		}
		if err := fail.At("prune.stats"); err != nil {
			return err
		}
	}
}
