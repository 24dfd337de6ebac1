//go:build slow

package db_test

import (
	"slices"
	"time"

	"ax/app/sched"
)

// The oracle of the simulated year: every minute (second, where seconds are
// used) of a zone is looked at on the wall clock, days are walked one by one,
// and nothing of app/cron or the planner is asked.

// margin is how far around the simulated time it looks, for what is moved.
const margin = 40 * 24 * time.Hour

// wallClock is what the clocks of a zone show, instant by instant.
type wallClock struct {
	first, step int64   // Unix seconds
	labels      []int64 // seconds of a calendar without zone
}

func watch(loc *time.Location, from, to time.Time, step int64) wallClock {
	w := wallClock{first: from.Unix(), step: step}
	for u := from.Unix(); u < to.Unix(); u += step {
		t := time.Unix(u, 0).In(loc)
		y, m, d := t.Date()
		h, mi, s := t.Clock()
		w.labels = append(w.labels, time.Date(y, m, d, h, mi, s, 0, time.UTC).Unix())
	}
	return w
}

// slots are the instants at which the rule asks for a run: a label that is
// skipped counts at the instant after the gap, one that comes again only at its
// first time, unless the rule follows real time.
func (w wallClock) slots(r *clockRule) (out []int64) {
	const day = 86_400
	days := map[int64]bool{}
	fits := func(label int64) bool {
		clock := label % day
		if !r.hour.has[clock/3600] || !r.minute.has[clock/60%60] || !r.second.has[clock%60] {
			return false
		}
		hit, known := days[label/day]
		if !known {
			hit = r.day(time.Unix(label/day*day, 0).UTC())
			days[label/day] = hit
		}
		return hit
	}
	latest := w.labels[0] - w.step
	for i, label := range w.labels {
		hit := fits(label) && (label > latest || r.realTime)
		for missing := latest + w.step; !r.realTime && missing < label; missing += w.step {
			hit = hit || fits(missing)
		}
		if hit {
			out = append(out, w.first+int64(i)*w.step)
		}
		latest = max(latest, label)
	}
	return out
}

// instant at which the clocks show label, or the first after a gap.
func (w wallClock) instant(label int64) (int64, bool) {
	for i, shown := range w.labels {
		if shown >= label {
			return w.first + int64(i)*w.step, i > 0
		}
	}
	return 0, false
}

// yearSlot is a slot with what its calendar says.
type yearSlot struct {
	at  int64 // Unix seconds
	off bool
}

// yearOracle knows the zones and calendars.
type yearOracle struct {
	from, to  time.Time
	clocks    map[string]wallClock
	calendars map[string]yearCalendar
}

func (o *yearOracle) clock(zone string, loc *time.Location) wallClock {
	w, ok := o.clocks[zone]
	if !ok {
		w = watch(loc, o.from.Add(-margin), o.to.Add(margin), 60)
		o.clocks[zone] = w
	}
	return w
}

// slots are all slots of a task in the simulated time, in order.
func (o *yearOracle) slots(y yearTask) []yearSlot {
	s := y.schedule
	loc, err := time.LoadLocation(s.Timezone)
	if err != nil {
		panic(err)
	}
	var raw []int64
	switch {
	case s.Kind == sched.KindOnce:
		raw = []int64{s.RunAt.Unix()}
	case s.Kind == sched.KindInterval:
		for u := s.Anchor.Unix(); u < o.to.Add(margin).Unix(); u += int64(s.EverySeconds) {
			raw = append(raw, u)
		}
	case y.clock.seconds && s.StartAt.IsZero():
		panic("seconds without a window")
	case y.clock.seconds:
		raw = watch(loc, s.StartAt.Add(-24*time.Hour), s.EndAt.Add(time.Hour), 1).slots(y.clock)
	default:
		raw = o.clock(s.Timezone, loc).slots(y.clock)
	}
	at := map[int64]bool{} // off the calendar's days?
	for _, u := range raw {
		at[u] = false
	}
	if s.Calendar != "" {
		at = o.onDays(s, loc, raw)
	}
	var out []yearSlot
	for u, off := range at {
		t := time.Unix(u, 0)
		if t.Before(o.from) || t.Before(s.StartAt) || !s.EndAt.IsZero() && t.After(s.EndAt) {
			continue
		}
		out = append(out, yearSlot{u, off})
	}
	slices.SortFunc(out, func(a, b yearSlot) int { return int(a.at - b.at) })
	return out
}

