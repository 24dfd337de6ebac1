package sched

import (
	"time"
)

// Bounds of a claim.
const (
	// earlyWait is how early a message may be and still wait in its handler:
	// going back to Asynq would cost a whole second (engine-sql.md section 3).
	earlyWait = time.Second
	// maxDefer is the longest delay of a deferral before its spread.
	maxDefer = 30 * time.Second
	// LookAgain is how long after its due time a row is looked at first.
	LookAgain = 10 * time.Second
	// maxLookAgain bounds the sweep's doubling.
	maxLookAgain = 5 * time.Minute
)

// ClaimView is everything that a claim looks at, read under the gate's lock.
type ClaimView struct {
	Instance  Instance
	Task      Task // as it is now
	NodeGone  bool // the claiming node was declared dead or is closed
	Unlabeled bool // the claiming node lacks a label that the task needs
	Elsewhere bool // the claiming node has no executor for the task's target
	Ready     int  // version of the task whose hook said ready just now; 0: none did
	Started   int  // other instances of the task with an attempt, not final
	Busy      int  // other instances of the task running or awaiting
	BusyWith  string
	HostBusy  int // attempts that run to the host of a task with a limit on it
}

// ClaimKind is what a claim decides.
type ClaimKind uint8

// The decisions.
const (
	ClaimDrop  ClaimKind = iota // the row needs nothing: forget the message
	ClaimBack                   // message back, due at Due
	ClaimWait                   // early by little: wait and claim again
	ClaimDefer                  // no free place, or paused: row and message due later
	ClaimSkip                   // the slot is not to be run
	ClaimMove                   // forget the message: another is sent along the lane of the task
	ClaimAsk                    // the task's hook is to be asked first
	ClaimTake                   // run it
)

// ClaimVerdict is the decision with what is to be written.
type ClaimVerdict struct {
	Kind     ClaimKind
	Due      time.Time // back, wait, defer; ask: when it is given up to be asked by another
	Deadline time.Time // take
	Reason   string    // skip
	// CancelOthers is how many slots of the task that have begun are to be
	// canceled before the deferred one comes back.
	CancelOthers int
}

// Reasons of slots that were not run, as stored.
const (
	ReasonDisabled = "the task was disabled"
	ReasonArchived = "the task was archived"
	ReasonEdited   = "the schedule was changed and no longer asks for this slot"
	ReasonZone     = "the time zone data was changed and no longer has this slot"
)

// DecideClaim applies the guards of protocol.md CLAIM in their order.
func DecideClaim(v ClaimView, now time.Time) ClaimVerdict {
	in, p := v.Instance, v.Task.Spec.Policy
	switch {
	case v.NodeGone:
		return ClaimVerdict{Kind: ClaimBack, Due: now.Add(time.Second)}
	case !claimable(in.State):
		return ClaimVerdict{Kind: ClaimDrop}
	case v.Unlabeled:
		return ClaimVerdict{Kind: ClaimMove}
	case in.DueAt.After(now) && in.DueAt.Sub(now) <= earlyWait:
		return ClaimVerdict{Kind: ClaimWait, Due: in.DueAt}
	case in.DueAt.After(now):
		return ClaimVerdict{Kind: ClaimBack, Due: in.DueAt}
	case v.Task.Paused(now):
		return ClaimVerdict{Kind: ClaimDefer, Due: minTime(v.Task.StartsAgain(now), in.deferred(now))}
	}
	if why := unwanted(v); why != "" {
		return ClaimVerdict{Kind: ClaimSkip, Reason: why}
	}
	if v.Elsewhere {
		return ClaimVerdict{Kind: ClaimDefer, Due: in.elsewhere(now)}
	}
	verdict, over := v.overLimit(now)
	switch {
	case over && verdict.CancelOthers == 0:
		return verdict
	case !over && p.HostLimit > 0 && v.HostBusy >= p.HostLimit:
		return ClaimVerdict{Kind: ClaimDefer, Due: in.deferred(now)}
	case v.asks(): // before anything is canceled for it
		return ClaimVerdict{Kind: ClaimAsk, Due: now.Add(v.Task.Spec.Hooks.Before.Timeout())}
	case over:
		return verdict
	}
	return ClaimVerdict{Kind: ClaimTake, Deadline: now.Add(p.Timeout())}
}

