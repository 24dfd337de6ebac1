package jobs

import "context"

// Pending counts the messages of each queue that are ready to be taken, at
// most 2 s ago. Fault: Unavailable.
func (i *Inspector) Pending(ctx context.Context) (map[string]int, error) {
	figures, err := i.Figures(ctx)
	out := make(map[string]int, len(figures.Queues))
	for _, q := range figures.Queues {
		out[q.Name] = q.Pending
	}
	return out, err
}
