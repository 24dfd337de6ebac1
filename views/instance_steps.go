package views

import (
	"cmp"
	"context"
	"slices"
	"time"

	"ax/app/sched"
	"ax/views/ui"
)

// station is one step of an instance's way, in the order of time.
type station struct {
	ui.Step
	from    time.Time
	until   time.Time // of an attempt that ended; else zero
	attempt *sched.Attempt
	open    bool // the attempt's fold is open at first
}

// end is the moment from which the gap to the next station is measured.
func (s station) end() time.Time {
	if s.until.IsZero() {
		return s.from
	}
	return s.until
}

// stations is the whole way: how it came to be, was handed over, each attempt,
// what else happened, the end, and what is still to come.
func (p InstancePage) stations(ctx context.Context) []station {
	out := []station{p.made(ctx)}
	if in := p.View.Instance; !in.QueuedAt.IsZero() {
		out = append(out, station{from: in.QueuedAt, Step: ui.Step{State: done(ctx),
			Title: t(ctx, "Handed over to the queue %s", in.Queue), Sub: t(ctx, "due at %s", viewer(ctx).ClockMilli(in.WantedAt))}})
	}
	for i := range p.View.Attempts {
		out = append(out, p.tried(ctx, i))
	}
	out = append(out, p.happened(ctx)...)
	if !p.open() {
		out = append(out, p.ended(ctx))
	}
	slices.SortStableFunc(out, func(a, b station) int { return a.from.Compare(b.from) })
	timed(ctx, out)
	if p.open() {
		out = append(out, p.coming(ctx))
	}
	return out
}

// done is the mark of a step that went as it should.
func done(ctx context.Context) ui.State {
	s := state(ctx, "succeeded")
	s.Word = t(ctx, "Done|step")
	return s
}

// timed fills in when each station was and how long after the one before.
func timed(ctx context.Context, all []station) {
	v := viewer(ctx)
	for i := range all {
		s := &all[i]
		s.At = v.ClockMilli(s.from)
		if i == 0 {
			continue
		}
		before := all[i-1].end()
		if gap := s.from.Sub(before); gap >= time.Millisecond {
			s.Gap = "+" + v.Duration(gap)
		}
		if y, m, d := s.from.In(v.zone()).Date(); !sameDay(before.In(v.zone()), y, m, d) {
			s.Gap = joined(" · ", v.Day(s.from), s.Gap)
		}
	}
}

func sameDay(at time.Time, y int, m time.Month, d int) bool {
	ay, am, ad := at.Date()
	return ay == y && am == m && ad == d
}

// made is how the instance came to be.
func (p InstancePage) made(ctx context.Context) station {
	in := p.View.Instance
	s := station{from: in.CreatedAt, Step: ui.Step{State: done(ctx)}}
	switch in.Origin {
	case sched.FromSchedule:
		s.Title, s.Sub = t(ctx, "Planned"), t(ctx, "for the slot %s", slotText(p.View.Task, in.SlotAt))
		if in.PlannedBy != "" {
			s.Sub = t(ctx, "by %s, for the slot %s", nodeName(p.Nodes, in.PlannedBy), slotText(p.View.Task, in.SlotAt))
		}
	case sched.FromReplay:
		s.Title, s.Sub = t(ctx, "Replay %s was asked for", number(in.Replay)), t(ctx, "by %s", in.RequestedBy)
	case sched.FromAPI:
		s.Title, s.Sub = t(ctx, "Asked for over the API"), t(ctx, "by %s", in.RequestedBy)
	default:
		s.Title, s.Sub = t(ctx, "Asked for by hand"), t(ctx, "by %s", in.RequestedBy)
	}
	return s
}

// tried is the attempt at index i.
func (p InstancePage) tried(ctx context.Context, i int) station {
	a := &p.View.Attempts[i]
	s := station{from: a.StartedAt, until: a.EndedAt, attempt: a}
	s.State, s.Title = p.attemptLook(ctx, a)
	s.Sub = joined(" · ", nodeName(p.Nodes, a.NodeID), p.waited(ctx, i))
	if a.Outcome != sched.OutcomeSucceeded && a.Error != "" {
		s.Err = errorText(ctx, a.Error)
	}
	last := i == len(p.View.Attempts)-1
	s.open = last && a.Outcome != sched.OutcomeSucceeded
	return s
}

// attemptLook is the mark and the title of an attempt.
func (p InstancePage) attemptLook(ctx context.Context, a *sched.Attempt) (ui.State, string) {
	n, took := number(a.No), duration(ctx, a.EndedAt.Sub(a.StartedAt))
	switch a.Outcome {
	case sched.OutcomeSucceeded:
		return state(ctx, "succeeded"), t(ctx, "Attempt %s succeeded after %s", n, took)
	case sched.OutcomeFailed:
		return state(ctx, "failed"), t(ctx, "Attempt %s failed after %s", n, took)
	case sched.OutcomeTimedOut:
		return state(ctx, "timed_out"), t(ctx, "Attempt %s timed out after %s", n, took)
	case sched.OutcomeLost:
		return state(ctx, "lost"), t(ctx, "Attempt %s was lost after %s", n, took)
	case sched.OutcomeCanceled:
		return state(ctx, "canceled"), t(ctx, "Attempt %s was stopped after %s", n, took)
	}
	if p.View.State == sched.Awaiting && a.No == p.View.Attempt {
		return state(ctx, "awaiting"), t(ctx, "Attempt %s was accepted", n)
	}
	return state(ctx, "running"), t(ctx, "Attempt %s is running", n)
}

