package views

import (
	"context"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/cron"
	"ax/app/fault"
	"ax/views/ui"
)

// How long a silence is, in the form: so many seconds, or one of these.
const (
	SilenceUntil = "until" // a moment
	SilenceAgain = "again" // comes again by a cron line
)

// silenceSpans are the lengths to choose from, in seconds.
var silenceSpans = []int{20 * 60, 3600, 2 * 3600, 8 * 3600}

// SilenceValues are the form's fields as typed.
type SilenceValues struct {
	Team     string // code; "": every team
	What     string // alert.ScopeKind
	Value    string // of a tag, group, task or queue
	Rule     string // id; "": every rule
	Length   string // seconds, SilenceUntil or SilenceAgain
	StartsAt string
	EndsAt   string
	Cron     string
	Zone     string
	Lasts    string // minutes, of what comes again
	LastDay  string // until when it comes again
	Reason   string
	Hold     bool
}

// SilencePreview is what the form means as it is typed.
type SilencePreview struct {
	Silence alert.Silence // zero: it can't be told yet
	Tasks   int           // that it covers
	Firing  int           // incidents that it would hold back now
	Next    []time.Time   // windows of what comes again
}

// SilenceFormPage is the form of a new silence.
type SilenceFormPage struct {
	Values  SilenceValues
	Teams   []access.Team // in which the viewer may silence
	MayAll  bool          // of every team
	MayHold bool
	Rules   []alert.Rule
	Zones   []string
	Names   []string // groups, tags and task codes, to choose from
	Preview SilencePreview
	Errors  []fault.FieldError
	Looked  bool // somebody asked what it means: nothing was made
}

func (p SilenceFormPage) field(ctx context.Context, name, label, value string) ui.Field {
	return ui.Field{Name: name, Label: label, Value: value, Error: problem(ctx, p.Errors, name)}
}

func (p SilenceFormPage) teamOptions(ctx context.Context) []ui.Option {
	var out []ui.Option
	for _, team := range p.Teams {
		out = append(out, ui.Option{Value: team.Code, Label: team.Name})
	}
	if p.MayAll {
		out = append(out, ui.Option{Value: "", Label: t(ctx, "Every team")})
	}
	return out
}

func whatOptions(ctx context.Context) []ui.Option {
	return []ui.Option{
		{Value: string(alert.All), Label: t(ctx, "All|silence")}, {Value: string(alert.OfTask), Label: t(ctx, "One task")},
		{Value: string(alert.OfTag), Label: t(ctx, "A tag")}, {Value: string(alert.OfGroup), Label: t(ctx, "A group")},
		{Value: string(alert.OfQueue), Label: t(ctx, "A queue")},
	}
}

func (p SilenceFormPage) ruleOptions(ctx context.Context) []ui.Option {
	out := []ui.Option{{Value: "", Label: t(ctx, "Every rule")}}
	for _, r := range p.Rules {
		label := ruleName(ctx, r.Name)
		if r.TeamID == 0 {
			label = t(ctx, "%s (of the installation)", label)
		}
		out = append(out, ui.Option{Value: strconv.FormatInt(r.ID, 10), Label: label})
	}
	return out
}

func lengthOptions(ctx context.Context) []ui.Option {
	var out []ui.Option
	for _, s := range silenceSpans {
		out = append(out, ui.Option{Value: strconv.Itoa(s), Label: viewer(ctx).Span(time.Duration(s) * time.Second)})
	}
	return append(out, ui.Option{Value: SilenceUntil, Label: t(ctx, "Until…")}, ui.Option{Value: SilenceAgain, Label: t(ctx, "Again and again")})
}

// Known tells whether the form can be told in words.
func (p SilencePreview) known() bool { return p.Silence.Scope.Kind != "" }

// sentence says what the silence does.
func (p SilenceFormPage) sentence(ctx context.Context) string {
	s := p.Preview.Silence
	row := SilenceRow{Silence: s, Team: p.teamName(), Rule: p.ruleName()}
	if s.Cron != "" {
		return t(ctx, "No message about %s, %s|what, when", row.what(ctx), row.again(ctx))
	}
	if s.StartsAt.After(viewer(ctx).Now) {
		return t(ctx, "No message about %s from %s until %s", row.what(ctx), clock(ctx, s.StartsAt), clock(ctx, s.EndsAt))
	}
	return t(ctx, "No message about %s until %s", row.what(ctx), clock(ctx, s.EndsAt))
}

func (p SilenceFormPage) teamName() string {
	for _, team := range p.Teams {
		if team.Code == p.Values.Team {
			return team.Name
		}
	}
	return ""
}

func (p SilenceFormPage) ruleName() string {
	for _, r := range p.Rules {
		if strconv.FormatInt(r.ID, 10) == p.Values.Rule {
			return r.Name
		}
	}
	return ""
}

// covers counts what the silence touches.
func (p SilenceFormPage) covers(ctx context.Context) string {
	said := tn(ctx, "It covers %d tasks.", p.Preview.Tasks)
	if p.Preview.Firing > 0 {
		said = joined(" ", said, tn(ctx, "%d incidents that fire now go quiet.", p.Preview.Firing))
	}
	return said
}

// holdLabel names how many tasks would stand still.
func (p SilenceFormPage) holdLabel(ctx context.Context) string {
	if !p.Preview.known() {
		return t(ctx, "Hold the runs too")
	}
	return tn(ctx, "Hold the runs of %d tasks too", p.Preview.Tasks)
}

// cronWords are what the cron line means; "" while it can't be read.
func (p SilenceFormPage) cronWords(ctx context.Context) string {
	expr, err := cron.Parse(p.Values.Cron)
	if err != nil {
		return ""
	}
	return expr.Words(viewer(ctx).Lang)
}

// windowZone is the zone of the windows, for their times.
func (p SilenceFormPage) windowZone(ctx context.Context) *time.Location {
	if zone, err := cron.LoadZone(p.Values.Zone); err == nil {
		return zone
	}
	return viewer(ctx).zone()
}

// silenceLive makes the meaning ask again while one fills in the form; the
// reason is no part of it.
func silenceLive() templ.Attributes {
	return templ.Attributes{
		"hx-get": AlertsSilences + "/preview", "hx-swap": "outerMorph", "hx-sync": "this:replace",
		"hx-trigger": "input from:#silence-form delay:300ms", "hx-include": "#silence-form [name]:not([name='reason'])",
	}
}

// silenceNames ties the field to the names that there are.
var silenceNames = templ.Attributes{"list": "silence-names", "spellcheck": "false", "autocapitalize": "none"}
