package db_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
)

func TestTeamsAreListedWithinTheScope(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		payments, data := h.team(t, "payments"), h.team(t, "data")
		for name, c := range map[string]struct {
			scope access.Scope
			want  []access.Team
		}{
			"all":       {access.Scope{All: true}, []access.Team{data, payments}},
			"one":       {access.Scope{Teams: []int64{payments.ID}}, []access.Team{payments}},
			"none":      {access.Scope{}, []access.Team{}},
			"not there": {access.Scope{Teams: []int64{99}}, []access.Team{}},
		} {
			got, err := h.Teams(t.Context(), c.scope)
			require.NoError(t, err)
			require.Equal(t, c.want, got, name)
		}
		_, err := h.teams.Create(t.Context(), cli, access.NewTeam{Code: "data"})
		require.Equal(t, fault.KindConflict, fault.KindOf(err))
		_, err = h.Team(t.Context(), "DATA")
		require.Equal(t, fault.KindNotFound, fault.KindOf(err))
	})
}

func TestAMembershipIsMadeChangedAndTaken(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		team := h.team(t, "payments")
		ops := h.person(t, "ops", false)
		for _, role := range []access.Role{access.Viewer, access.Owner, access.Owner} {
			require.NoError(t, h.teams.SetMember(t.Context(), cli, team, "ops", role))
		}
		h.signIn(t, "ops")
		members, err := h.teams.Members(t.Context(), cli, team.ID)
		require.NoError(t, err)
		require.Len(t, members, 1)
		require.Equal(t, access.Owner, members[0].Role)
		require.Equal(t, ops.ID, members[0].Person.ID)
		require.Empty(t, members[0].Person.PasswordHash)
		require.True(t, members[0].LastSeen.Equal(h.now))
		p, err := h.User(t.Context(), ops.ID)
		require.NoError(t, err)
		require.Equal(t, 1, p.Epoch, "one role was changed; the same again changes nothing")

		require.NoError(t, h.teams.RemoveMember(t.Context(), cli, team, "ops"))
		require.Equal(t, []string{"login"}, fieldNames(h.teams.RemoveMember(t.Context(), cli, team, "ops")))
		require.Zero(t, count(t, h.DB, "memberships"))
		last := h.entries(t)[6]
		require.Equal(t, team.ID, last.TeamID)
		require.Equal(t, []access.Change{{Field: "ops", Old: "owner"}}, last.Changes)
	})
}

func TestTwoProcessesMakeTheDefaultTeamOnce(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		ensure := func() error { _, err := h.teams.EnsureDefault(t.Context()); return err }
		errs := both(ensure, ensure)
		require.NoError(t, errs[0])
		require.NoError(t, errs[1])
		require.Equal(t, 1, count(t, h.DB, "teams"))
	})
}
