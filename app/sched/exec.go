package sched

import (
	"context"
	"encoding/json"
	"time"
)

// Call is one attempt as an executor sees it: all that it needs, nothing that
// it could change.
type Call struct {
	InstanceID  string
	TeamID      int64 // whose task it is: which addresses may be called
	TaskCode    string
	BizID       string
	Key         string // Idempotency-Key, the same for all attempts and replays
	Attempt     int
	Replay      int
	ScheduledAt time.Time // the first due time
	Idempotent  bool      // the target may get the same key twice
	Payload     json.RawMessage
	Target      Target
	Shard       *Shard // nil: no part of a broadcast
	Probe       bool   // the question of a hook, not the work: it carries no key
	Test        bool   // a person tries the target out; there is no instance
	// ReceiptURL and ReceiptToken let a target that answers 202 report later;
	// empty when no public address is known.
	ReceiptURL   string
	ReceiptToken string
}

// Result is what an executor found out. It is a fact, not a decision: whether
// to try again is the policy's.
type Result struct {
	// Outcome is succeeded, failed, timed_out, canceled or accepted.
	Outcome Outcome
	// Definite: a complete answer came, or surely nothing was sent. Silence,
	// a broken connection and a half answer are not definite: the target may
	// or may not have done the work.
	Definite      bool
	StatusCode    int    // HTTP status; 0: none came
	Error         string // one line for people; empty on success
	Request       string // method, address, headers as sent; secrets masked
	Response      string // head and start of the body, capped
	ResponseBytes int64  // bytes of body read
	// RetryAfter is how long the target asked to be left alone, at most
	// MaxRetryAfter; 0: it didn't.
	RetryAfter time.Duration
	// CancelURL is where the executor that was called can be told to stop this
	// very work; empty: nowhere, or where the target says.
	CancelURL string
}

// Executor carries out calls of one target kind. Execute returns when the
// work is over or ctx is done; a context error is never success. It must not
// write anything but what the target asks for.
type Executor interface {
	Execute(ctx context.Context, call Call) Result
}
