package db

import (
	"context"
	"time"

	"gorm.io/gorm"

	"ax/app/sched"
)

const (
	// normTime is what a task's usual times are told from.
	normTime = 7 * 24 * time.Hour
	// normTasks bounds the tasks whose usual times one turn counts.
	normTasks = 100
)

// countNorms counts what successes of seven days took, of tasks for which that
// is due: those that succeeded since.
func (d *DB) countNorms(ctx context.Context, now time.Time) error {
	var tasks []int64
	err := d.view(ctx).Raw("SELECT task_id FROM task_pulse WHERE norm_due<=? ORDER BY norm_due LIMIT ?", at(now), normTasks).Scan(&tasks).Error
	if err != nil || len(tasks) == 0 {
		return away(err)
	}
	norms, err := d.Spreads(ctx, tasks, now.Add(-normTime), sched.TookWell)
	if err != nil {
		return err
	}
	return d.tx(ctx, "store the usual times of tasks", func(tx *gorm.DB) error {
		for _, id := range tasks {
			n := norms[id]
			err := tx.Exec("UPDATE task_pulse SET norm_n=?, norm_p50_ms=?, norm_p95_ms=?, norm_at=?, norm_due=NULL WHERE task_id=?",
				n.Of, n.P50.Milliseconds(), n.P95.Milliseconds(), at(now), id).Error
			if err != nil {
				return err
			}
		}
		return nil
	})
}
