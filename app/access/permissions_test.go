package access

import (
	"fmt"
	"strings"
	"testing"

	"ax/app/fault"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The matrix in plain words: the contract of design.md section 7. A change
// here is a change of who may do what.
const matrix = `
See everything of the team                   viewer operator editor owner
Run a task now                                      operator editor owner
Pause, resume, enable and disable a task            operator editor owner
Cancel an instance                                  operator editor owner
Replay a dead letter                                operator editor owner
Take a dead letter and write its solution           operator editor owner
Register executors, by tokens bound to them         operator editor owner
Acknowledge and assign an incident                  operator editor owner
Silence alerts for a time                           operator editor owner
Create, change and archive tasks                             editor owner
Create, change and delete calendars                          editor owner
Set alert rules and who is told                              editor owner
Create and change tasks that run commands                           owner
Allow retries of non-idempotent tasks                               owner
Read the audit of the team                                          owner
Manage members and tokens of the team                               owner
Set secrets, which nobody can read again                            owner
Set the channels that messages go to                                owner
Manage people and teams of the installation
`

func TestEachRoleHasTheRightsOfTheMatrix(t *testing.T) {
	const team = 7
	var b strings.Builder
	b.WriteString("\n")
	for _, right := range Matrix() {
		line := fmt.Sprintf("%-44s", right.Words.String())
		for _, role := range Roles() {
			may := Actor{Kind: User, ID: 1, Roles: map[int64]Role{team: role}}.Can(right.Verb, team)
			require.Equal(t, may, right.Has(role), "%s as %s", right.Verb, role)
			word := ""
			if may {
				word = string(role)
			}
			line += " " + fmt.Sprintf("%-*s", len(role), word)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	require.Equal(t, matrix, b.String())
}

func TestTheMatrixNamesEachVerbOnce(t *testing.T) {
	seen := map[Verb]bool{}
	for _, right := range Matrix() {
		require.False(t, seen[right.Verb], "%s twice", right.Verb)
		seen[right.Verb] = true
	}
	for verb := range minRole {
		require.True(t, seen[verb], "%s is missing", verb)
	}
}

func TestGlobalRights(t *testing.T) {
	for name, c := range map[string]struct {
		actor      Actor
		reads, all bool
	}{
		"an admin may do everything":     {Actor{Kind: User, Admin: true}, true, true},
		"the command line may, too":      {Actor{Kind: System}, true, true},
		"an auditor reads and no more":   {Actor{Kind: User, Auditor: true}, true, false},
		"a person without a team sees 0": {Actor{Kind: User}, false, false},
		"nobody may nothing":             {Actor{}, false, false},
		"an unknown role is no role":     {Actor{Kind: User, Roles: map[int64]Role{7: "king"}}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, team := range []int64{0, 7} {
				for _, right := range Matrix() {
					want := c.all || (c.reads && right.Verb.reads())
					require.Equal(t, want, c.actor.Can(right.Verb, team), "%s in team %d", right.Verb, team)
				}
			}
			require.Equal(t, c.reads, c.actor.Scope().All)
		})
	}
}

func TestARoleInATeamGivesNothingInTheInstallation(t *testing.T) {
	owner := Actor{Kind: User, Roles: map[int64]Role{0: Owner, 7: Owner}}
	for _, right := range Matrix() {
		require.False(t, owner.Can(right.Verb, 0), "%s", right.Verb)
	}
	require.False(t, owner.Can("task.unheard_of", 7), "a verb that is not in the matrix")
}

func TestCheckHidesWhatTheActorMayNotSee(t *testing.T) {
	viewer := Actor{Kind: User, Roles: map[int64]Role{7: Viewer}}
	auditor := Actor{Kind: User, Auditor: true}
	require.NoError(t, viewer.Check(Read, 7))
	require.Equal(t, fault.KindDenied, fault.KindOf(viewer.Check(EditTask, 7)))
	require.Equal(t, fault.KindNotFound, fault.KindOf(viewer.Check(EditTask, 8)))
	require.Equal(t, fault.KindNotFound, fault.KindOf(viewer.Check(Read, 8)))
	require.Equal(t, fault.KindDenied, fault.KindOf(auditor.Check(RunTask, 8)))
	require.EqualError(t, auditor.Check(Administer, 0), "This needs an administrator")
	require.EqualError(t, viewer.Check(RetryUnsafe, 7), "This needs the role owner in the team")
}

// What the installation shares is read by everybody in a team, and changed by
// administrators alone.
func TestTheInstallationSharesToReadAndNotToChange(t *testing.T) {
	owner := Actor{Kind: User, Roles: map[int64]Role{7: Owner}}
	for name, c := range map[string]struct {
		actor       Actor
		reads, does fault.Kind
	}{
		"an owner of a team":      {owner, 0, fault.KindDenied},
		"a viewer of a team":      {Actor{Kind: Token, Roles: map[int64]Role{7: Viewer}}, 0, fault.KindDenied},
		"an auditor":              {Actor{Kind: User, Auditor: true}, 0, fault.KindDenied},
		"an administrator":        {Actor{Kind: User, Admin: true}, 0, 0},
		"somebody without a team": {Actor{Kind: User}, fault.KindNotFound, fault.KindNotFound},
		"nobody":                  {Actor{}, fault.KindNotFound, fault.KindNotFound},
		"an unknown role":         {Actor{Kind: User, Roles: map[int64]Role{7: "king"}}, fault.KindNotFound, fault.KindNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.reads, fault.KindOf(c.actor.CheckShared(Read, 0)))
			require.Equal(t, c.reads == 0, c.actor.SeesShared(0))
			for _, v := range []Verb{Acknowledge, Silence, EditRule, ManageChannels} {
				require.Equal(t, c.does, fault.KindOf(c.actor.CheckShared(v, 0)), "%s", v)
			}
		})
	}
	require.NoError(t, owner.CheckShared(EditRule, 7))
	require.Equal(t, fault.KindNotFound, fault.KindOf(owner.CheckShared(Read, 8)), "of teams it is Check")
	require.False(t, owner.Sees(0))
}

