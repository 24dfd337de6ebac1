package db

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"gorm.io/gorm"

	"ax/app/fail"
	"ax/app/sched"
)

// errLimitChanged: a task got a limit, or lost it, between the first look and
// the gate's lock, whose kind hangs on it. The claim begins again.
var errLimitChanged = errors.New("the task's limit was changed meanwhile")

// Claim takes an instance for a node, or says why not (protocol.md, CLAIM).
// Claims of several callers share a transaction. A missing instance is dropped.
func (d *DB) Claim(ctx context.Context, r sched.ClaimRequest) (sched.Claimed, error) {
	got, err := d.claims.do(ctx, r)
	if err != nil {
		return got, fmt.Errorf("claim instance %s: %w", r.InstanceID, err)
	}
	return got, nil
}

// claimTogether is one transaction of claims of different instances.
func (d *DB) claimTogether(ctx context.Context, rs []sched.ClaimRequest) ([]answer[sched.Claimed], error) {
	for range 3 {
		var b *claimBatch
		err := d.tx(ctx, "claim in a batch of "+strconv.Itoa(len(rs)), func(tx *gorm.DB) error {
			b = newClaimBatch(d, tx, rs)
			return b.all()
		})
		switch {
		case err == nil:
			return b.answers(), nil
		case !errors.Is(err, errLimitChanged):
			return nil, err
		}
	}
	if len(rs) > 1 {
		return nil, errLimitChanged // each alone
	}
	back := sched.ClaimVerdict{Kind: sched.ClaimBack, Due: rs[0].Now.Add(time.Second)}
	return []answer[sched.Claimed]{{value: sched.Claimed{Verdict: back}}}, nil
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
		if err := fail.At("mark.row"); err != nil {
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
