package app

import (
	"context"
	"maps"
	"slices"
	"time"

	"ax/app/sched"
)

// carrierReader reads the carrier's figures.
type carrierReader interface {
	// Figures gives what is some seconds old at most. Fault: Unavailable.
	Figures(ctx context.Context) (sched.CarrierFigures, error)
}

// depthReader reads the ledger's own count.
type depthReader interface {
	QueueDepth(ctx context.Context, now time.Time) (map[string]int, error)
}

// QueueReader joins the carrier's figures and the ledger's own.
type QueueReader struct {
	weights map[string]int
	carrier carrierReader
	ledger  depthReader
	now     func() time.Time
}

// NewQueueReader reads the queues that have weights.
func NewQueueReader(weights map[string]int, carrier carrierReader, ledger depthReader, now func() time.Time) *QueueReader {
	return &QueueReader{weights: weights, carrier: carrier, ledger: ledger, now: now}
}

// List gives the ledger's own figures even when the carrier is away: with a
// fault of kind Unavailable then.
func (q *QueueReader) List(ctx context.Context) ([]QueueInfo, error) {
	depth, err := q.ledger.QueueDepth(ctx, q.now())
	if err != nil {
		return nil, err
	}
	figures, away := q.carrier.Figures(ctx)
	out := make([]QueueInfo, 0, len(q.weights))
	for _, name := range slices.Sorted(maps.Keys(q.weights)) {
		info := QueueInfo{Name: name, Weight: q.weights[name], Due: depth[name]}
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

// Carrier gives how the carrier itself does. Fault: Unavailable.
func (q *QueueReader) Carrier(ctx context.Context) (sched.CarrierFigures, error) {
	return q.carrier.Figures(ctx)
}
