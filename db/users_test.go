package db_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
)

func TestAPersonIsStoredAsMade(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		made, err := h.users.Create(t.Context(), cli, access.NewUser{
			Login: "Ops@Example.com", Name: strings.Repeat("名", 100), Email: "o@example.com", Password: password,
			Admin: true, Auditor: true, Preferences: access.Preferences{Language: "zh-CN", Zone: "Asia/Shanghai", Theme: "dark"},
		})
		require.NoError(t, err)
		for _, read := range []func() (access.Person, error){
			func() (access.Person, error) { return h.User(t.Context(), made.ID) },
			func() (access.Person, error) { return h.UserByLogin(t.Context(), "ops@example.com") },
		} {
			p, err := read()
			require.NoError(t, err)
			require.Equal(t, made, p)
		}
		list, err := h.users.List(t.Context(), cli)
		require.NoError(t, err)
		require.Empty(t, list[0].Person.PasswordHash)
		require.False(t, list[0].NoPassword)
		_, err = h.User(t.Context(), 99)
		require.Equal(t, fault.KindNotFound, fault.KindOf(err))
	})
}

func TestALoginIsTakenOnceAndNothingStaysOfTheLoser(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		create := func(login string) func() error {
			return func() error {
				_, err := h.users.Create(t.Context(), cli, access.NewUser{Login: login, Password: password})
				return err
			}
		}
		oneWins(t, both(create("ops"), create("OPS")), fault.KindConflict)
		require.Equal(t, []string{"user.create"}, h.actions(t), "no audit row without its change")
	})
}

func TestAChangeAndItsAuditRowStandOrFallTogether(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		p := h.person(t, "ops", false)
		boom := errors.New("boom")
		_, err := h.ChangeUser(t.Context(), p.ID, func(was access.Person) (access.Person, access.Entry, error) {
			was.Name = "changed"
			return was, access.Entry{Action: strings.Repeat("x", 999)}, boom
		})
		require.ErrorIs(t, err, boom)
		is, err := h.User(t.Context(), p.ID)
		require.NoError(t, err)
		require.Equal(t, p, is)

		require.NoError(t, h.users.SetRights(t.Context(), cli, p.ID, access.Rights{Auditor: true}))
		last := h.entries(t)[1]
		require.Equal(t, "user.rights", last.Action)
		require.Equal(t, []access.Change{{Field: "auditor", Old: "false", New: "true"}}, last.Changes)
		require.True(t, last.At.Equal(h.now))
	})
}

// DB-01: false, zero and empty are values, too.
func TestSwitchingOffAndEmptyingAreStored(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		h.person(t, "root", true)
		p := h.person(t, "ops", true)
		require.NoError(t, h.users.UpdatePreferences(t.Context(), access.Actor{Kind: access.User, ID: p.ID}, access.Preferences{Theme: "dark"}))
		require.NoError(t, h.users.UpdatePreferences(t.Context(), access.Actor{Kind: access.User, ID: p.ID}, access.Preferences{}))
		require.NoError(t, h.users.Disable(t.Context(), cli, p.ID))
		require.NoError(t, h.users.Enable(t.Context(), cli, p.ID))
		require.NoError(t, h.users.SetRights(t.Context(), cli, p.ID, access.Rights{}))
		is, err := h.User(t.Context(), p.ID)
		require.NoError(t, err)
		p.Admin, p.Epoch = false, 3
		require.Equal(t, p, is)
	})
}

