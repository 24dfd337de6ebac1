package db_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/alert"
	"ax/db"
	"ax/db/dbtest"
)

// desk is the use cases of alerts on one ledger, with a clock that the test
// moves.
type desk struct {
	alert.Services
	*db.DB
	t    *testing.T
	now  time.Time
	team access.Team

	Holder *alert.Holder
}

func newDesk(t *testing.T, d *db.DB) *desk {
	t.Helper()
	h := &desk{DB: d, t: t, now: t0, team: dbtest.MakeTeam(t, d)}
	h.Services = alert.NewServices(alert.ServicesOptions{
		NewID: dbtest.ID,
		Store: d, Sealer: vaultOf(t, "a"), Queues: []string{"default", "bulk"}, Now: func() time.Time { return h.now },
	})
	h.Holder = alert.NewHolder(d, slog.New(slog.DiscardHandler), func() time.Time { return h.now })
	return h
}

// as is somebody with a role in the desk's team.
func (h *desk) as(role access.Role) access.Actor {
	return access.Actor{Kind: access.User, ID: 5, Name: string(role), Roles: map[int64]access.Role{h.team.ID: role}}
}

// person stores somebody who may sign in, with a role in the desk's team ("" for
// none), and gives them as an actor.
func (h *desk) person(login, email string, role access.Role) access.Actor {
	h.t.Helper()
	id, err := h.InsertUser(h.t.Context(), access.Person{Login: login, Email: email, Language: "zh-CN", CreatedAt: h.now}, access.Entry{At: h.now, Actor: cli, Action: "user.create"})
	require.NoError(h.t, err)
	a := access.Actor{Kind: access.User, ID: id, Name: login, Roles: map[int64]access.Role{}}
	if role != "" {
		a.Roles[h.team.ID] = role
		require.NoError(h.t, h.ChangeMember(h.t.Context(), h.team.ID, id, func(access.Role) (access.Role, access.Entry, error) {
			return role, access.Entry{At: h.now, Actor: cli, Action: "team.member"}, nil
		}))
	}
	return a
}

// ruleSpec is a written rule of the desk's team.
func (h *desk) ruleSpec(name string) alert.RuleSpec {
	return alert.RuleSpec{Team: h.team.Code, Name: name, Metric: alert.InARow, Threshold: 3, Level: alert.ByTask}
}

func (h *desk) rule(name string) alert.Rule {
	h.t.Helper()
	r, err := h.Rules.Create(h.t.Context(), h.as(access.Editor), h.ruleSpec(name))
	require.NoError(h.t, err)
	return r
}

// names of rules.
func names(rules []alert.Rule) []string {
	out := make([]string, len(rules))
	for i, r := range rules {
		out[i] = r.Name
	}
	return out
}
