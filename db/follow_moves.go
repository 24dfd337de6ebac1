package db

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"ax/app/fail"
)

const (
	// followBatch is how many rows one transaction of FollowMoves takes. Few:
	// claims and settlements of them wait meanwhile.
	followBatch = 200
	// strayLife is how long after a move a row may still be written by somebody
	// who read the task before it. Requests end sooner, and so does the
	// connection of one that fell silent.
	strayLife = 2 * time.Minute
)

// followStep brings a batch of one table's rows after the task. It gives the
// key of the last row looked at, "" at the end.
type followStep func(d *DB, tx *gorm.DB, m moveRow) (last string, err error)

// followSteps go in the order in which teams are copied: a letter's is its
// instance's, the figures' is that of the instances counted. They go twice, the
// second time for strays.
func followSteps() []followStep {
	return []followStep{(*DB).followInstances, (*DB).followLetters, (*DB).followFigures, (*DB).followMissed}
}

// FollowMoves gives the rows that belong to moved tasks the number of the
// task's present team, a batch of each task. more tells that others wait. How
// far it came is kept: a process that dies loses nothing, and two that do it at
// once wait for each other.
func (d *DB) FollowMoves(ctx context.Context, now time.Time) (more bool, err error) {
	var ids []int64
	err = d.view(ctx).Raw("SELECT task_id FROM task_moves WHERE step<>? OR after_key<>'' OR moved_at<=? ORDER BY task_id LIMIT 100",
		len(followSteps()), at(now.Add(-strayLife))).Scan(&ids).Error
	if err != nil {
		return false, fmt.Errorf("list tasks that were moved: %w", away(err))
	}
	for _, id := range ids {
		again, failed := d.followMove(ctx, id, now)
		more, err = more || again, cmp.Or(err, failed)
	}
	return more, err
}

// followMove is one transaction. The lock of the note keeps another move of the
// task from beginning meanwhile.
func (d *DB) followMove(ctx context.Context, id int64, now time.Time) (more bool, err error) {
	steps := followSteps()
	err = d.tx(ctx, "bring rows of task "+itoa(id)+" to its team", func(tx *gorm.DB) error {
		more = false
		var notes []moveRow
		if err := tx.Raw("SELECT * FROM task_moves WHERE task_id=?"+d.dialect.forUpdate, id).Scan(&notes).Error; err != nil || len(notes) == 0 {
			return err
		}
		m := notes[0]
		if m.Step == len(steps) && m.AfterKey == "" {
			if now.Before(m.MovedAt.Add(strayLife)) {
				return nil
			}
			m.AfterKey = firstID(m.MovedAt.Add(-strayLife))
		}
		last, err := steps[m.Step%len(steps)](d, tx, m)
		if err != nil {
			return err
		}
		if m.AfterKey = last; last == "" {
			m.Step++
		}
		if err := fail.At("move.followed"); err != nil {
			return err
		}
		if m.Step == 2*len(steps) {
			if err := d.forgetTotals(tx); err != nil {
				return err
			}
			return tx.Exec("DELETE FROM task_moves WHERE task_id=?", id).Error
		}
		more = m.Step != len(steps) || last != "" || !now.Before(m.MovedAt.Add(strayLife))
		return tx.Exec("UPDATE task_moves SET step=?, after_key=? WHERE task_id=?", m.Step, m.AfterKey, id).Error
	})
	return more, err
}

// followInstances goes by id, and takes the attempts along.
func (d *DB) followInstances(tx *gorm.DB, m moveRow) (last string, err error) {
	var rows []instanceRow
	err = tx.Raw("SELECT id, team_id FROM instances WHERE task_id=? AND id>? ORDER BY id LIMIT ?", m.TaskID, m.AfterKey, followBatch).Scan(&rows).Error
	if err != nil {
		return "", err
	}
	var stale []string
	for _, r := range rows {
		if r.TeamID != m.TeamID {
			stale = append(stale, r.ID)
		}
	}
	if len(stale) > 0 {
		if err := tx.Exec("UPDATE "+d.dialect.forcePrimary("instances")+" SET team_id=? WHERE id IN ?", m.TeamID, stale).Error; err != nil {
			return "", err
		}
		if err := tx.Exec("UPDATE "+d.dialect.forcePrimary("attempts")+" SET team_id=? WHERE instance_id IN ?", m.TeamID, stale).Error; err != nil {
			return "", err
		}
	}
	if len(rows) < followBatch {
		return "", nil
	}
	return rows[len(rows)-1].ID, nil
}

