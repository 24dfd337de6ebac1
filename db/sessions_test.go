package db_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
	"ax/db"
)

func TestASessionLivesInTheLedger(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		p, team := h.person(t, "ops", false), h.team(t, "payments")
		require.NoError(t, h.teams.SetMember(t.Context(), cli, team, "ops", access.Operator))
		token := h.signIn(t, "ops")
		a, who, err := h.resolve(t, token)
		require.NoError(t, err)
		require.Equal(t, access.Actor{Kind: access.User, ID: p.ID, Name: "ops", Roles: map[int64]access.Role{team.ID: access.Operator},
			Address: "10.0.0.1", RequestID: "req-2"}, a)
		require.True(t, who.LastLoginAt.Equal(h.now))

		other := newHouse(t, h.DB) // another web process
		_, _, err = other.resolve(t, token)
		require.NoError(t, err)
		require.NoError(t, other.sessions.SignOut(t.Context(), token, "10.0.0.1", ""))
		_, _, err = h.resolve(t, token)
		require.Equal(t, fault.KindUnauthenticated, fault.KindOf(err))
		require.NoError(t, h.DeleteSession(t.Context(), "gone", access.Entry{Action: "session.end"}))
		require.Equal(t, []string{"user.create", "team.create", "team.member", "session.create", "session.end"}, h.actions(t))
	})
}

func TestADumpOfTheLedgerHoldsNoSecret(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		h.person(t, "ops", false)
		team := h.team(t, "payments")
		link, err := h.setup.NewLink(t.Context())
		require.NoError(t, err)
		token := h.signIn(t, "ops")
		secret, _, err := h.tokens.Create(t.Context(), cli, access.NewToken{TeamID: team.ID, Name: "ci", Role: access.Owner})
		require.NoError(t, err)
		all := dump(t, h.DB, "sessions", "api_tokens", "settings", "audit_log")
		require.Contains(t, all, "token.create")
		for _, s := range []string{link, token, secret} {
			require.NotContains(t, all, s)
		}
	})
}

func dump(t *testing.T, d *db.DB, tables ...string) string {
	t.Helper()
	var b strings.Builder
	for _, table := range tables {
		rows, err := d.View(t.Context()).Raw("SELECT * FROM " + table).Rows()
		require.NoError(t, err)
		cols, err := rows.Columns()
		require.NoError(t, err)
		for rows.Next() {
			values := make([]any, len(cols))
			for i := range values {
				values[i] = new([]byte)
			}
			require.NoError(t, rows.Scan(values...))
			for _, v := range values {
				b.Write(*v.(*[]byte))
				b.WriteByte('|')
			}
			b.WriteByte('\n')
		}
		require.NoError(t, rows.Close())
	}
	return b.String()
}

func TestSessionsEndWhenTheLedgerSaysSo(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		p, team := h.person(t, "ops", false), h.team(t, "payments")
		require.NoError(t, h.teams.SetMember(t.Context(), cli, team, "ops", access.Editor))
		for name, change := range map[string]func() error{
			"password": func() error { return h.users.SetPassword(t.Context(), cli, p.ID, password) },
			"role":     func() error { return h.teams.SetMember(t.Context(), cli, team, "ops", access.Viewer) },
			"rights":   func() error { return h.users.SetRights(t.Context(), cli, p.ID, access.Rights{Auditor: true}) },
			"leave":    func() error { return h.teams.RemoveMember(t.Context(), cli, team, "ops") },
		} {
			if err := h.teams.SetMember(t.Context(), cli, team, "ops", access.Editor); err != nil {
				require.NoError(t, err)
			}
			token := h.signIn(t, "ops")
			require.NoError(t, change(), name)
			_, _, err := h.resolve(t, token)
			require.Equal(t, fault.KindUnauthenticated, fault.KindOf(err), name)
		}
		token := h.signIn(t, "ops")
		require.NoError(t, h.teams.SetMember(t.Context(), cli, h.team(t, "data"), "ops", access.Viewer))
		_, _, err := h.resolve(t, token)
		require.NoError(t, err, "being let into another team takes nothing away")
	})
}

func TestAPersonSeesAndEndsTheOwnSessionsOnly(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		h.person(t, "ops", false)
		h.person(t, "li", false)
		mine, phone, third, theirs := h.signIn(t, "ops"), h.signIn(t, "ops"), h.signIn(t, "ops"), h.signIn(t, "li")
		a, _, err := h.resolve(t, mine)
		require.NoError(t, err)
		li, _, err := h.resolve(t, theirs)
		require.NoError(t, err)
		open, err := h.sessions.Open(t.Context(), a, mine)
		require.NoError(t, err)
		require.Len(t, open, 3)
		require.True(t, open[0].This)
		require.Equal(t, "浏览器", open[0].Agent)
		require.Equal(t, "10.0.0.1", open[0].Address)

		other, err := h.sessions.Open(t.Context(), a, phone)
		require.NoError(t, err)
		require.Equal(t, fault.KindNotFound, fault.KindOf(h.sessions.End(t.Context(), li, other[0].ID)), "another person’s is not there")
		require.NoError(t, h.sessions.End(t.Context(), a, other[0].ID))
		_, _, err = h.resolve(t, phone)
		require.Equal(t, fault.KindUnauthenticated, fault.KindOf(err))

		n, err := h.sessions.EndOthers(t.Context(), a, mine)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		_, _, err = h.resolve(t, third)
		require.Equal(t, fault.KindUnauthenticated, fault.KindOf(err))
		for _, token := range []string{mine, theirs} {
			_, _, err = h.resolve(t, token)
			require.NoError(t, err, "this one and other people’s go on")
		}
		n, err = h.sessions.EndOthers(t.Context(), a, mine)
		require.NoError(t, err)
		require.Zero(t, n)
		actions := h.actions(t)
		require.Equal(t, []string{"session.end", "session.end_others"}, actions[len(actions)-2:], "nothing ended, nothing recorded")
	})
}

