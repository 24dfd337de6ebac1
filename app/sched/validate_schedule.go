package sched

import (
	"cmp"
	"slices"
	"time"

	"ax/app/cron"
	"ax/app/fault"
)

// Bounds of a schedule's fields.
const (
	maxJitter     = 3600
	maxMisfireCap = 1000
	maxMovedADay  = 24
)

func (p *problems) schedule(w ScheduleSpec, old Task, now time.Time) Schedule {
	s := Schedule{Kind: w.Kind, Timezone: w.Timezone, Misfire: FireOnce}
	switch w.Kind {
	case KindCron:
		s.Cron, s.Anchor = w.Cron, p.anchor(w.Anchor, old, now)
		if expr, err := cron.Parse(w.Cron); err == nil {
			s.Cron = expr.String() // its blanks folded
		}
	case KindInterval:
		s.EverySeconds, s.Anchor, s.FixedDelay = w.EverySeconds, p.anchor(w.Anchor, old, now), w.FixedDelay
		p.seconds("schedule.every_seconds", w.EverySeconds, 1, maxSeconds)
	case KindOnce:
		s.RunAt = p.runAt(w, old, now)
	case KindDelay:
		s.DelaySeconds = w.DelaySeconds
		p.seconds("schedule.delay_seconds", w.DelaySeconds, 1, maxSeconds)
	case KindManual:
	default:
		p.add("schedule.kind", "One of cron, interval, once, delay, manual; this is %q", string(w.Kind))
		return s
	}
	p.strangers(w)
	if w.Kind.Slots() {
		p.slots(w, &s)
	}
	if s.Kind != KindCron && s.Timezone == "" {
		s.Timezone = "UTC"
	}
	if s.Kind == KindCron || s.Timezone != "UTC" {
		p.zone(&s)
	}
	p.moves(s)
	return s
}

// zone checks the zone and, for cron, the expression with it.
func (p *problems) zone(s *Schedule) {
	probe := Schedule{Kind: KindCron, Cron: s.Cron, Timezone: s.Timezone}
	if s.Kind != KindCron {
		probe.Cron = "@daily"
	}
	if s.Kind == KindCron && s.Timezone == "" {
		p.add("schedule.timezone", "A cron schedule needs a time zone, such as Asia/Shanghai")
		probe.Timezone = "UTC"
	}
	if _, err := probe.Times(nil); err != nil {
		*p = append(*p, fault.Fields(err)...)
	}
}

// anchor of a fixed rate: the written one, else the one it has, else now;
// always a whole second. Slots are counted from it, so it must lie within the
// range of a duration.
func (p *problems) anchor(written time.Time, old Task, now time.Time) time.Time {
	switch {
	case !written.IsZero():
		if written.Before(time.Unix(0, 0)) || written.After(now.AddDate(10, 0, 0)) {
			p.add("schedule.anchor", "Between 1970 and ten years ahead")
		}
		return ceilSecond(written.UTC())
	case !old.Spec.Schedule.Anchor.IsZero():
		return old.Spec.Schedule.Anchor
	default:
		return ceilSecond(now)
	}
}

// runAt is a moment to come. One that has passed is refused, unless it was the
// task's already, or the writer says that it is to run now then.
func (p *problems) runAt(w ScheduleSpec, old Task, now time.Time) time.Time {
	at := ceilSecond(w.RunAt.UTC())
	switch {
	case at.IsZero():
		p.add("schedule.run_at", "A moment is needed, such as 2026-12-24T18:00:00+08:00")
	case at.Before(now) && w.RunNow:
		return ceilSecond(now)
	case at.Equal(old.Spec.Schedule.RunAt):
	case at.Before(now):
		p.add("schedule.run_at", "This moment has passed; choose a later one, or say that it is to run now")
	case at.After(now.AddDate(10, 0, 0)):
		p.add("schedule.run_at", "At most ten years ahead")
	}
	return at
}

func (p *problems) seconds(name string, n, low, high int) {
	if n < low || n > high {
		p.add(name, "Between %d and %d seconds; this is %d", low, high, n)
	}
}

