package app

import (
	"context"
	"maps"
	"slices"
)

// QueueReader joins the carrier's figures and the ledger's own. All fields are
// required.
type QueueReader struct {
	Weights map[string]int // of the queues that there are
	Due     func(ctx context.Context) (map[string]int, error)
	Carrier func(ctx context.Context) ([]QueueInfo, error) // without Weight and Due
}

// List gives the ledger's own figures even when Redis is away.
func (q QueueReader) List(ctx context.Context) ([]QueueInfo, error) {
	due, err := q.Due(ctx)
	if err != nil {
		return nil, err
	}
	carried, away := q.Carrier(ctx)
	out := make([]QueueInfo, 0, len(q.Weights))
	for _, name := range slices.Sorted(maps.Keys(q.Weights)) {
		info := QueueInfo{Name: name}
		if i := slices.IndexFunc(carried, func(c QueueInfo) bool { return c.Name == name }); i >= 0 {
			info = carried[i]
		}
		info.Weight, info.Due = q.Weights[name], due[name]
		out = append(out, info)
	}
	return out, away
}
