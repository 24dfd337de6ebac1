package app

import (
	"context"
	"net/http"
	"time"

	"ax/app/access"
	"ax/app/sched"
)

// nodesSince is how long nodes that ended are listed.
const nodesSince = 24 * time.Hour

func (s *api) opsOperations() {
	add(s, operation{
		method: http.MethodGet, path: "/queues", id: "list-queues", tag: tagOperation, verb: access.Read,
		summary: "List queues", about: "The carrier's figures, and due: the ledger's own count of what should be on its way by now.",
	}, (*api).listQueues)
	add(s, operation{
		method: http.MethodGet, path: "/nodes", id: "list-nodes", tag: tagOperation, verb: access.Read,
		summary: "List nodes", about: "Those that live, and those that ended within 24 hours.",
	}, (*api).listNodes)
	add(s, operation{
		method: http.MethodGet, path: "/stats", id: "get-stats", tag: tagOperation, verb: access.Read,
		summary: "Get figures of the token's team",
		about:   "Success rate = succeeded / (succeeded + failed + timed_out + lost) of what ended; skipped and canceled don't count.",
	}, (*api).getStats)
	add(s, operation{
		method: http.MethodGet, path: "/teams", id: "list-teams", tag: tagOperation, verb: access.Read,
		summary: "List the token's teams",
	}, (*api).listTeams)
}

type queueBody struct {
	Name      string `json:"name" example:"default"`
	Pending   int    `json:"pending" doc:"Ready to be taken"`
	Active    int    `json:"active" doc:"In a handler"`
	Scheduled int    `json:"scheduled" doc:"Due later"`
	Retry     int    `json:"retry" doc:"Comes back later"`
	Archived  int    `json:"archived" doc:"Given up by the carrier; ax never does that"`
	Paused    bool   `json:"paused"`
	LatencyMS int64  `json:"latency_ms" doc:"Age of the oldest pending message"`
	Due       int    `json:"due" doc:"Instances that are due by the ledger and haven't begun"`
}

type queueListOut struct {
	Body listOf[queueBody]
}

func (s *api) listQueues(ctx context.Context, _ *call, _ *struct{}) (*queueListOut, error) {
	all, err := s.queues.List(ctx)
	if err != nil {
		return nil, err
	}
	var items []queueBody
	for _, q := range all {
		items = append(items, queueBody{
			Name: q.Name, Pending: q.Pending, Active: q.Active, Scheduled: q.Scheduled, Retry: q.Retry, Archived: q.Archived,
			Paused: q.Paused, LatencyMS: q.Latency.Milliseconds(), Due: q.Due,
		})
	}
	return &queueListOut{Body: listPage(items, "")}, nil
}

type nodeBody struct {
	ID            string   `json:"id" format:"uuid"`
	Host          string   `json:"host"`
	Address       string   `json:"address" doc:"Where its HTTP listens; empty without the role web"`
	PID           int      `json:"pid"`
	Version       string   `json:"version"`
	State         string   `json:"state" enum:"alive,draining,closed,dead"`
	Roles         []string `json:"roles" nullable:"false" example:"[\"worker\"]"`
	Queues        []string `json:"queues" nullable:"false"`
	Labels        []string `json:"labels" nullable:"false"`
	Slots         int      `json:"slots" doc:"Instances at once; 0 without the role worker"`
	Busy          int      `json:"busy"`
	ClockOffsetMS int64    `json:"clock_offset_ms" doc:"How far its clock is ahead of the ledger's"`
	StartedAt     instant  `json:"started_at" nullable:"false"`
	BeatAt        instant  `json:"beat_at" nullable:"false" doc:"Its latest sign of life"`
	SteadyAt      instant  `json:"steady_at" doc:"Since when its beats have no gap"`
	ClosedAt      instant  `json:"closed_at"`
	DeadAt        instant  `json:"dead_at"`
	DeclaredBy    string   `json:"declared_by" doc:"Node that declared it dead"`
}

type nodeListOut struct {
	Body listOf[nodeBody]
}

