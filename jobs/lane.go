package jobs

import (
	"cmp"
	"slices"
	"strings"

	"ax/app/sched"
)

// laneSign joins a queue and labels to the name of an Asynq queue; neither can
// hold it.
const laneSign = "+"

// laneName is the Asynq queue of a lane; of one without labels the queue itself.
func laneName(l sched.Lane) string {
	return strings.Join(append([]string{cmp.Or(l.Queue, defaultQueue)}, l.Labels.List()...), laneSign)
}

// queueOf is the queue whose lane an Asynq queue is.
func queueOf(name string) string {
	queue, _, _ := strings.Cut(name, laneSign)
	return queue
}

// withLanes are the Asynq queues of queues and lanes: each lane has the weight of
// its queue.
func (q Queues) withLanes(lanes []sched.Lane) Queues {
	out := make(Queues, len(q)+len(lanes))
	for name, weight := range q {
		out[name] = weight
	}
	for _, l := range lanes {
		if weight, ok := q[l.Queue]; ok {
			out[laneName(l)] = weight
		}
	}
	return out
}

// lanesAmong picks the lanes of the queue from names of Asynq queues, itself
// first.
func lanesAmong(names []string, queue string) []string {
	out := []string{queue}
	for _, name := range names {
		if name != queue && queueOf(name) == queue {
			out = append(out, name)
		}
	}
	slices.Sort(out[1:])
	return slices.Compact(out)
}
