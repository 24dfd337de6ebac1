package db

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/fault"
)

// SetTeamCommands stores whether the team's tasks may run commands, with the
// audit row of it. Faults: NotFound.
func (d *DB) SetTeamCommands(ctx context.Context, team int64, on bool, entry func(was bool) access.Entry) error {
	return d.tx(ctx, "open commands to a team", func(tx *gorm.DB) error {
		var was []bool
		if err := tx.Raw("SELECT commands FROM teams WHERE id=?"+d.dialect.forUpdate, team).Scan(&was).Error; err != nil {
			return err
		}
		if len(was) == 0 {
			return fault.NotFound("There is no such team")
		}
		if err := tx.Exec("UPDATE teams SET commands=? WHERE id=?", on, team).Error; err != nil {
			return err
		}
		return recordAudit(tx, entry(was[0]))
	})
}

// RunsCommands tells whether tasks of the team may run commands of nodes.
func (d *DB) RunsCommands(ctx context.Context, team int64) (bool, error) {
	var on []bool
	if err := d.view(ctx).Raw("SELECT commands FROM teams WHERE id=?", team).Scan(&on).Error; err != nil {
		return false, fmt.Errorf("read whether team %d may run commands: %w", team, away(err))
	}
	return len(on) == 1 && on[0], nil
}
