package sched

import (
	"context"
	"log/slog"
	"time"

	"ax/app/fail"
)

// handoverBatch is how many pending instances one pass hands over.
const handoverBatch = 500

// sender hands messages to the carrier; the result has one error per message,
// nil when it was sent or its id was there already.
type sender interface {
	Send(ctx context.Context, messages []Message) []error
}

// dispatchStore is what a dispatcher needs of the ledger.
type dispatchStore interface {
	// Due lists pending instances due at or before the given instant.
	Due(ctx context.Context, until time.Time, limit int) ([]Message, error)
	// MarkQueued moves an instance from pending to queued if its dispatch is
	// still the message's; it sets when the sweep looks at it.
	MarkQueued(ctx context.Context, messages []Message, now time.Time) error
}

// Dispatcher hands pending instances to the carrier. The committed row is the
// outbox: what is not sent now is sent by the next pass, of any node.
type Dispatcher struct {
	store dispatchStore
	send  sender
	clock *Clock
	log   *slog.Logger
}

// NewDispatcher makes a dispatcher.
func NewDispatcher(store dispatchStore, send sender, clock *Clock, log *slog.Logger) *Dispatcher {
	return &Dispatcher{store: store, send: send, clock: clock, log: log}
}

// Tick hands over what is due within the horizon; again tells that the batch
// was full and all of it was sent.
func (d *Dispatcher) Tick(ctx context.Context) (again bool, err error) {
	due, err := d.store.Due(ctx, d.clock.Now().Add(PlanHorizon), handoverBatch)
	if err != nil || len(due) == 0 {
		return false, err
	}
	sent, err := d.HandOver(ctx, due)
	return sent == handoverBatch, err
}

// HandOver sends the messages and marks what was sent as queued. It stops at
// nothing: what fails stays pending.
func (d *Dispatcher) HandOver(ctx context.Context, messages []Message) (sent int, err error) {
	errs := d.send.Send(ctx, messages)
	ok := make([]Message, 0, len(messages))
	for i, m := range messages {
		if errs[i] == nil {
			ok = append(ok, m)
		} else {
			err = errs[i]
		}
	}
	if len(ok) > 0 {
		if lost := fail.At("send.sent"); lost != nil {
			return 0, lost
		}
		if markErr := d.store.MarkQueued(ctx, ok, d.clock.Now()); markErr != nil {
			return 0, markErr
		}
	}
	return len(ok), err
}
