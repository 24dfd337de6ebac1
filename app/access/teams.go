package access

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"ax/app/fault"
)

// DefaultTeam is the code of the first team when nobody chose another.
const DefaultTeam = "default"

// Team owns tasks, tokens and the rest; it is the unit of access.
type Team struct {
	ID        int64
	Code      string // unique, never changes
	Name      string
	CreatedAt time.Time
	Commands  bool // whether its tasks may run commands of nodes
}

// Object of the team in an audit row.
func (t Team) Object() Object { return object("team", t.ID, t.Code) }

// Member is a person's place in a team.
type Member struct {
	TeamID   int64
	Person   Person // without password hash
	Role     Role
	LastSeen time.Time // newest session's; zero: none open
	Provided bool      // by the groups at the company's provider, which may take it back
}

// teamStore keeps teams and memberships. Each method is one transaction.
type teamStore interface {
	// Teams within the scope, by code.
	Teams(ctx context.Context, s Scope) ([]Team, error)
	// Team is NotFound when there is none with the code.
	Team(ctx context.Context, code string) (Team, error)
	// InsertTeam is a Conflict with the field when the code is taken.
	InsertTeam(ctx context.Context, t Team, e Entry) (int64, error)
	// RenameTeam asks for the audit row of the change from the present name.
	RenameTeam(ctx context.Context, id int64, name string, entry func(was string) Entry) error
	// SetTeamCommands asks for the audit row of the change from the present.
	SetTeamCommands(ctx context.Context, id int64, on bool, entry func(was bool) Entry) error
	// Members of a team, by login.
	Members(ctx context.Context, team int64) ([]Member, error)
	UserByLogin(ctx context.Context, login string) (Person, error)
	// ChangeMember locks the person, asks change which role is to follow the
	// present one ("" is no membership, before and after), and stores it with
	// the entry. A role that is changed or taken ends the person's sessions.
	ChangeMember(ctx context.Context, team, user int64, change func(was Role) (Role, Entry, error)) error
}

// Teams are the teams and who is in them.
type Teams struct {
	store teamStore
	now   func() time.Time
}

// NewTeams keeps teams in the store.
func NewTeams(store teamStore, now func() time.Time) *Teams {
	return &Teams{store: store, now: now}
}

// NewTeam is what it takes to make a team.
type NewTeam struct {
	Code string
	Name string // "" is the code
}

var teamCode = regexp.MustCompile(`^[a-z0-9-]{2,32}$`)

// check names the fields as the form does: its prefix is "" or "team_".
func (in NewTeam) check(prefix string) []fault.FieldError {
	var bad []fault.FieldError
	if !teamCode.MatchString(in.Code) {
		bad = append(bad, fault.Field(prefix+"code", "A team's code has 2 to 32 letters a–z, digits and -"))
	}
	return append(bad, checkName(prefix+"name", in.Name)...)
}

func (in NewTeam) team(now time.Time) Team {
	t := Team{Code: in.Code, Name: in.Name, CreatedAt: now}
	if t.Name == "" {
		t.Name = t.Code
	}
	return t
}

func (in NewTeam) trimmed() NewTeam {
	return NewTeam{Code: strings.TrimSpace(in.Code), Name: strings.TrimSpace(in.Name)}
}

// List gives the teams that the actor may read, by code.
func (t *Teams) List(ctx context.Context, a Actor) ([]Team, error) {
	return t.store.Teams(ctx, a.Scope())
}

// Get gives one team by its code. Faults: NotFound, for a team of others too.
func (t *Teams) Get(ctx context.Context, a Actor, code string) (Team, error) {
	if !teamCode.MatchString(code) {
		return Team{}, NoObject()
	}
	team, err := t.store.Team(ctx, code)
	if fault.KindOf(err) == fault.KindNotFound {
		return Team{}, NoObject()
	}
	if err != nil {
		return Team{}, fmt.Errorf("team %q: %w", code, err)
	}
	if !a.Sees(team.ID) {
		return Team{}, NoObject()
	}
	return team, nil
}

// Create makes a team. Admins only.
// Faults: NotFound, Denied, Invalid, Conflict (code taken).
func (t *Teams) Create(ctx context.Context, a Actor, in NewTeam) (Team, error) {
	if err := a.Check(Administer, 0); err != nil {
		return Team{}, err
	}
	in = in.trimmed()
	if err := fault.Invalid(in.check("")...); err != nil {
		return Team{}, err
	}
	team := in.team(t.now())
	id, err := t.store.InsertTeam(ctx, team, Entry{
		At: team.CreatedAt, Actor: a, Action: "team.create", Object: team.Object(),
		Changes: []Change{{Field: "name", New: team.Name}},
	})
	if err != nil {
		return Team{}, fmt.Errorf("create team %s: %w", team.Code, err)
	}
	team.ID = id
	return team, nil
}

