package views

import (
	"time"

	"ax/app/fault"
	"ax/app/sched"
)

func instanceExamples() []Example {
	page := func(v sched.InstanceView) InstancePage {
		return InstancePage{View: v, Nodes: runNodes(), Runs: stripRuns(), Again: []sched.Instance{v.Instance}, MayCancel: true}
	}
	refused := page(endedView())
	refused.Refused, refused.Letter = "The instance has ended already: failed", caseLetter()
	asked := page(runningView())
	asked.Errors = []fault.FieldError{fault.Field("reason", "Say why: it is kept in the audit")}
	deferred := viewOf(sched.Queued)
	deferred.Defers, deferred.DueAt = 6, sampleTime(-24*time.Second)
	hosted := page(deferred)
	hosted.View.Task.Spec.Policy.MaxConcurrent, hosted.View.Task.Spec.Policy.HostLimit = 0, 8
	failed := page(failedView())
	failed.Letter = caseLetter()
	failed.Open = new(taskIncident())
	looking := page(runningView())
	looking.MayCancel = false
	return append(logExamples(), []Example{
		{Name: "instance-message", Component: Instance(messagePage())},
		{Name: "instance-command", Component: Instance(commandPage(false))},
		{Name: "instance-command-running", Component: Instance(commandPage(true))},
		{Name: "instance-command-no-node", Component: Instance(withoutNodes(page(waitingCommand())))},
		{Name: "instance-awaiting", Component: Instance(page(awaitingView()))},
		{Name: "instance-progress", Component: Instance(workingPage())},
		{Name: "instance-told", Component: Instance(page(toldView(true)))},
		{Name: "instance-not-told-yet", Component: Instance(page(toldView(false)))},
		{Name: "instance-running", Component: Instance(looking)},
		{Name: "instance-cancel-wanted", Component: Instance(page(wishedView()))},
		{Name: "instance-cancel-without-reason", Component: Instance(asked)},
		{Name: "instance-node-gone", Component: Instance(page(goneView()))},
		{Name: "instance-retrying", Component: Instance(page(retryingView()))},
		{Name: "instance-deferred", Component: Instance(page(deferred))},
		{Name: "instance-host-busy", Component: Instance(hosted)},
		{Name: "instance-no-worker", Component: Instance(unservedPage(page(viewOf(sched.Queued)), ""))},
		{Name: "instance-no-labels", Component: Instance(unservedPage(page(viewOf(sched.Queued)), "cn-north,gpu"))},
		{Name: "instance-hook-waiting", Component: Instance(page(waitingHookView()))},
		{Name: "instance-hook-ready", Component: Instance(page(readyHookView()))},
		{Name: "instance-hook-failed", Component: Instance(page(unreadyHookView(sched.Failed)))},
		{Name: "instance-hook-skipped", Component: Instance(page(unreadyHookView(sched.Skipped)))},
		{Name: "instance-succeeded", Component: Instance(succeededPage())},
		{Name: "instance-failed", Component: Instance(failed)},
		{Name: "instance-lost", Component: Instance(page(lostView()))},
		{Name: "instance-skipped", Component: Instance(page(skippedView()))},
		{Name: "instance-cancel-refused", Component: Instance(refused)},
	}...)
}

func unservedPage(p InstancePage, labels sched.Labels) InstancePage {
	p.Waits = &sched.Lane{Queue: p.View.Queue, Labels: labels}
	return p
}

func withoutNodes(p InstancePage) InstancePage {
	p.Nodes = nil
	return p
}

func awaitingView() sched.InstanceView {
	a := runAttempt(2, 693*time.Second-117*time.Millisecond, 0, "", 202, "",
		"HTTP/1.1 202 Accepted\nContent-Type: application/json\n\n{\"job\":\"job-88213\",\"status\":\"ACCEPTED\",\"shops\":14}")
	v := viewOf(sched.Awaiting, refusedAttempt(), a)
	v.Retries, v.ReceiptDeadline = 1, sampleTime(-108*time.Minute)
	return v
}

// toldView is accepted work that nobody wants any more, whose target is told.
func toldView(taken bool) sched.InstanceView {
	v := awaitingView()
	v.State, v.FinishedAt, v.ReceiptDeadline = sched.Canceled, sampleTime(42*time.Second), time.Time{}
	v.Reason = "canceled by ops-night: wrong price list"
	last := &v.Attempts[len(v.Attempts)-1]
	last.Outcome, last.EndedAt = sched.OutcomeCanceled, v.FinishedAt
	v.Told = &sched.CancelCall{Attempt: v.Attempt, Reason: sched.BecauseCanceled, By: "ops-night", AskedAt: v.FinishedAt, Tries: 2, StatusCode: 200, EndedAt: sampleTime(40 * time.Second)}
	if !taken {
		v.Told.Tries, v.Told.StatusCode, v.Told.Error = 3, 503, "answered 503 Service Unavailable"
		v.Told.DueAt, v.Told.EndedAt = sampleTime(-9*time.Second), time.Time{}
	}
	return v
}

