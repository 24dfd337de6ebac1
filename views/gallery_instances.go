package views

import (
	"encoding/json"
	"time"

	"ax/app/fault"
	"ax/app/sched"
)

func runTasks() map[int64]sched.Task {
	task := func(id int64, code, name string, limit, retries int) sched.Task {
		return sched.Task{ID: id, TeamID: 1, Code: code, Name: name, Enabled: true, Queue: "default", Version: 18, Spec: sched.Spec{
			Schedule: sched.Schedule{Kind: sched.KindCron, Cron: "*/5 * * * *", Timezone: "Asia/Singapore"},
			Policy: sched.Policy{TimeoutSeconds: 30, MaxConcurrent: limit, Idempotent: true,
				Retry: sched.Retry{Kind: sched.RetrySteps, Max: retries, DelaysSeconds: []int{30, 120, 600}}},
		}}
	}
	return map[int64]sched.Task{
		1: task(1, "order.sync-marketplace", "Sync marketplace orders (14 shops, South-East Asia)", 1, 3),
		2: task(2, "order.timeout", "Order timeout 订单超时关闭", 0, 3),
		3: task(3, "ledger.post-journal", "Post journal entries to the general ledger", 1, 3),
		4: task(4, "fx.refresh-ecb", "Refresh exchange rates from the ECB", 1, 3),
		5: task(5, "billing.refund-sweep", "Refund sweep", 1, 3),
		6: task(6, "ret.print-labels", "Print return labels for warehouse 东莞一号仓", 1, 0),
		7: task(7, "report.sales-cube", "Rebuild 门店 sales cube", 1, 0),
		8: task(8, "crm.reprice-carts", "Re-price abandoned carts", 1, 3),
		9: task(9, "crm.gdpr-export", "Full export of members for GDPR request 2026-1187", 0, 3),
	}
}

func runNodes() map[string]sched.NodeInfo {
	alive := func(id, host string, beat time.Duration) sched.NodeInfo {
		return sched.NodeInfo{ID: id, Host: host, PID: 30218, Slots: 16, Queues: []string{"default"}, BeatAt: sampleTime(beat), StartedAt: sampleTime(90 * time.Hour)}
	}
	dead := alive("n-dead", "wk-sg-2", 24*time.Minute)
	dead.DeadAt = sampleTime(23 * time.Minute)
	return map[string]sched.NodeInfo{"n-bj-1": alive("n-bj-1", "wk-bj-1", 2*time.Second), "n-bj-2": alive("n-bj-2", "wk-bj-2", time.Second), "n-dead": dead}
}

const runID = "0193868e-2f40-7c11-9a02-6b1fd2f0c7e1"

// runInstance was due a while ago and is in the state.
func runInstance(s sched.State, task int64, biz string, ago time.Duration) sched.Instance {
	due := sampleTime(ago)
	in := sched.Instance{
		ID: runID, TaskID: task, TeamID: 1, Queue: "default", BizID: biz, Origin: sched.FromSchedule, State: s,
		WantedAt: due, DueAt: due, SlotAt: due, CreatedAt: due.Add(-1796 * time.Millisecond), QueuedAt: due.Add(6 * time.Millisecond), PlannedBy: "n-bj-2",
		Payload: json.RawMessage(`{"since":"2026-12-02T06:05:00Z","shops":[14,15],"mode":"incremental"}`),
	}
	if biz[0] != '@' {
		in.Origin, in.RequestedBy, in.SlotAt, in.PlannedBy = sched.FromAPI, "order-service", time.Time{}, ""
	}
	return in
}

// begun gives the instance attempts; of a final one also its end.
func begun(in sched.Instance, attempt int, took time.Duration, why string) sched.Instance {
	in.Attempt, in.StartedAt, in.NodeID, in.Error = attempt, in.WantedAt.Add(38*time.Millisecond), "n-bj-1", why
	in.DeadlineAt = in.StartedAt.Add(30 * time.Second)
	if in.State.Final() {
		in.FinishedAt = in.StartedAt.Add(took)
	}
	return in
}

func runRows() []sched.Instance {
	const slot = "@2026-12-02T06:30:00Z"
	waiting := runInstance(sched.Queued, 1, "@2026-12-02T06:31:00Z", 67*time.Second)
	waiting.Defers, waiting.DueAt = 4, sampleTime(-9*time.Second)
	retrying := begun(runInstance(sched.Retrying, 5, "@2026-12-02T06:32:00Z", 7*time.Second), 2, 0, "answered 503 Service Unavailable: upstream connect error, reset before headers")
	retrying.DueAt = sampleTime(-23 * time.Second)
	awaiting := begun(runInstance(sched.Awaiting, 1, "@2026-12-02T06:20:00Z", 12*time.Minute), 2, 0, "")
	awaiting.ReceiptDeadline = sampleTime(-108 * time.Minute)
	skipped := runInstance(sched.Skipped, 8, "@2026-12-02T05:20:00Z", 72*time.Minute)
	skipped.Reason, skipped.FinishedAt = "overlap: "+runID+" has not ended", skipped.WantedAt
	canceled := begun(runInstance(sched.Canceled, 9, "gdpr-2026-1187", 90*time.Minute), 1, 14*time.Minute, "")
	canceled.Reason = "canceled by ops-night: wrong person, see 1188"
	late := begun(runInstance(sched.Running, 2, "SO-20261202-778431-with-a-name-as-long-as-a-name-can-ever-be-64ch", 71*time.Second), 1, 0, "")
	late.StartedAt = sampleTime(8 * time.Second)
	out := []sched.Instance{
		waiting, late, retrying,
		begun(runInstance(sched.Running, 2, "SO-20261202-778432", 5*time.Second), 1, 0, ""),
		begun(runInstance(sched.Failed, 3, slot, 127*time.Second), 1, 412*time.Millisecond, `answered 422 Unprocessable Entity: {"code":"PERIOD_CLOSED","message":"会计期间 2026-11 已关账，不允许过账"}`),
		begun(runInstance(sched.Succeeded, 4, slot, 127*time.Second), 1, 1900*time.Millisecond, ""),
		begun(runInstance(sched.Failed, 5, "@2026-12-02T06:25:00Z", 7*time.Minute), 4, 280*time.Second, "answered 504 Gateway Timeout"),
		awaiting,
		begun(runInstance(sched.Lost, 6, "RET-0098127", 23*time.Minute), 1, 8200*time.Millisecond, "the node died after it began to send; whether the target did the work is not known"),
		begun(runInstance(sched.TimedOut, 7, "@2026-12-02T06:00:00Z", 32*time.Minute), 1, 20*time.Minute, "no answer in time"),
		skipped, canceled,
	}
	for i := range out {
		out[i].ID = runID[:35] + string("0123456789abcdef"[i])
	}
	return out
}

