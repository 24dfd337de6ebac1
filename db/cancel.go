package db

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/fail"
	"ax/app/fault"
	"ax/app/sched"
)

// Cancel ends an instance that waits or awaits its receipt; of a running one
// it notes the wish. Conflict when it has ended already.
func (d *DB) Cancel(ctx context.Context, id string, now time.Time, e access.Entry) (sched.CancelResult, error) {
	var out sched.CancelResult
	err := d.tx(ctx, "cancel "+id, func(tx *gorm.DB) error {
		in, err := takeInstance(tx, d.dialect.forUpdate, id)
		if err != nil {
			return err
		}
		if in.State.Final() {
			return fault.Conflict("The instance has ended already: %s", string(in.State))
		}
		out = sched.CancelResult{State: sched.Canceled, TaskID: in.TaskID}
		if in.State == sched.Running {
			out.State, out.Wish = sched.Running, true
		}
		if err := d.cancelOne(tx, in, e, now); err != nil {
			return err
		}
		return recordAudit(tx, e)
	})
	return out, err
}

// CancelOthers cancels the oldest n slots of a task that have begun, for the
// one named by (overlap cancel_running); requests are let be. Those that run
// get the wish and are given back.
func (d *DB) CancelOthers(ctx context.Context, taskID int64, n int, by string, now time.Time) ([]string, error) {
	var ids, running []string
	err := d.view(ctx).Raw("SELECT id FROM "+d.dialect.byIndex("instances", "instances_task_state")+
		" WHERE task_id=? AND state IN ? AND attempt>0 AND id<>? AND origin='schedule' ORDER BY wanted_at, id LIMIT ?",
		taskID, openStates, by, n).Scan(&ids).Error
	if err != nil {
		return nil, fmt.Errorf("find what %s is to follow: %w", by, away(err))
	}
	for _, id := range ids {
		err := d.tx(ctx, "cancel "+id, func(tx *gorm.DB) error {
			in, err := takeInstance(tx, d.dialect.forUpdate, id)
			if err != nil || in.State.Final() || !in.CancelWanted.IsZero() {
				return err
			}
			if in.State == sched.Running {
				running = append(running, id)
			}
			return d.cancelOne(tx, in, access.Entry{Actor: access.Actor{Name: sched.ByOverlap}, Reason: "the slot " + by + " is due"}, now)
		})
		if err != nil {
			return running, err
		}
	}
	return running, nil
}

// cancelOne cancels an open instance that was read under its lock; of one that
// runs it notes the wish.
func (d *DB) cancelOne(tx *gorm.DB, in sched.Instance, e access.Entry, now time.Time) error {
	event := sched.InstanceEvent{InstanceID: in.ID, At: now, Kind: sched.EvCanceled, Actor: e.Actor.Name, Detail: e.Reason}
	var err error
	if in.State == sched.Running {
		event.Kind = sched.EvCancelWanted
		err = tx.Exec("UPDATE "+d.dialect.forcePrimary("instances")+" SET cancel_wanted=? WHERE id=? AND state='running' AND cancel_wanted IS NULL",
			at(now), in.ID).Error
	} else {
		err = d.cancelWaiting(tx, in, e, now)
	}
	if err != nil {
		return err
	}
	if err := fail.At("cancel.row"); err != nil {
		return err
	}
	return addEvent(tx, event)
}

