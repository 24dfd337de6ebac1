// Package app is the Gin application: routes, pages and the API. It decodes a
// request, asks one use case of the domain and shows what came of it; rules
// live in app/sched and app/access, texts and pages in views.
//
// It may import views, static and the domain (app/sched, app/access, app/cron,
// app/fault); never db or jobs: main wires those behind the small interfaces
// that are declared here.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/calendar"
	"ax/app/sched"
	"ax/app/settings"
	"ax/views"
)

// QueueInfo is what the pages show of one queue: the carrier's figures, and
// Due, the ledger's own count of what should be on its way by now.
type QueueInfo struct {
	Name      string
	Weight    int // of its messages among those of other queues; 0: no worker is set up for it
	Pending   int // ready to be taken
	Active    int // in a handler
	Scheduled int // due later
	Retry     int // comes back later
	Archived  int // given up by the carrier; ax never does that
	Paused    bool
	Latency   time.Duration // age of the oldest pending message
	Due       int
}

// Check is one thing that ax needs, and whether it is there. The names that
// the pages know are "database" and "redis".
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty"`
}

// CheckOf is the check of a thing that answered with an error, or with none.
func CheckOf(name string, err error) Check {
	if err != nil {
		return Check{Name: name, Detail: err.Error()}
	}
	return Check{Name: name, OK: true}
}

// CheckOfClock tells whether the clock is to be trusted.
func CheckOfClock(clock *sched.Clock) Check {
	c := Check{Name: "clock", OK: clock.Steady()}
	if !c.OK {
		c.Detail = "offset " + clock.Offset().String()
	}
	return c
}

// queues reads the queues. While the carrier is away, List gives the ledger's
// figures (Name, Weight and Due) together with a fault of kind Unavailable.
type queues interface {
	List(ctx context.Context) ([]QueueInfo, error)
	Carrier(ctx context.Context) (sched.CarrierFigures, error)
}

// nodes lists the nodes that live, or ended after since.
type nodes interface {
	Nodes(ctx context.Context, since time.Time) ([]sched.NodeInfo, error)
}

// receipts tells of which attempt of the instance a receipt's token is.
type receipts interface {
	CheckReceipt(token, instanceID string) (attempt int, ok bool)
	// IsTest tells whether the token went with a test call.
	IsTest(token, instanceID string) bool
}

// calls remembers the answers to calls with an Idempotency-Key.
type calls interface {
	BeginCall(ctx context.Context, c access.Call, now time.Time) (a access.Answer, done bool, err error)
	FinishCall(ctx context.Context, c access.Call, a access.Answer) error
	DropCall(ctx context.Context, c access.Call) error
}

// Options are the parts of an App. All services are required.
type Options struct {
	Log     *slog.Logger
	Version string
	Env     string // the installation's name in the top bar; "" hides it
	// ExternalURL is what people type, such as https://ax.example.com. With
	// https, cookies are Secure; without, pages say that nothing is encrypted.
	ExternalURL    string
	TrustedProxies []string         // CIDRs whose X-Forwarded-For is believed; none by default
	Zone           *time.Location   // of people who chose none; nil is UTC
	Clock          func() time.Time // the ledger's now
	Beats          sched.Pulse      // of the nodes; zero: sched.DefaultPulse
	Alarms         Alarms           // where pages begin to warn; what is zero has its default
	Dev            bool             // adds /dev/gallery

	Tasks           *sched.Tasks
	TestCalls       *sched.TestCalls
	Instances       *sched.Instances
	Letters         *sched.Letters
	Reports         *sched.Reports
	Calendars       *calendar.Calendars
	Outlook         *sched.Outlook
	Executors       *sched.Executors
	access.Services // who may do what
	Alerts          alert.Services
	Past            alertPast // that rules are tried on
	Brokers         *access.Brokers
	MailServer      bool // there is one: alerts can go by e-mail
	Calls           calls
	Receipts        receipts
	Queues          queues
	Switches        *sched.Switches
	Nodes           nodes
	Ready           func(ctx context.Context) []Check

	Served        func(Served)     // told of each request; may be nil
	Provider      provider         // people can sign in through; nil: by password only
	OpenNetworks  []netip.Prefix   // inside the network, and open to targets of every team
	OpensLoopback bool             // that is so because nothing else was configured
	Settings      []settings.Entry // in force in this process
	Ledger        func(ctx context.Context) (name string, schema int64, err error)
	Carrier       func(ctx context.Context) (string, error) // "" is the embedded one
}

func (o Options) check() error {
	for name, missing := range map[string]bool{
		"Log": o.Log == nil, "Clock": o.Clock == nil, "Tasks": o.Tasks == nil, "TestCalls": o.TestCalls == nil, "Instances": o.Instances == nil,
		"Letters": o.Letters == nil, "Reports": o.Reports == nil, "Calendars": o.Calendars == nil, "Outlook": o.Outlook == nil, "Executors": o.Executors == nil, "Users": o.Users == nil,
		"Sessions": o.Sessions == nil, "Tokens": o.Tokens == nil, "Teams": o.Teams == nil,
		"Setup": o.Setup == nil, "Invitations": o.Invitations == nil, "Allowances": o.Allowances == nil, "Brokers": o.Brokers == nil, "Audit": o.Audit == nil, "Refusals": o.Refusals == nil, "Calls": o.Calls == nil, "Receipts": o.Receipts == nil,
		"Alerts.Incidents": o.Alerts.Incidents == nil, "Alerts.Deliveries": o.Alerts.Deliveries == nil, "Past": o.Past == nil,
		"Queues": o.Queues == nil, "Switches": o.Switches == nil, "Nodes": o.Nodes == nil, "Ready": o.Ready == nil, "Ledger": o.Ledger == nil, "Carrier": o.Carrier == nil,
	} {
		if missing {
			return fmt.Errorf("app.New: %s is missing", name)
		}
	}
	return nil
}

