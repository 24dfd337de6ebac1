package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"ax/app"
	"ax/app/access"
	"ax/app/alert"
	"ax/app/calendar"
	"ax/app/cron"
	"ax/app/oidc"
	"ax/app/sched"
	"ax/app/telemetry"
	"ax/db"
	"ax/jobs"
)

// newID makes an id that sorts by the time of its making.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// newPeople makes the services of who may do what. They need the ledger only.
func newPeople(d *db.DB, vault access.Sealer, now func() time.Time) (access.Services, error) {
	zone := func(name string) bool { _, err := cron.LoadZone(name); return err == nil }
	return access.NewServices(access.ServicesOptions{Store: d, Hasher: app.NewPasswords(), Sealer: vault, Zone: zone, Now: now})
}

// parts is a built process.
type parts struct {
	cfg    config
	log    *slog.Logger
	ledger *db.DB
	redis  *jobs.Redis
	clock  *sched.Clock
	node   *sched.Node
	tele   *telemetry.Telemetry
	queue  telemetry.Sender // tells tele
	hints  *jobs.Hints
	signer *jobs.Signer
	vault  *access.Vault
	people access.Services

	tasks     *sched.Tasks
	instances *sched.Instances
	letters   *sched.Letters
	reports   *sched.Reports
	calendars *calendar.Calendars
	alerts    alert.Services
	telling   *alert.Engine

	planner    *sched.Planner
	replanner  *sched.Replanner
	dispatcher *sched.Dispatcher
	sweeper    *sched.Sweeper
	runner     *sched.Runner
	inspector  *jobs.Inspector
	switches   *sched.Switches
	http       *jobs.HTTP
	egress     *jobs.Egress
	shell      *jobs.Shell
	brokers    *access.Brokers
	mq         *jobs.MQ
}

// build makes all parts on an open ledger and Redis. Nothing runs yet.
func build(c config, log *slog.Logger, d *db.DB, r *jobs.Redis) (*parts, error) {
	signer, err := c.signer()
	if err != nil {
		return nil, err
	}
	clock := sched.NewClock(time.Now)
	p := &parts{
		cfg: c, log: log, ledger: d, redis: r, clock: clock, signer: signer,
		hints: jobs.NewHints(r), reports: sched.NewReports(d, clock),
	}
	if p.tele, err = telemetry.New(c.telemetry(log, clock.Now)); err != nil {
		return nil, err
	}
	p.queue = p.tele.Sender(jobs.NewQueue(r, clock.Now))
	if p.vault, err = c.vault(); err != nil {
		return nil, err
	}
	if p.people, err = newPeople(d, p.vault, clock.Now); err != nil {
		return nil, err
	}
	if p.shell, err = jobs.NewShell(jobs.ShellExecOptions{Shell: c.Shell, DataDir: c.DataDir, Teams: d, Outputs: d, Secrets: p.people.Secrets, Now: clock.Now, Log: log}); err != nil {
		return nil, err
	}
	p.buildEngine()
	p.buildAlerts()
	p.tasks = sched.NewTasks(d, p.dispatcher, p.egress, clock, newID, sched.Defaults{
		TimeoutSeconds: c.Defaults.TimeoutSeconds, RetryMax: c.Defaults.Retries, RetryDelays: c.Defaults.RetryDelaysSeconds, Queues: c.queueNames(),
	})
	p.instances = sched.NewInstances(d, p.queue, p.hints, clock)
	p.letters = sched.NewLetters(d, p.dispatcher, clock, newID)
	p.replanner = sched.NewReplanner(d, p.dispatcher, clock, log)
	p.calendars = calendar.NewCalendars(d, p.replanner, clock.Now)
	return p, nil
}

