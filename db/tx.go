package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	gosql "github.com/go-sql-driver/mysql"
	"gorm.io/gorm"
)

const (
	txRetries   = 5
	txRetryWait = 5 * time.Millisecond // doubled each time, with jitter
)

// tx runs fn in one transaction of READ COMMITTED (SQLite: immediate). On a
// deadlock, a lock wait or a busy database the whole transaction runs again,
// up to five times, so fn must set its results anew each time and do nothing
// outside the database. fn must not call tx or another method of d: on SQLite
// there is one write connection, and it is taken.
//
// what says what was attempted; it begins the error. The error of fn is kept
// for errors.Is. ErrCommitUnknown: it may be committed. ErrAway and ErrRefused: it
// is not.
func (d *DB) tx(ctx context.Context, what string, fn func(tx *gorm.DB) error) error {
	return d.txOn(ctx, d.write, what, fn)
}

// txOn is tx on a pool of its own.
func (d *DB) txOn(ctx context.Context, pool *gorm.DB, what string, fn func(tx *gorm.DB) error) error {
	var err error
	for try := range txRetries + 1 {
		if try > 0 && !pause(ctx, try) {
			break
		}
		if err = d.once(ctx, pool, fn); err == nil || !isRetryable(err) || errors.Is(err, ErrCommitUnknown) {
			break
		}
		d.log.DebugContext(ctx, "transaction runs again", "what", what, "try", try+1, "error", err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// view reads outside of transactions. Nothing read here is locked: a change
// that rests on it repeats it as a guard.
func (d *DB) view(ctx context.Context) *gorm.DB { return d.read.WithContext(ctx) }

func (d *DB) once(ctx context.Context, pool *gorm.DB, fn func(tx *gorm.DB) error) error {
	tx := pool.WithContext(ctx).Begin(&sql.TxOptions{})
	if tx.Error != nil {
		return away(tx.Error)
	}
	done := false
	defer func() {
		if !done { // fn failed or panicked
			tx.Rollback()
		}
	}()
	if err := fn(tx); err != nil {
		return away(err)
	}
	done = true
	return commitError(commit(tx))
}

// commit keeps the driver's own error: GORM's would be marked with ErrAway,
// which says that nothing stands.
func commit(tx *gorm.DB) error {
	c, ok := tx.Statement.ConnPool.(gorm.TxCommitter)
	if !ok {
		return gorm.ErrInvalidTransaction
	}
	return c.Commit()
}

// commitError tells the three ends of a failed COMMIT apart: refused by the
// server or never sent (nothing stands), or the answer is missing.
func commitError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, driver.ErrBadConn): // nothing was written to the connection
		return away(err)
	case errors.Is(err, gosql.ErrInvalidConn), isLost(err):
		return fmt.Errorf("%w: %w", ErrCommitUnknown, err)
	}
	return away(err)
}

// pause waits before another try; false when ctx has ended.
func pause(ctx context.Context, try int) bool {
	longest := txRetryWait << try
	t := time.NewTimer(longest/2 + rand.N(longest/2))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
