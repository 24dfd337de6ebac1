package views

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"ax/app/alert"
	"ax/app/fault"
	"ax/views/ui"
)

// RulePage makes or changes a rule; what it means, and what it would have done,
// stand beside it.
type RulePage struct {
	Stored  alert.Rule // the zero Rule: a new one
	Team    Team       // whose it is; no code: the installation's
	Teams   []Team     // of a new one: where else it may be made; no code among them is the installation
	Values  RuleValues
	Errors  []fault.FieldError
	Moved   string // who changed it meanwhile; "": nobody
	MayEdit bool

	Draft    *alert.Rule // what is typed, where it can be read
	Channels []alert.Channel
	Anyway   []RuleListener // are told by their general subscriptions
	Now      RuleNow
	Test     BackTest

	Tags, Groups, Tasks, Queues []string // to choose a scope from
}

// RuleValues are the fields as they are typed.
type RuleValues struct {
	Name                       string
	Metric                     alert.Metric
	ScopeKind                  alert.ScopeKind
	ScopeValue                 string
	Threshold, Least           string
	Window, For, Repeat        string // seconds
	Level                      alert.Level
	EachTry                    bool
	Recovery, Mention, Enabled bool
	Tell                       []RuleTell
	Reason                     string
	Version                    int
}

// RuleTell is a channel that the rule tells by itself, after so many seconds
// without an acknowledgement.
type RuleTell struct{ ChannelID, After string }

// RuleListener is a channel that is told of the rule without being ticked.
type RuleListener struct {
	Channel alert.Channel
	Person  string // login, of a person's own
	P1      bool   // only of such
	After   time.Duration
}

// RuleNow is how things stand at the moment.
type RuleNow struct {
	Known   bool // Value was read
	Value   float64
	Subject string          // what has that value; "": the scope
	Firing  *alert.Incident // open incident of the rule; nil: none
}

func (p RulePage) fresh() bool { return p.Stored.ID == 0 }

func (p RulePage) house() bool { return p.Team.Code == "" }

// meter of the metric chosen.
func (p RulePage) meter() alert.Meter {
	m, _ := alert.MeterOf(p.Values.Metric)
	return m
}

func (p RulePage) path() string {
	if p.fresh() {
		return "/alerts/rules/new"
	}
	return ruleURL(p.Stored.ID)
}

func (p RulePage) title(ctx context.Context) string {
	if p.fresh() {
		return t(ctx, "New rule")
	}
	return ruleTitle(ctx, p.Stored.Name)
}

func alertCrumbs(ctx context.Context, tab, path string) []ui.Crumb {
	return []ui.Crumb{{Label: t(ctx, "Alerts"), Href: "/alerts"}, {Label: tab, Href: path}}
}

func (p RulePage) crumbs(ctx context.Context) []ui.Crumb {
	return alertCrumbs(ctx, t(ctx, "Rules"), "/alerts/rules")
}

// where names the rule's team.
func (p RulePage) where(ctx context.Context) string {
	if p.house() {
		return t(ctx, "The whole installation")
	}
	return p.Team.Name
}

// phraseTeam is the team's name for the sentence; "" is the installation.
func (p RulePage) phraseTeam() string {
	if p.house() {
		return ""
	}
	return p.Team.Name
}

func (p RulePage) teamTabs() []ui.Tab {
	var tabs []ui.Tab
	for _, x := range p.Teams {
		tabs = append(tabs, ui.Tab{Label: x.Name, Href: "/alerts/rules/new?team=" + x.Code, On: x.Code == p.Team.Code})
	}
	return tabs
}

func (p RulePage) field(ctx context.Context, name, label, value string) ui.Field {
	return ui.Field{Name: name, Label: label, Value: value, Error: problem(ctx, p.Errors, name)}
}