// followLetters goes by biz_id: that is the key which a task's letters have.
func (d *DB) followLetters(tx *gorm.DB, m moveRow) (last string, err error) {
	var rows []letterRow
	err = tx.Raw("SELECT id, biz_id, team_id FROM dead_letters WHERE task_id=? AND biz_id>? ORDER BY biz_id LIMIT ?", m.TaskID, m.AfterKey, followBatch).Scan(&rows).Error
	if err != nil {
		return "", err
	}
	var stale []int64
	for _, r := range rows {
		if r.TeamID != m.TeamID {
			stale = append(stale, r.ID)
		}
	}
	if len(stale) > 0 {
		if err := tx.Exec("UPDATE "+d.dialect.forcePrimary("dead_letters")+" SET team_id=? WHERE id IN ?", m.TeamID, stale).Error; err != nil {
			return "", err
		}
	}
	if len(rows) < followBatch {
		return "", nil
	}
	return rows[len(rows)-1].BizID, nil
}

// followFigures goes by minute and hour together: an hour is a moment as a
// minute is.
func (d *DB) followFigures(tx *gorm.DB, m moveRow) (last string, err error) {
	from := int64(-1)
	if m.AfterKey != "" {
		if from, err = strconv.ParseInt(m.AfterKey, 10, 64); err != nil {
			return "", fmt.Errorf("read how far the figures of task %d are: %w", m.TaskID, err)
		}
	}
	var moments []int64
	tables := [...][2]string{{"stats_minute", "minute_at"}, {"stats_hour", "hour_at"}, {"sketch_minute", "minute_at"}, {"sketch_hour", "hour_at"}}
	var each []string
	var args []any
	for _, t := range tables {
		table, column := t[0], t[1]
		each = append(each, "SELECT moment FROM (SELECT DISTINCT "+column+" AS moment FROM "+table+" WHERE task_id=? AND "+column+">? ORDER BY "+column+" LIMIT ?) AS "+table)
		args = append(args, m.TaskID, from, followBatch)
	}
	err = tx.Raw(strings.Join(each, " UNION ")+" ORDER BY moment LIMIT ?", append(args, followBatch)...).Scan(&moments).Error
	if err != nil || len(moments) == 0 {
		return "", err
	}
	to := moments[len(moments)-1]
	for _, t := range tables {
		table, column := t[0], t[1]
		err = tx.Exec("UPDATE "+d.dialect.forcePrimary(table)+" SET team_id=? WHERE task_id=? AND "+column+">? AND "+column+"<=? AND team_id<>?",
			m.TeamID, m.TaskID, from, to, m.TeamID).Error
		if err != nil {
			return "", err
		}
	}
	if len(moments) < followBatch {
		return "", nil
	}
	return itoa(to), nil
}

// followMissed takes what is still to be done: of these there are few.
func (d *DB) followMissed(tx *gorm.DB, m moveRow) (last string, err error) {
	var ids []int64
	err = tx.Raw("SELECT id FROM missed_ranges WHERE task_id=? AND team_id<>? ORDER BY id LIMIT ?", m.TaskID, m.TeamID, followBatch).Scan(&ids).Error
	if err != nil || len(ids) == 0 {
		return "", err
	}
	if err := tx.Exec("UPDATE "+d.dialect.forcePrimary("missed_ranges")+" SET team_id=? WHERE id IN ?", m.TeamID, ids).Error; err != nil {
		return "", err
	}
	return itoa(ids[len(ids)-1]), nil
}
