package access

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"ax/app/fault"
)

// SetupLife is how long a setup link is good.
const SetupLife = 24 * time.Hour

// setupSetting is the setting that holds the one link there may be.
const setupSetting = "setup.link"

// setupLink is the stored form: the token itself is nowhere.
type setupLink struct {
	Hash      string    `json:"hash"`
	ExpiresAt time.Time `json:"expires_at"`
}

// FirstAdmin is what the setup stores, all in one transaction.
type FirstAdmin struct {
	Setting string // the setting that must still have this value,
	Value   string // and is deleted: so a link works once
	Person  Person
	Team    Team // made, or renamed when the code is there already
	Entry   Entry
}

// setupStore keeps the link and makes the first people. Each method is one
// transaction.
type setupStore interface {
	// HasAdmin tells whether a person who is not disabled is an admin.
	HasAdmin(ctx context.Context) (bool, error)
	Setting(ctx context.Context, name string) (value string, ok bool, err error)
	SetSetting(ctx context.Context, name, value string, entries ...Entry) error
	// CompleteSetup stores the person as admin and owner of the team, with
	// audit rows made from the entry. It is a Conflict, and stores nothing,
	// when the setting has changed or there is an admin; one with a field when
	// the login is taken.
	CompleteSetup(ctx context.Context, f FirstAdmin) (Person, Team, error)
}

// Setup makes the first administrator: there is no default account.
type Setup struct {
	store  setupStore
	hasher Hasher
	zone   func(string) bool
	now    func() time.Time
}

// SetupOptions are the parts of Setup; all are required.
type SetupOptions struct {
	Store  setupStore
	Hasher Hasher
	Zone   func(name string) bool // does this zone load?
	Now    func() time.Time
}

// NewSetup panics when a part is missing: a programmer's error at start.
func NewSetup(o SetupOptions) *Setup {
	if o.Store == nil || o.Hasher == nil || o.Zone == nil || o.Now == nil {
		panic("access.NewSetup: a required part is missing")
	}
	return &Setup{store: o.Store, hasher: o.Hasher, zone: o.Zone, now: o.Now}
}

// Needed tells whether nobody is administrator yet.
func (s *Setup) Needed(ctx context.Context) (bool, error) {
	has, err := s.store.HasAdmin(ctx)
	return !has, err
}

// NewLink gives the token of a new setup link, shown once, and ends the link
// before it. Faults: Conflict when there is an administrator.
func (s *Setup) NewLink(ctx context.Context) (string, error) {
	needed, err := s.Needed(ctx)
	if err != nil {
		return "", fmt.Errorf("make a setup link: %w", err)
	}
	if !needed {
		return "", fault.Conflict("There is an administrator already. Sign in, or make one with: ax user create --admin")
	}
	token, now := newSecret(), s.now()
	value, err := json.Marshal(setupLink{Hash: digest(token), ExpiresAt: now.Add(SetupLife)})
	if err != nil {
		return "", fmt.Errorf("make a setup link: %w", err)
	}
	e := Entry{At: now, Actor: Actor{Kind: System, Name: "ax"}, Action: "setup.link", Object: Object{Kind: "setup"}}
	if err := s.store.SetSetting(ctx, setupSetting, string(value), e); err != nil {
		return "", fmt.Errorf("store the setup link: %w", err)
	}
	return token, nil
}

// Check tells until when the link is good.
// Faults: NotFound, with one text for unknown, used and too old.
func (s *Setup) Check(ctx context.Context, token string) (time.Time, error) {
	link, _, err := s.link(ctx, token)
	return link.ExpiresAt, err
}

func (s *Setup) link(ctx context.Context, token string) (setupLink, string, error) {
	value, ok, err := s.store.Setting(ctx, setupSetting)
	if err != nil {
		return setupLink{}, "", fmt.Errorf("read the setup link: %w", err)
	}
	var l setupLink
	if ok {
		if err := json.Unmarshal([]byte(value), &l); err != nil {
			return setupLink{}, "", fmt.Errorf("read the setup link: %w", err)
		}
	}
	if !sameDigest(digest(token), l.Hash) || !s.now().Before(l.ExpiresAt) {
		return setupLink{}, "", badLink()
	}
	// An administrator made on the command line ends the link, too.
	if needed, err := s.Needed(ctx); err != nil {
		return setupLink{}, "", fmt.Errorf("read the setup link: %w", err)
	} else if !needed {
		return setupLink{}, "", badLink()
	}
	return l, value, nil
}

func badLink() error {
	return fault.NotFound("This setup link is wrong, used or too old. Make a new one with: ax setup-link")
}

// SetupForm is what the first administrator fills in. Field names of its
// faults: login, name, email, password, language, zone, team_code, team_name.
type SetupForm struct {
	Login    string
	Name     string
	Email    string
	Password string
	TeamCode string
	TeamName string
	Language string
	Zone     string
}

// Complete makes the first administrator, the first team and the membership
// as its owner. The link is used then. Address and requestID go to the audit.
// Faults: NotFound (bad link), Invalid, Conflict with the field (login taken).
func (s *Setup) Complete(ctx context.Context, token string, in SetupForm, address, requestID string) (Person, Team, error) {
	_, value, err := s.link(ctx, token)
	if err != nil {
		return Person{}, Team{}, err
	}
	f, err := s.first(in)
	if err != nil {
		return Person{}, Team{}, err
	}
	f.Setting, f.Value = setupSetting, value
	f.Entry = Entry{
		At:    f.Person.CreatedAt,
		Actor: Actor{Kind: User, Name: f.Person.Login, Address: host(address), RequestID: requestID},
	}
	p, team, err := s.store.CompleteSetup(ctx, f)
	if fault.KindOf(err) == fault.KindConflict && fault.Fields(err) == nil { // somebody else used it meanwhile
		return Person{}, Team{}, badLink()
	}
	if err != nil {
		return Person{}, Team{}, fmt.Errorf("complete the setup: %w", err)
	}
	return p, team, nil
}

// first checks the whole form at once.
func (s *Setup) first(in SetupForm) (FirstAdmin, error) {
	now := s.now()
	team := NewTeam{Code: in.TeamCode, Name: in.TeamName}.trimmed()
	person, err := newPerson(NewUser{
		Login: in.Login, Name: in.Name, Email: in.Email, Password: in.Password, Admin: true,
		Preferences: Preferences{Language: in.Language, Zone: in.Zone},
	}, s.hasher, s.zone, now)
	if err != nil && fault.KindOf(err) != fault.KindInvalid {
		return FirstAdmin{}, err
	}
	if bad := slices.Concat(fault.Fields(err), team.check("team_")); len(bad) > 0 {
		return FirstAdmin{}, fault.Invalid(bad...)
	}
	return FirstAdmin{Person: person, Team: team.team(now)}, nil
}
