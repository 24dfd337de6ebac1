package sched

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// target is an executor that does what it is told and remembers its calls.
type target struct {
	mu    sync.Mutex
	calls []Call
	do    func(ctx context.Context, c Call) Result
}

func (e *target) Execute(ctx context.Context, c Call) Result {
	e.mu.Lock()
	e.calls = append(e.calls, c)
	e.mu.Unlock()
	if e.do == nil {
		return Result{Outcome: OutcomeSucceeded}
	}
	return e.do(ctx, c)
}

// until is a target that answers after d, or says how it was cut off.
func until(d time.Duration) func(context.Context, Call) Result {
	return func(ctx context.Context, _ Call) Result {
		select {
		case <-time.After(d):
			return Result{Outcome: OutcomeSucceeded}
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
				return Result{Outcome: OutcomeTimedOut}
			}
			return Result{Outcome: OutcomeCanceled}
		}
	}
}

type receiptDesk struct{}

func (receiptDesk) Receipt(id string, attempt int) (url, token string) {
	return "https://ax.example/r/" + id, "token-" + string(rune('0'+attempt))
}

// worker is a bench with a runner and its target. Its only message points at
// the instance of its task.
type worker struct {
	*bench
	target *target
	hook   *target
	runner *Runner
	hints  hands
	task   Task
	in     Instance
}

// newWorker stands in a synctest bubble; the claim is taken unless the ledger
// is told otherwise.
func newWorker(t *testing.T) *worker {
	w := &worker{bench: newBench(t), target: &target{}, hook: &target{}, task: taskOf(Schedule{Kind: KindManual})}
	w.task.Spec.Policy.MaxConcurrent = 0
	w.in = requestOf(w.task, w.clock.Now())
	w.ledger.claim = []func(ClaimRequest) (Claimed, error){w.take}
	w.ledger.settled = Settled{Ending: Ending{To: Succeeded, Outcome: OutcomeSucceeded}}
	w.runner = NewRunner(RunnerOptions{
		Store: w.ledger, Node: w.node, Clock: w.clock, Exec: w.target, Probe: w.hook, Probes: 4, Receipts: receiptDesk{}, Send: w.carrier, Hint: &w.hints,
		NewID: ids("claim"), Sleep: pause, Log: quiet(),
	})
	return w
}

// taken is the instance as a claim makes it.
func (w *worker) taken(r ClaimRequest) Claimed {
	in := w.in
	in.State, in.Attempt, in.NodeID, in.ClaimID = Running, in.Attempt+1, r.NodeID, r.ClaimID
	in.DeadlineAt = r.Now.Add(w.task.Spec.Policy.Timeout())
	return Claimed{Verdict: ClaimVerdict{Kind: ClaimTake, Deadline: in.DeadlineAt}, Instance: in, Task: w.task, State: Running}
}

func (w *worker) take(r ClaimRequest) (Claimed, error) { return w.taken(r), nil }

// says makes a claim's answer that is no take.
func says(v ClaimVerdict) func(ClaimRequest) (Claimed, error) {
	return func(ClaimRequest) (Claimed, error) { return Claimed{Verdict: v}, nil }
}

func (w *worker) run(ctx context.Context) Answer {
	return w.runner.Run(ctx, Message{InstanceID: w.in.ID, Dispatch: 1})
}

// soon is the answer that brings a message back in a second.
func (w *worker) soon() Answer { return Answer{Again: true, DueAt: w.clock.Now().Add(time.Second)} }
