package sched

import (
	"time"

	"ax/app/calendar"
	"ax/app/cron"
	"ax/app/fault"
)

// Preview shows what a schedule means before it is stored.
type Preview struct {
	Words    map[string]string // meaning by language: "en", "zh-CN"
	Warnings []fault.Text
	Next     []time.Time // UTC
	Zone     *time.Location
}

// maxPreview is how many runs a preview computes at most.
const maxPreview = 50

// PreviewSchedule explains a written schedule and gives its next runs after
// from. Errors: Invalid at the schedule's fields.
func PreviewSchedule(w ScheduleSpec, c *calendar.Calendar, from time.Time, count int) (Preview, error) {
	var bad problems
	s := bad.schedule(w, Task{Calendar: c}, from)
	if err := fault.Invalid(bad...); err != nil {
		return Preview{}, err
	}
	times, err := s.Times(c)
	if err != nil {
		return Preview{}, err
	}
	zone, err := cron.LoadZone(s.Timezone)
	if err != nil {
		return Preview{}, fault.Invalid(cronField("schedule.timezone", err))
	}
	p := Preview{Zone: zone, Next: nextSlots(times, from, min(max(count, 1), maxPreview)), Words: map[string]string{}}
	if s.Kind != KindCron {
		return p, nil
	}
	expr, err := cron.Parse(s.Cron)
	if err != nil {
		return Preview{}, fault.Invalid(cronField("schedule.cron", err))
	}
	for _, lang := range []string{"en", "zh-CN"} {
		p.Words[lang] = expr.Words(lang)
	}
	for _, n := range expr.Warnings(from, zone) {
		p.Warnings = append(p.Warnings, fault.Text{Format: n.Format, Args: n.Args})
	}
	return p, nil
}
