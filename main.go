// Command ax runs a team's background work on time and says plainly what
// became of it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"ax/app"
	"ax/app/access"
	"ax/app/calendar/china"
	"ax/app/command"
	"ax/app/demo"
	"ax/db"
	"ax/jobs"
)

// version is set by the build: -ldflags "-X main.version=1.2.3".
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := rootCommand().ExecuteContext(ctx); err != nil {
		if !errors.Is(err, errProblems) {
			fmt.Fprintln(os.Stderr, "ax: "+err.Error())
		}
		stop()
		os.Exit(1)
	}
}

// errProblems makes a command end with 1 after it said why itself.
var errProblems = errors.New("problems were found")

// cli holds what the flags of all commands say.
type cli struct{ configPath string }

func rootCommand() *cobra.Command {
	c := &cli{}
	root := &cobra.Command{
		Use: "ax", Short: "Runs a team's background work on time and says plainly what became of it",
		SilenceUsage: true, SilenceErrors: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.serve(cmd.Context()) },
	}
	root.PersistentFlags().StringVar(&c.configPath, "config", "", "configuration file (default: config.yaml, if there is one)")
	root.AddCommand(c.serveCommand(), c.demoCommand(), c.migrateCommand(), c.verifyCommand(), c.keyCommand(), c.resealCommand(), versionCommand())
	root.AddCommand(command.People{With: c.withPeople}.Commands()...)
	return root
}

func versionCommand() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print the version", Args: cobra.NoArgs, Run: func(cmd *cobra.Command, _ []string) {
		fmt.Fprintln(cmd.OutOrStdout(), "ax "+version)
	}}
}

func (c *cli) serveCommand() *cobra.Command {
	var roles []string
	cmd := &cobra.Command{Use: "serve", Short: "Serve the chosen roles until told to stop", Args: cobra.NoArgs}
	cmd.Flags().StringSliceVar(&roles, "roles", nil, "web, scheduler, worker (default: as configured)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if len(roles) > 0 {
			if err := os.Setenv("AX_ROLES", strings.Join(roles, ",")); err != nil {
				return err
			}
		}
		return c.serve(cmd.Context())
	}
	return cmd
}

// serve runs a process of ax to its end.
func (c *cli) serve(ctx context.Context) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGPIPE) // Go would end the process when whoever reads its log hangs up
	return newServer(cfg, newLog(cfg, os.Stderr), os.Stdout).run(ctx)
}

// withLedger runs a command beside the server, on the database alone.
func (c *cli) withLedger(ctx context.Context, do func(config, *db.DB) error) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	d, err := openLedger(ctx, cfg, newLog(cfg, os.Stderr))
	if err != nil {
		return err
	}
	defer d.Close()
	return do(cfg, d)
}

// withPeople runs a command on people, by the database's clock.
func (c *cli) withPeople(ctx context.Context, do func(s access.Services, base string) error) error {
	return c.withLedger(ctx, func(cfg config, d *db.DB) error {
		reading, err := d.Now(ctx)
		if err != nil {
			return err
		}
		began := time.Now()
		p, err := newPeople(d, access.ClosedVault{}, func() time.Time { return reading.Add(time.Since(began)).Truncate(time.Millisecond) })
		if err != nil {
			return err
		}
		return do(p, cfg.baseURL())
	})
}

func (c *cli) migrateCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "migrate", Short: "Bring the database's schema up to date", Args: cobra.NoArgs}
	up := func(cmd *cobra.Command, _ []string) error {
		return c.withLedger(cmd.Context(), func(config, *db.DB) error {
			fmt.Fprintln(cmd.OutOrStdout(), "the schema is up to date")
			return nil
		})
	}
	cmd.RunE = up
	cmd.AddCommand(
		&cobra.Command{Use: "up", Short: "Apply what is missing", Args: cobra.NoArgs, RunE: up},
		&cobra.Command{Use: "status", Short: "List the migrations", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			return c.migrationStatus(cmd)
		}})
	return cmd
}

func (c *cli) verifyCommand() *cobra.Command {
	return &cobra.Command{Use: "verify", Short: "Check the ledger's invariants and the audit chain; exit 1 when one fails", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withLedger(cmd.Context(), func(_ config, d *db.DB) error { return verify(cmd, d) })
		}}
}

