package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	turnsKey  = "ax:turn:"
	turnsLife = 24 * time.Hour
)

// Turns counts in Redis how many calls were given out, over all nodes. A Redis
// that lost it begins anew: no call is lost with it.
type Turns struct{ client redis.UniversalClient }

// NewTurns makes the counter.
func NewTurns(r *Redis) *Turns { return &Turns{r.Client()} }

// Next gives how many calls were counted under the name before this one.
func (t *Turns) Next(ctx context.Context, name string) (uint64, error) {
	var n *redis.IntCmd
	_, err := t.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		n = p.Incr(ctx, turnsKey+name)
		p.Expire(ctx, turnsKey+name, turnsLife)
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("count the turns of %s in Redis: %w", name, err)
	}
	return uint64(n.Val() - 1), nil
}
