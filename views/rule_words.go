package views

import (
	"context"
	"strings"

	"ax/app/alert"
)

// ruleSentence says the whole rule: who is told when.
func ruleSentence(ctx context.Context, r alert.Rule, team string, told []string) string {
	when := ruleCondition(ctx, r, team)
	if r.For > 0 {
		when = t(ctx, "%s, for %s", when, viewer(ctx).Span(r.For))
	}
	if len(told) == 0 {
		return t(ctx, "Tells nobody when %s", when)
	}
	return t(ctx, "Tells %s when %s", listed(ctx, told), when)
}

// listed names several things: "a, b and c".
func listed(ctx context.Context, names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return t(ctx, "%s and %s", strings.Join(names[:last], t(ctx, ", |between names")), names[last])
}

// ruleCondition says when the rule breaks.
func ruleCondition(ctx context.Context, r alert.Rule, team string) string {
	scope, value, window := scopePhrase(ctx, r.Scope, team), measured(ctx, r.Metric, r.Threshold), viewer(ctx).Span(r.Window)
	one := scope
	if r.Scope.Kind != alert.OfTask {
		one = t(ctx, "one of %s", scope)
	}
	switch r.Metric {
	case alert.SuccessRate:
		return t(ctx, "less than %s of the runs of %s succeed over %s", value, scope, window)
	case alert.InARow:
		if r.Threshold == 1 {
			return t(ctx, "%s fails", one)
		}
		return t(ctx, "%s fails %s times in a row", one, value)
	case alert.Failures:
		return t(ctx, "%s fails %s times within %s", one, value, window)
	case alert.MissedRun:
		return t(ctx, "%s is %s late with a success that is expected", one, value)
	case alert.RunTooLong:
		return t(ctx, "%s runs %s as long as it usually does at most", one, value)
	case alert.RunTooShort:
		return t(ctx, "%s succeeds in less than %s of its usual time", one, value)
	case alert.TriggerLag:
		return t(ctx, "1 in 100 starts of %s comes %s late or more over %s", scope, value, window)
	case alert.OpenLetters:
		return t(ctx, "%s or more dead letters of %s are open", value, scope)
	case alert.LetterAge:
		return t(ctx, "a dead letter of %s stays open for %s", scope, value)
	case alert.CalendarEnds:
		return t(ctx, "a calendar of %s has data for less than %s", scope, value)
	}
	return houseCondition(ctx, r, value)
}

func houseCondition(ctx context.Context, r alert.Rule, value string) string {
	switch r.Metric {
	case alert.QueueDepth:
		queue := t(ctx, "one queue")
		if r.Scope.Kind == alert.OfQueue {
			queue = scopePhrase(ctx, r.Scope, "")
		}
		return t(ctx, "%s or more runs wait in %s", value, queue)
	case alert.NotServed:
		return t(ctx, "a due run waits for %s and no node would take it", value)
	case alert.NoExecutor:
		return t(ctx, "nothing was heard of an executor for %s, or a task finds none", value)
	case alert.NodeOffline:
		return t(ctx, "nothing was heard of a node for %s", value)
	case alert.ClockOffset:
		return t(ctx, "the clock of a node is off by %s or more", value)
	case alert.PlanningLate:
		return t(ctx, "a due slot waits to be planned for %s", value)
	case alert.RedisMemory:
		return t(ctx, "Redis uses %s of its memory or more", value)
	case alert.RedisEvicts:
		return t(ctx, "Redis may throw away what it holds")
	}
	return measureName(ctx, r.Metric)
}

// ruleNotes are the small print of the sentence.
func ruleNotes(ctx context.Context, r alert.Rule) (out []string) {
	meter := r.Meter()
	if meter.Least && r.Least > 0 {
		out = append(out, tn(ctx, "It says nothing while fewer than %d runs have ended.", r.Least))
	}
	switch {
	case r.Metric == alert.SuccessRate:
		out = append(out, t(ctx, "Skipped and canceled runs don’t count."))
	case countsTries(r.Metric) && r.EachTry:
		out = append(out, t(ctx, "Every failed attempt counts, also one that a retry makes good."))
	case countsTries(r.Metric):
		out = append(out, t(ctx, "A run counts as failed only after its last retry."))
	}
	if r.Repeat > 0 {
		out = append(out, t(ctx, "Said again every %s until somebody acknowledges.", viewer(ctx).Span(r.Repeat)))
	}
	return out
}
