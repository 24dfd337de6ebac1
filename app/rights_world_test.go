package app_test

import (
	"database/sql"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
	"ax/db"
)

// world is an installation with one of everything that a route can name, and
// with everybody who can call it, kept as a file: a call that changes
// something gets a copy of its own.
type world struct {
	file        []byte
	team, other access.Team
	at          time.Time
	callers     map[string]*client // by the names of the table's columns
	names       map[string]string  // what stands for a parameter, by its section and name
}

// copied is a copy of the world.
type copied struct {
	*house
	writes *sql.DB
	asked  *statements
}

func newWorld(t *testing.T) *world {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ax.db")
	d, err := db.Open(t.Context(), db.Options{Dialect: db.SQLite, DSN: path, MaxConns: 4})
	require.NoError(t, err)
	require.NoError(t, d.Migrate(t.Context()))
	h := newHouseOn(t, d)
	w := &world{callers: map[string]*client{}, names: map[string]string{}}
	w.furnish(h)
	w.populate(h)
	w.team, w.other, w.at = h.team, h.other, h.local()
	require.NoError(t, d.Close())
	w.file, err = os.ReadFile(path) //nolint:gosec // in the test's own folder
	require.NoError(t, err)
	return w
}

// furnish makes the objects; all are of the team payments.
func (w *world) furnish(h *house) {
	h.task("orders.send")
	h.calendar("orders.send")
	h.task("paused.one")
	_, err := h.opt.Tasks.Pause(h.t.Context(), root, "paused.one", h.clock.Now().Add(time.Hour), "")
	require.NoError(h.t, err)
	h.task("disabled.one")
	_, err = h.opt.Tasks.SetEnabled(h.t.Context(), root, "disabled.one", false, "")
	require.NoError(h.t, err)
	h.edited("edited.one")
	l := h.letter("orders.send", "o-1", "no luck")
	_, token, err := h.opt.Tokens.Create(h.t.Context(), root, access.NewToken{TeamID: h.team.ID, Name: "victim", Role: access.Viewer})
	require.NoError(h.t, err)
	_, invitation, err := h.opt.Invitations.Invite(h.t.Context(), root, h.team, access.Viewer, "")
	require.NoError(h.t, err)
	_, err = h.opt.Allowances.Add(h.t.Context(), root, h.team, "10.1.0.0/16", "a test")
	require.NoError(h.t, err)
	_, err = h.opt.Secrets.Add(h.t.Context(), root, h.team, access.NewSecret{Name: "PAY_TOKEN", Value: "a secret value", Hosts: "pay.example.com"})
	require.NoError(h.t, err)
	executor := h.executor("billing", "http://127.0.0.1:9001")
	_, err = h.opt.Brokers.Add(h.t.Context(), root, h.team, access.NewBroker{Name: "rabbit", Kind: access.BrokerAMQP, Address: "amqp://rabbit.example.com", User: "shop", Password: "a-password", Places: "orders #"})
	require.NoError(h.t, err)
	told := h.told(l.InstanceID)
	node := sched.NodeInfo{ID: newID(), Host: "wk-1", PID: 1, Roles: []string{"worker"}, Slots: 4, StartedAt: h.local(), BeatAt: h.local(), SteadyAt: h.local()}
	require.NoError(h.t, h.ledger.Register(h.t.Context(), node))
	w.names = map[string]string{
		"/queues :id": "default", "/queues :action": "pause", "/nodes :id": node.ID, "/nodes :action": "drain",
		"/alerts :id=incident": told.incident, "/alerts :id=acked": told.acked, "/alerts :id=delivery": told.delivery,
		"/alerts :id=rule": told.rule, "/alerts :id=channel": told.channel, "/alerts :id=subscription": told.subscription, "/alerts :id=silence": told.silence,
		"/alerts :id":    told.incident,
		"/executors :id": executor.ID, "/executors :team": h.team.Code, "/executors :name": "billing",
		"/tasks :code": "orders.send", "/calendars :code": "orders.send", "/tasks :action": "disable", "/tasks :version": "1",
		"/instances :id": h.trigger("orders.send", "o-2").ID, "/instances :id=failed": l.InstanceID,
		"/dead-letters :id": strconv.FormatInt(l.ID, 10),
		"/teams :team":      h.team.Code, "/teams :id": strconv.FormatInt(token.ID, 10),
		"/teams :id=invitation": strconv.FormatInt(invitation.ID, 10),
		"/users :login":         "member",
	}
}

// populate signs everybody in, and makes the tokens.
func (w *world) populate(h *house) {
	ctx := h.t.Context()
	h.person("member", access.NewUser{})
	require.NoError(h.t, h.opt.Teams.SetMember(ctx, root, h.team, "member", access.Viewer))
	h.as("member").secure()
	for _, role := range access.Roles() {
		w.callers[string(role)] = h.as(string(role))
		foreign := "other-" + string(role)
		h.person(foreign, access.NewUser{})
		require.NoError(h.t, h.opt.Teams.SetMember(ctx, root, h.other, foreign, role))
		w.callers[foreign] = h.as(foreign)
		w.callers["token "+string(role)] = h.bearer(h.service(h.team, "test-"+string(role), role))
		w.callers["token "+foreign] = h.bearer(h.service(h.other, foreign, role))
	}
	h.person("disabled", access.NewUser{})
	require.NoError(h.t, h.opt.Teams.SetMember(ctx, root, h.team, "disabled", access.Owner))
	for _, who := range []string{"", "nobody", "auditor", "admin", "disabled"} {
		w.callers[who] = h.as(who)
	}
	w.callers["guest"] = w.callers[""]
	disabled, err := h.opt.Users.ByLogin(ctx, root, "disabled")
	require.NoError(h.t, err)
	require.NoError(h.t, h.opt.Users.Disable(ctx, root, disabled.ID))
	revoked, token, err := h.opt.Tokens.Create(ctx, root, access.NewToken{TeamID: h.team.ID, Name: "revoked", Role: access.Owner})
	require.NoError(h.t, err)
	require.NoError(h.t, h.opt.Tokens.Revoke(ctx, root, token.ID))
	w.callers["token revoked"] = h.bearer(revoked)
	for _, c := range w.callers { // who has just been seen isn't noted again
		c.get("/tasks")
		c.get(v1 + "/teams")
	}
}

// copy gives a house that nobody else changes.
func (w *world) copy(t *testing.T) *copied {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ax.db")
	require.NoError(t, os.WriteFile(path, w.file, 0o600))
	out := &copied{asked: &statements{}}
	d, err := db.Open(t.Context(), db.Options{Dialect: db.SQLite, DSN: path, MaxConns: 4, Watch: out.asked.watch})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	out.house = newHouseOn(t, d)
	out.team, out.other, out.at = w.team, w.other, w.at
	out.writes, err = sql.Open("sqlite", path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = out.writes.Close() })
	out.writes.SetMaxOpenConns(1) // data_version is told per connection
	return out
}

// version rises with every write.
func (h *copied) version() (n int) {
	h.t.Helper()
	require.NoError(h.t, h.writes.QueryRowContext(h.t.Context(), "PRAGMA data_version").Scan(&n))
	return n
}

// caller is somebody in this copy.
func (w *world) caller(h *copied, who string) *client {
	h.t.Helper()
	from, ok := w.callers[who]
	require.True(h.t, ok, "nobody is called %q", who)
	out := from.with()
	out.h = h.house
	out.cookies = maps.Clone(from.cookies)
	return out
}
