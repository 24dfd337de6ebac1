package access

import "time"

// Services are all of the package's, on one store.
type Services struct {
	Users       *Users
	Sessions    *Sessions
	Tokens      *Tokens
	Teams       *Teams
	Setup       *Setup
	Invitations *Invitations
	Allowances  *Allowances
	Secrets     *Secrets
	Audit       *Reader
	Refusals    *Refusals // whoever runs them flushes them
}

// Store keeps people, teams, doors and their audit.
type Store interface {
	userStore
	sessionStore
	tokenStore
	teamStore
	setupStore
	invitationStore
	allowanceStore
	secretStore
	auditStore
}

// ServicesOptions are what the services need; all are required.
type ServicesOptions struct {
	Store  Store
	Hasher Hasher
	Sealer Sealer
	Zone   func(name string) bool // does this zone load?
	Now    func() time.Time
}

// NewServices panics when a part is missing: a programmer's error at start.
// The error is the hasher's.
func NewServices(o ServicesOptions) (Services, error) {
	sessions, err := NewSessions(SessionsOptions{Store: o.Store, Hasher: o.Hasher, Sealer: o.Sealer, Now: o.Now})
	return Services{
		Users:       NewUsers(UsersOptions{Store: o.Store, Hasher: o.Hasher, Zone: o.Zone, Now: o.Now}),
		Sessions:    sessions,
		Tokens:      NewTokens(o.Store, o.Now),
		Teams:       NewTeams(o.Store, o.Now),
		Setup:       NewSetup(SetupOptions{Store: o.Store, Hasher: o.Hasher, Zone: o.Zone, Now: o.Now}),
		Invitations: NewInvitations(InvitationsOptions{Store: o.Store, Hasher: o.Hasher, Zone: o.Zone, Now: o.Now}),
		Allowances:  NewAllowances(o.Store, o.Now),
		Secrets:     NewSecrets(o.Store, o.Sealer, o.Now),
		Audit:       NewReader(o.Store),
		Refusals:    NewRefusals(o.Store, o.Now),
	}, err
}