func verify(cmd *cobra.Command, d *db.DB) error {
	found, err := d.Verify(cmd.Context())
	if err != nil {
		return err
	}
	for _, p := range found {
		fmt.Fprintf(cmd.OutOrStdout(), "%s\t%s\t%s\n", p.Check, p.Object, p.Detail)
	}
	if len(found) > 0 {
		return errProblems
	}
	fmt.Fprintln(cmd.OutOrStdout(), "the ledger holds all its invariants")
	return nil
}

func (c *cli) migrationStatus(cmd *cobra.Command) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	d, err := db.Open(cmd.Context(), cfg.dbOptions(newLog(cfg, os.Stderr)))
	if err != nil {
		return err
	}
	defer d.Close()
	states, err := d.MigrationStatus(cmd.Context())
	for _, s := range states {
		state := "pending"
		if s.Applied {
			state = "applied " + s.AppliedAt.UTC().Format(time.RFC3339)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s\t%s\n", s.Name, state)
	}
	return err
}

// keyCommand prints what receivers check Ax-Signature with.
func (c *cli) keyCommand() *cobra.Command {
	return &cobra.Command{Use: "signing-key", Short: "Print the key by which targets check Ax-Signature", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := c.config()
			if err != nil {
				return err
			}
			signer, err := cfg.signer()
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), signer.CallbackKey())
			}
			return err
		}}
}

// resealCommand is the second half of changing the installation's secret.
func (c *cli) resealCommand() *cobra.Command {
	return &cobra.Command{Use: "reseal", Short: "Seal the ledger's secrets with the present secret; old_secrets can go then", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withLedger(cmd.Context(), func(cfg config, d *db.DB) error {
				vault, err := cfg.vault()
				if err != nil {
					return err
				}
				n, err := vault.Reseal(cmd.Context(), d)
				if err == nil {
					fmt.Fprintf(cmd.OutOrStdout(), "%d secrets are sealed anew\n", n)
				}
				return err
			})
		}}
}

func (c *cli) demoCommand() *cobra.Command {
	return &cobra.Command{Use: "demo", Short: "Serve a throw-away installation with live tasks and a target whose behaviour can be chosen", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.demo(cmd.Context()) }}
}

// demo serves a throw-away installation: its folder is removed at the end.
func (c *cli) demo(ctx context.Context) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	if cfg.DataDir, err = os.MkdirTemp("", "ax-demo-"); err != nil {
		return fmt.Errorf("make the demo's folder: %w", err)
	}
	defer os.RemoveAll(cfg.DataDir)
	var commands string
	if runtime.GOOS == "linux" { // elsewhere none can be run
		if commands, err = demo.WriteCommands(cfg.DataDir); err != nil {
			return err
		}
		cfg.Shell.Enabled, cfg.Shell.Folders, cfg.Shell.User = true, []string{commands}, ""
	}
	cfg.Environment, cfg.Database.DSN, cfg.Redis.Addr, cfg.Redis.Addrs = "demo", "", "", nil
	target, err := demo.NewTarget()
	if err != nil {
		return err
	}
	defer target.Close()
	streams, err := jobs.OpenStreams()
	if err != nil {
		return err
	}
	defer streams.Close()
	s := newServer(cfg, newLog(cfg, os.Stderr), os.Stdout)
	s.ready = func(ctx context.Context, p *parts) error {
		return demo.House{
			People: p.people, Brokers: p.brokers, Tasks: p.tasks, Alerts: p.alerts, Cases: p.ledger, By: command.Actor(),
			Target: target, Messages: streams, Console: "http://" + p.cfg.HTTP.Addr, Commands: commands, NewID: newID, Now: p.clock.Now, Out: os.Stdout,
		}.Furnish(ctx)
	}
	return s.run(ctx)
}

// server is a process of ax from its start to its end.
type server struct {
	cfg   config
	log   *slog.Logger
	out   io.Writer                                 // what a person at the terminal is to read
	ready func(ctx context.Context, p *parts) error // called once when it serves; may be nil

	ledger, redis atomic.Bool // reached, before the parts are built
}

