package views

import (
	"context"

	"ax/app/fault"
	"ax/app/sched"
	"ax/views/ui"
)

// TaskConfirmPage asks before an action on a task.
type TaskConfirmPage struct {
	Task    sched.Task
	Action  string // run, enable, disable, pause, resume, move or archive
	Team    string // move: code of the team that has it
	Teams   []Team // move: those that may get it
	Waiting int    // instances that were accepted and haven't begun
	Back    string // where the action leads, "" for the task's page
	Values  TaskActionValues
	Errors  []fault.FieldError
}

// TaskActionValues are the fields of the question as they were typed.
type TaskActionValues struct {
	Team    string // move: code of the team that gets it
	Reason  string
	For     string // pause: hour, tomorrow, monday or own
	Until   string // pause: in the viewer's zone
	BizID   string // run
	Delay   string // run: from now on
	Payload string // run: instead of the task's own
}

// askWords is what a question says.
type askWords struct {
	title, say, verb, keep string
	effects                []string
	danger                 bool
	needsReason            bool
}

func (p TaskConfirmPage) words(ctx context.Context) askWords {
	name := p.Task.Name
	switch p.Action {
	case "run":
		return askWords{title: t(ctx, "Run %s now?", name), verb: t(ctx, "Run now"), keep: t(ctx, "Leave it"), say: p.runSay(ctx)}
	case "enable":
		return askWords{title: t(ctx, "Enable %s?", name), verb: t(ctx, "Enable|verb"), keep: t(ctx, "Leave it"),
			say: t(ctx, "Its slots are planned from now on; those since it was disabled are not made up.")}
	case "disable":
		return askWords{title: t(ctx, "Disable %s?", name), verb: t(ctx, "Disable|verb"), keep: t(ctx, "Leave it on"), needsReason: true, danger: true,
			effects: []string{t(ctx, "No slots are planned, and requests are refused."), p.waitingSay(ctx)}}
	case "pause":
		return askWords{title: t(ctx, "Pause %s?", name), verb: t(ctx, "Pause|verb"), keep: t(ctx, "Leave it on"), needsReason: true,
			effects: []string{t(ctx, "Nothing of it starts until then; what runs goes on."), t(ctx, "Requests are taken and wait."), t(ctx, "Its slots until then are recorded as one range."), t(ctx, "Afterwards it goes on by itself; it can be resumed before.")}}
	case "move":
		return askWords{title: t(ctx, "Move %s to another team?", name), verb: t(ctx, "Move it"), keep: t(ctx, "Leave it"), needsReason: true, danger: true,
			effects: []string{t(ctx, "Code, history, instances and dead letters go along; what runs goes on."), t(ctx, "The team %s and its tokens no longer see it.", teamShown(viewer(ctx), p.Team)), t(ctx, "The audit from before stays with them; the move stands in both.")}}
	case "resume":
		return askWords{title: t(ctx, "Resume %s now?", name), verb: t(ctx, "Resume|verb"), keep: t(ctx, "Leave it paused"), say: t(ctx, "What waits becomes due at once.")}
	}
	return askWords{title: t(ctx, "Archive %s for good?", name), verb: t(ctx, "Archive|verb"), keep: t(ctx, "Leave it"), needsReason: true, danger: true,
		effects: []string{t(ctx, "It is disabled and can’t be changed or enabled again."), t(ctx, "Its history stays, and its code stays taken."), p.waitingSay(ctx)}}
}

func (p TaskConfirmPage) runSay(ctx context.Context) string {
	if s := p.Task.Spec.Schedule; s.Kind == sched.KindDelay {
		return t(ctx, "It becomes due %s from now, as for every request, unless you say otherwise.", viewer(ctx).Exactly(s.DelaySeconds))
	}
	return t(ctx, "A request of its own, beside the schedule. If no place is free, it waits.")
}

func (p TaskConfirmPage) waitingSay(ctx context.Context) string {
	if p.Waiting == 0 {
		return t(ctx, "Nothing of it waits.")
	}
	return tn(ctx, "%d that were accepted still run.", p.Waiting)
}

func (p TaskConfirmPage) action() string { return taskURL(p.Task.Code) + "/" + p.Action }

// leave is where the way out leads without JavaScript.
func (p TaskConfirmPage) leave() string {
	if p.Back != "" {
		return Viewer{Path: p.Back}.back()
	}
	return taskURL(p.Task.Code)
}

func (p TaskConfirmPage) field(ctx context.Context, name, label, value string) ui.Field {
	return ui.Field{Name: name, Label: label, Value: value, Error: problem(ctx, p.Errors, name)}
}

// form is the error that belongs to no field of the question.
func (p TaskConfirmPage) form(ctx context.Context) string { return problem(ctx, p.Errors, "") }

// teamOptions are the teams to choose from; none is chosen to begin with.
func (p TaskConfirmPage) teamOptions(ctx context.Context) []ui.Option {
	out := []ui.Option{{Label: t(ctx, "Choose a team")}}
	for _, team := range p.Teams {
		out = append(out, ui.Option{Value: team.Code, Label: team.Name})
	}
	return out
}

// pauseOptions are the lengths of a pause to choose from.
func pauseOptions(ctx context.Context) []ui.Option {
	return []ui.Option{
		{Value: "hour", Label: t(ctx, "1 hour")},
		{Value: "tomorrow", Label: t(ctx, "Tomorrow 8:00")},
		{Value: "monday", Label: t(ctx, "Monday 8:00")},
		{Value: "own", Label: t(ctx, "Another moment")},
	}
}
