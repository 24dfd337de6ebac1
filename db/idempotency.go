package db

import (
	"context"
	"time"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/fail"
	"ax/app/fault"
)

// callRow is a row of idempotency_keys; status 0 is a call still open, whose
// body is the name of its work.
type callRow struct {
	Scope       string
	Name        string
	RequestHash string
	Status      int
	Body        maybe
	CreatedAt   Millis
}

// TableName is read by GORM.
func (callRow) TableName() string { return "idempotency_keys" }

// BeginCall claims an Idempotency-Key. done means that the same request was
// answered already, with the answer given; else the caller does the work and
// ends with FinishCall or DropCall, and names what it makes by the answer's
// Name. A claim that was left open by a process that died can be taken over
// after access.CallPatience: the name stays, for the work may have been done.
// Faults: Invalid (the key was used with another body), Conflict (the same
// request is being worked on).
func (d *DB) BeginCall(ctx context.Context, c access.Call, now time.Time) (a access.Answer, done bool, err error) {
	err = d.tx(ctx, "claim an idempotency key", func(tx *gorm.DB) error {
		a, done = access.Answer{Name: c.Name}, false
		fresh := callRow{Scope: c.Scope, Name: c.Key, RequestHash: c.Hash, Body: maybe(c.Name), CreatedAt: at(now)}
		was, ok, err := d.takeCall(tx, c)
		if err == nil && !ok {
			err = tx.Create(&fresh).Error
			if !isDuplicate(err) {
				return err
			}
			was, ok, err = d.takeCall(tx, c) // a request beside this one was first
		}
		if err != nil || !ok {
			return err
		}
		if was.stale(now) {
			if was.Status == 0 && was.RequestHash == c.Hash {
				a.Name = string(was.Body)
			}
			return tx.Exec("UPDATE idempotency_keys SET request_hash=?, status=0, body=?, created_at=? WHERE scope=? AND name=?",
				c.Hash, maybe(a.Name), at(now), c.Scope, c.Key).Error
		}
		a, done = access.Answer{Status: was.Status, Body: string(was.Body)}, true
		return was.refuse(c)
	})
	if err != nil {
		return access.Answer{}, false, err
	}
	return a, done, nil
}

func (d *DB) takeCall(tx *gorm.DB, c access.Call) (callRow, bool, error) {
	var rows []callRow
	err := tx.Raw("SELECT * FROM idempotency_keys WHERE scope=? AND name=?"+d.dialect.forUpdate, c.Scope, c.Key).Scan(&rows).Error
	if err != nil || len(rows) == 0 {
		return callRow{}, false, err
	}
	return rows[0], true, nil
}

// stale tells whether the row may be taken over: its answer is too old, or
// whoever worked on it has died.
func (r callRow) stale(now time.Time) bool {
	life := access.CallLife
	if r.Status == 0 {
		life = access.CallPatience
	}
	return now.Sub(r.CreatedAt.Time) >= life
}

// refuse tells why the row's answer is none for the call.
func (r callRow) refuse(c access.Call) error {
	switch {
	case r.RequestHash != c.Hash:
		return fault.Invalid(fault.Field("Idempotency-Key", "This key was used with another request"))
	case r.Status == 0:
		return fault.Conflict("A request with this Idempotency-Key is still being worked on")
	}
	return nil
}

// FinishCall keeps the answer of a call that BeginCall let through.
func (d *DB) FinishCall(ctx context.Context, c access.Call, a access.Answer) error {
	return d.tx(ctx, "keep the answer of an idempotency key", func(tx *gorm.DB) error {
		return tx.Exec("UPDATE idempotency_keys SET status=?, body=? WHERE scope=? AND name=? AND request_hash=? AND status=0",
			a.Status, maybe(a.Body), c.Scope, c.Key, c.Hash).Error
	})
}

// DropCall gives up a call that BeginCall let through, so that the same key
// may be tried again: nothing was done.
func (d *DB) DropCall(ctx context.Context, c access.Call) error {
	return d.tx(ctx, "give an idempotency key back", func(tx *gorm.DB) error {
		return tx.Exec("DELETE FROM idempotency_keys WHERE scope=? AND name=? AND request_hash=? AND status=0",
			c.Scope, c.Key, c.Hash).Error
	})
}

// PruneCalls drops up to limit keys older than access.CallLife and counts them.
func (d *DB) PruneCalls(ctx context.Context, now time.Time, limit int) (int64, error) {
	var n int64
	err := d.tx(ctx, "prune idempotency keys", func(tx *gorm.DB) error {
		var old []callRow
		err := tx.Raw("SELECT scope, name FROM idempotency_keys WHERE created_at<? ORDER BY created_at LIMIT ?",
			at(now.Add(-access.CallLife)), limit).Scan(&old).Error
		if err != nil {
			return err
		}
		n = 0
		for _, r := range old {
			done := tx.Exec("DELETE FROM idempotency_keys WHERE scope=? AND name=?", r.Scope, r.Name)
			if done.Error != nil {
				return done.Error
			}
			n += done.RowsAffected
			if err := fail.At("prune.calls"); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}
