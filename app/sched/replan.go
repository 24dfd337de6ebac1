package sched

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"
)

const (
	// replanAtOnce is how many tasks are planned anew while whoever changed
	// the calendar waits; the loop does the others.
	replanAtOnce = 50
	// replanBatch is how many are listed at a time.
	replanBatch = 200
)

// replanStore notes the tasks whose calendar has changed until they have been
// planned anew.
type replanStore interface {
	// Replans gives ids above after, in order; of one calendar when it is named.
	Replans(ctx context.Context, calendar string, after int64, limit int) ([]int64, error)
	ReplanTask(ctx context.Context, id int64, now time.Time, again func(Task) Task) ([]Message, error)
	// ZonedTasks gives tasks with ids above after, in order, and the last id
	// looked at; 0 when no others follow.
	ZonedTasks(ctx context.Context, after int64, limit int) (tasks []Task, last int64, err error)
	NoteReplans(ctx context.Context, ids []int64) error
}

// Replanner finds the next slots of tasks anew when their calendar has changed,
// or when they were found by other zone data than this process has. Slots that
// are planned already stay. Tick is for one goroutine.
type Replanner struct {
	store   replanStore
	hand    handover
	clock   *Clock
	log     *slog.Logger
	recheck recheck
}

// NewReplanner makes it.
func NewReplanner(store replanStore, hand handover, clock *Clock, log *slog.Logger) *Replanner {
	return &Replanner{store: store, hand: hand, clock: clock, log: log}
}

// Replan plans the tasks of a calendar anew, as many as one may wait for; Tick
// does the others, and those that failed.
func (r *Replanner) Replan(ctx context.Context, calendar string) error {
	_, _, err := r.some(ctx, calendar, 0, replanAtOnce)
	return err
}

// Tick plans anew all that is noted. It goes past those that fail, however many
// they are: each has its next try in the next tick.
func (r *Replanner) Tick(ctx context.Context) (more bool, err error) {
	more, err = r.recheckSome(ctx)
	for last, n := int64(0), replanBatch; n == replanBatch; {
		var failed error
		last, n, failed = r.some(ctx, "", last, replanBatch)
		err = cmp.Or(err, failed)
	}
	return more, err
}

// some plans up to limit tasks with ids above after anew, each in a transaction
// of its own: one that fails keeps no other from it. It gives the last id, how
// many there were, and one of the errors.
func (r *Replanner) some(ctx context.Context, calendar string, after int64, limit int) (last int64, n int, err error) {
	ids, err := r.store.Replans(ctx, calendar, after, limit)
	if err != nil {
		return after, 0, err
	}
	var failed error
	for _, id := range ids {
		if ctx.Err() != nil {
			return id, 0, errors.Join(failed, ctx.Err())
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
	if len(ids) > 0 {
		after = ids[len(ids)-1]
	}
	return after, len(ids), failed
}

// again is the task with the next slot that its schedule has from now on.
func (t Task) again(now time.Time) Task {
	if err := t.reschedule(now); err != nil {
		t.NextFireAt, t.PlanError = time.Time{}, err.Error()
	}
	return t
}
