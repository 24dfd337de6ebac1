package views

import (
	"context"

	"ax/app/alert"
)

// incidentTitle says what is wrong in one line: "40 tasks fail at
// pay-gw.internal", "Queue default: 12,400 due, 10,000 or more".
func incidentTitle(ctx context.Context, i alert.Incident) string {
	said := incidentWhat(ctx, i)
	if i.Host != "" {
		return t(ctx, "%s at %s|what fails, host", said, i.Host)
	}
	return said
}

func incidentWhat(ctx context.Context, i alert.Incident) string {
	n := len(i.Members)
	if i.State == alert.Over {
		n = max(n, i.Everyone)
	}
	if n > 1 {
		return manyWords(ctx, i, n)
	}
	name := ""
	if len(i.Members) > 0 {
		name = subjectName(ctx, i.Members[0].Subject)
	}
	return oneWords(ctx, i, name, inUnit(ctx, i.Metric, shownValueOf(i)))
}

// shownValueOf is the value that people look at: the present one, and of what
// is over the worst.
func shownValueOf(i alert.Incident) float64 {
	if i.State == alert.Over {
		return i.Worst
	}
	return i.Value
}

func manyWords(ctx context.Context, i alert.Incident, n int) string {
	switch i.Metric {
	case alert.InARow, alert.Failures:
		return tn(ctx, "%d tasks fail", n)
	case alert.MissedRun:
		return tn(ctx, "%d tasks missed their run", n)
	case alert.RunTooLong:
		return tn(ctx, "%d tasks run too long", n)
	case alert.RunTooShort:
		return tn(ctx, "%d tasks ran too short", n)
	case alert.QueueDepth:
		return tn(ctx, "%d queues are behind", n)
	case alert.NotServed:
		return tn(ctx, "No node serves %d queues", n)
	case alert.NoExecutor:
		return tn(ctx, "%d executors are offline", n)
	case alert.NodeOffline:
		return tn(ctx, "%d nodes are offline", n)
	case alert.ClockOffset:
		return tn(ctx, "The clocks of %d nodes are off", n)
	case alert.CalendarEnds:
		return tn(ctx, "%d calendars run out of data", n)
	}
	return t(ctx, "%s: %s", ruleName(ctx, i.RuleName), number(n))
}

func oneWords(ctx context.Context, i alert.Incident, name, value string) string {
	switch i.Metric {
	case alert.InARow:
		return t(ctx, "%s failed %s times in a row", name, value)
	case alert.Failures:
		return t(ctx, "%s failed %s times", name, value)
	case alert.SuccessRate:
		return t(ctx, "Success rate %s, %s", value, limitWords(ctx, i.Metric, i.Threshold))
	case alert.TriggerLag:
		return t(ctx, "Runs begin %s late", value)
	case alert.MissedRun:
		return t(ctx, "%s missed its run by %s", name, value)
	case alert.RunTooLong:
		return t(ctx, "%s runs %s its usual time", name, value)
	case alert.RunTooShort:
		return t(ctx, "%s took only %s its usual time", name, value)
	case alert.OpenLetters:
		return t(ctx, "%s open dead letters", value)
	case alert.LetterAge:
		return t(ctx, "A dead letter has been open for %s", value)
	case alert.QueueDepth:
		return t(ctx, "Queue %s: %s due, %s", name, value, limitWords(ctx, i.Metric, i.Threshold))
	}
	return houseWords(ctx, i, name, value)
}

func houseWords(ctx context.Context, i alert.Incident, name, value string) string {
	switch i.Metric {
	case alert.NotServed:
		return t(ctx, "No node serves the queue %s: work waits for %s", name, value)
	case alert.NoExecutor:
		return t(ctx, "Executor %s is offline", name)
	case alert.NodeOffline:
		return t(ctx, "Node %s is offline", name)
	case alert.ClockOffset:
		return t(ctx, "The clock of %s is off by %s", name, value)
	case alert.PlanningLate:
		return t(ctx, "Nothing has been planned for %s", value)
	case alert.RedisMemory:
		return t(ctx, "Redis memory is %s full", value)
	case alert.RedisEvicts:
		return t(ctx, "Redis may throw away what it holds")
	case alert.CalendarEnds:
		return t(ctx, "Calendar %s has data for %s more", name, value)
	}
	return t(ctx, "%s: %s", ruleName(ctx, i.RuleName), value)
}

// againstLimit is value against threshold: "97.84 %, under 99 %".
func againstLimit(ctx context.Context, m alert.Metric, value, threshold float64) string {
	return t(ctx, "%s, limit %s|value, threshold", inUnit(ctx, m, value), limitWords(ctx, m, threshold))
}
