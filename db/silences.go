package db

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/fault"
)

// silenceRow is a row of silences.
type silenceRow struct {
	ID         int64
	TeamID     int64
	ScopeKind  string
	ScopeValue string
	RuleID     int64
	Reason     string
	StartsAt   Millis
	EndsAt     Millis
	Cron       string
	Zone       string
	LastsMs    int64
	Hold       bool
	CreatedBy  string
	CreatedAt  Millis
	EndedAt    Millis
}

// TableName is read by GORM.
func (silenceRow) TableName() string { return "silences" }

func silenceRowOf(s alert.Silence) silenceRow {
	return silenceRow{
		TeamID: s.TeamID, ScopeKind: string(s.Scope.Kind), ScopeValue: s.Scope.Value, RuleID: s.RuleID, Reason: s.Reason,
		StartsAt: at(s.StartsAt), EndsAt: at(s.EndsAt), Cron: s.Cron, Zone: s.Zone, LastsMs: s.Lasts.Milliseconds(), Hold: s.Hold,
		CreatedBy: clip(s.CreatedBy, 100), CreatedAt: at(s.CreatedAt), EndedAt: at(s.EndedAt),
	}
}

func (r silenceRow) silence() alert.Silence {
	return alert.Silence{
		ID: r.ID, TeamID: r.TeamID, Scope: alert.Scope{Kind: alert.ScopeKind(r.ScopeKind), Value: r.ScopeValue}, RuleID: r.RuleID, Reason: r.Reason,
		StartsAt: r.StartsAt.Time, EndsAt: r.EndsAt.Time, Cron: r.Cron, Zone: r.Zone, Lasts: millis(r.LastsMs), Hold: r.Hold,
		CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt.Time, EndedAt: r.EndedAt.Time,
	}
}

// openSilence is what is true of a silence that is not over at a moment.
const openSilence = "ended_at IS NULL AND (ends_at IS NULL OR ends_at>?)"

func (d *DB) silences(ctx context.Context, tail string, args ...any) ([]alert.Silence, error) {
	var rows []silenceRow
	if err := d.view(ctx).Raw("SELECT * FROM silences"+tail, args...).Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("list silences: %w", away(err))
	}
	out := make([]alert.Silence, len(rows))
	for i, r := range rows {
		out[i] = r.silence()
	}
	return out, nil
}

// OpenSilencesOf lists the silences of the scope and of every team that are not
// over, the newest first.
func (d *DB) OpenSilencesOf(ctx context.Context, s access.Scope, now time.Time) ([]alert.Silence, error) {
	w := &where{}
	w.shared("team_id", s)
	w.and(openSilence, at(now))
	return d.silences(ctx, w.sql()+" ORDER BY id DESC", w.args...)
}

// EndedSilencesOf lists those that are over with ids below before (0: from the
// newest), the newest first.
func (d *DB) EndedSilencesOf(ctx context.Context, s access.Scope, now time.Time, before int64, limit int) ([]alert.Silence, error) {
	w := &where{}
	w.shared("team_id", s)
	w.and("(ended_at IS NOT NULL OR ends_at<=?)", at(now))
	if before > 0 {
		w.and("id<?", before)
	}
	return d.silences(ctx, w.sql()+" ORDER BY id DESC LIMIT ?", append(w.args, limit)...)
}

// ActiveSilences lists those that are not over, of which alert.Silence.Active
// tells which hold messages back at now.
func (d *DB) ActiveSilences(ctx context.Context, now time.Time) ([]alert.Silence, error) {
	return d.silences(ctx, " WHERE "+openSilence+" AND starts_at<=? ORDER BY id", at(now), at(now))
}

// HoldingSilences lists those that pause tasks and are not over.
func (d *DB) HoldingSilences(ctx context.Context, now time.Time) ([]alert.Silence, error) {
	return d.silences(ctx, " WHERE "+openSilence+" AND hold=? ORDER BY id", at(now), true)
}

// Silence gives one. Faults: NotFound.
func (d *DB) Silence(ctx context.Context, id int64) (alert.Silence, error) {
	return takeSilence(d.view(ctx), "", id)
}

func takeSilence(tx *gorm.DB, lock string, id int64) (alert.Silence, error) {
	var r silenceRow
	err := tx.Raw("SELECT * FROM silences WHERE id=?"+lock, id).Take(&r).Error
	if isNotFound(err) {
		return alert.Silence{}, access.NoObject()
	}
	if err != nil {
		return alert.Silence{}, fmt.Errorf("read silence %d: %w", id, away(err))
	}
	return r.silence(), nil
}

// InsertSilence stores a silence. Faults: NotFound (the team), Conflict when the
// team has most that are not over.
func (d *DB) InsertSilence(ctx context.Context, s alert.Silence, most int, e access.Entry) (alert.Silence, error) {
	err := d.tx(ctx, "store a silence", func(tx *gorm.DB) error {
		n, err := d.countShared(tx, "silences", s.TeamID, openSilence, at(s.CreatedAt))
		if err != nil {
			return err
		}
		if n >= most {
			return fault.Conflict("There are %d silences that are not over: end some first", n)
		}
		r := silenceRowOf(s)
		if err := tx.Create(&r).Error; err != nil {
			return err
		}
		s = r.silence()
		return recordAudit(tx, numbered(e, r.ID))
	})
	return s, err
}

// ChangeSilence locks a silence, asks change what is to become of it, and stores
// when it was ended, with the audit row. Faults: NotFound, those of change.
func (d *DB) ChangeSilence(ctx context.Context, id int64, change func(alert.Silence) (alert.Silence, access.Entry, error)) (alert.Silence, error) {
	var is alert.Silence
	err := d.tx(ctx, "change a silence", func(tx *gorm.DB) error {
		was, err := takeSilence(tx, d.dialect.forUpdate, id)
		if err != nil {
			return err
		}
		var e access.Entry
		if is, e, err = change(was); err != nil {
			return err
		}
		if err := tx.Exec("UPDATE silences SET ended_at=? WHERE id=?", at(is.EndedAt), id).Error; err != nil {
			return err
		}
		return recordAudit(tx, e)
	})
	return is, err
}
