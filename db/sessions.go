package db

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/fault"
)

// sessionRow is a row of sessions.
type sessionRow struct {
	IDHash    string
	UserID    int64
	Epoch     int
	CreatedAt Millis
	SeenAt    Millis
	ExpiresAt Millis
	Address   string
	Agent     string
}

// TableName is read by GORM.
func (sessionRow) TableName() string { return "sessions" }

func (r sessionRow) session() access.Session {
	return access.Session{
		Hash: r.IDHash, UserID: r.UserID, Epoch: r.Epoch, CreatedAt: r.CreatedAt.Time,
		SeenAt: r.SeenAt.Time, ExpiresAt: r.ExpiresAt.Time, Address: r.Address, Agent: r.Agent,
	}
}

// InsertSession stores a session and notes the person's last sign-in.
func (d *DB) InsertSession(ctx context.Context, s access.Session, e access.Entry) error {
	r := sessionRow{
		IDHash: s.Hash, UserID: s.UserID, Epoch: s.Epoch, CreatedAt: at(s.CreatedAt), SeenAt: at(s.SeenAt),
		ExpiresAt: at(s.ExpiresAt), Address: clip(s.Address, 64), Agent: clip(s.Agent, 255),
	}
	return d.tx(ctx, "store a session of "+userTag(s.UserID), func(tx *gorm.DB) error {
		if err := tx.Exec("UPDATE users SET last_login_at=? WHERE id=?", r.CreatedAt, r.UserID).Error; err != nil {
			return err
		}
		if err := tx.Create(&r).Error; err != nil {
			return err
		}
		return recordAudit(tx, e)
	})
}

// Identity reads the session of a hash with its person and their roles;
// NotFound when there is none.
func (d *DB) Identity(ctx context.Context, hash string) (access.Identity, error) {
	var s sessionRow
	err := d.view(ctx).Raw("SELECT * FROM sessions WHERE id_hash=?", hash).Take(&s).Error
	if isNotFound(err) {
		return access.Identity{}, fault.NotFound("There is no such session")
	}
	if err != nil {
		return access.Identity{}, fmt.Errorf("read a session: %w", away(err))
	}
	p, err := d.User(ctx, s.UserID)
	if err != nil {
		return access.Identity{}, err
	}
	roles, err := d.roles(ctx, s.UserID)
	if err != nil {
		return access.Identity{}, err
	}
	return access.Identity{Session: s.session(), Person: p, Roles: roles}, nil
}

// roles of a person by team.
func (d *DB) roles(ctx context.Context, user int64) (map[int64]access.Role, error) {
	var rows []struct {
		TeamID int64
		Role   access.Role
	}
	if err := d.view(ctx).Raw("SELECT team_id, role FROM memberships WHERE user_id=?", user).Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("read the roles of user %d: %w", user, away(err))
	}
	out := make(map[int64]access.Role, len(rows))
	for _, r := range rows {
		out[r.TeamID] = r.Role
	}
	return out, nil
}

// TouchSession notes that the session was seen at the time.
func (d *DB) TouchSession(ctx context.Context, hash string, seen time.Time) error {
	return d.tx(ctx, "touch a session", func(tx *gorm.DB) error {
		return tx.Exec("UPDATE sessions SET seen_at=? WHERE id_hash=? AND seen_at<?", at(seen), hash, at(seen)).Error
	})
}

// DeleteSession ends a session. That it is gone already is no error.
func (d *DB) DeleteSession(ctx context.Context, hash string, e access.Entry) error {
	return d.tx(ctx, "end a session", func(tx *gorm.DB) error {
		gone := tx.Exec("DELETE FROM sessions WHERE id_hash=?", hash)
		if gone.Error != nil || gone.RowsAffected == 0 {
			return gone.Error
		}
		return recordAudit(tx, e)
	})
}

// SessionsOf lists the person's sessions, the one seen last first, with those
// that are over and not pruned yet.
func (d *DB) SessionsOf(ctx context.Context, user int64) ([]access.Session, error) {
	var rows []sessionRow
	err := d.view(ctx).Raw("SELECT * FROM sessions WHERE user_id=? ORDER BY seen_at DESC, id_hash", user).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("list the sessions of %s: %w", userTag(user), away(err))
	}
	out := make([]access.Session, len(rows))
	for i, r := range rows {
		out[i] = r.session()
	}
	return out, nil
}

// DeleteSessionsOf ends the person's sessions except the one with the hash,
// and counts them. Nothing ended, nothing recorded.
func (d *DB) DeleteSessionsOf(ctx context.Context, user int64, except string, e access.Entry) (int64, error) {
	var n int64
	err := d.tx(ctx, "end the sessions of "+userTag(user), func(tx *gorm.DB) error {
		gone := tx.Exec("DELETE FROM sessions WHERE user_id=? AND id_hash<>?", user, except)
		if n = gone.RowsAffected; gone.Error != nil || n == 0 {
			return gone.Error
		}
		return recordAudit(tx, e)
	})
	return n, err
}

// pruneBatch bounds one transaction of pruning.
const pruneBatch = 500

// PruneSessions drops up to 500 sessions that expired before now or were last
// seen before idle, and counts them. Half sign-ins that expired go too.
func (d *DB) PruneSessions(ctx context.Context, now, idle time.Time) (int64, error) {
	var n int64
	err := d.tx(ctx, "prune sessions", func(tx *gorm.DB) error {
		var hashes []string
		for _, table := range []string{"half_sign_ins", "spent_states"} {
			if err := tx.Exec("DELETE FROM "+table+" WHERE expires_at<=?", at(now)).Error; err != nil {
				return err
			}
		}
		err := tx.Raw("SELECT id_hash FROM sessions WHERE expires_at<=? OR seen_at<=? ORDER BY id_hash LIMIT ?",
			at(now), at(idle), pruneBatch).Scan(&hashes).Error
		if err != nil || len(hashes) == 0 {
			return err
		}
		gone := tx.Exec("DELETE FROM sessions WHERE id_hash IN ? AND (expires_at<=? OR seen_at<=?)", hashes, at(now), at(idle))
		n = gone.RowsAffected
		return gone.Error
	})
	return n, err
}
