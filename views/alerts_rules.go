package views

import (
	"context"
	"strconv"

	"ax/app/alert"
)

// RuleRow is one rule in the list.
type RuleRow struct {
	alert.Rule
	Team  string // name; empty: the installation
	Value alert.Value
	// Unread: the value could not be asked for just now.
	Unread bool
	Count  alert.Count30
	// MayEdit: change it, or switch it on and off.
	MayEdit bool
}

// RulesPage lists the rules with their values now.
type RulesPage struct {
	AlertsTop
	Rows   []RuleRow
	NoTeam bool
}

// breaks tells whether the value is on the wrong side.
func (r RuleRow) breaks() bool {
	return r.known() && r.Meter().Breaks(r.Value.Value, r.Threshold)
}

func (r RuleRow) known() bool { return r.Enabled && !r.Unread && r.Broken == "" && r.Value.Known }

// valueState is the value as it is shown.
func (r RuleRow) valueWord(ctx context.Context) string {
	switch {
	case !r.Enabled:
		return dash
	case r.Unread || r.Broken != "":
		return t(ctx, "can’t be read")
	case !r.Value.Known:
		return dash
	}
	return inUnit(ctx, r.Metric, r.Value.Value)
}

// of whom the value is, and how many there are.
func (r RuleRow) of(ctx context.Context) string {
	if !r.known() {
		return ""
	}
	name := ""
	if r.Value.Of.Kind != alert.ScopeSubject && r.Value.Of.Kind != alert.HouseSubject {
		name = subjectName(ctx, r.Value.Of)
	}
	if r.Value.N > 1 {
		return joined(" ", name, t(ctx, "and %s more", number(r.Value.N-1)))
	}
	return name
}

// whyUnknown says why there is no value.
func (r RuleRow) whyUnknown(ctx context.Context) string {
	switch {
	case !r.Enabled:
		return t(ctx, "The rule is off")
	case r.Least > 0:
		return tn(ctx, "Fewer than %d runs: nothing can be said", r.Least)
	}
	return t(ctx, "Nothing to measure now")
}

// gauge are the places of value and threshold, in percent across.
func (r RuleRow) gauge() (value, mark float64) {
	low, high := 0.0, r.Threshold*1.6
	switch {
	case r.Meter().Below && r.Meter().Unit == alert.Percent:
		low, high = r.Threshold-4*(100-r.Threshold), 100
	case r.Meter().Below:
		high = 2 * r.Threshold
	}
	if high <= low {
		high = low + 1
	}
	at := func(v float64) float64 { return min(max(100*(v-low)/(high-low), 0), 100) }
	if r.known() {
		value = at(r.Value.Value)
	}
	return value, at(r.Threshold)
}

func percentAcross(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) + "%" }

func (r RuleRow) gaugeLabel(ctx context.Context) string {
	return joined(", ", r.valueWord(ctx), ruleLimit(ctx, r.Rule))
}

func (r RuleRow) gaugeClass() string {
	if r.breaks() {
		return "f-fail"
	}
	return "f-acc"
}

// countWords are what the last 30 days brought: "4 times · 3 acted on".
func (r RuleRow) countWords(ctx context.Context) string {
	if r.Count.Times == 0 {
		return t(ctx, "never")
	}
	return joined(" · ", tn(ctx, "%d times", r.Count.Times), t(ctx, "%s acted on", number(r.Count.Acted)))
}

// A rule is mostly noise when it fired so often and so small a part of it was
// acted on.
const (
	noiseTimes = 5
	noiseShare = 4 // of so many one
)

func (r RuleRow) noisy() bool {
	return r.Count.Times >= noiseTimes && r.Count.Acted*noiseShare < r.Count.Times
}

// id of the row in the page.
func (r RuleRow) rowID() string { return "r-" + strconv.FormatInt(r.ID, 10) }

// switchURL is where the button that throws the switch posts.
func (r RuleRow) switchURL() string {
	if r.Enabled {
		return ruleURL(r.ID) + "/disable"
	}
	return ruleURL(r.ID) + "/enable"
}

// switchVerb is on the button that throws a switch.
func switchVerb(ctx context.Context, on bool) string {
	if on {
		return t(ctx, "Switch off")
	}
	return t(ctx, "Switch on")
}