// App answers the browser and the API.
type App struct {
	log      *slog.Logger
	version  string
	env      string
	external *url.URL // nil when it is not known
	zone     *time.Location
	now      func() time.Time
	beats    sched.Pulse
	alarms   Alarms
	dev      bool

	tasks       *sched.Tasks
	testCalls   *sched.TestCalls
	instances   *sched.Instances
	letters     *sched.Letters
	reports     *sched.Reports
	calendars   *calendar.Calendars
	outlook     *sched.Outlook
	executors   *sched.Executors
	users       *access.Users
	sessions    *access.Sessions
	tokens      *access.Tokens
	teams       *access.Teams
	setup       *access.Setup
	invitations *access.Invitations
	allowances  *access.Allowances
	secrets     *access.Secrets
	brokers     *access.Brokers
	networks    []netip.Prefix // open to targets of every team
	newcomers   bool           // they are because nothing else was configured
	audit       *access.Reader
	refusals    *access.Refusals
	alerts      alert.Services
	past        alertPast
	mailServer  bool
	calls       calls
	receipts    receipts
	queues      queues
	switches    *sched.Switches
	nodes       nodes
	ready       func(ctx context.Context) []Check
	served      func(Served) // may be nil
	provider    provider     // nil: none
	settings    []settings.Entry
	ledger      func(ctx context.Context) (string, int64, error)
	carrier     func(ctx context.Context) (string, error)

	engine  *gin.Engine
	streams map[string]bool // routes without a deadline
	settled atomic.Bool     // there is an administrator: asked once
	sidebar sidebar
	acts    *limits // by person
	tests   *limits // test calls, by actor

	dashboards recent[views.DashboardPage] // by scope
	carriers   recent[views.QueuesPage]
	deep       recent[sched.Depths]                // by span
	trends     recent[map[string]sched.QueueTrend] // of all queues
	outcomes   recent[[]sched.Bucket]              // by scope and span
	counts     recent[map[sched.State]int]         // by scope, task and period
	values     recent[alert.LiveValues]            // by the rules
}

// New makes the application and its routes.
func New(o Options) (*App, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	external, err := readExternal(o.ExternalURL)
	if err != nil {
		return nil, err
	}
	a := &App{
		log: o.Log, version: o.Version, env: o.Env, external: external, now: o.Clock, dev: o.Dev,
		zone: cmp.Or(o.Zone, time.UTC), beats: cmp.Or(o.Beats, sched.DefaultPulse()), alarms: o.Alarms.orDefault(),
		tasks: o.Tasks, testCalls: o.TestCalls, instances: o.Instances, letters: o.Letters, reports: o.Reports, calendars: o.Calendars, outlook: o.Outlook, executors: o.Executors,
		users: o.Users, sessions: o.Sessions, tokens: o.Tokens, teams: o.Teams, setup: o.Setup, invitations: o.Invitations, allowances: o.Allowances, secrets: o.Secrets, brokers: o.Brokers, audit: o.Audit, refusals: o.Refusals,
		alerts: o.Alerts, past: o.Past, mailServer: o.MailServer,
		calls: o.Calls, receipts: o.Receipts, queues: o.Queues, switches: o.Switches, nodes: o.Nodes, ready: o.Ready, served: o.Served, provider: o.Provider, networks: o.OpenNetworks, newcomers: o.OpensLoopback, settings: o.Settings, ledger: o.Ledger, carrier: o.Carrier,
		streams: map[string]bool{}, acts: newLimits(actsPerSecond, actsBurst), tests: newLimits(testsPerSecond, testsBurst),
	}
	if a.engine, err = a.newEngine(o.TrustedProxies); err != nil {
		return nil, err
	}
	return a, nil
}

func readExternal(raw string) (*url.URL, error) {
	if raw == "" {
		return nil, nil //nolint:nilnil // no address is a choice, not a fault
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("read the external URL: %w", err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || (u.Path != "" && u.Path != "/") || u.RawQuery != "" || u.User != nil {
		return nil, errors.New("the external URL has the form https://host or http://host:port, without a path")
	}
	return u, nil
}

// https tells whether people come over an encrypted connection.
func (a *App) https() bool { return a.external != nil && a.external.Scheme == "https" }

func (a *App) newEngine(trusted []string) (*gin.Engine, error) {
	gin.SetMode(gin.ReleaseMode) // no banner, no route list on stdout
	e := gin.New()
	// Gin's default is to believe every proxy.
	if err := e.SetTrustedProxies(trusted); err != nil {
		return nil, fmt.Errorf("read the trusted proxies: %w", err)
	}
	e.RemoteIPHeaders = []string{"X-Forwarded-For"}
	e.ContextWithFallback = true
	e.RedirectTrailingSlash = false // one address per page
	e.HandleMethodNotAllowed = true
	a.use(e)
	a.register(e)
	return e, nil
}

// Handler answers every request.
func (a *App) Handler() http.Handler { return a.engine }

// How long a connection may take.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 15 * time.Second
	// writeTimeout leaves a request that ran into its deadline the time to
	// say so.
	writeTimeout   = requestDeadline + 5*time.Second
	idleTimeout    = 90 * time.Second
	maxHeaderBytes = 64 << 10
)
