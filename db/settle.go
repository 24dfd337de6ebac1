package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"ax/app/sched"
)

// Settle brings the result of an attempt to the ledger: instance, attempt and
// dead letter in one transaction (protocol.md, SETTLE). A result for an
// attempt that is no longer the node's is refused and recorded.
func (d *DB) Settle(ctx context.Context, s sched.Settlement) (sched.Settled, error) {
	var out sched.Settled
	err := d.tx(ctx, "settle "+s.InstanceID, func(tx *gorm.DB) error {
		out = sched.Settled{}
		in, err := takeInstance(tx, d.dialect.forUpdate, s.InstanceID)
		if err != nil {
			return err
		}
		if !owns(in, s) {
			out, err = d.settledBefore(tx, in, s)
			return err
		}
		out.Ending = in.Finish(s.Result, s.Policy, s.Now)
		return d.end(tx, in, out.Ending, s.Result, s.Now)
	})
	return out, err
}

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

// end writes what an ending makes of a running or awaiting instance that was
// read under its lock: its row, its open attempt, and its letter.
func (d *DB) end(tx *gorm.DB, in sched.Instance, e sched.Ending, r sched.Result, now time.Time) error {
	var finished time.Time
	if e.To.Final() {
		finished = now
	}
	set := "state=?, error=?, retries=?, deaths=?, look_at=?, receipt_deadline=?, finished_at=?, resends=0"
	args := []any{string(e.To), e.Error, e.Retries, e.Deaths, at(e.LookAt), at(e.ReceiptDeadline), at(finished)}
	if !e.DueAt.IsZero() {
		set += ", due_at=?"
		args = append(args, at(e.DueAt))
	}
	if e.Redispatch {
		set += ", dispatch=dispatch+1, node_id=NULL, claim_id=NULL"
	}
	args = append(args, in.ID, string(in.State), in.Attempt)
	res := tx.Exec("UPDATE "+d.dialect.forcePrimary("instances")+" SET "+set+" WHERE id=? AND state=? AND attempt=?", args...)
	if res.Error != nil {
		return res.Error
	}
	if e.Outcome != sched.OutcomeAccepted {
		r.Error = e.Error
		if err := d.closeAttempt(tx, in.ID, in.Attempt, closing{e.Outcome, r, now}); err != nil {
			return err
		}
	} else if err := d.noteAnswer(tx, in, r); err != nil {
		return err
	}
	return d.endLetter(tx, in, e.To, e.Error, now)
}

// noteAnswer keeps what came back on an attempt that stays open: the target
// accepted the work and will report.
func (d *DB) noteAnswer(tx *gorm.DB, in sched.Instance, r sched.Result) error {
	return tx.Exec("UPDATE "+d.dialect.forcePrimary("attempts")+" SET status_code=?, request=?, response=?, response_bytes=? WHERE instance_id=? AND no=?",
		r.StatusCode, body(r.Request), body(r.Response), r.ResponseBytes, in.ID, in.Attempt).Error
}

// endLetter keeps the letter in step with an end of an instance: a bad end
// opens or reopens it, the success of a replay solves it, and every end of a
// replay lets it be replayed again.
func (d *DB) endLetter(tx *gorm.DB, in sched.Instance, to sched.State, why string, now time.Time) error {
	switch {
	case to.Bad():
		return d.openLetter(tx, in, to, why, now)
	case !to.Final() || in.Replay == 0:
		return nil
	case to == sched.Succeeded:
		return tx.Exec("UPDATE dead_letters SET status='solved', replaying=NULL, closed_at=?, closed_by=?, version=version+1 WHERE task_id=? AND biz_id=? AND replaying=?",
			at(now), "replay "+in.ID, in.TaskID, in.BizID, in.ID).Error
	default:
		return tx.Exec("UPDATE dead_letters SET replaying=NULL, version=version+1 WHERE task_id=? AND biz_id=? AND replaying=?", in.TaskID, in.BizID, in.ID).Error
	}
}

