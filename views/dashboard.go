package views

import (
	"context"
	"time"

	"ax/app/sched"
	"ax/views/ui"
)

// Alarms are the values at which pages begin to warn.
type Alarms struct {
	ClockOffset time.Duration
	Lag         time.Duration
	QueueDepth  int
	SuccessRate float64 // percent
}

// low tells whether fewer succeeded than should.
func (a Alarms) low(r sched.Rate) bool {
	share, ok := r.Success()
	return ok && 100*share < a.SuccessRate
}

// lateFor is how long an instant has passed.
func lateFor(ctx context.Context, at time.Time) time.Duration { return viewer(ctx).Now.Sub(at) }

// timeOfDay is when something is due, to the second.
func timeOfDay(ctx context.Context, at time.Time) string {
	return at.In(viewer(ctx).zone()).Format("15:04:05")
}

// otherDay is the date of what isn't due today, else "".
func otherDay(ctx context.Context, at time.Time) string {
	v := viewer(ctx)
	own := at.In(v.zone())
	switch {
	case own.Format(time.DateOnly) == v.Now.In(v.zone()).Format(time.DateOnly):
		return ""
	case v.Lang == Chinese:
		return own.Format("01-02")
	}
	return own.Format("2 Jan")
}

// lede says which moment, zone and teams the page is about.
func (p DashboardPage) lede(ctx context.Context) string {
	v := viewer(ctx)
	if p.FirstRun {
		return t(ctx, "ax is up and has nothing to do yet. Two steps are left, about three minutes.")
	}
	now := v.Day(v.Now) + " " + v.Now.In(v.zone()).Format("15:04")
	if p.NoTeam {
		return now + " · " + v.zone().String()
	}
	return now + " · " + v.zone().String() + " · " + v.teamName(t(ctx, "all teams"))
}

// mostTabs is how many teams stand beside the title; with more, the menu in
// the sidebar is the place to choose.
const mostTabs = 3

// teamTabs choose the team that the page is about.
func teamTabs(ctx context.Context) []ui.Tab {
	v := viewer(ctx)
	if len(v.Teams) < 2 || len(v.Teams) > mostTabs {
		return nil
	}
	tabs := []ui.Tab{{Label: t(ctx, "All teams"), Href: teamURL("/", ""), On: v.Team == ""}}
	for _, team := range v.Teams {
		tabs = append(tabs, ui.Tab{Label: team.Name, Href: teamURL("/", team.Code), On: v.Team == team.Code})
	}
	return tabs
}

// figures are the eight numbers on top, each with the list that it counts.
func (p DashboardPage) figures(ctx context.Context) []ui.Figure {
	return []ui.Figure{
		p.dueFigure(ctx), p.runningFigure(ctx), p.retryingFigure(ctx), p.lettersFigure(ctx),
		p.lateFigure(ctx), p.successFigure(ctx), p.lagFigure(ctx), p.nodesFigure(ctx),
	}
}

func (p DashboardPage) dueFigure(ctx context.Context) ui.Figure {
	f := ui.Figure{Label: t(ctx, "Due in the next hour"), Value: number(p.Figures.DueSoon), Href: TasksFilter{Enabled: "true"}.URL(), Sub: t(ctx, "nothing planned")}
	if first := p.Figures.FirstDue; !first.IsZero() {
		f.Sub = t(ctx, "first %s", relative(ctx, first))
	}
	return f
}

func (p DashboardPage) runningFigure(ctx context.Context) ui.Figure {
	n := p.count(sched.GroupRunning)
	busy, slots := places(p.Figures.Nodes, viewer(ctx).Now, p.Beats)
	return ui.Figure{
		Label: t(ctx, "Running"), Value: number(n), Href: InstanceQuery{Group: sched.GroupRunning}.Path(),
		Sub: t(ctx, "%s of %s places", number(busy), number(slots)),
	}
}

func (p DashboardPage) retryingFigure(ctx context.Context) ui.Figure {
	return ui.Figure{
		Label: t(ctx, "Retrying"), Value: number(p.Figures.Open[sched.Retrying]), Href: InstanceQuery{State: sched.Retrying}.Path(),
		Sub: t(ctx, "of %s waiting", number(p.count(sched.GroupWaiting))),
	}
}