// cancelWaiting ends an instance that doesn't run, with the attempt that an
// awaiting one has open.
func (d *DB) cancelWaiting(tx *gorm.DB, in sched.Instance, e access.Entry, now time.Time) error {
	now = afterStart(in, now)
	reason := "canceled by " + e.Actor.Name
	if e.Reason != "" {
		reason += ": " + e.Reason
	}
	err := tx.Exec("UPDATE "+d.dialect.forcePrimary("instances")+" SET state='canceled', reason=?, look_at=NULL, receipt_deadline=NULL, finished_at=? WHERE id=? AND state=? AND attempt=?",
		clip(reason, 500), at(now), in.ID, string(in.State), in.Attempt).Error
	if err != nil {
		return err
	}
	if in.State == sched.Awaiting {
		err := tx.Exec("UPDATE "+d.dialect.forcePrimary("attempts")+" SET ended_at=?, outcome='canceled' WHERE instance_id=? AND no=? AND ended_at IS NULL",
			at(now), in.ID, in.Attempt).Error
		if err != nil {
			return err
		}
		by := e.Actor.Name
		if by == sched.ByOverlap {
			by = ""
		}
		if err := d.tellTarget(tx, telling{in: in, reason: sched.BecauseCanceled, by: by, now: now}); err != nil {
			return err
		}
	}
	return d.endLetter(tx, in, sched.Canceled, "", now)
}

// Receive takes a target's later word (protocol.md, RECEIPT): success from any
// attempt that was made, failure from the present one only. An instance that
// has ended keeps its state; the word is recorded.
func (d *DB) Receive(ctx context.Context, r sched.Report, now time.Time) (sched.Received, error) {
	var out sched.Received
	err := d.tx(ctx, "receipt for "+r.InstanceID, func(tx *gorm.DB) error {
		in, err := takeInstance(tx, d.dialect.forUpdate, r.InstanceID)
		if err != nil {
			return err
		}
		out = sched.Received{State: in.State, TaskID: in.TaskID}
		if r.Attempt < 1 || r.Attempt > in.Attempt {
			return fault.Conflict("Attempt %d was never made", r.Attempt)
		}
		kind := sched.EvReceipt
		switch {
		case in.State.Final():
			out.Already, kind = true, sched.EvRefusedWord
		case r.Outcome == sched.OutcomeSucceeded:
			out.State, err = sched.Succeeded, d.received(tx, in, sched.Succeeded, r, now)
		case r.Attempt != in.Attempt || in.State != sched.Running && in.State != sched.Awaiting:
			return fault.Conflict("Attempt %d is no longer the present one: only its success would count", r.Attempt)
		default:
			out.State, err = sched.Failed, d.received(tx, in, sched.Failed, r, now)
		}
		if err != nil {
			return err
		}
		return d.noteReceipt(tx, r, kind, now)
	})
	return out, err
}

// received ends an instance by its target's word.
func (d *DB) received(tx *gorm.DB, in sched.Instance, to sched.State, r sched.Report, now time.Time) error {
	now, why := afterStart(in, now), ""
	if to == sched.Failed {
		why = sched.OneLine("the target reported a failure: " + r.Message)
	}
	err := tx.Exec("UPDATE "+d.dialect.forcePrimary("instances")+" SET state=?, error=?, look_at=NULL, receipt_deadline=NULL, finished_at=? WHERE id=? AND state=? AND attempt=?",
		string(to), why, at(now), in.ID, string(in.State), in.Attempt).Error
	if err != nil {
		return err
	}
	if err := fail.At("receipt.ended"); err != nil {
		return err
	}
	err = tx.Exec("UPDATE "+d.dialect.forcePrimary("attempts")+" SET ended_at=?, outcome=?, error=? WHERE instance_id=? AND no=? AND ended_at IS NULL",
		at(now), string(to), why, in.ID, in.Attempt).Error
	if err != nil {
		return err
	}
	return d.endLetter(tx, in, to, why, now)
}

func (d *DB) noteReceipt(tx *gorm.DB, r sched.Report, kind sched.EventKind, now time.Time) error {
	err := tx.Exec("INSERT INTO receipts (instance_id, attempt, at, outcome, message, address) VALUES (?,?,?,?,?,?)",
		r.InstanceID, r.Attempt, at(now), string(r.Outcome), clip(r.Message, 2000), clip(r.Address, 64)).Error
	if err != nil {
		return err
	}
	return addEvent(tx, sched.InstanceEvent{
		InstanceID: r.InstanceID, At: now, Kind: kind, Actor: r.Address,
		Detail: "attempt " + strconv.Itoa(r.Attempt) + ": " + string(r.Outcome) + " " + r.Message,
	})
}