func TestAPasswordChangeKeepsOnlyTheBrowserThatAsked(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		p := h.person(t, "ops", false)
		mine, phone := h.signIn(t, "ops"), h.signIn(t, "ops")
		a, _, err := h.resolve(t, mine)
		require.NoError(t, err)
		next, err := h.sessions.ChangePassword(t.Context(), a, access.PasswordChange{Current: password, Next: "another good one", Agent: "Firefox"})
		require.NoError(t, err)
		for _, old := range []string{mine, phone} {
			_, _, err = h.resolve(t, old)
			require.Equal(t, fault.KindUnauthenticated, fault.KindOf(err))
		}
		_, who, err := h.resolve(t, next)
		require.NoError(t, err)
		require.Equal(t, p.ID, who.ID)
		require.NotContains(t, dump(t, h.DB, "audit_log", "sessions"), "another good one")
		actions := h.actions(t)
		require.Equal(t, []string{"user.password", "session.renew"}, actions[len(actions)-2:])
	})
}

func TestSessionsAreTouchedAndPruned(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		h.person(t, "ops", false)
		idle, used := h.signIn(t, "ops"), h.signIn(t, "ops")
		h.now = h.now.Add(11 * time.Hour)
		_, _, err := h.resolve(t, used)
		require.NoError(t, err)
		h.now = h.now.Add(2 * time.Hour)
		n, err := h.sessions.Prune(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 1, n)
		_, _, err = h.resolve(t, idle)
		require.Equal(t, fault.KindUnauthenticated, fault.KindOf(err))
		_, _, err = h.resolve(t, used)
		require.NoError(t, err)
		h.now = h.now.Add(access.SessionAbsolute)
		n, err = h.sessions.Prune(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 1, n)
	})
}

func TestALedgerThatIsAwayIsNoWrongPassword(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		h.person(t, "ops", false)
		token := h.signIn(t, "ops")
		require.NoError(t, h.Close())
		_, _, err := h.resolve(t, token)
		require.Error(t, err)
		require.Equal(t, fault.KindInternal, fault.KindOf(err))
		_, _, err = h.sessions.SignIn(t.Context(), access.Credentials{Login: "ops", Password: password})
		require.Equal(t, fault.KindInternal, fault.KindOf(err))
	})
}

// What a form or a header may hold must not look like a broken ledger.
func TestOddTextIsNeitherFoundNorAFailure(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		h.person(t, "ops", false)
		team := h.team(t, "payments")
		for i, odd := range []string{"\xff\xfe", "ops\x00", "ÖPS", "运维", "' OR 1=1 --", "🧾", strings.Repeat("x", 1_000_000), ""} {
			_, _, err := h.sessions.SignIn(t.Context(), access.Credentials{
				Login: odd, Password: odd, Address: "10.1.0." + strings.Repeat("1", i), Agent: odd, RequestID: odd})
			require.Equal(t, fault.KindUnauthenticated, fault.KindOf(err), "%.20q: %v", odd, err)
			_, err = h.teams.Get(t.Context(), cli, odd)
			require.Equal(t, fault.KindNotFound, fault.KindOf(err), "%.20q", odd)
			require.Equal(t, []string{"login"}, fieldNames(h.teams.SetMember(t.Context(), cli, team, odd, access.Viewer)))
			_, err = h.tokens.Resolve(t.Context(), odd, odd, odd)
			require.Equal(t, fault.KindUnauthenticated, fault.KindOf(err))
			_, err = h.setup.Check(t.Context(), odd)
			require.Equal(t, fault.KindNotFound, fault.KindOf(err))
			_, err = h.audit.List(t.Context(), cli, access.AuditFilter{Actor: odd, ObjectID: odd, ObjectKind: odd}, 0, 10)
			require.NoError(t, err, "%.20q", odd)
		}
		token, session, err := h.sessions.SignIn(t.Context(), access.Credentials{
			Login: "ops", Password: password, Address: "\xffodd", Agent: "\xff agent 🧾", RequestID: "\xff"})
		require.NoError(t, err)
		require.Equal(t, " agent 🧾", session.Agent)
		_, _, err = h.resolve(t, token)
		require.NoError(t, err)
	})
}
