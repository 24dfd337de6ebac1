package sched

import (
	"context"
	"time"
)

func (l *ledger) Plan(_ context.Context, r PlanRequest) (PlanReport, error) {
	l.plans = append(l.plans, r)
	return l.report, l.call("Plan")
}

func (l *ledger) Due(_ context.Context, until time.Time, limit int) ([]Message, error) {
	l.dueUntil = until
	return l.due[:min(limit, len(l.due))], l.call("Due")
}

func (l *ledger) MarkQueued(_ context.Context, messages []Message, _ time.Time) error {
	if err := l.call("MarkQueued"); err != nil {
		return err
	}
	l.queued = append(l.queued, messages...)
	return nil
}

func (l *ledger) Stale(_ context.Context, _ time.Time, limit int) ([]Stale, error) {
	return l.stale[:min(limit, len(l.stale))], l.call("Stale")
}

func (l *ledger) Raise(_ context.Context, s Stale, _ time.Time) (Message, bool, error) {
	if err := l.call("Raise " + s.InstanceID); err != nil {
		return Message{}, false, err
	}
	if s.State.Final() {
		return Message{}, false, nil // it moved meanwhile
	}
	l.raised = append(l.raised, s)
	return Message{InstanceID: s.InstanceID, Dispatch: s.Dispatch + 1}, true, nil
}

func (l *ledger) DeclareDead(_ context.Context, me string, _ Pulse, _ time.Time) ([]string, error) {
	return l.dead, l.call("DeclareDead by " + me)
}

func (l *ledger) Orphans(context.Context, int) ([]Held, error) { return l.orphans, l.call("Orphans") }

func (l *ledger) Overdue(context.Context, time.Time, int) ([]Held, error) {
	return l.missed, l.call("Overdue")
}

func (l *ledger) EndAwaiting(_ context.Context, h Held, _ time.Time) error {
	if err := l.call("EndAwaiting " + h.InstanceID); err != nil {
		return err
	}
	l.ended = append(l.ended, h)
	return nil
}

func (l *ledger) LookNow(context.Context, time.Time) (int, error) { return l.looked, l.call("LookNow") }

func (l *ledger) Claim(_ context.Context, r ClaimRequest) (Claimed, error) {
	if err := l.call("Claim"); err != nil {
		return Claimed{}, err
	}
	answer := l.claim[0]
	if len(l.claim) > 1 {
		l.claim = l.claim[1:]
	}
	return answer(r)
}

func (l *ledger) ReadClaim(_ context.Context, r ClaimRequest) (Claimed, bool, error) {
	if err := l.call("ReadClaim"); err != nil {
		return Claimed{}, false, err
	}
	return l.read(r)
}

func (l *ledger) MarkSent(_ context.Context, s Settlement) (bool, error) {
	l.marks = append(l.marks, s)
	if err := l.call("MarkSent"); err != nil {
		return false, err
	}
	return l.ours, nil
}

func (l *ledger) Settle(_ context.Context, s Settlement) (Settled, error) {
	l.settles = append(l.settles, s)
	if err := l.call("Settle"); err != nil {
		return Settled{}, err
	}
	l.with(func() { l.holding = nil }) // it runs no more
	return l.settled, nil
}

func (l *ledger) HandBack(_ context.Context, s Settlement) (bool, error) {
	l.backs = append(l.backs, s)
	return l.ours, l.call("HandBack")
}

func (l *ledger) CancelOthers(_ context.Context, _ int64, n int, by string, _ time.Time) ([]string, error) {
	l.canceledFor = append(l.canceledFor, by)
	if err := l.call("CancelOthers"); err != nil {
		return nil, err
	}
	return l.running[:min(n, len(l.running))], nil
}

func (l *ledger) WakeHost(_ context.Context, taskID int64, _ time.Time) (Message, bool, error) {
	l.hostWoken = append(l.hostWoken, taskID)
	return Message{}, false, l.call("WakeHost")
}

func (l *ledger) Wake(_ context.Context, taskID int64, _ time.Time) (Message, bool, error) {
	l.woken = append(l.woken, taskID)
	if err := l.call("Wake"); err != nil || l.wakes == nil {
		return Message{}, false, err
	}
	return *l.wakes, true, nil
}

func (b *bench) dispatcher() *Dispatcher {
	return NewDispatcher(b.ledger, b.carrier, b.clock, quiet())
}

func (b *bench) planner(batch int) *Planner {
	return NewPlanner(PlannerOptions{Store: b.ledger, Node: b.node, Clock: b.clock, Hand: b.dispatcher(), Batch: batch, Log: quiet()})
}

func (b *bench) sweeper() *Sweeper {
	return NewSweeper(b.ledger, b.carrier, b.node, b.clock, quiet())
}

// loopBench is a bench for the loops that don't wait.
func loopBench() *bench {
	l := &ledger{gone: map[string]bool{}, ours: true}
	two := &twoClocks{local: noon(), ledger: noon()}
	clock := NewClock(two.now)
	return &bench{
		ledger: l, carrier: &carrier{fail: map[string]error{}}, clock: clock,
		node: NewNode(NodeOptions{
			Store: l, Clock: clock, NewID: ids("node"), Local: two.now, Log: quiet(), Pulse: DefaultPulse(), Info: NodeInfo{ID: "node-0"},
		}),
	}
}

func (l *ledger) Probed(_ context.Context, p Probed) (ProbeEnd, error) {
	l.with(func() { l.probed = append(l.probed, p) })
	if err := l.call("Probed"); err != nil {
		return ProbeEnd{}, err
	}
	_, end := p.Hook.After(l.probing, p)
	return end, nil
}
