package views

import (
	"time"

	"ax/app/cron"
	"ax/app/sched"
)

// opsExamples are the queues and nodes, also with what they need away.
func opsExamples() []Example {
	queues := sampleQueues()
	away := sampleQueues()
	away.RedisAway = true
	for i, q := range away.Rows {
		away.Rows[i] = QueueFigures{Name: q.Name, Weight: q.Weight, Due: q.Due}
	}
	nodes := NodesPage{Zones: cron.ZoneData{Version: "2026a", Source: "/etc/ax/zones.zip"}, Nodes: sampleNodes(), Beats: sched.DefaultPulse(), Alarms: sampleAlarms()}
	open := nodes
	open.Shown, open.More = open.Nodes[0].ID, true
	open.Tasks = map[int64]sched.Task{1: {Name: "Capture settlement batch"}, 2: {Name: "Close unpaid orders"}}
	open.Runs = []sched.Instance{
		{ID: "0193868e-2f40-7c11-9a02-6b1fd2f0c7e1", TaskID: 1, BizID: "2026-12-02/07", State: sched.Running, StartedAt: ago(18200 * time.Millisecond)},
		{ID: "0193868e-2f40-7c11-9a02-6b1fd2f0c7e2", TaskID: 2, BizID: "SO-20261202-778431", State: sched.Running, StartedAt: ago(4800 * time.Millisecond)},
	}
	return []Example{
		{Name: "queues", Component: Queues(queues)},
		{Name: "queues-redis-away", Component: Queues(away)},
		{Name: "queues-none", Component: Queues(QueuesPage{Beats: sched.DefaultPulse(), Alarms: sampleAlarms()})},
		{Name: "nodes", Component: Nodes(nodes)},
		{Name: "nodes-unfolded", Component: Nodes(open)},
		{Name: "nodes-none", Component: Nodes(NodesPage{Beats: sched.DefaultPulse(), Alarms: sampleAlarms()})},
	}
}

func sampleQueues() QueuesPage {
	return QueuesPage{
		Nodes: sampleNodes(), Beats: sched.DefaultPulse(), Alarms: sampleAlarms(),
		Rows: []QueueFigures{
			{Name: "default", Weight: 3, Due: 412, Pending: 410, Active: 8, Scheduled: 18_204, Retry: 6, Wait: 400 * time.Millisecond},
			{Name: "pay-critical", Weight: 6, Due: 10_684, Pending: 10_650, Active: 24, Scheduled: 1_102, Retry: 41, Wait: 41 * time.Second},
			{Name: "reports", Weight: 1, Active: 2, Scheduled: 44},
			{Name: "labels", Weight: 2, Due: 31, Pending: 31, Wait: 23 * time.Minute},
			{Name: "import", Weight: 1, Due: 2_118, Pending: 2_118, Paused: true, Wait: 75 * time.Hour},
		},
	}
}

func sampleNode(host string, roles ...string) sched.NodeInfo {
	return sched.NodeInfo{
		ID: "0193868e-0000-7000-8000-" + (host + "000000000000")[:12], Host: host, Address: "10.20.3.11:8080", PID: 30218, Version: "1.0.0",
		Roles: roles, Queues: []string{"default", "pay-critical"}, Slots: 24, Busy: 10, ClockOffset: 4 * time.Millisecond,
		StartedAt: ago(148 * time.Hour), BeatAt: ago(1200 * time.Millisecond),
	}
}

// sampleNodes has one node of each state.
func sampleNodes() []sched.NodeInfo {
	with := func(n sched.NodeInfo, change func(*sched.NodeInfo)) sched.NodeInfo {
		change(&n)
		return n
	}
	fine := sampleNode("wk-bj-1", "web", "scheduler", "worker")
	return []sched.NodeInfo{
		with(fine, func(n *sched.NodeInfo) {
			n.Busy = 22
			n.Queues = []string{"default", "pay-critical", "reports", "import"}
		}),
		with(sampleNode("wk-bj-2", "scheduler"), func(n *sched.NodeInfo) {
			n.Address, n.Queues, n.Slots, n.Busy, n.ClockOffset = "", nil, 0, 0, -2*time.Millisecond
		}),
		with(sampleNode("wk-bj-3", "worker"), func(n *sched.NodeInfo) {
			n.Address, n.Version, n.BeatAt, n.ClockOffset, n.StartedAt = "", "0.9.4", ago(9400*time.Millisecond), 7200*time.Millisecond, ago(19*24*time.Hour)
		}),
		with(sampleNode("wk-sg-1", "worker"), func(n *sched.NodeInfo) { n.ClockOffset = -38 * time.Second; n.Busy = 2 }),
		with(sampleNode("wk-sg-3", "worker"), func(n *sched.NodeInfo) { n.Draining, n.Busy = true, 1 }),
		with(sampleNode("wk-sg-2", "worker"), func(n *sched.NodeInfo) {
			n.PID, n.BeatAt, n.DeadAt, n.DeclaredBy, n.Queues = 4127, ago(23*time.Minute), ago(1360*time.Second), fine.ID, []string{"labels"}
		}),
		with(sampleNode("wk-sg-4", "worker"), func(n *sched.NodeInfo) { n.BeatAt = ago(17 * time.Second) }),
		with(sampleNode("wk-old-1", "worker"), func(n *sched.NodeInfo) { n.ClosedAt, n.Version = ago(40*time.Minute), "0.9.4" }),
	}
}
