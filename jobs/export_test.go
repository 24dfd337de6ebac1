package jobs

import "time"

// Impatient shortens what Asynq waits longer than the grace.
func Impatient(o WorkerOptions) WorkerOptions {
	o.spare = 100 * time.Millisecond
	return o
}

// KeptBody is how much of an answer is stored.
const KeptBody = keptBody

// MaxPools bounds the pools of connections; Pools counts them.
const MaxPools = maxPools

func (h *HTTP) Pools() int {
	h.pools.mu.Lock()
	defer h.pools.mu.Unlock()
	return len(h.pools.held)
}
