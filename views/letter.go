package views

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/fault"
	"ax/app/sched"
	"ax/views/ui"
)

// LetterPage is one dead letter.
type LetterPage struct {
	Letter  sched.Letter
	View    sched.InstanceView // the latest instance that ended badly
	Runs    []sched.Instance   // all of the business action, by number
	Missing bool               // older runs were not found: only some are in Runs
	Nodes   map[string]sched.NodeInfo
	Members []access.Member // of the team
	Open    *alert.Incident // that it belongs to, while that is open; nil: none

	MaySolve  bool
	MayReplay bool
	History   ObjectHistory

	Values  LetterValues       // of the form
	Base    LetterValues       // what the form began from; it is sent along
	Errors  []fault.FieldError // of the form, or of the replay: its field is "reason"
	Stale   bool               // the letter was changed after the form had begun
	Was     LetterValues       // what a stale form began from
	Reason  string             // typed for a replay that was refused
	Refused string             // why, translated
}

// LetterValues are the fields of the form on a letter's page, as typed.
type LetterValues struct {
	Status   string
	Cause    string
	Solution string
	Assignee string // login, "" for nobody
	Version  int
}

// ValuesOf is the form of a letter that nobody has typed in.
func ValuesOf(l sched.Letter) LetterValues {
	return LetterValues{Status: string(l.Status), Cause: l.Cause, Solution: l.Solution, Assignee: l.Assignee, Version: l.Version}
}

func (p LetterPage) path() string { return letterPath(p.Letter.ID) }

func (p LetterPage) task() sched.Task { return p.View.Task }

// title says what ended how.
func (p LetterPage) title(ctx context.Context) string {
	name := p.task().Name
	switch p.Letter.Outcome {
	case sched.OutcomeTimedOut:
		return t(ctx, "%s timed out", name)
	case sched.OutcomeLost:
		return t(ctx, "%s was lost", name)
	}
	return t(ctx, "%s failed", name)
}

func (p LetterPage) crumbs(ctx context.Context) []ui.Crumb {
	return []ui.Crumb{
		{Label: t(ctx, "Dead letters"), Href: "/dead-letters"},
		{Label: p.task().Code, Href: taskURL(p.task().Code), Mono: true},
		{Label: strconv.FormatInt(p.Letter.ID, 10), Mono: true},
	}
}

// notReplayable says why the letter can't be replayed now; "" when it can.
func (p LetterPage) notReplayable(ctx context.Context) string {
	switch {
	case p.Letter.Replaying != "":
		return t(ctx, "A replay is under way.")
	case p.Letter.Status.Closed():
		return t(ctx, "It is closed. Open it again to replay it.")
	}
	return ""
}

// takable tells whether the page offers to take the letter with one press.
func (p LetterPage) takable(ctx context.Context) bool {
	return p.MaySolve && p.Letter.Status == sched.LetterOpen && viewer(ctx).User.Login != ""
}

// replayEffects are what follows a replay.
func (p LetterPage) replayEffects(ctx context.Context) []string {
	out := []string{
		t(ctx, "A new instance runs with the same payload and the present definition, version %s.", number(p.task().Version)),
		t(ctx, "The key stays %s, so the target can tell that it is the same action.", p.View.Key(p.task().Code)),
		t(ctx, "The earlier request may have taken effect, or may still arrive."),
	}
	if !p.task().Spec.Policy.Idempotent {
		out = append(out, t(ctx, "The task is not idempotent: look at the target first whether the work was done."))
	}
	return append(out, t(ctx, "If it succeeds, this dead letter is solved; if it fails, it is opened again."))
}

// causes of dead letters, as they are stored, with their words.
var causes = []struct{ value, word string }{
	{"our_configuration", msg("Our configuration")},
	{"our_code", msg("Our code")},
	{"their_service", msg("Their service")},
	{"data", msg("Data")},
	{"network", msg("Network")},
	{"other", msg("Something else")},
}

// causeWord is a cause in words. The API may have stored one of its own.
func causeWord(ctx context.Context, value string) string {
	for _, c := range causes {
		if c.value == value {
			return t(ctx, c.word)
		}
	}
	return value
}

