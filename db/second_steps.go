package db

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/fault"
)

// secondStepRow is a row of second_steps.
type secondStepRow struct {
	UserID      int64
	Secret      string
	CreatedAt   Millis
	ConfirmedAt Millis
	LastStep    int64
	UsedAt      Millis
	Unused      int `gorm:"->"` // recovery codes, when asked for
}

// TableName is read by GORM.
func (secondStepRow) TableName() string { return "second_steps" }

// SecondStep gives the person's second step with how many recovery codes are
// unused; the zero value when there is none.
func (d *DB) SecondStep(ctx context.Context, user int64) (access.SecondStep, error) {
	var rows []secondStepRow
	err := d.view(ctx).Raw("SELECT s.*, (SELECT COUNT(*) FROM recovery_codes c WHERE c.user_id=s.user_id AND c.used_at IS NULL) AS unused"+
		" FROM second_steps s WHERE s.user_id=?", user).Scan(&rows).Error
	if err != nil {
		return access.SecondStep{}, fmt.Errorf("read the second step of %s: %w", userTag(user), away(err))
	}
	if len(rows) == 0 {
		return access.SecondStep{}, nil
	}
	r := rows[0]
	return access.SecondStep{
		UserID: r.UserID, Secret: r.Secret, CreatedAt: r.CreatedAt.Time, ConfirmedAt: r.ConfirmedAt.Time,
		LastStep: r.LastStep, UsedAt: r.UsedAt.Time, Left: r.Unused,
	}, nil
}

// BeginSecondStep stores one that is not confirmed, in the place of another
// such. Faults: Conflict (the person has one that is on).
func (d *DB) BeginSecondStep(ctx context.Context, s access.SecondStep, e access.Entry) error {
	return d.tx(ctx, "begin the second step of "+userTag(s.UserID), func(tx *gorm.DB) error {
		if err := tx.Exec("DELETE FROM second_steps WHERE user_id=? AND confirmed_at IS NULL", s.UserID).Error; err != nil {
			return err
		}
		err := tx.Exec("INSERT INTO second_steps (user_id, secret, created_at) VALUES (?,?,?)", s.UserID, s.Secret, at(s.CreatedAt)).Error
		if isDuplicate(err) {
			return fault.Conflict("The second step is on already")
		}
		if err != nil {
			return err
		}
		return recordAudit(tx, e)
	})
}

// ConfirmSecondStep switches on the one with this very sealed secret. Faults:
// Conflict (it is on, or another was begun meanwhile).
func (d *DB) ConfirmSecondStep(ctx context.Context, s access.SecondStep, codes []string, e access.Entry) error {
	return d.tx(ctx, "confirm the second step of "+userTag(s.UserID), func(tx *gorm.DB) error {
		on := tx.Exec("UPDATE second_steps SET confirmed_at=?, last_step=?, used_at=? WHERE user_id=? AND secret=? AND confirmed_at IS NULL",
			at(s.ConfirmedAt), s.LastStep, at(s.UsedAt), s.UserID, s.Secret)
		if on.Error != nil {
			return on.Error
		}
		if on.RowsAffected == 0 {
			return fault.Conflict("Begin the second step first")
		}
		if err := putRecoveryCodes(tx, s.UserID, codes); err != nil {
			return err
		}
		return recordAudit(tx, e)
	})
}

// putRecoveryCodes puts the codes in the place of all that the person has.
func putRecoveryCodes(tx *gorm.DB, user int64, digests []string) error {
	if err := tx.Exec("DELETE FROM recovery_codes WHERE user_id=?", user).Error; err != nil {
		return err
	}
	for _, digest := range digests {
		if err := tx.Exec("INSERT INTO recovery_codes (user_id, code_hash) VALUES (?,?)", user, digest).Error; err != nil {
			return err
		}
	}
	return nil
}

// UseStep notes that the code of a step was used, and tells whether this call
// did: of a step, or one before it, only one call ever does.
func (d *DB) UseStep(ctx context.Context, user, step int64, now time.Time) (bool, error) {
	return d.one(ctx, "use a code of "+userTag(user), nil,
		"UPDATE second_steps SET last_step=?, used_at=? WHERE user_id=? AND confirmed_at IS NOT NULL AND last_step<?", step, at(now), user, step)
}

