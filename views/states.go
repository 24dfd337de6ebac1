package views

import (
	"context"

	"ax/views/ui"
)

// look is how a state is shown everywhere: icon, colour class and word.
// design-language.md has the table.
type look struct {
	icon, class, word string
}

// looks are the states of instances and tasks, and what lists call them.
var looks = map[string]look{
	"pending":   {"circle-dashed", "idle", msg("Pending")},
	"queued":    {"stack-2", "idle", msg("Queued")},
	"running":   {"loader-2", "run", msg("Running")},
	"awaiting":  {"hourglass", "await", msg("Awaiting receipt")},
	"retrying":  {"repeat", "retry", msg("Retrying")},
	"succeeded": {"circle-check", "ok", msg("Succeeded")},
	"failed":    {"circle-x", "fail", msg("Failed")},
	"timed_out": {"clock-x", "late", msg("Timed out")},
	"lost":      {"unlink", "lost", msg("Lost")},
	"skipped":   {"player-track-next", "idle", msg("Skipped")},
	"canceled":  {"ban", "idle", msg("Canceled")},

	"late":      {"clock-exclamation", "late", msg("Late")},
	"too_fast":  {"bolt", "retry", msg("Too fast")},
	"never_ran": {"circle-dotted", "idle", msg("Never ran")},
	"paused":    {"player-pause", "idle", msg("Paused")},
	"disabled":  {"circle-off", "idle", msg("Disabled")},
	"enabled":   {"circle-check", "ok", msg("Enabled")},
	"broken":    {"alert-triangle", "fail", msg("Can’t be planned")},
}

// groups are the five that pages sum up by.
var groups = map[string]look{
	"waiting":   {"circle-dashed", "idle", msg("Waiting")},
	"running":   {"loader-2", "run", msg("Running")},
	"succeeded": {"circle-check", "ok", msg("Succeeded")},
	"failed":    {"circle-x", "fail", msg("Failed")},
	"not_run":   {"player-track-next", "idle", msg("Not run")},
}

// letterLooks are the states of a dead letter.
var letterLooks = map[string]look{
	"open":     {"inbox", "fail", msg("Open|dead letter")},
	"taken":    {"user", "run", msg("Taken")},
	"solved":   {"check", "ok", msg("Solved")},
	"wont_fix": {"ban", "idle", msg("Won’t fix")},
	"recurred": {"repeat", "late", msg("Recurred")},
}

// nodeLooks are the states of a node.
var nodeLooks = map[string]look{
	"alive":    {"circle-check", "ok", msg("Alive")},
	"late":     {"clock-exclamation", "late", msg("Beat is late")},
	"draining": {"player-pause", "idle", msg("Draining")},
	"stopped":  {"circle-off", "idle", msg("Stopped")},
	"dead":     {"circle-x", "fail", msg("Dead")},
}

// state gives the look of an instance's or task's state in the viewer's
// language. An unknown one shows its own name: a page must not fail over it.
func state(ctx context.Context, name string) ui.State { return lookUp(ctx, looks, name) }

// group gives the look of one of the five groups.
func group(ctx context.Context, name string) ui.State { return lookUp(ctx, groups, name) }

// letterState gives the look of a dead letter's status.
func letterState(ctx context.Context, name string) ui.State { return lookUp(ctx, letterLooks, name) }

// nodeState gives the look of a node's state.
func nodeState(ctx context.Context, name string) ui.State { return lookUp(ctx, nodeLooks, name) }

func lookUp(ctx context.Context, table map[string]look, name string) ui.State {
	l, ok := table[name]
	if !ok {
		return ui.State{Icon: "circle-dotted", Class: "idle", Word: name}
	}
	return ui.State{Icon: l.icon, Class: l.class, Word: t(ctx, l.word)}
}
