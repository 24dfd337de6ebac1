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
}

// Misfire says what becomes of slots that are later than MisfireGrace.
type Misfire string

// The misfire policies. FireOnce runs the latest missed slot and records the
// others.
const (
	FireOnce Misfire = "fire_once"
	SkipAll  Misfire = "skip"
	FireAll  Misfire = "fire_all"
)

// MisfireGrace is how late a slot may be planned and still count as on time
// (design.md section 5).
const MisfireGrace = 60 * time.Second

// Slots tells whether the kind has slots of its own; delay and manual tasks
// run on request only.
func (k ScheduleKind) Slots() bool { return k == KindCron || k == KindInterval || k == KindOnce }