var ruleFields = []string{
	"name", "metric", "scope.kind", "scope.value", "threshold", "window_seconds", "least", "for_seconds", "level",
	"each_try", "repeat_seconds", "recovery", "mention", "enabled", "reason", "tell",
}

// thresholdLabel says on which side of it the breach is.
func (p RulePage) thresholdLabel(ctx context.Context) string {
	if p.meter().Below {
		return t(ctx, "Under")
	}
	return t(ctx, "Reaches")
}

// scopeOptions are how the rule can name what it looks at.
func (p RulePage) scopeOptions(ctx context.Context) []ui.Option {
	all := t(ctx, "%s, all tasks", p.where(ctx))
	if p.house() {
		all = t(ctx, "All teams")
	}
	switch p.meter().Per {
	case alert.PerQueue:
		return []ui.Option{{Value: string(alert.All), Label: t(ctx, "Each queue")}, {Value: string(alert.OfQueue), Label: t(ctx, "One queue…")}}
	case alert.PerNode, alert.PerHouse:
		return []ui.Option{{Value: string(alert.All), Label: t(ctx, "The installation")}}
	case alert.PerExecutor:
		return []ui.Option{{Value: string(alert.All), Label: t(ctx, "Each executor")}}
	case alert.PerTask, alert.PerScope, alert.PerCalendar:
	}
	return []ui.Option{
		{Value: string(alert.All), Label: all},
		{Value: string(alert.OfTag), Label: t(ctx, "Tasks with a tag…")},
		{Value: string(alert.OfGroup), Label: t(ctx, "Tasks of a group…")},
		{Value: string(alert.OfTask), Label: t(ctx, "One task…")},
	}
}

// named tells whether a scope of the metric can have a name.
func (p RulePage) named(ctx context.Context) bool { return len(p.scopeOptions(ctx)) > 1 }

// scopeNames are those to choose from, for the kind chosen.
func (p RulePage) scopeNames() []string {
	switch p.Values.ScopeKind {
	case alert.OfTag:
		return p.Tags
	case alert.OfGroup:
		return p.Groups
	case alert.OfTask:
		return p.Tasks
	case alert.OfQueue:
		return p.Queues
	case alert.All:
	}
	return nil
}

func (p RulePage) levelOptions(ctx context.Context) []ui.Option {
	levels := []alert.Level{alert.P1, alert.P2}
	if p.meter().Per == alert.PerTask {
		levels = append(levels, alert.ByTask)
	}
	var out []ui.Option
	for _, l := range levels {
		out = append(out, ui.Option{Value: string(l), Label: levelName(ctx, l)})
	}
	return out
}

// spans to choose from, in seconds; the one chosen is among them. none is the
// word for 0, "" leaves it out.
func spans(ctx context.Context, none, chosen string, of ...time.Duration) []ui.Option {
	if s, err := strconv.Atoi(chosen); err == nil && s > 0 && !slices.Contains(of, time.Duration(s)*time.Second) {
		of = append(of, time.Duration(s)*time.Second)
		slices.Sort(of)
	}
	var out []ui.Option
	if none != "" {
		out = append(out, ui.Option{Value: "0", Label: none})
	}
	for _, d := range of {
		out = append(out, ui.Option{Value: strconv.Itoa(int(d / time.Second)), Label: viewer(ctx).Span(d)})
	}
	return out
}

func (p RulePage) windows(ctx context.Context) []ui.Option {
	return spans(ctx, "", p.Values.Window, 5*time.Minute, 10*time.Minute, 15*time.Minute, 30*time.Minute, time.Hour, 3*time.Hour, 6*time.Hour, 12*time.Hour, 24*time.Hour)
}

func (p RulePage) fors(ctx context.Context) []ui.Option {
	return spans(ctx, t(ctx, "at once"), p.Values.For, time.Minute, 3*time.Minute, 5*time.Minute, 10*time.Minute, 15*time.Minute, 30*time.Minute, time.Hour)
}

