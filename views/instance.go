package views

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"time"

	"ax/app/alert"
	"ax/app/cron"
	"ax/app/fault"
	"ax/app/sched"
	"ax/views/ui"
)

// InstancePage is one instance with all that is known about it.
type InstancePage struct {
	View   sched.InstanceView
	Nodes  map[string]sched.NodeInfo // those that it names, and those that live
	Runs   []sched.Run               // of its task, oldest first
	Again  []sched.Instance          // all of the same business action, by number; at least this one
	Letter sched.Letter              // of the business action; ID 0: none
	Open   *alert.Incident           // that it belongs to, while that is open; nil: none

	Progress []sched.Progress // what targets said, by attempt
	Output   sched.Output     // of the last attempt that ran a command
	Whole    bool             // more of it than its last lines

	Shards []sched.ShardRun // of a broadcast, the latest attempt first

	MayCancel bool
	Reason    string             // typed for a cancel that was refused
	Errors    []fault.FieldError // of that cancel
	Refused   string             // why it was refused, translated; "" when it wasn't
}

// open tells whether the instance may still change.
func (p InstancePage) open() bool { return !p.View.State.Final() }

// live tells whether something on the page may still change: the instance, or
// what its target is told after its end.
func (p InstancePage) live() bool { return p.open() || p.View.Told != nil && p.View.Told.Waiting() }

// path is the page's own address.
func (p InstancePage) path() string { return "/instances/" + p.View.ID }

// title is the task and when it was due.
func (p InstancePage) title(ctx context.Context) string {
	return t(ctx, "%s, %s", p.View.Task.Name, clock(ctx, p.View.WantedAt))
}

func (p InstancePage) crumbs(ctx context.Context) []ui.Crumb {
	return []ui.Crumb{
		{Label: t(ctx, "Instances"), Href: "/instances"},
		{Label: p.View.Task.Code, Href: taskURL(p.View.Task.Code), Mono: true},
		{Label: p.View.ID, Mono: true},
	}
}

// cancelable tells whether the page offers to cancel.
func (p InstancePage) cancelable() bool {
	return p.MayCancel && p.open() && p.View.CancelWanted.IsZero()
}

// lastAttempt is the latest one; nil before the first.
func (p InstancePage) lastAttempt() *sched.Attempt {
	if n := len(p.View.Attempts); n > 0 {
		return &p.View.Attempts[n-1]
	}
	return nil
}

// attemptText says which attempt it is at, "" before the first.
func (p InstancePage) attemptText(ctx context.Context) string {
	most := 1 + p.View.Task.Spec.Policy.Retry.Max
	switch n := p.View.Attempt; {
	case n == 0:
		return ""
	case n > most:
		return t(ctx, "Attempt %s", number(n))
	default:
		return t(ctx, "Attempt %s of %s", number(n), number(most))
	}
}

// event gives the last event of the kind; ok is false when there is none.
func (p InstancePage) event(kind sched.EventKind) (e sched.InstanceEvent, ok bool) {
	for _, had := range p.View.Events {
		if had.Kind == kind {
			e, ok = had, true
		}
	}
	return e, ok
}

// node gives the node that has the instance now; ok is false when it has none
// or its row is gone.
func (p InstancePage) node() (sched.NodeInfo, bool) {
	n, ok := p.Nodes[p.View.NodeID]
	return n, ok
}

// served tells whether a worker that lives takes work of the queue.
func (p InstancePage) served() bool {
	for _, n := range p.Nodes {
		if n.Gone() || n.Draining || n.Slots == 0 {
			continue
		}
		for _, q := range n.Queues {
			if q == p.View.Queue {
				return true
			}
		}
	}
	return false
}

// usual is how long the task's runs take when they succeed.
type usual struct {
	p50, p99 time.Duration
	of       int
}

func (p InstancePage) usual() usual {
	var took []time.Duration
	for _, r := range p.Runs {
		if r.State == sched.Succeeded && r.Took() > 0 {
			took = append(took, r.Took())
		}
	}
	return usual{sched.Percentile(took, 50), sched.Percentile(took, 99), len(took)}
}

// enoughRuns is from how many runs on "usual" means something.
const enoughRuns = 5

