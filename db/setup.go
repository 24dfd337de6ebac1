package db

import (
	"context"
	"strconv"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/fault"
)

// CompleteSetup makes the first administrator, the first team and the
// membership as its owner, and uses the link up. A team of that code that is
// there already (made by the command line) is renamed and taken.
// Faults: Conflict, and nothing is stored, when the link was used or replaced
// meanwhile, or there is an administrator.
func (d *DB) CompleteSetup(ctx context.Context, f access.FirstAdmin) (access.Person, access.Team, error) {
	var p access.Person
	var team access.Team
	err := d.tx(ctx, "complete the setup", func(tx *gorm.DB) (err error) {
		if err := useSetupLink(tx, f); err != nil {
			return err
		}
		e := f.Entry
		e.Action, e.Object = "user.create", f.Person.Object()
		e.Changes = []access.Change{{Field: "admin", Old: "false", New: "true"}}
		p = f.Person
		if p.ID, err = insertUser(tx, p, e); err != nil {
			return err
		}
		e.Actor.ID, e.Changes = p.ID, nil
		if team, err = d.firstTeam(tx, f.Team, e); err != nil {
			return err
		}
		if err := putMember(tx, d.dialect, team.ID, p.ID, access.Owner); err != nil {
			return err
		}
		e.Action, e.Object, e.TeamID = "team.member", team.Object(), team.ID
		e.Changes = []access.Change{{Field: p.Login, New: string(access.Owner)}}
		return recordAudit(tx, e)
	})
	if err != nil {
		return access.Person{}, access.Team{}, err
	}
	return p, team, nil
}

// useSetupLink lets one of several through: the others find no row to delete.
func useSetupLink(tx *gorm.DB, f access.FirstAdmin) error {
	used := tx.Exec("DELETE FROM settings WHERE name=? AND value=?", f.Setting, f.Value)
	if used.Error != nil {
		return used.Error
	}
	if used.RowsAffected == 0 {
		return fault.Conflict("The setup link was used or replaced")
	}
	has, err := hasAdmin(tx)
	if err == nil && has {
		err = fault.Conflict("There is an administrator already")
	}
	return err
}

func (d *DB) firstTeam(tx *gorm.DB, want access.Team, e access.Entry) (access.Team, error) {
	was, err := takeTeam(tx, d.dialect.forUpdate, want.Code)
	if fault.KindOf(err) == fault.KindNotFound {
		want.ID, err = insertTeam(tx, want, teamEntry(e, "team.create", want, ""))
		return want, err
	}
	if err != nil {
		return access.Team{}, err
	}
	old := was.Name
	was.Name = want.Name
	if err := tx.Exec("UPDATE teams SET name=? WHERE id=?", was.Name, was.ID).Error; err != nil {
		return access.Team{}, err
	}
	e = teamEntry(e, "team.rename", was, old)
	e.TeamID = was.ID
	return was, recordAudit(tx, e)
}

func teamEntry(e access.Entry, action string, t access.Team, old string) access.Entry {
	e.Action, e.Object = action, t.Object()
	e.Changes = []access.Change{{Field: "name", Old: old, New: t.Name}}
	return e
}

// userTag names a person in the text of an error.
func userTag(id int64) string { return "user " + strconv.FormatInt(id, 10) }
