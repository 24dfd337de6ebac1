// Package command has the commands of the terminal that are on people: who
// may sign in, with which password, and the tokens of the API.
package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"ax/app/access"
	"ax/app/fault"
)

// People are the commands on people. With opens the ledger, hands over the
// services on it and the address of the console, and closes it.
type People struct {
	With func(ctx context.Context, do func(s access.Services, base string) error) error
}

// Actor is who acts on the command line.
func Actor() access.Actor {
	return access.Actor{Kind: access.System, Name: "command line", Address: "local"}
}

// Commands are user, token, team and setup-link.
func (p People) Commands() []*cobra.Command {
	return []*cobra.Command{p.userCommand(), p.tokenCommand(), p.linkCommand(), p.teamCommand()}
}

func (p People) linkCommand() *cobra.Command {
	return &cobra.Command{Use: "setup-link", Short: "Print a new one-time setup link, while there is no administrator", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.With(cmd.Context(), func(s access.Services, base string) error {
				token, err := s.Setup.NewLink(cmd.Context())
				if err != nil {
					return err
				}
				fmt.Fprintln(cmd.OutOrStdout(), base+"/setup?token="+token)
				return nil
			})
		}}
}

func (p People) userCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "user", Short: "Create and list people, set passwords"}
	var in access.NewUser
	var fromStdin bool
	create := &cobra.Command{Use: "create", Short: "Create a person", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		password, err := readPassword(cmd, fromStdin)
		if err != nil {
			return err
		}
		in.Password = password
		return p.With(cmd.Context(), func(s access.Services, _ string) error {
			person, err := s.Users.Create(cmd.Context(), Actor(), in)
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), "created "+person.Login)
			// A new installation gets a team to put tasks into.
			if _, err := s.Teams.EnsureDefault(cmd.Context()); fault.KindOf(err) != fault.KindNotFound {
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
	cmd.AddCommand(create, p.passwdCommand(), p.userListCommand())
	return cmd
}

func (p People) passwdCommand() *cobra.Command {
	var login string
	var fromStdin bool
	cmd := &cobra.Command{Use: "passwd", Short: "Set a person's password and end their sessions", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		password, err := readPassword(cmd, fromStdin)
		if err != nil {
			return err
		}
		return p.With(cmd.Context(), func(s access.Services, _ string) error {
			person, err := s.Users.ByLogin(cmd.Context(), Actor(), login)
			if err != nil {
				return err
			}
			return s.Users.SetPassword(cmd.Context(), Actor(), person.ID, password)
		})
	}}
	cmd.Flags().StringVar(&login, "login", "", "login")
	cmd.Flags().BoolVar(&fromStdin, "password-stdin", false, "read the password from standard input")
	return cmd
}

func (p People) userListCommand() *cobra.Command {
	return &cobra.Command{Use: "list", Short: "List people", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		return p.With(cmd.Context(), func(s access.Services, _ string) error {
			all, err := s.Users.List(cmd.Context(), Actor())
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

func (p People) tokenCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "token", Short: "Create API tokens"}
	var team, role, name string
	var executors []string
	create := &cobra.Command{Use: "create", Short: "Create a token and print it, once", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		return p.With(cmd.Context(), func(s access.Services, _ string) error {
			secret, err := createToken(cmd.Context(), s, team, access.NewToken{Name: name, Role: access.Role(role), Executors: executors})
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), secret)
			}
			return err
		})
	}}
	create.Flags().StringVar(&team, "team", "default", "code of the team")
	create.Flags().StringVar(&role, "role", "operator", "viewer, operator, editor, owner")
	create.Flags().StringVar(&name, "name", "command line", "what it is for")
	create.Flags().StringSliceVar(&executors, "executors", nil, "names of executors that it may register, apart by commas")
	cmd.AddCommand(create)
	return cmd
}

// createToken makes a token for a team; the team "default" is made when there
// is no team at all.
func createToken(ctx context.Context, s access.Services, team string, made access.NewToken) (string, error) {
	var t access.Team
	var err error
	if team == "default" {
		t, err = s.Teams.EnsureDefault(ctx)
	} else {
		t, err = s.Teams.Get(ctx, Actor(), team)
	}
	if err != nil {
		return "", err
	}
	made.TeamID = t.ID
	secret, _, err := s.Tokens.Create(ctx, Actor(), made)
	return secret, err
}