func TestTheLastAdministratorStays(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		has, err := h.setup.Needed(t.Context())
		require.NoError(t, err)
		require.True(t, has)
		one := h.person(t, "one", true)
		h.person(t, "ops", false)
		require.Equal(t, fault.KindConflict, fault.KindOf(h.users.Disable(t.Context(), cli, one.ID)))
		require.Equal(t, fault.KindConflict, fault.KindOf(h.users.SetRights(t.Context(), cli, one.ID, access.Rights{Auditor: true})))
		require.NoError(t, h.users.SetPassword(t.Context(), cli, one.ID, "another good one"))

		for range 5 { // two who depose each other at once
			two := h.person(t, "two"+strings.Repeat("x", count(t, h.DB, "users")), true)
			oneWins(t, both(
				func() error { return h.users.SetRights(t.Context(), cli, one.ID, access.Rights{}) },
				func() error { return h.users.Disable(t.Context(), cli, two.ID) },
			), fault.KindConflict)
			has, err := h.HasAdmin(t.Context())
			require.NoError(t, err)
			require.True(t, has)
			require.NoError(t, h.users.SetRights(t.Context(), cli, one.ID, access.Rights{Admin: true}))
			require.NoError(t, h.users.SetRights(t.Context(), cli, two.ID, access.Rights{}))
		}
	})
}

func TestTheSetupLinkIsUsedOnceByOneOfTwo(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		token, err := h.setup.NewLink(t.Context())
		require.NoError(t, err)
		complete := func(login string) func() error {
			return func() error {
				_, _, err := h.setup.Complete(t.Context(), token, access.SetupForm{
					Login: login, Password: password, TeamCode: "payments", TeamName: "支付", Language: "zh-CN", Zone: "Asia/Shanghai",
				}, "192.0.2.7:1", "req-9")
				return err
			}
		}
		oneWins(t, both(complete("one"), complete("two")), fault.KindNotFound)
		require.Equal(t, 1, count(t, h.DB, "users"))
		require.Equal(t, 0, count(t, h.DB, "settings"))
		require.Equal(t, []string{"setup.link", "user.create", "team.create", "team.member"}, h.actions(t))
		for _, e := range h.entries(t)[1:] {
			require.Equal(t, "192.0.2.7", e.Actor.Address)
			require.Equal(t, "req-9", e.Actor.RequestID)
		}
		list, err := h.users.List(t.Context(), cli)
		require.NoError(t, err)
		require.True(t, list[0].Person.Admin)
		a, _, err := h.resolve(t, h.signIn(t, list[0].Person.Login))
		require.NoError(t, err)
		team, err := h.teams.Get(t.Context(), a, "payments")
		require.NoError(t, err)
		require.Equal(t, map[int64]access.Role{team.ID: access.Owner}, a.Roles)
		_, err = h.setup.NewLink(t.Context())
		require.Equal(t, fault.KindConflict, fault.KindOf(err))
	})
}

func TestTheSetupTakesATeamThatTheCommandLineMade(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		made, err := h.teams.EnsureDefault(t.Context())
		require.NoError(t, err)
		token, err := h.setup.NewLink(t.Context())
		require.NoError(t, err)
		_, team, err := h.setup.Complete(t.Context(), token,
			access.SetupForm{Login: "ops", Password: password, TeamCode: "default", TeamName: "门店运营"}, "", "")
		require.NoError(t, err)
		require.Equal(t, made.ID, team.ID)
		team, err = h.Team(t.Context(), "default")
		require.NoError(t, err)
		require.Equal(t, "门店运营", team.Name)
		require.Equal(t, []string{"team.create", "setup.link", "user.create", "team.rename", "team.member"}, h.actions(t))
	})
}

func TestASetupFormRefusedByTheLedgerLeavesTheLinkGood(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		h.person(t, "ops", false)
		token, err := h.setup.NewLink(t.Context())
		require.NoError(t, err)
		form := access.SetupForm{Login: "ops", Password: password, TeamCode: "payments"}
		_, _, err = h.setup.Complete(t.Context(), token, form, "", "")
		require.Equal(t, []string{"login"}, fieldNames(err), "%v", err)
		form.Login = "lead"
		_, _, err = h.setup.Complete(t.Context(), token, form, "", "")
		require.NoError(t, err)
	})
}

func fieldNames(err error) []string {
	var out []string
	for _, f := range fault.Fields(err) {
		out = append(out, f.Name)
	}
	return out
}
