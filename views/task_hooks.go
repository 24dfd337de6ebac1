package views

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"ax/app/sched"
	"ax/views/ui"
)

// HookValues are the hooks of a task as they were typed.
type HookValues struct {
	URL, Method, Headers, Statuses string // headers as lines
	Timeout, Every, Limit          string // lengths of time
	NotReady, Then                 string
	After                          []sched.AfterHook
}

// HookChannel is a channel that a hook can name.
type HookChannel struct {
	sched.HookChannel
	Team string // name, while the team may still be chosen
}

// hookValues are the hooks to be typed again.
func (v Viewer) hookValues(h *sched.Hooks) HookValues {
	out := HookValues{Method: "GET", NotReady: string(sched.NotReadyWait), Then: string(sched.ThenFail)}
	if h == nil {
		return out
	}
	out.After = h.After
	if b := h.Before; b != nil {
		out.URL, out.Method, out.Headers, out.Statuses = b.URL, cmp.Or(b.Method, "GET"), headerLines(b.Headers), b.Statuses
		out.Timeout, out.Every, out.Limit = v.spanOrNone(b.TimeoutSeconds), v.spanOrNone(b.EverySeconds), v.spanOrNone(b.LimitSeconds)
		out.NotReady, out.Then = cmp.Or(string(b.NotReady), out.NotReady), cmp.Or(string(b.Then), out.Then)
	}
	return out
}

// hookLabels are the fields of the hooks, in the form's order.
var hookLabels = []formField{
	{"hooks.before.url", msg("Asked before a run"), func(v TaskValues) string { return v.Hooks.URL }},
	{"hooks.before.method", msg("Asked with"), func(v TaskValues) string { return v.Hooks.ofBefore(v.Hooks.Method) }},
	{"hooks.before.headers", msg("Headers of the question"), func(v TaskValues) string { return v.Hooks.ofBefore(v.Hooks.Headers) }},
	{"hooks.before.statuses", msg("Statuses that mean ready"), func(v TaskValues) string { return v.Hooks.ofBefore(v.Hooks.Statuses) }},
	{"hooks.before.timeout_seconds", msg("Answer within"), func(v TaskValues) string { return v.Hooks.ofBefore(v.Hooks.Timeout) }},
	{"hooks.before.not_ready", msg("If it is not ready"), func(v TaskValues) string { return v.Hooks.ofBefore(v.Hooks.NotReady) }},
	{"hooks.before.every_seconds", msg("Ask again every"), func(v TaskValues) string { return v.Hooks.ofWait(v.Hooks.Every) }},
	{"hooks.before.limit_seconds", msg("Wait for at most"), func(v TaskValues) string { return v.Hooks.ofWait(v.Hooks.Limit) }},
	{"hooks.before.then", msg("At the limit"), func(v TaskValues) string { return v.Hooks.ofWait(v.Hooks.Then) }},
	{"hooks.after", msg("Told after a run"), func(v TaskValues) string { return v.Hooks.told() }},
}

// ofBefore is a value that only a hook with an address has.
func (h HookValues) ofBefore(value string) string {
	if h.URL == "" {
		return ""
	}
	return value
}

// ofWait is a value that only a hook that waits has.
func (h HookValues) ofWait(value string) string {
	if h.NotReady == string(sched.NotReadySkip) {
		return ""
	}
	return h.ofBefore(value)
}

// told is who is told, as lines.
func (h HookValues) told() string {
	var lines []string
	for _, a := range h.After {
		lines = append(lines, string(a.On)+": "+a.Channel)
	}
	return strings.Join(lines, "\n")
}

// hookRow is one line of the form about who is told.
type hookRow struct {
	on, channel ui.Field
	options     []ui.Option
}

// hookRows are those that are filled and two more.
func (p TaskFormPage) hookRows(ctx context.Context) []hookRow {
	after := p.Values.Hooks.After
	var out []hookRow
	for i := range min(len(after)+2, sched.MaxAfterHooks) {
		h := sched.AfterHook{On: sched.OnFailure}
		if i < len(after) {
			h = after[i]
		}
		name := fmt.Sprintf("hooks.after.%d.", i)
		out = append(out, hookRow{
			on:      ui.Field{Name: name + "on", Label: t(ctx, "After"), Value: string(h.On)},
			channel: ui.Field{Name: name + "channel", Label: t(ctx, "Channel"), Value: h.Channel},
			options: p.channelOptions(ctx, h.Channel),
		})
	}
	return out
}

func (p TaskFormPage) channelOptions(ctx context.Context, chosen string) []ui.Option {
	options := []ui.Option{{Label: t(ctx, "Nobody")}}
	for _, c := range p.Channels {
		options = append(options, ui.Option{Value: c.ID, Label: joined(" · ", c.Name, c.Team)})
	}
	if chosen != "" && !slices.ContainsFunc(p.Channels, func(c HookChannel) bool { return c.ID == chosen }) {
		options = append(options, ui.Option{Value: chosen, Label: t(ctx, "A channel that the team doesn’t have")})
	}
	return options
}

func hookOnOptions(ctx context.Context) []ui.Option {
	return []ui.Option{
		{Value: string(sched.OnSuccess), Label: t(ctx, "a success")},
		{Value: string(sched.OnFailure), Label: t(ctx, "a failure")},
		{Value: string(sched.OnChange), Label: t(ctx, "a change between the two")},
	}
}

func notReadyOptions(ctx context.Context) []ui.Option {
	return []ui.Option{
		{Value: string(sched.NotReadyWait), Label: t(ctx, "Wait and ask again")}, {Value: string(sched.NotReadySkip), Label: t(ctx, "Skip the run")},
	}
}

func thenOptions(ctx context.Context) []ui.Option {
	return []ui.Option{
		{Value: string(sched.ThenFail), Label: t(ctx, "It fails")}, {Value: string(sched.ThenSkip), Label: t(ctx, "It is skipped")},
	}
}

// usesHooks tells whether the form shows them at first.
func (p TaskFormPage) usesHooks() bool {
	return p.Values.Hooks.URL != "" || slices.ContainsFunc(hookLabels[:9], func(f formField) bool { return p.wrong(f.name) })
}

// beforeWords say what the hook does, in one line.
func beforeWords(ctx context.Context, h sched.BeforeHook) string {
	v := viewer(ctx)
	if !h.Waits() {
		return t(ctx, "not ready: skipped")
	}
	words := t(ctx, "not ready: asks every %s, for at most %s, then fails", v.Exactly(h.EverySeconds), v.Exactly(h.LimitSeconds))
	if h.Then == sched.ThenSkip {
		words = t(ctx, "not ready: asks every %s, for at most %s, then is skipped", v.Exactly(h.EverySeconds), v.Exactly(h.LimitSeconds))
	}
	return words
}

// afterWords say who is told of what. The note says why nobody is.
func (p TaskPage) afterWords(ctx context.Context, h sched.AfterHook) (words, note string) {
	name := t(ctx, "nobody")
	switch i := slices.IndexFunc(p.Channels, func(c HookChannel) bool { return c.ID == h.Channel }); {
	case i < 0:
		note = t(ctx, "The team has no such channel (%s): edit the task to name another", h.Channel)
	case p.Channels[i].Off:
		name, note = p.Channels[i].Name, t(ctx, "The channel is off")
	default:
		name = p.Channels[i].Name
	}
	switch h.On {
	case sched.OnSuccess:
		return t(ctx, "after a success: %s", name), note
	case sched.OnFailure:
		return t(ctx, "after a failure: %s", name), note
	}
	return t(ctx, "after a change between success and failure: %s", name), note
}
