package main

import (
	"context"
	"time"
)

type nodePlan = struct{ name, roles string }

func clusters() []scenario {
	return []scenario{
		{name: "F20", says: "four schedulers from the start; there is no leader", smoke: true, run: restFor(6 * time.Second), nodes: []nodePlan{
			{"web", "web"}, {"scheduler1", "scheduler"}, {"scheduler2", "scheduler"}, {"scheduler3", "scheduler"}, {"scheduler4", "scheduler"}, {"worker1", "worker"},
		}},
		{name: "F22", says: "three identical processes with all roles, one killed and back", run: killOneOfThree, nodes: []nodePlan{
			{"all1", "web,scheduler,worker"}, {"all2", "web,scheduler,worker"}, {"all3", "web,scheduler,worker"},
		}},
	}
}

func restFor(d time.Duration) func(context.Context, *house) error {
	return func(ctx context.Context, h *house) error { rest(ctx, d); return nil }
}

func killOneOfThree(ctx context.Context, h *house) error {
	for range 3 {
		n := h.nodes[1+h.random.IntN(2)] // the first one is the console that callers know
		if err := n.restart(); err != nil {
			return err
		}
		rest(ctx, 2*time.Second)
	}
	return nil
}
