package views

import (
	"context"
	"net/url"
	"time"

	"ax/app/sched"
	"ax/views/ui"
)

// TasksPage is the list of tasks, with the filters that its address holds.
type TasksPage struct {
	Filter    TasksFilter
	Rows      []TaskRow
	Next      string // cursor of the following page, "" at the end
	Prev      string
	MayCreate bool
}

// TaskRow is one task of the list.
type TaskRow struct {
	Task     sched.Task
	Facts    sched.TaskFacts
	MayPause bool // enable and disable
}

// TasksFilter is what narrows the list; empty fields don't. After and Before
// are the cursors of the page that is shown.
type TasksFilter struct {
	Text     string // part of the code or name
	Tag      string
	Group    string
	Owner    string
	Kind     string
	Calendar string // code or name of the one that they go by
	Enabled  string // "true", "false" or ""
	Troubled bool
	Paused   bool // only those that are paused now
	Archived bool
	After    string
	Before   string
}

// URL is the address of the list with these filters.
func (f TasksFilter) URL() string {
	q := url.Values{}
	for name, value := range map[string]string{
		"q": f.Text, "tag": f.Tag, "group": f.Group, "owner": f.Owner, "kind": f.Kind, "calendar": f.Calendar,
		"enabled": f.Enabled, "after": f.After, "before": f.Before,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	for name, on := range map[string]bool{"troubled": f.Troubled, "paused": f.Paused, "archived": f.Archived} {
		if on {
			q.Set(name, "true")
		}
	}
	if len(q) == 0 {
		return "/tasks"
	}
	return "/tasks?" + q.Encode()
}

// narrowed tells whether anything but the page is chosen.
func (f TasksFilter) narrowed() bool {
	f.After, f.Before = "", ""
	return f != TasksFilter{}
}

// first is the same list from its beginning.
func (f TasksFilter) first() TasksFilter {
	f.After, f.Before = "", ""
	return f
}

// with is the list from its beginning after one change.
func (f TasksFilter) with(change func(*TasksFilter)) string {
	f = f.first()
	change(&f)
	return f.URL()
}

func taskTagURL(tag string) string     { return TasksFilter{Tag: tag}.URL() }
func taskGroupURL(group string) string { return TasksFilter{Group: group}.URL() }
func taskCalendarURL(calendar string) string {
	return TasksFilter{Calendar: calendar}.URL()
}
func taskOwnerURL(owner string) string { return TasksFilter{Owner: owner}.URL() }

// tabs are the views of the list: what a task is, whatever else is filtered.
func (f TasksFilter) tabs(ctx context.Context) []ui.Tab {
	to := func(enabled string, troubled, archived bool) string {
		return f.with(func(g *TasksFilter) { g.Enabled, g.Troubled, g.Paused, g.Archived = enabled, troubled, false, archived })
	}
	paused := f.with(func(g *TasksFilter) { g.Enabled, g.Troubled, g.Paused, g.Archived = "", false, true, false })
	return []ui.Tab{
		{Label: t(ctx, "All|tasks"), Href: to("", false, false), On: f.Enabled == "" && !f.Troubled && !f.Paused && !f.Archived},
		{Label: t(ctx, "Enabled"), Href: to("true", false, false), On: f.Enabled == "true"},
		{Label: t(ctx, "Disabled"), Href: to("false", false, false), On: f.Enabled == "false"},
		{Label: t(ctx, "Paused"), Href: paused, On: f.Paused},
		{Label: t(ctx, "Can’t be planned"), Href: to("", true, false), On: f.Troubled},
		{Label: t(ctx, "Archived"), Href: to("", false, true), On: f.Archived},
	}
}

// kinds are the kinds of schedule to choose from.
func (f TasksFilter) kinds(ctx context.Context) []ui.Tab {
	tabs := []ui.Tab{{Label: t(ctx, "Any kind"), Href: f.with(func(g *TasksFilter) { g.Kind = "" }), On: f.Kind == ""}}
	for _, o := range kindOptions(ctx) {
		tabs = append(tabs, ui.Tab{Label: o.Label, Href: f.with(func(g *TasksFilter) { g.Kind = o.Value }), On: f.Kind == o.Value})
	}
	return tabs
}

// box is the filter above the list.
func (f TasksFilter) box(ctx context.Context) ui.FilterBox {
	b := ui.FilterBox{
		Action: "/tasks", Name: "q", Label: t(ctx, "Filter tasks"), Hint: t(ctx, "tag: group: owner: kind: calendar: or words"), Value: f.Text,
	}
	for _, k := range []struct {
		key, value string
		clear      func(*TasksFilter)
	}{
		{"tag", f.Tag, func(g *TasksFilter) { g.Tag = "" }},
		{"group", f.Group, func(g *TasksFilter) { g.Group = "" }},
		{"owner", f.Owner, func(g *TasksFilter) { g.Owner = "" }},
		{"kind", f.Kind, func(g *TasksFilter) { g.Kind = "" }},
		{"calendar", f.Calendar, func(g *TasksFilter) { g.Calendar = "" }},
	} {
		if k.value != "" {
			b.Tokens = append(b.Tokens, ui.Token{Key: k.key, Value: k.value, Remove: f.with(k.clear), Label: t(ctx, "Remove the filter %s", k.key)})
			b.Keep = append(b.Keep, ui.Hidden{Name: k.key, Value: k.value})
		}
	}
	for _, h := range []ui.Hidden{{Name: "enabled", Value: f.Enabled}, {Name: "troubled", Value: trueOrNone(f.Troubled)}, {Name: "paused", Value: trueOrNone(f.Paused)}, {Name: "archived", Value: trueOrNone(f.Archived)}} {
		if h.Value != "" {
			b.Keep = append(b.Keep, h)
		}
	}
	return b
}

func trueOrNone(on bool) string {
	if on {
		return "true"
	}
	return ""
}

func (p TasksPage) pager(ctx context.Context) ui.Pager {
	pager := ui.Pager{
		Shown:     tn(ctx, "%d tasks on this page, by code", len(p.Rows)),
		NewerWord: t(ctx, "Previous"), OldWord: t(ctx, "Next|page"),
	}
	if p.Prev != "" {
		pager.Newer = p.Filter.with(func(f *TasksFilter) { f.Before = p.Prev })
	}
	if p.Next != "" {
		pager.Older = p.Filter.with(func(f *TasksFilter) { f.After = p.Next })
	}
	return pager
}

// off tells whether nothing of the task is planned by anybody's will.
func (r TaskRow) off() bool { return !r.Task.Enabled || !r.Task.ArchivedAt.IsZero() }

func (r TaskRow) state(ctx context.Context) ui.State {
	last, ran := latestRun(r.Facts.Runs)
	return taskLook(ctx, taskState(r.Task, last, ran, viewer(ctx).Now))
}

// taskLook is state with the one word that only tasks have.
func taskLook(ctx context.Context, name string) ui.State {
	if name == "archived" {
		return ui.State{Icon: "circle-off", Class: "idle", Word: t(ctx, "Archived")}
	}
	return state(ctx, name)
}

// last is the state of the latest run.
func (r TaskRow) last(ctx context.Context) ui.State {
	run, ok := latestRun(r.Facts.Runs)
	if !ok {
		return state(ctx, "never_ran")
	}
	return state(ctx, string(run.State))
}

// lastSub is when the latest run was and how long it took.
func (r TaskRow) lastSub(ctx context.Context) string {
	run, ok := latestRun(r.Facts.Runs)
	if !ok {
		return t(ctx, "made %s", relative(ctx, r.Task.CreatedAt))
	}
	switch {
	case run.State == sched.Retrying:
		return t(ctx, "attempt %d, %s", run.Attempt, clock(ctx, run.WantedAt))
	case run.FinishedAt.IsZero() && !run.StartedAt.IsZero():
		return t(ctx, "%s so far", duration(ctx, viewer(ctx).Now.Sub(run.StartedAt)))
	case run.Took() > 0:
		return clock(ctx, run.WantedAt) + " · " + duration(ctx, run.Took())
	}
	return clock(ctx, run.WantedAt)
}

// next is what stands where the next run is: a word when there is no moment.
func (r TaskRow) next(ctx context.Context) (word, sub string, at time.Time) {
	v := viewer(ctx)
	switch {
	case !r.Task.ArchivedAt.IsZero():
		return t(ctx, "Archived"), relative(ctx, r.Task.ArchivedAt), time.Time{}
	case !r.Task.Enabled:
		return t(ctx, "Disabled"), "", time.Time{}
	case r.Task.PlanError != "":
		return t(ctx, "Can’t be planned"), "", time.Time{}
	case r.Task.Paused(v.Now):
		return t(ctx, "Paused"), t(ctx, "until %s", clock(ctx, r.Task.PausedUntil)), time.Time{}
	case !r.Task.Spec.Schedule.Kind.Slots():
		return t(ctx, "On request"), "", time.Time{}
	}
	if at = r.Task.NextStart(); at.IsZero() {
		return t(ctx, "No more"), "", at
	}
	return "", "", at
}

// nextLine is next in one line, for a phone.
func (r TaskRow) nextLine(ctx context.Context) string {
	word, sub, at := r.next(ctx)
	if at.IsZero() {
		return joined(" ", word, sub)
	}
	return t(ctx, "next %s", clock(ctx, at))
}

// rate is the share that succeeded of what ended within seven days, and P50 and
// P99 of the attempts that succeeded in them.
func (r TaskRow) rate(ctx context.Context) (share, spans string) {
	share = percent(int64(r.Facts.Week.Succeeded), int64(r.Facts.Week.Ended()))
	if took := r.Facts.Took; took.Of > 0 {
		spans = duration(ctx, took.P50) + " · " + duration(ctx, took.P99)
	}
	return share, spans
}
