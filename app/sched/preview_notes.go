package sched

import (
	"time"

	"ax/app/calendar"
	"ax/app/fault"
)

// How far a preview looks.
const (
	previewYears   = 2    // for a slot that the calendar leaves
	previewDays    = 400  // for days off
	previewPlain   = 1    // plain weekends that it names
	previewListed  = 3    // listed days off that it names
	previewGapSize = 50   // slots that the smallest gap is taken from
	previewCounted = 9000 // slots of a year that are counted: one an hour
)

// DayOff is a day on which slots don't run.
type DayOff struct {
	Slot  time.Time // the day's first slot
	Name  string    // of the day; "" for a plain weekend
	To    time.Time // where that slot is moved; zero: it is dropped
	Joins bool      // a slot is there already: they are one
}

// ClockShift is the next moment from which the zone is away from UTC by
// another offset, so that local times begin earlier or later in UTC.
type ClockShift struct {
	At     time.Time
	Offset int // seconds east of UTC, from then on
	By     int // seconds by which the offset changes
}

// Moved is where a slot on a day off runs instead; ok is false when it is
// dropped, or lies on no day off.
func (w Times) Moved(slot time.Time) (to time.Time, ok bool) {
	if w.days == nil {
		return time.Time{}, false
	}
	return w.days.moved(slot)
}

// Within tells whether the window of the schedule holds the moment.
func (w Times) Within(t time.Time) bool {
	return !t.Before(w.from) && (w.to.IsZero() || !t.After(w.to))
}

// runs gives the next n slots after from that are not on days off. With a
// calendar it looks two years ahead at most.
func (w Times) runs(from time.Time, n int) []time.Time {
	until := from.AddDate(previewYears, 0, 0)
	var out []time.Time
	slot, ok := w.NextRun(from)
	for ; ok && len(out) < n && (w.days == nil || !slot.After(until)); slot, ok = w.NextRun(slot) {
		out = append(out, slot)
	}
	return out
}

// perYear counts the runs of the slots of the 365 days after from, or after the
// window's beginning, those that are moved on from them too; 0 when there are
// more slots than are counted, and when the window ends before.
func (w Times) perYear(from time.Time) int {
	from = latest(from, w.from)
	until := from.AddDate(0, 0, 365)
	if !w.Within(until) {
		return 0
	}
	runs, slots := map[int64]bool{}, 0
	for slot, ok := w.raw.Next(from); ok && !slot.After(until); slot, ok = w.raw.Next(slot) {
		if slots++; slots > previewCounted {
			return 0
		}
		if to, ok := w.Moved(slot); ok {
			runs[to.UnixMilli()] = true
		} else if !w.Off(slot) {
			runs[slot.UnixMilli()] = true
		}
	}
	return len(runs)
}

// DaysOff names the next days on which slots don't run: listed ones, and one
// plain weekend day as an example.
func (w Times) DaysOff(from time.Time) []DayOff {
	if w.days == nil {
		return nil
	}
	var out []DayOff
	plain, listed := 0, 0
	first := w.days.day(from)
	for day := first; day < first+previewDays && listed < previewListed; day++ {
		e, known := w.days.cal.Listed[day]
		if w.days.allows(day) || !known && plain == previewPlain {
			continue
		}
		slot, ok := w.days.slotOn(day, from)
		if !ok || !w.Within(slot) {
			continue
		}
		if known {
			listed++
		} else {
			plain++
		}
		off := DayOff{Slot: slot, Name: e.Name}
		if to, ok := w.days.moved(slot); ok {
			off.To, off.Joins = to, w.days.raw.Wants(to)
		}
		out = append(out, off)
	}
	return out
}

// slotOn is the first of the schedule's own slots on the day and after from.
func (d *days) slotOn(day calendar.Day, from time.Time) (time.Time, bool) {
	slot, ok := d.raw.Next(latest(from, d.begin(day).Add(-time.Millisecond)))
	return slot, ok && d.day(slot) == day
}

// NextShift is the next change of the offset of the zone within a year. Bounds
// without one are passed over: by the rule at the end of its data, a zone also
// has them at each turn of the year.
func NextShift(from time.Time, zone *time.Location) (ClockShift, bool) {
	_, before := from.In(zone).Zone()
	for at := from; ; {
		_, end := at.In(zone).ZoneBounds()
		if end.IsZero() || end.After(from.AddDate(1, 0, 0)) {
			return ClockShift{}, false
		}
		if _, after := end.Zone(); after != before {
			return ClockShift{At: end.UTC(), Offset: after, By: after - before}, true
		}
		at = end
	}
}

// NoData is the year that lacks data of the task's calendar where the schedule
// is, and will soon be asked for; 0 for none, and without a calendar.
func (t Task) NoData(now time.Time) int {
	times, err := t.Times()
	if err != nil {
		return 0
	}
	return times.noData(now)
}

func (w Times) noData(now time.Time) int {
	if w.days == nil {
		return 0
	}
	return w.days.cal.NoData(now.In(w.days.zone))
}

// note is a remark about a valid schedule.
func note(format string, args ...any) fault.Text { return fault.Text{Format: format, Args: args} }

// notes are what a written schedule makes people wonder about.
func (s Schedule) notes(times Times, c *calendar.Calendar, next []time.Time, from time.Time) []fault.Text {
	var out []fault.Text
	if year := times.noData(from); year != 0 {
		out = append(out, note("The calendar %s has no days for %d: that year goes by the week alone", c.Name, year))
	}
	if gap := times.smallestGap(from); gap > 0 && s.JitterSeconds > int(gap/time.Second) {
		out = append(out, note("The jitter of %d s is longer than the %d s between two slots: a run may begin after the slot that follows it", s.JitterSeconds, int(gap/time.Second)))
	}
	if len(next) > 0 || !s.Kind.Slots() {
		return out
	}
	switch _, slots := times.raw.Next(from); {
	case !s.EndAt.IsZero() && s.EndAt.Before(from):
		out = append(out, note("The window has ended: no slot is left"))
	case times.windowEmpty(from) && slots:
		out = append(out, note("No slot lies in the window"))
	case s.Calendar != "" && slots:
		out = append(out, note("The calendar leaves no slot within %d years", previewYears))
	}
	return out
}

// windowEmpty tells whether the window alone leaves no slot.
func (w Times) windowEmpty(from time.Time) bool {
	w.days = nil
	_, ok := w.Next(from)
	return !ok && (!w.from.IsZero() || !w.to.IsZero())
}

// smallestGap is the shortest time between two of the next slots, 0 when there
// are no two.
func (w Times) smallestGap(from time.Time) time.Duration {
	w.days = nil
	slots := nextSlots(w, from, previewGapSize)
	var gap time.Duration
	for i := 1; i < len(slots); i++ {
		if d := slots[i].Sub(slots[i-1]); gap == 0 || d < gap {
			gap = d
		}
	}
	return gap
}

// Clashes are what a schedule and a policy make of each other that people
// rarely want.
func Clashes(s Schedule, p Policy) []fault.Text {
	var out []fault.Text
	if s.Kind.Slots() && s.Misfire == FireAll && p.Overlap == OverlapSkip && p.MaxConcurrent == 1 {
		out = append(out, note("Fire all and skip: of several missed slots only the first will run, the others find it running and are skipped"))
	}
	return out
}
