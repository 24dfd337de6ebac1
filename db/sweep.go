package db

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"gorm.io/gorm"

	"ax/app/fail"
	"ax/app/sched"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// Stale lists queued and retrying rows that the sweep is to look at.
func (d *DB) Stale(ctx context.Context, now time.Time, limit int) ([]sched.Stale, error) {
	var rows []instanceRow
	err := d.view(ctx).Raw("SELECT id, state, attempt, dispatch, resends FROM "+d.dialect.byIndex("instances", "instances_look")+" WHERE state IN ? AND look_at<=? ORDER BY look_at LIMIT ?",
		[]sched.State{sched.Queued, sched.Retrying}, at(now), limit).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("list stale instances: %w", err)
	}
	out := make([]sched.Stale, len(rows))
	for i, r := range rows {
		out[i] = sched.Stale{InstanceID: r.ID, State: sched.State(r.State), Attempt: r.Attempt, Dispatch: r.Dispatch, Resends: r.Resends}
	}
	return out, nil
}

// Raise gives a stale row its next message number and look, if it is still as
// it was read.
func (d *DB) Raise(ctx context.Context, s sched.Stale, now time.Time) (sched.Message, bool, error) {
	var m sched.Message
	var ok bool
	err := d.tx(ctx, "raise "+s.InstanceID, func(tx *gorm.DB) error {
		res := tx.Exec("UPDATE "+d.dialect.forcePrimary("instances")+
			" SET dispatch=?, resends=?, look_at=? WHERE id=? AND state=? AND attempt=? AND dispatch=?",
			s.Dispatch+1, min(s.Resends+1, 100), at(now.Add(sched.LookAgainAfter(s.Resends))), s.InstanceID, string(s.State), s.Attempt, s.Dispatch)
		if ok = res.Error == nil && res.RowsAffected == 1; !ok {
			return res.Error
		}
		if err := fail.At("raise.row"); err != nil {
			return err
		}
		in, err := takeInstance(tx, "", s.InstanceID)
		if err != nil {
			return err
		}
		m = sched.Message{InstanceID: in.ID, Dispatch: in.Dispatch, Queue: in.Queue, DueAt: in.DueAt}
		return addEvent(tx, sched.InstanceEvent{InstanceID: in.ID, At: now, Kind: sched.EvResent, Detail: "message " + strconv.Itoa(in.Dispatch)})
	})
	return m, ok && err == nil, err
}

