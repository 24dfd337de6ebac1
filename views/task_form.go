package views

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/a-h/templ"

	"ax/app/fault"
	"ax/app/sched"
	"ax/views/ui"
)

// TaskFormPage makes or changes a task.
type TaskFormPage struct {
	Stored    sched.Task // the task being changed; the zero Task for a new one
	Values    TaskValues
	Errors    []fault.FieldError
	Teams     []Team   // a new task may go to
	People    []string // logins that may own it
	Zones     []string
	Calendars []CalendarChoice // that the team may use
	Defaults  sched.Defaults
	MayUnsafe bool // allow retries of non-idempotent work
	Shell     ShellChoice
	Executors []ExecutorOption // of the team
	Brokers   []BrokerChoice   // that a message may go to
	Channels  []HookChannel    // that hooks may name
	Preview   TaskPreview
	Test      *TestCallView // what a test call came to; nil: none was made
	// NodeLabels are those that nodes have; Unserved is what is typed when no
	// node serves it, nil: one does.
	NodeLabels []string
	Unserved   *sched.Lane
	// Changed is set when somebody saved after the form was opened: Stored is
	// theirs then, Theirs are its fields, and Mine what the form would make of
	// them.
	Changed      bool
	Began        int // version that the form began from
	Theirs, Mine TaskValues
	Since        FieldHistory
}

// TaskPreview is what the schedule typed means.
type TaskPreview struct {
	Schedule sched.Schedule
	Empty    bool // nothing typed yet
	Warnings []fault.Text
	Next     []time.Time
	Zone     *time.Location
	Errors   []fault.FieldError
	PerYear  int           // runs; 0: not counted
	Timeout  time.Duration // of one attempt; 0 when it can't be read

	Calendar      string // name of the calendar followed
	Off           []sched.DayOff
	Shift         *sched.ClockShift
	Overlap       sched.Overlap
	MaxConcurrent int
}

// slowTimeout is from where on a call should answer early and report later.
const slowTimeout = 30 * time.Second

func (p TaskFormPage) fresh() bool { return p.Stored.ID == 0 }

func (p TaskFormPage) action() string {
	if p.fresh() {
		return "/tasks/new"
	}
	return taskURL(p.Stored.Code)
}

func (p TaskFormPage) back() string {
	if p.fresh() {
		return "/tasks"
	}
	return taskURL(p.Stored.Code)
}

func (p TaskFormPage) title(ctx context.Context) string {
	if p.fresh() {
		return t(ctx, "New task")
	}
	return t(ctx, "Edit: %s", p.Stored.Name)
}

func (p TaskFormPage) crumbs(ctx context.Context) []ui.Crumb {
	crumbs := []ui.Crumb{{Label: t(ctx, "Tasks"), Href: "/tasks"}}
	if !p.fresh() {
		crumbs = append(crumbs, ui.Crumb{Label: p.Stored.Code, Href: taskURL(p.Stored.Code), Mono: true})
	}
	return crumbs
}

func (p TaskFormPage) verb(ctx context.Context) string {
	switch {
	case p.fresh():
		return t(ctx, "Create task")
	case p.Changed:
		return t(ctx, "Save mine as version %d", p.Stored.Version+1)
	}
	return t(ctx, "Save as version %d", p.Stored.Version+1)
}

// field begins a field of the form by its name in the JSON.
func (p TaskFormPage) field(ctx context.Context, name, value string) ui.Field {
	return ui.Field{Name: name, Label: fieldLabel(ctx, name), Value: value, Error: problem(ctx, p.Errors, name)}
}

// loose are the errors that belong to no field of the form.
func (p TaskFormPage) loose(ctx context.Context) []string {
	var out []string
	for _, e := range p.Errors {
		if !slices.ContainsFunc(fieldLabels, func(f formField) bool { return f.name == e.Name }) {
			out = append(out, text(ctx, e.Text))
		}
	}
	return out
}

// broken are the names of the fields with errors, in the form's order.
func (p TaskFormPage) broken() []string {
	var out []string
	for _, f := range fieldLabels {
		if slices.ContainsFunc(p.Errors, func(e fault.FieldError) bool { return e.Name == f.name }) {
			out = append(out, f.name)
		}
	}
	return out
}

func (p TaskFormPage) teamOptions() []ui.Option {
	var options []ui.Option
	for _, team := range p.Teams {
		options = append(options, ui.Option{Value: team.Code, Label: team.Name})
	}
	return withChosen(options, p.Values.Team)
}

