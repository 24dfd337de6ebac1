package access

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"ax/app/fault"
)

// memory is the ledger of these tests: a hand-written fake of every store.
type memory struct {
	mu       sync.Mutex
	people   map[int64]Person
	teams    map[int64]Team
	open     map[string]Session
	members  map[int64]map[int64]Role // team, user
	tokens   map[int64]APIToken
	settings map[string]string
	second   map[int64]SecondStep
	recovery map[int64]map[string]bool // user, digest: used
	halves   map[string]HalfSignIn
	allowed  map[int64]Allowance
	secrets  []kept
	bonds    map[string]bond // by key
	spent    map[string]bool // states
	audit    []Entry
	touches  int
	last     int64
	away     error // what every call answers, when set
}

func newMemory() *memory {
	return &memory{
		people: map[int64]Person{}, teams: map[int64]Team{}, members: map[int64]map[int64]Role{},
		open: map[string]Session{}, tokens: map[int64]APIToken{}, settings: map[string]string{},
		second: map[int64]SecondStep{}, recovery: map[int64]map[string]bool{}, halves: map[string]HalfSignIn{},
		allowed: map[int64]Allowance{},
		bonds:   map[string]bond{}, spent: map[string]bool{},
	}
}

func (m *memory) lock() func() { m.mu.Lock(); return m.mu.Unlock }

func (m *memory) record(e Entry, kind string, id int64) {
	if id != 0 {
		e.Object = object(kind, id, e.Object.Name)
	}
	m.audit = append(m.audit, e)
}

func (m *memory) id() int64 { m.last++; return m.last }

func (m *memory) InsertUser(_ context.Context, p Person, e Entry) (int64, error) {
	defer m.lock()()
	for _, q := range m.people {
		if q.Login == p.Login {
			return 0, fault.Conflict("taken")
		}
	}
	p.ID = m.id()
	m.people[p.ID] = p
	m.record(e, "user", p.ID)
	return p.ID, nil
}

func (m *memory) User(_ context.Context, id int64) (Person, error) {
	defer m.lock()()
	p, ok := m.people[id]
	if !ok {
		return Person{}, fault.NotFound("no user")
	}
	return p, nil
}

func (m *memory) UserByLogin(_ context.Context, login string) (Person, error) {
	defer m.lock()()
	if m.away != nil {
		return Person{}, m.away
	}
	for _, p := range m.people {
		if p.Login == login {
			return p, nil
		}
	}
	return Person{}, fault.NotFound("no user")
}

func (m *memory) Standings(context.Context) ([]Standing, error) {
	defer m.lock()()
	var out []Standing
	for _, p := range slices.SortedFunc(maps.Values(m.people), func(a, b Person) int { return cmp.Compare(a.Login, b.Login) }) {
		out = append(out, Standing{Person: p})
	}
	return out, nil
}

func (m *memory) ChangeUser(_ context.Context, id int64, change func(Person) (Person, Entry, error)) (Person, error) {
	defer m.lock()()
	p, ok := m.people[id]
	if !ok {
		return Person{}, fault.NotFound("no user")
	}
	is, e, err := change(p)
	if err != nil {
		return Person{}, err
	}
	m.people[id] = is
	m.record(e, "", 0)
	return is, nil
}

func (m *memory) InsertSession(_ context.Context, s Session, e Entry) error {
	defer m.lock()()
	m.open[s.Hash] = s
	m.record(e, "", 0)
	return nil
}

func (m *memory) Identity(_ context.Context, hash string) (Identity, error) {
	defer m.lock()()
	if m.away != nil {
		return Identity{}, m.away
	}
	s, ok := m.open[hash]
	if !ok {
		return Identity{}, fault.NotFound("no session")
	}
	roles := map[int64]Role{}
	for team, members := range m.members {
		if r, ok := members[s.UserID]; ok {
			roles[team] = r
		}
	}
	return Identity{Session: s, Person: m.people[s.UserID], Roles: roles}, nil
}

func (m *memory) TouchSession(_ context.Context, hash string, at time.Time) error {
	defer m.lock()()
	s := m.open[hash]
	s.SeenAt = at
	m.open[hash] = s
	m.touches++
	return nil
}

func (m *memory) DeleteSession(_ context.Context, hash string, e Entry) error {
	defer m.lock()()
	delete(m.open, hash)
	m.record(e, "", 0)
	return nil
}

func (m *memory) SessionsOf(_ context.Context, user int64) ([]Session, error) {
	defer m.lock()()
	var out []Session
	for _, s := range m.open {
		if s.UserID == user {
			out = append(out, s)
		}
	}
	return out, nil
}

func (m *memory) DeleteSessionsOf(_ context.Context, user int64, except string, e Entry) (int64, error) {
	defer m.lock()()
	before := len(m.open)
	maps.DeleteFunc(m.open, func(hash string, s Session) bool { return s.UserID == user && hash != except })
	n := int64(before - len(m.open))
	if n > 0 {
		m.record(e, "", 0)
	}
	return n, nil
}

func (m *memory) PruneSessions(_ context.Context, now, idle time.Time) (int64, error) {
	defer m.lock()()
	before := len(m.open)
	maps.DeleteFunc(m.open, func(_ string, s Session) bool {
		return !now.Before(s.ExpiresAt) || s.SeenAt.Before(idle)
	})
	return int64(before - len(m.open)), nil
}

func (m *memory) RecordAudit(_ context.Context, e Entry) error {
	defer m.lock()()
	if m.away != nil {
		return m.away
	}
	m.record(e, "", 0)
	return nil
}

func (m *memory) InsertToken(_ context.Context, t APIToken, e Entry) (int64, error) {
	defer m.lock()()
	t.ID = m.id()
	m.tokens[t.ID] = t
	m.record(e, "token", t.ID)
	return t.ID, nil
}