// strangers refuses fields that belong to another kind of schedule: they would
// be ignored in silence.
func (p *problems) strangers(w ScheduleSpec) {
	kind := string(w.Kind)
	if w.Cron != "" && w.Kind != KindCron {
		p.add("schedule.cron", "A schedule of the kind %s has no cron expression", kind)
	}
	if w.EverySeconds != 0 && w.Kind != KindInterval {
		p.add("schedule.every_seconds", "A schedule of the kind %s has no period", kind)
	}
	if !w.Anchor.IsZero() && w.Kind != KindInterval && w.Kind != KindCron {
		p.add("schedule.anchor", "A schedule of the kind %s is not counted from a moment", kind)
	}
	if !w.RunAt.IsZero() && w.Kind != KindOnce {
		p.add("schedule.run_at", "A schedule of the kind %s has no single moment", kind)
	}
	if w.DelaySeconds != 0 && w.Kind != KindDelay {
		p.add("schedule.delay_seconds", "A schedule of the kind %s has no delay", kind)
	}
	if w.FixedDelay && w.Kind != KindInterval {
		p.add("schedule.fixed_delay", "A schedule of the kind %s is not counted from the end of a run", kind)
	}
	if w.RunNow && w.Kind != KindOnce {
		p.add("schedule.run_now", "A schedule of the kind %s has no single moment", kind)
	}
	if w.Kind.Slots() {
		return
	}
	for _, f := range []struct {
		name string
		used bool
	}{
		{"schedule.misfire", w.Misfire != "" && w.Misfire != FireOnce},
		{"schedule.misfire_grace_seconds", w.MisfireGraceSeconds != 0},
		{"schedule.misfire_cap", w.MisfireCap != 0},
		{"schedule.calendar", w.Calendar != ""},
		{"schedule.start_at", !w.StartAt.IsZero()},
		{"schedule.end_at", !w.EndAt.IsZero()},
		{"schedule.jitter_seconds", w.JitterSeconds != 0},
	} {
		if f.used {
			p.add(f.name, "A schedule of the kind %s has no slots of its own: it runs on request", kind)
		}
	}
}

// slots checks what all schedules with slots of their own have.
func (p *problems) slots(w ScheduleSpec, s *Schedule) {
	p.misfire(w, s)
	s.StartAt, s.EndAt, s.JitterSeconds = ceilSecond(w.StartAt.UTC()), w.EndAt.UTC(), w.JitterSeconds
	if !s.EndAt.IsZero() && !s.StartAt.Before(s.EndAt) {
		p.add("schedule.end_at", "The end must lie after the start")
	}
	p.seconds("schedule.jitter_seconds", w.JitterSeconds, 0, maxJitter)
	if w.Calendar == "" {
		if w.CalendarMode != "" || w.CalendarMove != "" {
			p.add("schedule.calendar", "Name the calendar whose days are meant")
		}
		return
	}
	if w.Kind == KindOnce || w.FixedDelay {
		p.add("schedule.calendar", "Only cron schedules and fixed rates follow a calendar")
	}
	s.Calendar, s.CalendarMode, s.CalendarMove = w.Calendar, cmp.Or(w.CalendarMode, OnWorkdays), cmp.Or(w.CalendarMove, MoveDrop)
	if !slices.Contains([]CalendarMode{OnWorkdays, SkipDaysOff}, s.CalendarMode) {
		p.add("schedule.calendar_mode", "One of workdays, skip_days_off; this is %q", string(w.CalendarMode))
	}
	if !slices.Contains([]CalendarMove{MoveDrop, MoveNext, MovePrevious}, s.CalendarMove) {
		p.add("schedule.calendar_move", "One of drop, next_workday, previous_workday; this is %q", string(w.CalendarMove))
	}
}

func (p *problems) misfire(w ScheduleSpec, s *Schedule) {
	s.Misfire = cmp.Or(w.Misfire, FireOnce)
	s.MisfireGraceSeconds, s.MisfireCap = w.MisfireGraceSeconds, w.MisfireCap
	if !slices.Contains([]Misfire{FireOnce, SkipAll, FireAll}, s.Misfire) {
		p.add("schedule.misfire", "One of fire_once, skip, fire_all; this is %q", string(w.Misfire))
	}
	if w.MisfireGraceSeconds != 0 {
		p.seconds("schedule.misfire_grace_seconds", w.MisfireGraceSeconds, 1, 86_400)
	}
	if w.MisfireCap < 0 || w.MisfireCap > maxMisfireCap {
		p.add("schedule.misfire_cap", "Between 1 and %d missed slots; this is %d", maxMisfireCap, w.MisfireCap)
	}
	if w.MisfireCap != 0 && s.Misfire != FireAll {
		p.add("schedule.misfire_cap", "Only fire_all has a cap")
	}
}

// moves refuses to move the slots of a schedule that runs often: a day's worth
// of them would crowd into the next one.
func (p *problems) moves(s Schedule) {
	if s.CalendarMove != MoveNext && s.CalendarMove != MovePrevious || s.Kind == KindOnce {
		return
	}
	raw, err := Schedule{Kind: s.Kind, Cron: s.Cron, EverySeconds: s.EverySeconds, Anchor: s.Anchor, Timezone: s.Timezone}.Times(nil)
	if err != nil {
		return // said at its field
	}
	day, ok := raw.Next(s.Anchor)
	for end, n := day.Add(24*time.Hour), 0; ok && day.Before(end); n++ {
		if n == maxMovedADay {
			p.add("schedule.calendar_move", "Only schedules with at most %d slots a day are moved; drop them instead", maxMovedADay)
			return
		}
		day, ok = raw.Next(day)
	}
}
