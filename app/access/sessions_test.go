package access

import (
	"strings"
	"testing"
	"time"

	"ax/app/fault"

	"github.com/stretchr/testify/require"
)

func TestASignInGivesASecretThatIsStoredHashed(t *testing.T) {
	h := newHouse(t)
	h.person(t, "ops")
	token, session, err := h.sessions.SignIn(t.Context(), Credentials{
		Login: " OPS ", Password: pass, Address: "10.0.0.1:5000", Agent: strings.Repeat("Ä", 300), RequestID: "req-1"})
	require.NoError(t, err)
	require.Len(t, token, 43, "256 bits in base64url")
	require.NotContains(t, session.Hash, token)
	require.Equal(t, digest(token), session.Hash)
	require.Equal(t, h.at.Add(SessionAbsolute), session.ExpiresAt)
	require.Equal(t, "10.0.0.1", session.Address)
	require.LessOrEqual(t, len([]rune(session.Agent)), 200)

	_, _, err = h.sessions.Resolve(t.Context(), session.Hash, "10.0.0.1", "")
	require.Equal(t, fault.KindUnauthenticated, fault.KindOf(err), "a dump of the table is no cookie")
	second := h.signIn(t, "ops")
	require.NotEqual(t, token, second)
}

func TestResolveTellsWhoItIsWithTheRolesOfNow(t *testing.T) {
	h := newHouse(t)
	p, team := h.person(t, "ops"), h.team(t, "payments")
	token := h.signIn(t, "ops")
	require.NoError(t, h.teams.SetMember(t.Context(), root, team, "ops", Operator))
	a, who, err := h.sessions.Resolve(t.Context(), token, "10.9.9.9:1", "req-7")
	require.NoError(t, err)
	require.Equal(t, Actor{Kind: User, ID: p.ID, Name: "ops", Roles: map[int64]Role{team.ID: Operator},
		Address: "10.9.9.9", RequestID: "req-7"}, a)
	require.Equal(t, "ops", who.Login)
}

func TestUnknownWrongAndDisabledLookTheSame(t *testing.T) {
	h := newHouse(t)
	h.person(t, "ops")
	gone := h.person(t, "gone")
	require.NoError(t, h.users.Disable(t.Context(), root, gone.ID))
	for name, c := range map[string]struct{ login, password string }{
		"an unknown login":               {"nobody", pass},
		"a wrong password":               {"ops", "wrong password"},
		"a disabled person":              {"gone", pass},
		"a login that can't be":          {"<script>", pass},
		"an empty form":                  {"", ""},
		"a password of a million":        {"ops", strings.Repeat("x", 1_000_000)},
		"a login of a million":           {strings.Repeat("x", 1_000_000), pass},
		"the hash itself as a password":  {"ops", "plain:" + pass},
		"the text of the unknown's hash": {"nobody", h.sessions.dummy},
	} {
		t.Run(name, func(t *testing.T) {
			h.hasher.verified = nil
			_, _, err := h.sessions.SignIn(t.Context(), Credentials{Login: c.login, Password: c.password, Address: name})
			require.EqualError(t, err, "Login or password is wrong")
			require.Equal(t, fault.KindUnauthenticated, fault.KindOf(err))
			require.Len(t, h.hasher.verified, 1, "each way costs one hash")
		})
	}
	require.Empty(t, h.open)
}

func TestARefusedSignInIsInTheAuditWithoutWhatWasTyped(t *testing.T) {
	h := newHouse(t)
	h.person(t, "ops")
	for _, login := range []string{"ops", "my-secret-password"} {
		_, _, err := h.sessions.SignIn(t.Context(), Credentials{Login: login, Password: "x", Address: "192.0.2.7:1", RequestID: "r"})
		require.Error(t, err)
	}
	require.Equal(t, []string{"user.create", "session.refuse", "session.refuse"}, h.actions())
	require.Equal(t, Object{Kind: "user", ID: "1", Name: "ops"}, h.audit[1].Object)
	require.Equal(t, Object{Kind: "user"}, h.audit[2].Object)
	require.Equal(t, "192.0.2.7", h.audit[2].Actor.Address)
	require.Empty(t, h.audit[2].Actor.Name)
}

func TestASessionEndsByItself(t *testing.T) {
	for name, c := range map[string]struct {
		step  time.Duration // between two requests
		until time.Duration // last request that is answered
	}{
		"idle for 12 hours":         {12 * time.Hour, 0},
		"used every 11 hours: 7 d":  {11 * time.Hour, 165 * time.Hour},
		"used every minute: 7 days": {time.Minute, 7*24*time.Hour - time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			h.person(t, "ops")
			token, begun := h.signIn(t, "ops"), h.at
			last := begun
			for {
				h.forward(c.step)
				if _, err := h.resolve(t, token); err != nil {
					require.Equal(t, fault.KindUnauthenticated, fault.KindOf(err))
					break
				}
				last = h.at
			}
			require.Equal(t, c.until, last.Sub(begun))
		})
	}
}

