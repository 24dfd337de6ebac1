package views

import (
	"context"

	"ax/app/fault"
	"ax/app/sched"
	"ax/views/ui"
)

// graceByDefault is what an empty field of the grace stands for.
const graceByDefault = sched.MisfireGrace

// CalendarChoice is a calendar that a task may follow.
type CalendarChoice struct {
	Code string
	Name string
}

// offersRunNow tells whether the form asks to run at once: the moment typed is
// refused, or somebody ticked it before.
func (p TaskFormPage) offersRunNow() bool {
	for _, e := range p.Errors {
		if (e.Name == "schedule.run_at" || e.Name == "schedule.run_now") && p.Values.RunAt != "" {
			return true
		}
	}
	return p.Values.RunNow
}

func (p TaskFormPage) calendarOptions(ctx context.Context) []ui.Option {
	options := []ui.Option{{Value: "", Label: t(ctx, "Every day")}}
	for _, c := range p.Calendars {
		options = append(options, ui.Option{Value: c.Code, Label: c.Name})
	}
	return withChosen(options, p.Values.Calendar)
}

func rateOptions(ctx context.Context) []ui.Option {
	return []ui.Option{
		{Value: "false", Label: t(ctx, "From start to start")},
		{Value: "true", Label: t(ctx, "From the end to the next start")},
	}
}

func modeOptions(ctx context.Context) []ui.Option {
	return []ui.Option{
		{Value: string(sched.OnWorkdays), Label: t(ctx, "Workdays only")},
		{Value: string(sched.SkipDaysOff), Label: t(ctx, "All but listed days off")},
	}
}

func moveOptions(ctx context.Context) []ui.Option {
	return []ui.Option{
		{Value: string(sched.MoveDrop), Label: t(ctx, "Drop it")},
		{Value: string(sched.MoveNext), Label: t(ctx, "Move to the next workday")},
		{Value: string(sched.MovePrevious), Label: t(ctx, "Move to the workday before")},
	}
}

func overlapCards(ctx context.Context) []ui.Card {
	return []ui.Card{
		{Value: string(sched.OverlapSkip), Name: t(ctx, "Skip|overlap"), Say: t(ctx, "The new slot is recorded as skipped, with what was running."), Art: overlapArt("skip")},
		{Value: string(sched.OverlapQueue), Name: t(ctx, "Queue|overlap"), Say: t(ctx, "It starts when the last one ends."), Art: overlapArt("queue")},
		{Value: string(sched.OverlapCancel), Name: t(ctx, "Cancel running"), Say: t(ctx, "The running one is canceled first."), Art: overlapArt("cancel_running")},
		{Value: string(sched.OverlapAllow), Name: t(ctx, "Allow|overlap"), Say: t(ctx, "Side by side, up to a limit."), Art: overlapArt("allow")},
	}
}

func misfireCards(ctx context.Context) []ui.Card {
	return []ui.Card{
		{Value: string(sched.FireOnce), Name: t(ctx, "Fire once"), Say: t(ctx, "The latest missed slot runs, the others are recorded."), Art: misfireArt("fire_once")},
		{Value: string(sched.SkipAll), Name: t(ctx, "Skip|missed slots"), Say: t(ctx, "Missed slots stay missed; the next is normal."), Art: misfireArt("skip")},
		{Value: string(sched.FireAll), Name: t(ctx, "Fire all"), Say: t(ctx, "Each missed slot runs, up to a limit."), Art: misfireArt("fire_all")},
	}
}

// clashes are what the schedule and the policy typed make of each other.
func (p TaskPreview) clashes() []fault.Text {
	return sched.Clashes(p.Schedule, sched.Policy{Overlap: p.Overlap, MaxConcurrent: p.MaxConcurrent})
}
