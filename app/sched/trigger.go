package sched

import (
	"context"
	"encoding/json"
	"time"

	"ax/app/access"
	"ax/app/fail"
	"ax/app/fault"
)

// TriggerRequest asks for one run of a task. At most one of DelaySeconds and
// RunAt is set; neither: now, or after the delay of a task of that kind.
type TriggerRequest struct {
	BizID        string          `json:"biz_id,omitempty" doc:"Your name for the business action; the same one again gives the same instance"`
	DelaySeconds int             `json:"delay_seconds,omitempty"`
	RunAt        time.Time       `json:"run_at,omitzero"`
	Payload      json.RawMessage `json:"payload,omitempty"`
}

// Trigger accepts a request: after it returned, the instance is in the ledger.
// created is false when the biz_id was there already; its instance is given
// then. Errors: Invalid, Denied, NotFound, and Conflict for a disabled task.
func (s *Tasks) Trigger(ctx context.Context, by access.Actor, code string, r TriggerRequest) (in Instance, created bool, err error) {
	t, err := s.may(ctx, by, access.RunTask, code)
	if err != nil {
		return Instance{}, false, err
	}
	if !t.Enabled {
		return Instance{}, false, fault.Conflict("The task is disabled: it takes no requests")
	}
	now := s.clock.Now()
	var bad problems
	bad.bizID("biz_id", r.BizID)
	payload := bad.payload("payload", r.Payload)
	due := bad.due(t, r, now)
	if err := fault.Invalid(bad...); err != nil {
		return Instance{}, false, err
	}
	in = Instance{
		ID: s.newID(), TaskID: t.ID, TeamID: t.TeamID, Queue: t.Queue, BizID: r.BizID,
		Origin: FromPerson, RequestedBy: by.Name, Payload: payload,
		WantedAt: due, DueAt: due, State: Pending, CreatedAt: now,
	}
	if by.Kind == access.Token {
		in.Origin = FromAPI
	}
	if in.BizID == "" {
		in.BizID = s.newID()
	}
	in, created, err = s.store.Trigger(ctx, in, access.Entry{
		At: now, Actor: by, Action: "task.trigger", TeamID: t.TeamID,
		Object:  access.Object{Kind: "instance", ID: in.ID, Name: t.Code + "/" + in.BizID},
		Changes: []access.Change{{Field: "due_at", New: stamp(due)}},
	})
	if err == nil && created {
		err = fail.At("trigger.committed")
	}
	if err == nil && created && !due.After(now.Add(PlanHorizon)) {
		// The row is committed: a dispatcher repeats a hand-over that fails.
		_, _ = s.hand.HandOver(ctx, []Message{t.Message(in)})
	}
	return in, created, err
}

// due is when a request is due: now as it is, anything later on a whole second.
func (p *problems) due(t Task, r TriggerRequest, now time.Time) time.Time {
	switch {
	case r.DelaySeconds != 0 && !r.RunAt.IsZero():
		p.add("run_at", "Give a delay or a moment, not both")
	case r.DelaySeconds != 0:
		p.seconds("delay_seconds", r.DelaySeconds, 1, maxSeconds)
		return ceilSecond(now.Add(time.Duration(r.DelaySeconds) * time.Second))
	case !r.RunAt.IsZero():
		if r.RunAt.Before(now) || r.RunAt.After(now.Add(maxSeconds*time.Second)) {
			p.add("run_at", "A moment after now is needed, at most a year ahead")
		}
		return ceilSecond(r.RunAt.UTC())
	case t.Spec.Schedule.Kind == KindDelay:
		return ceilSecond(now.Add(time.Duration(t.Spec.Schedule.DelaySeconds) * time.Second))
	}
	return now
}
