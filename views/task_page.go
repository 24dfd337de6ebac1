package views

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"ax/app/sched"
	"ax/views/ui"
)

// TaskPage is one task: how it stands, what it did, what comes next.
type TaskPage struct {
	Task   sched.Task
	Team   string // code
	Report sched.TaskReport
	Last   []sched.Instance // the latest, newest first
	Coming sched.Coming
	Alerts TaskAlerts
	May    TaskRights
	// Unserved is its queue with its labels when no node serves them; nil: one does.
	Unserved *sched.Lane
	// Channels that hooks of the team can name.
	Channels []HookChannel
	Audit    string // the task in the audit; "" when the viewer may not read that
	// AllVersions lists as many as there may be, instead of the latest.
	AllVersions bool
}

// TaskRights are what the viewer may do with the task.
type TaskRights struct {
	Run, Pause, Edit bool
	Move             bool // to a team that there is
}

func (p TaskPage) archived() bool { return !p.Task.ArchivedAt.IsZero() }

// What may be done is by role, and by how the task stands.
func (p TaskPage) mayRun() bool   { return p.May.Run && p.Task.Enabled && !p.archived() }
func (p TaskPage) mayPause() bool { return p.May.Pause && !p.archived() }
func (p TaskPage) mayEdit() bool  { return p.May.Edit && !p.archived() }
func (p TaskPage) mayMove() bool  { return p.May.Move && !p.archived() }

func (p TaskPage) paused(ctx context.Context) bool { return p.Task.Paused(viewer(ctx).Now) }

func (p TaskPage) crumbs(ctx context.Context) []ui.Crumb {
	crumbs := []ui.Crumb{{Label: t(ctx, "Tasks"), Href: "/tasks"}}
	if p.Task.Group != "" {
		crumbs = append(crumbs, ui.Crumb{Label: p.Task.Group, Href: taskGroupURL(p.Task.Group)})
	}
	return append(crumbs, ui.Crumb{Label: p.Task.Code, Mono: true})
}

// standing is the state in the head: for a task that fails, how often.
func (p TaskPage) standing(ctx context.Context) ui.State {
	last, ran := latestRun(p.Report.Runs)
	name := taskState(p.Task, last, ran, viewer(ctx).Now)
	look := taskLook(ctx, name)
	if bad, of := p.recent(); sched.State(name).Bad() && bad > 1 {
		look.Word = t(ctx, "Failing: %d of the last %d", bad, of)
	}
	return look
}

// recent counts the bad ends among the last nine.
func (p TaskPage) recent() (bad, of int) {
	for i := len(p.Report.Runs) - 1; i >= 0 && of < 9; i-- {
		switch r := p.Report.Runs[i]; {
		case r.State.Bad():
			bad++
			of++
		case r.State == sched.Succeeded:
			of++
		}
	}
	return bad, of
}

// taskInstancesURL is the list of the task's instances: all, or of one group.
func taskInstancesURL(code string, group sched.Group) string {
	q := url.Values{"task": {code}}
	if group != "" {
		q.Set("group", string(group))
	} else {
		q.Set("since", "all")
	}
	return "/instances?" + q.Encode()
}

func taskInstanceURL(id string) string { return "/instances/" + url.PathEscape(id) }

// figures are the numbers below the head.
func (p TaskPage) figures(ctx context.Context) []ui.Figure {
	rate := p.Report.Week
	success := ui.Figure{Label: t(ctx, "Success, 7 d"), Value: dash, Sub: t(ctx, "nothing ended")}
	if value, ok := percentValue(int64(rate.Succeeded), int64(rate.Ended())); ok {
		success.Value, success.Unit = value, "%"
		success.Sub = tn(ctx, "of %d runs", rate.Ended())
		if rate.Bad > 0 {
			success.Sub, success.Alarm = t(ctx, "%s of %s failed", number(rate.Bad), number(rate.Ended())), true
		}
	}
	figures := append([]ui.Figure{p.nextFigure(ctx), success}, p.tookFigures(ctx)...)
	figures = append(figures, p.lagFigure(ctx))
	waiting := ui.Figure{Label: t(ctx, "Waiting"), Value: number(p.Report.Waiting), Sub: t(ctx, "still to run"), Href: taskInstancesURL(p.Task.Code, sched.GroupWaiting)}
	return append(figures, waiting)
}

