package db_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
)

// owner is a person who owns the team, as an actor.
func (h *house) owner(t *testing.T, team access.Team, login string) access.Actor {
	t.Helper()
	p := h.person(t, login, false)
	require.NoError(t, h.teams.SetMember(t.Context(), cli, team, login, access.Owner))
	return access.Actor{Kind: access.User, ID: p.ID, Name: p.Login, Roles: map[int64]access.Role{team.ID: access.Owner}}
}

// roleIn reads the person's role in the team.
func (h *house) roleIn(t *testing.T, team access.Team, login string) access.Role {
	t.Helper()
	p, err := h.UserByLogin(t.Context(), login)
	require.NoError(t, err)
	_, roles, err := h.Standing(t.Context(), p.ID)
	require.NoError(t, err)
	return roles[team.ID]
}

var newcomer = access.NewUser{Login: "New.Comer", Name: "New Comer", Password: password}

func TestAnInvitationMakesOnePersonOnce(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		team := h.team(t, "payments")
		secret, made, err := h.invites.Invite(t.Context(), h.owner(t, team, "lead"), team, access.Editor, "new.comer@example.com")
		require.NoError(t, err)
		require.Equal(t, h.now.Add(72*time.Hour), made.ExpiresAt)
		open, err := h.invites.List(t.Context(), cli, team.ID)
		require.NoError(t, err)
		require.Equal(t, []access.Invitation{made}, open)
		require.NotContains(t, made.Hash, secret)

		offer, err := h.invites.Offer(t.Context(), secret)
		require.NoError(t, err)
		require.Equal(t, team, offer.Team)
		_, err = h.invites.JoinNew(t.Context(), secret, newcomer, "192.0.2.7:1", "req-1")
		require.NoError(t, err)
		require.Equal(t, access.Editor, h.roleIn(t, team, "new.comer"))
		_, _, err = h.resolve(t, h.signIn(t, "new.comer"))
		require.NoError(t, err)

		second := newcomer
		second.Login = "another"
		_, err = h.invites.JoinNew(t.Context(), secret, second, "", "")
		require.Equal(t, fault.KindNotFound, fault.KindOf(err))
		_, err = h.UserByLogin(t.Context(), "another")
		require.Equal(t, fault.KindNotFound, fault.KindOf(err))
		open, err = h.invites.List(t.Context(), cli, team.ID)
		require.NoError(t, err)
		require.Empty(t, open)

		e := h.entries(t)
		joined, created := e[len(e)-2], e[len(e)-3] // the last one is the sign-in
		require.Equal(t, []string{"user.create", "team.member"}, []string{created.Action, joined.Action})
		require.Equal(t, []string{"new.comer", "192.0.2.7"}, []string{joined.Actor.Name, joined.Actor.Address})
		require.Equal(t, []access.Change{{Field: "new.comer", New: "editor"}}, joined.Changes)
		require.Equal(t, "invitation 1 by lead", joined.Reason)
		require.Equal(t, team.ID, joined.TeamID)
	})
}

func TestOfManyWhoUseALinkAtOnceOneComesIn(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		team := h.team(t, "payments")
		secret, _, err := h.invites.Invite(t.Context(), cli, team, access.Owner, "")
		require.NoError(t, err)
		var wait sync.WaitGroup
		errs := make([]error, 6)
		for i := range errs {
			wait.Go(func() {
				in := newcomer
				in.Login = "racer-" + string(rune('a'+i))
				_, errs[i] = h.invites.JoinNew(t.Context(), secret, in, "", "")
			})
		}
		wait.Wait()
		came := 0
		for _, err := range errs {
			if err == nil {
				came++
				continue
			}
			require.Equal(t, fault.KindNotFound, fault.KindOf(err))
		}
		require.Equal(t, 1, came)
		require.EqualValues(t, 1, count(t, h.DB, "users"))
		require.EqualValues(t, 1, count(t, h.DB, "memberships"))
	})
}

func TestALinkThatIsNoMoreGoodSaysTheSameWhateverTheReason(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		team, other := h.team(t, "payments"), h.team(t, "data")
		lead := h.owner(t, team, "lead")
		h.owner(t, team, "second")
		invite := func() (string, access.Invitation) {
			secret, i, err := h.invites.Invite(t.Context(), lead, team, access.Viewer, "")
			require.NoError(t, err)
			return secret, i
		}
		spent := map[string]func(i access.Invitation){
			"withdrawn": func(i access.Invitation) { require.NoError(t, h.invites.Withdraw(t.Context(), lead, team.ID, i.ID)) },
			"too old":   func(access.Invitation) { h.now = h.now.Add(72 * time.Hour) },
			"inviter owns no more": func(access.Invitation) {
				require.NoError(t, h.teams.SetMember(t.Context(), cli, team, "lead", access.Editor))
			},
		}
		for _, name := range []string{"withdrawn", "too old", "inviter owns no more"} { // the last one can't invite again
			secret, i := invite()
			spent[name](i)
			_, err := h.invites.Offer(t.Context(), secret)
			require.Equal(t, fault.KindNotFound, fault.KindOf(err), name)
			_, err = h.invites.JoinNew(t.Context(), secret, newcomer, "", "")
			require.ErrorContains(t, err, "This link is wrong, used, withdrawn or too old", name)
		}
		_, err := h.invites.Offer(t.Context(), "wrong")
		require.ErrorContains(t, err, "This link is wrong, used, withdrawn or too old")

		require.NoError(t, h.teams.SetMember(t.Context(), cli, team, "lead", access.Owner))
		_, i := invite()
		foreign := access.Actor{Kind: access.User, ID: 99, Roles: map[int64]access.Role{other.ID: access.Owner}}
		require.Equal(t, fault.KindNotFound, fault.KindOf(h.invites.Withdraw(t.Context(), foreign, other.ID, i.ID)), "of another team")
		require.NoError(t, h.invites.Withdraw(t.Context(), lead, team.ID, i.ID))
		require.Equal(t, fault.KindConflict, fault.KindOf(h.invites.Withdraw(t.Context(), lead, team.ID, i.ID)))
	})
}

