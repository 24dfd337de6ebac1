package sched

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"ax/app/fail"
)

// Answer is what becomes of a message. The zero Answer: it is done with.
// Again brings it back at DueAt; Failed counts it as a failed attempt in the
// carrier's own figures.
type Answer struct {
	Again  bool
	DueAt  time.Time
	Failed bool
}

// ClaimRequest asks for one instance on behalf of a node.
type ClaimRequest struct {
	InstanceID string
	NodeID     string
	ClaimID    string
	Now        time.Time
	Labels     []string   // of the node
	Cannot     TargetKind // a kind of target that the node can't call; empty: none
	Ready      int        // version of the task whose hook said ready to this claim; 0: none did
}

// Claimed is the answer of the ledger to a claim.
type Claimed struct {
	Verdict  ClaimVerdict
	Instance Instance // as it stands after the transaction
	Task     Task     // as it was read under the gate's lock
	State    State    // the row's state, whatever the verdict
}

// Settlement carries a result to the ledger.
type Settlement struct {
	InstanceID string
	Attempt    int
	NodeID     string
	ClaimID    string
	Policy     Policy
	Result     Result
	Now        time.Time
}

// Settled is the ledger's answer to a settlement.
type Settled struct {
	Refused bool   // the attempt was no longer ours: recorded, nothing changed
	Ending  Ending // what became of the instance
}

// runStore is what a runner needs of the ledger; each method is one
// transaction.
type runStore interface {
	// Claim takes the instance or says why not. An error that is
	// ErrCommitUnknown leaves open whether it was taken.
	Claim(ctx context.Context, r ClaimRequest) (Claimed, error)
	// ReadClaim reads the row under a lock (so that a late commit is waited
	// for) and tells whether the claim is ours.
	ReadClaim(ctx context.Context, r ClaimRequest) (Claimed, bool, error)
	// MarkSent notes that non-idempotent work is about to be sent; false: the
	// attempt is no longer ours.
	MarkSent(ctx context.Context, s Settlement) (bool, error)
	Settle(ctx context.Context, s Settlement) (Settled, error)
	// HandBack gives back what was claimed but not begun.
	HandBack(ctx context.Context, s Settlement) (bool, error)
	// CancelOthers cancels the oldest n slots of the task that have begun, not
	// the given one; it gives those that run, whose calls are to be cut off.
	CancelOthers(ctx context.Context, taskID int64, n int, by string, now time.Time) ([]string, error)
	// Probed stores what the hook of an instance said, and what becomes of it.
	Probed(ctx context.Context, p Probed) (ProbeEnd, error)
	// Wake makes the oldest deferred instance of the task due.
	Wake(ctx context.Context, taskID int64, now time.Time) (Message, bool, error)
	// WakeHost makes the oldest deferred instance due of all tasks with a limit
	// on the host of the given one.
	WakeHost(ctx context.Context, taskID int64, now time.Time) (Message, bool, error)
}

// receipts makes the address and token by which a target reports later.
type receipts interface {
	Receipt(instanceID string, attempt int) (url, token string)
}

// Runner carries out what messages point at: claim, execute, settle.
type Runner struct {
	store    runStore
	node     *Node
	clock    *Clock
	exec     Executor
	asker    *asker
	receipts receipts
	send     sender
	hint     hinter
	newID    func() string
	sleep    func(ctx context.Context, d time.Duration)
	log      *slog.Logger
}

// RunnerOptions of NewRunner; all but Probes are required.
type RunnerOptions struct {
	Store    runStore
	Node     *Node
	Clock    *Clock
	Exec     Executor
	Probe    Executor // asks the hooks of tasks
	Probes   int      // hooks that are asked at once; 0: 16
	Receipts receipts
	Send     sender
	Hint     hinter
	NewID    func() string
	Sleep    func(ctx context.Context, d time.Duration) // until d is over or ctx is done
	Log      *slog.Logger
}

// NewRunner makes a runner.
func NewRunner(o RunnerOptions) *Runner {
	return &Runner{
		store: o.Store, node: o.Node, clock: o.Clock, exec: o.Exec, asker: newAsker(o.Probe, o.Probes), receipts: o.Receipts,
		send: o.Send, hint: o.Hint, newID: o.NewID, sleep: o.Sleep, log: o.Log,
	}
}

// run is one claim on its way to the end.
type run struct {
	nodeID  string
	claimID string
	claimed Claimed
	log     *slog.Logger
}

func (r run) settlement(res Result, now time.Time) Settlement {
	return Settlement{
		InstanceID: r.claimed.Instance.ID, Attempt: r.claimed.Instance.Attempt, NodeID: r.nodeID, ClaimID: r.claimID,
		Policy: r.claimed.Task.Spec.Policy, Result: res, Now: now,
	}
}

