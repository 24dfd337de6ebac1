package sched

import (
	"context"
	"time"

	"ax/app/access"
	"ax/app/calendar"
)

// effectSteps is how many slots and days an Effect looks at: a tenth of a
// second.
const effectSteps = 20_000

// CalendarEffect is what changed days of a calendar mean for coming slots. Cut:
// not all tasks, days or slots were looked at, so there may be more.
type CalendarEffect struct {
	Slots, Tasks int
	Cut          bool
}

// Effect counts the coming slots of tasks that the actor sees that fall on days
// that are run on no longer, or from now on.
func (o *Outlook) Effect(ctx context.Context, by access.Actor, was, next *calendar.Calendar, changed []calendar.DayChange) (CalendarEffect, error) {
	tasks, err := o.store.CalendarTasks(ctx, by.Scope(), was.Code, outlookTasks+1)
	if err != nil {
		return CalendarEffect{}, err
	}
	var out CalendarEffect
	if len(tasks) > outlookTasks {
		tasks, out.Cut = tasks[:outlookTasks], true
	}
	steps := effectSteps
	for _, t := range tasks {
		n := t.slotsOn(was, next, changed, o.clock.Now(), &steps)
		if out.Slots += n; n > 0 {
			out.Tasks++
		}
	}
	out.Cut = out.Cut || steps <= 0
	return out, nil
}

// slotsOn counts the slots after now on the changed days of which the calendar
// says something else than before, for as long as steps last.
func (t Task) slotsOn(was, next *calendar.Calendar, changed []calendar.DayChange, now time.Time, steps *int) (n int) {
	times, err := t.Spec.Schedule.Times(was)
	if err != nil || times.days == nil || t.Spec.Schedule.FixedDelay {
		return 0 // it has no slots that are known before
	}
	old, after := times.days, *times.days
	after.cal = next
	for _, c := range changed {
		if c.Day < old.day(now) || old.allows(c.Day) == after.allows(c.Day) {
			continue
		}
		slot, ok := old.slotOn(c.Day, now)
		for *steps--; ok && *steps > 0 && old.day(slot) == c.Day; *steps-- {
			if times.Within(slot) {
				n++
			}
			slot, ok = old.raw.Next(slot)
		}
		if *steps <= 0 {
			return n
		}
	}
	return n
}
