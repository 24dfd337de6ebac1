package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"ax/app/fail"
	"ax/app/sched"
)

// closeLimit is how long closing the node's row may take at the end.
const closeLimit = 5 * time.Second

// Host runs the roles of one process and stops them in order. Worker and
// Loops are empty for roles that the process doesn't have.
type Host struct {
	Redis  *Redis
	Node   *sched.Node // registered
	Hints  *Hints
	Worker *Worker
	Loops  []Loop
	Chores []MaintenanceJob
	// Deliver takes hints to channels that have messages; nil: this process
	// sends none.
	Deliver *Deliverer
	Before  func() // called when the stop begins; may be nil
	Log     *slog.Logger
}

// Run works until ctx is done. Then nothing new is taken, running work ends
// within the worker's grace, and what is left is a stopped node's: closing its
// row tells the sweep of every other node.
func (h Host) Run(ctx context.Context) error {
	var all sync.WaitGroup
	inner, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer all.Wait()
	defer stop()
	if h.Worker != nil {
		h.Node.OnDrain(h.Worker.Drain)
		h.Node.OnLanes(h.Worker.Serve)
		if err := h.Node.ServeLanes(ctx); err != nil {
			h.Log.Warn("which labels tasks need is not known yet, the next beat looks again", "error", err)
		}
	}
	all.Go(func() { h.Node.Live(inner) })
	all.Go(func() { h.Hints.Listen(inner, h.Node.CancelCall) })
	all.Go(func() { RunLoops(inner, h.Log, h.Loops...) })
	if h.Worker != nil {
		if err := h.Worker.Start(); err != nil {
			return fmt.Errorf("start the worker: %w", err)
		}
	}
	stopChores, err := h.startChores()
	if err != nil {
		return err
	}
	if h.Deliver != nil {
		if err := h.Deliver.Start(); err != nil {
			return err
		}
		defer h.Deliver.Stop() // before the loops end: what they began is waited for
	}
	<-ctx.Done()
	h.Log.Info("stopping")
	stopChores()
	h.Node.Stop()
	if h.Before != nil {
		h.Before()
	}
	_ = fail.At("stop.halted") // a stop goes on, whatever fails
	if h.Worker != nil {
		h.Worker.Stop()
	}
	if err := fail.At("stop.worked"); err != nil {
		return err
	}
	end, cancel := context.WithTimeout(inner, closeLimit)
	defer cancel()
	if err := h.Node.Close(end); err != nil {
		return fmt.Errorf("close the node: %w", err)
	}
	h.Log.Info("stopped")
	return nil
}

// startChores announces and does ax's own periodic work.
func (h Host) startChores() (stop func(), err error) {
	if len(h.Chores) == 0 {
		return func() {}, nil
	}
	m, err := NewMaintenance(MaintenanceOptions{Redis: h.Redis, Log: h.Log, Jobs: h.Chores, Grace: closeLimit})
	if err != nil {
		return nil, err
	}
	if err := m.Start(); err != nil {
		return nil, fmt.Errorf("start maintenance: %w", err)
	}
	return m.Stop, nil
}

// Sleep waits until d is over or ctx is done.
func Sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
