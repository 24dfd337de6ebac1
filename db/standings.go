package db

import (
	"context"
	"fmt"

	"ax/app/access"
)

// Standing gives a person with their roles by team. Faults: NotFound.
func (d *DB) Standing(ctx context.Context, user int64) (access.Person, map[int64]access.Role, error) {
	p, err := d.User(ctx, user)
	if err != nil {
		return access.Person{}, nil, err
	}
	roles, err := d.roles(ctx, user)
	return p, roles, err
}

// Standings lists all people by login, without password hashes.
func (d *DB) Standings(ctx context.Context) ([]access.Standing, error) {
	var rows []struct {
		User     userRow `gorm:"embedded"`
		LastSeen Millis
		StepAt   Millis
		Issuer   *string
		Subject  *string
	}
	err := d.view(ctx).Raw("SELECT u.*, s.seen AS last_seen, c.confirmed_at AS step_at, i.issuer, i.subject FROM users u" +
		" LEFT JOIN second_steps c ON c.user_id=u.id LEFT JOIN identities i ON i.user_id=u.id" +
		" LEFT JOIN (SELECT user_id, MAX(seen_at) AS seen FROM sessions GROUP BY user_id) s ON s.user_id=u.id ORDER BY u.login").Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("list users: %w", away(err))
	}
	var places []struct {
		UserID, TeamID int64
		Role           access.Role
	}
	if err := d.view(ctx).Raw("SELECT user_id, team_id, role FROM memberships").Scan(&places).Error; err != nil {
		return nil, fmt.Errorf("list memberships: %w", away(err))
	}
	roles := map[int64]map[int64]access.Role{}
	for _, p := range places {
		if roles[p.UserID] == nil {
			roles[p.UserID] = map[int64]access.Role{}
		}
		roles[p.UserID][p.TeamID] = p.Role
	}
	out := make([]access.Standing, len(rows))
	for i, r := range rows {
		out[i] = access.Standing{
			Person: r.User.person(), Roles: roles[r.User.ID], LastSeen: r.LastSeen.Time,
			NoPassword: r.User.PasswordHash == "", SecondStep: !r.StepAt.IsZero(),
		}
		out[i].Person.PasswordHash = ""
		if r.Issuer != nil && r.Subject != nil {
			out[i].Bound = access.ProviderID{Issuer: *r.Issuer, Subject: *r.Subject}
		}
	}
	return out, nil
}
