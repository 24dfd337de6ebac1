package db

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"

	"ax/app/fault"
	"ax/app/sched"
)

// errLimitChanged: the task got a limit between the first look and the gate's
// lock, which must be exclusive then. The claim begins again.
var errLimitChanged = errors.New("the task's limit was changed meanwhile")

// Claim takes an instance for a node, or says why not (protocol.md, CLAIM).
// Locks in order: gate, node, instance. A missing instance is dropped.
func (d *DB) Claim(ctx context.Context, r sched.ClaimRequest) (sched.Claimed, error) {
	var got sched.Claimed
	for range 3 {
		err := d.tx(ctx, "claim instance "+r.InstanceID, func(tx *gorm.DB) error {
			var err error
			got, err = d.claim(tx, r)
			return err
		})
		if fault.KindOf(err) == fault.KindNotFound {
			return sched.Claimed{Verdict: sched.ClaimVerdict{Kind: sched.ClaimDrop}}, nil
		}
		if !errors.Is(err, errLimitChanged) {
			return got, err
		}
	}
	return sched.Claimed{Verdict: sched.ClaimVerdict{Kind: sched.ClaimBack, Due: r.Now.Add(time.Second)}}, nil
}

func (d *DB) claim(tx *gorm.DB, r sched.ClaimRequest) (sched.Claimed, error) {
	var got sched.Claimed
	view, err := d.claimView(tx, r)
	if err != nil {
		return got, err
	}
	got.Task, got.Instance, got.State = view.Task, view.Instance, view.Instance.State
	got.Verdict = sched.DecideClaim(view, r.Now)
	switch got.Verdict.Kind {
	case sched.ClaimTake:
		err = d.take(tx, &got, r)
	case sched.ClaimDefer:
		err = d.deferClaim(tx, got.Instance, got.Verdict)
	case sched.ClaimSkip:
		err = d.skipClaim(tx, got.Instance, got.Verdict, r.Now)
	case sched.ClaimDrop:
		if got.State == sched.Running {
			err = addEvent(tx, sched.InstanceEvent{InstanceID: r.InstanceID, At: r.Now, Kind: sched.EvRefusedClaim, NodeID: r.NodeID})
		}
	}
	return got, err
}

// claimView locks gate, node and instance and reads what the decision needs.
func (d *DB) claimView(tx *gorm.DB, r sched.ClaimRequest) (sched.ClaimView, error) {
	var v sched.ClaimView
	var err error
	v.Task, err = takeTask(tx, "", "id=(SELECT task_id FROM instances WHERE id=?)", r.InstanceID)
	if err != nil {
		return v, err
	}
	lock := d.dialect.forShare
	if v.Task.Spec.Policy.MaxConcurrent > 0 {
		lock = d.dialect.forUpdate
	}
	if err := d.lockGate(tx, v.Task.ID, lock); err != nil {
		return v, err
	}
	var gone int
	err = tx.Raw("SELECT CASE WHEN closed_at IS NULL AND dead_at IS NULL THEN 0 ELSE 1 END FROM nodes WHERE id=?"+d.dialect.forShare, r.NodeID).Row().Scan(&gone)
	if err != nil {
		return v, err
	}
	v.NodeGone = gone != 0
	if v.Instance, err = takeInstance(tx, d.dialect.forUpdate, r.InstanceID); err != nil {
		return v, err
	}
	return v, d.underGate(tx, &v)
}

// gateRow is what may have changed until the gate was locked, and what of the
// task has begun and not ended.
type gateRow struct {
	Version     int
	PausedFrom  Millis
	PausedUntil Millis
	Started     int
	Busy        int
	BusyWith    maybe
}

// underGate reads the task as it is now that nobody can edit it, and counts
// its other instances: what runs, awaits or retries, and what a dead or
// stopped node left behind, which waits with an attempt.
func (d *DB) underGate(tx *gorm.DB, v *sched.ClaimView) error {
	var g gateRow
	err := tx.Raw("SELECT t.version, t.paused_from, t.paused_until, c.started, c.busy, c.busy_with FROM tasks t,"+
		" (SELECT COUNT(*) AS started, COALESCE(SUM(CASE WHEN state IN ? THEN 1 ELSE 0 END), 0) AS busy, MAX(id) AS busy_with"+
		" FROM "+d.dialect.byIndex("instances", "instances_task_state")+" WHERE task_id=? AND state IN ? AND attempt>0 AND id<>?) c WHERE t.id=?",
		[]sched.State{sched.Running, sched.Awaiting}, v.Task.ID, openStates, v.Instance.ID, v.Task.ID).Take(&g).Error
	if err != nil {
		return err
	}
	v.Started, v.Busy, v.BusyWith = g.Started, g.Busy, string(g.BusyWith)
	v.Task.PausedFrom, v.Task.PausedUntil = g.PausedFrom.Time, g.PausedUntil.Time
	if g.Version == v.Task.Version {
		return nil
	}
	// An edit came between: this is the version that the attempt will carry.
	limited := v.Task.Spec.Policy.MaxConcurrent > 0
	if v.Task, err = takeTask(tx, "", "id=?", v.Task.ID); err != nil {
		return err
	}
	if v.Task.Spec.Policy.MaxConcurrent > 0 != limited {
		return errLimitChanged
	}
	return nil
}