func TestSeenIsWrittenAtMostOnceAMinute(t *testing.T) {
	h := newHouse(t)
	h.person(t, "ops")
	token := h.signIn(t, "ops")
	for range 180 {
		h.forward(time.Second)
		_, err := h.resolve(t, token)
		require.NoError(t, err)
	}
	require.Equal(t, 3, h.touches)
}

func TestWhatEndsAllSessionsOfAPerson(t *testing.T) {
	for name, change := range map[string]func(*house, Person, Team) error{
		"a new password": func(h *house, p Person, _ Team) error {
			return h.users.SetPassword(t.Context(), root, p.ID, "another good one")
		},
		"disabling": func(h *house, p Person, _ Team) error { return h.users.Disable(t.Context(), root, p.ID) },
		"becoming admin": func(h *house, p Person, _ Team) error {
			return h.users.SetRights(t.Context(), root, p.ID, Rights{Admin: true})
		},
		"another role": func(h *house, _ Person, team Team) error {
			return h.teams.SetMember(t.Context(), root, team, "ops", Viewer)
		},
		"leaving a team": func(h *house, _ Person, team Team) error {
			return h.teams.RemoveMember(t.Context(), root, team, "ops")
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			p, team := h.person(t, "ops"), h.team(t, "payments")
			h.person(t, "other")
			require.NoError(t, h.teams.SetMember(t.Context(), root, team, "ops", Editor))
			first, second, other := h.signIn(t, "ops"), h.signIn(t, "ops"), h.signIn(t, "other")
			require.NoError(t, change(h, p, team))
			for _, token := range []string{first, second} {
				_, err := h.resolve(t, token)
				require.Equal(t, fault.KindUnauthenticated, fault.KindOf(err))
			}
			_, err := h.resolve(t, other)
			require.NoError(t, err, "other people go on")
		})
	}
}

func TestADisabledAndEnabledPersonSignsInAnew(t *testing.T) {
	h := newHouse(t)
	p := h.person(t, "ops")
	token := h.signIn(t, "ops")
	require.NoError(t, h.users.Disable(t.Context(), root, p.ID))
	require.NoError(t, h.users.Enable(t.Context(), root, p.ID))
	_, err := h.resolve(t, token)
	require.Equal(t, fault.KindUnauthenticated, fault.KindOf(err))
	_, err = h.resolve(t, h.signIn(t, "ops"))
	require.NoError(t, err)
}

func TestSignOutEndsOneSessionAndIsNoErrorTwice(t *testing.T) {
	h := newHouse(t)
	h.person(t, "ops")
	one, two := h.signIn(t, "ops"), h.signIn(t, "ops")
	require.NoError(t, h.sessions.SignOut(t.Context(), one, "10.0.0.1", ""))
	require.NoError(t, h.sessions.SignOut(t.Context(), one, "10.0.0.1", ""))
	require.NoError(t, h.sessions.SignOut(t.Context(), "", "10.0.0.1", ""))
	_, err := h.resolve(t, one)
	require.Equal(t, fault.KindUnauthenticated, fault.KindOf(err))
	_, err = h.resolve(t, two)
	require.NoError(t, err)
	require.Equal(t, []string{"user.create", "session.create", "session.create", "session.end"}, h.actions())
}

func TestPruneDropsWhatIsOver(t *testing.T) {
	h := newHouse(t)
	h.person(t, "ops")
	h.signIn(t, "ops")
	h.forward(13 * time.Hour)
	token := h.signIn(t, "ops")
	n, err := h.sessions.Prune(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
	_, err = h.resolve(t, token)
	require.NoError(t, err)
}

func TestADatabaseThatIsAwayIsNoWrongPassword(t *testing.T) {
	h := newHouse(t)
	h.person(t, "ops")
	token := h.signIn(t, "ops")
	h.away = errAway
	for range 50 {
		_, _, err := h.sessions.SignIn(t.Context(), Credentials{Login: "ops", Password: pass, Address: "10.0.0.2"})
		require.ErrorIs(t, err, errAway, "and it counts for no throttle")
	}
	_, err := h.resolve(t, token)
	require.ErrorIs(t, err, errAway, "nobody is signed out by it")
	require.ErrorIs(t, h.sessions.SignOut(t.Context(), token, "", ""), errAway)
}
