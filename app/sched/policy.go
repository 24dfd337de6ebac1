package sched

import (
	"hash/fnv"
	"math"
	"time"
)

// Overlap says what becomes of a slot that is due while the task has no free
// place. Requests always wait.
type Overlap string

// The overlap policies.
const (
	OverlapSkip   Overlap = "skip"
	OverlapQueue  Overlap = "queue"
	OverlapCancel Overlap = "cancel_running"
	OverlapAllow  Overlap = "allow"
)

// ByOverlap is the actor of what OverlapCancel canceled.
const ByOverlap = "overlap"

// AlertLevel of a task's failures.
type AlertLevel string

// The alert levels.
const (
	AlertP1   AlertLevel = "p1"
	AlertP2   AlertLevel = "p2"
	AlertNone AlertLevel = "none"
)

// Policy says how instances of a task are run.
type Policy struct {
	TimeoutSeconds int        `json:"timeout_seconds"` // of one attempt: 1 … 86,400
	Retry          Retry      `json:"retry"`
	Overlap        Overlap    `json:"overlap"`
	MaxConcurrent  int        `json:"max_concurrent"`       // 0: unlimited
	HostLimit      int        `json:"host_limit,omitempty"` // calls at once to the target's host; 0: any number
	Idempotent     bool       `json:"idempotent"`
	AlertLevel     AlertLevel `json:"alert_level"`

	// AwaitSeconds is how long accepted work may take until its receipt; 0 is
	// ReceiptTimeout. HeartbeatSeconds is how long it may be silent meanwhile;
	// 0 is as long.
	AwaitSeconds     int `json:"await_seconds,omitempty"`
	HeartbeatSeconds int `json:"heartbeat_seconds,omitempty"`
}

// RetryKind says how the delay grows.
type RetryKind string

// The retry kinds.
const (
	RetrySteps       RetryKind = "steps"
	RetryFixed       RetryKind = "fixed"
	RetryExponential RetryKind = "exponential"
)

// Retry says whether and when a failed attempt is repeated. Delays: steps:
// one per retry, the last one repeats; fixed: one; exponential: base and cap.
type Retry struct {
	Kind          RetryKind `json:"kind"`
	Max           int       `json:"max"` // 0 … 100
	DelaysSeconds []int     `json:"delays_seconds,omitempty"`
	// Unsafe allows retries of non-idempotent work after a definite failure;
	// only an owner of the team may set it.
	Unsafe bool `json:"unsafe,omitempty"`
}

// Timeout of one attempt.
func (p Policy) Timeout() time.Duration { return time.Duration(p.TimeoutSeconds) * time.Second }

// MayRepeat tells whether a failed attempt may be followed by another:
// idempotent work always, other work only when an owner allowed it and the
// end is definite (protocol.md, SETTLE).
func (p Policy) MayRepeat(definite bool) bool {
	return p.Idempotent || (p.Retry.Unsafe && definite)
}

// Delay before retry n (1 is the first). The spread of exponential delays
// (full jitter above the base) is taken from seed, so it is the same when it
// is computed again. It is never below the base nor above the cap.
func (r Retry) Delay(n int, seed string) time.Duration {
	if len(r.DelaysSeconds) == 0 {
		return 0
	}
	first := time.Duration(r.DelaysSeconds[0]) * time.Second
	switch r.Kind {
	case RetrySteps:
		i := min(n, len(r.DelaysSeconds)) - 1
		return time.Duration(r.DelaysSeconds[max(i, 0)]) * time.Second
	case RetryExponential:
		ceiling := r.Ceiling(n)
		return first + time.Duration(unit(seed, n)*float64(ceiling-first))
	default:
		return first
	}
}

// Ceiling is the longest delay that an exponential retry n may get: base
// doubled n-1 times, at most the cap. It never overflows.
func (r Retry) Ceiling(n int) time.Duration {
	base := time.Duration(r.DelaysSeconds[0]) * time.Second
	limit := base
	if len(r.DelaysSeconds) > 1 {
		limit = max(base, time.Duration(r.DelaysSeconds[1])*time.Second)
	}
	d := base
	for i := 1; i < n && d < limit; i++ {
		if d > math.MaxInt64/2 {
			return limit
		}
		d *= 2
	}
	return min(d, limit)
}

// unit maps seed and n to a number in [0, 1).
func unit(seed string, n int) float64 {
	h := fnv.New64a()
	h.Write([]byte(seed))
	h.Write([]byte{byte(n), byte(n >> 8)})
	return float64(h.Sum64()>>11) / (1 << 53)
}
