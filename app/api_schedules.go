package app

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
)

func (s *api) scheduleOperations() {
	add(s, operation{
		method: http.MethodGet, path: "/schedules/preview", id: "preview-schedule", tag: tagSchedules, verb: access.Read,
		summary: "Preview a schedule",
		about: "What it means in words, what to beware of, its next runs after a moment, in UTC and in its zone, " +
			"and the days on which it doesn't run. Without kind it is a cron expression.",
	}, (*api).previewSchedule)
}

type previewIn struct {
	Kind          string    `query:"kind" enum:"cron,interval,once,delay,manual" default:"cron" doc:"Kind of schedule"`
	Cron          string    `query:"cron" maxLength:"500" doc:"cron: 5 fields: crontab rules; 6 or 7: Quartz rules" example:"30 2 * * 1-5"`
	EverySeconds  int       `query:"every_seconds" doc:"interval"`
	Anchor        time.Time `query:"anchor" doc:"interval: slots are anchor + k × every_seconds; left out: now"`
	FixedDelay    bool      `query:"fixed_delay" doc:"interval: counted from the end of the last run"`
	RunAt         time.Time `query:"run_at" doc:"once"`
	DelaySeconds  int       `query:"delay_seconds" doc:"delay"`
	Timezone      string    `query:"timezone" maxLength:"64" doc:"IANA name; required for cron" example:"Asia/Shanghai"`
	Calendar      string    `query:"calendar" maxLength:"64" doc:"Code of a calendar"`
	CalendarMode  string    `query:"calendar_mode" enum:"workdays,skip_days_off"`
	CalendarMove  string    `query:"calendar_move" enum:"drop,next_workday,previous_workday"`
	StartAt       time.Time `query:"start_at" doc:"No slot before"`
	EndAt         time.Time `query:"end_at" doc:"No slot after"`
	JitterSeconds int       `query:"jitter_seconds" doc:"Runs begin up to so much later"`
	From          time.Time `query:"from" doc:"The runs after this moment; left out: now"`
	Count         int       `query:"count" minimum:"1" maximum:"50" default:"5" doc:"How many runs"`
}

// spec is the schedule that the parameters write.
func (in *previewIn) spec() sched.ScheduleSpec {
	return sched.ScheduleSpec{
		Kind: sched.ScheduleKind(in.Kind), Cron: in.Cron, EverySeconds: in.EverySeconds, Anchor: in.Anchor, FixedDelay: in.FixedDelay,
		RunAt: in.RunAt, DelaySeconds: in.DelaySeconds, Timezone: in.Timezone, Calendar: in.Calendar,
		CalendarMode: sched.CalendarMode(in.CalendarMode), CalendarMove: sched.CalendarMove(in.CalendarMove),
		StartAt: in.StartAt, EndAt: in.EndAt, JitterSeconds: in.JitterSeconds,
	}
}

type previewOut struct {
	Body previewBody
}

type previewBody struct {
	Words    wordsBody    `json:"words" doc:"Of a cron expression; else empty"`
	Warnings []string     `json:"warnings" nullable:"false" doc:"What to beware of, in English"`
	Next     []runBody    `json:"next" nullable:"false" doc:"The next slots that run, without jitter; fewer than asked for when there are no more, one of a fixed delay"`
	DaysOff  []dayOffBody `json:"days_off" nullable:"false" doc:"The next days on which slots don't run: listed ones, and one plain weekend day as an example"`
	Shift    *shiftBody   `json:"shift,omitempty" doc:"The next change of the zone's offset within a year: from then on runs begin earlier or later in UTC"`
}

// dayOffBody is a day on which slots don't run.
type dayOffBody struct {
	Slot    instant `json:"slot" nullable:"false" doc:"The day's first slot"`
	Name    string  `json:"name" doc:"Of the holiday; empty for a plain weekend" example:"Christmas"`
	MovedTo instant `json:"moved_to" doc:"Where that slot runs instead; null: it is dropped"`
	Joins   bool    `json:"joins" doc:"A slot is there already: they are one"`
}

// shiftBody is a change of a zone's offset.
type shiftBody struct {
	At            instant `json:"at" nullable:"false"`
	OffsetSeconds int     `json:"offset_seconds" doc:"East of UTC, from then on" example:"7200"`
	BySeconds     int     `json:"by_seconds" doc:"By how much it changes" example:"3600"`
}

// wordsBody is a meaning in both languages.
type wordsBody struct {
	English string `json:"en" example:"At 02:30, Monday to Friday"`
	Chinese string `json:"zh-CN"`
}

// runBody is one run in two clocks.
type runBody struct {
	UTC   instant `json:"utc" nullable:"false"`
	Local string  `json:"local" format:"date-time" doc:"The same moment in the zone" example:"2026-12-02T02:30:00.000+08:00"`
}

func (s *api) previewSchedule(ctx context.Context, k *call, in *previewIn) (*previewOut, error) {
	if y := in.From.Year(); !in.From.IsZero() && (y < 1970 || y > 9999) {
		return nil, fault.Invalid(fault.Field("from", "A year between 1970 and 9999 is needed"))
	}
	from := in.From
	if from.IsZero() {
		from = s.now()
	}
	p, err := s.tasks.Preview(ctx, k.actor, in.spec(), from, in.Count)
	if err != nil {
		return nil, parametersOf(err)
	}
	out := previewBody{
		Words:    wordsBody{English: p.Words["en"], Chinese: p.Words["zh-CN"]},
		Warnings: []string{}, Next: []runBody{}, DaysOff: []dayOffBody{},
	}
	for _, w := range p.Warnings {
		out.Warnings = append(out.Warnings, w.String())
	}
	for _, at := range p.Next {
		out.Next = append(out.Next, runBody{UTC: instant(at), Local: at.In(p.Zone).Format(instantForm)})
	}
	for _, d := range p.Off {
		out.DaysOff = append(out.DaysOff, dayOffBody{Slot: instant(d.Slot), Name: d.Name, MovedTo: instant(d.To), Joins: d.Joins})
	}
	if p.Shift != nil {
		out.Shift = &shiftBody{At: instant(p.Shift.At), OffsetSeconds: p.Shift.Offset, BySeconds: p.Shift.By}
	}
	return &previewOut{Body: out}, nil
}

// parametersOf names parameters instead of a task's fields.
func parametersOf(err error) error {
	var fields []fault.FieldError
	for _, f := range fault.Fields(err) {
		f.Name = strings.TrimPrefix(f.Name, "schedule.")
		fields = append(fields, f)
	}
	return cmp.Or(fault.Invalid(fields...), err)
}
