package db

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"ax/app/fault"
	"ax/app/sched"
)

// progressRow is a row of attempt_progress.
type progressRow struct {
	Attempt int
	Percent *int
	Message string
	SaidAt  Millis
	Signs   int
}

// TableName is read by GORM.
func (progressRow) TableName() string { return "attempt_progress" }

// Sign takes a target's word about the present attempt. It changes nothing
// that has ended and no state; of awaiting work with heartbeats it moves the
// deadline. Faults: NotFound, Conflict.
// A sign that changes nothing, because another came within the second or the
// work is over, is answered without a lock: a target that says too much holds
// up neither its own receipt nor a cancel.
func (d *DB) Sign(ctx context.Context, g sched.Sign, now time.Time) (sched.Signed, error) {
	out, store, err := d.glance(ctx, g, now)
	if err != nil || !store {
		return out, err
	}
	err = d.tx(ctx, "sign of "+g.InstanceID, func(tx *gorm.DB) error {
		in, err := takeInstance(tx, d.dialect.forUpdate, g.InstanceID)
		if err != nil {
			return err
		}
		if out, err = judgeSign(in, g); err != nil || out.Already {
			return err
		}
		if out.Stored, err = storeSign(tx, g, now); err != nil || !out.Stored || in.State != sched.Awaiting {
			return err
		}
		return d.putOff(tx, in, now)
	})
	return out, err
}

// glance judges a sign by plain reads; store tells that it is to be stored,
// which is decided again under the lock.
func (d *DB) glance(ctx context.Context, g sched.Sign, now time.Time) (out sched.Signed, store bool, err error) {
	view := d.view(ctx)
	in, err := takeInstance(view, "", g.InstanceID)
	if err != nil {
		return out, false, err
	}
	if out, err = judgeSign(in, g); err != nil || out.Already {
		return out, false, err
	}
	was, err := signsOf(view, g)
	if err != nil {
		return out, false, fmt.Errorf("sign of %s: %w", g.InstanceID, away(err))
	}
	return out, !tooFresh(was, g, now), nil
}

// judgeSign says what a sign is for an instance: a Conflict, or an answer that
// stores nothing when it has ended.
func judgeSign(in sched.Instance, g sched.Sign) (sched.Signed, error) {
	out := sched.Signed{State: in.State, Cancel: in.State == sched.Canceled || !in.CancelWanted.IsZero()}
	switch {
	case g.Attempt < 1 || g.Attempt > in.Attempt:
		return out, fault.Conflict("Attempt %d was never made", g.Attempt)
	case in.State.Final():
		out.Already = true
	case g.Attempt != in.Attempt || in.State != sched.Running && in.State != sched.Awaiting:
		return out, fault.Conflict("Attempt %d is no longer the present one: only its success would count", g.Attempt)
	}
	return out, nil
}

// signsOf is what was said of the attempt before; at most one row.
func signsOf(tx *gorm.DB, g sched.Sign) ([]progressRow, error) {
	var was []progressRow
	err := tx.Raw("SELECT attempt, percent, message, said_at, signs FROM attempt_progress WHERE instance_id=? AND attempt=?", g.InstanceID, g.Attempt).Scan(&was).Error
	return was, err
}

// tooFresh tells whether another sign came within the second. That the work is
// done is not dropped, but said once.
func tooFresh(was []progressRow, g sched.Sign, now time.Time) bool {
	done := func(percent *int) bool { return percent != nil && *percent == 100 }
	return len(was) > 0 && now.Sub(was[0].SaidAt.Time) < sched.SignEvery && (!done(g.Percent) || done(was[0].Percent))
}

// storeSign stores the sign; false: the last one is too fresh. What a
// heartbeat doesn't say stays.
func storeSign(tx *gorm.DB, g sched.Sign, now time.Time) (bool, error) {
	was, err := signsOf(tx, g)
	if err != nil || tooFresh(was, g, now) {
		return false, err
	}
	if len(was) == 0 {
		return true, tx.Exec("INSERT INTO attempt_progress (instance_id, attempt, percent, message, said_at, signs) VALUES (?,?,?,?,?,1)",
			g.InstanceID, g.Attempt, g.Percent, clip(g.Message, 500), at(now)).Error
	}
	percent, message := was[0].Percent, was[0].Message
	if g.Percent != nil {
		percent = g.Percent
	}
	if g.Message != "" {
		message = g.Message
	}
	return true, tx.Exec("UPDATE attempt_progress SET percent=?, message=?, said_at=?, signs=signs+1 WHERE instance_id=? AND attempt=?",
		percent, clip(message, 500), at(now), g.InstanceID, g.Attempt).Error
}

// putOff moves the deadline of a receipt after a sign of life. The first sign
// finds the deadline as the acceptance set it, and keeps what follows from it.
func (d *DB) putOff(tx *gorm.DB, in sched.Instance, now time.Time) error {
	var version int
	var until Millis
	err := tx.Raw("SELECT a.task_version, p.await_until FROM attempts a JOIN attempt_progress p ON p.instance_id=a.instance_id AND p.attempt=a.no WHERE a.instance_id=? AND a.no=?",
		in.ID, in.Attempt).Row().Scan(&version, &until)
	if err != nil {
		return err
	}
	p, err := policyAt(tx, in.TaskID, version)
	if err != nil || p.HeartbeatSeconds == 0 {
		return err
	}
	if until.IsZero() {
		until = at(p.AwaitUntil(in.ReceiptDeadline))
		err := tx.Exec("UPDATE attempt_progress SET await_until=? WHERE instance_id=? AND attempt=?", until, in.ID, in.Attempt).Error
		if err != nil {
			return err
		}
	}
	by := p.ReceiptBy(now)
	if by.After(until.Time) {
		by = until.Time
	}
	if !by.After(in.ReceiptDeadline) {
		return nil
	}
	return tx.Exec("UPDATE "+d.dialect.forcePrimary("instances")+" SET receipt_deadline=? WHERE id=? AND state='awaiting' AND attempt=?", at(by), in.ID, in.Attempt).Error
}

// PruneProgress removes what targets said longer ago than outputs are kept.
func (d *DB) PruneProgress(ctx context.Context, now time.Time) error {
	old := at(now.Add(-outputLife))
	for {
		var n int
		err := d.tx(ctx, "prune the progress of attempts", func(tx *gorm.DB) error {
			var rows []struct {
				InstanceID string
				Attempt    int
			}
			err := tx.Raw("SELECT instance_id, attempt FROM attempt_progress WHERE said_at<? ORDER BY said_at LIMIT ?", old, pruneOutputs).Scan(&rows).Error
			if err != nil {
				return err
			}
			for _, r := range rows {
				if err := tx.Exec("DELETE FROM attempt_progress WHERE instance_id=? AND attempt=?", r.InstanceID, r.Attempt).Error; err != nil {
					return err
				}
			}
			n = len(rows)
			return nil
		})
		if err != nil || n == 0 {
			return err
		}
	}
}

// Progress is what targets said of the instance's attempts, by number.
func (d *DB) Progress(ctx context.Context, instanceID string) ([]sched.Progress, error) {
	var rows []progressRow
	err := d.view(ctx).Raw("SELECT attempt, percent, message, said_at, signs FROM attempt_progress WHERE instance_id=? ORDER BY attempt", instanceID).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read the progress of %s: %w", instanceID, away(err))
	}
	var out []sched.Progress
	for _, r := range rows {
		out = append(out, sched.Progress{Attempt: r.Attempt, Percent: r.Percent, Message: r.Message, SaidAt: r.SaidAt.Time, Signs: r.Signs})
	}
	return out, nil
}
