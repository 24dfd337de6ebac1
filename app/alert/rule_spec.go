package alert

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"ax/app/access"
	"ax/app/fault"
)

// RuleSpec is a rule as it is written in a form or over the API.
type RuleSpec struct {
	Team      string  `json:"team,omitempty"` // code; "": the installation's
	Name      string  `json:"name"`
	Metric    Metric  `json:"metric"` // never changes
	Scope     Scope   `json:"scope,omitzero"`
	Threshold float64 `json:"threshold"`
	Window    int     `json:"window_seconds,omitempty"`
	Least     int     `json:"least,omitempty"`
	For       int     `json:"for_seconds,omitempty"`
	Level     Level   `json:"level"`
	EachTry   bool    `json:"each_try,omitempty"`
	// Nil is what a new rule begins with, and at a change what it was.
	Repeat   *int  `json:"repeat_seconds,omitempty"`
	Recovery *bool `json:"recovery,omitempty"`
	Mention  *bool `json:"mention,omitempty"`
	Enabled  *bool `json:"enabled,omitempty"`

	Version int    `json:"version,omitempty"` // as it was read
	Reason  string `json:"reason,omitempty"`  // kept in the audit
}

// Bounds of a rule besides MaxWindow and MaxFor.
const (
	minWindow = time.Minute
	minRepeat = time.Minute
	maxRepeat = 7 * 24 * time.Hour
	maxLeast  = 1_000_000
)

// Resolve checks a written rule of a team and gives the rule that it describes.
// old is the rule being changed, or the zero Rule; queues are those that there
// are. The error is Invalid with all broken fields.
func (w RuleSpec) Resolve(old Rule, team int64, queues []string) (Rule, error) {
	var bad problems
	r := old
	if old.ID == 0 {
		r = Rule{TeamID: team, Metric: w.Metric}.Default()
	} else if w.Metric != "" && w.Metric != old.Metric {
		bad.add("metric", "The metric of a rule never changes; make a new rule instead")
	}
	r.Name = bad.name(w.Name)
	r.Level, r.Threshold, r.EachTry, r.Least = w.Level, w.Threshold, w.EachTry, w.Least
	setIf(&r.Recovery, w.Recovery)
	setIf(&r.Mention, w.Mention)
	setIf(&r.Enabled, w.Enabled)
	r.For = bad.span("for_seconds", w.For, 0, MaxFor)
	if w.Repeat != nil {
		r.Repeat = bad.repeat(*w.Repeat)
	}
	bad.line("reason", w.Reason, maxReason)
	m, known := MeterOf(r.Metric)
	if !known {
		bad.metric(r.Metric)
		return r, fault.Invalid(bad...)
	}
	if m.House && team != 0 && m.Per != PerQueue {
		bad.add("metric", "%s is of the whole installation: administrators make rules on it", string(m.Metric))
	}
	r.Scope = bad.ruleScope(w.Scope, m, queues)
	bad.threshold(m, w.Threshold)
	r.Window = bad.window(m, w.Window)
	bad.grain(m, w)
	return r, fault.Invalid(bad...)
}

func setIf(to *bool, from *bool) {
	if from != nil {
		*to = *from
	}
}

func (p *problems) repeat(s int) time.Duration {
	if s == 0 {
		return 0
	}
	return p.span("repeat_seconds", s, minRepeat, maxRepeat)
}

func (p *problems) metric(m Metric) {
	if m == "" {
		p.add("metric", "A metric is needed")
		return
	}
	var names []string
	for _, x := range Meters() {
		names = append(names, string(x.Metric))
	}
	p.add("metric", "%q is not one of %s", string(m), strings.Join(names, ", "))
}

// Scopes of a metric: how its rules can name what they look at.
func (m Meter) Scopes() []ScopeKind {
	switch m.Per {
	case PerTask, PerScope, PerCalendar:
		return []ScopeKind{All, OfTag, OfGroup, OfTask}
	case PerQueue:
		return []ScopeKind{All, OfQueue}
	case PerNode, PerHouse, PerExecutor:
	}
	return []ScopeKind{All}
}

