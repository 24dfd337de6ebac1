package app

import "time"

// Recent is recent, for its tests.
type Recent[V any] struct{ recent[V] }

// Get is get.
func (r *Recent[V]) Get(key string, now time.Time, keep time.Duration, read func() (V, error)) (V, error) {
	return r.get(key, now, keep, read)
}

// Len is how many keys are kept.
func (r *Recent[V]) Len() int { return len(r.entries) }
