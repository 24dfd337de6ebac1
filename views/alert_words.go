package views

import (
	"context"
	"strings"
	"time"

	"ax/app/alert"
	"ax/views/ui"
)

// meterOf is what is to be known of a metric; of one that this version doesn't
// know, a plain count.
func meterOf(m alert.Metric) alert.Meter {
	if meter, ok := alert.MeterOf(m); ok {
		return meter
	}
	return alert.Meter{Metric: m, Unit: alert.Count}
}

// inUnit words a value of a metric in its unit, as short as it stays exact.
func inUnit(ctx context.Context, m alert.Metric, value float64) string {
	unit := meterOf(m).Unit
	if span, ok := spanOf(unit, value); ok {
		if span < time.Second {
			return duration(ctx, span)
		}
		if span >= 2*time.Minute {
			return viewer(ctx).Span(span)
		}
	}
	return alert.Show(viewer(ctx).Lang, unit, value)
}

// spanOf is a value of a unit of time as a duration.
func spanOf(unit alert.Unit, value float64) (time.Duration, bool) {
	per, ok := map[alert.Unit]time.Duration{alert.Seconds: time.Second, alert.Minutes: time.Minute, alert.Hours: time.Hour}[unit]
	if !ok || value < 0 || value > 1e9 {
		return 0, false
	}
	return time.Duration(value * float64(per)), true
}

// limitWords say where a metric is too much: "under 95 %", "3 or more".
func limitWords(ctx context.Context, m alert.Metric, threshold float64) string {
	value := inUnit(ctx, m, threshold)
	switch m {
	case alert.RunTooLong:
		return t(ctx, "past %s the usual P95", value)
	case alert.RunTooShort:
		return t(ctx, "under %s the usual P50", value)
	case alert.RedisEvicts:
		return t(ctx, "if it may")
	}
	if meterOf(m).Below {
		return t(ctx, "under %s", value)
	}
	return t(ctx, "%s or more", value)
}

// ruleLimit also says over which time and for how long: "under 95 % in 1 h,
// for 1 min".
func ruleLimit(ctx context.Context, r alert.Rule) string {
	said := limitWords(ctx, r.Metric, r.Threshold)
	if r.Meter().Windowed && r.Window > 0 {
		said = t(ctx, "%s in %s|limit, window", said, duration(ctx, r.Window))
	}
	if r.For > 0 {
		said = t(ctx, "%s, for %s|limit, how long", said, duration(ctx, r.For))
	}
	return said
}

// scopeWords say what a scope covers.
func scopeWords(ctx context.Context, s alert.Scope) string {
	switch s.Kind {
	case alert.OfTag:
		return t(ctx, "tagged %s", s.Value)
	case alert.OfGroup:
		return t(ctx, "group %s", s.Value)
	case alert.OfTask:
		return t(ctx, "task %s", s.Value)
	case alert.OfQueue:
		return t(ctx, "queue %s", s.Value)
	}
	return t(ctx, "all tasks")
}

// ruleScope says what a rule watches, by the grain of its metric.
func ruleScope(ctx context.Context, r alert.Rule) string {
	if r.Scope.Kind != alert.All && r.Scope.Kind != "" {
		return scopeWords(ctx, r.Scope)
	}
	switch r.Meter().Per {
	case alert.PerTask:
		return t(ctx, "each task")
	case alert.PerQueue:
		return t(ctx, "each queue")
	case alert.PerNode:
		return t(ctx, "each node")
	case alert.PerExecutor:
		return t(ctx, "each executor")
	case alert.PerCalendar:
		return t(ctx, "each calendar")
	case alert.PerHouse:
		return t(ctx, "the installation")
	}
	return t(ctx, "all tasks together")
}

// subjectName is what people call a subject.
func subjectName(ctx context.Context, s alert.Subject) string {
	name := s.Name
	if name == "" {
		name = s.Key
	}
	if s.Kind != alert.ScopeSubject {
		return name
	}
	kind, value, _ := strings.Cut(s.Key, ":")
	return scopeWords(ctx, alert.Scope{Kind: alert.ScopeKind(kind), Value: value})
}

// subjectURL is the page of a subject; "" when it has none.
func subjectURL(s alert.Subject) string {
	switch s.Kind {
	case alert.TaskSubject:
		return taskURL(s.Key)
	case alert.QueueSubject:
		return "/queues"
	case alert.NodeSubject, alert.ExecutorSubject:
		return "/nodes"
	case alert.CalendarSubject:
		return calendarURL(s.Key)
	case alert.ScopeSubject:
		return "/instances"
	}
	return "/queues"
}

// ruleName is a rule's name, in the viewer's language while it is a default one.
func ruleName(ctx context.Context, name string) string { return alert.RuleName(viewer(ctx).Lang, name) }

// levelWord is P1 or P2, or of rules "by task".
func levelWord(ctx context.Context, l alert.Level) string {
	if l == alert.ByTask {
		return t(ctx, "by task|level")
	}
	return strings.ToUpper(string(l))
}

// incidentLooks are where an incident stands, for people.
var incidentLooks = map[string]look{
	"firing":   {"bell", "fail", msg("Firing")},
	"acked":    {"eye", "run", msg("Acknowledged")},
	"silenced": {"volume-off", "idle", msg("Silenced")},
	"quiet":    {"circle-check", "ok", msg("Quiet now")},
	"pending":  {"hourglass", "idle", msg("Not yet long enough")},
	"over":     {"circle-check", "ok", msg("Over|incident")},
}

// standing is the key of an incident's look.
func standing(i alert.Incident) string {
	switch {
	case i.State == alert.Over:
		return "over"
	case i.State == alert.Pending:
		return "pending"
	case !i.QuietSince.IsZero():
		return "quiet"
	case i.Acked():
		return "acked"
	case i.Silenced:
		return "silenced"
	}
	return "firing"
}

func incidentState(ctx context.Context, i alert.Incident) ui.State {
	return lookUp(ctx, incidentLooks, standing(i))
}

// answerWords are what the receiver said: its own code where it has one.
func answerWords(a alert.Answer) string {
	status := ""
	if a.Status != 0 {
		status = number(a.Status)
	}
	if a.Code != "" && a.Code != "0" {
		status = a.Code
	}
	return joined(" · ", status, a.Body)
}

// channelTitle is kind and name: "Feishu 支付值班群".
func channelTitle(ctx context.Context, c alert.Channel) string {
	return joined(" ", kindName(ctx, c.Kind), c.Name)
}
