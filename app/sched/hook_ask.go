package sched

import (
	"fmt"
	"strings"
	"time"
)

// keptAnswers is how many of a hook's answers to an instance are kept.
const keptAnswers = 5

// maxSaid is how much of an answer is kept, in characters.
const maxSaid = 200

// ProbeAnswer is what a hook answered once, secrets masked.
type ProbeAnswer struct {
	At     time.Time     `json:"at"`
	Status int           `json:"status,omitempty"` // 0: no answer came
	Said   string        `json:"said,omitempty"`   // why it isn't ready, one line
	Took   time.Duration `json:"took"`
}

// Probing is how far the questions of one instance are.
type Probing struct {
	InstanceID string
	Address    string // that was asked last
	Asked      int
	FirstAt    time.Time
	NextAt     time.Time     // of the next question; zero: none is to come
	GiveUpAt   time.Time     // of the last one; zero: it doesn't wait
	ReadyAt    time.Time     // when it said ready; zero: it never did
	Answers    []ProbeAnswer // the latest last
}

// Last is the latest answer.
func (p Probing) Last() ProbeAnswer {
	if n := len(p.Answers); n > 0 {
		return p.Answers[n-1]
	}
	return ProbeAnswer{}
}

// Probed is one answer to the question of an instance.
type Probed struct {
	InstanceID string
	Hook       BeforeHook
	Answer     ProbeAnswer
	Ready      bool
	Now        time.Time
}

// ProbeEnd is what becomes of the instance. The zero value: it has ended or
// begun meanwhile, and its message is done with.
type ProbeEnd struct {
	Ready bool
	Due   time.Time // it is asked again then
	To    State     // skipped or failed; empty: neither
	Why   string    // of that, one line
}

// After is what the answer makes of an instance of which so much was asked
// before. It is pure.
func (h BeforeHook) After(p Probing, a Probed) (Probing, ProbeEnd) {
	if p.Asked == 0 {
		p.InstanceID, p.FirstAt = a.InstanceID, a.Answer.At
	}
	p.Address, p.Asked, p.NextAt, p.GiveUpAt = h.URL, p.Asked+1, time.Time{}, time.Time{}
	p.Answers = append(p.Answers, a.Answer)
	if n := len(p.Answers); n > keptAnswers {
		p.Answers = p.Answers[n-keptAnswers:]
	}
	if a.Ready {
		p.ReadyAt = a.Now
		return p, ProbeEnd{Ready: true}
	}
	p.ReadyAt = time.Time{}
	if !h.Waits() {
		return p, ProbeEnd{To: Skipped, Why: h.notReady(a.Answer)}
	}
	p.GiveUpAt = p.FirstAt.Add(h.Limit())
	if !a.Now.Before(p.GiveUpAt) {
		why := fmt.Sprintf("%s; asked %d times within %s", h.notReady(a.Answer), p.Asked, h.Limit())
		if h.Then == ThenSkip {
			return p, ProbeEnd{To: Skipped, Why: why}
		}
		return p, ProbeEnd{To: Failed, Why: why}
	}
	p.NextAt = ceilSecond(minTime(a.Now.Add(h.Every()), p.GiveUpAt))
	return p, ProbeEnd{Due: p.NextAt}
}

// ready tells whether the answer means so. A 202 does only where its status is
// one that does: here it promises nothing for later.
func (h BeforeHook) ready(r Result) bool {
	return r.Outcome == OutcomeSucceeded || r.Outcome == OutcomeAccepted && h.target().HTTP.Accepts(r.StatusCode)
}

// notReady says what the hook answered, for the reason of an end.
func (h BeforeHook) notReady(a ProbeAnswer) string {
	address, _, _ := strings.Cut(h.URL, "?")
	return fmt.Sprintf("hook not ready: %s %s", clipped(address), a.Said)
}
