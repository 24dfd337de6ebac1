package access

import (
	"testing"
	"time"

	"ax/app/fault"

	"github.com/stretchr/testify/require"
)

func form() SetupForm {
	return SetupForm{Login: "Ops-Lead", Name: "运维", Password: pass, TeamCode: "payments", TeamName: "Payments",
		Language: "zh-CN", Zone: "Asia/Shanghai"}
}

func (h *house) complete(t *testing.T, token string, in SetupForm) error {
	t.Helper()
	_, _, err := h.setup.Complete(t.Context(), token, in, "10.0.0.1:1", "req")
	return err
}

func TestTheSetupLinkMakesTheFirstAdministratorOnce(t *testing.T) {
	h := newHouse(t)
	token, err := h.setup.NewLink(t.Context())
	require.NoError(t, err)
	require.NotContains(t, h.settings[setupSetting], token)
	until, err := h.setup.Check(t.Context(), token)
	require.NoError(t, err)
	require.Equal(t, h.at.Add(SetupLife), until)

	p, team, err := h.setup.Complete(t.Context(), token, form(), "10.0.0.1:1", "req")
	require.NoError(t, err)
	require.Equal(t, "ops-lead", p.Login)
	require.True(t, h.people[p.ID].Admin)
	require.Equal(t, "zh-CN", h.people[p.ID].Language)
	require.Equal(t, Owner, h.members[team.ID][p.ID])
	_, err = h.resolve(t, h.signIn(t, "ops-lead"))
	require.NoError(t, err)

	require.Equal(t, fault.KindNotFound, fault.KindOf(h.complete(t, token, form())), "valid once")
	_, err = h.setup.NewLink(t.Context())
	require.Equal(t, fault.KindConflict, fault.KindOf(err))
}

func TestABadSetupLinkHasOneText(t *testing.T) {
	const text = "This setup link is wrong, used or too old. Make a new one with: ax setup-link"
	for name, spoil := range map[string]func(*house, string) string{
		"unknown":          func(_ *house, _ string) string { return newSecret() },
		"empty":            func(_ *house, _ string) string { return "" },
		"too old":          func(h *house, s string) string { h.forward(SetupLife); return s },
		"another followed": func(h *house, s string) string { _, _ = h.setup.NewLink(t.Context()); return s },
		"the stored hash":  func(_ *house, s string) string { return digest(s) },
		"an admin by the command line": func(h *house, s string) string {
			_, _ = h.users.Create(t.Context(), root, NewUser{Login: "root", Password: pass, Admin: true})
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			token, err := h.setup.NewLink(t.Context())
			require.NoError(t, err)
			token = spoil(h, token)
			_, err = h.setup.Check(t.Context(), token)
			require.EqualError(t, err, text)
			require.EqualError(t, h.complete(t, token, form()), text)
			require.Empty(t, h.memory.teams)
		})
	}
	t.Run("no link was ever made", func(t *testing.T) {
		require.EqualError(t, newHouse(t).complete(t, "", form()), text)
	})
}

func TestABadSetupFormLeavesTheLinkGood(t *testing.T) {
	h := newHouse(t)
	token, err := h.setup.NewLink(t.Context())
	require.NoError(t, err)
	bad := SetupForm{Login: "!", Name: "a\nb", Email: "x", Password: "short", TeamCode: "T", TeamName: "a\nb", Language: "xx", Zone: "Local"}
	require.Equal(t, []string{"login", "name", "email", "password", "language", "zone", "team_code", "team_name"},
		fails(t, h.complete(t, token, bad)))
	good := form()
	good.TeamCode = "T"
	require.Equal(t, []string{"team_code"}, fails(t, h.complete(t, token, good)))
	h.forward(SetupLife - time.Second)
	require.NoError(t, h.complete(t, token, form()))
}
