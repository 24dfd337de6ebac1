package db

import (
	"context"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
)

// secretRow is a row of secrets.
type secretRow struct {
	ID        string
	TeamID    int64
	Name      string
	Hosts     string // apart by spaces
	Sealed    string
	CreatedBy string
	CreatedAt Millis
	ChangedBy string
	ChangedAt Millis
}

// TableName is read by GORM.
func (secretRow) TableName() string { return "secrets" }

func (r secretRow) secret() access.Secret {
	return access.Secret{
		ID: r.ID, TeamID: r.TeamID, Name: r.Name, Hosts: strings.Fields(r.Hosts),
		CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt.Time, ChangedBy: r.ChangedBy, ChangedAt: r.ChangedAt.Time,
	}
}

// Secrets lists those of a team by name, with the number of tasks that name
// each. Their values stay where they are.
func (d *DB) Secrets(ctx context.Context, team int64) ([]access.Secret, error) {
	var rows []secretRow
	q := "SELECT id, team_id, name, hosts, created_by, created_at, changed_by, changed_at FROM secrets WHERE team_id=? ORDER BY name"
	err := d.view(ctx).Raw(q, team).Scan(&rows).Error
	var naming map[string][]string
	if err == nil && len(rows) > 0 {
		naming, err = tasksCarrying(d.view(ctx), team)
	}
	if err != nil {
		return nil, fmt.Errorf("list the secrets of team %d: %w", team, away(err))
	}
	out := make([]access.Secret, len(rows))
	for i, r := range rows {
		out[i] = r.secret()
		out[i].Tasks = len(naming[r.Name])
	}
	return out, nil
}

// tasksCarrying gives, by the name of a secret, the codes of the team's tasks
// that name it, in a header of their target or hook or as their certificate.
func tasksCarrying(q *gorm.DB, team int64) (map[string][]string, error) {
	return tasksNaming(q, team, sched.Spec.Secrets, "{{secret:", `"client_cert":`)
}

// Secret gives one with its sealed value. Faults: NotFound.
func (d *DB) Secret(ctx context.Context, team int64, name string) (access.Secret, string, error) {
	var r secretRow
	err := d.view(ctx).Raw("SELECT * FROM secrets WHERE team_id=? AND name=?", team, name).Take(&r).Error
	if isNotFound(err) {
		return access.Secret{}, "", fault.NotFound("There is no such secret")
	}
	if err != nil {
		return access.Secret{}, "", fmt.Errorf("read a secret of team %d: %w", team, away(err))
	}
	return r.secret(), r.Sealed, nil
}

// InsertSecret stores a sealed secret. Faults: NotFound (the team), Conflict
// with the field (the team has the name already, or has most of them).
func (d *DB) InsertSecret(ctx context.Context, s access.Secret, sealed string, most int, e access.Entry) error {
	return d.tx(ctx, "store a secret", func(tx *gorm.DB) error {
		n, err := d.countOfTeam(tx, "secrets", s.TeamID)
		if err != nil {
			return err
		}
		if n >= most {
			return taken("name", "The team has %d secrets, and no more are kept", n)
		}
		r := secretRow{
			ID: s.ID, TeamID: s.TeamID, Name: s.Name, Hosts: strings.Join(s.Hosts, " "), Sealed: sealed,
			CreatedBy: clip(s.CreatedBy, 100), CreatedAt: at(s.CreatedAt), ChangedBy: clip(s.ChangedBy, 100), ChangedAt: at(s.ChangedAt),
		}
		if err := tx.Create(&r).Error; isDuplicate(err) {
			return taken("name", "The team has a secret %s already", s.Name)
		} else if err != nil {
			return err
		}
		return recordAudit(tx, e)
	})
}

// ChangeSecret stores other hosts and, unless sealed is empty, another value.
// Faults: NotFound.
func (d *DB) ChangeSecret(ctx context.Context, s access.Secret, sealed string, e access.Entry) error {
	return d.tx(ctx, "change a secret", func(tx *gorm.DB) error {
		if err := d.lockSecret(tx, s); err != nil {
			return err
		}
		set, args := "hosts=?, changed_by=?, changed_at=?", []any{strings.Join(s.Hosts, " "), clip(s.ChangedBy, 100), at(s.ChangedAt)}
		if sealed != "" {
			set, args = set+", sealed=?", append(args, sealed)
		}
		if err := tx.Exec("UPDATE secrets SET "+set+" WHERE id=?", append(args, s.ID)...).Error; err != nil {
			return err
		}
		return recordAudit(tx, e)
	})
}

// DeleteSecret takes a secret away. Faults: NotFound, Conflict (a task names
// it).
func (d *DB) DeleteSecret(ctx context.Context, s access.Secret, e access.Entry) error {
	return d.tx(ctx, "delete a secret", func(tx *gorm.DB) error {
		if err := d.lockSecret(tx, s); err != nil {
			return err
		}
		naming, err := tasksCarrying(tx, s.TeamID)
		if err != nil {
			return err
		}
		if codes := naming[s.Name]; len(codes) > 0 {
			return fault.Conflict("%s is named by %s; take it out of the headers there first", s.Name, few(codes))
		}
		if err := tx.Exec("DELETE FROM secrets WHERE id=?", s.ID).Error; err != nil {
			return err
		}
		return recordAudit(tx, e)
	})
}

func (d *DB) lockSecret(tx *gorm.DB, s access.Secret) error {
	var ids []string
	err := tx.Raw("SELECT id FROM secrets WHERE id=? AND team_id=?"+d.dialect.forUpdate, s.ID, s.TeamID).Scan(&ids).Error
	if err == nil && len(ids) == 0 {
		err = fault.NotFound("There is no such secret")
	}
	return err
}

// few names the first three.
func few(codes []string) string {
	if len(codes) > 3 {
		return strings.Join(codes[:3], ", ") + ", …"
	}
	return strings.Join(codes, ", ")
}
