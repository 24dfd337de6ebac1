package sched

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"ax/app/fail"
)

// sweepBatch bounds the rows of each kind that one tick looks at.
const sweepBatch = 500

// Stale is an open row whose time to be looked at has come, as read.
type Stale struct {
	InstanceID string
	State      State
	Attempt    int
	Dispatch   int
	Resends    int
}

// sweepStore is what a sweeper needs of the ledger.
type sweepStore interface {
	// Stale lists queued and retrying rows with look_at at or before now.
	Stale(ctx context.Context, now time.Time, limit int) ([]Stale, error)
	// Raise gives the row a new message number and the next look_at, if it is
	// still as read; false: somebody else moved it.
	Raise(ctx context.Context, s Stale, now time.Time) (Message, bool, error)
	// DeclareDead marks nodes whose beat is too old, if the asking node's own
	// row says that it may judge.
	// now is a fresh reading of the ledger's clock.
	DeclareDead(ctx context.Context, me string, p Pulse, now time.Time) ([]string, error)
	// Orphans lists what runs on nodes that are gone.
	Orphans(ctx context.Context, limit int) ([]Held, error)
	Lose(ctx context.Context, h Held, now time.Time) (Message, bool, error)
	// Overdue lists awaiting rows past their receipt deadline.
	Overdue(ctx context.Context, now time.Time, limit int) ([]Held, error)
	// EndAwaiting ends such a row, or makes it a retry.
	EndAwaiting(ctx context.Context, h Held, now time.Time) error
	// LookNow makes the sweep look at once at everything that is due.
	LookNow(ctx context.Context, now time.Time) (int, error)
	// Now reads the ledger's clock.
	Now(ctx context.Context) (time.Time, error)
}

// Sweeper repairs what a crash, a cut or a wiped Redis left behind. All its
// writes repeat what was read; one row, one transaction.
type Sweeper struct {
	store sweepStore
	send  sender
	node  *Node
	clock *Clock
	log   *slog.Logger
}

// NewSweeper makes a sweeper.
func NewSweeper(store sweepStore, send sender, node *Node, clock *Clock, log *slog.Logger) *Sweeper {
	return &Sweeper{store: store, send: send, node: node, clock: clock, log: log}
}

// Tick sweeps once. A fault in one part doesn't keep the others from running.
func (s *Sweeper) Tick(ctx context.Context) (again bool, err error) {
	full, errA := s.resend(ctx)
	errB := s.orphans(ctx)
	errC := s.awaiting(ctx)
	return full && errA == nil, errors.Join(errA, errB, errC)
}

// resend is sweep a: what should have been delivered long ago gets a new
// message. The number is raised first: an id that Asynq holds archived or
// orphaned would count as sent for ever.
func (s *Sweeper) resend(ctx context.Context) (full bool, err error) {
	now := s.clock.Now()
	stale, err := s.store.Stale(ctx, now, sweepBatch)
	if err != nil {
		return false, err
	}
	if len(stale) > 0 {
		if err := fail.At("sweep.stale"); err != nil {
			return false, err
		}
	}
	messages := make([]Message, 0, len(stale))
	err = each(ctx, stale, func(st Stale) error {
		m, ok, err := s.store.Raise(ctx, st, now)
		if ok {
			messages = append(messages, m)
		}
		return err
	})
	if len(messages) > 0 {
		if unsent := fail.At("sweep.raised"); unsent != nil {
			return false, errors.Join(err, unsent)
		}
		s.log.Info("sent again what was not taken in time", "instances", len(messages))
		for _, unsent := range s.send.Send(ctx, messages) {
			if unsent != nil {
				err = errors.Join(err, unsent) // look_at doubles; the next look sends it
				break
			}
		}
	}
	return len(stale) == sweepBatch, err
}

// orphans is sweep b: dead nodes are declared, and what ran on any node that
// is gone is ended or queued again, at every tick.
func (s *Sweeper) orphans(ctx context.Context) error {
	// When the ledger's clock steps, our idea of it is old until our next beat:
	// whoever has beaten since would look hours late.
	now, err := s.store.Now(ctx)
	if err != nil {
		return err
	}
	dead, err := s.store.DeclareDead(ctx, s.node.ID(), s.node.pulse, now)
	if err != nil {
		return err
	}
	for _, id := range dead {
		s.log.Error("a node stopped beating and was declared dead", "node", id)
	}
	if len(dead) > 0 {
		if err := fail.At("sweep.declared"); err != nil {
			return err
		}
	}
	held, err := s.store.Orphans(ctx, sweepBatch)
	if err != nil {
		return err
	}
	if len(held) > 0 {
		if err := fail.At("sweep.orphans"); err != nil {
			return err
		}
	}
	return each(ctx, held, func(h Held) error {
		m, again, err := s.store.Lose(ctx, h, s.clock.Now())
		if err != nil {
			return err
		}
		if again {
			if err := fail.At("sweep.lost"); err != nil {
				return err
			}
			s.send.Send(ctx, []Message{m}) // the next look_at repairs what was not sent
		}
		return nil
	})
}

// awaiting is sweep c.
func (s *Sweeper) awaiting(ctx context.Context) error {
	now := s.clock.Now()
	held, err := s.store.Overdue(ctx, now, sweepBatch)
	if err != nil {
		return err
	}
	if len(held) > 0 {
		if err := fail.At("sweep.overdue"); err != nil {
			return err
		}
	}
	return each(ctx, held, func(h Held) error { return s.store.EndAwaiting(ctx, h, now) })
}

// Wiped is called when Redis was found to have lost its data: everything due
// is looked at now.
func (s *Sweeper) Wiped(ctx context.Context) error {
	n, err := s.store.LookNow(ctx, s.clock.Now())
	if err == nil && n > 0 {
		s.log.Warn("Redis lost its data; what is due is sent again", "instances", n)
	}
	return err
}
