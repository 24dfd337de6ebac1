package sched

import (
	"time"
)

// CancelReason says why a target is told to stop.
type CancelReason string

// The reasons.
const (
	BecauseCanceled CancelReason = "canceled"  // somebody canceled
	BecauseTimedOut CancelReason = "timed_out" // the time was over
)

// Bounds of cancel calls.
const (
	// CancelTries is how often a target is told to stop, until it answers 2xx.
	CancelTries = 8
	// CancelFor is how long after the end of an instance a call that was tried is
	// tried again.
	CancelFor = 10 * time.Minute
	// cancelWithin bounds one call.
	cancelWithin = 5 * time.Second
	// cancelLease is when another node may make a call that one has taken.
	cancelLease = 30 * time.Second
)

// CancelCall is what a target that may still work on an instance is told once
// nobody wants the work any more. It never changes the instance.
type CancelCall struct {
	InstanceID string
	Attempt    int
	Reason     CancelReason
	By         string // who canceled; empty: nobody, the time was over
	AskedAt    time.Time
	DueAt      time.Time // when it is tried next; zero: it is over
	Tries      int
	StatusCode int    // of the last answer; 0: none came, or a message
	Error      string // why the last try did not reach the target
	EndedAt    time.Time
}

// Told tells whether the target has taken the word.
func (c CancelCall) Told() bool { return !c.EndedAt.IsZero() && c.Error == "" }

// Waiting tells whether it is still to be sent.
func (c CancelCall) Waiting() bool { return c.EndedAt.IsZero() }

// Tells says why a target is told to stop, by what an ending made of its
// instance; "": it is not told. Where the target surely has nothing, or has
// answered, there is nobody to tell.
func (in Instance) Tells(e Ending, r Result) CancelReason {
	has := !r.Definite || r.Outcome == OutcomeAccepted
	switch {
	case !has:
	case !in.CancelWanted.IsZero() && (e.To == Canceled || e.To == Lost):
		return BecauseCanceled
	case e.To == TimedOut:
		return BecauseTimedOut
	}
	return ""
}

// TakesCancel tells whether the definition says where its target is told to
// stop. Executors say so themselves.
func (t Target) TakesCancel() bool { return t.CancelRoutingKey != "" || t.HTTP.cancelURL() != "" }

func (r *HTTPRules) cancelURL() string {
	if r == nil {
		return ""
	}
	return r.CancelURL
}

// after is the call after a try that began at sent.
func (c CancelCall) after(r Result, now time.Time) CancelCall {
	c.StatusCode, c.Error = r.StatusCode, r.Error
	ok := r.Outcome == OutcomeSucceeded || r.Outcome == OutcomeAccepted
	switch {
	case ok:
		c.Error = ""
	case c.Error == "":
		c.Error = "the target did not take it"
	}
	if ok || refusedForGood(r) || c.Tries >= CancelTries || now.Sub(c.AskedAt) >= CancelFor {
		c.DueAt, c.EndedAt = time.Time{}, now
		return c
	}
	c.DueAt = now.Add(cancelWait(c.Tries))
	return c
}

// refusedForGood tells whether a target answered what it would answer again.
func refusedForGood(r Result) bool {
	switch r.StatusCode {
	case 408, 425, 429:
		return false
	}
	return r.Definite && r.StatusCode >= 400 && r.StatusCode < 500
}

// cancelWait is the pause after so many tries: eight of them end within CancelFor.
func cancelWait(tries int) time.Duration {
	waits := [...]time.Duration{2 * time.Second, 5 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute}
	return waits[min(max(tries, 1), len(waits))-1]
}
