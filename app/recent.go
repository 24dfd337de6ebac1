package app

import (
	"sync"
	"time"
)

// recentFor is how long what was read for a live page is shown to others:
// shorter than the pause between two refreshes, so that each of them moves.
const recentFor = 2 * time.Second

// recent keeps what was read at a moment, by key. Many viewers of a live page
// must not cost more than one, so those who come while it is read wait for it.
type recent[V any] struct {
	mu      sync.Mutex
	entries map[string]*recentEntry[V]
}

type recentEntry[V any] struct {
	mu sync.Mutex
	at time.Time
	v  V
}

// get gives what is at most keep old, reading it when it isn't there. An
// error is not kept.
func (r *recent[V]) get(key string, now time.Time, keep time.Duration, read func() (V, error)) (V, error) {
	e := r.entry(key, now, keep)
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.at.IsZero() && now.Sub(e.at).Abs() < keep { // a clock may go back
		return e.v, nil
	}
	v, err := read()
	if err == nil {
		e.at, e.v = now, v
	}
	return v, err
}

func (r *recent[V]) entry(key string, now time.Time, keep time.Duration) *recentEntry[V] {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.entries[key]; ok {
		return e
	}
	for k, old := range r.entries { // only a new key makes the map grow
		if old.mu.TryLock() {
			if now.Sub(old.at).Abs() >= keep {
				delete(r.entries, k)
			}
			old.mu.Unlock()
		}
	}
	if r.entries == nil {
		r.entries = map[string]*recentEntry[V]{}
	}
	e := &recentEntry[V]{}
	r.entries[key] = e
	return e
}

// forget makes the next one read anew.
func (r *recent[V]) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries = nil
}
