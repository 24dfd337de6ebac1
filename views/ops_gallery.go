package views

import (
	"time"

	"ax/app/cron"
	"ax/app/fault"
	"ax/app/sched"
)

// opsExamples are the queues and nodes, also with what they need away.
func opsExamples() []Example {
	queues := sampleQueues()
	away := sampleQueues()
	away.RedisAway, away.Carrier, away.Span, away.MaySwitch = true, sched.CarrierFigures{}, sched.SpanWeek, false
	for i, q := range away.Rows {
		away.Rows[i] = QueueFigures{Name: q.Name, Weight: q.Weight, Due: q.Due}
	}
	nodes := NodesPage{Zones: cron.ZoneData{Version: "2026a", Source: "/etc/ax/zones.zip"}, Nodes: sampleNodes(), Beats: sched.DefaultPulse(), Alarms: sampleAlarms(), Executors: sampleExecutors()}
	open := nodes
	open.Shown, open.More, open.MaySwitch = open.Nodes[0].ID, true, true
	pause := SwitchConfirmPage{Of: OfQueue, Action: "pause", ID: "pay-critical", Name: "pay-critical", Reasoned: true}
	pause.Errors = []fault.FieldError{{Name: "reason", Text: fault.Text{Format: "A reason is needed: the audit keeps it"}}}
	drain := SwitchConfirmPage{Of: OfNode, Action: "drain", ID: open.Nodes[0].ID, Name: "wk-bj-1:30218", Busy: 22, Reasoned: true}
	work := drain
	work.Action, work.Reasoned = "resume", false
	resume := SwitchConfirmPage{Of: OfQueue, Action: "resume", ID: "import", Name: "import"}
	open.Tasks = map[int64]sched.Task{1: {Name: "Capture settlement batch"}, 2: {Name: "Close unpaid orders"}}
	open.Runs = []sched.Instance{
		{ID: "0193868e-2f40-7c11-9a02-6b1fd2f0c7e1", TaskID: 1, BizID: "2026-12-02/07", State: sched.Running, StartedAt: ago(18200 * time.Millisecond)},
		{ID: "0193868e-2f40-7c11-9a02-6b1fd2f0c7e2", TaskID: 2, BizID: "SO-20261202-778431", State: sched.Running, StartedAt: ago(4800 * time.Millisecond)},
	}
	return []Example{
		{Name: "queues", Component: Queues(queues)},
		{Name: "queues-redis-away", Component: Queues(away)},
		{Name: "queues-none", Component: Queues(QueuesPage{Beats: sched.DefaultPulse(), Alarms: sampleAlarms()})},
		{Name: "queues-pause", Component: SwitchConfirm(pause)},
		{Name: "queues-resume", Component: SwitchConfirm(resume)},
		{Name: "nodes-drain", Component: SwitchConfirm(drain)},
		{Name: "nodes-resume", Component: SwitchConfirm(work)},
		{Name: "nodes", Component: Nodes(nodes)},
		{Name: "nodes-unfolded", Component: Nodes(open)},
		{Name: "nodes-none", Component: Nodes(NodesPage{Beats: sched.DefaultPulse(), Alarms: sampleAlarms()})},
	}
}

func sampleQueues() QueuesPage {
	return QueuesPage{
		Nodes: sampleNodes(), Beats: sched.DefaultPulse(), Alarms: sampleAlarms(), MaySwitch: true, Span: sched.SpanDay,
		Carrier: sched.CarrierFigures{Memory: 412 << 20, MaxMemory: 4 << 30, Policy: "noeviction", Clients: 214, RoundTrip: 310 * time.Microsecond},
		Trends: map[string]sched.QueueTrend{
			"default": {In: 188.2, Out: 187.6, Hour: sched.Rate{Succeeded: 9996, Bad: 4}}, "pay-critical": {In: 71.4, Out: 62, Hour: sched.Rate{Succeeded: 9300, Bad: 700}},
			"reports": {In: .2, Out: .2, Hour: sched.Rate{Succeeded: 110, Bad: 1}}, "labels": {In: 1.4},
		},
		Lately: sampleDepths(time.Minute, 60), Depths: sampleDepths(15*time.Minute, 96),
		Rows: []QueueFigures{
			{Name: "default", Weight: 3, Due: 412, Pending: 410, Active: 8, Scheduled: 18_204, Retry: 6, Wait: 400 * time.Millisecond},
			{Name: "pay-critical", Weight: 6, Due: 10_684, Pending: 10_650, Active: 24, Scheduled: 1_102, Retry: 41, Wait: 41 * time.Second},
			{Name: "reports", Weight: 1, Active: 2, Scheduled: 44},
			{Name: "labels", Weight: 2, Due: 31, Pending: 31, Wait: 23 * time.Minute},
			{Name: "import", Weight: 1, Due: 2_118, Pending: 2_118, Paused: true, Wait: 75 * time.Hour},
		},
	}
}

// sampleDepths are of queues of which one grows over its alarm, and one was not
// looked at for a while.
func sampleDepths(step time.Duration, n int) sched.Depths {
	d := sched.Depths{To: ago(0), From: ago(0).Add(-step * time.Duration(n-1)), Step: step, Queues: map[string][]sched.QueueSample{}}
	for i := range n {
		at := d.From.Add(step * time.Duration(i))
		put := func(queue string, due int) {
			d.Queues[queue] = append(d.Queues[queue], sched.QueueSample{At: at, Due: due})
		}
		put("pay-critical", 900+i*131%700+max(0, i-n*2/3)*9000*3/n)
		if i < n/3 || i > n/2 {
			put("default", 2100+i*(n-i)*3000/n/n+i*97%800)
		}
		put("reports", i*7%9)
		put("labels", max(0, i-n/2)*62/n)
	}
	return d
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
			n.Labels = []string{"cn-north", "gpu"}
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
