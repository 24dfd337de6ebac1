package access

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"ax/app/fault"
)

// userStore keeps people. Each method is one transaction and writes the entry
// it is given in it.
type userStore interface {
	// InsertUser gives the new id, also to the entry's object; a login that
	// is taken is a Conflict with the field.
	InsertUser(ctx context.Context, p Person, e Entry) (int64, error)
	// User and UserByLogin are NotFound when there is none.
	User(ctx context.Context, id int64) (Person, error)
	UserByLogin(ctx context.Context, login string) (Person, error)
	// Standings lists all people by login, without password hashes.
	Standings(ctx context.Context) ([]Standing, error)
	// ChangeUser locks the person, asks change what to store, and stores it
	// with the entry. It refuses, as a Conflict, to leave an installation
	// that had an administrator without one.
	ChangeUser(ctx context.Context, id int64, change func(Person) (Person, Entry, error)) (Person, error)
	// BindIdentity makes the person the one of an identity in the place of
	// another ("" of subject: of none) and ends their sessions; a Conflict
	// when it is somebody else's.
	BindIdentity(ctx context.Context, user int64, id ProviderID, key string, now time.Time, e Entry) error
}

// Users are the people of the installation.
type Users struct {
	store  userStore
	hasher Hasher
	zone   func(string) bool
	now    func() time.Time
}

// UsersOptions are the parts of Users; all are required.
type UsersOptions struct {
	Store  userStore
	Hasher Hasher
	Zone   func(name string) bool // does this zone load?
	Now    func() time.Time
}

// NewUsers panics when a part is missing: a programmer's error at start.
func NewUsers(o UsersOptions) *Users {
	if o.Store == nil || o.Hasher == nil || o.Zone == nil || o.Now == nil {
		panic("access.NewUsers: a required part is missing")
	}
	return &Users{store: o.Store, hasher: o.Hasher, zone: o.Zone, now: o.Now}
}

// NewUser is what it takes to make a person.
type NewUser struct {
	Login    string
	Name     string
	Email    string
	Password string
	ByLink   bool // no password yet: the person chooses one by a link
	Admin    bool
	Auditor  bool
	Preferences
}

// Create makes a person. Admins and the command line only.
// Faults: NotFound, Denied, Invalid, Conflict (login taken).
func (u *Users) Create(ctx context.Context, a Actor, in NewUser) (Person, error) {
	if err := a.Check(Administer, 0); err != nil {
		return Person{}, err
	}
	p, err := newPerson(in, u.hasher, u.zone, u.now())
	if err != nil {
		return Person{}, err
	}
	p.ID, err = u.store.InsertUser(ctx, p, Entry{
		At: p.CreatedAt, Actor: a, Action: "user.create", Object: p.Object(), Changes: rightsOf(p),
	})
	if err != nil {
		return Person{}, fmt.Errorf("create user %s: %w", p.Login, err)
	}
	return p, nil
}

// newPerson checks all fields at once, then hashes; shared with the setup.
func newPerson(in NewUser, h Hasher, zone func(string) bool, now time.Time) (Person, error) {
	p := Person{
		Login: foldLogin(in.Login), Name: strings.TrimSpace(in.Name), Email: strings.TrimSpace(in.Email),
		Admin: in.Admin, Auditor: in.Auditor,
		Language: in.Language, Zone: in.Zone, Theme: in.Theme, CreatedAt: now,
	}
	var password []fault.FieldError
	if !in.ByLink {
		password = checkPassword(p.Login, in.Password)
	}
	bad := slices.Concat(checkLogin(p.Login), checkName("name", p.Name), checkEmail(p.Email), password, in.check(zone))
	if len(bad) > 0 {
		return Person{}, fault.Invalid(bad...)
	}
	if in.ByLink {
		return p, nil
	}
	hash, err := h.Hash(in.Password)
	if err != nil {
		return Person{}, fmt.Errorf("hash the password: %w", err)
	}
	p.PasswordHash = hash
	return p, nil
}

// Standing is a person as lists show them.
type Standing struct {
	Person   Person // without password hash; NoPassword tells whether there is one
	Roles    map[int64]Role
	LastSeen time.Time // newest session's; zero: none open
	// NoPassword: nobody can sign in with one yet.
	NoPassword bool
	SecondStep bool       // a code is asked for after the password
	Bound      ProviderID // who the person is at a provider; zero: nobody there
}

// List gives all people by login, to admins and auditors.
func (u *Users) List(ctx context.Context, a Actor) ([]Standing, error) {
	if err := a.Check(Read, 0); err != nil {
		return nil, err
	}
	return u.store.Standings(ctx)
}

// Get gives one person: to admins, auditors and the person. Faults: NotFound.
func (u *Users) Get(ctx context.Context, a Actor, id int64) (Person, error) {
	if !a.is(id) {
		if err := a.Check(Read, 0); err != nil {
			return Person{}, err
		}
	}
	return u.store.User(ctx, id)
}

