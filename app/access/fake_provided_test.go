package access

import (
	"context"
	"maps"
	"slices"
	"time"

	"ax/app/fault"
)

// bond is who a person is at the provider, in the memory.
type bond struct {
	user           int64
	admin, auditor bool
	teams          map[int64]bool // whose membership the provider gave
}

func (m *memory) ApplyProvided(_ context.Context, _ ProviderID, key string, change func(Provided) (ProvidedChange, error)) (Person, error) {
	defer m.lock()()
	was := Provided{Roles: map[int64]Role{}, FromProvider: map[int64]bool{}, Teams: slices.Collect(maps.Values(m.teams))}
	b, bound := m.bonds[key]
	if bound {
		was.Person, was.Admin, was.Auditor, was.FromProvider = m.people[b.user], b.admin, b.auditor, b.teams
		for team, members := range m.members {
			if r, ok := members[b.user]; ok {
				was.Roles[team] = r
			}
		}
	}
	for _, p := range m.people {
		if p.Admin && !p.Disabled && p.ID != b.user {
			was.OtherAdmins++
		}
	}
	is, err := change(was)
	if err != nil {
		return Person{}, err
	}
	if is.Person.ID == 0 {
		for _, q := range m.people {
			if q.Login == is.Person.Login {
				return Person{}, fault.Conflict("taken")
			}
		}
		is.Person.ID = m.id()
		b = bond{user: is.Person.ID, teams: map[int64]bool{}}
	}
	b.admin, b.auditor = is.Admin, is.Auditor
	for team, role := range is.Roles {
		if m.members[team] == nil {
			m.members[team] = map[int64]Role{}
		}
		m.members[team][is.Person.ID], b.teams[team] = role, true
		if role == "" {
			delete(m.members[team], is.Person.ID)
			delete(b.teams, team)
		}
	}
	m.people[is.Person.ID], m.bonds[key] = is.Person, b
	for _, e := range is.Entries {
		m.record(e, "", 0)
	}
	return is.Person, nil
}

func (m *memory) SpendState(_ context.Context, hash string, _ time.Time) (bool, error) {
	defer m.lock()()
	if m.spent[hash] {
		return false, nil
	}
	m.spent[hash] = true
	return true, nil
}

func (m *memory) BindIdentity(_ context.Context, user int64, id ProviderID, key string, _ time.Time, e Entry) error {
	defer m.lock()()
	if b, ok := m.bonds[key]; ok && b.user != user {
		return fault.Conflict("somebody else's")
	}
	maps.DeleteFunc(m.bonds, func(_ string, b bond) bool { return b.user == user })
	if id.Subject != "" {
		m.bonds[key] = bond{user: user, teams: map[int64]bool{}}
	}
	m.record(e, "", 0)
	return nil
}
