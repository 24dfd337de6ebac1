package main

// The run model: hand over, claim, execute, settle, retry, sweep, node death,
// receipts, cancel, hand back, replay. Time is nondeterministic: whatever may
// be late may be arbitrarily late, so a frozen process is one that takes no
// step for a while. This file has what a state is made of; the steps stand in
// run_*.go by their names in the protocol.

// The states of an instance.
const (
	None uint8 = iota
	Pending
	Queued
	Running
	Awaiting
	Retrying
	Succeeded // from here on final
	Failed
	TimedOut
	Lost
	Skipped
	Canceled
)

var stateName = []string{"none", "pending", "queued", "running", "awaiting", "retrying",
	"succeeded", "failed", "timed_out", "lost", "skipped", "canceled"}

func final(st uint8) bool { return st >= Succeeded }
func dead(st uint8) bool  { return st == Failed || st == TimedOut || st == Lost }

// Where a message is.
const (
	Gone     uint8 = iota
	Waiting        // scheduled, pending or retry: may be delivered now or later
	Active         // taken by a worker
	Archived       // blocks its id, is never delivered
)

var placeName = []string{"", "waiting", "active", "archived"}

// Msg is a message with its dispatch number.
type Msg struct{ D, L uint8 }

// Inst is an instance's row, and what is known of it outside.
type Inst struct {
	St, Att, Ret, Dth, Disp, Node uint8
	Due, Sent, Cxl, DL            uint8 // DL: 0 none, 1 open, 2 replayed
	Rep, Of                       uint8 // replay number, replayed instance+1
	Owes                          uint8 // bit a: the callee may still report on attempt a
	Over                          uint8 // running 60 s past its deadline
	Open                          uint8 // ghost, bit a: attempt a was sent and the ledger knows no definite answer
	Sends                         uint8 // ghost: requests that reached the callee
	Scan                          uint8 // only for DeadScannedOnce
	M, Snap                       [3]Msg
}

func (r *Inst) exists() bool { return r.St != None }
func (r *Inst) open() bool   { return r.St != None && !final(r.St) }

// own is the guard OWN of the protocol.
func (r *Inst) own(x Handler) bool { return r.St == Running && r.Att == x.A && r.Node == x.N }

// Where a handler is.
const (
	Idle     uint8 = iota
	Got            // message taken
	Checked        // only when the claim is not one transaction
	GotU           // claim sent, commit unknown
	EarlyW         // message early by at most 1 s: the handler waits
	Claimed        // the claim committed
	MarkU          // sent mark written, commit unknown
	Marked         // sent_at committed (non-idempotent)
	Sent           // the request is out
	Have           // the answer is in hand, not settled yet (only with Over)
	SettleU        // settle sent, commit unknown
	AckDrop        // about to tell Asynq: forget it
	AckRetry       // about to tell Asynq: again later
	CancelO        // deferred, about to cancel what has begun (only with CancelsApart)
)

// Handler is one slot of a worker: instance, message, attempt, node, outcome.
type Handler struct {
	PC, I, D, A, N, O uint8
	Z                 uint8 // ghost: the ledger has ended this attempt
	X                 uint8 // the deadline is over and with it the context; the handler may hang
}

// holds: the handler believes that it has an attempt, or may have one.
func holds(pc uint8) bool { return pc == GotU || pc >= Claimed && pc <= Have }

// Worker is a process that runs instances.
type Worker struct {
	Up, Node uint8 // Up: 0 down, 1 up, 2 stopping
	Mem      uint8 // only for KeepClaimID: attempts of i0 whose claim_id was never forgotten
	H        [2]Handler
}

// What a scheduler is at (dispatcher and sweeper of one node).
const (
	OpIdle uint8 = iota
	OpEnq        // pending row read, about to enqueue
	OpMark       // enqueued, about to write queued
	OpSwU        // late row read, about to raise the dispatch number
	OpSwE        // about to enqueue the new dispatch
	OpLost       // running row on a dead node read, about to end it
	OpTmo        // awaiting row past its deadline read, about to end it
	OpOver       // running row past its deadline read by its node, about to end it
)

// Sched is a scheduler with the row as it read it.
type Sched struct{ Op, I, St, Att, D uint8 }

// Fly is a write whose answer was cut off and that has not landed yet.
type Fly struct{ K, I, A, N, O uint8 }

// What is in flight.
const (
	FlyNone uint8 = iota
	FlyClaim
	FlyMark
	FlySettle
)

// RS is a state of the run model.
type RS struct {
	I     [3]Inst
	W     [2]Worker
	S     [2]Sched
	Nodes [6]uint8 // index 1..5: 0 free, 1 alive, 2 declared dead
	Fly   Fly
	B     Budget
}

func (s *RS) nodeUp(n uint8) bool {
	for _, w := range s.W {
		if w.Up > 0 && w.Node == n {
			return true
		}
	}
	return false
}
