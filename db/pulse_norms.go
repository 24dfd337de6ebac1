package db

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"ax/app/access"
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
	norms, err := d.norms(ctx, tasks, now)
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

// norms merges the sketches of tasks.
func (d *DB) norms(ctx context.Context, tasks []int64, now time.Time) (map[int64]sched.Spread, error) {
	done, err := momentOf(d.view(ctx), "", sketchHoursName)
	if err != nil {
		return nil, err
	}
	merged := sketches{}
	for _, p := range partsOf("sketch", done, now.Add(-normTime)) {
		w := p.where(nil, access.Scope{All: true}, 0)
		w.and("task_id IN ?", tasks)
		w.and("kind=?", string(sched.TookWell))
		if err := d.mergeByTask(ctx, merged, "SELECT task_id, sketch FROM "+p.table+w.sql(), w.args...); err != nil {
			return nil, fmt.Errorf("read %s: %w", p.table, away(err))
		}
	}
	out := make(map[int64]sched.Spread, len(merged))
	for key, one := range merged {
		if out[key.task], err = one.spread(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// mergeByTask merges the sketches that a query of (task_id, sketch) gives, task
// by task.
func (d *DB) mergeByTask(ctx context.Context, into sketches, query string, args ...any) error {
	rows, err := d.view(ctx).Raw(query, args...).Rows()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var task int64
		var one []byte
		if err := rows.Scan(&task, &one); err != nil {
			return err
		}
		sum, err := into.of(task, "", 0)
		if err != nil {
			return err
		}
		if err := sum.merge(one); err != nil {
			return err
		}
	}
	return rows.Err()
}
