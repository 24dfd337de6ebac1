package app_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"ax/app"
	"ax/app/access"
	"ax/app/alert"
	"ax/app/calendar"
	"ax/app/cron"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
	"ax/jobs"
)

// pass is everybody's password.
const pass = "a good long password"

// root is the command line.
var root = access.Actor{Kind: access.System, Name: "ax"}

// house is a whole application on a fresh SQLite ledger, with real services;
// only the carrier, the clock and the password hash are stand-ins. Nobody
// lives in it yet: as makes people when they are asked for.
//
//	h := newHouse(t)
//	page := h.as("operator").get("/tasks")
//	require.Equal(t, 200, page.status)
//	require.Equal(t, "Orders", page.text("[data-test=task] a"))
type house struct {
	t      *testing.T
	opt    app.Options
	ledger *db.DB
	clock  *sched.Clock
	log    *lockedBuffer
	signer *jobs.Signer

	app     *app.App
	handler http.Handler
	team    access.Team // "payments": operators and the like are in it
	other   access.Team // "store": the stranger owns it
	queue   *carrier
	robot   *robot      // takes the messages of all channels
	probe   brokerProbe // says what connecting to a broker gives
	checks  []app.Check // what /readyz answers
	queues  []app.QueueInfo

	mu     sync.Mutex
	at     time.Time
	people map[string]*client
	runner *sched.Runner
	node   *sched.Node
	result sched.Result // of the next attempts
}

// newHouse builds the application; each option may change something first.
func newHouse(t *testing.T, options ...func(*app.Options)) *house {
	t.Helper()
	return newHouseOn(t, dbtest.SQLite(t), options...)
}

// newHouseOn is newHouse on a ledger that the test holds.
func newHouseOn(t *testing.T, d *db.DB, options ...func(*app.Options)) *house {
	t.Helper()
	h := &house{
		t: t, ledger: d, log: &lockedBuffer{}, queue: &carrier{held: map[string]bool{}}, robot: &robot{}, people: map[string]*client{},
		at:     time.Date(2026, 12, 2, 6, 32, 7, 0, time.UTC),
		checks: []app.Check{{Name: "database", OK: true}, {Name: "redis", OK: true}},
		queues: []app.QueueInfo{{Name: "default"}},
	}
	h.clock = sched.NewClock(h.local)
	var err error
	h.signer, err = jobs.NewSigner([]byte("a secret of the tests"))
	require.NoError(t, err)
	h.opt = h.options()
	for _, o := range options {
		o(&h.opt)
	}
	a, err := app.New(h.opt)
	require.NoError(t, err)
	h.app, h.handler = a, a.Handler()
	return h
}

func (h *house) options() app.Options {
	d, now := h.ledger, h.clock.Now
	zone := func(name string) bool { _, err := cron.LoadZone(name); return err == nil }
	vault, err := access.NewVault([]byte("a secret of the tests"))
	require.NoError(h.t, err)
	people, err := access.NewServices(access.ServicesOptions{Store: d, Hasher: plainHasher{}, Sealer: vault, Zone: zone, Now: now})
	require.NoError(h.t, err)
	log := slog.New(slog.NewJSONHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	hand := sched.NewDispatcher(d, h.queue, h.clock, log)
	targets := jobs.NewEgress(jobs.EgressPolicy{Allow: access.Loopback(), Teams: jobs.NewTeamLists(d, h.local)})
	tasks := sched.NewTasks(d, hand, targets, h.clock, newID, sched.Defaults{
		TimeoutSeconds: 30, RetryMax: 3, RetryDelays: []int{10, 30, 120}, Queues: []string{"default", "slow"}})
	caller := jobs.NewHTTP(jobs.HTTPOptions{Egress: targets, Signer: h.signer, Now: now, Version: "1.2.3", Secrets: people.Secrets})
	h.t.Cleanup(caller.Close)
	return app.Options{
		Log: log, Version: "1.2.3", Env: "test", Clock: now,
		Tasks:     tasks,
		TestCalls: sched.NewTestCalls(sched.TestCallsOptions{Tasks: tasks, Call: caller, Receipts: jobs.Receipts{Signer: h.signer, Base: "https://ax.example"}, Book: d}),
		Instances: sched.NewInstances(d, h.queue, h.queue, h.clock),
		Letters:   sched.NewLetters(d, hand, h.clock, newID),
		Reports:   sched.NewReports(d, h.clock),
		Calendars: calendar.NewCalendars(d, sched.NewReplanner(d, hand, h.clock, log), now),
		Outlook:   sched.NewOutlook(d, h.clock),
		Executors: sched.NewExecutors(d, targets, h.clock, newID),
		Services:  people,
		Brokers:   access.NewBrokers(d, vault, &h.probe, now),
		Alerts:    alert.NewServices(alert.ServicesOptions{Store: d, Sealer: vault, Send: h.robot, Queues: []string{"default", "slow"}, NewID: newID, Now: now}),
		Past:      d,
		Calls:     d, Receipts: h.signer, Nodes: d, Queues: queueList{h}, Switches: sched.NewSwitches(d, h.queue, h.clock),
		Ready:   func(context.Context) []app.Check { return h.checks },
		Ledger:  d.Server,
		Carrier: func(context.Context) (string, error) { return "Redis 7.0.15", nil },
	}
}

// local is the time that the ledger's clock runs on; it stands still.
func (h *house) local() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at
}

