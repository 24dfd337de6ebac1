package access

import (
	"context"
	"fmt"
	"strings"
	"time"

	"ax/app/fault"
)

// How long one-time links are good. An invitation may have to wait for a
// weekend; a link for a password opens an account that is there already.
const (
	InviteLife       = 72 * time.Hour
	PasswordLinkLife = 24 * time.Hour
)

// InvitationKind says what a one-time link opens.
type InvitationKind string

// The kinds of one-time link.
const (
	InviteToTeam InvitationKind = "team"     // join a team, with a login that is there or a new one
	NewPassword  InvitationKind = "password" // choose a password for a person that is there
)

// Invitation is a one-time link. Its secret is shown once and kept as a hash.
type Invitation struct {
	ID          int64
	Kind        InvitationKind
	Hash        string
	TeamID      int64 // of InviteToTeam
	Role        Role
	For         string // who is meant, in the words of who invited
	UserID      int64  // of NewPassword
	ByUser      int64  // who answers for it: 0 is the command line
	CreatedBy   string
	CreatedAt   time.Time
	ExpiresAt   time.Time
	UsedAt      time.Time // zero: not yet
	WithdrawnAt time.Time // zero: it wasn't
}

// Open tells whether the link can be used.
func (i Invitation) Open(now time.Time) bool {
	return i.UsedAt.IsZero() && i.WithdrawnAt.IsZero() && now.Before(i.ExpiresAt)
}

// Object of the invitation in an audit row.
func (i Invitation) Object() Object { return object("invitation", i.ID, i.For) }

// Acceptance is how an invitation to a team is used up.
type Acceptance struct {
	Invitation Invitation
	At         time.Time
	Person     Person // ID 0: a new one
	Made       Entry  // of the new one
	// Join says which role follows the one that the person has in the team
	// ("" is none), and the audit row of it.
	Join func(was Role) (Role, Entry)
}

// invitationStore keeps one-time links. Each method is one transaction. One
// that finds the link no longer open is a Conflict, and stores nothing.
type invitationStore interface {
	// InsertInvitation ends the open links for the same person's password.
	InsertInvitation(ctx context.Context, i Invitation, e Entry) (int64, error)
	// Invitation and InvitationByHash are NotFound when there is none.
	Invitation(ctx context.Context, id int64) (Invitation, error)
	InvitationByHash(ctx context.Context, hash string) (Invitation, error)
	// OpenInvitations of a team, newest first.
	OpenInvitations(ctx context.Context, team int64, now time.Time) ([]Invitation, error)
	WithdrawInvitation(ctx context.Context, id int64, now time.Time, e Entry) error
	// AcceptInvitation gives the person's id. A login that is taken is a
	// Conflict with the field.
	AcceptInvitation(ctx context.Context, a Acceptance) (int64, error)
	// UsePasswordLink locks the person and stores what change says.
	UsePasswordLink(ctx context.Context, i Invitation, now time.Time, change func(Person) (Person, Entry, error)) error

	// Standing is a person with their roles by team; NotFound.
	Standing(ctx context.Context, user int64) (Person, map[int64]Role, error)
	Teams(ctx context.Context, s Scope) ([]Team, error)
}

// Invitations are the one-time links by which people come in.
type Invitations struct {
	store  invitationStore
	hasher Hasher
	zone   func(string) bool
	now    func() time.Time
}

// InvitationsOptions are the parts of Invitations; all are required.
type InvitationsOptions struct {
	Store  invitationStore
	Hasher Hasher
	Zone   func(name string) bool // does this zone load?
	Now    func() time.Time
}

// NewInvitations panics when a part is missing: a programmer's error at start.
func NewInvitations(o InvitationsOptions) *Invitations {
	if o.Store == nil || o.Hasher == nil || o.Zone == nil || o.Now == nil {
		panic("access.NewInvitations: a required part is missing")
	}
	return &Invitations{store: o.Store, hasher: o.Hasher, zone: o.Zone, now: o.Now}
}

