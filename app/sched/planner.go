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
	Newest bool      // of what came due lately take the latest first, not the longest due
	NodeID string
}

// Lately is how long ago a slot of a batch of the newest may have come due.
const Lately = 10 * time.Second

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

	newest bool // the next batch takes what came due lately
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
	r := PlanRequest{Now: now, Until: now.Add(PlanHorizon), Limit: p.batch, Budget: PlanBudget, Newest: p.newest, NodeID: p.node.ID()}
	report, err := p.store.Plan(ctx, r)
	if err != nil {
		return false, err
	}
	again = p.newest || report.Tasks == p.batch || report.Spent >= PlanBudget
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
