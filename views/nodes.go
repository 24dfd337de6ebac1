package views

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"ax/app/cron"
	"ax/app/sched"
	"ax/views/ui"
)

// lives tells whether a node beats, as far as one can know by now.
func lives(n sched.NodeInfo, now time.Time, p sched.Pulse) bool {
	return !n.Gone() && now.Sub(n.BeatAt) < p.Dead
}

// beating counts the nodes that beat and those that should.
func beating(nodes []sched.NodeInfo, now time.Time, p sched.Pulse) (alive, known int) {
	for _, n := range nodes {
		if !n.ClosedAt.IsZero() { // stopped in order: nobody misses it
			continue
		}
		known++
		if lives(n, now, p) {
			alive++
		}
	}
	return alive, known
}

// places counts the places for runs on the nodes that beat.
func places(nodes []sched.NodeInfo, now time.Time, p sched.Pulse) (busy, slots int) {
	for _, n := range nodes {
		if lives(n, now, p) {
			busy, slots = busy+n.Busy, slots+n.Slots
		}
	}
	return busy, slots
}

// look is the state of a node. A beat is late when it is over its time by more
// than the pause before a failed one is tried again: beats take a moment
// themselves.
func (p NodesPage) look(ctx context.Context, n sched.NodeInfo) ui.State {
	age := viewer(ctx).Now.Sub(n.BeatAt)
	switch {
	case !n.DeadAt.IsZero():
		return nodeState(ctx, "dead")
	case !n.ClosedAt.IsZero():
		return nodeState(ctx, "stopped")
	case age >= p.Beats.Dead:
		return failLook(ctx, "circle-x", t(ctx, "No beat"))
	case age >= p.Beats.Beat+p.Beats.Retry:
		return nodeState(ctx, "late")
	case n.Draining:
		return nodeState(ctx, "draining")
	}
	return nodeState(ctx, "alive")
}

// columns of the table.
func (p NodesPage) columns() string {
	if p.MaySwitch {
		return "8"
	}
	return "7"
}

// lastSign says when the node was heard of last, or how it ended.
func (p NodesPage) lastSign(ctx context.Context, n sched.NodeInfo) string {
	switch {
	case !n.DeadAt.IsZero():
		return t(ctx, "last beat %s", relative(ctx, n.BeatAt))
	case !n.ClosedAt.IsZero():
		return relative(ctx, n.ClosedAt)
	}
	return t(ctx, "%s ago", duration(ctx, viewer(ctx).Now.Sub(n.BeatAt)))
}

// declarer says which node found this one dead.
func (p NodesPage) declarer(ctx context.Context, n sched.NodeInfo) string {
	i := slices.IndexFunc(p.Nodes, func(o sched.NodeInfo) bool { return o.ID == n.DeclaredBy })
	switch {
	case i >= 0:
		return t(ctx, "declared by %s", p.Nodes[i].Name())
	case n.DeclaredBy != "":
		return t(ctx, "declared by a node that is gone")
	}
	return ""
}

// summary is the line beside the head: beats, places, versions.
func (p NodesPage) summary(ctx context.Context) string {
	now := viewer(ctx).Now
	alive, known := beating(p.Nodes, now, p.Beats)
	busy, slots := places(p.Nodes, now, p.Beats)
	parts := []string{t(ctx, "%s of %s beat", number(alive), number(known)), t(ctx, "%s of %s places", number(busy), number(slots))}
	var versions []string
	for _, n := range p.Nodes {
		if lives(n, now, p.Beats) && !slices.Contains(versions, n.Version) {
			versions = append(versions, n.Version)
		}
	}
	if len(versions) > 1 {
		parts = append(parts, tn(ctx, "%d versions in use", len(versions)))
	}
	return strings.Join(parts, " · ")
}

// behind tells whether the node runs another version than the one started
// last: the way of a roll-out is from old to new.
func (p NodesPage) behind(ctx context.Context, n sched.NodeInfo) bool {
	now := viewer(ctx).Now
	var latest sched.NodeInfo
	for _, o := range p.Nodes {
		if lives(o, now, p.Beats) && o.StartedAt.After(latest.StartedAt) {
			latest = o
		}
	}
	return lives(n, now, p.Beats) && n.Version != latest.Version
}

// offset is how a node's clock is shown: "" class for fine.
func (p NodesPage) offset(n sched.NodeInfo) (class string) {
	switch off := n.ClockOffset.Abs(); {
	case off >= p.Alarms.ClockOffset:
		return "fail"
	case off > sched.ClockWarn:
		return "retry"
	}
	return ""
}

// offsetText is how far a clock is ahead or behind, with its sign.
func offsetText(ctx context.Context, d time.Duration) string {
	if d < 0 {
		return "−" + duration(ctx, -d)
	}
	return "+" + duration(ctx, d)
}

// taken is the part of the places that is taken, and the colour for it.
func taken(busy, slots int) (class, width string) {
	share := 0.0
	if slots > 0 {
		share = min(float64(busy)/float64(slots), 1)
	}
	if share > 0.9 {
		return "f-retry", dec(100*share, 2)
	}
	return "f-acc", dec(100*share, 2)
}

// runsOn is the list of what the node runs.
func runsOn(n sched.NodeInfo) string {
	return InstanceQuery{Node: n.ID, State: sched.Running}.Path()
}

// unfold is the address that shows what the node runs, or hides it again.
func (p NodesPage) unfold(n sched.NodeInfo) string {
	if n.ID == p.Shown {
		return "/nodes"
	}
	return "/nodes?" + url.Values{"node": {n.ID}}.Encode()
}

// whereabouts are the process's number and where it listens.
func whereabouts(ctx context.Context, n sched.NodeInfo) string {
	return joined(" · ", t(ctx, "pid %s", strconv.Itoa(n.PID)), n.Address)
}

// zoneDataWords say which release of the zone data the process reads, and from
// where when it isn't its own.
func zoneDataWords(ctx context.Context, z cron.ZoneData) string {
	switch {
	case z.Embedded():
		return t(ctx, "Time zones: release %s, built in.", z.Version)
	case z.Version == "":
		return t(ctx, "Time zones: read from %s, release unknown; built in is %s.", z.Source, cron.EmbeddedZoneData)
	}
	return t(ctx, "Time zones: release %s of %s; built in is %s.", z.Version, z.Source, cron.EmbeddedZoneData)
}
