package jobs

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

const (
	markerKey = "ax:marker"
	// queuesKey is where Asynq lists its queues. A client writes each name
	// once in its life, so after a wipe the queue would work but not be seen.
	queuesKey = "asynq:queues"
)

// Marker tells whether Redis has lost its data: a key holds a random value,
// and it is gone or another one afterwards. It is safe for concurrent use.
type Marker struct {
	client redis.UniversalClient
	queues []any

	mu   sync.Mutex
	seen string // value at the last look; empty: never looked
	owed bool   // what follows from a wipe is still to be done
}

// NewMarker makes a marker; it also keeps the queues visible.
func NewMarker(r *Redis, q Queues) *Marker {
	m := &Marker{client: r.Client(), queues: []any{maintenanceQueue}}
	for _, name := range q.Names() {
		m.queues = append(m.queues, name)
	}
	return m
}

// Check tells once per wipe, on every node, that Redis lost its data. A Redis
// that never had the key counts as wiped, so the first start on an empty one
// does too.
func (m *Marker) Check(ctx context.Context) (wiped bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.client.SAdd(ctx, queuesKey, m.queues...).Err(); err != nil {
		return false, fmt.Errorf("list queues in Redis: %w", err)
	}
	value, made, err := m.value(ctx)
	if err != nil {
		return false, fmt.Errorf("read the marker in Redis: %w", err)
	}
	wiped = made || m.owed || (m.seen != "" && m.seen != value)
	m.seen, m.owed = value, false
	return wiped, nil
}

// Owe makes the next Check tell of the wipe again: for a caller that could
// not do what follows from it.
func (m *Marker) Owe() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.owed = true
}

func (m *Marker) value(ctx context.Context) (value string, made bool, err error) {
	value, err = m.client.Get(ctx, markerKey).Result()
	if !errors.Is(err, redis.Nil) {
		return value, false, err
	}
	// Nodes race here; the loser reads the winner's value.
	fresh := uuid.NewString()
	made, err = m.client.SetNX(ctx, markerKey, fresh, 0).Result()
	if err != nil || made {
		return fresh, made, err
	}
	value, err = m.client.Get(ctx, markerKey).Result()
	return value, false, err
}

// watchEvery is how often the marker is looked at: work is late by at most
// this after a wipe.
const watchEvery = 2 * time.Second

// Watch is the loop that calls wiped after each loss of Redis's data, until it
// succeeds.
func (m *Marker) Watch(wiped func(ctx context.Context) error) Loop {
	return Loop{Name: "marker", Every: watchEvery, Tick: func(ctx context.Context) (bool, error) {
		lost, err := m.Check(ctx)
		if err != nil || !lost {
			return false, err
		}
		if err := wiped(ctx); err != nil {
			m.Owe()
			return false, err
		}
		return false, nil
	}}
}
