package views

import (
	"context"
	"slices"
	"strings"

	"ax/app/sched"
)

// unservedWords say which queue, and labels, no node serves.
func unservedWords(ctx context.Context, l sched.Lane) string {
	if l.Labels == "" {
		return t(ctx, "No node serves the queue %s.", l.Queue)
	}
	return t(ctx, "No node serves the queue %s with the labels %s.", l.Queue, l.Labels.String())
}

// labelsHint says which labels nodes have that live.
func (p TaskFormPage) labelsHint(ctx context.Context) string {
	if len(p.NodeLabels) == 0 {
		return t(ctx, "What a node must have to run it, with commas between. No node has labels now.")
	}
	return t(ctx, "What a node must have to run it, with commas between. Nodes have: %s.", strings.Join(p.NodeLabels, ", "))
}

// NodeLabels lists the labels of nodes that take work, each once, sorted.
func NodeLabels(nodes []sched.NodeInfo) []string {
	var out []string
	for _, n := range nodes {
		if !n.Gone() && n.Slots > 0 {
			out = append(out, n.Labels...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
