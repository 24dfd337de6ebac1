package views

import (
	"context"

	"ax/app/alert"
	"ax/views/ui"
)

// measure is what a person reads of a metric: its name, and what it means in
// one line.
type measure struct{ name, say string }

// measures are the metrics in plain words.
var measures = map[alert.Metric]measure{
	alert.SuccessRate:  {msg("Success rate"), msg("How many of the runs that ended succeeded. Skipped and canceled runs don’t count.")},
	alert.InARow:       {msg("Failures in a row"), msg("How often a task has failed since it last succeeded.")},
	alert.Failures:     {msg("Failures in a window"), msg("How often a task has failed in a stretch of time, also with successes between.")},
	alert.MissedRun:    {msg("Expected run missing"), msg("By how many minutes the next success of a task is late.")},
	alert.RunTooLong:   {msg("Run too long"), msg("How many times as long a run takes as 95 of 100 of the task’s runs did.")},
	alert.RunTooShort:  {msg("Run too short"), msg("Which part of its usual time a run took that succeeded: it may have done nothing.")},
	alert.TriggerLag:   {msg("Trigger lag"), msg("How late runs start: 99 of 100 start sooner.")},
	alert.OpenLetters:  {msg("Open dead letters"), msg("How many dead letters nobody has closed.")},
	alert.LetterAge:    {msg("Age of dead letters"), msg("How many hours the oldest open dead letter waits.")},
	alert.CalendarEnds: {msg("Calendar without data"), msg("For how many days a calendar that tasks follow still has data.")},
	alert.NoExecutor:   {msg("Executor offline"), msg("For how many seconds nothing was heard of an executor that did not leave, or a task names one of which none is online.")},
	alert.QueueDepth:   {msg("Queue depth"), msg("How many runs of a queue are due and have not begun, by the ledger: also while Redis is away.")},
	alert.NotServed:    {msg("No node serves it"), msg("For how many seconds the oldest due run of a queue, and of the labels that its task needs, waits while no node would take it.")},
	alert.NodeOffline:  {msg("Node offline"), msg("For how many seconds nothing was heard of a node that did not stop in order.")},
	alert.ClockOffset:  {msg("Clock offset"), msg("By how many seconds the clock of a node differs from the ledger’s.")},
	alert.PlanningLate: {msg("Nothing planned"), msg("For how many seconds a due slot waits to be planned.")},
	alert.RedisMemory:  {msg("Redis memory"), msg("How much of the memory that Redis may use is in use.")},
	alert.RedisEvicts:  {msg("Redis may evict"), msg("Whether Redis is set up to throw away what it holds when memory runs out.")},
}

// measureName is the metric's name.
func measureName(ctx context.Context, m alert.Metric) string {
	x, ok := measures[m]
	if !ok {
		return string(m)
	}
	return t(ctx, x.name)
}

// measureSay is what the metric means, in one line.
func measureSay(ctx context.Context, m alert.Metric) string { return t(ctx, measures[m].say) }

// optionGroup is a part of a list to choose from.
type optionGroup struct {
	Label   string
	Options []ui.Option
}

// measureGroups are the metrics to choose from; those of the installation only
// where its rules are made.
func measureGroups(ctx context.Context, house bool) []optionGroup {
	groups := []struct {
		label string
		of    []alert.Metric
	}{
		{msg("Runs of tasks"), []alert.Metric{alert.SuccessRate, alert.InARow, alert.Failures, alert.MissedRun, alert.RunTooLong, alert.RunTooShort}},
		{msg("Lateness and load"), []alert.Metric{alert.TriggerLag, alert.QueueDepth, alert.NotServed, alert.NoExecutor}},
		{msg("Dead letters and calendars"), []alert.Metric{alert.OpenLetters, alert.LetterAge, alert.CalendarEnds}},
		{msg("The installation"), []alert.Metric{alert.NodeOffline, alert.ClockOffset, alert.PlanningLate, alert.RedisMemory, alert.RedisEvicts}},
	}
	var out []optionGroup
	for _, g := range groups {
		x := optionGroup{Label: t(ctx, g.label)}
		for _, m := range g.of {
			if meter, _ := alert.MeterOf(m); house || !meter.House || meter.Per == alert.PerQueue {
				x.Options = append(x.Options, ui.Option{Value: string(m), Label: measureName(ctx, m)})
			}
		}
		if len(x.Options) > 0 {
			out = append(out, x)
		}
	}
	return out
}

// unitWord is the unit that a threshold is typed in; "" needs none.
func unitWord(ctx context.Context, u alert.Unit) string {
	switch u {
	case alert.Percent:
		return t(ctx, "in percent")
	case alert.Seconds:
		return t(ctx, "in seconds")
	case alert.Minutes:
		return t(ctx, "in minutes")
	case alert.Hours:
		return t(ctx, "in hours")
	case alert.Days:
		return t(ctx, "in days")
	case alert.Factor:
		return t(ctx, "times the usual")
	case alert.Count, alert.Yes:
	}
	return ""
}

// measured is a value of the metric with its unit.
func measured(ctx context.Context, m alert.Metric, v float64) string {
	meter, _ := alert.MeterOf(m)
	return alert.Show(viewer(ctx).Lang, meter.Unit, v)
}

// levelName is how loud a rule is, in words.
func levelName(ctx context.Context, l alert.Level) string {
	switch l {
	case alert.P1:
		return t(ctx, "P1, wakes people")
	case alert.P2:
		return t(ctx, "P2, can wait for the morning")
	case alert.ByTask:
		return t(ctx, "As the task says")
	}
	return string(l)
}

// ruleTitle is the rule's name; those that ax began with are in the viewer's
// language.
func ruleTitle(ctx context.Context, name string) string {
	return alert.RuleName(viewer(ctx).Lang, name)
}

// scopePhrase says what a rule looks at, for use in a sentence. team is a name,
// or empty for the installation.
func scopePhrase(ctx context.Context, s alert.Scope, team string) string {
	switch {
	case s.Kind == alert.OfTask:
		return t(ctx, "the task %s", s.Value)
	case s.Kind == alert.OfQueue:
		return t(ctx, "the queue %s", s.Value)
	case s.Kind == alert.OfTag && team == "":
		return t(ctx, "tasks of all teams tagged %s", s.Value)
	case s.Kind == alert.OfTag:
		return t(ctx, "tasks of %s tagged %s", team, s.Value)
	case s.Kind == alert.OfGroup && team == "":
		return t(ctx, "tasks of all teams in the group %s", s.Value)
	case s.Kind == alert.OfGroup:
		return t(ctx, "tasks of %s in the group %s", team, s.Value)
	case team == "":
		return t(ctx, "all tasks of all teams")
	}
	return t(ctx, "all tasks of %s", team)
}
