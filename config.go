package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"ax/app"
	"ax/app/access"
	"ax/app/cron"
	"ax/app/oidc"
	"ax/app/sched"
	"ax/app/settings"
	"ax/app/telemetry"
	"ax/db"
	"ax/jobs"
)

//go:embed config.yaml
var defaultConfig []byte

// config is the whole configuration: config.yaml, then AX_*, then flags. This
// file is its only reader.
type config struct {
	Environment string   `yaml:"environment"`
	Roles       []string `yaml:"roles"`
	DataDir     string   `yaml:"data_dir"`
	Secret      string   `yaml:"secret" mask:"whole"`
	OldSecrets  []string `yaml:"old_secrets" mask:"whole"`
	ZoneData    string   `yaml:"zone_data"`
	Log         struct {
		Level  string `yaml:"level"`
		Format string `yaml:"format"`
	} `yaml:"log"`
	HTTP struct {
		Addr           string   `yaml:"addr"`
		ExternalURL    string   `yaml:"external_url"`
		TrustedProxies []string `yaml:"trusted_proxies"`
	} `yaml:"http"`
	Metrics struct {
		Addr string `yaml:"addr"`
	} `yaml:"metrics"`
	Debug struct {
		Addr   string `yaml:"addr"`
		Remote bool   `yaml:"remote"`
	} `yaml:"debug"`
	Tracing  telemetry.Config `yaml:"tracing"`
	OIDC     oidc.Config      `yaml:"oidc"`
	Database struct {
		DSN      string `yaml:"dsn" mask:"password"`
		MaxConns int    `yaml:"max_conns"`
	} `yaml:"database"`
	Redis     jobs.RedisOptions `yaml:"redis"`
	Scheduler struct {
		Scan      time.Duration `yaml:"scan"`
		PlanBatch int           `yaml:"plan_batch"`
		Sweep     time.Duration `yaml:"sweep"`
	} `yaml:"scheduler"`
	Node struct {
		Beat      time.Duration `yaml:"beat"`
		DeadAfter int           `yaml:"dead_after"`
	} `yaml:"node"`
	Worker struct {
		Slots         int            `yaml:"slots"`
		Servers       int            `yaml:"servers"`
		Queues        map[string]int `yaml:"queues"`
		ShutdownGrace time.Duration  `yaml:"shutdown_grace"`
		Labels        []string       `yaml:"labels"`
		AllowNetworks []string       `yaml:"allow_networks"`
	} `yaml:"worker"`
	Defaults struct {
		TimeoutSeconds     int   `yaml:"timeout_seconds"`
		Retries            int   `yaml:"retries"`
		RetryDelaysSeconds []int `yaml:"retry_delays_seconds"`
	} `yaml:"defaults"`
	Mail   jobs.MailOptions  `yaml:"mail"`
	Shell  jobs.ShellOptions `yaml:"shell"`
	Alarms app.Alarms        `yaml:"alarms"`

	inForce []settings.Entry // all of these, for the console
}

// embedded tells whether the ledger is the SQLite file in the data folder.
func (c config) embedded() bool { return c.Database.DSN == "" }

func (c config) has(role string) bool { return slices.Contains(c.Roles, role) }

// miniRedis tells whether Redis runs in process.
func (c config) miniRedis() bool { return c.Redis.Addr == "" && len(c.Redis.Addrs) == 0 }

// baseURL is how people and targets reach this installation.
func (c config) baseURL() string {
	if u := c.HTTP.ExternalURL; u != "" {
		return strings.TrimRight(u, "/")
	}
	return "http://" + c.HTTP.Addr
}

// pulse is the rhythm of the nodes; a failed beat is tried again after a fifth
// of the time between two.
func (c config) pulse() sched.Pulse {
	return sched.Pulse{Beat: c.Node.Beat, Dead: c.Node.Beat * time.Duration(c.Node.DeadAfter), Retry: c.Node.Beat / 5}
}

// slots is how many instances the worker runs at once.
func (c config) slots() int {
	switch {
	case c.Worker.Slots > 0:
		return c.Worker.Slots
	case c.miniRedis():
		return 64
	}
	return 256
}

