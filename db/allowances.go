package db

import (
	"context"
	"fmt"
	"net/netip"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/fault"
)

// allowanceRow is a row of target_allowances.
type allowanceRow struct {
	ID        int64
	TeamID    int64
	Prefix    string
	Reason    string
	CreatedBy string
	CreatedAt Millis
}

// TableName is read by GORM.
func (allowanceRow) TableName() string { return "target_allowances" }

func (r allowanceRow) allowance() (access.Allowance, error) {
	p, err := netip.ParsePrefix(r.Prefix)
	if err != nil {
		return access.Allowance{}, fmt.Errorf("allowance %d: %w", r.ID, err)
	}
	return access.Allowance{ID: r.ID, TeamID: r.TeamID, Prefix: p, Reason: r.Reason, CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt.Time}, nil
}

// Allowances lists the ranges that are open to the team, by range.
func (d *DB) Allowances(ctx context.Context, team int64) ([]access.Allowance, error) {
	var rows []allowanceRow
	if err := d.view(ctx).Raw("SELECT * FROM target_allowances WHERE team_id=? ORDER BY prefix", team).Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("list the allowances of team %d: %w", team, away(err))
	}
	out := make([]access.Allowance, len(rows))
	for i, r := range rows {
		var err error
		if out[i], err = r.allowance(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// InsertAllowance stores a range that is open to a team from now on and gives
// its id. Faults: NotFound (the team), Conflict with the field (the team has
// the range, or most of them).
func (d *DB) InsertAllowance(ctx context.Context, a access.Allowance, most int, e access.Entry) (int64, error) {
	var id int64
	err := d.tx(ctx, "store an allowance", func(tx *gorm.DB) error {
		n, err := d.countOfTeam(tx, "target_allowances", a.TeamID)
		if err != nil {
			return err
		}
		if n >= most {
			return taken("prefix", "The team has %d ranges already: take some out, or open a wider one", n)
		}
		r := allowanceRow{TeamID: a.TeamID, Prefix: a.Prefix.String(), Reason: a.Reason, CreatedBy: clip(a.CreatedBy, 100), CreatedAt: at(a.CreatedAt)}
		if err := tx.Create(&r).Error; isDuplicate(err) {
			return taken("prefix", "The team may call %s already", r.Prefix)
		} else if err != nil {
			return err
		}
		id = r.ID
		return recordAudit(tx, numbered(e, id))
	})
	return id, err
}

// countOfTeam locks the team, so that two who add at once are counted, and
// counts its rows of a table. Faults: NotFound (the team).
func (d *DB) countOfTeam(tx *gorm.DB, table string, team int64) (int, error) {
	if err := d.lockTeam(tx, team); err != nil {
		return 0, err
	}
	var n int
	err := tx.Raw("SELECT COUNT(*) FROM "+table+" WHERE team_id=?", team).Scan(&n).Error
	return n, err
}

func (d *DB) lockTeam(tx *gorm.DB, team int64) error {
	var ids []int64
	err := tx.Raw("SELECT id FROM teams WHERE id=?"+d.dialect.forUpdate, team).Scan(&ids).Error
	if err == nil && len(ids) == 0 {
		err = fault.NotFound("There is no such team")
	}
	return err
}

// DeleteAllowance closes a range of the team again. Faults: NotFound.
func (d *DB) DeleteAllowance(ctx context.Context, team, id int64, entry func(access.Allowance) access.Entry) error {
	return d.tx(ctx, "delete an allowance", func(tx *gorm.DB) error {
		var r allowanceRow
		err := tx.Raw("SELECT * FROM target_allowances WHERE id=? AND team_id=?"+d.dialect.forUpdate, id, team).Take(&r).Error
		if isNotFound(err) {
			return fault.NotFound("There is no such allowance")
		}
		if err != nil {
			return err
		}
		was, err := r.allowance()
		if err != nil {
			return err
		}
		if err := tx.Exec("DELETE FROM target_allowances WHERE id=?", id).Error; err != nil {
			return err
		}
		return recordAudit(tx, entry(was))
	})
}