func (p RulePage) repeats(ctx context.Context) []ui.Option {
	return spans(ctx, t(ctx, "never"), p.Values.Repeat, 10*time.Minute, 30*time.Minute, time.Hour, 2*time.Hour, 4*time.Hour, 24*time.Hour)
}

// afters are how long a channel waits for an acknowledgement before it is told.
func afters(ctx context.Context, chosen string) []ui.Option {
	out := spans(ctx, "", chosen, 5*time.Minute, 10*time.Minute, 15*time.Minute, 30*time.Minute, time.Hour)
	for i := range out {
		out[i].Label = t(ctx, "after %s without an answer", out[i].Label)
	}
	return append([]ui.Option{{Value: "0", Label: t(ctx, "at once")}}, out...)
}

// tells gives the wait of a channel, if it is ticked.
func (p RulePage) tells(id string) (after string, ticked bool) {
	for _, x := range p.Values.Tell {
		if x.ChannelID == id {
			return x.After, true
		}
	}
	return "0", false
}

// told names who hears of the rule first.
func (p RulePage) told() []string {
	var names []string
	for _, c := range p.Channels {
		if _, ticked := p.tells(c.ID); ticked {
			names = append(names, c.Name)
		}
	}
	for _, l := range p.Anyway {
		if l.After == 0 && (!l.P1 || p.Values.Level == alert.P1) && !slices.Contains(names, l.name()) {
			names = append(names, l.name())
		}
	}
	return names
}

func (l RuleListener) name() string {
	if l.Person != "" {
		return l.Person
	}
	return l.Channel.Name
}

// how says under which condition a general subscription is told.
func (l RuleListener) how(ctx context.Context) string {
	var first string
	if l.P1 {
		first = t(ctx, "of P1 only")
	}
	var wait string
	if l.After > 0 {
		wait = t(ctx, "after %s without an answer", viewer(ctx).Span(l.After))
	}
	return joined(", ", first, wait)
}

// nowWords say how things stand.
func (p RulePage) nowWords(ctx context.Context) string {
	if !p.Now.Known {
		return ""
	}
	value := measured(ctx, p.Values.Metric, p.Now.Value)
	if p.Now.Subject != "" {
		return t(ctx, "now %s, %s", value, p.Now.Subject)
	}
	return t(ctx, "now %s", value)
}

// state of the rule, for its head.
func (p RulePage) state(ctx context.Context) ui.State {
	switch i := p.Now.Firing; {
	case p.Stored.Broken != "":
		return ui.State{Icon: "alert-triangle", Class: "fail", Word: t(ctx, "Can’t be judged")}
	case !p.Stored.Enabled:
		return ui.State{Icon: "circle-off", Class: "idle", Word: t(ctx, "Switched off")}
	case i != nil && i.State == alert.Firing:
		return ui.State{Icon: "bell", Class: "fail", Word: t(ctx, "Firing for %s", viewer(ctx).Span(viewer(ctx).Now.Sub(i.OpenedAt)))}
	}
	return ui.State{Icon: "circle-check", Class: "ok", Word: t(ctx, "Quiet")}
}

// countsTries tells whether rules on the metric can count every failed attempt.
func countsTries(m alert.Metric) bool { return m == alert.InARow || m == alert.Failures }

// ruleTriggers are the changes after which the sentence and the back-test are
// made anew.
const ruleTriggers = "input from:#rule-form delay:400ms"

// askRule asks the page again with what is typed. part names what comes back at
// target; "" is the element itself. Nobody who may only read asks.
func askRule(p RulePage, part, target, when string, may bool) templ.Attributes {
	if !may {
		return nil
	}
	a := templ.Attributes{"hx-get": p.path(), "hx-swap": "outerMorph", "hx-trigger": when, "hx-include": "#rule-form", "hx-sync": "this:replace"}
	if part != "" {
		a["hx-get"] = p.path() + "?part=" + part
		a["hx-target"] = target
	}
	return a
}
