package jobs

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// hintChannel carries ids of instances that somebody wants canceled.
const hintChannel = "ax:cancel"

// Hints tell all nodes at once that a cancel is wished. They may get lost:
// the wish stands in the ledger, and each node reads it at its next beat.
type Hints struct{ client redis.UniversalClient }

// NewHints makes the sender and listener of hints.
func NewHints(r *Redis) *Hints { return &Hints{client: r.Client()} }

// Hint tells all listeners of the instance.
func (h *Hints) Hint(ctx context.Context, instanceID string) error {
	if err := h.client.Publish(ctx, hintChannel, instanceID).Err(); err != nil {
		return fmt.Errorf("hint at the cancel of instance %s: %w", instanceID, err)
	}
	return nil
}

// Listen calls on for each hint until ctx ends. The connection is watched and
// made anew when Redis was away; what was told meanwhile is lost. on must
// return soon.
func (h *Hints) Listen(ctx context.Context, on func(instanceID string)) {
	sub := h.client.Subscribe(ctx, hintChannel)
	defer func() { _ = sub.Close() }()
	told := sub.Channel()
	for {
		select {
		case <-ctx.Done():
			return
		case m, open := <-told:
			if !open {
				return
			}
			on(m.Payload)
		}
	}
}