func TestWhoIsThereJoinsAndNeverLosesARole(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		team := h.team(t, "payments")
		ops := h.person(t, "ops", false)
		me := access.Actor{Kind: access.User, ID: ops.ID, Name: "ops"}
		join := func(role access.Role) {
			secret, _, err := h.invites.Invite(t.Context(), cli, team, role, "")
			require.NoError(t, err)
			_, err = h.invites.Join(t.Context(), me, secret)
			require.NoError(t, err)
		}
		for _, c := range []struct{ invited, want access.Role }{
			{access.Operator, access.Operator}, {access.Viewer, access.Operator}, {access.Owner, access.Owner}, {access.Editor, access.Owner},
		} {
			join(c.invited)
			require.Equal(t, c.want, h.roleIn(t, team, "ops"), c.invited)
		}
		secret, _, err := h.invites.Invite(t.Context(), cli, team, access.Owner, "")
		require.NoError(t, err)
		require.NoError(t, h.users.Disable(t.Context(), cli, ops.ID))
		_, err = h.invites.Join(t.Context(), me, secret)
		require.Equal(t, fault.KindNotFound, fault.KindOf(err), "a person who is disabled")
		_, err = h.invites.Offer(t.Context(), secret)
		require.NoError(t, err, "the link is still good for others")
	})
}

func TestAPasswordLinkSetsOnePasswordAndEndsTheSessions(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		ops := h.person(t, "ops", false)
		session := h.signIn(t, "ops")
		first, _, err := h.invites.PasswordLink(t.Context(), cli, ops.ID)
		require.NoError(t, err)
		second, _, err := h.invites.PasswordLink(t.Context(), cli, ops.ID)
		require.NoError(t, err)
		_, err = h.invites.SetPassword(t.Context(), first, "another battery horse", "", "")
		require.Equal(t, fault.KindNotFound, fault.KindOf(err), "only the last link counts")
		_, err = h.invites.SetPassword(t.Context(), second, "short", "", "")
		require.Equal(t, []string{"password"}, fieldNames(err))
		_, _, err = h.resolve(t, session)
		require.NoError(t, err)

		_, err = h.invites.SetPassword(t.Context(), second, "another battery horse", "192.0.2.7:1", "req-1")
		require.NoError(t, err)
		_, _, err = h.resolve(t, session)
		require.Equal(t, fault.KindUnauthenticated, fault.KindOf(err))
		_, err = h.invites.SetPassword(t.Context(), second, "a third battery horse", "", "")
		require.Equal(t, fault.KindNotFound, fault.KindOf(err))
		_, _, err = h.sessions.SignIn(t.Context(), access.Credentials{Login: "ops", Password: "another battery horse"})
		require.NoError(t, err)
		for _, e := range h.entries(t) {
			for _, c := range e.Changes {
				require.NotContains(t, c.New+c.Old, "battery")
			}
		}
	})
}

func TestAPasswordLinkEndsWithTheRightsOfWhoMadeIt(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		h.person(t, "root", true)
		boss, ops := h.person(t, "boss", true), h.person(t, "ops", false)
		me := access.Actor{Kind: access.User, ID: boss.ID, Name: "boss", Admin: true}
		secret, _, err := h.invites.PasswordLink(t.Context(), me, ops.ID)
		require.NoError(t, err)
		require.NoError(t, h.users.SetRights(t.Context(), cli, boss.ID, access.Rights{}))
		_, err = h.invites.SetPassword(t.Context(), secret, "another battery horse", "", "")
		require.Equal(t, fault.KindNotFound, fault.KindOf(err))

		require.NoError(t, h.users.Disable(t.Context(), cli, ops.ID))
		_, _, err = h.invites.PasswordLink(t.Context(), cli, ops.ID)
		require.Equal(t, fault.KindConflict, fault.KindOf(err))
	})
}

func TestOnlyPeopleWhoAnswerForItInvite(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		team := h.team(t, "payments")
		for _, kind := range []access.ActorKind{access.User, access.Token} {
			for _, role := range []access.Role{access.Viewer, access.Operator, access.Editor} {
				_, _, err := h.invites.Invite(t.Context(), access.Actor{Kind: kind, Roles: map[int64]access.Role{team.ID: role}}, team, access.Viewer, "")
				require.Equal(t, fault.KindDenied, fault.KindOf(err))
			}
		}
		token := access.Actor{Kind: access.Token, ID: 1, Roles: map[int64]access.Role{team.ID: access.Owner}}
		_, _, err := h.invites.Invite(t.Context(), token, team, access.Viewer, "")
		require.Equal(t, fault.KindDenied, fault.KindOf(err))
		_, err = h.invites.List(t.Context(), access.Actor{Kind: access.User, Auditor: true}, team.ID)
		require.Equal(t, fault.KindDenied, fault.KindOf(err))
		_, _, err = h.invites.Invite(t.Context(), cli, team, "king", "a\nb")
		require.Equal(t, []string{"for", "role"}, fieldNames(err))
	})
}
