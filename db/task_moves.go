package db

import (
	"context"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/fail"
	"ax/app/sched"
)

// moveRow is a row of task_moves.
type moveRow struct {
	TaskID   int64
	TeamID   int64 // the team that the task has now
	MovedAt  Millis
	Step     int
	AfterKey string
}

// moveTask gives the task to another team. The rows that belong to it keep the
// number of the old one until FollowMoves gets to them; the note sees to it
// that they are read as the new team's from now on. Both teams have the audit
// row.
func (d *DB) moveTask(tx *gorm.DB, old, next sched.Task, c sched.TaskChange, e access.Entry) error {
	if next.TeamID == old.TeamID {
		return nil
	}
	err := tx.Exec("UPDATE "+d.dialect.forcePrimary("tasks")+" SET team_id=? WHERE id=?", next.TeamID, old.ID).Error
	if err != nil {
		return err
	}
	if err := fail.At("move.task"); err != nil {
		return err
	}
	err = tx.Exec("INSERT INTO task_moves (task_id, team_id, moved_at, step, after_key) VALUES (?,?,?,0,'') "+
		d.dialect.upsert("task_id", "team_id", "moved_at", "step", "after_key"), old.ID, next.TeamID, at(c.Now)).Error
	if err != nil {
		return err
	}
	e.TeamID = old.TeamID
	return recordAudit(tx, e)
}

// moves are the tasks whose rows may still have the number of an old team.
type moves []moveRow

// moving reads the notes of tasks that were moved; nearly always there are
// none. Whoever reads everything needs none.
func (d *DB) moving(ctx context.Context, s access.Scope) (moves, error) {
	if s.All || len(s.Teams) == 0 {
		return nil, nil
	}
	var m moves
	if err := d.view(ctx).Raw("SELECT task_id, team_id FROM task_moves").Scan(&m).Error; err != nil {
		return nil, fmt.Errorf("read which tasks were moved: %w", away(err))
	}
	return m, nil
}

// scope limits a query over rows of tasks to the teams of the scope: by the
// number in the row, or by the task's present team where that may be another.
// table is what the columns begin with: "", or "l.".
func (m moves) scope(w *where, table string, s access.Scope) {
	var moved, ours []int64
	for _, r := range m {
		moved = append(moved, r.TaskID)
		if slices.Contains(s.Teams, r.TeamID) {
			ours = append(ours, r.TaskID)
		}
	}
	switch {
	case len(moved) == 0 || s.All || len(s.Teams) == 0:
		w.scope(table+"team_id", s)
	case len(ours) == 0:
		w.and(table+"team_id IN ? AND "+table+"task_id NOT IN ?", s.Teams, moved)
	default:
		w.and("("+table+"team_id IN ? AND "+table+"task_id NOT IN ? OR "+table+"task_id IN ?)", s.Teams, moved, ours)
	}
}

// teamOf is the team of a task now: that of a row that belongs to it may be an
// old one for a while.
func teamOf(tx *gorm.DB, taskID int64) (team int64, err error) {
	err = tx.Raw("SELECT team_id FROM tasks WHERE id=?", taskID).Row().Scan(&team)
	return team, err
}
