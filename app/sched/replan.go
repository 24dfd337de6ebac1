package sched

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

const (
	// replanAtOnce is how many tasks are planned anew while whoever changed
	// the calendar waits; the loop does the others.
	replanAtOnce = 50
	// replanBatch is how many the loop takes at a time.
	replanBatch = 200
)

// replanStore notes the tasks whose calendar has changed until they have been
// planned anew.
type replanStore interface {
	Replans(ctx context.Context, calendar string, limit int) ([]int64, error)
	ReplanTask(ctx context.Context, id int64, now time.Time, again func(Task) Task) ([]Message, error)
}

// Replanner finds the next slots of tasks anew when their calendar has changed.
// Slots that are planned already stay.
type Replanner struct {
	store replanStore
	hand  handover
	clock *Clock
	log   *slog.Logger
}

// NewReplanner makes it.
func NewReplanner(store replanStore, hand handover, clock *Clock, log *slog.Logger) *Replanner {
	return &Replanner{store: store, hand: hand, clock: clock, log: log}
}

// Replan plans the tasks of a calendar anew, as many as one may wait for; Tick
// does the others, and those that failed.
func (r *Replanner) Replan(ctx context.Context, calendar string) error {
	_, err := r.some(ctx, calendar, replanAtOnce)
	return err
}

// Tick plans anew what is noted; more tells that there may be more.
func (r *Replanner) Tick(ctx context.Context) (more bool, err error) {
	n, err := r.some(ctx, "", replanBatch)
	return err == nil && n == replanBatch, err
}

// some plans up to limit tasks anew, each in a transaction of its own: one that
// fails keeps no other from it.
func (r *Replanner) some(ctx context.Context, calendar string, limit int) (int, error) {
	ids, err := r.store.Replans(ctx, calendar, limit)
	if err != nil {
		return 0, err
	}
	var failed error
	for _, id := range ids {
		if ctx.Err() != nil {
			return 0, errors.Join(failed, ctx.Err())
		}
		now := r.clock.Now()
		due, err := r.store.ReplanTask(ctx, id, now, func(t Task) Task { return t.again(now) })
		if err != nil {
			r.log.WarnContext(ctx, "a task could not be planned anew", "task_id", id, "error", err)
			failed = err
			continue
		}
		if len(due) > 0 {
			_, _ = r.hand.HandOver(ctx, due) // the dispatcher repeats what failed
		}
	}
	return len(ids), failed
}

// again is the task with the next slot that its schedule has from now on.
func (t Task) again(now time.Time) Task {
	if err := t.reschedule(now); err != nil {
		t.NextFireAt, t.PlanError = time.Time{}, err.Error()
	}
	return t
}
