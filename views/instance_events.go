package views

import (
	"context"

	"ax/app/sched"
	"ax/views/ui"
)

// happened are the events that no other step tells of, in words. What came
// again and again, such as re-sent messages, is told once with its count.
func (p InstancePage) happened(ctx context.Context) []station {
	var out []station
	var before sched.EventKind
	times := 0
	for _, e := range p.View.Events {
		if e.Kind == sched.EvCanceled { // the end tells of it
			continue
		}
		if e.Kind != before || len(out) == 0 {
			before, times = e.Kind, 1
			out = append(out, p.eventStep(ctx, e))
			continue
		}
		times++
		again := p.eventStep(ctx, e)
		again.Title = tn(ctx, "%d times: %s", times, again.Title)
		again.from = out[len(out)-1].from
		if e.Kind == sched.EvResent {
			again.Sub = t(ctx, "%s; the last at %s", again.Sub, viewer(ctx).ClockMilli(e.At))
		}
		out[len(out)-1] = again
	}
	return out
}

// eventStep is one event as a step.
func (p InstancePage) eventStep(ctx context.Context, e sched.InstanceEvent) station {
	s := station{from: e.At}
	node := nodeName(p.Nodes, e.NodeID)
	step := func(look, title, sub string) { s.Step = ui.Step{State: state(ctx, look), Title: title, Sub: sub} }
	switch e.Kind {
	case sched.EvResent:
		step("late", t(ctx, "The message was sent again"), t(ctx, "nobody had taken it in time"))
	case sched.EvLost:
		step("lost", t(ctx, "The node was lost"), t(ctx, "%s no longer works on it", node))
	case sched.EvRefusedClaim:
		step("skipped", t(ctx, "A second claim was refused"), t(ctx, "%s got the message while it was running", node))
	case sched.EvRefusedResult:
		step("skipped", t(ctx, "A late result was refused"), joined(" · ", node, e.Detail))
	case sched.EvReceipt:
		step("awaiting", t(ctx, "A receipt came"), joined(" · ", e.Actor, e.Detail))
	case sched.EvRefusedWord:
		step("skipped", t(ctx, "A receipt came after the end"), joined(" · ", e.Actor, e.Detail))
	case sched.EvCancelWanted:
		if e.Actor == sched.ByOverlap {
			step("canceled", t(ctx, "To be canceled for the next slot"), t(ctx, "as the task's overlap policy says"))
			break
		}
		step("canceled", t(ctx, "%s asked to cancel it", e.Actor), e.Detail)
	case sched.EvHandedBack:
		step("paused", t(ctx, "Handed back before anything was sent"), t(ctx, "%s was stopping", node))
	case sched.EvOverdue:
		step("late", t(ctx, "Ended past its deadline"), t(ctx, "%s had no answer and did not stop by itself", node))
	case sched.EvDeferred:
		step("paused", t(ctx, "Put off: no free place"), e.Detail)
	default:
		step("pending", string(e.Kind), joined(" · ", e.Actor, e.Detail))
	}
	return s
}
