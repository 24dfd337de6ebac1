package sched

import (
	"errors"
	"time"

	"ax/app/cron"
	"ax/app/fault"
)

// Times answers when a schedule's slots are. All instants are UTC.
type Times interface {
	// Next is the first slot strictly after t; ok is false when there is none.
	Next(t time.Time) (slot time.Time, ok bool)
	// Prev is the last slot strictly before t.
	Prev(t time.Time) (slot time.Time, ok bool)
	// Wants tells whether t is exactly a slot.
	Wants(t time.Time) bool
}

// Times compiles the schedule. The error is a fault (Invalid) that names the
// field; a stored schedule gives one only if the rules changed since.
func (s Schedule) Times() (Times, error) {
	switch s.Kind {
	case KindCron:
		return s.cronTimes()
	case KindInterval:
		if s.EverySeconds < 1 || s.Anchor.IsZero() {
			return nil, fault.Invalid(fault.Field("schedule.every_seconds", "An interval needs a period of at least 1 second"))
		}
		return rate{anchor: s.Anchor, every: time.Duration(s.EverySeconds) * time.Second}, nil
	case KindOnce:
		return once(ceilSecond(s.RunAt)), nil
	default:
		return never{}, nil
	}
}

func (s Schedule) cronTimes() (Times, error) {
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