func (p *problems) ruleScope(s Scope, m Meter, queues []string) Scope {
	s = p.scope(s, m.Scopes()...)
	if s.Kind == OfQueue && s.Value != "" && len(queues) > 0 && !slices.Contains(queues, s.Value) {
		p.add("scope.value", "There is no queue %q; there are: %s", s.Value, strings.Join(queues, ", "))
	}
	return s
}

// Range of a metric's thresholds, both ends included; whole says that there is
// nothing between two whole numbers.
func (m Meter) Range() (least, most float64, whole bool) {
	switch m.Unit {
	case Count:
		return 1, 10_000_000, true
	case Percent:
		return 0.1, 100, false
	case Seconds:
		return 0.1, 86_400, false
	case Minutes:
		return 1, 7 * 24 * 60, false
	case Hours:
		return 0.1, 365 * 24, false
	case Days:
		return 1, 366, true
	case Factor:
		if m.Below {
			return 0.01, 0.99, false
		}
		return 1.1, 1000, false
	case Yes:
	}
	return 1, 1, true
}

func (p *problems) threshold(m Meter, v float64) {
	least, most, whole := m.Range()
	switch {
	case math.IsNaN(v) || v < least || v > most:
		p.add("threshold", "Between %s and %s; this is %s", plainNumber(least), plainNumber(most), plainNumber(v))
	case whole && v != math.Trunc(v):
		p.add("threshold", "A whole number is needed; this is %s", plainNumber(v))
	}
}

func plainNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func (p *problems) window(m Meter, s int) time.Duration {
	switch {
	case !m.Windowed && s != 0:
		p.add("window_seconds", "This metric looks back over no window: leave it out")
		return 0
	case !m.Windowed:
		return 0
	case s%60 != 0:
		p.add("window_seconds", "Whole minutes are needed; %d seconds are not", s)
		return 0
	}
	return p.span("window_seconds", s, minWindow, MaxWindow)
}

// grain checks what only some metrics know of.
func (p *problems) grain(m Meter, w RuleSpec) {
	switch {
	case !m.Least && w.Least != 0:
		p.add("least", "This metric does not rest on a number of runs: leave it out")
	case w.Least < 0 || w.Least > maxLeast:
		p.add("least", "Between %d and %d; this is %d", 0, maxLeast, w.Least)
	}
	if m.Per == PerTask {
		oneOf(p, "level", w.Level, P1, P2, ByTask)
	} else {
		oneOf(p, "level", w.Level, P1, P2)
	}
	if w.EachTry && !m.Tries() {
		p.add("each_try", "Only failures in a row and failures in a window can count every attempt")
	}
}

// Tries tells whether rules on the metric can count every failed attempt.
func (m Meter) Tries() bool { return m.Metric == InARow || m.Metric == Failures }

// Object of the rule in an audit row.
func (r Rule) Object() access.Object { return object("rule", r.ID, r.Name) }

func object(kind string, id int64, name string) access.Object {
	o := access.Object{Kind: kind, Name: name}
	if id != 0 {
		o.ID = strconv.FormatInt(id, 10)
	}
	return o
}

// diffRules lists the fields in which two rules differ.
func diffRules(was, is Rule) []access.Change {
	var c []access.Change
	yes := strconv.FormatBool
	c = differ(c, "name", was.Name, is.Name)
	c = differ(c, "metric", string(was.Metric), string(is.Metric))
	c = differ(c, "scope", was.Scope.String(), is.Scope.String())
	c = differ(c, "threshold", plainNumber(was.Threshold), plainNumber(is.Threshold))
	c = differ(c, "window_seconds", seconds(was.Window), seconds(is.Window))
	c = differ(c, "least", strconv.Itoa(was.Least), strconv.Itoa(is.Least))
	c = differ(c, "for_seconds", seconds(was.For), seconds(is.For))
	c = differ(c, "level", string(was.Level), string(is.Level))
	c = differ(c, "each_try", yes(was.EachTry), yes(is.EachTry))
	c = differ(c, "repeat_seconds", seconds(was.Repeat), seconds(is.Repeat))
	c = differ(c, "recovery", yes(was.Recovery), yes(is.Recovery))
	c = differ(c, "mention", yes(was.Mention), yes(is.Mention))
	return differ(c, "enabled", yes(was.Enabled), yes(is.Enabled))
}
