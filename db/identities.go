package db

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/fault"
)

// identityRow is a row of identities.
type identityRow struct {
	IDHash    string
	Issuer    string
	Subject   string
	UserID    int64
	Admin     bool
	Auditor   bool
	CreatedAt Millis
}

// TableName is read by GORM.
func (identityRow) TableName() string { return "identities" }

// ApplyProvided locks the person of the identity, asks change what to store of
// rights and memberships, and stores it with the audit rows. A new person is
// bound to the identity. Faults: those of change; Conflict (the login is
// taken, or the identity is somebody's meanwhile).
func (d *DB) ApplyProvided(ctx context.Context, id access.ProviderID, key string, change func(access.Provided) (access.ProvidedChange, error)) (access.Person, error) {
	var p access.Person
	err := d.tx(ctx, "apply what the provider says of "+key[:12], func(tx *gorm.DB) error {
		was, err := d.provided(tx, key)
		if err != nil {
			return err
		}
		is, err := change(was)
		if err != nil {
			return err
		}
		if p, err = storeProvided(tx, id, key, is); err != nil {
			return err
		}
		for team, role := range is.Roles {
			if err := d.provideMember(tx, team, p.ID, role); err != nil {
				return err
			}
		}
		for _, e := range is.Entries {
			if err := recordAudit(tx, ofNew(e, p.ID)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return access.Person{}, err
	}
	return p, nil
}

// provided reads what there is, with the person locked.
func (d *DB) provided(tx *gorm.DB, key string) (access.Provided, error) {
	out := access.Provided{Roles: map[int64]access.Role{}, FromProvider: map[int64]bool{}}
	var teams []teamRow
	if err := tx.Raw("SELECT * FROM teams").Scan(&teams).Error; err != nil {
		return out, err
	}
	for _, t := range teams {
		out.Teams = append(out.Teams, t.team())
	}
	user, err := boundTo(tx, key)
	if err != nil || user == 0 {
		return out, err
	}
	if out.Person, out.OtherAdmins, err = d.lockUser(tx, user); err != nil {
		return out, err
	}
	var rows []identityRow // again: whoever binds it locks the person first
	if err := tx.Raw("SELECT * FROM identities WHERE id_hash=? AND user_id=?", key, user).Scan(&rows).Error; err != nil {
		return out, err
	}
	if len(rows) == 0 {
		return out, fault.Conflict("The identity was bound to somebody else meanwhile")
	}
	out.Admin, out.Auditor = rows[0].Admin, rows[0].Auditor
	var places []struct {
		TeamID int64
		Role   access.Role
		Given  bool
	}
	err = tx.Raw("SELECT m.team_id, m.role, p.team_id IS NOT NULL AS given FROM memberships m"+
		" LEFT JOIN provided_members p ON p.team_id=m.team_id AND p.user_id=m.user_id WHERE m.user_id=?", user).Scan(&places).Error
	for _, m := range places {
		out.Roles[m.TeamID], out.FromProvider[m.TeamID] = m.Role, m.Given
	}
	return out, err
}

// boundTo is the person of an identity; 0 is nobody.
func boundTo(tx *gorm.DB, key string) (int64, error) {
	var users []int64
	if err := tx.Raw("SELECT user_id FROM identities WHERE id_hash=?", key).Scan(&users).Error; err != nil || len(users) == 0 {
		return 0, err
	}
	return users[0], nil
}

// storeProvided stores the person with what came from the provider.
func storeProvided(tx *gorm.DB, id access.ProviderID, key string, is access.ProvidedChange) (access.Person, error) {
	if is.Person.ID != 0 {
		if err := writeUser(tx, is.Person); err != nil {
			return access.Person{}, err
		}
		return is.Person, tx.Exec("UPDATE identities SET admin=?, auditor=? WHERE id_hash=?", is.Admin, is.Auditor, key).Error
	}
	r := userRowOf(is.Person)
	if err := tx.Create(&r).Error; isDuplicate(err) {
		return access.Person{}, taken("login", "The login %s is taken", is.Person.Login)
	} else if err != nil {
		return access.Person{}, err
	}
	row := identityRow{
		IDHash: key, Issuer: id.Issuer, Subject: id.Subject, UserID: r.ID, Admin: is.Admin, Auditor: is.Auditor, CreatedAt: at(is.Person.CreatedAt),
	}
	if err := tx.Create(&row).Error; isDuplicate(err) {
		return access.Person{}, fault.Conflict("The identity was bound to somebody else meanwhile")
	} else if err != nil {
		return access.Person{}, err
	}
	return r.person(), nil
}

// provideMember stores a membership that comes from the provider; "" takes it
// away.
func (d *DB) provideMember(tx *gorm.DB, team, user int64, role access.Role) error {
	if err := forgetProvided(tx, team, user); err != nil {
		return err
	}
	if role == "" {
		return tx.Exec("DELETE FROM memberships WHERE team_id=? AND user_id=?", team, user).Error
	}
	if err := putMember(tx, d.dialect, team, user, role); err != nil {
		return err
	}
	return tx.Exec("INSERT INTO provided_members (user_id, team_id) VALUES (?,?)", user, team).Error
}

// forgetProvided makes a membership one that was given in ax.
func forgetProvided(tx *gorm.DB, team, user int64) error {
	return tx.Exec("DELETE FROM provided_members WHERE team_id=? AND user_id=?", team, user).Error
}

// ofNew fills in the id of a person who was made within the transaction.
func ofNew(e access.Entry, id int64) access.Entry {
	if e.Actor.ID == 0 {
		e.Actor.ID = id
	}
	if e.Object.Kind == "user" && e.Object.ID == "" {
		e = numbered(e, id)
	}
	return e
}

// BindIdentity makes the person the one of an identity, in the place of
// another; an empty subject makes them nobody's. Their sessions end. Faults:
// NotFound; Conflict (the identity is somebody else's).
func (d *DB) BindIdentity(ctx context.Context, user int64, id access.ProviderID, key string, now time.Time, e access.Entry) error {
	return d.tx(ctx, "bind "+userTag(user)+" to an identity", func(tx *gorm.DB) error {
		if _, err := takeUser(tx, "id=?"+d.dialect.forUpdate, user); err != nil {
			return err
		}
		if err := rebind(tx, user, id, key, now); err != nil {
			return err
		}
		if err := tx.Exec("UPDATE users SET epoch=epoch+1 WHERE id=?", user).Error; err != nil {
			return err
		}
		return recordAudit(tx, e)
	})
}

func rebind(tx *gorm.DB, user int64, id access.ProviderID, key string, now time.Time) error {
	if id.Subject == "" {
		return tx.Exec("DELETE FROM identities WHERE user_id=?", user).Error
	}
	done := tx.Exec("UPDATE identities SET id_hash=?, issuer=?, subject=? WHERE user_id=?", key, id.Issuer, id.Subject, user)
	err := done.Error
	if err == nil {
		var has int64
		has, err = boundTo(tx, key)
		if err == nil && has == 0 {
			row := identityRow{IDHash: key, Issuer: id.Issuer, Subject: id.Subject, UserID: user, CreatedAt: at(now)}
			err = tx.Create(&row).Error
		} else if err == nil && has != user {
			return boundAlready()
		}
	}
	if isDuplicate(err) {
		return boundAlready()
	}
	return err
}

func boundAlready() error {
	return fault.Conflict("Somebody else is bound to this subject already")
}

// SpendState notes that an answer of the provider was used, and tells whether
// this call did.
func (d *DB) SpendState(ctx context.Context, hash string, until time.Time) (bool, error) {
	err := d.tx(ctx, "spend a state", func(tx *gorm.DB) error {
		return tx.Exec("INSERT INTO spent_states (state_hash, expires_at) VALUES (?,?)", hash, at(until)).Error
	})
	if isDuplicate(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("note a used answer: %w", err)
	}
	return true, nil
}