func (p TaskFormPage) queueOptions() []ui.Option {
	var options []ui.Option
	for _, q := range p.Defaults.Queues {
		options = append(options, ui.Option{Value: q, Label: q})
	}
	return withChosen(options, p.Values.Queue)
}

// zoneChoices are the zones with those first that matter here: the one
// chosen, the viewer's own and UTC.
func (p TaskFormPage) zoneChoices(ctx context.Context) []ui.Option {
	own := viewer(ctx).zone().String()
	options := []ui.Option{{Value: own, Label: own}}
	if own != "UTC" {
		options = append(options, ui.Option{Value: "UTC", Label: "UTC"})
	}
	for _, z := range p.Zones {
		if z != own && z != "UTC" {
			options = append(options, ui.Option{Value: z, Label: z})
		}
	}
	return withChosen(options, p.Values.Zone)
}

// withChosen puts what is chosen first when the list doesn't have it, so that
// a form never changes what it doesn't know.
func withChosen(options []ui.Option, chosen string) []ui.Option {
	if chosen == "" || slices.ContainsFunc(options, func(o ui.Option) bool { return o.Value == chosen }) {
		return options
	}
	return append([]ui.Option{{Value: chosen, Label: chosen}}, options...)
}

func kindOptions(ctx context.Context) []ui.Option {
	return []ui.Option{
		{Value: string(sched.KindCron), Label: t(ctx, "Cron")},
		{Value: string(sched.KindInterval), Label: t(ctx, "Interval")},
		{Value: string(sched.KindOnce), Label: t(ctx, "Once")},
		{Value: string(sched.KindDelay), Label: t(ctx, "Delay")},
		{Value: string(sched.KindManual), Label: t(ctx, "Manual")},
	}
}

func retryOptions(ctx context.Context) []ui.Option {
	return []ui.Option{
		{Value: string(sched.RetrySteps), Label: t(ctx, "Step by step")},
		{Value: string(sched.RetryFixed), Label: t(ctx, "Not at all")},
		{Value: string(sched.RetryExponential), Label: t(ctx, "Doubling, with a spread")},
	}
}

func alertOptions(ctx context.Context) []ui.Option {
	return []ui.Option{
		{Value: string(sched.AlertP1), Label: "P1"},
		{Value: string(sched.AlertP2), Label: "P2"},
		{Value: string(sched.AlertNone), Label: t(ctx, "None")},
	}
}

func idempotentCards(ctx context.Context) []ui.Card {
	return []ui.Card{
		{Value: "true", Name: t(ctx, "Yes, it is idempotent"), Art: repeatArt(),
			Say: t(ctx, "The same key does the work once. Failed attempts are repeated, and what a dead node had begun too.")},
		{Value: "false", Name: t(ctx, "No, it must not be repeated"), Art: onceArt(),
			Say: t(ctx, "It is sent at most once. If a node dies after sending, it ends as lost, in the dead letters.")},
	}
}

// livePreview makes the preview ask again while one types.
func livePreview() templ.Attributes {
	return templ.Attributes{
		"hx-get": "/tasks/preview", "hx-swap": "outerMorph", "hx-sync": "this:replace",
		"hx-trigger": "input from:#s-when-fields delay:250ms, input from:#s-slot-fields delay:250ms, input from:#f-policy-timeout-seconds delay:250ms, input from:#f-policy-max-concurrent delay:250ms",
		"hx-include": "#s-when-fields, #s-slot-fields, #f-policy-timeout-seconds, #f-policy-max-concurrent",
	}
}

// onRequest tells whether there are no slots to show: it runs when asked to.
func (p TaskPreview) onRequest() bool {
	return len(p.Errors) == 0 && !p.Empty && !p.Schedule.Kind.Slots()
}

func (p TaskPreview) zone(ctx context.Context) *time.Location {
	return cmp.Or(p.Zone, viewer(ctx).zone())
}

// foreign tells whether the viewer reads another clock than the schedule.
func (p TaskPreview) foreign(ctx context.Context) bool {
	return p.zone(ctx).String() != viewer(ctx).zone().String()
}

// shownValue is a value of a diff; an empty one has a word.
func shownValue(ctx context.Context, value string) string {
	switch value {
	case "":
		return t(ctx, "empty")
	case "true":
		return t(ctx, "yes")
	case "false":
		return t(ctx, "no")
	}
	return value
}
