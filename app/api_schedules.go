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
		summary: "Preview a cron expression",
		about:   "What it means in words, what to beware of, and its next runs after a moment, in UTC and in its zone.",
	}, (*api).previewSchedule)
}

type previewIn struct {
	Cron     string    `query:"cron" required:"true" maxLength:"500" doc:"5 fields: crontab rules; 6 or 7: Quartz rules" example:"30 2 * * 1-5"`
	Timezone string    `query:"timezone" maxLength:"64" doc:"IANA name" example:"Asia/Shanghai"`
	From     time.Time `query:"from" doc:"The runs after this moment; left out: now"`
	Count    int       `query:"count" minimum:"1" maximum:"50" default:"5" doc:"How many runs"`
}

type previewOut struct {
	Body previewBody
}

type previewBody struct {
	Words    wordsBody `json:"words"`
	Warnings []string  `json:"warnings" nullable:"false" doc:"What to beware of, in English"`
	Next     []runBody `json:"next" nullable:"false" doc:"The next runs; fewer than asked for when there are no more"`
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
	p, err := s.tasks.Preview(ctx, k.actor, sched.ScheduleSpec{Kind: sched.KindCron, Cron: in.Cron, Timezone: in.Timezone}, from, in.Count)
	if err != nil {
		return nil, parametersOf(err)
	}
	out := previewBody{
		Words:    wordsBody{English: p.Words["en"], Chinese: p.Words["zh-CN"]},
		Warnings: []string{}, Next: []runBody{},
	}
	for _, w := range p.Warnings {
		out.Warnings = append(out.Warnings, w.String())
	}
	for _, at := range p.Next {
		out.Next = append(out.Next, runBody{UTC: instant(at), Local: at.In(p.Zone).Format(instantForm)})
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