func (c config) redisOptions() jobs.RedisOptions {
	o := c.Redis
	o.Embedded = c.miniRedis()
	return o
}

// key is what all keys of ax are derived from.
func (c config) key() ([]byte, error) {
	if c.Secret != "" {
		return []byte(c.Secret), nil
	}
	return db.FolderSecret(c.DataDir)
}

// signer signs callbacks and receipts.
func (c config) signer() (*jobs.Signer, error) {
	key, err := c.key()
	if err != nil {
		return nil, err
	}
	return jobs.NewSigner(key)
}

// vault seals the secrets that the ledger holds.
func (c config) vault() (*access.Vault, error) {
	key, err := c.key()
	if err != nil {
		return nil, err
	}
	older := make([][]byte, len(c.OldSecrets))
	for i, s := range c.OldSecrets {
		older[i] = []byte(s)
	}
	return access.NewVault(key, older...)
}

// nodeInfo describes this process to the other nodes.
func (c config) nodeInfo() sched.NodeInfo {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	info := sched.NodeInfo{Host: host, PID: os.Getpid(), Version: version, Roles: c.Roles}
	if c.has("web") {
		info.Address = c.HTTP.Addr
	}
	if c.has("worker") {
		info.Queues, info.Slots, info.Labels = c.queueNames(), c.slots(), c.labels()
	}
	return info
}

// labels of this node: those that were given, and what it can do.
func (c config) labels() []string {
	return sched.LabelsOf(slices.Concat(c.Worker.Labels, c.Shell.Labels())).List()
}

// telemetry says what this process tells of its work, and to whom.
func (c config) telemetry(log *slog.Logger, ledger func() time.Time) telemetry.Options {
	me := c.nodeInfo()
	return telemetry.Options{
		Config: c.Tracing, Log: log, Version: version, Node: fmt.Sprintf("%s:%d", me.Host, me.PID), Environment: c.Environment,
		Now: time.Now, Ledger: ledger,
	}
}

// dbOptions say which database, and where it is.
func (c config) dbOptions(log *slog.Logger) db.Options {
	if c.embedded() {
		return db.Options{Dialect: db.SQLite, DSN: filepath.Join(c.DataDir, "ax.db"), MaxConns: c.Database.MaxConns, Log: log}
	}
	return db.Options{Dialect: db.MySQL, DSN: c.Database.DSN, MaxConns: c.Database.MaxConns, IdleLimit: c.pulse().Dead, Log: log}
}

// queueNames lists the queues by name, "default" first: the first one is what
// a task gets that names none.
func (c config) queueNames() []string {
	names := make([]string, 0, len(c.Worker.Queues))
	for name := range c.Worker.Queues {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if (a == "default") != (b == "default") {
			return map[bool]int{true: -1, false: 1}[a == "default"]
		}
		return strings.Compare(a, b)
	})
	return names
}

// noNetwork closes what the embedded default opens.
const noNetwork = "none"

// opensLoopback tells whether targets on this machine are open because nothing
// was said, on the embedded default.
func (c config) opensLoopback() bool { return c.embedded() && len(c.Worker.AllowNetworks) == 0 }