// Run looks at the row that m points at and does what it asks for. It returns
// when the result is in the ledger, or the work is not ours. ctx ends when the
// process is to stop at once.
func (r *Runner) Run(ctx context.Context, m Message) (a Answer) {
	claimID := r.newID()
	log := r.log.With("instance_id", m.InstanceID)
	defer r.node.forget(claimID)
	defer func() {
		if p := recover(); p != nil {
			// The claim is forgotten; the audit ends its attempt.
			log.Error("panic while running an instance", "panic", p)
			a = r.soon()
		}
	}()
	for ready := 0; ; {
		if r.node.Stopping() {
			return r.soon()
		}
		job, err := r.claim(ctx, m, claimID, ready)
		if err != nil {
			log.Warn("claim failed, the message goes back", "error", err)
			return r.soon()
		}
		switch v := job.claimed.Verdict; v.Kind {
		case ClaimTake:
			job.log = log.With("attempt", job.claimed.Instance.Attempt, "task_id", job.claimed.Task.ID)
			return r.execute(ctx, job)
		case ClaimWait:
			r.sleep(ctx, v.Due.Sub(r.clock.Now()))
		case ClaimAsk:
			said, answer := r.ask(ctx, job)
			if !said {
				return answer
			}
			ready = job.claimed.Task.Version
		case ClaimBack, ClaimDefer:
			r.cancelOthers(ctx, job, v.CancelOthers)
			return Answer{Again: true, DueAt: v.Due}
		default:
			return Answer{}
		}
	}
}

// cancelOthers makes room for a slot that comes back soon. What is not canceled
// now is when it is claimed again.
func (r *Runner) cancelOthers(ctx context.Context, job run, n int) {
	if n == 0 {
		return
	}
	in := job.claimed.Instance
	running, err := r.store.CancelOthers(ctx, in.TaskID, n, in.ID, r.clock.Now())
	if err != nil {
		r.log.Warn("canceling for the next slot failed, it is repeated", "instance_id", in.ID, "error", err)
	}
	for _, id := range running {
		r.node.CancelCall(id)
		_ = r.hint.Hint(ctx, id) // the next beat reads the wish anyway
	}
}

// soon sends a message back for another worker, or this one, in a second.
func (r *Runner) soon() Answer { return Answer{Again: true, DueAt: r.clock.Now().Add(time.Second)} }

// claim takes the row. The claim id is in the node's memory before the
// transaction, and forgotten by Run when it is refused or given up.
func (r *Runner) claim(ctx context.Context, m Message, claimID string, ready int) (run, error) {
	req := ClaimRequest{InstanceID: m.InstanceID, NodeID: r.node.ID(), ClaimID: claimID, Now: r.clock.Now(), Labels: r.node.labels(), Cannot: r.node.cannot(), Ready: ready}
	if err := fail.At("run.taken"); err != nil {
		return run{}, err
	}
	r.node.remember(claimID, m.InstanceID)
	got, err := r.store.Claim(ctx, req)
	if errors.Is(err, ErrCommitUnknown) {
		var ours bool
		if got, ours, err = r.store.ReadClaim(ctx, req); err == nil && !ours {
			got, err = r.store.Claim(ctx, req)
		}
	}
	if err != nil {
		return run{}, err
	}
	if got.Verdict.Kind == ClaimTake {
		if err := fail.At("run.claimed"); err != nil {
			return run{}, err
		}
	}
	return run{nodeID: req.NodeID, claimID: claimID, claimed: got}, nil
}

// execute carries out a claimed instance and settles its result.
func (r *Runner) execute(ctx context.Context, job run) Answer {
	if err := r.node.fence(ctx, job.nodeID); err != nil {
		job.log.Warn("not begun: this node's life is over", "error", err)
		return Answer{}
	}
	late := Result{Outcome: OutcomeTimedOut, Definite: true, Error: "the time was over before anything was sent"}
	if r.left(job) <= 0 {
		return r.settle(ctx, job, late)
	}
	if r.node.Stopping() {
		return r.handBack(ctx, job)
	}
	if !job.claimed.Task.Spec.Policy.Idempotent {
		if ours := r.mark(ctx, job); !ours {
			return Answer{}
		}
		if r.left(job) <= 0 { // the ledger was away for long
			return r.settle(ctx, job, late)
		}
	}
	res, cause := r.call(ctx, job)
	if res.Outcome == OutcomeCanceled && !errors.Is(cause, errWish) {
		// Cut off by our own end: the node's row decides what becomes of it.
		job.log.Warn("call cut off", "cause", cause)
		return Answer{}
	}
	return r.settle(ctx, job, res)
}