// LookNow makes the sweep look at once at everything that is due: Redis lost
// its messages. What is due later is looked at in its time.
func (d *DB) LookNow(ctx context.Context, now time.Time) (int, error) {
	total := 0
	for {
		var ids []string
		err := d.view(ctx).Raw("SELECT id FROM instances WHERE state IN ? AND due_at<=? AND look_at>? ORDER BY id LIMIT 500",
			[]sched.State{sched.Queued, sched.Retrying}, at(now.Add(sched.PlanHorizon)), at(now)).Scan(&ids).Error
		if err != nil || len(ids) == 0 {
			return total, err
		}
		err = d.tx(ctx, "look now", func(tx *gorm.DB) error {
			for _, id := range ids {
				err := tx.Exec("UPDATE "+d.dialect.forcePrimary("instances")+" SET look_at=?, resends=0 WHERE id=? AND state IN ?",
					at(now), id, []sched.State{sched.Queued, sched.Retrying}).Error
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return total, err
		}
		total += len(ids)
	}
}

// heldRow is a running or awaiting instance with the state of its node.
type heldRow struct {
	ID         string
	Attempt    int
	NodeID     maybe
	ClaimID    maybe
	DeadlineAt Millis
	ClosedAt   Millis
}

func (r heldRow) held() sched.Held {
	return sched.Held{
		InstanceID: r.ID, Attempt: r.Attempt, NodeID: string(r.NodeID), ClaimID: string(r.ClaimID),
		DeadlineAt: r.DeadlineAt.Time, Graceful: !r.ClosedAt.IsZero(),
	}
}

func (d *DB) held(ctx context.Context, what, q string, args ...any) ([]sched.Held, error) {
	var rows []heldRow
	if err := d.view(ctx).Raw(q, args...).Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	out := make([]sched.Held, len(rows))
	for i, r := range rows {
		out[i] = r.held()
	}
	return out, nil
}

// Orphans lists what runs on nodes that are gone. The nodes are read first:
// they are few, and what runs on each is found by its key.
func (d *DB) Orphans(ctx context.Context, limit int) ([]sched.Held, error) {
	return d.held(ctx, "list orphans",
		"SELECT i.id, i.attempt, i.node_id, i.claim_id, i.deadline_at, n.closed_at FROM nodes n JOIN instances i ON i.node_id=n.id AND i.state='running'"+
			" WHERE n.closed_at IS NOT NULL OR n.dead_at IS NOT NULL ORDER BY i.id LIMIT ?", limit)
}

// Holding lists what runs on a node by the ledger.
func (d *DB) Holding(ctx context.Context, node string) ([]sched.Held, error) {
	return d.held(ctx, "list claims of node "+node,
		"SELECT id, attempt, node_id, claim_id, deadline_at FROM instances WHERE node_id=? AND state='running'", node)
}

// Overdue lists awaiting instances whose target has not reported in time.
func (d *DB) Overdue(ctx context.Context, now time.Time, limit int) ([]sched.Held, error) {
	return d.held(ctx, "list missed receipts",
		"SELECT id, attempt, node_id, claim_id, deadline_at FROM "+d.dialect.byIndex("instances", "instances_receipt")+" WHERE state='awaiting' AND receipt_deadline<=? ORDER BY receipt_deadline LIMIT ?", at(now), limit)
}

// Lose ends the attempt of a claim whose node is gone or doesn't know it
// (protocol.md, LOST). again: the message sends the instance to another worker.
func (d *DB) Lose(ctx context.Context, h sched.Held, now time.Time) (sched.Message, bool, error) {
	var m sched.Message
	var again bool
	changed, err := d.changeHeld(ctx, "lose", h, sched.Running, func(tx *gorm.DB, in sched.Instance, p sched.Policy) error {
		e := in.Lose(p, h.Graceful, now)
		unsent := sched.Result{Definite: e.To == sched.Canceled}
		if err := d.end(tx, in, e, unsent, now); err != nil {
			return err
		}
		again = e.To == sched.Queued
		m = sched.Message{InstanceID: in.ID, Dispatch: in.Dispatch + 1, Queue: in.Queue, DueAt: e.DueAt}
		return addEvent(tx, sched.InstanceEvent{InstanceID: in.ID, At: now, Kind: sched.EvLost, NodeID: h.NodeID, Detail: "attempt " + strconv.Itoa(in.Attempt) + ": " + string(e.To)})
	})
	return m, again && changed && err == nil, err
}

// EndOverdue ends a running attempt that is past its deadline and has no
// answer, as a settlement of timed_out would; unsent work is surely unsent.
func (d *DB) EndOverdue(ctx context.Context, h sched.Held, now time.Time) error {
	_, err := d.changeHeld(ctx, "end overdue", h, sched.Running, func(tx *gorm.DB, in sched.Instance, p sched.Policy) error {
		r := sched.Result{
			Outcome: sched.OutcomeTimedOut, Error: "no answer came, and its handler is stuck",
			Definite: !p.Idempotent && in.SentAt.IsZero(),
		}
		if err := d.end(tx, in, in.Finish(r, p, now), r, now); err != nil {
			return err
		}
		return addEvent(tx, sched.InstanceEvent{InstanceID: in.ID, At: now, Kind: sched.EvOverdue, NodeID: h.NodeID})
	})
	return err
}

// EndAwaiting ends an awaiting instance whose receipt is overdue, or makes it a
// retry.
func (d *DB) EndAwaiting(ctx context.Context, h sched.Held, now time.Time) error {
	_, err := d.changeHeld(ctx, "end awaiting", h, sched.Awaiting, func(tx *gorm.DB, in sched.Instance, p sched.Policy) error {
		return d.end(tx, in, in.MissReceipt(p, now), sched.Result{}, now)
	})
	return err
}

// changeHeld runs a change of one instance that is still as it was listed;
// changed is false when it is not.
func (d *DB) changeHeld(ctx context.Context, what string, h sched.Held, state sched.State, change func(*gorm.DB, sched.Instance, sched.Policy) error) (changed bool, err error) {
	err = d.tx(ctx, what+" "+h.InstanceID, func(tx *gorm.DB) error {
		changed = false
		in, err := takeInstance(tx, d.dialect.forUpdate, h.InstanceID)
		if err != nil {
			return err
		}
		if in.State != state || in.Attempt != h.Attempt || in.NodeID != h.NodeID || in.ClaimID != h.ClaimID {
			return nil // somebody else decided
		}
		var version int
		err = tx.Raw("SELECT task_version FROM attempts WHERE instance_id=? AND no=?", in.ID, in.Attempt).Row().Scan(&version)
		if err != nil {
			return err
		}
		p, err := policyAt(tx, in.TaskID, version)
		if err != nil {
			return err
		}
		changed = true
		return change(tx, in, p)
	})
	return changed, err
}
