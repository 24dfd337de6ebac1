package db

import (
	"context"
	"testing"
	"time"

	"gorm.io/gorm"

	"ax/app/sched"
)

// The external tests (they import dbtest, which imports this package) reach
// these parts through here.

func (d *DB) Tx(ctx context.Context, what string, fn func(tx *gorm.DB) error) error {
	return d.tx(ctx, what, fn)
}

func (d *DB) View(ctx context.Context) *gorm.DB { return d.view(ctx) }

func (d *DB) ForUpdate() string           { return d.dialect.forUpdate }
func (d *DB) ForUpdateSkipLocked() string { return d.dialect.forUpdateSkipLocked }
func (d *DB) ForShare() string            { return d.dialect.forShare }

func (d *DB) ForcePrimary(table string) string { return d.dialect.forcePrimary(table) }
func (d *DB) DoNothing(table string) string    { return d.dialect.doNothing(table) }

func (d *DB) Upsert(conflict string, sets ...string) string {
	return d.dialect.upsert(conflict, sets...)
}

func (d *DB) NewValue(column string) string { return d.dialect.newValue(column) }

// RollHour is the second half of RollUp.
func (d *DB) RollHour(ctx context.Context) error { _, err := d.rollHour(ctx); return err }

// Sketch is a later part of RollUp.
func (d *DB) Sketch(ctx context.Context, hour bool) error {
	if hour {
		_, err := d.sketchHour(ctx)
		return err
	}
	for more := true; more; {
		var err error
		if more, err = d.sketchMinute(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (d *DB) Tables() []string { return d.tables() }

func At(t time.Time) Millis      { return at(t) }
func IsDuplicate(err error) bool { return isDuplicate(err) }
func IsRetryable(err error) bool { return isRetryable(err) }

// Snapshot is what Verify reads.
func (d *DB) Snapshot(ctx context.Context, fn func(tx *gorm.DB) error) error {
	return d.snapshot(ctx, fn)
}

// VerifyAt is Verify at an instant of the test's.
func (d *DB) VerifyAt(ctx context.Context, now time.Time) ([]Problem, error) {
	return d.verifyAt(ctx, now)
}

// CheckNames lists the checks of Verify.
func CheckNames() []string {
	v := verifier{dialect: sqliteDialect()}
	names := []string{"audit", "task-next", "task-spec", "sent-again"}
	for _, c := range v.checks() {
		if c.name != "instance" {
			names = append(names, c.name)
		}
	}
	for _, r := range rowRules("") {
		names = append(names, r.name)
	}
	return names
}

// ClaimAtOnce lets callers claim in one batch, through all that a caller goes
// through.
func (d *DB) ClaimAtOnce(t testing.TB, rs []sched.ClaimRequest) ([]sched.Claimed, []error) {
	return atOnce(t, &d.claims, rs)
}

// SettleAtOnce is ClaimAtOnce of settlements.
func (d *DB) SettleAtOnce(t testing.TB, ss []sched.Settlement) ([]sched.Settled, []error) {
	return atOnce(t, &d.settles, ss)
}

// SettleTogether settles in one transaction.
func (d *DB) SettleTogether(ctx context.Context, ss []sched.Settlement) error {
	_, err := d.settleTogether(ctx, ss)
	return err
}

func atOnce[Q, A any](t testing.TB, g *group[Q, A], requests []Q) ([]A, []error) {
	t.Helper()
	calls := make([]*call[Q, A], len(requests))
	g.mu.Lock()
	for i, q := range requests {
		calls[i] = &call[Q, A]{request: q, done: make(chan answer[A], 1)}
	}
	g.waiting = append(g.waiting, calls...)
	g.start()
	g.mu.Unlock()
	values, errs := make([]A, len(calls)), make([]error, len(calls))
	for i, c := range calls {
		a := <-c.done
		values[i], errs[i] = a.value, a.err
	}
	return values, errs
}

// NewSmallGauges keep so many counts and starts at most.
func NewSmallGauges(d *DB, rates, starts int) *Gauges { return newGauges(d, rates, starts) }
