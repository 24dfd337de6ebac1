package views

import (
	"context"
	"time"

	"ax/app/sched"
)

// banner is a sentence above the steps: what one must know of this state.
type banner struct {
	icon, tone  string
	strong, say string
	href, link  string // the way on, "" for none
}

// beatLate is the age of a beat that is worth a word: two of them are missing.
const beatLate = 11 * time.Second

// banners of the instance as it stands, the most urgent first.
func (p InstancePage) banners(ctx context.Context) []banner {
	var out []banner
	if b, ok := p.wishBanner(ctx); ok {
		out = append(out, b)
	}
	if b, ok := p.stateBanner(ctx); ok {
		if p.View.State.Bad() && p.Letter.ID != 0 {
			b.href, b.link = letterPath(p.Letter.ID), t(ctx, "Its dead letter")
		}
		out = append(out, b)
	}
	if b, ok := p.waitBanner(ctx); ok {
		out = append(out, b)
	}
	return out
}

// wishBanner tells of a cancel that waits for the running attempt.
func (p InstancePage) wishBanner(ctx context.Context) (banner, bool) {
	if p.View.State != sched.Running || p.View.CancelWanted.IsZero() {
		return banner{}, false
	}
	who := t(ctx, "Somebody")
	if e, ok := p.event(sched.EvCancelWanted); ok {
		who = e.Actor
	}
	if who == sched.ByOverlap {
		who = t(ctx, "The next slot")
	}
	return banner{
		icon: "ban", tone: "warn", strong: t(ctx, "%s asked to cancel it, %s.", who, relative(ctx, p.View.CancelWanted)),
		say: t(ctx, "The call is being stopped. If the target finishes first, its success counts."),
	}, true
}

func (p InstancePage) stateBanner(ctx context.Context) (banner, bool) {
	in := p.View.Instance
	switch in.State {
	case sched.Awaiting:
		b := banner{icon: "hourglass", tone: "await", strong: t(ctx, "The target took the work but has not reported back."),
			say: t(ctx, "If no receipt comes by %s, the attempt ends as timed out.", clock(ctx, in.ReceiptDeadline))}
		return b, true
	case sched.Running:
		return p.runningBanner(ctx)
	case sched.Lost:
		if in.Deaths >= sched.MaxDeaths {
			return banner{icon: "unlink", tone: "bad", strong: t(ctx, "Its node died three times while it ran."),
				say: t(ctx, "It is suspected of killing its node, so it is not tried again.")}, true
		}
		return banner{icon: "unlink", tone: "bad", strong: t(ctx, "Whether the target did the work is not known."),
			say: t(ctx, "The node died after it began to send, and the task is not idempotent. Check at the target before a replay.")}, true
	case sched.Failed, sched.TimedOut:
		return banner{icon: "circle-x", tone: "bad", strong: t(ctx, "It failed and is not tried again."), say: errorText(ctx, in.Error)}, true
	case sched.Skipped:
		b := banner{icon: "player-track-next", strong: t(ctx, "This slot was not run:"), say: reasonText(ctx, in.Reason)}
		if id := overlapWith(in.Reason); id != "" {
			b.href, b.link = "/instances/"+id, t(ctx, "That instance")
		}
		return b, true
	}
	return banner{}, false
}

// runningBanner warns of a node that is gone or silent, and of an attempt past
// its deadline.
func (p InstancePage) runningBanner(ctx context.Context) (banner, bool) {
	n, known := p.node()
	now := viewer(ctx).Now
	switch {
	case known && n.Gone():
		return banner{icon: "unlink", tone: "bad", strong: t(ctx, "The node %s is gone.", nodeName(p.Nodes, n.ID)),
			say: t(ctx, "Within a few seconds this attempt ends as lost; idempotent work then runs again on another node.")}, true
	case known && now.Sub(n.BeatAt) > beatLate:
		return banner{icon: "clock-exclamation", tone: "warn", strong: t(ctx, "The node %s was last heard of %s.", nodeName(p.Nodes, n.ID), relative(ctx, n.BeatAt)),
			say: t(ctx, "If it stays silent it is declared dead and this attempt ends as lost.")}, true
	case !p.View.DeadlineAt.IsZero() && now.After(p.View.DeadlineAt.Add(time.Second)):
		return banner{icon: "clock-exclamation", tone: "warn", strong: t(ctx, "This attempt is past its deadline."),
			say: t(ctx, "It was to end by %s. Its node ends it a minute later at the latest.", clock(ctx, p.View.DeadlineAt))}, true
	}
	return banner{}, false
}

// waitBanner says why something that is due has not begun.
func (p InstancePage) waitBanner(ctx context.Context) (banner, bool) {
	in, task, now := p.View.Instance, p.View.Task, viewer(ctx).Now
	if !in.State.Valid() || in.State.Final() || in.State == sched.Running || in.State == sched.Awaiting {
		return banner{}, false
	}
	hook, waits := p.hookBanner(ctx)
	switch {
	case task.Paused(now):
		return banner{icon: "player-pause", strong: t(ctx, "The task is paused until %s.", clock(ctx, task.PausedUntil)),
			say: t(ctx, "What was accepted waits and runs then.")}, true
	case p.shell() && !p.onShell():
		return banner{icon: "clock-exclamation", tone: "warn", strong: t(ctx, "No node that lives runs commands."),
			say: t(ctx, "It waits until one does: shell.enabled in a node’s own configuration."), href: "/nodes", link: t(ctx, "Nodes")}, true
	case waits:
		return hook, true
	case in.Defers > 0 && in.DueAt.After(now) && task.Spec.Policy.MaxConcurrent > 0:
		return banner{icon: "hourglass", strong: t(ctx, "No free place: the task runs at most %s at once.", number(task.Spec.Policy.MaxConcurrent)),
			say:  t(ctx, "It has asked %s times and asks again %s.", number(in.Defers), relative(ctx, in.DueAt)),
			href: InstanceQuery{Task: task.Code, Group: sched.GroupRunning}.Path(), link: t(ctx, "What runs now")}, true
	case in.Defers > 0 && in.DueAt.After(now) && task.LimitedHost() != "":
		return banner{icon: "hourglass", strong: t(ctx, "No free place: its task waits while %s calls to %s run.", number(task.Spec.Policy.HostLimit), task.LimitedHost()),
			say: t(ctx, "It has asked %s times and asks again %s.", number(in.Defers), relative(ctx, in.DueAt))}, true
	case p.Waits != nil && p.Waits.Labels != "":
		return banner{icon: "clock-exclamation", tone: "warn", strong: unservedWords(ctx, *p.Waits),
			say: t(ctx, "It runs as soon as a node with these labels takes work of this queue."), href: "/nodes", link: t(ctx, "Nodes")}, true
	case p.Waits != nil:
		return banner{icon: "clock-exclamation", tone: "warn", strong: unservedWords(ctx, *p.Waits),
			say: t(ctx, "It runs as soon as a worker for this queue starts."), href: "/nodes", link: t(ctx, "Nodes")}, true
	case now.Sub(in.DueAt) > sched.LateAfter:
		return banner{icon: "clock-exclamation", tone: "warn", strong: t(ctx, "It has been due for %s and no worker has begun.", viewer(ctx).Span(now.Sub(in.DueAt))),
			say: t(ctx, "All places are taken, or its message was lost and is sent again."), href: "/queues", link: t(ctx, "Queues")}, true
	}
	return banner{}, false
}