// tookFigures are the percentiles of the week; of the latest runs for a task
// that runs too seldom, or too short a while ago, to have any.
func (p TaskPage) tookFigures(ctx context.Context) []ui.Figure {
	took, sub := p.Report.Took, t(ctx, "no good run yet")
	if took.Of > 0 {
		sub = tn(ctx, "%d good attempts in 7 d", took.Of)
	} else if took = p.Report.Latest; took.Of > 0 {
		sub = tn(ctx, "last %d good runs", took.Of)
	}
	figures := []ui.Figure{{Label: "P50", Sub: sub}, {Label: "P95", Sub: sub}, {Label: "P99", Sub: t(ctx, "limit per attempt %s", duration(ctx, p.Task.Spec.Policy.Timeout()))}}
	for i, d := range []time.Duration{took.P50, took.P95, took.P99} {
		if figures[i].Value = dash; took.Of > 0 {
			figures[i].Value, figures[i].Unit = splitUnit(duration(ctx, d))
		}
	}
	return figures
}

// lagFigure is how late runs began within the week.
func (p TaskPage) lagFigure(ctx context.Context) ui.Figure {
	f := ui.Figure{Label: t(ctx, "Lag P50 · P99, 7 d"), Value: dash, Sub: t(ctx, "nothing began in 7 d")}
	if lag := p.Report.Lag; lag.Of > 0 {
		f.Value, f.Unit = lagText(ctx, lag.P50, lag.P99)
		f.Sub = tn(ctx, "of %d runs", lag.Of)
	}
	return f
}

func (p TaskPage) nextFigure(ctx context.Context) ui.Figure {
	row := TaskRow{Task: p.Task}
	word, sub, at := row.next(ctx)
	if at.IsZero() {
		return ui.Figure{Label: t(ctx, "Next run"), Value: word, Sub: sub}
	}
	f := ui.Figure{Label: t(ctx, "Next run"), Value: clock(ctx, at), Sub: relative(ctx, at)}
	if viewer(ctx).Now.Sub(at) > sched.LateAfter {
		f.Sub, f.Alarm = t(ctx, "late by %s", viewer(ctx).Span(viewer(ctx).Now.Sub(at))), true
	}
	return f
}

// splitUnit parts "43.6 s" into number and unit; what has several units stays.
func splitUnit(s string) (value, unit string) {
	if number, unit, ok := strings.Cut(s, " "); ok && !strings.Contains(unit, " ") {
		return number, unit
	}
	return s, ""
}

// taskAttempts is how many were made.
func taskAttempts(in sched.Instance) string {
	if in.Attempt == 0 {
		return dash
	}
	return strconv.Itoa(in.Attempt)
}

// taskResult is the last word of an instance: its error, or why it didn't run.
func taskResult(in sched.Instance) string { return joined(" · ", in.Error, in.Reason) }

// taskTook is how long the instance took from its first attempt to its end.
func taskTook(ctx context.Context, in sched.Instance) string {
	switch {
	case in.StartedAt.IsZero():
		return dash
	case in.FinishedAt.IsZero():
		return t(ctx, "%s so far", duration(ctx, viewer(ctx).Now.Sub(in.StartedAt)))
	}
	return duration(ctx, in.FinishedAt.Sub(in.StartedAt))
}

// retryWords says the retry policy in one line.
func retryWords(ctx context.Context, p sched.Policy) string {
	if p.Retry.Max == 0 {
		return t(ctx, "none")
	}
	waits := viewer(ctx).ExactlyAll(p.Retry.DelaysSeconds)
	if p.Retry.Kind == sched.RetryExponential && len(p.Retry.DelaysSeconds) == 2 {
		waits = t(ctx, "from %s, doubling, to %s", viewer(ctx).Exactly(p.Retry.DelaysSeconds[0]), viewer(ctx).Exactly(p.Retry.DelaysSeconds[1]))
	}
	return t(ctx, "%d: %s|retries", p.Retry.Max, waits)
}

func placesWords(ctx context.Context, n int) string {
	if n == 0 {
		return t(ctx, "unlimited")
	}
	return tn(ctx, "%d at once", n)
}

func alertWord(ctx context.Context, level sched.AlertLevel) string {
	if level == sched.AlertNone {
		return t(ctx, "None")
	}
	return strings.ToUpper(string(level))
}

// missedSpan is from the first to the last slot of the range.
func missedSpan(ctx context.Context, m sched.MissedRange) string {
	if m.From.Equal(m.To) {
		return clock(ctx, m.From)
	}
	return t(ctx, "%s to %s", clock(ctx, m.From), clock(ctx, m.To))
}

// skippedRuns counts the slots among the last runs that were skipped.
func (p TaskPage) skippedRuns() int {
	n := 0
	for _, r := range p.Report.Runs {
		if r.State == sched.Skipped {
			n++
		}
	}
	return n
}