// take makes the instance the node's and begins its attempt.
func (d *DB) take(tx *gorm.DB, got *sched.Claimed, r sched.ClaimRequest) error {
	in := &got.Instance
	from := in.Attempt
	in.State, in.Attempt, in.NodeID, in.ClaimID = sched.Running, from+1, r.NodeID, r.ClaimID
	in.DeadlineAt, in.SentAt, in.Resends, in.Defers = got.Verdict.Deadline, time.Time{}, 0, 0
	if in.StartedAt.IsZero() {
		in.StartedAt = r.Now
	}
	res := tx.Exec("UPDATE "+d.dialect.forcePrimary("instances")+
		" SET state='running', attempt=?, node_id=?, claim_id=?, deadline_at=?, sent_at=NULL, resends=0, defers=0, started_at=? WHERE id=? AND state IN ? AND attempt=?",
		in.Attempt, in.NodeID, in.ClaimID, at(in.DeadlineAt), at(in.StartedAt), in.ID, claimableStates, from)
	if res.Error != nil {
		return res.Error
	}
	return openAttempt(tx, *in, got.Task, r.Now)
}

// deferClaim makes the row due later; its message goes back with the same
// delay. The count stops short of what its column holds.
func (d *DB) deferClaim(tx *gorm.DB, in sched.Instance, v sched.ClaimVerdict) error {
	return tx.Exec("UPDATE "+d.dialect.forcePrimary("instances")+" SET due_at=?, look_at=?, defers=CASE WHEN defers<30000 THEN defers+1 ELSE defers END WHERE id=? AND state IN ?",
		at(v.Due), at(v.Due.Add(sched.LookAgain)), in.ID, claimableStates).Error
}

func (d *DB) skipClaim(tx *gorm.DB, in sched.Instance, v sched.ClaimVerdict, now time.Time) error {
	return tx.Exec("UPDATE "+d.dialect.forcePrimary("instances")+" SET state='skipped', reason=?, finished_at=? WHERE id=? AND state IN ? AND attempt=0",
		clip(v.Reason, 500), at(now), in.ID, claimableStates).Error
}

// ReadClaim reads a row under its lock, so that a commit that lands late is
// waited for, and tells whether the claim is the caller's.
func (d *DB) ReadClaim(ctx context.Context, r sched.ClaimRequest) (sched.Claimed, bool, error) {
	var got sched.Claimed
	err := d.tx(ctx, "read claim of "+r.InstanceID, func(tx *gorm.DB) error {
		in, err := takeInstance(tx, d.dialect.forUpdate, r.InstanceID)
		if err != nil {
			return err
		}
		t, err := takeTask(tx, "", "id=?", in.TaskID)
		got = sched.Claimed{
			Verdict: sched.ClaimVerdict{Kind: sched.ClaimTake, Deadline: in.DeadlineAt}, Instance: in, Task: t, State: in.State,
		}
		return err
	})
	in := got.Instance
	ours := err == nil && in.State == sched.Running && in.NodeID == r.NodeID && in.ClaimID == r.ClaimID
	return got, ours, err
}

// MarkSent notes that non-idempotent work is about to go out. A commit whose
// answer was lost, or a mark that is there already, is read back: only the
// owner sets it, so a set mark of our own attempt is ours.
func (d *DB) MarkSent(ctx context.Context, s sched.Settlement) (bool, error) {
	var ours bool
	err := d.tx(ctx, "mark "+s.InstanceID+" as sent", func(tx *gorm.DB) error {
		in, err := takeInstance(tx, d.dialect.forUpdate, s.InstanceID)
		if err != nil {
			return err
		}
		ours = owns(in, s)
		if !ours || !in.SentAt.IsZero() {
			return nil
		}
		err = tx.Exec("UPDATE "+d.dialect.forcePrimary("instances")+" SET sent_at=? WHERE id=? AND state='running' AND attempt=? AND node_id=? AND sent_at IS NULL",
			at(s.Now), s.InstanceID, s.Attempt, s.NodeID).Error
		if err != nil {
			return err
		}
		return tx.Exec("UPDATE "+d.dialect.forcePrimary("attempts")+" SET sent_at=? WHERE instance_id=? AND no=?", at(s.Now), s.InstanceID, s.Attempt).Error
	})
	return ours, err
}

// owns is the guard OWN of protocol.md.
func owns(in sched.Instance, s sched.Settlement) bool {
	return in.State == sched.Running && in.Attempt == s.Attempt && in.NodeID == s.NodeID
}
