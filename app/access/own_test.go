package access

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/fault"
)

// browser is somebody signed in.
func (h *house) browser(t *testing.T, login string) (Actor, string) {
	t.Helper()
	token := h.signIn(t, login)
	a, err := h.resolve(t, token)
	require.NoError(t, err)
	return a, token
}

func (h *house) change(t *testing.T, a Actor, current, next string) (string, error) {
	t.Helper()
	return h.sessions.ChangePassword(t.Context(), a, PasswordChange{Current: current, Next: next, Agent: "Firefox"})
}

func TestAPersonChangesTheOwnPasswordWithThePresentOne(t *testing.T) {
	h := newHouse(t)
	p := h.person(t, "ops")
	a, token := h.browser(t, "ops")
	for name, c := range map[string]struct{ current, next, field string }{
		"a wrong present one":      {"wrong", "another good one", "current"},
		"a million wrong letters":  {strings.Repeat("x", 1_000_000), "another good one", "current"},
		"too short a new one":      {pass, "short", "password"},
		"the login as the new one": {pass, "ops", "password"},
		"the same again":           {pass, pass, "password"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := h.change(t, a, c.current, c.next)
			require.Equal(t, []string{c.field}, fails(t, err))
			require.Zero(t, h.people[p.ID].Epoch)
		})
	}
	next, err := h.change(t, a, pass, "another good one")
	require.NoError(t, err)
	require.Equal(t, "plain:another good one", h.people[p.ID].PasswordHash)
	require.Equal(t, 1, h.people[p.ID].Epoch)
	_, err = h.resolve(t, token)
	require.Equal(t, fault.KindUnauthenticated, fault.KindOf(err), "the old token is over, in this browser too")
	is, err := h.resolve(t, next)
	require.NoError(t, err)
	require.Equal(t, p.ID, is.ID)
	last := len(h.audit) - 2
	require.Equal(t, []string{"user.password", "session.renew"}, h.actions()[last:])
	require.Equal(t, []Change{{"password", Masked, Masked}}, h.audit[last].Changes, "no secret in the audit")
	for _, odd := range []Actor{{Kind: Token, ID: p.ID}, root} {
		_, err = h.change(t, odd, "another good one", "a third good one")
		require.Equal(t, fault.KindDenied, fault.KindOf(err))
	}
}

func TestAStolenSessionDoesNotGuessThePassword(t *testing.T) {
	h := newHouse(t)
	h.person(t, "ops")
	a, _ := h.browser(t, "ops")
	for range freeTries {
		_, err := h.change(t, a, "wrong", "another good one")
		require.Equal(t, []string{"current"}, fails(t, err))
	}
	_, err := h.change(t, a, pass, "another good one")
	require.Equal(t, fault.KindTooMany, fault.KindOf(err), "even the right one must wait")
	require.Equal(t, "user.password_refuse", h.actions()[len(h.audit)-1])
	_, _, err = h.sessions.SignIn(t.Context(), Credentials{Login: "ops", Password: pass, Address: "10.0.0.1"})
	require.Equal(t, fault.KindTooMany, fault.KindOf(err), "it counts with the sign-ins")
	h.forward(time.Minute)
	_, err = h.change(t, a, pass, "another good one")
	require.NoError(t, err)
}

// Between the look at the present password and the change, an administrator
// may have set another one: the newer must win.
func TestAPasswordThatWasChangedMeanwhileStays(t *testing.T) {
	h := newHouse(t)
	p := h.person(t, "ops")
	a, _ := h.browser(t, "ops")
	h.hasher.hashed = func() {
		h.hasher.hashed = nil
		require.NoError(t, h.users.SetPassword(t.Context(), root, p.ID, "set by an admin"))
	}
	_, err := h.change(t, a, pass, "another good one")
	require.Equal(t, fault.KindConflict, fault.KindOf(err))
	require.Equal(t, "plain:set by an admin", h.people[p.ID].PasswordHash)
}

func TestAPersonsOpenSessions(t *testing.T) {
	h := newHouse(t)
	p := h.person(t, "ops")
	h.person(t, "li")
	idle := h.signIn(t, "ops")
	h.forward(SessionIdle - time.Hour)
	old := h.signIn(t, "ops")
	h.forward(time.Hour)
	a, mine := h.browser(t, "ops")
	h.signIn(t, "li")
	require.NotEmpty(t, idle)

	open, err := h.sessions.Open(t.Context(), a, mine)
	require.NoError(t, err)
	require.Len(t, open, 2, "not the idle one, not another person’s")
	require.True(t, open[0].This)
	require.False(t, open[1].This)
	require.Len(t, open[0].ID, 16)
	for _, o := range open {
		require.Empty(t, o.Hash)
		require.NotContains(t, digest(mine)+digest(old), o.ID, "the id on the page is no part of the key")
	}
	require.Equal(t, fault.KindNotFound, fault.KindOf(h.sessions.End(t.Context(), a, digest(idle)[:16])))
	require.NoError(t, h.sessions.End(t.Context(), a, open[1].ID))
	require.Equal(t, fault.KindNotFound, fault.KindOf(h.sessions.End(t.Context(), a, open[1].ID)), "once")
	_, err = h.resolve(t, old)
	require.Equal(t, fault.KindUnauthenticated, fault.KindOf(err))

	n, err := h.sessions.EndOthers(t.Context(), a, mine)
	require.NoError(t, err)
	require.Zero(t, n, "those that were over are not counted")
	_, err = h.resolve(t, mine)
	require.NoError(t, err)
	_, err = h.sessions.Open(t.Context(), Actor{Kind: Token, ID: p.ID}, mine)
	require.Equal(t, fault.KindDenied, fault.KindOf(err))
}
