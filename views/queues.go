package views

import (
	"context"
	"slices"
	"strings"
	"time"

	"ax/app/sched"
	"ax/views/ui"
)

// waitWarn is the age of the oldest waiting message that is shown as late.
const waitWarn = sched.LateAfter

// serving counts the nodes that take work of the queue.
func (p QueuesPage) serving(ctx context.Context, queue string) int {
	n := 0
	for _, node := range p.Nodes {
		if lives(node, viewer(ctx).Now, p.Beats) && !node.Draining && slices.Contains(node.Queues, queue) {
			n++
		}
	}
	return n
}

// unserved are the queues in which work waits that no node takes.
func (p QueuesPage) unserved(ctx context.Context) []QueueFigures {
	var out []QueueFigures
	for _, q := range p.Rows {
		if q.Due > 0 && p.serving(ctx, q.Name) == 0 {
			out = append(out, q)
		}
	}
	return out
}

// figures are the sums over all queues.
func (p QueuesPage) figures(ctx context.Context) []ui.Figure {
	var due, ready, active, later int
	var worst QueueFigures
	for _, q := range p.Rows {
		due, ready, active, later = due+q.Due, ready+q.Pending, active+q.Active, later+q.Scheduled+q.Retry
		if q.Wait > worst.Wait && !q.Paused {
			worst = q
		}
	}
	wait := ui.Figure{Label: t(ctx, "Oldest wait, open queues"), Value: dash, Sub: t(ctx, "nothing waits")}
	if worst.Wait > 0 {
		wait.Value, wait.Unit = withUnit(duration(ctx, worst.Wait))
		wait.Sub, wait.Alarm = worst.Name, worst.Wait > waitWarn
	}
	figures := []ui.Figure{
		{Label: t(ctx, "Due and not begun"), Value: number(due), Sub: tn(ctx, "in %d queues, by the ledger", len(p.Rows)), Href: InstanceQuery{Group: sched.GroupWaiting}.Path()},
		{Label: t(ctx, "Ready in Redis"), Value: number(ready), Sub: t(ctx, "for the next free place")},
		{Label: t(ctx, "In a worker"), Value: number(active), Sub: t(ctx, "%s come later", number(later)), Href: InstanceQuery{Group: sched.GroupRunning}.Path()},
		wait, p.memoryFigure(ctx), p.tripFigure(ctx),
	}
	if p.RedisAway {
		for i := range figures[1:] {
			f := &figures[i+1]
			f.Value, f.Unit, f.Sub, f.Alarm = dash, "", t(ctx, "Redis does not answer"), false
		}
	}
	return figures
}

// withUnit cuts the unit off a value that has just one, so that it can stand
// smaller.
func withUnit(s string) (value, unit string) {
	value, unit, ok := strings.Cut(s, " ")
	if !ok || strings.Contains(unit, " ") {
		return s, ""
	}
	return value, " " + unit
}

// carried is a figure of the carrier, which isn't known while it is away.
func (p QueuesPage) carried(n int) string {
	if p.RedisAway {
		return dash
	}
	return number(n)
}

// wait is the age of the oldest message that is ready.
func (p QueuesPage) wait(ctx context.Context, d time.Duration) string {
	if p.RedisAway || d <= 0 {
		return dash
	}
	return duration(ctx, d)
}

// memoryFigure is how much of its memory Redis uses. It must never throw work
// away when that is full.
func (p QueuesPage) memoryFigure(ctx context.Context) ui.Figure {
	f := ui.Figure{Label: t(ctx, "Redis memory"), Value: dash, Sub: t(ctx, "runs inside of ax")}
	if p.Carrier.Memory == 0 {
		return f
	}
	f.Value, f.Unit = withUnit(bytesText(p.Carrier.Memory))
	of := t(ctx, "no limit")
	if p.Carrier.MaxMemory > 0 {
		of = t(ctx, "of %s", bytesText(p.Carrier.MaxMemory))
	}
	f.Sub = joined(" · ", of, p.Carrier.Policy)
	evicts := p.Carrier.Policy != "" && p.Carrier.Policy != "noeviction"
	f.Alarm = evicts || p.Carrier.MaxMemory > 0 && 10*p.Carrier.Memory > 9*p.Carrier.MaxMemory
	return f
}

// tripFigure is how long Redis takes to answer.
func (p QueuesPage) tripFigure(ctx context.Context) ui.Figure {
	f := ui.Figure{Label: t(ctx, "Redis round trip"), Value: dash}
	if trip := p.Carrier.RoundTrip; trip > 0 {
		f.Value, f.Unit = dec(float64(trip)/float64(time.Millisecond), 2), " ms"
	}
	if p.Carrier.Clients > 0 {
		f.Sub = tn(ctx, "%d connections", p.Carrier.Clients)
	}
	return f
}

// flow is what comes into the queue and leaves it, a second.
func (p QueuesPage) flow(queue string) string {
	trend, known := p.Trends[queue]
	if !known {
		return dash
	}
	return perSecond(trend.In) + " · " + perSecond(trend.Out)
}

// perSecond has a digit behind the point below ten.
func perSecond(rate float64) string {
	if rate < 10 {
		return dec(rate, 1)
	}
	return number(int(rate + .5))
}

// look is the state of a queue.
func (p QueuesPage) look(ctx context.Context, q QueueFigures) ui.State {
	switch {
	case q.Paused:
		return state(ctx, "paused")
	case p.serving(ctx, q.Name) == 0:
		return ui.State{Icon: "circle-off", Class: "idle", Word: t(ctx, "Not served")}
	case q.Due >= p.Alarms.QueueDepth:
		return failLook(ctx, "alert-triangle", t(ctx, "Behind"))
	case p.RedisAway:
		return failLook(ctx, "circle-x", t(ctx, "Stands still"))
	}
	return ui.State{Icon: "circle-check", Class: "ok", Word: t(ctx, "Open|queue")}
}
