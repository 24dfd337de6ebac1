// Command ax runs a team's background work on time and says plainly what
// became of it.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"ax/app/access"
	"ax/app/demo"
	"ax/app/fault"
	"ax/db"
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
	root.AddCommand(c.serveCommand(), c.demoCommand(), c.migrateCommand(), c.userCommand(), c.tokenCommand(),
		c.linkCommand(), c.verifyCommand(), c.keyCommand(), c.resealCommand(), versionCommand())
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
func (c *cli) withPeople(ctx context.Context, do func(config, access.Services) error) error {
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
		return do(cfg, p)
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

func (c *cli) linkCommand() *cobra.Command {
	return &cobra.Command{Use: "setup-link", Short: "Print a new one-time setup link, while there is no administrator", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withPeople(cmd.Context(), func(cfg config, p access.Services) error {
				token, err := p.Setup.NewLink(cmd.Context())
				if err != nil {
					return err
				}
				fmt.Fprintln(cmd.OutOrStdout(), cfg.baseURL()+"/setup?token="+token)
				return nil
			})
		}}
}

func (c *cli) userCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "user", Short: "Create and list people, set passwords"}
	var in access.NewUser
	var fromStdin bool
	create := &cobra.Command{Use: "create", Short: "Create a person", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		password, err := readPassword(cmd, fromStdin)
		if err != nil {
			return err
		}
		in.Password = password
		return c.withPeople(cmd.Context(), func(_ config, p access.Services) error {
			person, err := p.Users.Create(cmd.Context(), commandActor(), in)
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), "created "+person.Login)
			// A new installation gets a team to put tasks into.
			if _, err := p.Teams.EnsureDefault(cmd.Context()); fault.KindOf(err) != fault.KindNotFound {
				return err
			}
			return nil
		})
	}}
	create.Flags().StringVar(&in.Login, "login", "", "login")
	create.Flags().StringVar(&in.Name, "name", "", "name (default: the login)")
	create.Flags().BoolVar(&in.Admin, "admin", false, "may do everything")
	create.Flags().BoolVar(&in.Auditor, "auditor", false, "may read everything")
	create.Flags().BoolVar(&fromStdin, "password-stdin", false, "read the password from standard input")
	create.PreRun = func(*cobra.Command, []string) {
		if in.Name == "" {
			in.Name = in.Login
		}
	}
	cmd.AddCommand(create, c.passwdCommand(), c.userListCommand())
	return cmd
}

func (c *cli) passwdCommand() *cobra.Command {
	var login string
	var fromStdin bool
	cmd := &cobra.Command{Use: "passwd", Short: "Set a person's password and end their sessions", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		password, err := readPassword(cmd, fromStdin)
		if err != nil {
			return err
		}
		return c.withPeople(cmd.Context(), func(_ config, p access.Services) error {
			person, err := p.Users.ByLogin(cmd.Context(), commandActor(), login)
			if err != nil {
				return err
			}
			return p.Users.SetPassword(cmd.Context(), commandActor(), person.ID, password)
		})
	}}
	cmd.Flags().StringVar(&login, "login", "", "login")
	cmd.Flags().BoolVar(&fromStdin, "password-stdin", false, "read the password from standard input")
	return cmd
}

func (c *cli) userListCommand() *cobra.Command {
	return &cobra.Command{Use: "list", Short: "List people", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		return c.withPeople(cmd.Context(), func(_ config, p access.Services) error {
			all, err := p.Users.List(cmd.Context(), commandActor())
			for _, u := range all {
				fmt.Fprintf(cmd.OutOrStdout(), "%s\t%s\tadmin=%t\tauditor=%t\tdisabled=%t\n", u.Person.Login, u.Person.Name, u.Person.Admin, u.Person.Auditor, u.Person.Disabled)
			}
			return err
		})
	}}
}

// readPassword takes the first line of standard input; a password on the
// command line would be seen by everybody on the machine.
func readPassword(cmd *cobra.Command, fromStdin bool) (string, error) {
	if !fromStdin {
		return "", errors.New("give the password with --password-stdin")
	}
	line, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the password: %w", err)
	}
	return strings.TrimRight(line, "\r\n"), nil
}

func (c *cli) tokenCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "token", Short: "Create API tokens"}
	var team, role, name string
	create := &cobra.Command{Use: "create", Short: "Create a token and print it, once", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		return c.withPeople(cmd.Context(), func(_ config, p access.Services) error {
			secret, err := createToken(cmd.Context(), p, team, role, name)
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), secret)
			}
			return err
		})
	}}
	create.Flags().StringVar(&team, "team", "default", "code of the team")
	create.Flags().StringVar(&role, "role", "operator", "viewer, operator, editor, owner")
	create.Flags().StringVar(&name, "name", "command line", "what it is for")
	cmd.AddCommand(create)
	return cmd
}

// commandActor is who acts on the command line.
func commandActor() access.Actor {
	return access.Actor{Kind: access.System, Name: "command line", Address: "local"}
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

// createToken makes a token for a team; the team "default" is made when there
// is no team at all.
func createToken(ctx context.Context, p access.Services, team, role, name string) (string, error) {
	var t access.Team
	var err error
	if team == "default" {
		t, err = p.Teams.EnsureDefault(ctx)
	} else {
		t, err = p.Teams.Get(ctx, commandActor(), team)
	}
	if err != nil {
		return "", err
	}
	secret, _, err := p.Tokens.Create(ctx, commandActor(), access.NewToken{TeamID: t.ID, Name: name, Role: access.Role(role)})
	return secret, err
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
	cfg.Environment, cfg.Database.DSN, cfg.Redis.Addr, cfg.Redis.Addrs = "demo", "", "", nil
	target, err := demo.NewTarget()
	if err != nil {
		return err
	}
	defer target.Close()
	s := newServer(cfg, newLog(cfg, os.Stderr), os.Stdout)
	s.ready = func(ctx context.Context, p *parts) error {
		team, err := p.people.Teams.EnsureDefault(ctx)
		if err != nil {
			return err
		}
		password := newID()
		if _, err := p.people.Users.Create(ctx, commandActor(), access.NewUser{Login: "demo", Name: "Demo", Password: password, Admin: true}); err != nil {
			return err
		}
		fmt.Printf("Sign in as demo with the password %s\nThe target of its tasks: %s\n", password, target.URL())
		if err := demo.Fill(ctx, p.tasks, commandActor(), team.Code, target.URL(), p.clock.Now()); err != nil {
			return err
		}
		return demo.FillAlerts(ctx, demo.AlertsOptions{
			Alerts: p.alerts, Cases: p.ledger, By: commandActor(), Team: team, Base: target.URL(), NewID: newID, Now: p.clock.Now(),
		})
	}
	return s.run(ctx)
}
