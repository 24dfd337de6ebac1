package access

import (
	"errors"
	"strings"
	"testing"
	"time"

	"ax/app/fault"

	"github.com/stretchr/testify/require"
)

// plain is a hasher that costs nothing, and counts.
type plain struct {
	verified []string
	hashed   func() // called by Hash, when set: what others do meanwhile
}

func (h *plain) Hash(p string) (string, error) {
	if h.hashed != nil {
		h.hashed()
	}
	return "plain:" + p, nil
}

func (h *plain) Verify(p, hash string) bool {
	h.verified = append(h.verified, hash)
	return strings.HasPrefix(hash, "plain:") && hash == "plain:"+p
}

// clock is a hand that a test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time            { return c.at }
func (c *clock) forward(d time.Duration)   { c.at = c.at.Add(d) }
func zones(name string) bool               { _, err := time.LoadLocation(name); return err == nil }
func noon() *clock                         { return &clock{time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)} }
func fails(t *testing.T, e error) []string { t.Helper(); return names(fault.Fields(e)) }

func names(f []fault.FieldError) []string {
	var out []string
	for _, x := range f {
		out = append(out, x.Name)
	}
	return out
}

var errAway = errors.New("the database is away")

// house is the whole package on one memory.
type house struct {
	*memory
	*clock
	hasher   *plain
	users    *Users
	sessions *Sessions
	tokens   *Tokens
	teams    *Teams
	setup    *Setup
	allows   *Allowances
	secrets  *Secrets
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{memory: newMemory(), clock: noon(), hasher: &plain{}}
	h.users = NewUsers(UsersOptions{Store: h.memory, Hasher: h.hasher, Zone: zones, Now: h.now})
	var err error
	h.sessions, err = NewSessions(SessionsOptions{Store: h.memory, Hasher: h.hasher, Sealer: vault(t, "the secret of the tests"), Now: h.now})
	require.NoError(t, err)
	h.tokens = NewTokens(h.memory, h.now)
	h.teams = NewTeams(h.memory, h.now)
	h.allows = NewAllowances(h.memory, h.now)
	h.secrets = NewSecrets(h.memory, vault(t, "the secret of the tests"), h.now)
	h.setup = NewSetup(SetupOptions{Store: h.memory, Hasher: h.hasher, Zone: zones, Now: h.now})
	return h
}

var (
	root = Actor{Kind: System, Name: "ax"}
	pass = "correct horse battery"
)

func (h *house) person(t *testing.T, login string, rights ...func(*NewUser)) Person {
	t.Helper()
	in := NewUser{Login: login, Password: pass}
	for _, r := range rights {
		r(&in)
	}
	p, err := h.users.Create(t.Context(), root, in)
	require.NoError(t, err)
	return p
}

func (h *house) team(t *testing.T, code string) Team {
	t.Helper()
	team, err := h.teams.Create(t.Context(), root, NewTeam{Code: code})
	require.NoError(t, err)
	return team
}

func (h *house) signIn(t *testing.T, login string) string {
	t.Helper()
	token, _, err := h.sessions.SignIn(t.Context(), Credentials{Login: login, Password: pass, Address: "10.0.0.1:5000"})
	require.NoError(t, err)
	return token
}

func (h *house) resolve(t *testing.T, token string) (Actor, error) {
	t.Helper()
	a, _, err := h.sessions.Resolve(t.Context(), token, "10.0.0.1:5000", "req-1")
	return a, err
}

func admin(in *NewUser) { in.Admin = true }
