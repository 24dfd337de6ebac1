package db

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"ax/app/fail"
)

const (
	// hoursName is the setting that names the first hour which is not rolled up.
	hoursName = "stats.hours"
	// hourLate is how long after its end an hour is rolled up: until then what
	// ended in it may still be committed.
	hourLate = 10 * time.Minute
	// recounted is how old an hour's minutes may be to be counted anew. What is
	// older is history, which may have been pruned.
	recounted = 24 * time.Hour
)

// rollHour sums the minutes of the next hour that is over, if there is one,
// after it counted them a last time: an end that was committed later than the
// minutes' own roll-up looks back is in the hour all the same. The whole hour
// is replaced. more tells that the hour after it is over as well.
func (d *DB) rollHour(ctx context.Context) (more bool, err error) {
	hour, err := momentOf(d.view(ctx), "", hoursName)
	if err != nil {
		return false, err
	}
	rolled, err := momentOf(d.view(ctx), "", rollName)
	if err != nil || !hour.IsZero() && !hourOver(hour, rolled) {
		return false, err
	}
	err = d.tx(ctx, "roll up an hour", func(tx *gorm.DB) error {
		more = false
		// In this order, and held by RollUp too: nobody else counts minutes now.
		rolled, err := momentOf(tx, d.dialect.forUpdate, rollName)
		if err != nil {
			return err
		}
		hour, err := d.nextHour(tx, rolled)
		if err != nil || !hourOver(hour, rolled) {
			return err
		}
		next := hour.Add(time.Hour)
		if rolled.Sub(hour) < recounted {
			if err := replaceMinutes(tx, hour, next); err != nil {
				return err
			}
		}
		if err := replaceHour(tx, hour, next); err != nil {
			return err
		}
		more = hourOver(next, rolled)
		return setMoment(tx, hoursName, next)
	})
	return more, err
}

// hourOver tells that nothing will be counted into an hour any more, by the
// end of the minutes' roll-up.
func hourOver(hour, rolled time.Time) bool { return !rolled.Before(hour.Add(time.Hour + hourLate)) }

func replaceHour(tx *gorm.DB, hour, next time.Time) error {
	if err := tx.Exec("DELETE FROM stats_hour WHERE hour_at=?", at(hour)).Error; err != nil {
		return err
	}
	if err := fail.At("rollup.hour"); err != nil {
		return err
	}
	return tx.Exec("INSERT INTO stats_hour (task_id, hour_at, state, team_id, n)"+
		" SELECT task_id, ?, state, MIN(team_id), SUM(n) FROM stats_minute WHERE minute_at>=? AND minute_at<? GROUP BY task_id, state",
		at(hour), at(hour), at(next)).Error
}

// nextHour locks and reads the first hour that is not rolled up; the first one
// of all is that of the oldest minute.
func (d *DB) nextHour(tx *gorm.DB, rolled time.Time) (time.Time, error) {
	var oldest Millis
	if err := tx.Raw("SELECT MIN(minute_at) FROM stats_minute").Row().Scan(&oldest); err != nil {
		return rolled, err
	}
	begin := rolled.Add(-time.Hour)
	if !oldest.IsZero() && oldest.Before(begin) {
		begin = oldest.Time
	}
	return d.takeMoment(tx, hoursName, begin.Truncate(time.Hour))
}

// takeMoment locks and reads a setting that holds a moment; it begins with the
// one that is given.
func (d *DB) takeMoment(tx *gorm.DB, name string, begin time.Time) (time.Time, error) {
	err := tx.Exec("INSERT INTO settings (name, value) VALUES (?,?) "+d.dialect.upsert("name", "name=settings.name"),
		name, begin.UTC().Format(time.RFC3339)).Error
	if err != nil {
		return begin, err
	}
	return momentOf(tx, d.dialect.forUpdate, name)
}

func setMoment(tx *gorm.DB, name string, t time.Time) error {
	return tx.Exec("UPDATE settings SET value=? WHERE name=?", t.UTC().Format(time.RFC3339), name).Error
}

// momentOf reads a setting that holds a moment; the zero time where there is
// none.
func momentOf(tx *gorm.DB, lock, name string) (time.Time, error) {
	raw, ok, err := takeSetting(tx, lock, name)
	if err != nil || !ok {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339, raw)
	if err != nil {
		return t, fmt.Errorf("read the moment of %s: %w", name, err)
	}
	return t, nil
}
