package sched

import (
	"context"
	"log/slog"
	"time"

	"ax/app/fail"
)

// PlanRequest is one planning transaction.
type PlanRequest struct {
	Now    time.Time
	Until  time.Time // slots up to here become instances
	Limit  int       // tasks
	Budget int       // slots
	Since  time.Time // not zero: only what came due since, the latest first; zero: the longest due first
	NodeID string
}

const (
	// lately is how long before the last batch of the newest a slot of the next
	// one may have come due.
	lately = 10 * time.Second
	// latelyMost bounds that: after an outage everything came due since then.
	latelyMost = 100 * time.Second
)

// PlanReport says what a planning transaction did.
type PlanReport struct {
	Tasks     int
	Instances int
	Missed    int // slots recorded instead of run
	Failed    int // tasks that can't be planned
	Spent     int // slots computed
	Messages  []Message
}

// planStore is what a planner needs of the ledger.
type planStore interface {
	Plan(ctx context.Context, r PlanRequest) (PlanReport, error)
}

// Planner turns due slots into instances. Every scheduler node runs one; row
// locks share the work and the unique key decides.
type Planner struct {
	store planStore
	node  *Node
	clock *Clock
	hand  *Dispatcher
	batch int
	log   *slog.Logger

	newest bool      // the next batch takes what came due lately
	seen   time.Time // what came due before has been planned, but for what an outage or a crowd left
}

// PlannerOptions of NewPlanner; all are required.
type PlannerOptions struct {
	Store planStore
	Node  *Node
	Clock *Clock
	Hand  *Dispatcher
	Batch int // due tasks that one transaction takes
	Log   *slog.Logger
}

// NewPlanner makes a planner; what it planned is handed over at once.
func NewPlanner(o PlannerOptions) *Planner {
	return &Planner{store: o.Store, node: o.Node, clock: o.Clock, hand: o.Hand, batch: o.Batch, log: o.Log}
}

// Tick plans one batch; again tells that more is due already. While batches are
// full, every other one takes what came due lately: a crowd, or what an outage
// left, would else make all that comes after it as late as itself. It does
// nothing while the clock is not to be trusted.
func (p *Planner) Tick(ctx context.Context) (again bool, err error) {
	if !p.clock.Steady() {
		p.log.Error("planning is stopped: the clock can't be trusted", "offset", p.clock.Offset())
		return false, nil
	}
	now := p.clock.Now()
	r := PlanRequest{Now: now, Until: now.Add(PlanHorizon), Limit: p.batch, Budget: PlanBudget, NodeID: p.node.ID()}
	if p.newest {
		r.Since = p.since(now)
	}
	report, err := p.store.Plan(ctx, r)
	if err != nil {
		return false, err
	}
	full := report.Tasks == p.batch || report.Spent >= PlanBudget
	if !full {
		p.seen = now
	}
	again = p.newest || full
	p.newest = again && !p.newest
	if report.Instances > 0 {
		if err := fail.At("plan.committed"); err != nil {
			return false, err
		}
	}
	if len(report.Messages) > 0 {
		if _, err := p.hand.HandOver(ctx, report.Messages); err != nil {
			p.log.Warn("hand-over after planning failed; the next pass repeats it", "error", err)
		}
	}
	return again, nil
}

// since is when a batch of the newest begins: however long the batches take,
// what came due between two of them is in the second.
func (p *Planner) since(now time.Time) time.Time {
	since := now.Add(-lately)
	if before := p.seen.Add(-lately); !p.seen.IsZero() && before.Before(since) {
		since = before
	}
	if earliest := now.Add(-latelyMost); since.Before(earliest) {
		return earliest
	}
	return since
}