// ByLogin finds a person for the command line and for admins. Faults: NotFound.
func (u *Users) ByLogin(ctx context.Context, a Actor, login string) (Person, error) {
	if err := a.Check(Read, 0); err != nil {
		return Person{}, err
	}
	return findLogin(ctx, u.store, login)
}

// SetPassword gives somebody a new password and ends their sessions. Admins
// and the command line only; a person uses Sessions.ChangePassword.
// Faults: NotFound, Denied, Invalid.
func (u *Users) SetPassword(ctx context.Context, a Actor, id int64, password string) error {
	if err := a.Check(Administer, 0); err != nil {
		return err
	}
	return u.setPassword(ctx, a, id, password)
}

func (u *Users) setPassword(ctx context.Context, a Actor, id int64, password string) error {
	was, err := u.store.User(ctx, id)
	if err != nil {
		return fmt.Errorf("set password: %w", err)
	}
	if bad := checkPassword(was.Login, password); bad != nil {
		return fault.Invalid(bad...)
	}
	// Hashing is slow and must not happen while the row is locked.
	hash, err := u.hasher.Hash(password)
	if err != nil {
		return fmt.Errorf("hash the password: %w", err)
	}
	return u.change(ctx, a, id, "user.password", func(p *Person) { p.PasswordHash = hash; p.Epoch++ })
}

// UpdatePreferences stores the person's own choices; sessions go on.
// Faults: Denied (not a person), Invalid.
func (u *Users) UpdatePreferences(ctx context.Context, a Actor, in Preferences) error {
	if a.Kind != User {
		return fault.Denied("Only a person has preferences")
	}
	if bad := in.check(u.zone); len(bad) > 0 {
		return fault.Invalid(bad...)
	}
	return u.change(ctx, a, a.ID, "user.preferences", func(p *Person) {
		p.Language, p.Zone, p.Theme = in.Language, in.Zone, in.Theme
	})
}

// Disable ends the person's sessions and lets none begin. Admins only.
// Faults: NotFound, Denied, Conflict (the last administrator).
func (u *Users) Disable(ctx context.Context, a Actor, id int64) error {
	if err := a.Check(Administer, 0); err != nil {
		return err
	}
	return u.change(ctx, a, id, "user.disable", func(p *Person) { p.Disabled = true; p.Epoch++ })
}

// Enable lets the person sign in again. Admins only. Faults: NotFound, Denied.
func (u *Users) Enable(ctx context.Context, a Actor, id int64) error {
	if err := a.Check(Administer, 0); err != nil {
		return err
	}
	return u.change(ctx, a, id, "user.enable", func(p *Person) { p.Disabled = false; p.Epoch++ })
}

// Rights are what a person may do beside the roles in teams.
type Rights struct {
	Admin   bool
	Auditor bool
}

// SetRights makes or unmakes an administrator or auditor and ends the
// person's sessions. Admins only. Faults: NotFound, Denied, Conflict (the
// last administrator).
func (u *Users) SetRights(ctx context.Context, a Actor, id int64, r Rights) error {
	if err := a.Check(Administer, 0); err != nil {
		return err
	}
	return u.change(ctx, a, id, "user.rights", func(p *Person) {
		p.Admin, p.Auditor = r.Admin, r.Auditor
		p.Epoch++
	})
}

// Bind makes the person the one who has the subject at the provider, in the
// place of another; "" makes them nobody there. What the provider gave before
// stays until its groups say otherwise. Sessions end. Admins only.
// Faults: NotFound, Denied, Invalid (subject), Conflict (somebody else's).
func (u *Users) Bind(ctx context.Context, a Actor, id int64, to ProviderID) error {
	if err := a.Check(Administer, 0); err != nil {
		return err
	}
	if to.Subject = strings.TrimSpace(to.Subject); to.Subject != "" && !to.Valid() {
		return fault.Invalid(fault.Field("subject", "A subject has at most %d characters, on one line", maxSubject))
	}
	p, err := u.store.User(ctx, id)
	if err != nil {
		return fmt.Errorf("bind a person to an identity: %w", err)
	}
	now := u.now()
	e := Entry{At: now, Actor: a, Action: "user.bind", Object: p.Object(), Changes: []Change{{Field: "subject", New: to.Subject}}, Reason: to.Issuer}
	if err := u.store.BindIdentity(ctx, id, to, to.key(), now, e); err != nil {
		return fmt.Errorf("bind %s to an identity: %w", p.Login, err)
	}
	return nil
}

// change stores an edit of a person with the audit row that tells of it.
func (u *Users) change(ctx context.Context, a Actor, id int64, action string, edit func(*Person)) error {
	_, err := u.store.ChangeUser(ctx, id, func(was Person) (Person, Entry, error) {
		is := was
		edit(&is)
		e := Entry{At: u.now(), Actor: a, Action: action, Object: was.Object(), Changes: diffPerson(was, is)}
		return is, e, nil
	})
	if err != nil {
		return fmt.Errorf("%s %d: %w", action, id, err)
	}
	return nil
}

// is tells whether the actor is the person.
func (a Actor) is(id int64) bool { return a.Kind == User && a.ID == id }
