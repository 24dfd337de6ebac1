package db

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/sched"
)

// heldTaskRow is a row of held_tasks.
type heldTaskRow struct {
	TaskID      int64
	SilenceID   int64
	UntilAt     Millis
	SetUntil    Millis
	PersonUntil Millis
}

// TableName is read by GORM.
func (heldTaskRow) TableName() string { return "held_tasks" }

func (r heldTaskRow) held() alert.Held {
	return alert.Held{TaskID: r.TaskID, SilenceID: r.SilenceID, Until: r.UntilAt.Time, SetUntil: r.SetUntil.Time, Person: r.PersonUntil.Time}
}

func heldOf(tx *gorm.DB, tail string, args ...any) ([]alert.Held, error) {
	var rows []heldTaskRow
	if err := tx.Raw("SELECT * FROM held_tasks"+tail, args...).Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("read held tasks: %w", away(err))
	}
	out := make([]alert.Held, len(rows))
	for i, r := range rows {
		out[i] = r.held()
	}
	return out, nil
}

// HeldTasks lists the tasks that silences hold.
func (d *DB) HeldTasks(ctx context.Context) ([]alert.Held, error) {
	return heldOf(d.view(ctx), " ORDER BY task_id, silence_id")
}

// ForgetHeld drops what was held until now.
func (d *DB) ForgetHeld(ctx context.Context, now time.Time) error {
	return d.tx(ctx, "forget held tasks", func(tx *gorm.DB) error {
		return tx.Exec("DELETE FROM held_tasks WHERE until_at<=?", at(now)).Error
	})
}

// heldTask is a task under its lock with what silences remember of it: of the
// one silence, and of the others.
func (d *DB) heldTask(tx *gorm.DB, task, silence int64) (t sched.Task, own *alert.Held, others []alert.Held, err error) {
	t, err = takeTask(tx, d.dialect.forUpdate, "id=?", task)
	if err != nil {
		return t, nil, nil, err
	}
	all, err := heldOf(tx, " WHERE task_id=?", task)
	for _, h := range all {
		if h.SilenceID == silence {
			own = &h
			continue
		}
		others = append(others, h)
	}
	return t, own, others, err
}

// HoldTask pauses a task for a window of a silence, once. It tells whether it
// did anything.
func (d *DB) HoldTask(ctx context.Context, h alert.Holding, now time.Time) (bool, error) {
	done := false
	err := d.tx(ctx, "hold task "+h.Task.Code, func(tx *gorm.DB) error {
		done = false
		t, own, others, err := d.heldTask(tx, h.Task.ID, h.SilenceID)
		if err != nil {
			return err
		}
		if !t.ArchivedAt.IsZero() || own != nil && own.Until.Equal(h.Until) {
			return nil
		}
		done = true
		next, held := h.Pause(t, others, now)
		row := heldTaskRow{TaskID: t.ID, SilenceID: h.SilenceID, UntilAt: at(held.Until), SetUntil: at(held.SetUntil), PersonUntil: at(held.Person)}
		if err := tx.Exec("DELETE FROM held_tasks WHERE task_id=? AND silence_id=?", t.ID, h.SilenceID).Error; err != nil {
			return err
		}
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		return d.repause(tx, t, next, "task.pause", fmt.Sprintf("Silence %d: %s", h.SilenceID, h.Reason), now)
	})
	return done, err
}

// ReleaseTask forgets that a silence holds a task, and resumes it unless a
// person or another silence wants it paused. It tells whether the silence held
// it.
func (d *DB) ReleaseTask(ctx context.Context, h alert.Held, now time.Time) (bool, error) {
	done := false
	err := d.tx(ctx, "release a held task", func(tx *gorm.DB) error {
		done = false
		t, own, others, err := d.heldTask(tx, h.TaskID, h.SilenceID)
		if err != nil {
			return err
		}
		if own == nil || !own.Until.Equal(h.Until) {
			return nil // somebody else did, or holds it for a later window
		}
		done = true
		if err := tx.Exec("DELETE FROM held_tasks WHERE task_id=? AND silence_id=?", t.ID, h.SilenceID).Error; err != nil {
			return err
		}
		next := own.Release(t, others, now)
		for _, o := range others {
			if o.Wants(next.PausedUntil) { // from now on it is the pause of this one
				err := tx.Exec("UPDATE held_tasks SET set_until=? WHERE task_id=? AND silence_id=?", at(next.PausedUntil), t.ID, o.SilenceID).Error
				if err != nil {
					return err
				}
			}
		}
		return d.repause(tx, t, next, "task.resume", fmt.Sprintf("Silence %d is over", h.SilenceID), now)
	})
	return done, err
}

// repause writes another pause of a locked task with its audit row; nothing when
// it is the same, or the task is archived.
func (d *DB) repause(tx *gorm.DB, t, next sched.Task, action, reason string, now time.Time) error {
	if !t.ArchivedAt.IsZero() || next.PausedUntil.Equal(t.PausedUntil) && next.PausedFrom.Equal(t.PausedFrom) {
		return nil
	}
	by := alert.House()
	e := access.Entry{
		At: now, Actor: by, Action: action, TeamID: t.TeamID, Reason: reason,
		Object:  access.Object{Kind: "task", ID: strconv.FormatInt(t.ID, 10), Name: t.Code},
		Changes: []access.Change{{Field: "paused_until", Old: rfc3339(t.PausedUntil), New: rfc3339(next.PausedUntil)}},
	}
	_, _, err := d.changeTask(tx, sched.TaskChange{Code: t.Code, Now: now, By: by, Note: reason, Apply: func(old sched.Task) (sched.Task, access.Entry, error) {
		old.PausedFrom, old.PausedUntil = next.PausedFrom, next.PausedUntil
		return old, e, nil
	}})
	return err
}

func rfc3339(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