// workingPage is an instance whose target says how far it is.
func workingPage() InstancePage {
	v := awaitingView()
	v.Task.Spec.Policy.HeartbeatSeconds = 60
	return InstancePage{
		View: v, Nodes: runNodes(), Runs: stripRuns(), Again: []sched.Instance{v.Instance}, MayCancel: true,
		Progress: []sched.Progress{{Attempt: v.Attempt, Percent: new(40), Message: "481 of 1,204 shops 门店", SaidAt: sampleTime(4 * time.Second), Signs: 31}},
	}
}

func runningView() sched.InstanceView {
	a := runAttempt(1, 52*time.Second, 0, "", 0, "", "")
	a.Request = "" // it is written when the attempt ends
	v := viewOf(sched.Running, a)
	v.BizID, v.Origin, v.RequestedBy, v.SlotAt = "SO-20261202-778431", sched.FromPerson, "ops-lead", time.Time{}
	v.CreatedAt, v.WantedAt, v.DueAt, v.QueuedAt = sampleTime(54*time.Second), sampleTime(54*time.Second), sampleTime(54*time.Second), sampleTime(53*time.Second)
	v.DeadlineAt = sampleTime(-time.Minute)
	return v
}

func wishedView() sched.InstanceView {
	v := runningView()
	v.CancelWanted = sampleTime(3 * time.Second)
	v.Events = []sched.InstanceEvent{{At: v.CancelWanted, Kind: sched.EvCancelWanted, Actor: "ops-night", Detail: "wrong price list, SHOP-4410"}}
	return v
}

func goneView() sched.InstanceView {
	v := runningView()
	v.NodeID, v.Attempts[0].NodeID = "n-dead", "n-dead"
	return v
}

func retryingView() sched.InstanceView {
	v := viewOf(sched.Retrying, refusedAttempt(), runAttempt(2, 693*time.Second, 3*time.Second, sched.OutcomeFailed, 503, "answered 503 Service Unavailable: upstream connect error",
		"HTTP/1.1 503 Service Unavailable\nServer: envoy\n\nupstream connect error or disconnect/reset before headers"))
	v.Retries, v.DueAt = 2, sampleTime(-23*time.Second)
	v.Events = []sched.InstanceEvent{{At: sampleTime(8 * time.Minute), Kind: sched.EvResent, Detail: "message 3"}, {At: sampleTime(7 * time.Minute), Kind: sched.EvResent, Detail: "message 4"}}
	return v
}

func succeededPage() InstancePage {
	v := viewOf(sched.Succeeded, runAttempt(1, 727*time.Second-38*time.Millisecond, 43600*time.Millisecond, sched.OutcomeSucceeded, 200, "",
		"HTTP/1.1 200 OK\nContent-Type: application/json\n\n{\"ok\":true,\"orders\":412\n[truncated: 18211 bytes]"))
	v.Origin, v.RequestedBy, v.Replay, v.ReplayOf = sched.FromReplay, "ops-lead", 1, runID
	first := runInstance(sched.Failed, 1, v.BizID, 727*time.Second)
	first.ID = runID[:35] + "f"
	l := caseLetter()
	l.Status = sched.LetterSolved
	return InstancePage{View: v, Nodes: runNodes(), Runs: stripRuns(), Again: []sched.Instance{first, v.Instance}, Letter: l}
}

func failedView() sched.InstanceView {
	v := endedView()
	v.Events = []sched.InstanceEvent{
		{At: sampleTime(531 * time.Second), Kind: sched.EvLost, NodeID: "n-bj-1", Detail: "attempt 3: queued"},
		{At: sampleTime(60 * time.Second), Kind: sched.EvRefusedWord, Actor: "10.20.7.31", Detail: "attempt 1: succeeded 412 orders"},
	}
	return v
}

func endedView() sched.InstanceView {
	answer := "HTTP/1.1 504 Gateway Timeout\nVia: gw-edge-3\n\n{\"error\":\"upstream_timeout\",\"upstream\":\"settlement-core\",\"waited_ms\":30000}"
	v := viewOf(sched.Failed, refusedAttempt(),
		runAttempt(2, 693*time.Second, 30*time.Second, sched.OutcomeTimedOut, 0, "no answer in time", ""),
		runAttempt(3, 543*time.Second, 12*time.Second, sched.OutcomeLost, 0, "the node stopped working on it", ""),
		runAttempt(4, 520*time.Second, 30*time.Second, sched.OutcomeFailed, 504, "answered 504 Gateway Timeout: {\"error\":\"upstream_timeout\",\"upstream\":\"settlement-core\",\"waited_ms\":30000}", answer))
	v.Attempts[2].Request = ""
	return v
}

func lostView() sched.InstanceView {
	v := viewOf(sched.Lost,
		runAttempt(1, 727*time.Second, 12*time.Second, sched.OutcomeLost, 0, "the node stopped working on it", ""),
		runAttempt(2, 690*time.Second, 12*time.Second, sched.OutcomeLost, 0, "the node stopped working on it", ""),
		runAttempt(3, 650*time.Second, 12*time.Second, sched.OutcomeLost, 0, "its node died three times: it is suspected of killing it", ""))
	v.Deaths = 3
	return v
}

func skippedView() sched.InstanceView {
	v := viewOf(sched.Skipped)
	v.Reason, v.FinishedAt, v.Payload = "overlap: "+runID+" has not ended", sampleTime(727*time.Second), nil
	return v
}
