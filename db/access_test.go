package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"ax/app/access"
	"ax/app/fault"
	"ax/db"
	"ax/db/dbtest"
)

// The people, teams and doors of app/access on real ledgers.

const password = "correct horse battery"

var cli = access.Actor{Kind: access.System, Name: "ax"}

// plainHasher costs nothing.
type plainHasher struct{}

func (plainHasher) Hash(p string) (string, error) { return "plain:" + p, nil }
func (plainHasher) Verify(p, hash string) bool    { return hash == "plain:"+p }

// house is app/access on one ledger, with a clock that the test moves.
type house struct {
	*db.DB
	now      time.Time
	users    *access.Users
	sessions *access.Sessions
	tokens   *access.Tokens
	teams    *access.Teams
	setup    *access.Setup
	invites  *access.Invitations
	audit    *access.Reader
}

func newHouse(t *testing.T, d *db.DB) *house {
	t.Helper()
	h := &house{DB: d, now: time.Date(2026, 12, 1, 12, 0, 0, 7_000_000, time.UTC)}
	clock := func() time.Time { return h.now }
	zone := func(name string) bool { _, err := time.LoadLocation(name); return err == nil }
	h.users = access.NewUsers(access.UsersOptions{Store: d, Hasher: plainHasher{}, Zone: zone, Now: clock})
	vault, err := access.NewVault([]byte("a secret of the tests"))
	require.NoError(t, err)
	h.sessions, err = access.NewSessions(access.SessionsOptions{Store: d, Hasher: plainHasher{}, Sealer: vault, Now: clock})
	require.NoError(t, err)
	h.tokens = access.NewTokens(d, clock)
	h.teams = access.NewTeams(d, clock)
	h.setup = access.NewSetup(access.SetupOptions{Store: d, Hasher: plainHasher{}, Zone: zone, Now: clock})
	h.invites = access.NewInvitations(access.InvitationsOptions{Store: d, Hasher: plainHasher{}, Zone: zone, Now: clock})
	h.audit = access.NewReader(d)
	return h
}

func houses(t *testing.T, f func(t *testing.T, h *house)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d *db.DB) { f(t, newHouse(t, d)) })
}

func (h *house) person(t *testing.T, login string, admin bool) access.Person {
	t.Helper()
	p, err := h.users.Create(t.Context(), cli, access.NewUser{Login: login, Password: password, Admin: admin})
	require.NoError(t, err)
	return p
}

func (h *house) team(t *testing.T, code string) access.Team {
	t.Helper()
	team, err := h.teams.Create(t.Context(), cli, access.NewTeam{Code: code})
	require.NoError(t, err)
	return team
}

func (h *house) signIn(t *testing.T, login string) string {
	t.Helper()
	token, _, err := h.sessions.SignIn(t.Context(), access.Credentials{
		Login: login, Password: password, Address: "10.0.0.1:5000", Agent: "浏览器", RequestID: "req-1"})
	require.NoError(t, err)
	return token
}

func (h *house) resolve(t *testing.T, token string) (access.Actor, access.Person, error) {
	t.Helper()
	return h.sessions.Resolve(t.Context(), token, "10.0.0.1:5000", "req-2")
}

// actions lists what the audit tells, oldest first.
func (h *house) actions(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, e := range h.entries(t) {
		out = append(out, e.Action)
	}
	return out
}

func (h *house) entries(t *testing.T) []access.Entry {
	t.Helper()
	var out []access.Entry
	page, err := h.audit.List(t.Context(), cli, access.AuditFilter{}, 0, 200)
	require.NoError(t, err)
	for _, e := range page.Entries {
		out = append([]access.Entry{e}, out...)
	}
	return out
}

// both runs two acts at once and gives their errors.
func both(a, b func() error) [2]error {
	var errs [2]error
	var g errgroup.Group
	g.Go(func() error { errs[0] = a(); return nil })
	g.Go(func() error { errs[1] = b(); return nil })
	_ = g.Wait()
	return errs
}

// oneWins requires one success and one fault of the kind.
func oneWins(t *testing.T, errs [2]error, kind fault.Kind) {
	t.Helper()
	lost := errs[0]
	if lost == nil {
		lost = errs[1]
	}
	require.True(t, errs[0] == nil || errs[1] == nil, "%v, %v", errs[0], errs[1])
	require.Error(t, lost, "both went through")
	require.Equal(t, kind, fault.KindOf(lost), "%v", lost)
}
