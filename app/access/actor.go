// Package access knows who may do what: people, tokens, teams, roles, and the
// audit of every change. It knows nothing of HTTP, SQL, queues or pages, and
// imports app/fault and the standard library only.
package access

import (
	"slices"

	"ax/app/fault"
)

// Role of an actor in one team. Each role may do all that the earlier may.
type Role string

// The roles of a team, weakest first.
const (
	Viewer   Role = "viewer"
	Operator Role = "operator"
	Editor   Role = "editor"
	Owner    Role = "owner"
)

// Roles lists the roles, weakest first.
func Roles() []Role { return []Role{Viewer, Operator, Editor, Owner} }

// rank orders the roles; 0 is no role.
func (r Role) rank() int { return slices.Index(Roles(), r) + 1 }

// Valid tells whether r is one of the four roles.
func (r Role) Valid() bool { return r.rank() > 0 }

// ActorKind says what acts.
type ActorKind string

// The kinds of actor.
const (
	User   ActorKind = "user"
	Token  ActorKind = "token"
	System ActorKind = "system" // the command line, or ax itself
)

// Actor is who asks: a person by session, a token, or the command line.
type Actor struct {
	Kind      ActorKind
	ID        int64
	Name      string // login, or the token's name
	Admin     bool   // may do everything
	Auditor   bool   // may read everything
	Roles     map[int64]Role
	Address   string // of the socket, for the audit
	RequestID string
}

// Can is the one decision: may the actor do v to an object of the team?
// Team 0 is the installation itself, open to admins only (auditors may read).
func (a Actor) Can(v Verb, team int64) bool {
	if a.Admin || a.Kind == System {
		return true
	}
	if a.Auditor && v.reads() {
		return true
	}
	need, known := minRole[v]
	return known && team != 0 && a.Roles[team].rank() >= need.rank()
}

// Sees tells whether the actor may know that the team's objects exist.
func (a Actor) Sees(team int64) bool { return a.Can(Read, team) }

// Check is Can as an error: NotFound when the actor may not even know of the
// object, Denied when it may see but not do. A person who may never see the
// object must not learn from the answer that it exists.
func (a Actor) Check(v Verb, team int64) error {
	switch {
	case a.Can(v, team):
		return nil
	case !a.Sees(team):
		return NoObject()
	case minRole[v] == "":
		return &Denial{Verb: v, Team: team, why: fault.Denied("This needs an administrator")}
	default:
		return &Denial{Verb: v, Team: team, why: fault.Denied("This needs the role %s in the team", string(minRole[v]))}
	}
}

// SeesShared is Sees for what the installation shares with its teams: who is in
// any team may know of it, for it is about the nodes and queues that their work
// runs on.
func (a Actor) SeesShared(team int64) bool {
	if team == 0 {
		return a.Sees(0) || len(a.Scope().Teams) > 0
	}
	return a.Sees(team)
}

// CheckShared is Check for what the installation shares with its teams: of team
// 0 it may be read by who is in any team, and changed by administrators alone.
func (a Actor) CheckShared(v Verb, team int64) error {
	switch {
	case team != 0 || a.Can(v, 0) || !a.SeesShared(0):
		return a.Check(v, team)
	case v == Read:
		return nil
	}
	return &Denial{Verb: v, Team: 0, why: fault.Denied("This is of the whole installation: administrators change it")}
}

// CheckAll is Check for what all teams share, such as a queue: the actor must
// have v in each of them.
func (a Actor) CheckAll(v Verb, teams []Team) error {
	without := func(t Team) bool { return !a.Can(v, t.ID) }
	if a.Can(v, 0) || len(teams) > 0 && !slices.ContainsFunc(teams, without) {
		return nil
	}
	return &Denial{Verb: v, why: fault.Denied("This touches all teams: it needs an administrator, or the role %s in each of them", string(minRole[v]))}
}

// Denial is the fault of Check with what was asked for, so that the refusal
// can stand in the audit of the team.
type Denial struct {
	Verb Verb
	Team int64
	why  error
}

// Error says what is needed.
func (d *Denial) Error() string { return d.why.Error() }

// Unwrap gives the fault.
func (d *Denial) Unwrap() error { return d.why }

// NoObject is one text for what isn't there and for what belongs to others.
func NoObject() error {
	return fault.NotFound("There is no such object, or it belongs to another team")
}

// Scope limits a query to the teams that an actor may read.
type Scope struct {
	All   bool
	Teams []int64 // sorted
}

// Scope of what the actor may read.
func (a Actor) Scope() Scope { return a.ScopeFor(Read) }

// ScopeFor is the teams in which the actor may do v; all of them and the
// installation itself when Can says so of the installation.
func (a Actor) ScopeFor(v Verb) Scope {
	if a.Can(v, 0) {
		return Scope{All: true}
	}
	var s Scope
	for team := range a.Roles {
		if a.Can(v, team) {
			s.Teams = append(s.Teams, team)
		}
	}
	slices.Sort(s.Teams)
	return s
}

// Only narrows the scope to one team; the result is empty when the team is
// outside of it.
func (s Scope) Only(team int64) Scope {
	if s.All || slices.Contains(s.Teams, team) {
		return Scope{Teams: []int64{team}}
	}
	return Scope{}
}

// Narrow is what of the teams asked for is in the scope; nothing asked for is
// all of it.
func (s Scope) Narrow(asked Scope) Scope {
	switch {
	case asked.All || len(asked.Teams) == 0:
		return s
	case s.All:
		return asked
	}
	var both Scope
	for _, team := range asked.Teams {
		both.Teams = append(both.Teams, s.Only(team).Teams...)
	}
	return both
}
