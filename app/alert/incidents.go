package alert

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"ax/app/access"
	"ax/app/fault"
)

// incidentStore is what people's acts on incidents need of the ledger.
type incidentStore interface {
	// Incident is NotFound when there is none, or it was pending and dropped.
	Incident(ctx context.Context, id string) (Incident, error)
	Incidents(ctx context.Context, f IncidentFilter) ([]Incident, error)
	// ChangeIncident is a Conflict when the incident is not the version that was
	// read.
	ChangeIncident(ctx context.Context, i Incident, e access.Entry) error
}

// IncidentFilter picks incidents, the latest first.
type IncidentFilter struct {
	Scope  access.Scope // and the installation's; asked for, the zero Scope is all teams
	RuleID int64        // 0: of every rule
	Task   string       // code: of which it was a member; empty: all
	Open   bool         // firing or pending; else over
	Since  time.Time    // of those that are over: ended since
	Before string       // id of the last one on the page before
	Limit  int
}

// Incidents are the use cases of people with incidents.
type Incidents struct {
	store incidentStore
	now   func() time.Time
}

// NewIncidents makes them.
func NewIncidents(store incidentStore, now func() time.Time) *Incidents {
	return &Incidents{store: store, now: now}
}

// maxNote is the length of a note, in characters.
const maxNote = 2000

// List gives incidents of the asked teams that the actor may read, and the
// installation's. The zero Scope asks for all teams.
func (s *Incidents) List(ctx context.Context, a access.Actor, f IncidentFilter) ([]Incident, error) {
	f.Scope = a.Scope().Narrow(f.Scope)
	return s.store.Incidents(ctx, f)
}

// Find gives one. Faults: NotFound.
func (s *Incidents) Find(ctx context.Context, a access.Actor, id string) (Incident, error) {
	i, err := s.store.Incident(ctx, id)
	if fault.KindOf(err) == fault.KindNotFound {
		return Incident{}, access.NoObject()
	}
	if err == nil && !a.SeesShared(i.TeamID) {
		return Incident{}, access.NoObject()
	}
	return i, err
}

// Acknowledge says that the actor is on it: it is not repeated and does not
// escalate any more. Faults: NotFound, Denied, Conflict (over, or somebody else
// was first).
func (s *Incidents) Acknowledge(ctx context.Context, a access.Actor, id string) (Incident, error) {
	return s.change(ctx, a, id, "incident.acknowledge", func(i *Incident) (access.Change, error) {
		if i.Acked() {
			return access.Change{}, fault.Conflict("%s acknowledged it already", i.AckedBy)
		}
		i.AckedBy, i.AckedAt = a.Name, s.now()
		return access.Change{Field: "acknowledged_by", New: a.Name}, nil
	})
}

// Reopen takes an acknowledgement back: who is told goes on. Faults: NotFound,
// Denied, Conflict.
func (s *Incidents) Reopen(ctx context.Context, a access.Actor, id string) (Incident, error) {
	return s.change(ctx, a, id, "incident.reopen", func(i *Incident) (access.Change, error) {
		if !i.Acked() {
			return access.Change{}, fault.Conflict("Nobody has acknowledged it")
		}
		was := i.AckedBy
		i.AckedBy, i.AckedAt = "", time.Time{}
		return access.Change{Field: "acknowledged_by", Old: was}, nil
	})
}

// Note writes who has it in hand and what is known. An empty assignee is
// nobody. Faults: NotFound, Denied, Invalid (note, assignee), Conflict.
func (s *Incidents) Note(ctx context.Context, a access.Actor, id, assignee, note string) (Incident, error) {
	note, assignee = strings.TrimSpace(note), strings.TrimSpace(assignee)
	var bad []fault.FieldError
	if n := utf8.RuneCountInString(note); n > maxNote {
		bad = append(bad, fault.Field("note", "At most %d characters; this has %d", maxNote, n))
	}
	if utf8.RuneCountInString(assignee) > 100 {
		bad = append(bad, fault.Field("assignee", "A login has at most %d characters", 100))
	}
	if err := fault.Invalid(bad...); err != nil {
		return Incident{}, err
	}
	return s.change(ctx, a, id, "incident.note", func(i *Incident) (access.Change, error) {
		c := access.Change{Field: "note", Old: i.Note, New: note}
		if assignee != i.Assignee {
			c = access.Change{Field: "assignee", Old: i.Assignee, New: assignee}
		}
		i.Note, i.Assignee = note, assignee
		return c, nil
	})
}

func (s *Incidents) change(ctx context.Context, a access.Actor, id, action string, do func(*Incident) (access.Change, error)) (Incident, error) {
	i, err := s.Find(ctx, a, id)
	if err != nil {
		return i, err
	}
	if err := MayTouch(a, i.TeamID); err != nil {
		return i, err
	}
	if !i.Open() {
		return i, fault.Conflict("It is over")
	}
	change, err := do(&i)
	if err != nil {
		return i, err
	}
	err = s.store.ChangeIncident(ctx, i, access.Entry{
		At: s.now(), Actor: a, Action: action, Object: access.Object{Kind: "incident", ID: i.ID, Name: i.RuleName},
		TeamID: i.TeamID, Changes: []access.Change{change},
	})
	return i, err
}

// MayTouch tells whether the actor may acknowledge, assign and note an incident
// of the team: an incident of the installation is everybody's who may acknowledge
// in some team, for at night whoever sees it first must be able to take it.
func MayTouch(a access.Actor, team int64) error {
	if team != 0 || a.Can(access.Acknowledge, 0) {
		return a.Check(access.Acknowledge, team)
	}
	if len(a.ScopeFor(access.Acknowledge).Teams) > 0 {
		return nil
	}
	return fault.Denied("This needs the role %s in a team", string(access.Operator))
}
