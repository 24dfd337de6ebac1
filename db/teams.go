package db

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/fault"
)

// teamRow is a row of teams.
type teamRow struct {
	ID        int64
	Code      string
	Name      string
	CreatedAt Millis
	Commands  bool `gorm:"->"` // of command_teams
}

// teamColumns are what a teamRow is read from.
const teamColumns = "id, code, name, created_at, EXISTS (SELECT 1 FROM command_teams c WHERE c.team_id=teams.id) AS commands"

// TableName is read by GORM.
func (teamRow) TableName() string { return "teams" }

func (r teamRow) team() access.Team {
	return access.Team{ID: r.ID, Code: r.Code, Name: r.Name, CreatedAt: r.CreatedAt.Time, Commands: r.Commands}
}

// Teams lists the teams within the scope by code.
func (d *DB) Teams(ctx context.Context, s access.Scope) ([]access.Team, error) {
	w := &where{}
	w.scope("id", s)
	var rows []teamRow
	if err := d.view(ctx).Raw("SELECT "+teamColumns+" FROM teams"+w.sql()+" ORDER BY code", w.args...).Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("list teams: %w", away(err))
	}
	out := make([]access.Team, len(rows))
	for i, r := range rows {
		out[i] = r.team()
	}
	return out, nil
}

// Team gives the team of a code; NotFound when there is none.
func (d *DB) Team(ctx context.Context, code string) (access.Team, error) {
	return takeTeam(d.view(ctx), "", code)
}

func takeTeam(tx *gorm.DB, lock, code string) (access.Team, error) {
	var r teamRow
	err := tx.Raw("SELECT "+teamColumns+" FROM teams WHERE code=?"+lock, code).Take(&r).Error
	if isNotFound(err) {
		return access.Team{}, fault.NotFound("There is no such team")
	}
	if err != nil {
		return access.Team{}, fmt.Errorf("read a team: %w", away(err))
	}
	return r.team(), nil
}

// InsertTeam stores a new team with the alert rules that every team begins with.
// Faults: Conflict with the field (the code is taken).
func (d *DB) InsertTeam(ctx context.Context, t access.Team, e access.Entry) (int64, error) {
	var id int64
	err := d.tx(ctx, "store team "+t.Code, func(tx *gorm.DB) (err error) {
		id, err = insertTeam(tx, t, e)
		return err
	})
	return id, err
}

func insertTeam(tx *gorm.DB, t access.Team, e access.Entry) (int64, error) {
	r := teamRow{Code: t.Code, Name: t.Name, CreatedAt: at(t.CreatedAt)}
	if err := tx.Create(&r).Error; isDuplicate(err) {
		return 0, taken("code", "There is a team %s already", t.Code)
	} else if err != nil {
		return 0, err
	}
	if err := addRules(tx, r.ID, alert.TeamDefaults(), e.Actor.Name, t.CreatedAt); err != nil {
		return 0, err
	}
	e = numbered(e, r.ID)
	e.TeamID = r.ID
	return r.ID, recordAudit(tx, e)
}

// RenameTeam stores another name with the audit row of it. Faults: NotFound.
func (d *DB) RenameTeam(ctx context.Context, id int64, name string, entry func(was string) access.Entry) error {
	return d.tx(ctx, "rename a team", func(tx *gorm.DB) error {
		var was []string
		if err := tx.Raw("SELECT name FROM teams WHERE id=?"+d.dialect.forUpdate, id).Scan(&was).Error; err != nil {
			return err
		}
		if len(was) == 0 {
			return fault.NotFound("There is no such team")
		}
		if err := tx.Exec("UPDATE teams SET name=? WHERE id=?", name, id).Error; err != nil {
			return err
		}
		return recordAudit(tx, entry(was[0]))
	})
}

// Members lists the people of a team by login, without password hashes.
func (d *DB) Members(ctx context.Context, team int64) ([]access.Member, error) {
	var rows []struct {
		User     userRow `gorm:"embedded"`
		Role     string
		LastSeen Millis
		Provided bool
	}
	err := d.view(ctx).Raw("SELECT u.*, m.role AS role, s.seen AS last_seen, p.team_id IS NOT NULL AS provided FROM memberships m JOIN users u ON u.id=m.user_id"+
		" LEFT JOIN provided_members p ON p.team_id=m.team_id AND p.user_id=m.user_id"+
		" LEFT JOIN (SELECT user_id, MAX(seen_at) AS seen FROM sessions GROUP BY user_id) s ON s.user_id=u.id"+
		" WHERE m.team_id=? ORDER BY u.login", team).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("list the members of team %d: %w", team, away(err))
	}
	out := make([]access.Member, len(rows))
	for i, r := range rows {
		out[i] = access.Member{TeamID: team, Person: r.User.person(), Role: access.Role(r.Role), LastSeen: r.LastSeen.Time, Provided: r.Provided}
		out[i].Person.PasswordHash = ""
	}
	return out, nil
}

// ChangeMember locks the person, asks change which role is to follow the
// present one ("" is no membership, before and after), and stores it with the
// audit row. A role that is changed or taken ends the person's sessions.
// Faults: those of change; NotFound (the person).
func (d *DB) ChangeMember(ctx context.Context, team, user int64, change func(was access.Role) (access.Role, access.Entry, error)) error {
	return d.tx(ctx, "change the membership of "+userTag(user), func(tx *gorm.DB) error {
		// The person's row is the lock: a membership may not be there yet.
		if _, err := takeUser(tx, "id=?"+d.dialect.forUpdate, user); err != nil {
			return err
		}
		was, err := d.roleOf(tx, team, user)
		if err != nil {
			return err
		}
		is, e, err := change(was)
		if err != nil {
			return err
		}
		if err := d.storeMember(tx, team, user, was, is); err != nil {
			return err
		}
		return recordAudit(tx, e)
	})
}

// roleOf locks a membership and gives its role, "" for none.
func (d *DB) roleOf(tx *gorm.DB, team, user int64) (access.Role, error) {
	var roles []access.Role
	err := tx.Raw("SELECT role FROM memberships WHERE team_id=? AND user_id=?"+d.dialect.forUpdate, team, user).Scan(&roles).Error
	if err != nil || len(roles) == 0 {
		return "", err
	}
	return roles[0], nil
}

func (d *DB) storeMember(tx *gorm.DB, team, user int64, was, is access.Role) error {
	if was != "" && was != is {
		if err := tx.Exec("UPDATE users SET epoch=epoch+1 WHERE id=?", user).Error; err != nil {
			return err
		}
	}
	if err := forgetProvided(tx, team, user); err != nil { // from now on it is ax's own
		return err
	}
	if is == "" {
		return tx.Exec("DELETE FROM memberships WHERE team_id=? AND user_id=?", team, user).Error
	}
	return putMember(tx, d.dialect, team, user, is)
}

func putMember(tx *gorm.DB, dialect dialect, team, user int64, role access.Role) error {
	return tx.Exec("INSERT INTO memberships (team_id, user_id, role) VALUES (?, ?, ?) "+
		dialect.upsert("team_id, user_id", "role"), team, user, string(role)).Error
}