// asks tells whether the task's hook is still to say that the instance may
// begin. Once it has begun nothing asks again.
func (v ClaimView) asks() bool {
	return v.Instance.Attempt == 0 && v.Task.Spec.BeforeHook() != nil && v.Ready != v.Task.Version
}

// StartsAgain is when something of the task may start at the earliest: now, or
// the end of the pause that it is in, on a whole second.
func (t Task) StartsAgain(now time.Time) time.Time {
	if !t.Paused(now) {
		return now
	}
	return ceilSecond(t.PausedUntil)
}

// overLimit is what becomes of an instance that finds no free place. At its
// first attempt a place is held by whatever has begun and not ended, retries
// that wait too; with overlap allow, and later, only by what runs.
func (v ClaimView) overLimit(now time.Time) (ClaimVerdict, bool) {
	in, p := v.Instance, v.Task.Spec.Policy
	if p.MaxConcurrent <= 0 {
		return ClaimVerdict{}, false
	}
	overlaps := in.Attempt == 0 && v.Started >= p.MaxConcurrent && p.Overlap != OverlapAllow
	if !overlaps && v.Busy < p.MaxConcurrent {
		return ClaimVerdict{}, false
	}
	wait := ClaimVerdict{Kind: ClaimDefer, Due: in.deferred(now)}
	if !overlaps || in.Request() {
		return wait, true
	}
	switch p.Overlap {
	case OverlapSkip:
		return ClaimVerdict{Kind: ClaimSkip, Reason: "overlap: " + v.BusyWith + " has not ended"}, true
	case OverlapCancel:
		wait.CancelOthers = v.Started - p.MaxConcurrent + 1
		wait.Due = ceilSecond(now.Add(time.Second)) // their places are about to be free
	}
	return wait, true
}

// unwanted gives the reason why a slot that has not begun is not to be run.
func unwanted(v ClaimView) string {
	if v.Instance.Attempt > 0 || v.Instance.Request() {
		return ""
	}
	switch {
	case !v.Task.ArchivedAt.IsZero():
		return ReasonArchived
	case !v.Task.Enabled:
		return ReasonDisabled
	}
	times, err := v.Task.Times()
	switch {
	case err == nil && times.Wants(v.Instance.SlotAt):
		return ""
	case err == nil && v.zoneAlone():
		return ReasonZone
	}
	return ReasonEdited
}

// zoneAlone tells that between planning and claim only the zone data can have
// changed: nobody edited the task, and it goes by no calendar.
func (v ClaimView) zoneAlone() bool {
	s := v.Task.Spec.Schedule
	return s.Kind == KindCron && s.Calendar == "" && s.Timezone != "UTC" && !v.Task.UpdatedAt.After(v.Instance.CreatedAt)
}

func claimable(s State) bool { return s == Pending || s == Queued || s == Retrying }

// deferred is when an instance without a free place is tried again: 1 s, then
// doubling to 30 s, plus a spread of at most half of it by id, so that a crowd
// doesn't come back in one second.
func (in Instance) deferred(now time.Time) time.Time {
	delay := maxDefer
	if in.Defers < 5 {
		delay = time.Second << in.Defers
	}
	spread := time.Duration(unit(in.ID, in.Defers) * float64(delay) / 2)
	return ceilSecond(now.Add(delay + spread))
}

// passes is how often an instance is passed on each second until a node takes
// it that can; after that none of them may live, and it waits longer.
const passes = 20

// elsewhere is when an instance whose target this node can't call is offered
// again: soon, for whoever asks first is as likely one that can.
func (in Instance) elsewhere(now time.Time) time.Time {
	if in.Defers < passes {
		return ceilSecond(now.Add(time.Second))
	}
	return in.deferred(now)
}

// LookAgainAfter is the sweep's wait after n re-sends: 10 s, doubling to
// 5 min, so that a backlog is not stormed.
func LookAgainAfter(n int) time.Duration {
	if n > 5 {
		return maxLookAgain
	}
	return min(LookAgain<<n, maxLookAgain)
}

func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
