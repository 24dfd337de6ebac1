package db

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"ax/app/access"
)

// SetTeamCommands stores whether the team's tasks may run commands, with the
// audit row of it. Faults: NotFound.
func (d *DB) SetTeamCommands(ctx context.Context, team int64, on bool, entry func(was bool) access.Entry) error {
	return d.tx(ctx, "open commands to a team", func(tx *gorm.DB) error {
		if err := d.lockTeam(tx, team); err != nil {
			return err
		}
		was, err := runsCommands(tx, team)
		if err != nil {
			return err
		}
		switch {
		case on && !was:
			err = tx.Exec("INSERT INTO command_teams (team_id) VALUES (?)", team).Error
		case was && !on:
			err = tx.Exec("DELETE FROM command_teams WHERE team_id=?", team).Error
		}
		if err != nil {
			return err
		}
		return recordAudit(tx, entry(was))
	})
}

// RunsCommands tells whether tasks of the team may run commands of nodes.
func (d *DB) RunsCommands(ctx context.Context, team int64) (bool, error) {
	on, err := runsCommands(d.view(ctx), team)
	if err != nil {
		return false, fmt.Errorf("read whether team %d may run commands: %w", team, away(err))
	}
	return on, nil
}

func runsCommands(tx *gorm.DB, team int64) (bool, error) {
	var n int64
	err := tx.Raw("SELECT COUNT(*) FROM command_teams WHERE team_id=?", team).Scan(&n).Error
	return n > 0, err
}
