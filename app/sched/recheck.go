package sched

import (
	"context"
	"time"
)

const (
	// recheckEvery is how often a scheduler looks over the next slots of all
	// tasks with a zone: at its start, and then this often, for a node with
	// other zone data may have found some until it was replaced.
	recheckEvery = time.Hour
	// recheckBatch is how many tasks are looked over at a time.
	recheckBatch = 500
)

// recheck is how far the tasks have been looked over.
type recheck struct {
	from time.Time // when the next look begins
	last int64     // the last task of this look; 0: none
}

// recheckSome looks over the next slots of some tasks and notes those which the
// zone data of this process puts elsewhere; more tells that others follow.
func (r *Replanner) recheckSome(ctx context.Context) (more bool, err error) {
	now := r.clock.Now()
	if now.Before(r.recheck.from) {
		return false, nil
	}
	tasks, last, err := r.store.ZonedTasks(ctx, r.recheck.last, recheckBatch)
	if err != nil {
		return false, err
	}
	var astray []int64
	for _, t := range tasks {
		if t.astray(now) {
			astray = append(astray, t.ID)
		}
	}
	if err := r.store.NoteReplans(ctx, astray); err != nil {
		return false, err
	}
	if len(astray) > 0 {
		r.log.InfoContext(ctx, "next slots are found anew, by the zone data of this process", "tasks", len(astray))
	}
	r.recheck.last = last
	if last == 0 {
		r.recheck.from = now.Add(recheckEvery)
	}
	return last != 0, nil
}

// astray tells whether the next slot isn't the one that the schedule has. What
// the planner is about to take is let be: it asks the schedule itself.
func (t Task) astray(now time.Time) bool {
	ahead := now.Add(PlanHorizon)
	if t.Spec.Schedule.FixedDelay || !t.NextFireAt.IsZero() && !t.NextFireAt.After(ahead) {
		return false
	}
	times, err := t.Times()
	if err != nil {
		return t.PlanError == ""
	}
	return t.PlanError != "" || !firstFrom(times, ahead.Add(time.Millisecond)).Equal(t.NextFireAt)
}