func (m *memory) Token(_ context.Context, id int64) (APIToken, error) {
	defer m.lock()()
	t, ok := m.tokens[id]
	if !ok {
		return APIToken{}, fault.NotFound("no token")
	}
	return t, nil
}

func (m *memory) TokenByHash(_ context.Context, hash string) (APIToken, error) {
	defer m.lock()()
	for _, t := range m.tokens {
		if t.Hash == hash {
			return t, nil
		}
	}
	return APIToken{}, fault.NotFound("no token")
}

func (m *memory) Tokens(_ context.Context, team int64) ([]APIToken, error) {
	defer m.lock()()
	var out []APIToken
	for _, t := range m.tokens {
		if t.TeamID == team {
			out = append(out, t)
		}
	}
	return out, nil
}

func (m *memory) TouchToken(_ context.Context, id int64, at time.Time) error {
	defer m.lock()()
	t := m.tokens[id]
	t.LastUsedAt = at
	m.tokens[id] = t
	m.touches++
	return nil
}

func (m *memory) RevokeToken(_ context.Context, id int64, at time.Time, e Entry) error {
	defer m.lock()()
	t := m.tokens[id]
	if !t.RevokedAt.IsZero() {
		return fault.Conflict("revoked")
	}
	t.RevokedAt = at
	m.tokens[id] = t
	m.record(e, "", 0)
	return nil
}

func (m *memory) Teams(_ context.Context, s Scope) ([]Team, error) {
	defer m.lock()()
	var out []Team
	for _, t := range m.teams {
		if s.All || slices.Contains(s.Teams, t.ID) {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b Team) int { return cmp.Compare(a.Code, b.Code) })
	return out, nil
}

func (m *memory) Team(_ context.Context, code string) (Team, error) {
	defer m.lock()()
	for _, t := range m.teams {
		if t.Code == code {
			return t, nil
		}
	}
	return Team{}, fault.NotFound("no team")
}

func (m *memory) InsertTeam(_ context.Context, t Team, e Entry) (int64, error) {
	defer m.lock()()
	for _, q := range m.teams {
		if q.Code == t.Code {
			return 0, fault.Conflict("taken")
		}
	}
	t.ID = m.id()
	m.teams[t.ID] = t
	m.record(e, "team", t.ID)
	return t.ID, nil
}

func (m *memory) RenameTeam(_ context.Context, id int64, name string, entry func(string) Entry) error {
	defer m.lock()()
	t := m.teams[id]
	m.record(entry(t.Name), "team", id)
	t.Name = name
	m.teams[id] = t
	return nil
}

func (m *memory) SetTeamCommands(_ context.Context, id int64, on bool, entry func(bool) Entry) error {
	defer m.lock()()
	t := m.teams[id]
	m.record(entry(t.Commands), "team", id)
	t.Commands = on
	m.teams[id] = t
	return nil
}

func (m *memory) Members(_ context.Context, team int64) ([]Member, error) {
	defer m.lock()()
	var out []Member
	for user, role := range m.members[team] {
		out = append(out, Member{TeamID: team, Person: m.people[user], Role: role})
	}
	return out, nil
}

func (m *memory) ChangeMember(_ context.Context, team, user int64, change func(Role) (Role, Entry, error)) error {
	defer m.lock()()
	was := m.members[team][user]
	is, e, err := change(was)
	if err != nil {
		return err
	}
	if m.members[team] == nil {
		m.members[team] = map[int64]Role{}
	}
	m.members[team][user] = is
	if is == "" {
		delete(m.members[team], user)
	}
	if was != "" && was != is {
		p := m.people[user]
		p.Epoch++
		m.people[user] = p
	}
	m.record(e, "", 0)
	return nil
}

func (m *memory) HasAdmin(context.Context) (bool, error) {
	defer m.lock()()
	for _, p := range m.people {
		if p.Admin && !p.Disabled {
			return true, nil
		}
	}
	return false, nil
}

func (m *memory) Setting(_ context.Context, name string) (string, bool, error) {
	defer m.lock()()
	v, ok := m.settings[name]
	return v, ok, nil
}

func (m *memory) SetSetting(_ context.Context, name, value string, entries ...Entry) error {
	defer m.lock()()
	m.settings[name] = value
	for _, e := range entries {
		m.record(e, "", 0)
	}
	return nil
}

func (m *memory) CompleteSetup(_ context.Context, f FirstAdmin) (Person, Team, error) {
	defer m.lock()()
	if m.settings[f.Setting] != f.Value {
		return Person{}, Team{}, fault.Conflict("used")
	}
	delete(m.settings, f.Setting)
	f.Person.ID, f.Team.ID = m.id(), m.id()
	m.people[f.Person.ID], m.teams[f.Team.ID] = f.Person, f.Team
	m.members[f.Team.ID] = map[int64]Role{f.Person.ID: Owner}
	return f.Person, f.Team, nil
}

func (m *memory) Audit(_ context.Context, s Scope, _ AuditFilter, cursor int64, limit int) ([]Entry, error) {
	defer m.lock()()
	var out []Entry
	for i := len(m.audit) - 1; i >= 0 && len(out) < limit; i-- {
		e := m.audit[i]
		e.ID = int64(i + 1)
		if (cursor == 0 || e.ID < cursor) && (s.All || slices.Contains(s.Teams, e.TeamID)) {
			out = append(out, e)
		}
	}
	return out, nil
}

func (m *memory) AuditChain(context.Context) (Chain, error) { return Chain{}, m.away }

func (m *memory) actions() []string {
	defer m.lock()()
	var out []string
	for _, e := range m.audit {
		out = append(out, e.Action)
	}
	return out
}