func (p LetterPage) causeOptions(ctx context.Context) []ui.Option {
	out := []ui.Option{{Value: "", Label: t(ctx, "Not known yet")}}
	known := p.Values.Cause == ""
	for _, c := range causes {
		out = append(out, ui.Option{Value: c.value, Label: t(ctx, c.word)})
		known = known || c.value == p.Values.Cause
	}
	if !known {
		out = append(out, ui.Option{Value: p.Values.Cause, Label: p.Values.Cause})
	}
	return out
}

func (p LetterPage) statusOptions(ctx context.Context) []ui.Option {
	out := make([]ui.Option, 0, 4)
	for _, s := range sched.LetterStatuses() {
		out = append(out, ui.Option{Value: string(s), Label: letterState(ctx, string(s)).Word})
	}
	return out
}

// assigneeOptions are the team's people, and whoever has it now.
func (p LetterPage) assigneeOptions(ctx context.Context) []ui.Option {
	out := []ui.Option{{Value: "", Label: t(ctx, "Nobody")}}
	has := map[string]bool{"": true}
	add := func(login, name string) {
		if has[login] {
			return
		}
		has[login] = true
		label := login
		if name != "" && name != login {
			label = t(ctx, "%s (%s)", name, login)
		}
		out = append(out, ui.Option{Value: login, Label: label})
	}
	for _, m := range p.Members {
		if !m.Person.Disabled {
			add(m.Person.Login, m.Person.Name)
		}
	}
	if me := viewer(ctx).User; me.Admin {
		add(me.Login, me.Name)
	}
	add(p.Letter.Assignee, "")
	add(p.Values.Assignee, "")
	return out
}

// changed are the fields that somebody else has changed since the stale form
// began, as they are stored now.
func (p LetterPage) changed(ctx context.Context) []string {
	l, was := p.Letter, p.Was
	var out []string
	if string(l.Status) != was.Status {
		out = append(out, t(ctx, "Status: %s", letterState(ctx, string(l.Status)).Word))
	}
	if l.Cause != was.Cause {
		out = append(out, t(ctx, "Cause: %s", cmp.Or(causeWord(ctx, l.Cause), t(ctx, "Not known yet"))))
	}
	if l.Assignee != was.Assignee {
		out = append(out, t(ctx, "With: %s", cmp.Or(l.Assignee, t(ctx, "Nobody"))))
	}
	if l.Solution != was.Solution {
		out = append(out, t(ctx, "Solution: %s", cmp.Or(l.Solution, t(ctx, "none yet"))))
	}
	return out
}

// Merged gives the form with what is stored where it was not touched since it
// began from base: so that saving it again undoes nobody's work by accident.
func (v LetterValues) Merged(base, stored LetterValues) LetterValues {
	untouched := func(field *string, was, now string) {
		if *field == was {
			*field = now
		}
	}
	untouched(&v.Status, base.Status, stored.Status)
	untouched(&v.Cause, base.Cause, stored.Cause)
	untouched(&v.Solution, base.Solution, stored.Solution)
	untouched(&v.Assignee, base.Assignee, stored.Assignee)
	v.Version = stored.Version
	return v
}

// instancePage is the letter's instance as the pieces of its own page want it.
func (p LetterPage) instancePage() InstancePage {
	return InstancePage{View: p.View, Nodes: p.Nodes}
}

// saveVerb is the word on the form's button.
func (p LetterPage) saveVerb(ctx context.Context) string {
	if p.Stale {
		return t(ctx, "Save over it")
	}
	return t(ctx, "Save")
}

// answer is what came back in the last attempt, without a body that the error
// line already holds.
func (p LetterPage) answer(ctx context.Context) (exchange, bool) {
	a := p.instancePage().lastAttempt()
	if a == nil || a.Response == "" {
		return exchange{}, false
	}
	x := readExchange(ctx, a.Response)
	if strings.Contains(p.Letter.Error, sched.OneLine(x.body)) {
		x.body = ""
	}
	return x, true
}

// sentAlong are the values that the form began from, so that a conflict can
// tell what was touched.
func (v LetterValues) sentAlong() []ui.Hidden {
	return []ui.Hidden{
		{Name: "was_status", Value: v.Status}, {Name: "was_cause", Value: v.Cause},
		{Name: "was_solution", Value: v.Solution}, {Name: "was_assignee", Value: v.Assignee},
	}
}