func newServer(c config, log *slog.Logger, out io.Writer) *server {
	return &server{cfg: c, log: log, out: out}
}

// run serves until ctx is done, then stops in order. The listener opens first:
// /healthz and /readyz answer while database and Redis are waited for.
func (s *server) run(ctx context.Context) error {
	jobs.RouteRedisLog(s.log)
	if s.cfg.embedded() {
		release, err := db.LockFolder(s.cfg.DataDir)
		if err != nil {
			return err
		}
		defer release()
	}
	var front *app.Front
	if s.cfg.has("web") {
		var err error
		if front, err = app.Listen(s.cfg.HTTP.Addr, s.log, s.reached); err != nil {
			return err
		}
		s.cfg.HTTP.Addr = front.Addr()
		defer front.Close()
	}
	p, err := s.open(ctx)
	if err != nil || p == nil {
		return err
	}
	defer p.ledger.Close()
	defer p.redis.Close()
	defer func() { p.shell.Close(); p.http.Close(); p.mq.Close() }()
	defer p.tele.Close()
	if err := s.admit(ctx, p, front); err != nil {
		return err
	}
	closeAside, err := app.ServeAside(p.aside())
	if err != nil {
		return err
	}
	defer closeAside()
	return p.host(front).Run(ctx)
}

func (s *server) reached() []app.Check {
	return []app.Check{{Name: "database", OK: s.ledger.Load()}, {Name: "redis", OK: s.redis.Load()}, {Name: "node", Detail: "starting"}}
}

// open waits for database and Redis and builds the parts; nil when ctx ended
// before.
func (s *server) open(ctx context.Context) (*parts, error) {
	var d *db.DB
	err := s.await(ctx, "database", func() (err error) { d, err = openLedger(ctx, s.cfg, s.log); return err })
	if d == nil || err != nil {
		return nil, err
	}
	s.ledger.Store(true)
	r, err := jobs.OpenRedis(ctx, s.cfg.redisOptions())
	if err == nil {
		err = s.await(ctx, "Redis", func() error { return r.Ping(ctx) })
	}
	if err != nil || ctx.Err() != nil {
		d.Close()
		return nil, err
	}
	s.redis.Store(true)
	return build(s.cfg, s.log, d, r)
}

// await tries until it works or ctx is done. Only what may pass by itself is
// waited for: a schema that is too new is an error at once.
func (s *server) await(ctx context.Context, what string, try func() error) error {
	for {
		err := try()
		switch {
		case err == nil || ctx.Err() != nil:
			return nil
		case errors.Is(err, db.ErrNewerSchema) || errors.Is(err, db.ErrCharset):
			return err
		}
		s.log.Warn("the "+what+" can't be reached, trying again", "error", err)
		jobs.Sleep(ctx, 2*time.Second)
	}
}

// admit registers the node, opens the console and says where it is.
func (s *server) admit(ctx context.Context, p *parts, front *app.Front) error {
	if err := p.vault.Check(ctx, p.ledger); err != nil {
		return err
	}
	if err := p.node.Register(ctx); err != nil {
		return err
	}
	if s.cfg.embedded() {
		if err := p.ledger.CloseEarlier(ctx, p.node.ID(), p.clock.Now()); err != nil {
			return err
		}
	}
	now := p.clock.Now()
	if _, err := p.ledger.SeedHouseRules(ctx, now); err != nil {
		return err
	}
	if _, err := p.ledger.SeedCalendar(ctx, china.Seed(now.Year()-2), now); err != nil {
		s.log.Warn("the calendar of China could not be seeded; it can be imported", "error", err)
	}
	if front != nil {
		a, err := p.console()
		if err != nil {
			return err
		}
		front.Admit(a.Handler())
		fmt.Fprintf(s.out, "ax %s serves http://%s\n", version, front.Addr())
		if s.cfg.opensLoopback() {
			fmt.Fprintln(s.out, "Tasks of every team may call this machine (127.0.0.0/8, ::1): the embedded default. worker.allow_networks changes it.")
		}
	}
	if s.ready != nil {
		return s.ready(ctx, p)
	}
	if front == nil {
		return nil
	}
	return p.offerSetup(ctx, s.out)
}
