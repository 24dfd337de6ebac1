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

// groups sum up what is open now and what ended in the span.
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

// count of a group: open instances as they are now, ended ones of the span.
func (p DashboardPage) count(g sched.Group) int {
	n := 0
	for _, s := range g.States() {
		if !s.Final() {
			n += p.Figures.Open[s]
			continue
		}
		for _, b := range p.Outcomes {
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
	out := make([]OutcomeBucket, len(p.Outcomes))
	for i, b := range p.Outcomes {
		out[i] = OutcomeBucket{
			At: b.At, Succeeded: int64(b.Counts[sched.Succeeded] - b.Retried), Retried: int64(b.Retried),
			TimedOut: int64(b.Counts[sched.TimedOut]), Lost: int64(b.Counts[sched.Lost]), Failed: int64(b.Counts[sched.Failed]),
		}
	}
	return out
}

// spanWords say the span, its steps, what the chart is of, and when nothing
// ended.
func (p DashboardPage) spanWords(ctx context.Context) (steps, ended, nothing string) {
	switch p.Span {
	case sched.SpanHour:
		return t(ctx, "1 h, per minute"), t(ctx, "Ended per minute over one hour"), t(ctx, "Nothing has ended in the last hour.")
	case sched.SpanWeek:
		return t(ctx, "7 d, per 6 hours"), t(ctx, "Ended per 6 hours over seven days"), t(ctx, "Nothing has ended in the last seven days.")
	}
	return t(ctx, "24 h, per hour"), t(ctx, "Ended per hour over 24 hours"), t(ctx, "Nothing has ended in the last 24 hours.")
}

// finding is what one should see in the chart.
func (p DashboardPage) finding(ctx context.Context) string {
	_, ended, _ := p.spanWords(ctx)
	succeeded, failed := p.count(sched.GroupSucceeded), p.count(sched.GroupFailed)
	if failed == 0 {
		return t(ctx, "%s: %s succeeded, none failed.", ended, number(succeeded))
	}
	worst := p.Outcomes[0]
	for _, b := range p.Outcomes {
		if bad(b) >= bad(worst) {
			worst = b
		}
	}
	return t(ctx, "%s: %s succeeded, %s failed; most of them, %s, from %s.",
		ended, number(succeeded), number(failed), number(bad(worst)), clock(ctx, worst.At))
}

// bad counts what ended badly in the step.
func bad(b sched.Bucket) int {
	n := 0
	for s, c := range b.Counts {
		if s.Bad() {
			n += c
		}
	}
	return n
}
