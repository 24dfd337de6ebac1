package sched

import "time"

// ScheduleKind says when a task runs.
type ScheduleKind string

// The kinds of schedule.
const (
	KindCron     ScheduleKind = "cron"
	KindInterval ScheduleKind = "interval"
	KindOnce     ScheduleKind = "once"
	KindDelay    ScheduleKind = "delay"
	KindManual   ScheduleKind = "manual"
)

// ScheduleKinds lists the kinds in the order of the form.
func ScheduleKinds() []ScheduleKind {
	return []ScheduleKind{KindCron, KindInterval, KindOnce, KindDelay, KindManual}
}

// Schedule says when slots are. Fields that a kind doesn't use stay empty.
type Schedule struct {
	Kind         ScheduleKind `json:"kind"`
	Cron         string       `json:"cron,omitempty"`
	EverySeconds int          `json:"every_seconds,omitempty"` // interval: 1 … 31,536,000
	Anchor       time.Time    `json:"anchor,omitzero"`         // interval: slots are anchor + k × every
	RunAt        time.Time    `json:"run_at,omitzero"`         // once
	DelaySeconds int          `json:"delay_seconds,omitempty"` // delay: after the request was accepted
	Timezone     string       `json:"timezone,omitempty"`      // IANA name; required for cron
	Misfire      Misfire      `json:"misfire,omitempty"`

	MisfireGraceSeconds int          `json:"misfire_grace_seconds,omitempty"` // 0: MisfireGrace
	MisfireCap          int          `json:"misfire_cap,omitempty"`           // fire_all: the latest n missed slots run
	FixedDelay          bool         `json:"fixed_delay,omitempty"`           // interval: counted from the end of the last run
	Calendar            string       `json:"calendar,omitempty"`              // code; cron and fixed rate
	CalendarMode        CalendarMode `json:"calendar_mode,omitempty"`
	CalendarMove        CalendarMove `json:"calendar_move,omitempty"`
	StartAt             time.Time    `json:"start_at,omitzero"` // no slot before
	EndAt               time.Time    `json:"end_at,omitzero"`   // no slot after
	JitterSeconds       int          `json:"jitter_seconds,omitempty"`
}

// CalendarMode says which days of a calendar a schedule runs on.
type CalendarMode string

// The calendar modes. On workdays: those of the calendar, make-up workdays too.
// Skip days off: every day that isn't listed as a day off; plain weekends run.
const (
	OnWorkdays  CalendarMode = "workdays"
	SkipDaysOff CalendarMode = "skip_days_off"
)

// CalendarMove says what becomes of a slot on a day that isn't run on.
type CalendarMove string

// The moves. A moved slot keeps its local time of day; when one is there
// already, they are one.
const (
	MoveDrop     CalendarMove = "drop"
	MoveNext     CalendarMove = "next_workday"
	MovePrevious CalendarMove = "previous_workday"
)

// Misfire says what becomes of slots that are later than their grace.
type Misfire string

// The misfire policies. FireOnce runs the latest missed slot, FireAll the latest
// up to a cap, SkipAll none; the others are recorded.
const (
	FireOnce Misfire = "fire_once"
	SkipAll  Misfire = "skip"
	FireAll  Misfire = "fire_all"
)

// MisfireGrace is how late a slot may be planned and still count as on time,
// unless its schedule says otherwise (design.md section 5).
const MisfireGrace = 60 * time.Second

// MisfireCap is how many missed slots fire_all runs, unless its schedule says
// otherwise.
const MisfireCap = 20

// Grace is how late a slot may be planned and still count as on time.
func (s Schedule) Grace() time.Duration {
	if s.MisfireGraceSeconds > 0 {
		return time.Duration(s.MisfireGraceSeconds) * time.Second
	}
	return MisfireGrace
}

// catchUp is how many missed slots run.
func (s Schedule) catchUp() int {
	switch {
	case s.Misfire == SkipAll:
		return 0
	case s.Misfire != FireAll:
		return 1
	case s.MisfireCap > 0:
		return s.MisfireCap
	}
	return MisfireCap
}

// Offset is the task's place within its schedule's jitter: whole seconds, the
// same for every slot, spread by the code. Slots keep their names; what is due
// is due so much later.
func (t Task) Offset() time.Duration {
	return time.Duration(unit(t.Code, 0)*float64(t.Spec.Schedule.JitterSeconds+1)) * time.Second
}

// NextRun is when the next slot is due; zero when there is none.
func (t Task) NextRun() time.Time {
	if t.NextFireAt.IsZero() {
		return time.Time{}
	}
	return t.NextFireAt.Add(t.Offset())
}

// Slots tells whether the kind has slots of its own; delay and manual tasks
// run on request only.
func (k ScheduleKind) Slots() bool { return k == KindCron || k == KindInterval || k == KindOnce }