func (p *parts) buildEngine() {
	c, d := p.cfg, p.ledger
	p.node = sched.NewNode(sched.NodeOptions{
		Store: d, Clock: p.clock, NewID: newID, Local: time.Now, Send: p.queue, Log: p.log,
		Pulse: c.pulse(), Info: c.nodeInfo(),
	})
	p.dispatcher = sched.NewDispatcher(d, p.queue, p.clock, p.log)
	p.planner = sched.NewPlanner(sched.PlannerOptions{Store: p.tele.Plans(d), Node: p.node, Clock: p.clock, Hand: p.dispatcher, Batch: c.Scheduler.PlanBatch, Log: p.log})
	p.sweeper = sched.NewSweeper(d, p.queue, p.node, p.clock, p.log)
	p.egress = jobs.NewEgress(jobs.EgressPolicy{Allow: c.networks(), Teams: jobs.NewTeamLists(d, time.Now)})
	p.inspector = jobs.NewInspector(p.redis, c.Worker.Queues, d.Lanes, p.clock.Now)
	p.switches = sched.NewSwitches(d, p.inspector, p.clock)
	p.http = jobs.NewHTTP(jobs.HTTPOptions{Egress: p.egress, Signer: p.signer, Now: p.clock.Now, Version: version, Secrets: p.people.Secrets, Sampled: p.tele.Sampled()})
	p.buildMQ()
	p.runner = sched.NewRunner(sched.RunnerOptions{
		Store: d, Node: p.node, Clock: p.clock, Exec: p.tele.Executor(jobs.Executors{sched.TargetHTTP: p.routed(), sched.TargetShell: p.shell, sched.TargetMQ: p.mq}),
		Probe: p.http, Probes: max(1, c.slots()/4), Receipts: jobs.Receipts{Signer: p.signer, Base: p.cfg.baseURL()}, Send: p.queue, Hint: p.hints, NewID: newID, Sleep: jobs.Sleep, Log: p.log,
	})
}

// routed calls addresses, and executors by their names.
func (p *parts) routed() *jobs.Routed {
	return jobs.NewRouted(jobs.RoutedOptions{Call: p.http, Book: p.ledger, Turns: jobs.NewTurns(p.redis), Now: p.clock.Now, Dice: rand.Float64, Log: p.log})
}

// buildMQ makes the brokers of teams, and what publishes to them.
func (p *parts) buildMQ() {
	o := jobs.MQOptions{Egress: p.egress, Signer: p.signer, Now: p.clock.Now, Local: time.Now, Sampled: p.tele.Sampled()}
	p.brokers = access.NewBrokers(p.ledger, p.vault, jobs.NewMQ(o), p.clock.Now) // which only probes
	o.Brokers = p.brokers
	p.mq = jobs.NewMQ(o)
}

// buildAlerts makes what people set about alerts, and what tells them.
func (p *parts) buildAlerts() {
	c, d, now := p.cfg, p.ledger, p.clock.Now
	sender := jobs.ChannelSender{
		Open: alert.NewChannels(d, p.vault, now).Open, People: d.People, Zone: c.zone(), Log: p.log,
		By: jobs.NewNotifier(jobs.NotifierOptions{Egress: p.egress, Now: now, Version: version, Base: c.baseURL(), Name: c.Environment, Mail: c.Mail}),
	}
	p.alerts = alert.NewServices(alert.ServicesOptions{Store: d, Sealer: p.vault, Source: alert.Sources{d, p.inspector}, Send: sender, Queues: c.queueNames(), NewID: newID, Now: now})
	p.telling = alert.NewEngine(alert.EngineOptions{
		Store: d, Tasks: db.NewMarks(d, now), Source: alert.Sources{db.NewGauges(d), p.inspector}, Post: jobs.NewPoster(p.redis), Send: sender, Now: now, NewID: newID, Log: p.log,
	})
}

// worker makes the part that takes messages.
func (p *parts) worker() *jobs.Worker {
	return jobs.NewWorker(jobs.WorkerOptions{
		Redis: p.redis, Runner: p.tele.Runner(p.runner), Queues: jobs.Queues(p.cfg.Worker.Queues), Now: p.clock.Now, Log: p.log,
		Slots: p.cfg.slots(), Servers: p.cfg.Worker.Servers, Grace: p.cfg.Worker.ShutdownGrace,
	})
}

// canceler makes the part that tells targets to stop.
func (p *parts) canceler() *sched.Canceler {
	return sched.NewCanceler(p.ledger, jobs.Cancels{HTTP: p.http, MQ: p.mq}, p.clock, p.log)
}

