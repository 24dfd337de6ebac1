package sched

import (
	"time"

	"ax/app/calendar"
	"ax/app/cron"
	"ax/app/fault"
)

// Preview shows what a schedule means before it is stored.
type Preview struct {
	Schedule Schedule          // as it would be stored
	Calendar string            // name of its calendar, "" for none
	Words    map[string]string // meaning by language: "en", "zh-CN"; of cron only
	Warnings []fault.Text
	Next     []time.Time // UTC: slots that run, without the jitter
	Off      []DayOff    // the next days on which slots don't run
	PerYear  int         // runs in the first 365 days; 0: none, or not counted
	Shift    *ClockShift // the next change of offset; nil: none within a year, or it doesn't matter
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
	p := Preview{
		Schedule: s, Zone: zone, Words: map[string]string{},
		Next: times.runs(from, min(max(count, 1), maxPreview)), Off: times.DaysOff(from),
	}
	if s.Kind == KindCron {
		p.PerYear = times.perYear(from)
	}
	if s.FixedDelay {
		p.Next = p.Next[:min(len(p.Next), 1)] // the others follow the ends of runs
	}
	if c != nil {
		p.Calendar = c.Name
	}
	if s.Kind == KindCron {
		err = p.explain(from)
	}
	p.Warnings = append(p.Warnings, s.notes(times, c, p.Next, from)...)
	return p, err
}

// explain adds what only a cron expression has.
func (p *Preview) explain(from time.Time) error {
	expr, err := cron.Parse(p.Schedule.Cron)
	if err != nil {
		return fault.Invalid(cronField("schedule.cron", err))
	}
	for _, lang := range []string{"en", "zh-CN"} {
		p.Words[lang] = expr.Words(lang)
	}
	for _, n := range expr.Warnings(from, p.Zone) {
		p.Warnings = append(p.Warnings, fault.Text{Format: n.Format, Args: n.Args})
	}
	if _, every := expr.Every(); every {
		return nil
	}
	if shift, ok := NextShift(from, p.Zone); ok {
		p.Shift = &shift
	}
	return nil
}
