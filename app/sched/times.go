package sched

import (
	"errors"
	"time"

	"ax/app/calendar"
	"ax/app/cron"
	"ax/app/fault"
)

// runYears is how far a run is looked for beyond days off.
const runYears = 10

// Times answers when a schedule's slots are. All instants are UTC. Slots on
// days off are slots too: Off tells them, NextRun passes them over.
type Times struct {
	raw  rawTimes
	days *days // nil: no calendar
	from time.Time
	to   time.Time // zero: no end
}

// rawTimes are the slots of a kind of schedule, without calendar and bounds.
type rawTimes interface {
	Next(t time.Time) (time.Time, bool)
	Prev(t time.Time) (time.Time, bool)
	Wants(t time.Time) bool
}

// Times compiles the schedule; c is the calendar that it names, nil when it
// names none. The error is a fault (Invalid) that names the field; a stored
// schedule gives one only if the rules changed since, or its calendar is gone.
func (s Schedule) Times(c *calendar.Calendar) (Times, error) {
	times := Times{raw: never{}, from: s.StartAt, to: s.EndAt}
	var err error
	switch s.Kind {
	case KindCron:
		times.raw, err = s.cronTimes()
	case KindInterval:
		if s.EverySeconds < 1 || s.Anchor.IsZero() {
			return times, fault.Invalid(fault.Field("schedule.every_seconds", "An interval needs a period of at least 1 second"))
		}
		r := rate{anchor: s.Anchor, every: time.Duration(s.EverySeconds) * time.Second}
		times.raw = r
		if s.FixedDelay {
			times.raw = delayed(r)
		}
	case KindOnce:
		times.raw = once(ceilSecond(s.RunAt))
	default:
	}
	if err == nil && s.Calendar != "" {
		times.days, err = s.days(c, times.raw)
	}
	return times, err
}

// Times compiles the task's schedule with its calendar.
func (t Task) Times() (Times, error) { return t.Spec.Schedule.Times(t.Calendar) }

// Next is the first slot strictly after t; ok is false when there is none.
func (w Times) Next(t time.Time) (slot time.Time, ok bool) {
	if before := w.from.Add(-time.Millisecond); !w.from.IsZero() && t.Before(before) {
		t = before
	}
	slot, ok = w.next(t)
	if !ok || !w.to.IsZero() && slot.After(w.to) {
		return time.Time{}, false
	}
	return slot, true
}

func (w Times) next(t time.Time) (time.Time, bool) {
	if w.days != nil {
		return w.days.next(t)
	}
	return w.raw.Next(t)
}

// Prev is the last slot strictly before t.
func (w Times) Prev(t time.Time) (slot time.Time, ok bool) {
	if after := w.to.Add(time.Millisecond); !w.to.IsZero() && t.After(after) {
		t = after
	}
	if w.days != nil {
		slot, ok = w.days.prev(t)
	} else {
		slot, ok = w.raw.Prev(t)
	}
	if !ok || slot.Before(w.from) {
		return time.Time{}, false
	}
	return slot, true
}

// Wants tells whether t is exactly a slot that is to run.
func (w Times) Wants(t time.Time) bool {
	if t.Before(w.from) || !w.to.IsZero() && t.After(w.to) {
		return false
	}
	if w.days != nil {
		return w.days.wants(t)
	}
	return w.raw.Wants(t)
}

// Off tells whether the slot t lies on a day that the schedule doesn't run on.
func (w Times) Off(t time.Time) bool { return w.days != nil && w.days.off(t) }

// NextRun is the first slot strictly after t that is not on a day off. It
// passes over days off of runYears at most.
func (w Times) NextRun(t time.Time) (slot time.Time, ok bool) {
	until := t.AddDate(runYears, 0, 0)
	for {
		if slot, ok = w.Next(t); !ok || !w.Off(slot) {
			return slot, ok
		}
		day, ok := w.days.after(slot, until)
		if !ok {
			return time.Time{}, false
		}
		t = latest(slot, w.days.begin(day).Add(-time.Millisecond))
	}
}

