package app

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"ax/app/alert"
	"ax/views"
)

// newRule is what the form of a new rule on a metric begins with: the default
// rule on it, where there is one.
func newRule(m alert.Metric) alert.Rule {
	meter, ok := alert.MeterOf(m)
	if !ok {
		m = alert.InARow
		meter, _ = alert.MeterOf(m)
	}
	r := alert.Rule{Metric: m, Level: alert.P2, Threshold: startThreshold(meter)}
	for _, known := range slices.Concat(alert.TeamDefaults(), alert.HouseDefaults()) {
		if known.Metric == m {
			r = known
			break
		}
	}
	if meter.Windowed && r.Window == 0 {
		r.Window = time.Hour
	}
	r.Name = ""
	return r.Default()
}

// startThreshold is a number that a metric without a default rule begins with.
func startThreshold(m alert.Meter) float64 {
	switch m.Metric {
	case alert.LetterAge:
		return 24
	case alert.RunTooShort:
		return 0.1
	}
	return 3
}

func plainFloat(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func wholeSeconds(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }

// ruleValues are the fields of a rule as it is.
func ruleValues(r alert.Rule) views.RuleValues {
	return views.RuleValues{
		Name: r.Name, Metric: r.Metric, ScopeKind: cmp.Or(r.Scope.Kind, alert.All), ScopeValue: r.Scope.Value, Threshold: plainFloat(r.Threshold),
		Least: strconv.Itoa(r.Least), Window: wholeSeconds(r.Window), For: wholeSeconds(r.For), Repeat: wholeSeconds(r.Repeat), Level: r.Level,
		EachTry: r.EachTry, Recovery: r.Recovery, Mention: r.Mention, Enabled: r.Enabled, Version: r.Version,
	}
}

// typedRule are the fields as they were typed. Those that the metric doesn't
// know are left out; of another metric than the fields were made for, its own
// numbers are taken.
func (f *form) typedRule(stored alert.Rule) views.RuleValues {
	v := views.RuleValues{
		Name: f.text("name"), Metric: alert.Metric(f.text("metric")), ScopeKind: alert.ScopeKind(f.text("scope.kind")), ScopeValue: f.text("scope.value"),
		Threshold: f.text("threshold"), Least: f.text("least"), Window: f.text("window_seconds"), For: f.text("for_seconds"),
		Repeat: f.text("repeat_seconds"), Level: alert.Level(f.text("level")), EachTry: f.has("measured") && !f.ticked("last_try"),
		Recovery: f.ticked("recovery"), Mention: f.ticked("mention"), Enabled: f.ticked("enabled"), Reason: f.text("reason"), Version: f.number("version"),
	}
	if stored.ID != 0 {
		v.Metric, v.Enabled = stored.Metric, stored.Enabled
	}
	for _, id := range f.all("tell") {
		v.Tell = append(v.Tell, views.RuleTell{ChannelID: id, After: cmp.Or(f.text("after."+id), "0")})
	}
	if was := f.text("measured"); was != "" && was != string(v.Metric) {
		fresh := ruleValues(newRule(v.Metric))
		v.Threshold, v.Least, v.Window, v.For, v.Level, v.EachTry = fresh.Threshold, fresh.Least, fresh.Window, fresh.For, fresh.Level, false
	}
	return fitted(v)
}

// fitted leaves out what the metric doesn't know.
func fitted(v views.RuleValues) views.RuleValues {
	m, _ := alert.MeterOf(v.Metric)
	if !slices.Contains(m.Scopes(), v.ScopeKind) {
		v.ScopeKind = alert.All
	}
	if !m.Tries() {
		v.EachTry = false
	}
	if m.Per != alert.PerTask && v.Level == alert.ByTask {
		v.Level = alert.P2
	}
	return v
}

// ruleSpec is the rule that the fields describe; what can't be read is noted.
func (f *form) ruleSpec(v views.RuleValues, team string) alert.RuleSpec {
	m, _ := alert.MeterOf(v.Metric)
	repeat := f.secondsOf("repeat_seconds", v.Repeat)
	w := alert.RuleSpec{
		Team: team, Name: v.Name, Metric: v.Metric, Scope: alert.Scope{Kind: v.ScopeKind, Value: v.ScopeValue}, Threshold: f.decimal("threshold", v.Threshold),
		For: f.secondsOf("for_seconds", v.For), Level: v.Level, EachTry: v.EachTry, Repeat: &repeat, Recovery: &v.Recovery, Mention: &v.Mention,
		Enabled: &v.Enabled, Version: v.Version, Reason: v.Reason,
	}
	if v.ScopeKind == alert.All {
		w.Scope.Value = ""
	}
	if m.Windowed {
		w.Window = f.secondsOf("window_seconds", v.Window)
	}
	if m.Least {
		w.Least = f.secondsOf("least", v.Least)
	}
	return w
}

// secondsOf reads a whole number; empty is 0.
func (f *form) secondsOf(name, typed string) int {
	if typed == "" {
		return 0
	}
	n, err := strconv.Atoi(typed)
	if err != nil {
		f.refuse(name, "%q is not a whole number", clip(typed, 30))
	}
	return n
}

// decimal reads a number as people write it: 99 %, 10,000, 0.5.
func (f *form) decimal(name, typed string) float64 {
	v, err := strconv.ParseFloat(strings.Trim(strings.ReplaceAll(typed, ",", ""), " %×"), 64)
	if err != nil {
		f.refuse(name, "%q is not a number", clip(typed, 30))
		return 0
	}
	return v
}

// ruleQuery is the address of the form with other numbers.
func ruleQuery(path, team string, v views.RuleValues, r alert.Rule) string {
	q := url.Values{
		"team": {team}, "name": {v.Name}, "metric": {string(v.Metric)}, "measured": {string(v.Metric)}, "scope.kind": {string(v.ScopeKind)}, "scope.value": {v.ScopeValue},
		"threshold": {plainFloat(r.Threshold)}, "window_seconds": {wholeSeconds(r.Window)}, "least": {v.Least}, "for_seconds": {v.For}, "repeat_seconds": {v.Repeat},
		"level": {string(v.Level)}, "version": {strconv.Itoa(v.Version)},
	}
	for name, on := range map[string]bool{"last_try": !v.EachTry, "recovery": v.Recovery, "mention": v.Mention, "enabled": v.Enabled} {
		if on {
			q.Set(name, "true")
		}
	}
	for _, x := range v.Tell {
		q.Add("tell", x.ChannelID)
		q.Set("after."+x.ChannelID, x.After)
	}
	return path + "?" + q.Encode()
}