func TestScopeNarrowsToOneTeam(t *testing.T) {
	s := Actor{Kind: User, Roles: map[int64]Role{9: Viewer, 3: Owner, 5: ""}}.Scope()
	require.Equal(t, Scope{Teams: []int64{3, 9}}, s)
	require.Equal(t, Scope{Teams: []int64{9}}, s.Only(9))
	require.Empty(t, s.Only(5), "AUTHZ-03: a filter must not widen")
	require.Equal(t, Scope{Teams: []int64{5}}, Scope{All: true}.Only(5))
}

// What an actor may do in a team rests on the role in that team alone:
// switching teams, or being more elsewhere, gains nothing.
func TestNoRoleGainsBySwitchingTeams(t *testing.T) {
	roles := append([]Role{""}, Roles()...)
	rapid.Check(t, func(r *rapid.T) {
		a := Actor{Kind: rapid.SampledFrom([]ActorKind{User, Token}).Draw(r, "kind"), Roles: map[int64]Role{}}
		for team := range int64(5) {
			if role := rapid.SampledFrom(roles).Draw(r, "role"); role != "" {
				a.Roles[team] = role
			}
		}
		team := rapid.Int64Range(0, 5).Draw(r, "team")
		alone := Actor{Kind: a.Kind, Roles: map[int64]Role{}}
		if role, ok := a.Roles[team]; ok {
			alone.Roles[team] = role
		}
		allowed := 0
		for _, right := range Matrix() {
			if a.Can(right.Verb, team) != alone.Can(right.Verb, team) {
				r.Fatalf("%s in team %d with %v", right.Verb, team, a.Roles)
			}
			if a.Can(right.Verb, team) {
				allowed++
			}
		}
		if allowed > 0 != (len(a.Scope().Only(team).Teams) == 1 && team != 0) {
			r.Fatalf("scope and rights disagree in team %d with %v", team, a.Roles)
		}
	})
}

// Each role may do all that the one before may.
func TestRolesGrow(t *testing.T) {
	for _, right := range Matrix() {
		had := false
		for _, role := range Roles() {
			has := right.Has(role)
			require.False(t, had && !has, "%s is lost at %s", right.Verb, role)
			had = has
		}
	}
}