// Rename gives the team another name; its code stays. Owners of the team only.
// Faults: NotFound, Denied, Invalid (name).
func (t *Teams) Rename(ctx context.Context, a Actor, team Team, name string) error {
	if err := a.Check(ManageTeam, team.ID); err != nil {
		return err
	}
	name = strings.TrimSpace(name)
	bad := checkName("name", name)
	if name == "" {
		bad = append(bad, fault.Field("name", "A team needs a name"))
	}
	if err := fault.Invalid(bad...); err != nil {
		return err
	}
	err := t.store.RenameTeam(ctx, team.ID, name, func(was string) Entry {
		return Entry{
			At: t.now(), Actor: a, Action: "team.rename", Object: team.Object(), TeamID: team.ID,
			Changes: differ(nil, "name", was, name),
		}
	})
	if err != nil {
		return fmt.Errorf("rename team %s: %w", team.Code, err)
	}
	return nil
}

// EnsureDefault gives the team "default", and makes it when the installation
// has no team at all: so that the command line can make a token for it before
// anybody opened the setup link.
// Faults: NotFound when there are teams, but none of that code.
func (t *Teams) EnsureDefault(ctx context.Context) (Team, error) {
	system := Actor{Kind: System, Name: "ax"}
	teams, err := t.List(ctx, system)
	if err != nil {
		return Team{}, err
	}
	if len(teams) > 0 {
		return t.Get(ctx, system, DefaultTeam)
	}
	team, err := t.Create(ctx, system, NewTeam{Code: DefaultTeam, Name: "Default"})
	if fault.KindOf(err) == fault.KindConflict { // another process was first
		return t.Get(ctx, system, DefaultTeam)
	}
	return team, err
}

// Members gives the team's people by login. Faults: NotFound.
func (t *Teams) Members(ctx context.Context, a Actor, team int64) ([]Member, error) {
	if err := a.Check(Read, team); err != nil {
		return nil, err
	}
	return t.store.Members(ctx, team)
}

// Owners gives the logins of the team's owners: whom to ask when a right is
// missing. Faults: NotFound.
func (t *Teams) Owners(ctx context.Context, a Actor, team int64) ([]string, error) {
	members, err := t.Members(ctx, a, team)
	if err != nil {
		return nil, err
	}
	var logins []string
	for _, m := range members {
		if m.Role == Owner && !m.Person.Disabled {
			logins = append(logins, m.Person.Login)
		}
	}
	slices.Sort(logins)
	return logins, nil
}

// SetMember gives a person a role in the team. A person who had another role
// there must sign in again. Owners of the team only.
// Faults: NotFound, Denied, Invalid (role, login).
func (t *Teams) SetMember(ctx context.Context, a Actor, team Team, login string, role Role) error {
	if err := a.Check(ManageTeam, team.ID); err != nil {
		return err
	}
	if !role.Valid() {
		return fault.Invalid(fault.Field("role", "The role is viewer, operator, editor or owner"))
	}
	return t.changeMember(ctx, a, team, login, role)
}

// RemoveMember takes a person out of the team and ends their sessions. Owners
// of the team only. Faults: NotFound, Denied, Invalid (login).
func (t *Teams) RemoveMember(ctx context.Context, a Actor, team Team, login string) error {
	if err := a.Check(ManageTeam, team.ID); err != nil {
		return err
	}
	return t.changeMember(ctx, a, team, login, "")
}

func (t *Teams) changeMember(ctx context.Context, a Actor, team Team, login string, role Role) error {
	p, err := findLogin(ctx, t.store, login)
	if fault.KindOf(err) == fault.KindNotFound {
		return fault.Invalid(fault.Field("login", "There is nobody with this login"))
	}
	if err != nil {
		return fmt.Errorf("find %q: %w", login, err)
	}
	err = t.store.ChangeMember(ctx, team.ID, p.ID, func(was Role) (Role, Entry, error) {
		if role == "" && was == "" {
			return "", Entry{}, fault.Invalid(fault.Field("login", "This person is not in the team"))
		}
		return role, Entry{
			At: t.now(), Actor: a, Action: "team.member", Object: team.Object(), TeamID: team.ID,
			Changes: []Change{{Field: p.Login, Old: string(was), New: string(role)}},
		}, nil
	})
	if err != nil {
		return fmt.Errorf("change %s in team %s: %w", p.Login, team.Code, err)
	}
	return nil
}
