package db

import (
	"context"
	"time"

	"gorm.io/gorm"
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
