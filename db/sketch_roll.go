package db

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"ax/app/fail"
	"ax/app/sched"
)

const (
	// sketchName and sketchHoursName are the settings that name the first minute
	// and hour of which no sketch is made.
	sketchName      = "stats.sketched"
	sketchHoursName = "stats.sketched_hours"
	// mergeTasks is of how many tasks an hour's minutes are read at once.
	mergeTasks = 100
)

// sketchKey is what a sketch of a minute or hour is of.
type sketchKey struct {
	task int64
	kind sched.Measure
}

// sketches of one minute or hour, with the team of each.
type sketches map[sketchKey]*teamSketch

type teamSketch struct {
	team int64
	sketch
}

// of makes the sketch at its first use. Where rows are of two teams, the task
// is just being moved.
func (s sketches) of(task int64, kind sched.Measure, team int64) (*teamSketch, error) {
	if got := s[sketchKey{task, kind}]; got != nil {
		got.team = min(got.team, team)
		return got, nil
	}
	made, err := newSketch()
	if err != nil {
		return nil, err
	}
	got := &teamSketch{team, made}
	s[sketchKey{task, kind}] = got
	return got, nil
}

// store writes them in the order of their key.
func (s sketches) store(tx *gorm.DB, table, column string, moment time.Time) error {
	keys := slices.SortedFunc(maps.Keys(s), func(a, b sketchKey) int {
		return cmp.Or(cmp.Compare(a.task, b.task), cmp.Compare(a.kind, b.kind))
	})
	const marks = "(?,?,?,?,?,?)"
	for some := range slices.Chunk(keys, 200) {
		args := make([]any, 0, 6*len(some))
		for _, key := range some {
			one := s[key]
			args = append(args, key.task, at(moment), string(key.kind), one.team, one.count(), one.encoded())
		}
		err := tx.Exec("INSERT INTO "+table+" (task_id, "+column+", kind, team_id, n, sketch) VALUES "+marks+strings.Repeat(","+marks, len(some)-1), args...).Error
		if err != nil {
			return err
		}
	}
	return nil
}

// sketchMinute makes the sketches of the next minute in which attempts ended
// and that the roll-up looks back at no more. The whole minute is replaced.
// more tells that others are to be made.
func (d *DB) sketchMinute(ctx context.Context) (more bool, err error) {
	rolled, err := momentOf(d.view(ctx), "", rollName)
	if err != nil {
		return false, err
	}
	edge := rolled.Add(-rollBack)
	next, err := momentOf(d.view(ctx), "", sketchName)
	if err != nil || !next.IsZero() && !next.Before(edge) {
		return false, err
	}
	err = d.tx(ctx, "sketch a minute", func(tx *gorm.DB) error {
		more = false
		next, err := d.takeMoment(tx, sketchName, edge.Add(-time.Hour))
		if err != nil || !next.Before(edge) {
			return err
		}
		var first Millis
		err = tx.Raw("SELECT MIN(ended_at) FROM attempts WHERE ended_at>=? AND ended_at<?", at(next), at(edge)).Row().Scan(&first)
		if err != nil {
			return err
		}
		reached := edge
		if !first.IsZero() {
			minute := first.Truncate(time.Minute)
			if err := replaceSketches(tx, minute); err != nil {
				return err
			}
			reached = minute.Add(time.Minute)
		}
		more = reached.Before(edge)
		if err := d.reachTotals(tx, next, reached); err != nil {
			return err
		}
		return setMoment(tx, sketchName, reached)
	})
	return more, err
}

func replaceSketches(tx *gorm.DB, minute time.Time) error {
	made, err := measured(tx, minute)
	if err != nil {
		return err
	}
	if err := tx.Exec("DELETE FROM sketch_minute WHERE minute_at=?", at(minute)).Error; err != nil {
		return err
	}
	if err := fail.At("sketch.minute"); err != nil {
		return err
	}
	if err := made.store(tx, "sketch_minute", "minute_at", minute); err != nil {
		return err
	}
	totals, err := made.totals()
	if err != nil {
		return err
	}
	return replaceTotals(tx, minute, totals)
}