// forward moves the clock.
func (h *house) forward(d time.Duration) {
	h.mu.Lock()
	h.at = h.at.Add(d)
	h.mu.Unlock()
	if h.node != nil { // a node that is silent for long does nothing
		require.NoError(h.t, h.node.Beat(h.t.Context()))
	}
}

// found makes the two teams, and an administrator so that nobody is asked to
// set ax up.
func (h *house) found() {
	if h.team.ID != 0 {
		return
	}
	h.person("admin", access.NewUser{Admin: true})
	var err error
	h.team, err = h.opt.Teams.Create(h.t.Context(), root, access.NewTeam{Code: "payments", Name: "Payments"})
	require.NoError(h.t, err)
	h.other, err = h.opt.Teams.Create(h.t.Context(), root, access.NewTeam{Code: "store", Name: "Store"})
	require.NoError(h.t, err)
}

func (h *house) person(login string, in access.NewUser) access.Person {
	in.Login, in.Name, in.Password = login, login+"’s name", pass
	p, err := h.opt.Users.Create(h.t.Context(), root, in)
	require.NoError(h.t, err)
	return p
}

// as gives a browser that is signed in as somebody: "viewer", "operator",
// "editor" and "owner" are in the team payments; "stranger" owns the team
// store; "nobody" is in no team; "admin" and "auditor" are what they say;
// somebody whom the test made (person) is just signed in. ""
// is a browser that isn't signed in, a new one each time.
func (h *house) as(who string) *client {
	h.t.Helper()
	h.found()
	if who == "" {
		return h.browser()
	}
	if c, ok := h.people[who]; ok {
		return c
	}
	role, team := access.Role(who), h.team
	_, err := h.opt.Users.ByLogin(h.t.Context(), root, who)
	switch {
	case err == nil: // made by found, or by the test
	case who == "auditor":
		h.person(who, access.NewUser{Auditor: true})
	default:
		h.person(who, access.NewUser{})
		if who == "stranger" {
			role, team = access.Owner, h.other
		}
		if role.Valid() {
			require.NoError(h.t, h.opt.Teams.SetMember(h.t.Context(), root, team, who, role))
		}
	}
	c := h.browser()
	c.address = fmt.Sprintf("192.0.2.%d:4711", 10+len(h.people))
	in := c.post("/login", "login", who, "password", pass)
	require.Equal(h.t, http.StatusSeeOther, in.status, "sign in as %s: %s", who, in.body)
	h.people[who] = c
	return c
}

// token makes an API token of the team payments.
func (h *house) token(role access.Role) string {
	h.t.Helper()
	h.found()
	secret, _, err := h.opt.Tokens.Create(h.t.Context(), root, access.NewToken{TeamID: h.team.ID, Name: "test-" + string(role), Role: role})
	require.NoError(h.t, err)
	return secret
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// plainHasher costs nothing; argon2id has its own tests.
type plainHasher struct{}

func (plainHasher) Hash(password string) (string, error) { return "plain:" + password, nil }
func (plainHasher) Verify(password, hash string) bool    { return hash == "plain:"+password }

// carrier keeps what was sent, and the hints.
type carrier struct {
	mu    sync.Mutex
	sent  []sched.Message
	hints []string
	held  map[string]bool // queues that are paused
}

func (q *carrier) Send(_ context.Context, messages []sched.Message) []error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sent = append(q.sent, messages...)
	return make([]error, len(messages))
}

func (q *carrier) Hint(_ context.Context, instance string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.hints = append(q.hints, instance)
	return nil
}

func (q *carrier) Pause(_ context.Context, queue string) error {
	q.held[queue] = true
	return nil
}

func (q *carrier) Unpause(_ context.Context, queue string) error {
	delete(q.held, queue)
	return nil
}

// robot takes what channels are sent, and answers as it is told to.
type robot struct {
	mu     sync.Mutex
	answer alert.Answer // zero: it takes everything
	got    []alert.Message
}

func (r *robot) Send(_ context.Context, _ string, messages []alert.Message) alert.Answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, messages...)
	if r.answer.Verdict == "" {
		return alert.Answer{Verdict: alert.Accepted, Status: 200, Body: "ok"}
	}
	return r.answer
}

type queueList struct{ h *house }

func (queueList) Carrier(context.Context) (sched.CarrierFigures, error) {
	return sched.CarrierFigures{Memory: 412 << 20, MaxMemory: 4 << 30, Policy: "noeviction", Clients: 214, RoundTrip: 310 * time.Microsecond}, nil
}

func (q queueList) List(context.Context) ([]app.QueueInfo, error) { return q.h.queues, nil }

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
