package access

import (
	"strings"
	"testing"

	"ax/app/fault"

	"github.com/stretchr/testify/require"
)

func TestTeamsAreMadeByAdmins(t *testing.T) {
	h := newHouse(t)
	team, err := h.teams.Create(t.Context(), root, NewTeam{Code: " payments ", Name: "支付团队"})
	require.NoError(t, err)
	require.Equal(t, Team{ID: team.ID, Code: "payments", Name: "支付团队", CreatedAt: h.at}, team)
	_, err = h.teams.Create(t.Context(), root, NewTeam{Code: "payments"})
	require.Equal(t, fault.KindConflict, fault.KindOf(err))
	_, err = h.teams.Create(t.Context(), ownerOf(team), NewTeam{Code: "mine"})
	require.Equal(t, fault.KindNotFound, fault.KindOf(err))
	for _, code := range []string{"", "a", "Payments", "pay ments", "../x", "支付", strings.Repeat("a", 33)} {
		_, err := h.teams.Create(t.Context(), root, NewTeam{Code: code, Name: strings.Repeat("n", 101)})
		require.Equal(t, []string{"code", "name"}, fails(t, err), "%q", code)
	}
}

func TestAPersonSeesTheOwnTeamsOnly(t *testing.T) {
	h := newHouse(t)
	payments, data := h.team(t, "payments"), h.team(t, "data")
	a := Actor{Kind: User, Roles: map[int64]Role{payments.ID: Viewer}}
	list, err := h.teams.List(t.Context(), a)
	require.NoError(t, err)
	require.Equal(t, []Team{payments}, list)
	_, err = h.teams.Get(t.Context(), a, "payments")
	require.NoError(t, err)
	for _, code := range []string{"data", "nowhere", "", "支付\xff"} {
		_, err = h.teams.Get(t.Context(), a, code)
		require.Equal(t, fault.KindNotFound, fault.KindOf(err), code)
		require.EqualError(t, err, "There is no such object, or it belongs to another team", "one text")
	}
	_, err = h.teams.Members(t.Context(), a, data.ID)
	require.Equal(t, fault.KindNotFound, fault.KindOf(err))
	all, err := h.teams.List(t.Context(), root)
	require.NoError(t, err)
	require.Equal(t, []Team{data, payments}, all)
}

func TestOwnersDecideWhoIsInTheTeam(t *testing.T) {
	h := newHouse(t)
	team := h.team(t, "payments")
	h.person(t, "ops")
	boss := ownerOf(team)
	require.NoError(t, h.teams.SetMember(t.Context(), boss, team, " OPS ", Owner))
	owners, err := h.teams.Owners(t.Context(), boss, team.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"ops"}, owners)
	require.Equal(t, []string{"role"}, fails(t, h.teams.SetMember(t.Context(), boss, team, "ops", "admin")))
	require.Equal(t, []string{"login"}, fails(t, h.teams.SetMember(t.Context(), boss, team, "nobody", Viewer)))
	editor := Actor{Kind: User, Roles: map[int64]Role{team.ID: Editor}}
	require.Equal(t, fault.KindDenied, fault.KindOf(h.teams.SetMember(t.Context(), editor, team, "ops", Viewer)))
	require.Equal(t, fault.KindDenied, fault.KindOf(h.teams.RemoveMember(t.Context(), editor, team, "ops")))
	require.NoError(t, h.teams.RemoveMember(t.Context(), boss, team, "ops"))
	require.Equal(t, []string{"login"}, fails(t, h.teams.RemoveMember(t.Context(), boss, team, "ops")))
	require.Equal(t, []string{"team.create", "user.create", "team.member", "team.member"}, h.actions())
	require.Equal(t, []Change{{"ops", "owner", ""}}, h.audit[3].Changes)
}

func TestTheDefaultTeamIsMadeOnlyWhereThereIsNone(t *testing.T) {
	h := newHouse(t)
	made, err := h.teams.EnsureDefault(t.Context())
	require.NoError(t, err)
	again, err := h.teams.EnsureDefault(t.Context())
	require.NoError(t, err)
	require.Equal(t, made, again)

	h = newHouse(t)
	h.team(t, "payments")
	_, err = h.teams.EnsureDefault(t.Context())
	require.Equal(t, fault.KindNotFound, fault.KindOf(err))
	require.Len(t, h.memory.teams, 1)
}

func TestTheAuditIsReadByThoseWhoMay(t *testing.T) {
	h := newHouse(t)
	team := h.team(t, "payments")
	h.person(t, "ops")
	require.NoError(t, h.teams.SetMember(t.Context(), root, team, "ops", Viewer))
	r := NewReader(h.memory)
	all, err := r.List(t.Context(), Actor{Kind: User, Auditor: true}, AuditFilter{}, 0, 2)
	require.NoError(t, err)
	require.Len(t, all.Entries, 2)
	require.EqualValues(t, 2, all.Next)
	rest, err := r.List(t.Context(), root, AuditFilter{}, all.Next, 2)
	require.NoError(t, err)
	require.Len(t, rest.Entries, 1)
	require.Zero(t, rest.Next)
	own, err := r.List(t.Context(), Actor{Kind: User, Roles: map[int64]Role{team.ID: Owner}}, AuditFilter{}, 0, 10_000)
	require.NoError(t, err)
	require.Len(t, own.Entries, 1, "the team's, not the installation's")
	for _, role := range []Role{Viewer, Operator, Editor} {
		none, err := r.List(t.Context(), Actor{Kind: User, Roles: map[int64]Role{team.ID: role}}, AuditFilter{Team: team.ID}, 0, 0)
		require.NoError(t, err)
		require.Empty(t, none.Entries, "the audit is the owner's to read, not the %s's", role)
	}
	other, err := r.List(t.Context(), Actor{Kind: User, Roles: map[int64]Role{team.ID: Owner}}, AuditFilter{Team: team.ID + 1}, 0, 0)
	require.NoError(t, err)
	require.Empty(t, other.Entries, "a filter must not widen")
	none, err := r.List(t.Context(), Actor{Kind: User}, AuditFilter{}, 0, 0)
	require.NoError(t, err)
	require.Empty(t, none.Entries)
}
