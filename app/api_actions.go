package app

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
)

// reasonBody is the body of an action that may be given a reason.
type reasonBody struct {
	Reason string `json:"reason,omitempty" maxLength:"500" doc:"Why; kept in the audit" example:"Bank closed on 1 January"`
}

// pauseBody says until when a task rests.
type pauseBody struct {
	Until  time.Time `json:"until" doc:"Nothing of the task starts before; at most a year ahead" example:"2026-12-24T18:00:00+08:00"`
	Reason string    `json:"reason,omitempty" maxLength:"500" doc:"Why; kept in the audit"`
}

// maxReason is the length of a reason in characters: what its column holds.
const maxReason = 500

// checkReason refuses what the audit can't keep as one line.
func checkReason(reason string) error {
	n := utf8.RuneCountInString(reason)
	switch {
	case n > maxReason:
		return fault.Invalid(fault.Field("reason", "At most %d characters; this has %d", maxReason, n))
	case strings.ContainsFunc(reason, unicode.IsControl):
		return fault.Invalid(fault.Field("reason", "Control characters and broken text can't be used here"))
	}
	return nil
}

// reason reads the body of an action.
func (k *call) reason() (string, error) {
	var in reasonBody
	if err := decode(k.body, &in); err != nil {
		return "", err
	}
	return in.Reason, checkReason(in.Reason)
}

func (s *api) taskActions() {
	action := func(name, summary, about string) operation {
		return operation{
			method: http.MethodPost, path: "/tasks/{code}/" + name, id: name + "-task", tag: tagTasks, verb: access.PauseTask,
			object: taskObject, summary: summary, about: about, body: reasonBody{}, optional: true, example: exampleReason, conflicts: true,
		}
	}
	add(s, action("enable", "Enable a task", "It plans from now; what was missed while it was disabled is not made up for."), (*api).enableTask)
	add(s, action("disable", "Disable a task", "No new slots, and triggers get 409. What was accepted still runs."), (*api).disableTask)
	pause := action("pause", "Pause a task", "Nothing of it starts before the moment given: accepted work waits, slots in that time are recorded as missed.")
	pause.body, pause.example, pause.optional = pauseBody{}, examplePause, false
	add(s, pause, (*api).pauseTask)
	add(s, action("resume", "End a pause", "What waits becomes due at once. 409 when the task is not paused."), (*api).resumeTask)
	add(s, operation{
		method: http.MethodPost, path: "/tasks/{code}/trigger", id: "trigger-task", tag: tagTasks, verb: access.RunTask,
		object: taskObject, status: http.StatusAccepted, conflicts: true, body: sched.TriggerRequest{}, optional: true, example: exampleTrigger,
		also:    map[int]string{http.StatusOK: "The biz_id was accepted before: its instance, with duplicate true"},
		summary: "Run a task once", bucket: func(s *api) *limits { return s.triggers },
		about: "Now, after a delay or at a moment. Once it is answered, the instance is in the ledger. " +
			"The same biz_id again gives the same instance. 409 when the task is disabled.",
	}, (*api).triggerTask)
}

func (s *api) enableTask(ctx context.Context, k *call, in *taskIn) (*taskOut, error) {
	return s.setEnabled(ctx, k, in.Code, true)
}

func (s *api) disableTask(ctx context.Context, k *call, in *taskIn) (*taskOut, error) {
	return s.setEnabled(ctx, k, in.Code, false)
}

func (s *api) setEnabled(ctx context.Context, k *call, code string, on bool) (*taskOut, error) {
	return s.act(ctx, k, code, func(reason string) (sched.Task, error) {
		return s.tasks.SetEnabled(ctx, k.actor, code, on, reason)
	})
}

func (s *api) resumeTask(ctx context.Context, k *call, in *taskIn) (*taskOut, error) {
	return s.act(ctx, k, in.Code, func(reason string) (sched.Task, error) {
		return s.tasks.Resume(ctx, k.actor, in.Code, reason)
	})
}

// act is the one shape of the actions that take a reason only.
func (s *api) act(ctx context.Context, k *call, code string, do func(reason string) (sched.Task, error)) (*taskOut, error) {
	if err := checkCode(code); err != nil {
		return nil, err
	}
	reason, err := k.reason()
	if err != nil {
		return nil, err
	}
	t, err := do(reason)
	if err != nil {
		return nil, err
	}
	return s.taskOut(ctx, k, t)
}

func (s *api) pauseTask(ctx context.Context, k *call, in *taskIn) (*taskOut, error) {
	if err := checkCode(in.Code); err != nil {
		return nil, err
	}
	var body pauseBody
	if err := decode(k.body, &body); err != nil {
		return nil, err
	}
	if err := checkReason(body.Reason); err != nil {
		return nil, err
	}
	t, err := s.tasks.Pause(ctx, k.actor, in.Code, body.Until, body.Reason)
	if err != nil {
		return nil, err
	}
	return s.taskOut(ctx, k, t)
}

// triggerOut is the instance that a request got.
type triggerOut struct {
	Status   int
	Location string `header:"Location" doc:"Path of the instance"`
	Body     triggerBody
}

type triggerBody struct {
	InstanceBody
	Duplicate bool `json:"duplicate" doc:"The biz_id was accepted before: this is its instance"`
}

func (s *api) triggerTask(ctx context.Context, k *call, in *taskIn) (*triggerOut, error) {
	if err := checkCode(in.Code); err != nil {
		return nil, err
	}
	var body sched.TriggerRequest
	if err := decode(k.body, &body); err != nil {
		return nil, err
	}
	// With a key, the request has one name however often it comes: the process
	// that stored it may have died before it could keep its answer.
	body.BizID = cmp.Or(body.BizID, k.name)
	got, created, err := s.tasks.Trigger(ctx, k.actor, in.Code, body)
	if err != nil {
		return nil, err
	}
	out := &triggerOut{
		Status: http.StatusAccepted, Location: instancePath(got.ID),
		Body: triggerBody{InstanceBody: instanceShape(got, in.Code), Duplicate: !created},
	}
	if !created {
		out.Status = http.StatusOK
		return out, nil
	}
	made(k.c, got)
	return out, nil
}