// waited explains the gap before an attempt: lag before the first, the delay
// of a retry before the others.
func (p InstancePage) waited(ctx context.Context, i int) string {
	a, in := p.View.Attempts[i], p.View.Instance
	if i == 0 {
		return t(ctx, "lag %s", duration(ctx, a.StartedAt.Sub(in.WantedAt)))
	}
	before := p.View.Attempts[i-1]
	switch before.Outcome {
	case sched.OutcomeLost:
		return t(ctx, "again, because its node was lost")
	case sched.OutcomeCanceled:
		return t(ctx, "again, because its node was stopping")
	}
	retry := p.retriesBefore(i)
	policy := p.View.Task.Spec.Policy.Retry
	if a.TaskVersion != p.View.Task.Version || retry > policy.Max || retry == 0 {
		return t(ctx, "retry %s", number(max(retry, 1))) // an older definition's delay isn't known here
	}
	return t(ctx, "retry %s of %s, %s after the failure", number(retry), number(policy.Max), duration(ctx, policy.Delay(retry, in.ID)))
}

// retriesBefore counts the failures before attempt i that were repeated.
func (p InstancePage) retriesBefore(i int) int {
	n := 0
	for _, a := range p.View.Attempts[:i] {
		if a.Outcome == sched.OutcomeFailed || a.Outcome == sched.OutcomeTimedOut {
			n++
		}
	}
	return n
}

// ended is how it ended.
func (p InstancePage) ended(ctx context.Context) station {
	in := p.View.Instance
	s := station{from: in.FinishedAt, Step: ui.Step{State: state(ctx, string(in.State))}}
	all := t(ctx, "%s after it was due", viewer(ctx).Span(max(in.FinishedAt.Sub(in.WantedAt), 0)))
	switch in.State {
	case sched.Succeeded:
		s.Title, s.Sub = t(ctx, "Ended: succeeded"), all
	case sched.Failed:
		if s.Title, s.Sub = t(ctx, "Ended: failed, no more retries"), all; in.Attempt == 0 {
			s.Title, s.Sub = t(ctx, "Ended: failed before it began"), reasonText(ctx, in.Error)
		}
	case sched.TimedOut:
		s.Title, s.Sub = t(ctx, "Ended: timed out, no more retries"), all
	case sched.Lost:
		s.Title, s.Sub = t(ctx, "Ended: lost"), all
	case sched.Skipped:
		s.Title, s.Sub = t(ctx, "Not run"), reasonText(ctx, in.Reason)
	default:
		s.Title, s.Sub = t(ctx, "Ended: canceled"), p.canceledBy(ctx)
	}
	return s
}

// canceledBy says who ended it and why.
func (p InstancePage) canceledBy(ctx context.Context) string {
	e, ok := p.event(sched.EvCanceled)
	if !ok {
		if e, ok = p.event(sched.EvCancelWanted); !ok {
			return reasonText(ctx, p.View.Reason)
		}
	}
	return canceledText(ctx, e.Actor, e.Detail)
}

// coming is what is to happen next if nobody does anything.
func (p InstancePage) coming(ctx context.Context) station {
	in, v := p.View.Instance, viewer(ctx)
	s := station{Step: ui.Step{State: state(ctx, "pending"), Future: true}}
	until := func(at time.Time) { s.At, s.Gap = t(ctx, "by %s", v.Clock(at)), v.Relative(at) }
	switch in.State {
	case sched.Awaiting:
		until(in.ReceiptDeadline)
		s.Title, s.Sub = t(ctx, "The receipt, then the end"), t(ctx, "without one the attempt ends as timed out")
	case sched.Running:
		until(in.DeadlineAt)
		s.Title, s.Sub = t(ctx, "The answer, then the end"), t(ctx, "without one the attempt ends as timed out")
	case sched.Retrying:
		s.At, s.Gap = v.Clock(in.DueAt), v.Relative(in.DueAt)
		s.Title = t(ctx, "Attempt %s", number(in.Attempt+1))
		s.Sub = t(ctx, "retry %s of %s", number(in.Retries), number(cmp.Or(p.View.Task.Spec.Policy.Retry.Max, in.Retries)))
	default:
		s.At, s.Gap = v.Clock(in.DueAt), v.Relative(in.DueAt)
		s.Title = t(ctx, "Attempt %s", number(in.Attempt+1))
		s.Sub = t(ctx, "as soon as it is due and a worker is free")
	}
	return s
}