// loops are the periodic works of the scheduler role.
func (p *parts) loops() []jobs.Loop {
	queues := jobs.Queues(p.cfg.Worker.Queues)
	marker := jobs.NewMarker(p.redis, queues)
	loops := []jobs.Loop{
		{Name: "plan", Every: p.cfg.Scheduler.Scan, Tick: p.planner.Tick},
		{Name: "dispatch", Every: p.cfg.Scheduler.Scan, Tick: p.dispatcher.Tick},
		{Name: "sweep", Every: p.cfg.Scheduler.Sweep, Tick: p.sweeper.Tick},
		{Name: "replan", Every: 5 * time.Second, Tick: p.replanner.Tick},
		{Name: "follow-moves", Every: 2 * time.Second, Tick: func(ctx context.Context) (bool, error) { return p.ledger.FollowMoves(ctx, p.clock.Now()) }},
		marker.Watch(p.sweeper.Wiped),
		{Name: "roll-up", Every: 10 * time.Second, Tick: func(ctx context.Context) (bool, error) { return p.ledger.RollUp(ctx, p.clock.Now()) }},
		{Name: "sample-queues", Every: 10 * time.Second, Tick: func(ctx context.Context) (bool, error) {
			return false, p.ledger.SampleQueues(ctx, p.clock.Now(), queues.Names(), p.inspector.Pending)
		}},
		{Name: "hold-queues", Every: sched.HoldEvery, Tick: p.switches.Hold},
		{Name: "seal", Every: 5 * time.Second, Tick: func(ctx context.Context) (bool, error) {
			n, err := p.ledger.SealAudit(ctx, p.clock.Now(), 500)
			return n == 500, err
		}},
		{Name: "pulse", Every: 2 * time.Second, Tick: func(ctx context.Context) (bool, error) { return p.ledger.Pulse(ctx, p.clock.Now()) }},
	}
	for _, l := range p.telling.Loops() {
		loops = append(loops, jobs.Loop(l))
	}
	return jobs.Watched(p.tele.Loop, loops)
}

// chores are ax's own periodic works; one node does each.
func (p *parts) chores() []jobs.MaintenanceJob {
	return []jobs.MaintenanceJob{
		{Name: "prune-sessions", Spec: "*/10 * * * *", Run: func(ctx context.Context) error { _, err := p.people.Sessions.Prune(ctx); return err }},
		{Name: "prune-calls", Spec: "*/10 * * * *", Run: func(ctx context.Context) error { _, err := p.ledger.PruneCalls(ctx, p.clock.Now(), 5000); return err }},
		{Name: "prune-plan-log", Spec: "17 * * * *", Run: func(ctx context.Context) error { return p.ledger.PrunePlanLog(ctx, p.clock.Now()) }},
		{Name: "digests", Spec: "*/10 * * * *", Run: p.telling.Digest},
		{Name: "prune-alerts", Spec: "27 * * * *", Run: func(ctx context.Context) error {
			return errors.Join(p.ledger.PruneDeliveries(ctx, p.clock.Now()), p.ledger.PruneIncidents(ctx, p.clock.Now()), p.ledger.PruneOutputs(ctx, p.clock.Now()), p.ledger.PruneNotes(ctx, p.clock.Now()), p.ledger.PruneProgress(ctx, p.clock.Now()), p.ledger.PruneProbes(ctx, p.clock.Now()), p.ledger.PruneCancels(ctx, p.clock.Now()), p.ledger.PruneExecutors(ctx, p.clock.Now()))
		}},
		{Name: "prune-lanes", Spec: "37 * * * *", Run: p.inspector.ForgetLanes},
		{Name: "prune-stats", Spec: "47 * * * *", Run: func(ctx context.Context) error { return p.ledger.PruneStats(ctx, p.clock.Now()) }},
	}
}

// aside is what is served apart from the console.
func (p *parts) aside() app.AsideOptions {
	return app.AsideOptions{MetricsAddr: p.cfg.Metrics.Addr, DebugAddr: p.cfg.Debug.Addr, Metrics: app.MetricsOptions{
		Log: p.log, Version: version, Clock: p.clock.Now, Steady: p.clock.Steady, Beats: p.cfg.pulse(), Reports: p.reports, Figures: p.ledger, Queues: p.queues(),
		Own: append(p.tele.Collectors(), telemetry.Pools(p.ledger.Pools)),
	}}
}