// Invite makes a link into the team and gives its secret, which can't be had
// again. Owners of the team only. Faults: NotFound, Denied, Invalid (role,
// for).
func (s *Invitations) Invite(ctx context.Context, a Actor, team Team, role Role, meant string) (string, Invitation, error) {
	if err := a.answers(ManageTeam, team.ID); err != nil {
		return "", Invitation{}, err
	}
	meant = strings.TrimSpace(meant)
	bad := checkName("for", meant)
	if !role.Valid() {
		bad = append(bad, fault.Field("role", "The role is viewer, operator, editor or owner"))
	}
	if err := fault.Invalid(bad...); err != nil {
		return "", Invitation{}, err
	}
	secret, now := newSecret(), s.now()
	made := Invitation{
		Kind: InviteToTeam, Hash: digest(secret), TeamID: team.ID, Role: role, For: meant,
		ByUser: a.personID(), CreatedBy: a.Name, CreatedAt: now, ExpiresAt: now.Add(InviteLife),
	}
	return s.insert(ctx, secret, made, Entry{
		At: now, Actor: a, Action: "invitation.create", Object: made.Object(), TeamID: team.ID,
		Changes: []Change{{Field: "role", New: string(role)}, {Field: "expires_at", New: stamp(made.ExpiresAt)}},
	})
}

// PasswordLink makes a link with which the person chooses a password, and ends
// the one before it. Admins only. Faults: NotFound, Denied, Conflict (the
// person is disabled).
func (s *Invitations) PasswordLink(ctx context.Context, a Actor, user int64) (string, Invitation, error) {
	if err := a.answers(Administer, 0); err != nil {
		return "", Invitation{}, err
	}
	p, _, err := s.store.Standing(ctx, user)
	if err != nil {
		return "", Invitation{}, fmt.Errorf("make a password link: %w", err)
	}
	if p.Disabled {
		return "", Invitation{}, fault.Conflict("%s is disabled: enable the login first", p.Login)
	}
	secret, now := newSecret(), s.now()
	made := Invitation{
		Kind: NewPassword, Hash: digest(secret), UserID: p.ID, For: p.Login,
		ByUser: a.personID(), CreatedBy: a.Name, CreatedAt: now, ExpiresAt: now.Add(PasswordLinkLife),
	}
	return s.insert(ctx, secret, made, Entry{
		At: now, Actor: a, Action: "user.password_link", Object: p.Object(),
		Changes: []Change{{Field: "expires_at", New: stamp(made.ExpiresAt)}},
	})
}

// answers is Check for what somebody has to answer for until it is used: a
// person whose rights can be looked up then, or the command line.
func (a Actor) answers(v Verb, team int64) error {
	if err := a.Check(v, team); err != nil {
		return err
	}
	if a.Kind == Token {
		return fault.Denied("A token can't invite people")
	}
	return nil
}

// personID is the id of an actor who is a person; else 0.
func (a Actor) personID() int64 {
	if a.Kind == User {
		return a.ID
	}
	return 0
}

func (s *Invitations) insert(ctx context.Context, secret string, made Invitation, e Entry) (string, Invitation, error) {
	id, err := s.store.InsertInvitation(ctx, made, e)
	if err != nil {
		return "", Invitation{}, fmt.Errorf("store the invitation: %w", err)
	}
	made.ID = id
	return secret, made, nil
}

// List gives the team's open invitations, newest first, to those who may
// manage it; nobody else needs to know whom they wait for.
// Faults: NotFound, Denied.
func (s *Invitations) List(ctx context.Context, a Actor, team int64) ([]Invitation, error) {
	if err := a.Check(ManageTeam, team); err != nil {
		return nil, err
	}
	return s.store.OpenInvitations(ctx, team, s.now())
}

// Withdraw ends an invitation of the team. Owners of the team only.
// Faults: NotFound, Denied, Conflict (used or ended already).
func (s *Invitations) Withdraw(ctx context.Context, a Actor, team, id int64) error {
	if err := a.Check(ManageTeam, team); err != nil {
		return err
	}
	i, err := s.store.Invitation(ctx, id)
	if fault.KindOf(err) == fault.KindNotFound || (err == nil && (i.Kind != InviteToTeam || i.TeamID != team)) {
		return NoObject()
	}
	if err != nil {
		return fmt.Errorf("withdraw invitation %d: %w", id, err)
	}
	now := s.now()
	e := Entry{At: now, Actor: a, Action: "invitation.withdraw", Object: i.Object(), TeamID: i.TeamID}
	if err := s.store.WithdrawInvitation(ctx, id, now, e); err != nil {
		return fmt.Errorf("withdraw invitation %d: %w", id, err)
	}
	return nil
}
