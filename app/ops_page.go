package app

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/cron"
	"ax/app/fault"
	"ax/app/sched"
	"ax/views"
)

func (a *App) opsRoutes() []route {
	return append([]route{
		{http.MethodGet, "/queues", (*App).showQueues, access.Read, false},
		{http.MethodGet, "/nodes", (*App).showNodes, access.Read, false},
	}, switchRoutes()...)
}

const (
	// nodesShown is how long nodes that ended are listed.
	nodesShown = time.Hour
	// runsShown is how many runs of a node unfold; the list has them all.
	runsShown = 10
)

// showQueues shows how the work gets to the workers.
func (a *App) showQueues(c *gin.Context) (reply, error) {
	ctx, now := c.Request.Context(), a.viewer(c).Now
	p, err := a.queuesPage(ctx, now)
	if err != nil {
		return reply{}, err
	}
	if p.Span = spanOf(c, sched.SpanDay); p.Span != sched.SpanHour {
		if p.Depths, err = a.depths(ctx, p.Span, now); err != nil {
			return reply{}, err
		}
	}
	if p.Lately, err = a.depths(ctx, sched.SpanHour, now); err != nil {
		return reply{}, err
	}
	if p.Span == sched.SpanHour {
		p.Depths = p.Lately
	}
	p.Trends, err = a.trends.get("", now, trendsFor, func() (map[string]sched.QueueTrend, error) { return a.reports.QueueTrends(ctx) })
	if err != nil {
		return reply{}, err
	}
	if p.MaySwitch, err = a.switches.May(ctx, actor(c)); err != nil {
		return reply{}, err
	}
	return show(views.Queues(p)).piecewise(views.QueuesBody(p)), nil
}

// queuesPage reads the queues and who serves them. It is the same for all
// viewers. With Redis away it has the ledger's figures.
func (a *App) queuesPage(ctx context.Context, now time.Time) (views.QueuesPage, error) {
	return a.carriers.get("", now, recentFor, func() (views.QueuesPage, error) {
		p := views.QueuesPage{Beats: a.beats, Alarms: a.alarms.shown()}
		var err error
		if p.Nodes, err = a.nodes.Nodes(ctx, now.Add(-nodesShown)); err != nil {
			return p, err
		}
		bounded, cancel := context.WithTimeout(ctx, figuresLimit)
		defer cancel()
		list, err := a.queues.List(bounded)
		if p.RedisAway = fault.KindOf(err) == fault.KindUnavailable; err != nil && !p.RedisAway {
			return p, err
		}
		for _, q := range list {
			p.Rows = append(p.Rows, queueFigures(q))
		}
		if !p.RedisAway {
			p.Carrier, err = a.queues.Carrier(bounded)
			if p.RedisAway = fault.KindOf(err) == fault.KindUnavailable; err != nil && !p.RedisAway {
				return p, err
			}
		}
		return p, nil
	})
}

func queueFigures(q QueueInfo) views.QueueFigures {
	return views.QueueFigures{
		Name: q.Name, Weight: q.Weight, Due: q.Due, Pending: q.Pending, Active: q.Active, Scheduled: q.Scheduled,
		Retry: q.Retry, Archived: q.Archived, Paused: q.Paused, Wait: q.Latency,
	}
}

// showNodes lists the processes; ?node= unfolds what one of them runs.
func (a *App) showNodes(c *gin.Context) (reply, error) {
	ctx, now := c.Request.Context(), a.viewer(c).Now
	p := views.NodesPage{Zones: cron.ZoneDataInUse(), Beats: a.beats, Alarms: a.alarms.shown()}
	var err error
	if p.Nodes, err = a.nodes.Nodes(ctx, now.Add(-nodesShown)); err != nil {
		return reply{}, err
	}
	sortNodes(p.Nodes)
	if p.Executors, _, err = a.executorGroups(c, scopeOf(c)); err != nil {
		return reply{}, err
	}
	if p.MaySwitch, err = a.switches.May(ctx, actor(c)); err != nil {
		return reply{}, err
	}
	if i := slices.IndexFunc(p.Nodes, func(n sched.NodeInfo) bool { return n.ID == c.Query("node") && !n.Gone() }); i >= 0 {
		if err := a.addRuns(ctx, actor(c), scopeOf(c), p.Nodes[i].ID, &p); err != nil {
			return reply{}, err
		}
	}
	return show(views.Nodes(p)).piecewise(views.NodesBody(p)), nil
}

// sortNodes puts those that live first, by name; then the others, the last to
// end first.
func sortNodes(nodes []sched.NodeInfo) {
	slices.SortStableFunc(nodes, func(x, y sched.NodeInfo) int {
		switch {
		case x.Gone() && y.Gone():
			return nodeEnd(y).Compare(nodeEnd(x))
		case x.Gone():
			return 1
		case y.Gone():
			return -1
		}
		return cmp.Or(strings.Compare(x.Host, y.Host), cmp.Compare(x.PID, y.PID))
	})
}

// nodeEnd is when a node was stopped or declared dead.
func nodeEnd(n sched.NodeInfo) time.Time {
	if n.DeadAt.IsZero() {
		return n.ClosedAt
	}
	return n.DeadAt
}

// addRuns adds what the node runs of the teams that the viewer has chosen.
func (a *App) addRuns(ctx context.Context, by access.Actor, scope access.Scope, node string, p *views.NodesPage) error {
	p.Shown = node
	if !scope.All && len(scope.Teams) == 0 {
		return nil
	}
	runs, err := a.instances.List(ctx, by, sched.InstanceFilter{
		Scope: scope, NodeID: node, States: []sched.State{sched.Running},
	}, sched.PageRequest{Limit: runsShown})
	if err != nil {
		return err
	}
	p.Runs, p.More = runs.Items, runs.Next != ""
	var ids []int64
	for _, in := range runs.Items {
		ids = append(ids, in.TaskID)
	}
	p.Tasks, err = a.reports.TasksByID(ctx, ids)
	return err
}
