package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"ax/app/access"
)

func (p People) teamCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "team", Short: "Say what teams may do"}
	var reason string
	open := &cobra.Command{
		Use: "commands TEAM on|off", Short: "Let tasks of a team run commands of nodes that allow it, or not", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[1] != "on" && args[1] != "off" {
				return fmt.Errorf("commands of a team are on or off; this is %q", args[1])
			}
			return p.With(cmd.Context(), func(s access.Services, _ string) error {
				team, err := s.Teams.Get(cmd.Context(), Actor(), args[0])
				if err != nil {
					return err
				}
				if err := s.Teams.SetCommands(cmd.Context(), Actor(), team, args[1] == "on", reason); err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "commands of team %s are %s\n", team.Code, args[1])
				return nil
			})
		},
	}
	open.Flags().StringVar(&reason, "reason", "on the command line", "why, for the audit")
	cmd.AddCommand(open)
	return cmd
}