// onDays adds where slots of days off are moved to.
func (o *yearOracle) onDays(s sched.Schedule, loc *time.Location, raw []int64) map[int64]bool {
	cal := o.calendars[s.Calendar]
	workday := func(d time.Time) bool {
		if work, listed := cal.listed[d.Format(time.DateOnly)]; listed {
			return work
		}
		return cal.week.Works(d.Weekday())
	}
	runs := func(d time.Time) bool {
		if s.CalendarMode == sched.SkipDaysOff {
			work, listed := cal.listed[d.Format(time.DateOnly)]
			return work || !listed
		}
		return workday(d)
	}
	step := map[sched.CalendarMove]int{sched.MoveNext: 1, sched.MovePrevious: -1}[s.CalendarMove]
	out := map[int64]bool{}
	for _, u := range raw {
		t := time.Unix(u, 0).In(loc)
		y, m, d := t.Date()
		date := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
		if out[u] = !runs(date); !out[u] || step == 0 {
			continue
		}
		h, mi, sec := t.Clock()
		for range 31 {
			if date = date.AddDate(0, 0, step); !workday(date) {
				continue
			}
			label := date.Unix() + int64(h*3600+mi*60)
			if to, ok := o.clock(s.Timezone, loc).instant(label); ok {
				// A minute's clock has no seconds; a gap swallows them.
				if exact := time.Unix(to, 0).In(loc); exact.Hour() == h && exact.Minute() == mi {
					to += int64(sec)
				}
				out[to] = false
			}
			break
		}
	}
	return out
}

// fate of a slot.
type fate struct {
	reason string // empty: it runs
	makeUp int64  // the slot that runs for it, when it has misfired
}

// fates plays the planner: at each moment it sees all slots up to two seconds
// ahead. Late ones, by the grace, are kept from the latest back, as many as the
// policy says.
func fates(y yearTask, slots []yearSlot, offset time.Duration, moments []time.Time) map[int64]fate {
	s := y.schedule
	keep := map[sched.Misfire]int{sched.FireOnce: 1, sched.FireAll: s.MisfireCap}[s.Misfire]
	if s.Misfire == sched.FireAll && keep == 0 {
		keep = 20
	}
	grace := 60 * time.Second
	if s.MisfireGraceSeconds > 0 {
		grace = time.Duration(s.MisfireGraceSeconds) * time.Second
	}
	out := map[int64]fate{}
	next := 0
	for _, now := range moments {
		var late []int64
		for ; next < len(slots) && slots[next].at <= now.Add(2*time.Second).Unix(); next++ {
			slot := slots[next]
			at := time.Unix(slot.at, 0)
			switch {
			case !y.paused[0].IsZero() && !at.Before(y.paused[0]) && at.Before(y.paused[1]):
				out[slot.at] = fate{reason: "paused"}
			case slot.off:
				out[slot.at] = fate{reason: "calendar"}
			case now.Sub(at) > grace+offset:
				late = append(late, slot.at)
			default:
				out[slot.at] = fate{}
			}
		}
		kept := late[max(0, len(late)-keep):]
		for _, at := range late[:len(late)-len(kept)] {
			out[at] = fate{reason: "misfire"}
			if len(kept) > 0 {
				out[at] = fate{"misfire", kept[0]}
			}
		}
		for _, at := range kept {
			out[at] = fate{}
		}
	}
	return out
}