// networks are the ranges that are open to every team; validate has parsed
// them once.
func (c config) networks() []netip.Prefix {
	switch {
	case c.opensLoopback():
		return access.Loopback()
	case slices.Contains(c.Worker.AllowNetworks, noNetwork):
		return nil
	}
	out := make([]netip.Prefix, len(c.Worker.AllowNetworks))
	for i, s := range c.Worker.AllowNetworks {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// loadConfig reads the file at path ("": config.yaml if there is one) over the
// embedded copy, then the environment, and checks every value.
func loadConfig(path string, env []string) (config, error) {
	var c config
	source := settings.Source{Defaults: defaultConfig, Path: path, Env: env}
	from, err := source.Read(&c)
	if err != nil {
		return c, err
	}
	if err := c.validate(from); err != nil {
		return c, err
	}
	c.inForce, err = source.List(&c, from)
	return c, err
}

var queueName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// validate checks every value and names all that are wrong at once.
func (c config) validate(from settings.Origin) error {
	var bad []error
	check := func(key string, ok bool, format string, args ...any) {
		if !ok {
			bad = append(bad, fmt.Errorf("%s: %s: "+format, append([]any{from.Of(key), key}, args...)...))
		}
	}
	check("roles", len(c.Roles) > 0, "at least one of web, scheduler, worker is needed")
	for _, r := range c.Roles {
		check("roles", slices.Contains([]string{"web", "scheduler", "worker"}, r), "one of web, scheduler, worker; this is %q", r)
	}
	check("log.level", slices.Contains([]string{"debug", "info", "warn", "error"}, c.Log.Level), "one of debug, info, warn, error; this is %q", c.Log.Level)
	check("log.format", c.Log.Format == "text" || c.Log.Format == "json", "text or json; this is %q", c.Log.Format)
	check("data_dir", c.DataDir != "", "a folder is needed")
	check("secret", c.Secret == "" || len(c.Secret) >= 32, "at least 32 characters; this has %d", len(c.Secret))
	check("secret", c.Secret != "" || c.embedded(), "it must be given when database.dsn is set: all nodes need the same")
	for _, s := range c.OldSecrets {
		check("old_secrets", len(s) >= 32, "each has at least 32 characters; one has %d", len(s))
	}
	c.validateNet(check)
	c.Tracing.Check(check)
	c.OIDC.Check(c.HTTP.ExternalURL, check)
	c.validateEngine(check)
	return errors.Join(bad...)
}

func (c config) validateNet(check func(string, bool, string, ...any)) {
	if u := c.HTTP.ExternalURL; u != "" {
		p, err := url.Parse(u)
		check("http.external_url", err == nil && (p.Scheme == "http" || p.Scheme == "https") && p.Host != "" && p.User == nil && strings.Trim(p.Path, "/") == "",
			"an address such as https://ax.example.org; this is %q", u)
	}
	check("http.addr", strings.Contains(c.HTTP.Addr, ":"), "host:port; this is %q", c.HTTP.Addr)
	for _, p := range c.HTTP.TrustedProxies {
		_, errAddr := netip.ParseAddr(p)
		_, errPrefix := netip.ParsePrefix(p)
		check("http.trusted_proxies", errAddr == nil || errPrefix == nil, "addresses or prefixes; this is %q", p)
	}
	for _, s := range c.Worker.AllowNetworks {
		p, err := netip.ParsePrefix(s)
		check("worker.allow_networks", err == nil || s == noNetwork && len(c.Worker.AllowNetworks) == 1, "prefixes such as 10.0.0.0/8, or none alone; this is %q", s)
		check("worker.allow_networks", err != nil || !p.IsSingleIP() || !access.Metadata(p.Addr()), "%s is a metadata service of clouds, which nothing opens", s)
	}
	c.Mail.Check(check)
	c.Shell.Check(check)
	check("debug.addr", c.Debug.Addr == "" || strings.Contains(c.Debug.Addr, ":"), "host:port; this is %q", c.Debug.Addr)
	check("debug.addr", c.Debug.Addr == "" || c.Debug.Remote || onLoopback(c.Debug.Addr), "an address of loopback such as 127.0.0.1:6060, unless debug.remote is true; this is %q", c.Debug.Addr)
	check("database.max_conns", c.Database.MaxConns >= 2 && c.Database.MaxConns <= 1000, "between 2 and 1000; this is %d", c.Database.MaxConns)
	check("redis.addr", c.embedded() || !c.miniRedis(), "an address is needed when database.dsn is set: nodes share their Redis")
	c.Redis.Check(check)
}

// onLoopback tells whether only this machine reaches the listener.
func onLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	ip, bad := netip.ParseAddr(host)
	return err == nil && (host == "localhost" || bad == nil && ip.IsLoopback())
}

func (c config) validateEngine(check func(string, bool, string, ...any)) {
	between := func(key string, d, low, high time.Duration) {
		check(key, d >= low && d <= high, "between %s and %s; this is %s", low, high, d)
	}
	between("scheduler.scan", c.Scheduler.Scan, 100*time.Millisecond, 2*time.Second)
	between("scheduler.sweep", c.Scheduler.Sweep, 100*time.Millisecond, time.Minute)
	between("node.beat", c.Node.Beat, 200*time.Millisecond, time.Minute)
	between("worker.shutdown_grace", c.Worker.ShutdownGrace, 0, time.Hour)
	check("scheduler.plan_batch", c.Scheduler.PlanBatch >= 1 && c.Scheduler.PlanBatch <= 5000, "between 1 and 5000; this is %d", c.Scheduler.PlanBatch)
	check("node.dead_after", c.Node.DeadAfter >= 3 && c.Node.DeadAfter <= 100, "between 3 and 100 beats; this is %d", c.Node.DeadAfter)
	check("worker.slots", c.Worker.Slots >= 0 && c.Worker.Slots <= 10_000, "between 0 and 10000; this is %d", c.Worker.Slots)
	check("worker.servers", c.Worker.Servers >= 0 && c.Worker.Servers <= 16, "between 0 and 16; this is %d", c.Worker.Servers)
	check("worker.queues", len(c.Worker.Queues) > 0, "at least one queue is needed")
	for name, weight := range c.Worker.Queues {
		check("worker.queues", queueName.MatchString(name), "lower-case letters, digits and hyphens, at most 32; this is %q", name)
		check("worker.queues", weight >= 1 && weight <= 100, "weights are between 1 and 100; %s has %d", name, weight)
	}
	check("worker.labels", len(c.Worker.Labels) <= sched.MaxNodeLabels, "at most %d labels; these are %d", sched.MaxNodeLabels, len(c.Worker.Labels))
	for _, s := range c.Worker.Labels {
		check("worker.labels", sched.LabelOK(s), "at most 32 lower-case letters, digits, dots, hyphens and underscores, beginning with a letter or digit; this is %q", s)
		check("worker.labels", s != sched.LabelShell, "%s is what nodes have that run commands; shell.enabled gives it", s)
	}
	check("worker.labels", len(sched.LabelsOf(c.labels())) <= 480, "at most 480 characters together")
	check("defaults.timeout_seconds", c.Defaults.TimeoutSeconds >= 1 && c.Defaults.TimeoutSeconds <= 86_400, "between 1 and 86400; this is %d", c.Defaults.TimeoutSeconds)
	check("defaults.retries", c.Defaults.Retries >= 0 && c.Defaults.Retries <= 100, "between 0 and 100; this is %d", c.Defaults.Retries)
	check("defaults.retry_delays_seconds", len(c.Defaults.RetryDelaysSeconds) > 0, "at least one delay is needed")
	for _, s := range c.Defaults.RetryDelaysSeconds {
		check("defaults.retry_delays_seconds", s >= 1 && s <= 86_400, "between 1 and 86400; this is %d", s)
	}
	c.Alarms.Check(check)
	check("alarms.zone", c.zone() != nil, "a time zone such as Asia/Shanghai; this is %q", c.Alarms.Zone)
}

// zone of the times in messages to people; nil: there is none of that name.
func (c config) zone() *time.Location {
	zone, _ := cron.LoadZone(c.Alarms.Zone)
	return zone
}

// config reads the configuration; from then on zones are those that it names.
func (c *cli) config() (config, error) {
	cfg, err := loadConfig(c.configPath, os.Environ())
	if err != nil {
		return cfg, err
	}
	if err := cron.UseZoneData(cfg.ZoneData); err != nil {
		return cfg, fmt.Errorf("zone_data: %w", err)
	}
	return cfg, nil
}

func newLog(c config, w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.Log.Level)) // validated
	o := &slog.HandlerOptions{Level: level}
	if c.Log.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

// openLedger opens the database and brings its schema up to date.
func openLedger(ctx context.Context, c config, log *slog.Logger) (*db.DB, error) {
	d, err := db.Open(ctx, c.dbOptions(log))
	if err != nil {
		return nil, err
	}
	if err := d.Migrate(ctx); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}
