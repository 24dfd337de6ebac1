package app_test

import (
	"context"
	"log/slog"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/db"
)

// task makes an HTTP task of the team payments, run by hand and without
// retries, unless changes say otherwise.
func (h *house) task(code string, changes ...func(*sched.TaskSpec)) sched.Task {
	h.t.Helper()
	h.found()
	idempotent, none := true, 0
	spec := sched.TaskSpec{
		Code: code, Name: "Task " + code, Team: h.team.Code,
		Schedule: sched.ScheduleSpec{Kind: sched.KindManual},
		Target:   sched.TargetSpec{Kind: sched.TargetHTTP, URL: "https://target.example.com/" + code},
		Policy:   sched.PolicySpec{Idempotent: &idempotent, Retry: &sched.RetrySpec{Max: &none}},
	}
	for _, change := range changes {
		change(&spec)
	}
	t, err := h.opt.Tasks.Create(h.t.Context(), root, spec)
	require.NoError(h.t, err)
	return t
}

// trigger asks for a run, which waits.
func (h *house) trigger(code, bizID string) sched.Instance {
	h.t.Helper()
	in, _, err := h.opt.Tasks.Trigger(h.t.Context(), root, code, sched.TriggerRequest{BizID: bizID})
	require.NoError(h.t, err)
	return in
}

// run carries the instance out, with the result given, and gives it as it
// stands then.
func (h *house) run(id string, r sched.Result) sched.InstanceView {
	h.t.Helper()
	h.work()
	h.result = r
	in, err := h.ledger.Instance(h.t.Context(), id)
	require.NoError(h.t, err)
	h.runner.Run(h.t.Context(), sched.Message{InstanceID: id, Queue: in.Queue, Dispatch: in.Dispatch, DueAt: in.DueAt})
	v, err := h.ledger.InstanceView(h.t.Context(), id)
	require.NoError(h.t, err)
	return v
}

// ok and bad are results to run with.
func ok() sched.Result {
	return sched.Result{Outcome: sched.OutcomeSucceeded, Definite: true, StatusCode: 200, Response: "HTTP/1.1 200 OK\n\ndone"}
}

func bad(why string) sched.Result {
	return sched.Result{Outcome: sched.OutcomeFailed, Definite: true, StatusCode: 500, Error: why, Response: "HTTP/1.1 500 Internal Server Error\n\n" + why}
}

// letter makes a dead letter: a run of the task that failed.
func (h *house) letter(code, bizID, why string) sched.Letter {
	h.t.Helper()
	v := h.run(h.trigger(code, bizID).ID, bad(why))
	require.NotZero(h.t, v.Letter, "%s ended %s without a dead letter", bizID, v.State)
	l, err := h.ledger.Letter(h.t.Context(), v.Letter)
	require.NoError(h.t, err)
	return l
}

// work makes the node and the runner that run needs.
func (h *house) work() {
	if h.runner != nil {
		return
	}
	log := slog.New(slog.DiscardHandler)
	h.node = sched.NewNode(sched.NodeOptions{
		Store: standing{h.ledger, h}, Clock: h.clock, NewID: newID, Local: h.local, Send: h.queue, Log: log,
		Pulse: sched.DefaultPulse(),
		Info:  sched.NodeInfo{Host: "node-1", PID: 1, Version: "1.2.3", Roles: []string{"worker"}, Queues: []string{"default"}, Slots: 10},
	})
	require.NoError(h.t, h.node.Register(h.t.Context()))
	h.runner = sched.NewRunner(sched.RunnerOptions{
		Store: h.ledger, Node: h.node, Clock: h.clock, Exec: answering{h}, Receipts: noReceipts{}, Send: h.queue, Hint: h.queue,
		NewID: newID, Sleep: func(context.Context, time.Duration) {}, Log: log,
	})
}

// standing is the ledger with the house's clock instead of the database's.
type standing struct {
	*db.DB
	h *house
}

func (s standing) Now(context.Context) (time.Time, error) { return s.h.local(), nil }

type answering struct{ h *house }

func (a answering) Execute(context.Context, sched.Call) sched.Result { return a.h.result }

type noReceipts struct{}

func (noReceipts) Receipt(string, int) (string, string) { return "", "" }