// left is what is left of the attempt's time. Once it is over nothing is sent:
// the audit may have ended the attempt.
func (r *Runner) left(job run) time.Duration {
	return job.claimed.Instance.DeadlineAt.Sub(r.clock.Now())
}

// mark stores sent_at before non-idempotent work is sent. An unknown commit or
// a refusal is read back by the store: only what is surely ours is sent.
func (r *Runner) mark(ctx context.Context, job run) bool {
	for {
		ours, err := r.store.MarkSent(ctx, job.settlement(Result{}, r.clock.Now()))
		if err == nil && ours {
			err = fail.At("run.marked")
		}
		if err == nil {
			return ours
		}
		if !r.wait(ctx, job, err) {
			return false
		}
	}
}

// call runs the executor under our own deadline, which ends well before the
// carrier's: its timeout and cancel must never decide.
func (r *Runner) call(ctx context.Context, job run) (Result, error) {
	in, task := job.claimed.Instance, job.claimed.Task
	cctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	tctx, stop := context.WithTimeout(cctx, r.left(job))
	defer stop()
	r.node.calling(job.claimID, cancel)
	url, token := r.receipts.Receipt(in.ID, in.Attempt)
	payload := in.Payload
	if len(payload) == 0 {
		payload = task.Spec.Payload // a slot has none of its own
	}
	res := r.exec.Execute(tctx, Call{
		InstanceID: in.ID, TeamID: task.TeamID, TaskCode: task.Code, BizID: in.BizID, Key: in.Key(task.Code),
		Attempt: in.Attempt, Replay: in.Replay, ScheduledAt: in.WantedAt, Payload: payload, Idempotent: task.Spec.Policy.Idempotent,
		Target: task.Spec.Target, ReceiptURL: url, ReceiptToken: token,
	})
	return res, context.Cause(cctx)
}

// settle brings a result to the ledger, however long the ledger is away: the
// handler holds the message's lease meanwhile.
func (r *Runner) settle(ctx context.Context, job run, res Result) Answer {
	r.node.answer(job.claimID)
	for {
		done, err := r.bring(ctx, job, res)
		if err == nil {
			return r.settled(ctx, job, done)
		}
		if !r.wait(ctx, job, err) {
			return Answer{}
		}
	}
}

// bring is one try to settle.
func (r *Runner) bring(ctx context.Context, job run, res Result) (Settled, error) {
	if err := fail.At("run.answered"); err != nil {
		return Settled{}, err
	}
	done, err := r.store.Settle(ctx, job.settlement(res, r.clock.Now()))
	if err == nil {
		err = fail.At("run.settled")
	}
	return done, err
}

// settleWait is the pause between two tries to reach the ledger.
const settleWait = 500 * time.Millisecond

// wait pauses before the ledger is tried again; false: the process ends.
func (r *Runner) wait(ctx context.Context, job run, err error) bool {
	job.log.Warn("the ledger is away, the result waits", "error", err)
	r.sleep(ctx, settleWait)
	return ctx.Err() == nil
}

func (r *Runner) settled(ctx context.Context, job run, done Settled) Answer {
	if done.Refused {
		job.log.Warn("result refused: the attempt had ended meanwhile")
		return Answer{}
	}
	e := done.Ending
	job.log.Info("settled", "state", e.To, "outcome", e.Outcome, "error", e.Error)
	if job.claimed.Task.Spec.Policy.MaxConcurrent > 0 {
		r.wake(ctx, job, r.store.Wake)
	}
	if job.claimed.Task.LimitedHost() != "" {
		r.wake(ctx, job, r.store.WakeHost)
	}
	if e.To == Retrying {
		return Answer{Again: true, DueAt: e.DueAt, Failed: true}
	}
	return Answer{}
}

// wake lets the oldest deferred instance take the place that became free. A
// lost wake costs the deferral's delay, so an error is only logged.
func (r *Runner) wake(ctx context.Context, job run, next func(context.Context, int64, time.Time) (Message, bool, error)) {
	m, ok, err := next(ctx, job.claimed.Task.ID, r.clock.Now())
	if err != nil {
		job.log.Warn("wake failed, the deferred instance waits for its time", "error", err)
	}
	if ok {
		r.send.Send(ctx, []Message{m}) // sweep a repairs what was not sent
	}
}

// handBack gives back what was claimed but not begun, at a stop.
func (r *Runner) handBack(ctx context.Context, job run) Answer {
	ok, err := r.store.HandBack(ctx, job.settlement(Result{}, r.clock.Now()))
	job.log.Info("handed back, the node is stopping", "done", ok, "error", err)
	return Answer{}
}
