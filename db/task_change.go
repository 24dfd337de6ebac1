package db

import (
	"context"
	"strconv"
	"time"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/fail"
	"ax/app/fault"
	"ax/app/sched"
)

// CreateTask stores a new task with its gate, its first version and the audit
// row. Invalid at "code" when the code is taken.
func (d *DB) CreateTask(ctx context.Context, t sched.Task, note string, e access.Entry) (sched.Task, error) {
	err := d.tx(ctx, "create task "+t.Code, func(tx *gorm.DB) error {
		t.ID = 0 // of a try that was rolled back
		r, err := taskRowOf(t)
		if err != nil {
			return err
		}
		if err := tx.Create(&r).Error; err != nil {
			if isDuplicate(err) {
				return fault.Invalid(fault.Field("code", "There is a task with the code %q already", t.Code))
			}
			return err
		}
		t.ID = r.ID
		if err := fail.At("create.row"); err != nil {
			return err
		}
		if err := tx.Exec("INSERT INTO task_gates (task_id) VALUES (?)", t.ID).Error; err != nil {
			return err
		}
		if err := addVersion(tx, t, note); err != nil {
			return err
		}
		if err := noteExecutor(tx, sched.Task{}, t); err != nil {
			return err
		}
		if err := d.noteLane(tx, sched.Task{}, t); err != nil {
			return err
		}
		if err := d.noteHost(tx, sched.Task{}, t); err != nil {
			return err
		}
		if err := noteHooks(tx, sched.Task{}, t); err != nil {
			return err
		}
		if err := d.noteCalendar(tx, sched.Task{}, t); err != nil {
			return err
		}
		e.Object.ID = strconv.FormatInt(t.ID, 10)
		return recordAudit(tx, e)
	})
	return t, err
}

// ChangeTask changes one task under the locks of its row and its gate: first
// what the old schedule owed until now is planned, then the change is written
// with its version and audit row. The messages are of instances that may be
// handed over at once.
func (d *DB) ChangeTask(ctx context.Context, c sched.TaskChange) (sched.Task, []sched.Message, error) {
	var t sched.Task
	var due []sched.Message
	err := d.tx(ctx, "change task "+c.Code, func(tx *gorm.DB) (err error) {
		t, due, err = d.changeTask(tx, c)
		return err
	})
	return t, due, err
}

// changeTask is ChangeTask within a transaction.
func (d *DB) changeTask(tx *gorm.DB, c sched.TaskChange) (sched.Task, []sched.Message, error) {
	old, err := takeTask(tx, d.dialect.forUpdate, "code=?", c.Code)
	if err != nil {
		return sched.Task{}, nil, err
	}
	if err := d.lockGate(tx, old.ID, d.dialect.forUpdate); err != nil {
		return sched.Task{}, nil, err
	}
	next, entry, err := c.Apply(old)
	if err != nil {
		return sched.Task{}, nil, err
	}
	var due []sched.Message
	if c.Owed && old.Enabled {
		if due, err = d.planOwed(tx, old, c); err != nil {
			return sched.Task{}, nil, err
		}
		if err := fail.At("edit.planned"); err != nil {
			return sched.Task{}, nil, err
		}
	}
	next.UpdatedAt, next.UpdatedBy = c.Now, c.By.Name
	if c.Version {
		next.Version = old.Version + 1
		if err := withdraw(tx, old, c.Now); err != nil {
			return sched.Task{}, nil, err
		}
	}
	if err := d.writeTask(tx, old, next, c.Note); err != nil {
		return sched.Task{}, nil, err
	}
	if err := d.resumed(tx, old, next, c); err != nil {
		return sched.Task{}, nil, err
	}
	if err := d.moveTask(tx, old, next, c, entry); err != nil {
		return sched.Task{}, nil, err
	}
	return next, due, recordAudit(tx, entry)
}

// writeTask writes every column that may change, zero values too.
func (d *DB) writeTask(tx *gorm.DB, old, next sched.Task, note string) error {
	r, err := taskRowOf(next)
	if err != nil {
		return err
	}
	res := tx.Model(&taskRow{}).Where("id=? AND version=?", old.ID, old.Version).
		Select("*").Omit("id", "team_id", "code", "created_at", "created_by").Updates(&r)
	if res.Error != nil {
		return res.Error
	}
	if err := noteExecutor(tx, old, next); err != nil {
		return err
	}
	if err := d.noteHost(tx, old, next); err != nil {
		return err
	}
	if err := d.noteLane(tx, old, next); err != nil {
		return err
	}
	if err := noteHooks(tx, old, next); err != nil {
		return err
	}
	if err := d.noteCalendar(tx, old, next); err != nil || next.Version == old.Version {
		return err
	}
	if err := fail.At("edit.written"); err != nil {
		return err
	}
	return addVersion(tx, next, note)
}

// planOwed makes instances of every slot of the old schedule before now: an
// edit that moved next_fire_at would lose them without a trace.
func (d *DB) planOwed(tx *gorm.DB, old sched.Task, c sched.TaskChange) ([]sched.Message, error) {
	var made sched.PlanReport
	for !old.NextFireAt.IsZero() && old.NextFireAt.Before(c.Now) {
		plan, why, err := planTask(tx, old, c.Now, c.Now.Add(-time.Millisecond), sched.PlanBudget)
		if err != nil {
			return nil, err
		}
		if why != "" {
			break // what can't be computed was never owed; the task carries plan_error
		}
		if err := d.storePlan(tx, []plannedTask{{old, plan}}, c.Now, "", &made); err != nil {
			return nil, err
		}
		old.NextFireAt = plan.Next
	}
	return made.Messages, nil
}

// resumed makes what was deferred by a pause due at once; sweep a sends it.
func (d *DB) resumed(tx *gorm.DB, old, next sched.Task, c sched.TaskChange) error {
	if !old.Paused(c.Now) || next.Paused(c.Now) {
		return nil
	}
	var ids []string
	err := tx.Raw("SELECT id FROM instances WHERE task_id=? AND state IN ? AND defers>0 AND due_at>? ORDER BY id",
		old.ID, claimableStates, at(c.Now)).Scan(&ids).Error
	if err != nil {
		return err
	}
	for _, id := range ids {
		err := tx.Exec("UPDATE "+d.dialect.forcePrimary("instances")+" SET due_at=?, look_at=? WHERE id=? AND state IN ? AND defers>0",
			at(c.Now), at(c.Now), id, claimableStates).Error
		if err != nil {
			return err
		}
	}
	return nil
}

// lockGate locks the row under which limits of the task are judged.
func (d *DB) lockGate(tx *gorm.DB, taskID int64, lock string) error {
	var id int64
	return tx.Raw("SELECT task_id FROM task_gates WHERE task_id=?"+lock, taskID).Row().Scan(&id)
}
