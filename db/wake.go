package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"ax/app/fail"
	"ax/app/sched"
)

// Wake makes the oldest deferred instance of a limited task due, under the
// gate's lock and in a transaction of its own (protocol.md, WAKE). Mostly
// nothing is deferred, which is found out without a transaction: locking the
// gate alone waits for every claim that may be deferring, and later ones see
// the place that became free. Looks of several callers are one. In a pause the
// instance is due at its end: a pause that ends by its time resumes nothing.
func (d *DB) Wake(ctx context.Context, taskID int64, now time.Time) (sched.Message, bool, error) {
	deferred, err := d.looks.do(ctx, look{taskID, now})
	if err != nil {
		return sched.Message{}, false, fmt.Errorf("wake task %d: %w", taskID, err)
	}
	if !deferred {
		return sched.Message{}, false, nil
	}
	m, woken, err := d.wake(ctx, taskID, now)
	if err == nil && woken {
		err = fail.At("wake.committed")
	}
	return m, woken && err == nil, err
}

// look asks whether anything of a task is deferred beyond now.
type look struct {
	taskID int64
	now    time.Time
}

func (d *DB) lookTogether(ctx context.Context, looks []look) ([]answer[bool], error) {
	ids, now := make([]int64, len(looks)), looks[0].now
	for i, l := range looks {
		ids[i] = l.taskID
		if l.now.Before(now) {
			now = l.now
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if err := d.passGates(ctx, ids); err != nil {
		return nil, away(err)
	}
	var found []int64
	err := d.view(ctx).Raw("SELECT DISTINCT task_id FROM "+d.dialect.byIndex("instances", "instances_task_state")+" WHERE task_id IN ? AND state IN ? AND defers>0 AND due_at>?",
		ids, claimableStates, at(now)).Scan(&found).Error
	out := make([]answer[bool], len(looks))
	for i, l := range looks {
		out[i].value = slices.Contains(found, l.taskID)
	}
	return out, err
}

// passGates waits until nobody holds the gates any more that were held when it
// was called. SQLite has one writer at a time, so nobody holds anything between
// two transactions.
func (d *DB) passGates(ctx context.Context, ids []int64) error {
	if d.dialect.forUpdate == "" {
		return nil
	}
	var found []int64
	return d.write.WithContext(ctx).Raw("SELECT task_id FROM "+d.dialect.forcePrimary("task_gates")+" WHERE task_id IN ? ORDER BY task_id"+d.dialect.forUpdate, ids).
		Scan(&found).Error
}

func (d *DB) wake(ctx context.Context, taskID int64, now time.Time) (sched.Message, bool, error) {
	var m sched.Message
	var found bool
	err := d.tx(ctx, "wake task "+itoa(taskID), func(tx *gorm.DB) error {
		found = false
		if err := d.lockGate(tx, taskID, d.dialect.forUpdate); err != nil {
			return err
		}
		t, err := takeTask(tx, "", "id=?", taskID)
		if err != nil || t.Spec.Policy.MaxConcurrent == 0 && t.LimitedHost() == "" {
			return err
		}
		due := t.StartsAgain(now)
		id, err := d.oldestDeferred(tx, taskID, due)
		if id == "" || err != nil {
			return err
		}
		err = tx.Exec("UPDATE "+d.dialect.forcePrimary("instances")+" SET due_at=?, look_at=?, dispatch=dispatch+1 WHERE id=? AND state IN ? AND defers>0 AND due_at>?",
			at(due), at(due.Add(sched.LookAgain)), id, claimableStates, at(due)).Error
		if err != nil {
			return err
		}
		in, err := takeInstance(tx, "", id)
		found, m = err == nil, t.Message(in)
		return err
	})
	return m, found && err == nil, err
}

// oldestDeferred finds what of a task is deferred beyond due.
func (d *DB) oldestDeferred(tx *gorm.DB, taskID int64, due time.Time) (string, error) {
	var r instanceRow
	err := tx.Raw("SELECT id FROM "+d.dialect.byIndex("instances", "instances_task_state")+" WHERE task_id=? AND state IN ? AND defers>0 AND due_at>? ORDER BY wanted_at, id LIMIT 1",
		taskID, claimableStates, at(due)).Take(&r).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return "", nil
	}
	return r.ID, err
}
