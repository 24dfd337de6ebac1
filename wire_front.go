package main

import (
	"context"
	"time"

	"ax/app"
	"ax/db"
	"ax/jobs"
)

// withFront gives the host what a process that answers people does besides:
// it writes what they were refused, to the end.
func (p *parts) withFront(h *jobs.Host, front *app.Front) {
	h.Loops = append(h.Loops, jobs.Loop{Name: "refusals", Every: time.Second, Tick: p.people.refusals.Flush})
	h.Before = func() {
		_ = front.Close() // closed again at the end, for nothing
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if _, err := p.people.refusals.Flush(ctx); err != nil {
			p.log.Warn("the last refusals are not in the audit", "error", err)
		}
	}
}

// queueReader joins the carrier's figures and the ledger's own.
type queueReader struct {
	weights jobs.Queues
	carrier *jobs.Inspector
	ledger  *db.DB
	now     func() time.Time
}

// List gives the ledger's own figures even when Redis is away.
func (q queueReader) List(ctx context.Context) ([]app.QueueInfo, error) {
	depth, err := q.ledger.QueueDepth(ctx, q.now())
	if err != nil {
		return nil, err
	}
	figures, away := q.carrier.Figures(ctx)
	out := make([]app.QueueInfo, 0, len(q.weights))
	for _, name := range q.weights.Names() {
		info := app.QueueInfo{Name: name, Weight: q.weights[name], Due: depth[name]}
		for _, f := range figures.Queues {
			if f.Name == name {
				info.Pending, info.Active, info.Scheduled, info.Retry, info.Archived = f.Pending, f.Active, f.Scheduled, f.Retry, f.Archived
				info.Paused, info.Latency = f.Paused, f.Latency
			}
		}
		out = append(out, info)
	}
	return out, away
}