func instancesExamples() []Example {
	counts := map[sched.State]int{sched.Pending: 418, sched.Queued: 61, sched.Retrying: 12, sched.Running: 37, sched.Awaiting: 9,
		sched.Succeeded: 82164, sched.Failed: 1098, sched.TimedOut: 71, sched.Lost: 2, sched.Skipped: 61, sched.Canceled: 4}
	full := InstancesPage{Since: sampleTime(24 * time.Hour), Rows: runRows(), Tasks: runTasks(), Nodes: runNodes(), Counts: counts, Older: runID}
	narrow := full
	narrow.Query = InstanceQuery{State: sched.Failed, Task: "billing.refund-sweep", BizID: "@2026", Node: "n-bj-1", Origin: sched.FromSchedule, Since: "2026-12-01T08:00", Until: "2026-12-02T09:00", After: runID}
	narrow.Rows, narrow.Counts, narrow.Newer = full.Rows[6:7], nil, runID
	return []Example{
		{Name: "instances-list", Component: Instances(full)},
		{Name: "instances-narrow", Component: Instances(narrow)},
		{Name: "instances-live", Component: onPage(InstancesLive(full))},
		{Name: "instances-nothing-matches", Component: Instances(InstancesPage{Query: InstanceQuery{Group: sched.GroupFailed, Task: "fx.refresh-ecb"}, Since: sampleTime(24 * time.Hour), Counts: map[sched.State]int{}})},
		{Name: "instances-none-in-time", Component: Instances(InstancesPage{Since: sampleTime(24 * time.Hour), Counts: map[sched.State]int{}})},
		{Name: "instances-none", Component: Instances(InstancesPage{Query: InstanceQuery{Since: PeriodAll}})},
		{Name: "instances-refused", Component: Instances(InstancesPage{Query: InstanceQuery{Since: "yesterday"}, Errors: []fault.FieldError{
			fault.Field("", "%q is not a date and time such as 2026-12-01 09:30", "yesterday")}})},
	}
}

func runAttempt(no int, from, took time.Duration, o sched.Outcome, code int, why, answer string) sched.Attempt {
	a := sched.Attempt{
		InstanceID: runID, No: no, TaskID: 1, TaskVersion: 18, NodeID: "n-bj-1", Executor: "http", StartedAt: sampleTime(from), Outcome: o, StatusCode: code, Error: why,
		Request: "POST https://hub.internal/v3/sync/orders\nAx-Attempt: 1\nAx-Signature: ***\nContent-Type: application/json\nIdempotency-Key: order.sync-marketplace/@2026-12-02T06:20:00Z",
	}
	if o != "" {
		a.EndedAt = a.StartedAt.Add(took)
	}
	if answer != "" {
		a.Response, a.ResponseBytes = answer, int64(len(answer))
	}
	return a
}

func refusedAttempt() sched.Attempt {
	return runAttempt(1, 727*time.Second-38*time.Millisecond, 4100*time.Millisecond, sched.OutcomeFailed, 0, "dial tcp 10.20.7.31:8443: connect: connection refused", "")
}

// viewOf is an instance of the sync task, due 12 min 7 s ago.
func viewOf(s sched.State, attempts ...sched.Attempt) sched.InstanceView {
	in := runInstance(s, 1, "@2026-12-02T06:20:00Z", 727*time.Second)
	if n := len(attempts); n > 0 {
		last := attempts[n-1]
		in = begun(in, last.No, 0, last.Error)
		in.StartedAt, in.NodeID = attempts[0].StartedAt, last.NodeID
		if s.Final() {
			in.FinishedAt = last.EndedAt
		}
	}
	return sched.InstanceView{Instance: in, Task: runTasks()[1], Attempts: attempts}
}

func stripRuns() []sched.Run {
	var out []sched.Run
	for i := range 60 {
		took := time.Duration(50+i*7%40) * time.Second
		r := sched.Run{InstanceID: runID, TaskID: 1, State: sched.Succeeded, Attempt: 1, StartedAt: sampleTime(time.Duration(61-i) * 15 * time.Minute)}
		switch i {
		case 33:
			r.State = sched.TimedOut
		case 45:
			r.Attempt = 2
		}
		r.FinishedAt = r.StartedAt.Add(took)
		out = append(out, r)
	}
	return out
}
