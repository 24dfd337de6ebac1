package db

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/fail"
	"ax/app/sched"
)

// Settle brings the result of an attempt to the ledger: instance, attempt and
// dead letter in one transaction (protocol.md, SETTLE), which settlements of
// several callers share. A result for an attempt that is no longer the node's
// is refused and recorded.
func (d *DB) Settle(ctx context.Context, s sched.Settlement) (sched.Settled, error) {
	out, err := d.settles.do(ctx, s)
	if err != nil {
		return out, fmt.Errorf("settle %s: %w", s.InstanceID, err)
	}
	return out, nil
}

// settleTogether is one transaction of settlements of different instances.
func (d *DB) settleTogether(ctx context.Context, ss []sched.Settlement) ([]answer[sched.Settled], error) {
	ids := make([]string, len(ss))
	for i, s := range ss {
		ids[i] = s.InstanceID
	}
	slices.Sort(ids)
	var out []answer[sched.Settled]
	err := d.tx(ctx, "settle in a batch of "+strconv.Itoa(len(ss)), func(tx *gorm.DB) error {
		out = make([]answer[sched.Settled], len(ss))
		rows, err := lockInstances(tx, d.dialect, settleColumns, ids)
		if err != nil {
			return err
		}
		var ends []ended
		for i, s := range ss {
			in, ok := rows[s.InstanceID]
			switch {
			case !ok:
				out[i].err = access.NoObject()
			case owns(in, s):
				e := in.Finish(s.Result, s.Policy, s.Now)
				out[i].value.Ending = e
				ends = append(ends, ended{in, e, s.Result, s.Now})
			default:
				if out[i].value, err = d.settledBefore(tx, in, s); err != nil {
					return err
				}
			}
		}
		return d.endAll(tx, ends)
	})
	return out, err
}

// settleColumns are what a settlement looks at: not the payload, which is long.
const settleColumns = "id, task_id, team_id, biz_id, replay, state, attempt, retries, deaths, node_id, claim_id, sent_at, cancel_wanted, error, due_at, look_at, started_at"

// settledBefore answers a settlement whose attempt has ended: with what our own
// one made of the instance, when its commit was answered by nobody; any other
// result came too late, which is recorded.
func (d *DB) settledBefore(tx *gorm.DB, in sched.Instance, s sched.Settlement) (sched.Settled, error) {
	var a attemptRow
	err := tx.Raw("SELECT * FROM attempts WHERE instance_id=? AND no=?", s.InstanceID, s.Attempt).Scan(&a).Error
	if err != nil {
		return sched.Settled{}, err
	}
	same := sched.Outcome(a.Outcome) == s.Result.Outcome
	if a.Outcome == "" { // accepted leaves the attempt open
		same = s.Result.Outcome == sched.OutcomeAccepted && in.State == sched.Awaiting && in.Attempt == s.Attempt
	}
	if same && string(a.ClaimID) == s.ClaimID {
		e := sched.Ending{To: in.State, Outcome: s.Result.Outcome, Error: in.Error, Retries: in.Retries, Deaths: in.Deaths}
		if in.State == sched.Retrying {
			e.DueAt, e.LookAt = in.DueAt, in.LookAt
		}
		return sched.Settled{Ending: e}, nil
	}
	return sched.Settled{Refused: true}, addEvent(tx, sched.InstanceEvent{
		InstanceID: s.InstanceID, At: s.Now, Kind: sched.EvRefusedResult, NodeID: s.NodeID,
		Detail: string(s.Result.Outcome) + ": " + s.Result.Error,
	})
}

// HandBack gives back an instance that was claimed but not begun. Its message
// number rises: an id that Asynq still knows would count as sent. What somebody
// wants canceled is canceled instead.
func (d *DB) HandBack(ctx context.Context, s sched.Settlement) (bool, error) {
	var done bool
	err := d.tx(ctx, "hand back "+s.InstanceID, func(tx *gorm.DB) error {
		in, err := takeInstance(tx, d.dialect.forUpdate, s.InstanceID)
		if err != nil {
			return err
		}
		if done = owns(in, s) && in.SentAt.IsZero(); !done {
			return nil
		}
		if !in.CancelWanted.IsZero() { // nothing was sent, and nobody wants it
			r := sched.Result{Outcome: sched.OutcomeCanceled, Definite: true, Error: "canceled before it was begun"}
			return d.end(tx, in, in.Finish(r, s.Policy, s.Now), r, s.Now)
		}
		err = tx.Exec("UPDATE "+d.dialect.forcePrimary("instances")+
			" SET state='pending', dispatch=dispatch+1, node_id=NULL, claim_id=NULL, look_at=NULL WHERE id=? AND state='running' AND attempt=? AND node_id=? AND sent_at IS NULL",
			s.InstanceID, s.Attempt, s.NodeID).Error
		if err != nil {
			return err
		}
		if err := fail.At("handback.row"); err != nil {
			return err
		}
		why := sched.Result{Error: "handed back before it was begun: the node was stopping"}
		err = d.closeAttempts(tx, []closing{{s.InstanceID, s.Attempt, sched.OutcomeCanceled, why, s.Now}})
		if err != nil {
			return err
		}
		return addEvent(tx, sched.InstanceEvent{InstanceID: s.InstanceID, At: s.Now, Kind: sched.EvHandedBack, NodeID: s.NodeID})
	})
	return done, err
}