// progress is a running instance against the usual duration; ok is false when
// there is nothing to compare.
type progress struct {
	so, usual string
	over      string // "3.3 × its P99", "" while it isn't
	meter     ui.Meter
}

func (p InstancePage) progress(ctx context.Context) (out progress, ok bool) {
	in, u := p.View, p.usual()
	if in.State != sched.Running && in.State != sched.Awaiting || u.of < enoughRuns || in.StartedAt.IsZero() {
		return out, false
	}
	so := max(viewer(ctx).Now.Sub(in.StartedAt), 0)
	full := max(so, u.p99) * 5 / 4
	if full <= 0 {
		return out, false
	}
	out = progress{so: duration(ctx, so), usual: t(ctx, "P50 %s · P99 %s, of %s runs", duration(ctx, u.p50), duration(ctx, u.p99), number(u.of))}
	out.meter = ui.Meter{Class: "f-run", Done: share(so, full), Label: t(ctx, "Running for %s; half of the runs take up to %s", out.so, duration(ctx, u.p50))}
	if in.State == sched.Awaiting {
		out.meter.Class = "f-await"
	}
	if so > u.p99 {
		out.over = t(ctx, "%s × its P99", dec(float64(so)/float64(u.p99), 1))
		out.meter.Class = "f-late"
	}
	out.meter.Ticks = []ui.Tick{{At: share(u.p50, full), Label: "P50"}}
	if u.p99-u.p50 > full/8 { // else the labels would run into each other
		out.meter.Ticks = append(out.meter.Ticks, ui.Tick{At: share(u.p99, full), Label: "P99"})
	}
	return out, true
}

func share(part, whole time.Duration) string { return dec(100*ratio(part, whole), 1) + "%" }

// strip is the task's latest runs.
func strip(runs []sched.Run) []RunMark {
	out := make([]RunMark, len(runs))
	for i, r := range runs {
		out[i] = RunMark{State: string(r.State), Retried: r.State == sched.Succeeded && r.Attempt > 1, Duration: r.Took()}
	}
	return out
}

// slotText is the slot in the task's own zone.
func slotText(task sched.Task, slot time.Time) string {
	zone, err := cron.LoadZone(cmp.Or(task.Spec.Schedule.Timezone, "UTC"))
	if err != nil {
		zone = time.UTC
	}
	return slot.In(zone).Format("2006-01-02 15:04:05 ") + zone.String()
}

// retryText is the task's policy in words.
func retryText(ctx context.Context, r sched.Retry) string {
	if r.Max == 0 {
		return t(ctx, "none")
	}
	var delays []string
	for n := 1; n <= r.Max; n++ {
		if n > 6 {
			delays = append(delays, "…")
			break
		}
		d := r.Delay(n, "")
		if r.Kind == sched.RetryExponential {
			d = r.Ceiling(n)
		}
		delays = append(delays, duration(ctx, d))
	}
	if r.Kind == sched.RetryExponential {
		return t(ctx, "%s, after at most %s", number(r.Max), joined(", ", delays...))
	}
	return t(ctx, "%s, after %s", number(r.Max), joined(", ", delays...))
}

// pretty sets JSON for reading; what is none stays as it is.
func pretty(raw json.RawMessage) string {
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil {
		return string(raw)
	}
	return out.String()
}

// replayName names one instance of a business action.
func replayName(ctx context.Context, in sched.Instance) string {
	if in.Replay == 0 {
		return t(ctx, "The first run")
	}
	return t(ctx, "Replay %s", number(in.Replay))
}

func letterPath(id int64) string { return "/dead-letters/" + strconv.FormatInt(id, 10) }

// cancelEffects are what follows a cancel.
func cancelEffects(ctx context.Context, s sched.State, to sched.Target) []string {
	first := t(ctx, "It ends as canceled and does not run.")
	switch s {
	case sched.Running:
		first = t(ctx, "The call is stopped. If the target finishes first, its success counts.")
	case sched.Awaiting:
		first = awaitingEffect(ctx, to)
	case sched.Retrying:
		first = t(ctx, "It ends as canceled and is not tried again.")
	}
	return []string{first, t(ctx, "No dead letter is opened.")}
}