// measured reads the attempts that ended in a minute.
func measured(tx *gorm.DB, minute time.Time) (sketches, error) {
	rows, err := tx.Raw("SELECT a.task_id, a.team_id, a.outcome, a.ended_at-a.started_at, a.started_at-i.wanted_at"+
		" FROM attempts a LEFT JOIN instances i ON a.no=1 AND i.id=a.instance_id WHERE a.ended_at>=? AND a.ended_at<?",
		at(minute), at(minute.Add(time.Minute))).Rows()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := sketches{}
	for rows.Next() {
		var task, team, took int64
		var lag *int64 // nil: no first attempt, or its instance has been pruned
		var outcome sched.Outcome
		if err := rows.Scan(&task, &team, &outcome, &took, &lag); err != nil {
			return nil, err
		}
		values := map[sched.Measure]int64{}
		switch outcome {
		case sched.OutcomeSucceeded:
			values[sched.TookWell] = took
		case sched.OutcomeFailed, sched.OutcomeTimedOut:
			values[sched.TookBadly] = took
		}
		if lag != nil {
			values[sched.Lag] = *lag
		}
		for kind, ms := range values {
			one, err := out.of(task, kind, team)
			if err != nil {
				return nil, err
			}
			if err := one.add(ms); err != nil {
				return nil, err
			}
		}
	}
	return out, rows.Err()
}

// sketchHour merges the minutes of the next hour that has any, once all of
// them stand. The whole hour is replaced.
func (d *DB) sketchHour(ctx context.Context) (more bool, err error) {
	minutes, err := momentOf(d.view(ctx), "", sketchName)
	if err != nil {
		return false, err
	}
	edge := minutes.Truncate(time.Hour)
	next, err := momentOf(d.view(ctx), "", sketchHoursName)
	if err != nil || !next.IsZero() && !next.Before(edge) {
		return false, err
	}
	err = d.tx(ctx, "sketch an hour", func(tx *gorm.DB) error {
		more = false
		next, err := d.takeMoment(tx, sketchHoursName, edge.Add(-2*time.Hour))
		if err != nil || !next.Before(edge) {
			return err
		}
		var first Millis
		err = tx.Raw("SELECT MIN(minute_at) FROM sketch_minute WHERE minute_at>=? AND minute_at<?", at(next), at(edge)).Row().Scan(&first)
		if err != nil {
			return err
		}
		if first.IsZero() {
			return setMoment(tx, sketchHoursName, edge)
		}
		hour := first.Truncate(time.Hour)
		if err := mergeHour(tx, hour); err != nil {
			return err
		}
		more = hour.Add(time.Hour).Before(edge)
		return setMoment(tx, sketchHoursName, hour.Add(time.Hour))
	})
	return more, err
}

func mergeHour(tx *gorm.DB, hour time.Time) error {
	if err := tx.Exec("DELETE FROM sketch_hour WHERE hour_at=?", at(hour)).Error; err != nil {
		return err
	}
	if err := fail.At("sketch.hour"); err != nil {
		return err
	}
	next := hour.Add(time.Hour)
	var tasks []int64
	err := tx.Raw("SELECT DISTINCT task_id FROM sketch_minute WHERE minute_at>=? AND minute_at<? ORDER BY task_id", at(hour), at(next)).Scan(&tasks).Error
	if err != nil {
		return err
	}
	for some := range slices.Chunk(tasks, mergeTasks) {
		var rows []struct {
			TaskID, TeamID int64
			Kind           sched.Measure
			Sketch         []byte
		}
		err := tx.Raw("SELECT task_id, team_id, kind, sketch FROM sketch_minute WHERE task_id IN ? AND minute_at>=? AND minute_at<?",
			some, at(hour), at(next)).Scan(&rows).Error
		if err != nil {
			return err
		}
		merged := sketches{}
		for _, r := range rows {
			one, err := merged.of(r.TaskID, r.Kind, r.TeamID)
			if err != nil {
				return err
			}
			if err := one.merge(r.Sketch); err != nil {
				return err
			}
		}
		if err := merged.store(tx, "sketch_hour", "hour_at", hour); err != nil {
			return err
		}
	}
	return nil
}
