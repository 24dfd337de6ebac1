package db

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/fault"
)

// tokenRow is a row of api_tokens.
type tokenRow struct {
	ID         int64
	TeamID     int64
	Name       string
	Role       string
	Prefix     string
	Hash       string
	Last4      string
	CreatedBy  string
	CreatedAt  Millis
	ExpiresAt  Millis
	LastUsedAt Millis
	RevokedAt  Millis
}

// TableName is read by GORM.
func (tokenRow) TableName() string { return "api_tokens" }

func (r tokenRow) token() access.APIToken {
	return access.APIToken{
		ID: r.ID, TeamID: r.TeamID, Name: r.Name, Role: access.Role(r.Role), Prefix: r.Prefix, Hash: r.Hash, Last4: r.Last4,
		CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt.Time, ExpiresAt: r.ExpiresAt.Time,
		LastUsedAt: r.LastUsedAt.Time, RevokedAt: r.RevokedAt.Time,
	}
}

// InsertToken stores a new token and gives its id.
func (d *DB) InsertToken(ctx context.Context, t access.APIToken, e access.Entry) (int64, error) {
	var id int64
	err := d.tx(ctx, "store token "+t.Name, func(tx *gorm.DB) error {
		r := tokenRow{
			TeamID: t.TeamID, Name: t.Name, Role: string(t.Role), Prefix: t.Prefix, Hash: t.Hash, Last4: t.Last4,
			CreatedBy: clip(t.CreatedBy, 100), CreatedAt: at(t.CreatedAt), ExpiresAt: at(t.ExpiresAt),
		}
		if err := tx.Create(&r).Error; err != nil {
			return err
		}
		id = r.ID
		if err := insertTokenExecutors(tx, id, t.Executors); err != nil {
			return err
		}
		return recordAudit(tx, numbered(e, id))
	})
	return id, err
}

// Token gives the token of an id; NotFound when there is none.
func (d *DB) Token(ctx context.Context, id int64) (access.APIToken, error) {
	t, err := d.takeToken(ctx, "id=?", id)
	if err != nil {
		return t, err
	}
	names, err := d.tokenExecutors(ctx, "token_id=?", id)
	t.Executors = names[id]
	return t, err
}

// TokenByHash gives the token of a secret's hash; NotFound when there is none.
func (d *DB) TokenByHash(ctx context.Context, hash string) (access.APIToken, error) {
	return d.takeToken(ctx, "hash=?", hash)
}

func (d *DB) takeToken(ctx context.Context, cond string, arg any) (access.APIToken, error) {
	var r tokenRow
	err := d.view(ctx).Raw("SELECT * FROM api_tokens WHERE "+cond, arg).Take(&r).Error
	if isNotFound(err) {
		return access.APIToken{}, fault.NotFound("There is no such token")
	}
	if err != nil {
		return access.APIToken{}, fmt.Errorf("read a token: %w", away(err))
	}
	return r.token(), nil
}

// Tokens lists the tokens of a team, newest first, the dead ones too.
func (d *DB) Tokens(ctx context.Context, team int64) ([]access.APIToken, error) {
	var rows []tokenRow
	if err := d.view(ctx).Raw("SELECT * FROM api_tokens WHERE team_id=? ORDER BY id DESC", team).Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("list the tokens of team %d: %w", team, away(err))
	}
	names, err := d.tokenExecutors(ctx, "token_id IN (SELECT id FROM api_tokens WHERE team_id=?)", team)
	if err != nil {
		return nil, err
	}
	out := make([]access.APIToken, len(rows))
	for i, r := range rows {
		out[i] = r.token()
		out[i].Executors = names[r.ID]
	}
	return out, nil
}

// TouchToken notes that the token was used at the time.
func (d *DB) TouchToken(ctx context.Context, id int64, used time.Time) error {
	return d.tx(ctx, "touch a token", func(tx *gorm.DB) error {
		return tx.Exec("UPDATE api_tokens SET last_used_at=? WHERE id=? AND (last_used_at IS NULL OR last_used_at<?)",
			at(used), id, at(used)).Error
	})
}

// RevokeToken ends a token. Faults: Conflict (it is revoked already).
func (d *DB) RevokeToken(ctx context.Context, id int64, now time.Time, e access.Entry) error {
	return d.tx(ctx, "revoke a token", func(tx *gorm.DB) error {
		done := tx.Exec("UPDATE api_tokens SET revoked_at=? WHERE id=? AND revoked_at IS NULL", at(now), id)
		if done.Error != nil {
			return done.Error
		}
		if done.RowsAffected == 0 {
			return fault.Conflict("This token is revoked already")
		}
		return recordAudit(tx, e)
	})
}
