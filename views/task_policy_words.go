package views

import (
	"context"

	"ax/app/sched"
)

// calendarName is the name of the calendar that the task follows; its code
// when it can't be read.
func calendarName(task sched.Task) string {
	if task.Calendar != nil {
		return task.Calendar.Name
	}
	return task.Spec.Schedule.Calendar
}

// scheduleChips are what bends the plain schedule, a few words each.
func scheduleChips(ctx context.Context, task sched.Task) []string {
	s := task.Spec.Schedule
	var out []string
	if s.Calendar != "" {
		out = append(out, calendarName(task))
	}
	if said := windowSentence(ctx, s); said != "" {
		out = append(out, t(ctx, "in a window"))
	}
	if s.JitterSeconds > 0 {
		out = append(out, t(ctx, "jitter %s", viewer(ctx).Exactly(s.JitterSeconds)))
	}
	return out
}

// overlapWords say what becomes of a slot that finds no free place.
func overlapWords(ctx context.Context, o sched.Overlap) string {
	switch o {
	case sched.OverlapQueue:
		return t(ctx, "Queue: a slot waits until a place is free")
	case sched.OverlapCancel:
		return t(ctx, "Cancel what runs, then start the new slot")
	case sched.OverlapAllow:
		return t(ctx, "Allow: runs go side by side")
	}
	return t(ctx, "Skip: a slot that finds it running is recorded as skipped")
}

// misfireWords say what becomes of slots that are missed.
func misfireWords(ctx context.Context, s sched.Schedule) string {
	grace := duration(ctx, s.Grace())
	switch s.Misfire {
	case sched.SkipAll:
		return t(ctx, "Not made up, grace %s", grace)
	case sched.FireAll:
		most := s.MisfireCap
		if most == 0 {
			most = sched.MisfireCap
		}
		return t(ctx, "Fire all, %d at most, grace %s", most, grace)
	}
	return t(ctx, "Fire once, grace %s", grace)
}

// jitterWords say how far runs are spread, and this task's own share.
func jitterWords(ctx context.Context, task sched.Task) string {
	v := viewer(ctx)
	return t(ctx, "up to %s; this task begins %s after its slots", v.Exactly(task.Spec.Schedule.JitterSeconds), v.Exactly(int(task.Offset().Seconds())))
}
