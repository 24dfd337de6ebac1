package sched

import (
	"context"
	"time"

	"ax/app/fault"
)

// SignEvery is how often a sign of life of one attempt is stored; one that
// comes sooner is taken and dropped.
const SignEvery = time.Second

// Sign is a target's word about an attempt that it still works on. Without
// percent and message it is a heartbeat.
type Sign struct {
	InstanceID string
	Attempt    int  // that the token was made for
	Percent    *int // 0 to 100
	Message    string
}

// Signed says what became of a sign.
type Signed struct {
	State   State
	Already bool // the instance has ended: nothing was stored
	Cancel  bool // it is not wanted any more: the target may stop
	Stored  bool // false: another came within the second
}

// Progress is what the target said last of an attempt.
type Progress struct {
	Attempt int
	Percent *int // nil: it never said
	Message string
	SaidAt  time.Time
	Signs   int // that were stored
}

// Sign takes a target's word about work that goes on. Where the task wants
// heartbeats it moves the deadline of the receipt, never past AwaitUntil.
// Faults: Invalid (percent), NotFound, Conflict (another attempt is the
// present one, or it waits for its retry).
func (s *Instances) Sign(ctx context.Context, g Sign) (Signed, error) {
	if g.Percent != nil && (*g.Percent < 0 || *g.Percent > 100) {
		return Signed{}, fault.Invalid(fault.Field("percent", "Between 0 and 100; this is %d", *g.Percent))
	}
	g.Message = OneLine(g.Message)
	return s.store.Sign(ctx, g, s.clock.Now())
}

// AwaitFor is how long accepted work may take to report, in all.
func (p Policy) AwaitFor() time.Duration {
	if p.AwaitSeconds == 0 {
		return ReceiptTimeout
	}
	return time.Duration(p.AwaitSeconds) * time.Second
}

// silence is how long accepted work may say nothing.
func (p Policy) silence() time.Duration {
	if p.HeartbeatSeconds == 0 {
		return p.AwaitFor()
	}
	return min(p.AwaitFor(), time.Duration(p.HeartbeatSeconds)*time.Second)
}

// ReceiptBy is until when accepted work must report, or give a sign of life,
// seen from now.
func (p Policy) ReceiptBy(now time.Time) time.Time { return now.Add(p.silence()) }

// AwaitUntil is what no sign of life moves the deadline past, told from the
// deadline that the work got when it was accepted.
func (p Policy) AwaitUntil(first time.Time) time.Time { return first.Add(p.AwaitFor() - p.silence()) }

// await checks how long accepted work may take.
func (p *problems) await(w PolicySpec, out *Policy) {
	if w.AwaitSeconds != nil {
		out.AwaitSeconds = *w.AwaitSeconds
		p.seconds("policy.await_seconds", out.AwaitSeconds, minAwait, maxAwait)
	}
	if w.HeartbeatSeconds == nil || *w.HeartbeatSeconds == 0 {
		return
	}
	out.HeartbeatSeconds = *w.HeartbeatSeconds
	p.seconds("policy.heartbeat_seconds", out.HeartbeatSeconds, minHeartbeat, maxAwait)
	if whole := int(out.AwaitFor() / time.Second); out.HeartbeatSeconds > whole {
		p.add("policy.heartbeat_seconds", "The receipt is due within %d s; a sign of life can't be due later", whole)
	}
}

// Bounds of accepted work, in seconds.
const (
	minAwait     = 5
	maxAwait     = 30 * 86_400
	minHeartbeat = 5
)