func (d *DB) openLetter(tx *gorm.DB, in sched.Instance, to sched.State, why string, now time.Time) error {
	up := d.dialect.upsert("task_id, biz_id",
		"instance_id", "outcome", "error", "opens=dead_letters.opens+1", "replaying=NULL", "opened_at", "closed_at=NULL", "closed_by=''",
		"version=dead_letters.version+1", "status=CASE WHEN dead_letters.status='taken' THEN 'taken' ELSE 'open' END")
	return tx.Exec("INSERT INTO dead_letters (task_id, team_id, biz_id, instance_id, replay, status, outcome, error, opens, opened_at, version) VALUES (?,?,?,?,?,'open',?,?,1,?,1) "+up,
		in.TaskID, in.TeamID, in.BizID, in.ID, in.Replay, string(to), clip(why, 2000), at(now)).Error
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
			r := sched.Result{Outcome: sched.OutcomeCanceled, Error: "canceled before it was begun"}
			return d.end(tx, in, in.Finish(r, s.Policy, s.Now), r, s.Now)
		}
		err = tx.Exec("UPDATE "+d.dialect.forcePrimary("instances")+
			" SET state='pending', dispatch=dispatch+1, node_id=NULL, claim_id=NULL, look_at=NULL WHERE id=? AND state='running' AND attempt=? AND node_id=? AND sent_at IS NULL",
			s.InstanceID, s.Attempt, s.NodeID).Error
		if err != nil {
			return err
		}
		err = d.closeAttempt(tx, s.InstanceID, s.Attempt, closing{sched.OutcomeCanceled, sched.Result{Error: "handed back before it was begun: the node was stopping"}, s.Now})
		if err != nil {
			return err
		}
		return addEvent(tx, sched.InstanceEvent{InstanceID: s.InstanceID, At: s.Now, Kind: sched.EvHandedBack, NodeID: s.NodeID})
	})
	return done, err
}

// Wake makes the oldest deferred instance of a limited task due, under the
// gate's lock and in a transaction of its own (protocol.md, WAKE). Mostly
// nothing is deferred, which is found out without a transaction: locking the
// gate alone waits for every claim that may be deferring, and later ones see
// the place that became free.
func (d *DB) Wake(ctx context.Context, taskID int64, now time.Time) (sched.Message, bool, error) {
	if err := d.passGate(ctx, taskID); err != nil {
		return sched.Message{}, false, fmt.Errorf("wake task %d: %w", taskID, away(err))
	}
	id, err := d.oldestDeferred(d.view(ctx), taskID, now)
	if id == "" || err != nil {
		return sched.Message{}, false, err
	}
	return d.wake(ctx, taskID, now)
}

// passGate waits until nobody holds the task's gate. SQLite has one writer at
// a time, so nobody holds anything between two transactions.
func (d *DB) passGate(ctx context.Context, taskID int64) error {
	if d.dialect.forUpdate == "" {
		return nil
	}
	return d.lockGate(d.write.WithContext(ctx), taskID, d.dialect.forUpdate)
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
		if err != nil || t.Paused(now) || t.Spec.Policy.MaxConcurrent == 0 {
			return err
		}
		id, err := d.oldestDeferred(tx, taskID, now)
		if id == "" || err != nil {
			return err
		}
		err = tx.Exec("UPDATE "+d.dialect.forcePrimary("instances")+" SET due_at=?, look_at=?, dispatch=dispatch+1 WHERE id=? AND state IN ? AND defers>0 AND due_at>?",
			at(now), at(now.Add(sched.LookAgain)), id, claimableStates, at(now)).Error
		if err != nil {
			return err
		}
		in, err := takeInstance(tx, "", id)
		found = err == nil
		m = sched.Message{InstanceID: in.ID, Dispatch: in.Dispatch, Queue: in.Queue, DueAt: in.DueAt}
		return err
	})
	return m, found && err == nil, err
}

func (d *DB) oldestDeferred(tx *gorm.DB, taskID int64, now time.Time) (string, error) {
	var r instanceRow
	err := tx.Raw("SELECT id FROM "+d.dialect.byIndex("instances", "instances_task_state")+" WHERE task_id=? AND state IN ? AND defers>0 AND due_at>? ORDER BY wanted_at, id LIMIT 1",
		taskID, claimableStates, at(now)).Take(&r).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return "", nil
	}
	return r.ID, err
}