func (s *api) listNodes(ctx context.Context, _ *call, _ *struct{}) (*nodeListOut, error) {
	all, err := s.nodes.Nodes(ctx, s.now().Add(-nodesSince))
	if err != nil {
		return nil, err
	}
	var items []nodeBody
	for _, n := range all {
		items = append(items, nodeBody{
			ID: n.ID, Host: n.Host, Address: n.Address, PID: n.PID, Version: n.Version, State: nodeState(n),
			Roles: list(n.Roles), Queues: list(n.Queues), Labels: list(n.Labels), Slots: n.Slots, Busy: n.Busy,
			ClockOffsetMS: n.ClockOffset.Milliseconds(), StartedAt: instant(n.StartedAt), BeatAt: instant(n.BeatAt),
			SteadyAt: instant(n.SteadyAt), ClosedAt: instant(n.ClosedAt), DeadAt: instant(n.DeadAt), DeclaredBy: n.DeclaredBy,
		})
	}
	return &nodeListOut{Body: listPage(items, "")}, nil
}

func nodeState(n sched.NodeInfo) string {
	switch {
	case !n.DeadAt.IsZero():
		return "dead"
	case !n.ClosedAt.IsZero():
		return "closed"
	case n.Draining:
		return "draining"
	}
	return "alive"
}

type statsBody struct {
	At          instant     `json:"at" nullable:"false"`
	Open        stateCounts `json:"open" doc:"Instances in each open state now"`
	Ended       stateCounts `json:"ended_24h" doc:"Instances that ended in each final state within 24 hours"`
	Hour        hourBody    `json:"hour" doc:"What ended within the hour"`
	Lag         lagBody     `json:"lag" doc:"Trigger lag: from due to begun"`
	Late        int         `json:"late" doc:"Instances due for more than 5 s and not begun"`
	WorstLateMS int64       `json:"worst_late_ms"`
	DueSoon     int         `json:"due_soon" doc:"Tasks whose next slot is within the hour"`
	Letters     int         `json:"open_dead_letters"`
	Troubled    int         `json:"troubled_tasks" doc:"Tasks whose slots can't be planned, as far as the dashboard lists them"`
}

// stateCounts has a number for each of the states.
type stateCounts map[sched.State]int

type hourBody struct {
	Succeeded   int      `json:"succeeded"`
	Bad         int      `json:"bad" doc:"failed, timed_out and lost"`
	SuccessRate *float64 `json:"success_rate" doc:"0 to 1; null when nothing ended" example:"0.98"`
}

type lagBody struct {
	P50MS int64 `json:"p50_ms"`
	P99MS int64 `json:"p99_ms"`
	Of    int   `json:"of" doc:"Starts that it was measured on"`
}

type statsOut struct {
	Body statsBody
}

func (s *api) getStats(ctx context.Context, k *call, _ *struct{}) (*statsOut, error) {
	d, err := s.reports.Dashboard(ctx, k.actor.Scope())
	if err != nil {
		return nil, err
	}
	out := statsBody{
		At: instant(s.now()), Open: stateCounts{}, Ended: stateCounts{},
		Hour: hourBody{Succeeded: d.Hour.Succeeded, Bad: d.Hour.Bad},
		Lag:  lagBody{P50MS: d.LagP50.Milliseconds(), P99MS: d.LagP99.Milliseconds(), Of: d.LagOf},
		Late: d.Late, WorstLateMS: d.WorstLate.Milliseconds(), DueSoon: d.DueSoon, Letters: d.OpenLetters, Troubled: len(d.Troubled),
	}
	if share, ok := d.Hour.Success(); ok {
		out.Hour.SuccessRate = &share
	}
	for _, state := range sched.States() {
		if !state.Final() {
			out.Open[state] = d.Open[state]
			continue
		}
		out.Ended[state] = 0
		for _, b := range d.Buckets {
			out.Ended[state] += b.Counts[state]
		}
	}
	return &statsOut{Body: out}, nil
}

type teamBody struct {
	Code      string  `json:"code" example:"payments"`
	Name      string  `json:"name" example:"Payments"`
	CreatedAt instant `json:"created_at" nullable:"false"`
}

type teamListOut struct {
	Body listOf[teamBody]
}

func (s *api) listTeams(ctx context.Context, k *call, _ *struct{}) (*teamListOut, error) {
	teams, err := s.teams.List(ctx, k.actor)
	if err != nil {
		return nil, err
	}
	var items []teamBody
	for _, t := range teams {
		items = append(items, teamBody{Code: t.Code, Name: t.Name, CreatedAt: instant(t.CreatedAt)})
	}
	return &teamListOut{Body: listPage(items, "")}, nil
}
