package access

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"ax/app/fault"
)

// SetCommands lets tasks of the team run commands of nodes that allow it, or
// takes that back: at once, for what begins from then on. Admins only; a node's
// own configuration says which commands there are (security.md item 44).
// Faults: NotFound, Denied, Invalid (reason).
func (t *Teams) SetCommands(ctx context.Context, a Actor, team Team, on bool, reason string) error {
	if err := a.Check(Administer, team.ID); err != nil {
		return err
	}
	reason = strings.TrimSpace(reason)
	if err := fault.Invalid(checkReason(reason)...); err != nil {
		return err
	}
	action := "team.close_commands"
	if on {
		action = "team.open_commands"
	}
	err := t.store.SetTeamCommands(ctx, team.ID, on, func(was bool) Entry {
		return Entry{
			At: t.now(), Actor: a, Action: action, Object: team.Object(), TeamID: team.ID, Reason: reason,
			Changes: differ(nil, "commands", strconv.FormatBool(was), strconv.FormatBool(on)),
		}
	})
	if err != nil {
		return fmt.Errorf("open commands to team %s: %w", team.Code, err)
	}
	return nil
}
