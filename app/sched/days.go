package sched

import (
	"time"

	"ax/app/calendar"
	"ax/app/cron"
	"ax/app/fault"
)

// maxMove is how many days a slot is moved at most; beyond them it is dropped.
const maxMove = 31

// reach is how far around a slot the slots lie that may be moved over it: the
// longest move, and a day for clock changes.
const reach = (maxMove + 1) * 24 * time.Hour

// days is a calendar's rule over the slots of a schedule. Every slot of the
// schedule stays a slot; those on days off are told by off, and where they are
// moved to is a slot as well.
type days struct {
	raw  rawTimes
	cal  *calendar.Calendar
	zone *time.Location
	mode CalendarMode
	move CalendarMove
}

func (s Schedule) days(c *calendar.Calendar, raw rawTimes) (*days, error) {
	if c == nil {
		return nil, fault.Invalid(fault.Field("schedule.calendar", "There is no calendar %q", s.Calendar))
	}
	zone, err := cron.LoadZone(s.Timezone)
	if err != nil {
		return nil, fault.Invalid(cronField("schedule.timezone", err))
	}
	return &days{raw: raw, cal: c, zone: zone, mode: s.CalendarMode, move: s.CalendarMove}, nil
}

func (d *days) allows(day calendar.Day) bool {
	if d.mode == SkipDaysOff {
		return !d.cal.DayOff(day)
	}
	return d.cal.Workday(day)
}

func (d *days) day(t time.Time) calendar.Day { return calendar.DayOf(t.In(d.zone)) }

func (d *days) off(t time.Time) bool { return !d.allows(d.day(t)) }

// moved is where a slot on a day off is run instead.
func (d *days) moved(slot time.Time) (time.Time, bool) {
	step := map[CalendarMove]calendar.Day{MoveNext: 1, MovePrevious: -1}[d.move]
	day := d.day(slot)
	if step == 0 || d.allows(day) {
		return time.Time{}, false
	}
	hour, minute, second := slot.In(d.zone).Clock()
	for n := range calendar.Day(maxMove) {
		if to := day + step*(n+1); d.cal.Workday(to) && d.allows(to) {
			return cron.Instant(int64(to), hour*3600+minute*60+second, d.zone), true
		}
	}
	return time.Time{}, false
}

// next is the first of the schedule's own slots after t and of those moved
// there. What is moved to after t lies within reach of t (moved on) or of the
// first own slot after t (moved back).
func (d *days) next(t time.Time) (time.Time, bool) {
	best, ok := d.raw.Next(t)
	from, until := t.Add(-reach), t
	switch d.move {
	case MoveNext:
	case MovePrevious:
		if !ok {
			return best, ok
		}
		from, until = t, best.Add(reach)
	default:
		return best, ok
	}
	d.each(from, until, func(to time.Time) {
		if to.After(t) && (!ok || to.Before(best)) {
			best, ok = to, true
		}
	})
	return best, ok
}

// prev is the mirror image of next.
func (d *days) prev(t time.Time) (time.Time, bool) {
	best, ok := d.raw.Prev(t)
	from, until := t, t.Add(reach)
	switch d.move {
	case MovePrevious:
		from = from.Add(-time.Millisecond)
	case MoveNext:
		if !ok {
			return best, ok
		}
		from, until = best.Add(-reach), t
	default:
		return best, ok
	}
	d.each(from, until, func(to time.Time) {
		if to.Before(t) && (!ok || to.After(best)) {
			best, ok = to, true
		}
	})
	return best, ok
}

func (d *days) wants(t time.Time) bool {
	if d.off(t) {
		return false
	}
	found := d.raw.Wants(t)
	if !found && d.move != MoveDrop {
		d.each(t.Add(-reach), t.Add(reach), func(to time.Time) { found = found || to.Equal(t) })
	}
	return found
}

// each gives where the slots after from, until until, are moved to.
func (d *days) each(from, until time.Time, see func(to time.Time)) {
	for slot, ok := d.raw.Next(from); ok && !slot.After(until); slot, ok = d.raw.Next(slot) {
		if to, ok := d.moved(slot); ok {
			see(to)
		}
	}
}

// after is the first day after the slot's that is run on, until the given
// moment's.
func (d *days) after(slot, until time.Time) (calendar.Day, bool) {
	for day := d.day(slot) + 1; day <= d.day(until); day++ {
		if d.allows(day) {
			return day, true
		}
	}
	return 0, false
}

// before is the last day before the slot's that is run on, back to the given
// moment's.
func (d *days) before(slot, since time.Time) (calendar.Day, bool) {
	for day := d.day(slot) - 1; day >= d.day(since); day-- {
		if d.allows(day) {
			return day, true
		}
	}
	return 0, false
}

// begin is the first moment of the day.
func (d *days) begin(day calendar.Day) time.Time { return cron.Instant(int64(day), 0, d.zone) }

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
