package app

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"ax/app/sched"
	"ax/views"
)

// waitsFor is what an instance waits for that no node serves; nil: nothing.
func (a *App) waitsFor(v sched.InstanceView, nodes map[string]sched.NodeInfo) *sched.Lane {
	lane, ok := v.Task.WaitsFor(v.Instance, slices.Collect(maps.Values(nodes)), a.now(), a.beats.Dead)
	if !ok {
		return nil
	}
	return &lane
}

// unservedBy is the lane of a task when none of the nodes serves it; nil: one
// does, or the task runs nothing.
func (a *App) unservedBy(nodes []sched.NodeInfo, t sched.Task) *sched.Lane {
	lane := t.Lane(sched.Instance{Queue: t.Queue})
	if !t.ArchivedAt.IsZero() || sched.Served(nodes, lane, a.now(), a.beats.Dead) {
		return nil
	}
	return &lane
}

// unserved is unservedBy the nodes there are now. Without them nothing is said.
func (a *App) unserved(ctx context.Context, t sched.Task) *sched.Lane {
	nodes, err := a.nodes.Nodes(ctx, a.now())
	if err != nil {
		return nil
	}
	return a.unservedBy(nodes, t)
}

// nodesAround gives the form what nodes there are: the labels to choose from,
// and whether one would run the task as it was typed.
func (a *App) nodesAround(c *gin.Context, f *views.TaskFormPage) {
	nodes, err := a.nodes.Nodes(c.Request.Context(), a.now())
	if err != nil {
		return
	}
	f.Shell.Nodes = slices.ContainsFunc(nodes, sched.NodeInfo.OnShell)
	f.NodeLabels = views.NodeLabels(nodes)
	f.Unserved = a.unservedBy(nodes, sched.Task{Queue: f.Values.Queue, Spec: sched.Spec{Labels: wordsOf(strings.ToLower(f.Values.Labels))}})
}