// prevRun is the last slot strictly before t that is not on a day off, and not
// before since.
func (w Times) prevRun(t, since time.Time) (slot time.Time, ok bool) {
	for {
		if slot, ok = w.Prev(t); !ok || slot.Before(since) {
			return time.Time{}, false
		}
		if !w.Off(slot) {
			return slot, true
		}
		day, ok := w.days.before(slot, since)
		if !ok {
			return time.Time{}, false
		}
		t = minTime(slot, w.days.begin(day+1))
	}
}

func (s Schedule) cronTimes() (rawTimes, error) {
	var bad []fault.FieldError
	expr, err := cron.Parse(s.Cron)
	if err != nil {
		bad = append(bad, cronField("schedule.cron", err))
	}
	zone, err := cron.LoadZone(s.Timezone)
	if err != nil {
		bad = append(bad, cronField("schedule.timezone", err))
	}
	if len(bad) > 0 {
		return nil, fault.Invalid(bad...)
	}
	if every, ok := expr.Every(); ok && !s.Anchor.IsZero() {
		return rate{anchor: s.Anchor, every: every}, nil
	}
	return cronTimes{expr: expr, zone: zone}, nil
}

// cronField puts an error of the cron package at its field.
func cronField(name string, err error) fault.FieldError {
	if e, ok := errors.AsType[*cron.Error](err); ok {
		return fault.FieldError{Name: name, Text: fault.Text{Format: e.Format, Args: e.Args}}
	}
	return fault.Field(name, "This cannot be read")
}

type cronTimes struct {
	expr cron.Expr
	zone *time.Location
}

func (c cronTimes) Next(t time.Time) (time.Time, bool) { return c.expr.Next(t, c.zone) }
func (c cronTimes) Prev(t time.Time) (time.Time, bool) { return c.expr.Prev(t, c.zone) }
func (c cronTimes) Wants(t time.Time) bool             { return c.expr.Matches(t, c.zone) }

// rate has slots at anchor + k × every, k ≥ 0.
type rate struct {
	anchor time.Time
	every  time.Duration
}

func (r rate) Next(t time.Time) (time.Time, bool) {
	if t.Before(r.anchor) {
		return r.anchor, true
	}
	return r.anchor.Add((t.Sub(r.anchor)/r.every + 1) * r.every), true
}

func (r rate) Prev(t time.Time) (time.Time, bool) {
	if !t.After(r.anchor) {
		return time.Time{}, false
	}
	return r.anchor.Add((t.Sub(r.anchor) - 1) / r.every * r.every), true
}

func (r rate) Wants(t time.Time) bool {
	return !t.Before(r.anchor) && t.Sub(r.anchor)%r.every == 0
}

// delayed is the fixed delay: only its first slot is known, each other one
// follows the end of the run before (planDelayed).
type delayed rate

func (d delayed) Next(t time.Time) (time.Time, bool) { return d.anchor, d.anchor.After(t) }
func (d delayed) Prev(t time.Time) (time.Time, bool) { return d.anchor, d.anchor.Before(t) }
func (d delayed) Wants(t time.Time) bool             { return !t.Before(d.anchor) }

type once time.Time

func (o once) Next(t time.Time) (time.Time, bool) { return time.Time(o), time.Time(o).After(t) }
func (o once) Prev(t time.Time) (time.Time, bool) { return time.Time(o), time.Time(o).Before(t) }
func (o once) Wants(t time.Time) bool             { return time.Time(o).Equal(t) }

// never is the schedule of tasks that run on request only.
type never struct{}

func (never) Next(time.Time) (time.Time, bool) { return time.Time{}, false }
func (never) Prev(time.Time) (time.Time, bool) { return time.Time{}, false }
func (never) Wants(time.Time) bool             { return false }

// firstFrom is the first slot at or after t; zero when there is none.
func firstFrom(times Times, t time.Time) time.Time {
	slot, ok := times.Next(t.Add(-time.Millisecond))
	if !ok {
		return time.Time{}
	}
	return slot
}

// SlotBizID names the business action of a slot.
func SlotBizID(slot time.Time) string { return "@" + slot.UTC().Format(time.RFC3339) }
