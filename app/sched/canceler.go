package sched

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"ax/app/fail"
)

// Bounds of one turn.
const (
	cancelsAtOnce = 16
	// cancelsOfTask bounds the calls of one task in a turn: a target that is
	// dead must not take all the places.
	cancelsOfTask = 2
)

// CancelDue names a cancel call that is due, as read.
type CancelDue struct {
	InstanceID string
	TaskID     int64
	Tries      int
}

// CancelOrder is a cancel call to be made.
type CancelOrder struct {
	CancelCall
	Call Call   // of the attempt; no receipt
	URL  string // of the executor that has the work; empty: as the target says
}

// cancelStore keeps cancel calls. Each method is one transaction.
type cancelStore interface {
	// DueCancels lists what is due, the longest waiting first.
	DueCancels(ctx context.Context, now time.Time, limit int) ([]CancelDue, error)
	// TakeCancel counts a try and puts the next one off until then, if the call
	// is still as it was read; false: another node has it.
	TakeCancel(ctx context.Context, d CancelDue, now, until time.Time) (CancelOrder, bool, error)
	// SettleCancel stores what became of a try, unless another one has begun.
	SettleCancel(ctx context.Context, c CancelCall) error
}

// teller brings a cancel call to its target, once. A result without an answer
// says in its error what went wrong.
type teller interface {
	Tell(ctx context.Context, o CancelOrder) Result
}

// Canceler tells targets to stop what nobody wants any more. The rows are
// written with the ends that cause them; what a process that dies has taken is
// taken again, so a target may be told twice.
type Canceler struct {
	store cancelStore
	tell  teller
	clock *Clock
	log   *slog.Logger
}

// NewCanceler makes one.
func NewCanceler(store cancelStore, tell teller, clock *Clock, log *slog.Logger) *Canceler {
	return &Canceler{store: store, tell: tell, clock: clock, log: log}
}

// Tick makes the calls that are due, some at once, and waits for them: five
// seconds at most for each.
func (c *Canceler) Tick(ctx context.Context) (again bool, err error) {
	due, err := c.store.DueCancels(ctx, c.clock.Now(), cancelsAtOnce*4)
	if err != nil {
		return false, err
	}
	var all sync.WaitGroup
	now := fairly(due)
	for _, d := range now {
		all.Go(func() {
			if err := c.one(ctx, d); err != nil && ctx.Err() == nil {
				c.log.WarnContext(ctx, "a target could not be told to stop, it is tried again", "instance_id", d.InstanceID, "error", err)
			}
		})
	}
	all.Wait()
	return len(due) > len(now), nil
}

// fairly takes what one turn does: some of each task.
func fairly(due []CancelDue) []CancelDue {
	var out []CancelDue
	of := map[int64]int{}
	for _, d := range due {
		if of[d.TaskID]++; of[d.TaskID] <= cancelsOfTask && len(out) < cancelsAtOnce {
			out = append(out, d)
		}
	}
	return out
}

// one makes one call and stores what came of it.
func (c *Canceler) one(ctx context.Context, d CancelDue) error {
	now := c.clock.Now()
	o, ok, err := c.store.TakeCancel(ctx, d, now, now.Add(cancelLease))
	if err != nil || !ok {
		return err
	}
	if err := fail.At("cancel.taken"); err != nil {
		return err
	}
	tctx, cancel := context.WithTimeout(ctx, cancelWithin)
	defer cancel()
	r := c.tell.Tell(tctx, o)
	if ctx.Err() != nil {
		return ctx.Err() // cut off by our own end: the next node tries
	}
	if err := fail.At("cancel.told"); err != nil {
		return err
	}
	done := o.after(r, c.clock.Now())
	c.log.InfoContext(ctx, "told a target to stop", "instance_id", d.InstanceID, "try", done.Tries, "status", done.StatusCode, "error", done.Error)
	return c.store.SettleCancel(ctx, done)
}
