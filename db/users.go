package db

import (
	"context"
	"fmt"
	"strconv"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/fault"
)

// userRow is a row of users.
type userRow struct {
	ID           int64
	Login        string
	Name         string
	Email        string
	PasswordHash string
	Admin        bool
	Auditor      bool
	Disabled     bool
	Language     string
	Zone         string
	Theme        string
	Epoch        int
	CreatedAt    Millis
	LastLoginAt  Millis
}

// TableName is read by GORM.
func (userRow) TableName() string { return "users" }

func userRowOf(p access.Person) userRow {
	return userRow{
		ID: p.ID, Login: p.Login, Name: p.Name, Email: p.Email, PasswordHash: p.PasswordHash,
		Admin: p.Admin, Auditor: p.Auditor, Disabled: p.Disabled,
		Language: p.Language, Zone: p.Zone, Theme: p.Theme, Epoch: p.Epoch,
		CreatedAt: at(p.CreatedAt), LastLoginAt: at(p.LastLoginAt),
	}
}

func (r userRow) person() access.Person {
	return access.Person{
		ID: r.ID, Login: r.Login, Name: r.Name, Email: r.Email, PasswordHash: r.PasswordHash,
		Admin: r.Admin, Auditor: r.Auditor, Disabled: r.Disabled,
		Language: r.Language, Zone: r.Zone, Theme: r.Theme, Epoch: r.Epoch,
		CreatedAt: r.CreatedAt.Time, LastLoginAt: r.LastLoginAt.Time,
	}
}

// numbered gives an audit entry the id of the object that was just made.
func numbered(e access.Entry, id int64) access.Entry {
	e.Object.ID = strconv.FormatInt(id, 10)
	return e
}

// taken is a Conflict that a form can show at its field.
func taken(field, format string, args ...any) error {
	f := fault.Field(field, format, args...)
	return &fault.Error{Kind: fault.KindConflict, Text: f.Text, Fields: []fault.FieldError{f}}
}

// InsertUser stores a new person. Faults: Conflict with the field (the login
// is taken).
func (d *DB) InsertUser(ctx context.Context, p access.Person, e access.Entry) (int64, error) {
	var id int64
	err := d.tx(ctx, "store user "+p.Login, func(tx *gorm.DB) (err error) {
		id, err = insertUser(tx, p, e)
		return err
	})
	return id, err
}

func insertUser(tx *gorm.DB, p access.Person, e access.Entry) (int64, error) {
	r := userRowOf(p)
	r.ID = 0
	if err := tx.Create(&r).Error; isDuplicate(err) {
		return 0, taken("login", "The login %s is taken", p.Login)
	} else if err != nil {
		return 0, err
	}
	return r.ID, recordAudit(tx, numbered(e, r.ID))
}

// User gives the person of an id; NotFound when there is none.
func (d *DB) User(ctx context.Context, id int64) (access.Person, error) {
	return takeUser(d.view(ctx), "id=?", id)
}

// UserByLogin gives the person of a login in lower case; NotFound when there
// is none.
func (d *DB) UserByLogin(ctx context.Context, login string) (access.Person, error) {
	return takeUser(d.view(ctx), "login=?", login)
}

func takeUser(tx *gorm.DB, cond string, arg any) (access.Person, error) {
	var r userRow
	err := tx.Raw("SELECT * FROM users WHERE "+cond, arg).Take(&r).Error
	if isNotFound(err) {
		return access.Person{}, fault.NotFound("There is no such user")
	}
	if err != nil {
		return access.Person{}, fmt.Errorf("read a user: %w", away(err))
	}
	return r.person(), nil
}

// ChangeUser locks a person, asks change what to store, and stores it with the
// audit row. Login and id never change. Faults: NotFound; Conflict when the
// last administrator would be lost; those of change.
func (d *DB) ChangeUser(ctx context.Context, id int64, change func(access.Person) (access.Person, access.Entry, error)) (access.Person, error) {
	var is access.Person
	err := d.tx(ctx, "change user "+strconv.FormatInt(id, 10), func(tx *gorm.DB) error {
		was, otherAdmins, err := d.lockUser(tx, id)
		if err != nil {
			return err
		}
		var e access.Entry
		if is, e, err = change(was); err != nil {
			return err
		}
		if rules(was) && !rules(is) && otherAdmins == 0 {
			return fault.Conflict("This is the last administrator")
		}
		is.ID, is.Login = was.ID, was.Login
		if err := writeUser(tx, is); err != nil {
			return err
		}
		if err := keepByHand(tx, was, is); err != nil {
			return err
		}
		return recordAudit(tx, e)
	})
	if err != nil {
		return access.Person{}, err
	}
	return is, nil
}

// keepByHand makes a right that was given or taken in ax one that a provider's
// groups don't take back.
func keepByHand(tx *gorm.DB, was, is access.Person) error {
	if was.Admin == is.Admin && was.Auditor == is.Auditor {
		return nil
	}
	return tx.Exec("UPDATE identities SET admin=CASE WHEN ? THEN admin ELSE 0 END, auditor=CASE WHEN ? THEN auditor ELSE 0 END WHERE user_id=?",
		was.Admin == is.Admin, was.Auditor == is.Auditor, is.ID).Error
}

func rules(p access.Person) bool { return p.Admin && !p.Disabled }

// lockUser locks the person and all administrators, by rising id: of two
// administrators who depose each other at once, the second must see the first.
func (d *DB) lockUser(tx *gorm.DB, id int64) (p access.Person, otherAdmins int, err error) {
	var rows []userRow
	err = tx.Raw("SELECT * FROM users WHERE id=? OR (admin=1 AND disabled=0) ORDER BY id"+d.dialect.forUpdate, id).Scan(&rows).Error
	if err != nil {
		return p, 0, err
	}
	for _, r := range rows {
		if r.ID == id {
			p = r.person()
		} else {
			otherAdmins++
		}
	}
	if p.ID == 0 {
		return p, 0, fault.NotFound("There is no such user")
	}
	return p, otherAdmins, nil
}

func writeUser(tx *gorm.DB, p access.Person) error {
	r := userRowOf(p)
	return tx.Exec("UPDATE users SET name=?, email=?, password_hash=?, admin=?, auditor=?, disabled=?,"+
		" language=?, zone=?, theme=?, epoch=? WHERE id=?",
		r.Name, r.Email, r.PasswordHash, r.Admin, r.Auditor, r.Disabled, r.Language, r.Zone, r.Theme, r.Epoch, r.ID).Error
}

// HasAdmin tells whether there is an administrator who may sign in.
func (d *DB) HasAdmin(ctx context.Context) (bool, error) { return hasAdmin(d.view(ctx)) }

func hasAdmin(tx *gorm.DB) (bool, error) {
	var ids []int64
	if err := tx.Raw("SELECT id FROM users WHERE admin=1 AND disabled=0 LIMIT 1").Scan(&ids).Error; err != nil {
		return false, fmt.Errorf("look for an administrator: %w", away(err))
	}
	return len(ids) > 0, nil
}
