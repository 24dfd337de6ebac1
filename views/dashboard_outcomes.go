package views

import (
	"context"

	"ax/app/sched"
	"ax/views/ui"
)

// groupLink is one of the five sums above the chart.
type groupLink struct {
	name  string
	look  ui.State
	count string
	href  string
}

// groups sum up what is open now and what ended in the 24 h.
func (p DashboardPage) groups(ctx context.Context) []groupLink {
	out := make([]groupLink, 0, 5)
	for _, g := range sched.Groups() {
		n := p.count(g)
		link := groupLink{name: string(g), look: group(ctx, string(g)), count: number(n), href: InstanceQuery{Group: g}.Path()}
		if n == 0 {
			link.look.Class = "idle" // no failure is nothing to look at
		}
		out = append(out, link)
	}
	return out
}

// count of a group: open instances as they are now, ended ones of the 24 h.
func (p DashboardPage) count(g sched.Group) int {
	n := 0
	for _, s := range g.States() {
		if !s.Final() {
			n += p.Figures.Open[s]
			continue
		}
		for _, b := range p.Figures.Buckets {
			n += b.Counts[s]
		}
	}
	return n
}

// ended is how many columns' worth there is to draw.
func (p DashboardPage) ended() int {
	return p.count(sched.GroupSucceeded) + p.count(sched.GroupFailed)
}

func (p DashboardPage) buckets() []OutcomeBucket {
	out := make([]OutcomeBucket, len(p.Figures.Buckets))
	for i, b := range p.Figures.Buckets {
		out[i] = OutcomeBucket{
			At: b.At, Succeeded: int64(b.Counts[sched.Succeeded] - b.Retried), Retried: int64(b.Retried),
			TimedOut: int64(b.Counts[sched.TimedOut]), Lost: int64(b.Counts[sched.Lost]), Failed: int64(b.Counts[sched.Failed]),
		}
	}
	return out
}

// finding is what one should see in the chart.
func (p DashboardPage) finding(ctx context.Context) string {
	succeeded, failed := p.count(sched.GroupSucceeded), p.count(sched.GroupFailed)
	if failed == 0 {
		return t(ctx, "Ended per hour over 24 hours: %s succeeded, none failed.", number(succeeded))
	}
	worst := p.Figures.Buckets[0]
	for _, b := range p.Figures.Buckets {
		if bad(b) >= bad(worst) {
			worst = b
		}
	}
	return t(ctx, "Ended per hour over 24 hours: %s succeeded, %s failed; most of them, %s, in the hour from %s.",
		number(succeeded), number(failed), number(bad(worst)), worst.At.In(viewer(ctx).zone()).Format("15:04"))
}

// bad counts what ended badly in the hour.
func bad(b sched.Bucket) int {
	n := 0
	for s, c := range b.Counts {
		if s.Bad() {
			n += c
		}
	}
	return n
}