func (p DashboardPage) lettersFigure(ctx context.Context) ui.Figure {
	f := ui.Figure{Label: t(ctx, "Open dead letters"), Value: number(p.Figures.OpenLetters), Href: "/dead-letters", Sub: t(ctx, "none in 1 h")}
	if p.New.N > 0 {
		f.Sub, f.Alarm = t(ctx, "%s in 1 h", p.New.text()), true
	}
	return f
}

func (p DashboardPage) lateFigure(ctx context.Context) ui.Figure {
	f := ui.Figure{
		Label: t(ctx, "Late, over %s", duration(ctx, sched.LateAfter)), Value: number(p.Figures.Late),
		Href: InstanceQuery{Group: sched.GroupWaiting}.Path(), Sub: t(ctx, "all begin in time"),
	}
	if p.Figures.Late > 0 {
		f.Sub = t(ctx, "worst %s", viewer(ctx).Span(p.Figures.WorstLate))
	}
	return f
}

func (p DashboardPage) successFigure(ctx context.Context) ui.Figure {
	rate := p.Figures.Hour
	f := ui.Figure{Label: t(ctx, "Success, 1 h"), Value: dash, Href: InstanceQuery{Group: sched.GroupFailed, Since: "1h"}.Path(), Sub: t(ctx, "nothing ended")}
	value, ok := percentValue(int64(rate.Succeeded), int64(rate.Ended()))
	if !ok {
		return f
	}
	f.Value, f.Unit, f.Sub = value, " %", t(ctx, "alarm under %s %%", trimZero(p.Alarms.SuccessRate))
	if p.Alarms.low(rate) {
		f.Sub, f.Alarm = t(ctx, "under %s %%", trimZero(p.Alarms.SuccessRate)), true
	}
	return f
}

func (p DashboardPage) lagFigure(ctx context.Context) ui.Figure {
	f := ui.Figure{Label: t(ctx, "Lag P50 · P99"), Value: dash, Href: InstanceQuery{Since: "1h"}.Path(), Sub: t(ctx, "nothing began in 1 h")}
	if p.Figures.LagOf == 0 {
		return f
	}
	f.Value, f.Unit = lagText(ctx, p.Figures.LagP50, p.Figures.LagP99)
	f.Sub = t(ctx, "alarm over %s", duration(ctx, p.Alarms.Lag))
	if p.Figures.LagP99 > p.Alarms.Lag {
		f.Sub, f.Alarm = t(ctx, "over %s", duration(ctx, p.Alarms.Lag)), true
	}
	return f
}

// lagText says the unit once when both have it.
func lagText(ctx context.Context, p50, p99 time.Duration) (value, rest string) {
	if p99 < time.Second {
		return number(max(p50, 0).Milliseconds()), " · " + duration(ctx, p99)
	}
	coarse := func(d time.Duration) string {
		if d < time.Minute {
			return duration(ctx, d)
		}
		return viewer(ctx).Span(d.Truncate(time.Minute))
	}
	return coarse(p50), " · " + coarse(p99)
}

func (p DashboardPage) nodesFigure(ctx context.Context) ui.Figure {
	alive, known := beating(p.Figures.Nodes, viewer(ctx).Now, p.Beats)
	f := ui.Figure{Label: t(ctx, "Nodes"), Value: number(alive), Unit: " / " + number(known), Href: "/nodes", Sub: t(ctx, "all beat")}
	if alive < known {
		f.Sub, f.Alarm = t(ctx, "%s offline", number(known-alive)), true
	}
	return f
}

// letters is the count in words.
func (c Counted) letters(ctx context.Context) string {
	if c.More {
		return tn(ctx, "at least %d dead letters", c.N)
	}
	return tn(ctx, "%d dead letters", c.N)
}

// text is the count, with a plus when it ended early.
func (c Counted) text() string {
	if c.More {
		return number(c.N) + "+"
	}
	return number(c.N)
}
