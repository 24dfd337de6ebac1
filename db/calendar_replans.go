package db

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"ax/app/fail"
	"ax/app/sched"
)

// noteReplans notes every task of a calendar as to be planned anew. The lock of
// the calendar's row is held: a task that takes the calendar at this moment
// waits for it (holdCalendar), and is noted by itself or reads what is new.
func (d *DB) noteReplans(tx *gorm.DB, code string) error {
	return tx.Exec("INSERT INTO calendar_replans (task_id, code) SELECT task_id, code FROM calendar_tasks WHERE code=? "+
		d.dialect.upsert("task_id", "code"), code).Error
}

// Replans gives tasks that are to be planned anew, by id, those above after, and
// those of one calendar when it is named.
func (d *DB) Replans(ctx context.Context, calendar string, after int64, limit int) ([]int64, error) {
	w := &where{}
	w.and("task_id>?", after)
	if calendar != "" {
		w.and("code=?", calendar)
	}
	var ids []int64
	err := d.view(ctx).Raw("SELECT task_id FROM calendar_replans"+w.sql()+" ORDER BY task_id LIMIT ?", append(w.args, limit)...).Scan(&ids).Error
	if err != nil {
		return nil, fmt.Errorf("list tasks to plan anew: %w", away(err))
	}
	return ids, nil
}

// ReplanTask plans what the task owed until now and then asks again for its
// next slot, as an edit does: under the locks of its row and its gate. The
// definition and its version stay. Two that do it at once do it twice.
func (d *DB) ReplanTask(ctx context.Context, id int64, now time.Time, again func(sched.Task) sched.Task) ([]sched.Message, error) {
	var due []sched.Message
	err := d.tx(ctx, fmt.Sprintf("plan task %d anew", id), func(tx *gorm.DB) error {
		due = nil
		old, err := takeTask(tx, d.dialect.forUpdate, "id=?", id)
		if err != nil {
			return err
		}
		if err := d.lockGate(tx, id, d.dialect.forUpdate); err != nil {
			return err
		}
		// The note goes before the calendar is read: a change that is made from
		// here on notes the task again.
		if err := tx.Exec("DELETE FROM calendar_replans WHERE task_id=?", id).Error; err != nil {
			return err
		}
		if err := fail.At("replan.unnoted"); err != nil {
			return err
		}
		if err := calendarsIn(tx).give(&old); err != nil {
			return err
		}
		if old.Enabled && old.ArchivedAt.IsZero() {
			if due, err = d.planOwed(tx, old, sched.TaskChange{Now: now}); err != nil {
				return err
			}
		}
		next := again(old)
		return tx.Exec("UPDATE "+d.dialect.forcePrimary("tasks")+" SET next_fire_at=?, plan_error=? WHERE id=?",
			at(next.NextFireAt), clip(next.PlanError, 500), id).Error
	})
	return due, err
}
