package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"ax/app/sched"
)

// Problem is a fact that the ledger's rules exclude.
type Problem struct {
	Check  string // name of the rule, such as "letter-missing"
	Object string // such as "instance 0198…" or "task 7"
	Detail string // one line in English
}

// String is the problem in one line.
func (p Problem) String() string { return p.Check + ": " + p.Object + ": " + p.Detail }

// Verify checks what the ledger alone can tell of the promises of design.md
// section 1, and the chain of the audit. None of the problems that it finds
// can come from ax as it is meant to be: something wrote by another hand, or
// ax is broken. It gives at most 100 problems of each kind.
//
// All but the audit is read from one snapshot, so that a live system is never
// seen in the middle of a change. It reads whole tables, but locks nothing.
func (d *DB) Verify(ctx context.Context) ([]Problem, error) {
	now, err := d.Now(ctx)
	if err != nil {
		return nil, err
	}
	return d.verifyAt(ctx, now)
}

func (d *DB) verifyAt(ctx context.Context, now time.Time) ([]Problem, error) {
	v := verifier{dialect: d.dialect, now: now, found: map[string]int{}}
	if err := d.snapshot(ctx, v.all); err != nil {
		return nil, fmt.Errorf("verify the ledger: %w", away(err))
	}
	audit, err := d.VerifyAudit(ctx, now)
	if err != nil {
		return nil, err
	}
	for _, a := range audit {
		v.add("audit", "audit", a)
	}
	return v.problems, nil
}

// snapshot runs fn on one unchanging view of the ledger, on a connection of
// its own.
func (d *DB) snapshot(ctx context.Context, fn func(tx *gorm.DB) error) error {
	tx := d.read.WithContext(ctx).Begin(&d.dialect.snapshot)
	if tx.Error != nil {
		return tx.Error
	}
	defer tx.Rollback()
	return fn(tx)
}

// verifier gathers what is wrong.
type verifier struct {
	dialect  dialect
	now      time.Time
	problems []Problem
	found    map[string]int // by check
}

// finding is a row that a check's query gives.
type finding struct {
	ID     string
	Detail string
	Rule   string // which of several rules the row breaks
}

func (v *verifier) add(check, object, detail string) {
	if v.found[check]++; v.found[check] <= maxProblems {
		v.problems = append(v.problems, Problem{check, object, detail})
	}
}

func (v *verifier) all(tx *gorm.DB) error {
	for _, c := range v.checks() {
		var found []finding
		if err := tx.Raw(c.sql+" LIMIT ?", maxProblems).Scan(&found).Error; err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		for _, f := range found {
			name, says := c.name, c.says
			if f.Rule != "" {
				name, says = f.Rule, ruleSays(f.Rule)
			}
			v.add(name, c.object+" "+f.ID, says+" ("+f.Detail+")")
		}
	}
	if err := v.unplanned(tx); err != nil {
		return err
	}
	return v.sentAgain(tx)
}

// unplanned finds enabled tasks that have slots to come, but no next one. What
// was planned ahead of its time is no slot to come.
func (v *verifier) unplanned(tx *gorm.DB) error {
	var rows []taskRow
	err := tx.Raw("SELECT * FROM tasks WHERE enabled=1 AND next_fire_at IS NULL AND plan_error='' AND kind IN ? ORDER BY id",
		slices.DeleteFunc(sched.ScheduleKinds(), func(k sched.ScheduleKind) bool { return !k.Slots() })).Scan(&rows).Error
	if err != nil {
		return fmt.Errorf("task-next: %w", err)
	}
	cals := calendarsIn(tx)
	for _, r := range rows {
		t, err := r.task()
		if err != nil {
			v.add("task-spec", "task "+itoa(r.ID), err.Error())
			continue
		}
		if err := cals.give(&t); err != nil {
			return fmt.Errorf("task-next: %w", err)
		}
		if slot, ok := t.NextSlot(v.now); ok && t.ArchivedAt.IsZero() {
			var n int
			err := tx.Raw("SELECT (SELECT COUNT(*) FROM instances WHERE task_id=? AND biz_id=? AND replay=0)"+
				" + (SELECT COUNT(*) FROM missed_ranges WHERE task_id=? AND from_slot<=? AND to_slot>=?)",
				t.ID, sched.SlotBizID(slot), t.ID, at(slot), at(slot)).Scan(&n).Error
			if err != nil {
				return fmt.Errorf("task-next: %w", err)
			}
			if n == 0 {
				v.add("task-next", "task "+itoa(t.ID), t.Code+" is enabled and has a slot at "+slot.Format(time.RFC3339)+", but no next_fire_at")
			}
		}
	}
	return nil
}

// sentAgain finds attempts that followed one whose non-idempotent work may
// have taken effect (protocol.md, "may repeat").
func (v *verifier) sentAgain(tx *gorm.DB) error {
	var rows []attemptRow
	err := tx.Raw("SELECT a.instance_id, a.no, a.task_id, a.task_version, a.outcome FROM attempts a" +
		" JOIN instances i ON i.id=a.instance_id WHERE a.sent_at IS NOT NULL AND a.no<i.attempt ORDER BY a.instance_id, a.no").Scan(&rows).Error
	if err != nil {
		return fmt.Errorf("sent-again: %w", err)
	}
	policies := map[versionRow]sched.Policy{}
	for _, r := range rows {
		key := versionRow{TaskID: r.TaskID, Version: r.TaskVersion}
		p, ok := policies[key]
		if !ok {
			p, err = policyAt(tx, r.TaskID, r.TaskVersion)
			if errors.Is(err, sql.ErrNoRows) {
				continue // attempt-version tells of it
			}
			if err != nil {
				v.add("task-spec", "task "+itoa(r.TaskID), err.Error())
				continue
			}
			policies[key] = p
		}
		definite := sched.Outcome(r.Outcome) == sched.OutcomeFailed // silence never is
		if !p.MayRepeat(definite) {
			v.add("sent-again", "instance "+r.InstanceID,
				fmt.Sprintf("attempt %d was sent and ended %s, and another followed although the work may not be repeated", r.No, r.Outcome))
		}
	}
	return nil
}