// host is what runs in this process, by its roles.
func (p *parts) host(front *app.Front) jobs.Host {
	h := jobs.Host{Redis: p.redis, Node: p.node, Hints: p.hints, Log: p.log}
	if p.cfg.has("scheduler") {
		h.Loops, h.Chores = p.loops(), p.chores()
		h.Deliver = jobs.NewDeliverer(p.redis, p.telling.Courier, p.log)
	}
	if p.cfg.has("worker") {
		h.Worker = p.worker()
		h.Loops = append(h.Loops, jobs.Watched(p.tele.Loop, []jobs.Loop{{Name: "cancel-calls", Every: time.Second, Tick: p.canceler().Tick}})...)
	}
	if front != nil {
		p.withFront(&h, front)
	}
	return h
}

// queues reads the queues for the console.
func (p *parts) queues() *app.QueueReader {
	return app.NewQueueReader(p.cfg.Worker.Queues, p.inspector, p.ledger, p.clock.Now)
}

// console makes the web application.
func (p *parts) console() (*app.App, error) {
	o := app.Options{
		Log: p.log, Version: version, Env: p.cfg.Environment, ExternalURL: p.cfg.HTTP.ExternalURL,
		TrustedProxies: p.cfg.HTTP.TrustedProxies, Clock: p.clock.Now, Dev: version == "dev",
		Alarms: p.cfg.Alarms,
		Beats:  p.cfg.pulse(),
		Tasks:  p.tasks, TestCalls: sched.NewTestCalls(sched.TestCallsOptions{Tasks: p.tasks, Call: p.http, Receipts: jobs.Receipts{Signer: p.signer, Base: p.cfg.baseURL()}, Book: p.ledger}), Instances: p.instances, Letters: p.letters, Reports: p.reports, Calendars: p.calendars, Outlook: sched.NewOutlook(p.ledger, p.clock),
		Executors: sched.NewExecutors(p.ledger, p.egress, p.clock, newID),
		Services:  p.people, Brokers: p.brokers, Alerts: p.alerts, Past: p.ledger, MailServer: p.cfg.Mail.Addr != "",
		Calls: p.ledger, Receipts: p.signer, Nodes: p.ledger, Queues: p.queues(), Switches: p.switches, Ready: p.checks,
		OpenNetworks: p.cfg.networks(), OpensLoopback: p.cfg.opensLoopback(), Settings: p.cfg.inForce, Ledger: p.ledger.Server, Carrier: p.redis.Server,
		Served: func(r app.Served) { p.tele.Request(telemetry.Request(r)) },
	}
	if p.cfg.OIDC.On() {
		o.Provider = oidc.New(p.cfg.OIDC, p.cfg.baseURL()+app.CallbackPath, p.clock.Now)
	}
	return app.New(o)
}

// checks says what this process can reach.
func (p *parts) checks(ctx context.Context) []app.Check {
	return []app.Check{app.CheckOf("database", p.ledger.Ping(ctx)), app.CheckOf("redis", p.redis.Ping(ctx)), app.CheckOfClock(p.clock)}
}

// withFront gives the host what a process that answers people does besides:
// it writes what they were refused, to the end.
func (p *parts) withFront(h *jobs.Host, front *app.Front) {
	h.Loops = append(h.Loops, jobs.Loop{Name: "refusals", Every: time.Second, Tick: p.people.Refusals.Flush})
	h.Before = func() {
		_ = front.Close() // closed again at the end, for nothing
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if _, err := p.people.Refusals.Flush(ctx); err != nil {
			p.log.Warn("the last refusals are not in the audit", "error", err)
		}
	}
}

// offerSetup prints the one-time link while there is no administrator.
func (p *parts) offerSetup(ctx context.Context, out io.Writer) error {
	needed, err := p.people.Setup.Needed(ctx)
	if err != nil || !needed {
		return err
	}
	token, err := p.people.Setup.NewLink(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "No administrator yet. Open this link once, within 24 hours:\n  %s\n", p.cfg.baseURL()+"/setup?token="+token)
	return nil
}
