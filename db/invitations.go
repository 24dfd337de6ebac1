package db

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/fault"
)

// invitationRow is a row of invitations.
type invitationRow struct {
	ID          int64
	Kind        string
	Hash        string
	TeamID      int64
	Role        string
	MeantFor    string
	UserID      int64
	ByUser      int64
	CreatedBy   string
	CreatedAt   Millis
	ExpiresAt   Millis
	UsedAt      Millis
	WithdrawnAt Millis
}

// TableName is read by GORM.
func (invitationRow) TableName() string { return "invitations" }

func (r invitationRow) invitation() access.Invitation {
	return access.Invitation{
		ID: r.ID, Kind: access.InvitationKind(r.Kind), Hash: r.Hash, TeamID: r.TeamID, Role: access.Role(r.Role), For: r.MeantFor,
		UserID: r.UserID, ByUser: r.ByUser, CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt.Time, ExpiresAt: r.ExpiresAt.Time,
		UsedAt: r.UsedAt.Time, WithdrawnAt: r.WithdrawnAt.Time,
	}
}

// isOpen is the guard of every statement that ends an invitation.
const isOpen = "used_at IS NULL AND withdrawn_at IS NULL AND expires_at>?"

// InsertInvitation stores a new one-time link and gives its id. Open links for
// the same person's password are withdrawn: the last one counts.
func (d *DB) InsertInvitation(ctx context.Context, i access.Invitation, e access.Entry) (int64, error) {
	var id int64
	err := d.tx(ctx, "store an invitation", func(tx *gorm.DB) error {
		now := at(i.CreatedAt)
		if i.Kind == access.NewPassword {
			err := tx.Exec("UPDATE invitations SET withdrawn_at=? WHERE user_id=? AND kind=? AND "+isOpen, now, i.UserID, string(i.Kind), now).Error
			if err != nil {
				return err
			}
		}
		r := invitationRow{
			Kind: string(i.Kind), Hash: i.Hash, TeamID: i.TeamID, Role: string(i.Role), MeantFor: i.For, UserID: i.UserID,
			ByUser: i.ByUser, CreatedBy: clip(i.CreatedBy, 100), CreatedAt: now, ExpiresAt: at(i.ExpiresAt),
		}
		if err := tx.Create(&r).Error; err != nil {
			return err
		}
		if id = r.ID; e.Object.ID == "" {
			e = numbered(e, id)
		}
		return recordAudit(tx, e)
	})
	return id, err
}

// Invitation gives the link of an id; NotFound when there is none.
func (d *DB) Invitation(ctx context.Context, id int64) (access.Invitation, error) {
	return d.takeInvitation(ctx, "id=?", id)
}

// InvitationByHash gives the link of a secret's hash; NotFound when there is
// none.
func (d *DB) InvitationByHash(ctx context.Context, hash string) (access.Invitation, error) {
	return d.takeInvitation(ctx, "hash=?", hash)
}

func (d *DB) takeInvitation(ctx context.Context, cond string, arg any) (access.Invitation, error) {
	var r invitationRow
	err := d.view(ctx).Raw("SELECT * FROM invitations WHERE "+cond, arg).Take(&r).Error
	if isNotFound(err) {
		return access.Invitation{}, fault.NotFound("There is no such invitation")
	}
	if err != nil {
		return access.Invitation{}, fmt.Errorf("read an invitation: %w", away(err))
	}
	return r.invitation(), nil
}

// OpenInvitations lists the team's links that can be used, newest first.
func (d *DB) OpenInvitations(ctx context.Context, team int64, now time.Time) ([]access.Invitation, error) {
	var rows []invitationRow
	err := d.view(ctx).Raw("SELECT * FROM invitations WHERE team_id=? AND kind=? AND "+isOpen+" ORDER BY id DESC",
		team, string(access.InviteToTeam), at(now)).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("list the invitations of team %d: %w", team, away(err))
	}
	out := make([]access.Invitation, len(rows))
	for i, r := range rows {
		out[i] = r.invitation()
	}
	return out, nil
}

// WithdrawInvitation ends a link. Faults: Conflict (it isn't open).
func (d *DB) WithdrawInvitation(ctx context.Context, id int64, now time.Time, e access.Entry) error {
	return d.tx(ctx, "withdraw an invitation", func(tx *gorm.DB) error {
		if err := endInvitation(tx, "withdrawn_at", id, now); err != nil {
			return err
		}
		return recordAudit(tx, e)
	})
}

// endInvitation lets one of several through: the others find no open row.
func endInvitation(tx *gorm.DB, column string, id int64, now time.Time) error {
	done := tx.Exec("UPDATE invitations SET "+column+"=? WHERE id=? AND "+isOpen, at(now), id, at(now))
	if done.Error != nil {
		return done.Error
	}
	if done.RowsAffected == 0 {
		return fault.Conflict("The invitation was used, withdrawn or has ended")
	}
	return nil
}

// AcceptInvitation uses a link into a team up and gives the person's id.
// Faults: Conflict (not open any more; the person is disabled), Conflict with
// the field (the login is taken).
func (d *DB) AcceptInvitation(ctx context.Context, a access.Acceptance) (int64, error) {
	id := a.Person.ID
	err := d.tx(ctx, "accept an invitation", func(tx *gorm.DB) (err error) {
		if err := endInvitation(tx, "used_at", a.Invitation.ID, a.At); err != nil {
			return err
		}
		if id = a.Person.ID; id == 0 {
			if id, err = insertUser(tx, a.Person, a.Made); err != nil {
				return err
			}
		}
		was, err := d.lockMember(tx, a.Invitation.TeamID, id)
		if err != nil {
			return err
		}
		is, e := a.Join(was)
		if e.Actor.ID == 0 {
			e.Actor.ID = id
		}
		if err := d.storeMember(tx, a.Invitation.TeamID, id, was, is); err != nil {
			return err
		}
		return recordAudit(tx, e)
	})
	return id, err
}

// lockMember locks a person who may sign in, and gives their role in the team.
func (d *DB) lockMember(tx *gorm.DB, team, user int64) (access.Role, error) {
	p, err := takeUser(tx, "id=?"+d.dialect.forUpdate, user)
	if err != nil {
		return "", err
	}
	if p.Disabled {
		return "", fault.Conflict("This person is disabled")
	}
	return d.roleOf(tx, team, user)
}

// UsePasswordLink uses a link to a new password up: it locks the person and
// stores what change says. Faults: Conflict (not open any more), those of
// change.
func (d *DB) UsePasswordLink(ctx context.Context, i access.Invitation, now time.Time, change func(access.Person) (access.Person, access.Entry, error)) error {
	return d.tx(ctx, "use a password link", func(tx *gorm.DB) error {
		if err := endInvitation(tx, "used_at", i.ID, now); err != nil {
			return err
		}
		was, err := takeUser(tx, "id=?"+d.dialect.forUpdate, i.UserID)
		if err != nil {
			return err
		}
		is, e, err := change(was)
		if err != nil {
			return err
		}
		if err := writeUser(tx, is); err != nil {
			return err
		}
		return recordAudit(tx, e)
	})
}