// UseRecoveryCode takes an unused code, and tells whether this call did.
func (d *DB) UseRecoveryCode(ctx context.Context, user int64, digest string, now time.Time, e access.Entry) (bool, error) {
	return d.one(ctx, "use a recovery code of "+userTag(user), &e,
		"UPDATE recovery_codes SET used_at=? WHERE user_id=? AND code_hash=? AND used_at IS NULL", at(now), user, digest)
}

// one changes at most one row, with the audit row if there is to be one, and
// tells whether it did.
func (d *DB) one(ctx context.Context, what string, e *access.Entry, sql string, args ...any) (bool, error) {
	done := false
	err := d.tx(ctx, what, func(tx *gorm.DB) error {
		changed := tx.Exec(sql, args...)
		if done = changed.RowsAffected == 1; changed.Error != nil || !done || e == nil {
			return changed.Error
		}
		return recordAudit(tx, *e)
	})
	return done && err == nil, err
}

// ReplaceRecoveryCodes makes all earlier codes void. Faults: Conflict (the
// second step is off).
func (d *DB) ReplaceRecoveryCodes(ctx context.Context, user int64, digests []string, e access.Entry) error {
	return d.tx(ctx, "replace the recovery codes of "+userTag(user), func(tx *gorm.DB) error {
		var on []int64
		err := tx.Raw("SELECT user_id FROM second_steps WHERE user_id=? AND confirmed_at IS NOT NULL"+d.dialect.forUpdate, user).Scan(&on).Error
		if err != nil {
			return err
		}
		if len(on) == 0 {
			return fault.Conflict("The second step is off")
		}
		if err := putRecoveryCodes(tx, user, digests); err != nil {
			return err
		}
		return recordAudit(tx, e)
	})
}

// DropSecondStep takes the second step and its recovery codes away, and tells
// whether there was one that counted.
func (d *DB) DropSecondStep(ctx context.Context, user int64, e access.Entry) (bool, error) {
	gone := false
	err := d.tx(ctx, "drop the second step of "+userTag(user), func(tx *gorm.DB) error {
		deleted := tx.Exec("DELETE FROM second_steps WHERE user_id=? AND confirmed_at IS NOT NULL", user)
		if gone = deleted.RowsAffected == 1; deleted.Error != nil || !gone {
			return deleted.Error
		}
		if err := tx.Exec("DELETE FROM recovery_codes WHERE user_id=?", user).Error; err != nil {
			return err
		}
		return recordAudit(tx, e)
	})
	return gone && err == nil, err
}

// halfRow is a row of half_sign_ins.
type halfRow struct {
	IDHash    string
	UserID    int64
	Epoch     int
	CreatedAt Millis
	ExpiresAt Millis
}

// TableName is read by GORM.
func (halfRow) TableName() string { return "half_sign_ins" }

// InsertHalf stores a sign-in that waits for its code.
func (d *DB) InsertHalf(ctx context.Context, h access.HalfSignIn) error {
	r := halfRow{IDHash: h.Hash, UserID: h.UserID, Epoch: h.Epoch, CreatedAt: at(h.CreatedAt), ExpiresAt: at(h.ExpiresAt)}
	return d.tx(ctx, "store a half sign-in of "+userTag(h.UserID), func(tx *gorm.DB) error { return tx.Create(&r).Error })
}

// Half gives the sign-in of a hash that waits for its code; the zero value
// when there is none.
func (d *DB) Half(ctx context.Context, hash string) (access.HalfSignIn, error) {
	var rows []halfRow
	if err := d.view(ctx).Raw("SELECT * FROM half_sign_ins WHERE id_hash=?", hash).Scan(&rows).Error; err != nil {
		return access.HalfSignIn{}, fmt.Errorf("read a half sign-in: %w", away(err))
	}
	if len(rows) == 0 {
		return access.HalfSignIn{}, nil
	}
	r := rows[0]
	return access.HalfSignIn{Hash: r.IDHash, UserID: r.UserID, Epoch: r.Epoch, CreatedAt: r.CreatedAt.Time, ExpiresAt: r.ExpiresAt.Time}, nil
}

// TakeHalf deletes a half sign-in, and tells whether this call did.
func (d *DB) TakeHalf(ctx context.Context, hash string) (bool, error) {
	return d.one(ctx, "finish a half sign-in", nil, "DELETE FROM half_sign_ins WHERE id_hash=?", hash)
}
