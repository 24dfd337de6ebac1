package db

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/sched"
)

// noteExecutor keeps the list of tasks that name an executor in step with a
// task's definition.
func noteExecutor(tx *gorm.DB, old, next sched.Task) error {
	type naming struct{ name, kind string }
	from := naming{old.Spec.Target.Executor, old.Spec.Target.Type}
	to := naming{next.Spec.Target.Executor, next.Spec.Target.Type}
	if !next.ArchivedAt.IsZero() {
		to = naming{}
	}
	if from == to {
		return nil
	}
	if err := tx.Exec("DELETE FROM executor_tasks WHERE task_id=?", next.ID).Error; err != nil || to.name == "" {
		return err
	}
	return tx.Exec("INSERT INTO executor_tasks (task_id, name, task_type) VALUES (?,?,?)", next.ID, to.name, to.kind).Error
}

// ExecutorTasks gives the tasks of the scope that name an executor, by code.
func (d *DB) ExecutorTasks(ctx context.Context, s access.Scope) ([]sched.ExecutorTask, error) {
	w := &where{}
	w.and("t.archived_at IS NULL")
	w.scope("t.team_id", s)
	var rows []struct {
		ID, TeamID                      int64
		Code, Label, Executor, TaskType string
		Enabled                         bool
	}
	err := d.view(ctx).Raw("SELECT t.id AS id, t.team_id AS team_id, t.code AS code, t.name AS label, t.enabled AS enabled, e.name AS executor, e.task_type AS task_type"+
		" FROM executor_tasks e JOIN tasks t ON t.id=e.task_id"+w.sql()+" ORDER BY t.code", w.args...).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("list tasks with executors: %w", away(err))
	}
	out := make([]sched.ExecutorTask, len(rows))
	for i, r := range rows {
		out[i] = sched.ExecutorTask{ID: r.ID, TeamID: r.TeamID, Code: r.Code, Name: r.Label, Enabled: r.Enabled, Executor: r.Executor, Type: r.TaskType}
	}
	return out, nil
}
