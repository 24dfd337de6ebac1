package sched

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of endings.
const (
	// MaxDeaths is how many attempts may end with their node before the
	// instance itself is suspected of killing it (design.md section 5).
	MaxDeaths = 3
	// ReceiptTimeout is how long an accepted call may take to report, where its
	// task says nothing else.
	ReceiptTimeout = 24 * time.Hour
	// OverdueAfter is how far past its deadline a running attempt without an
	// answer is ended by its own node's audit (protocol.md, AUDIT).
	OverdueAfter = 60 * time.Second
	// MaxRetryAfter caps what a target's Retry-After may ask for (F30).
	MaxRetryAfter = time.Hour
	// maxError is the length of an instance's error line.
	maxError = 500
)

// Ending is the decision about an instance whose attempt came to an end: the
// row's new values. It is computed from the row as read under its lock.
type Ending struct {
	To              State
	Outcome         Outcome // of the attempt
	Error           string
	Retries         int
	Deaths          int
	DueAt           time.Time
	LookAt          time.Time
	ReceiptDeadline time.Time
	Redispatch      bool // dispatch+1: the old message must not count as sent
}

// Finish decides what a result makes of a running instance (protocol.md,
// SETTLE).
func (in Instance) Finish(r Result, p Policy, now time.Time) Ending {
	e := Ending{Outcome: r.Outcome, Error: OneLine(r.Error), Retries: in.Retries, Deaths: in.Deaths}
	switch {
	case r.Outcome == OutcomeSucceeded:
		e.To, e.Error = Succeeded, ""
	case !in.CancelWanted.IsZero():
		e.To = Canceled
		if r.Outcome == OutcomeAccepted {
			e.Outcome = OutcomeCanceled // accepted is no end, and this is one
		}
	case r.Outcome == OutcomeAccepted:
		e.To, e.ReceiptDeadline = Awaiting, p.ReceiptBy(now)
	case in.Retries < p.Retry.Max && p.MayRepeat(r.Definite):
		e.again(in, p, now, min(r.RetryAfter, MaxRetryAfter))
	default:
		e.To = badState(r.Outcome)
	}
	return e
}

// again makes the ending a retry: by the policy, and not before the target
// wants to be called again.
func (e *Ending) again(in Instance, p Policy, now time.Time, wait time.Duration) {
	e.To, e.Retries = Retrying, in.Retries+1
	e.DueAt = ceilSecond(now.Add(max(wait, p.Retry.Delay(e.Retries, in.ID))))
	e.LookAt = e.DueAt.Add(LookAgain)
}

// Lose decides about a running instance whose node is gone, or whose claim
// its own node does not know (protocol.md, LOST). graceful: the node stopped
// in order, which is nobody's death.
func (in Instance) Lose(p Policy, graceful bool, now time.Time) Ending {
	e := Ending{Outcome: OutcomeLost, Retries: in.Retries, Deaths: in.Deaths, Error: "the node stopped working on it"}
	unsent := !p.Idempotent && in.SentAt.IsZero() // only non-idempotent work is marked
	if !in.CancelWanted.IsZero() {
		e.To = Lost
		if unsent {
			e.To = Canceled
		}
		return e
	}
	if !graceful {
		e.Deaths++
	}
	switch {
	case !p.Idempotent && !unsent:
		e.To, e.Error = Lost, "the node died after it began to send; whether the target did the work is not known"
	case e.Deaths >= MaxDeaths:
		e.To, e.Error = Lost, "its node died three times: it is suspected of killing it"
	default:
		e.To, e.Redispatch = Queued, true
		e.DueAt, e.LookAt = now, now.Add(LookAgain)
	}
	return e
}

// MissReceipt decides about an awaiting instance whose target did not report
// in time. Silence is never definite, so only idempotent work is repeated.
func (in Instance) MissReceipt(p Policy, now time.Time) Ending {
	e := Ending{Outcome: OutcomeTimedOut, Retries: in.Retries, Deaths: in.Deaths, Error: "no receipt came in time"}
	if p.HeartbeatSeconds > 0 {
		e.Error = fmt.Sprintf("no receipt came in time, or no sign of life for %d s", p.HeartbeatSeconds)
	}
	if p.Idempotent && in.Retries < p.Retry.Max {
		e.again(in, p, now, 0)
	} else {
		e.To = TimedOut
	}
	return e
}

func badState(o Outcome) State {
	if o == OutcomeTimedOut {
		return TimedOut
	}
	return Failed
}

// OneLine makes text fit an error line: valid UTF-8, no control characters,
// at most 500 characters.
func OneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "�"))
	s = strings.TrimSpace(s)
	if utf8.RuneCountInString(s) <= maxError {
		return s
	}
	return string([]rune(s)[:maxError-1]) + "…"
}
