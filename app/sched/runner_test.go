package sched

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestATargetIsCalledAndTheResultSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(t)
		w.in.Payload, w.in.Attempt, w.in.Replay = json.RawMessage(`{"order":17}`), 1, 2
		result := Result{Outcome: OutcomeSucceeded, StatusCode: 200, Response: "ok"}
		w.target.do = func(ctx context.Context, _ Call) Result {
			end, ok := ctx.Deadline()
			require.True(t, ok)
			require.WithinDuration(t, time.Now().Add(30*time.Second), end, 0)
			require.Equal(t, 1, w.node.Busy())
			return result
		}
		require.Equal(t, Answer{}, w.run(t.Context()))
		require.Equal(t, []Call{{
			InstanceID: w.in.ID, TeamID: shop, TaskCode: "close-orders", BizID: "order-17", Key: "close-orders/order-17", Attempt: 2, Replay: 2,
			ScheduledAt: w.in.WantedAt, Payload: w.in.Payload, Target: w.task.Spec.Target, Idempotent: true,
			ReceiptURL: "https://ax.example/r/" + w.in.ID, ReceiptToken: "token-2",
		}}, w.target.calls)
		require.Equal(t, []Settlement{{
			InstanceID: w.in.ID, Attempt: 2, NodeID: "node-1", ClaimID: "claim-1", Policy: w.task.Spec.Policy, Result: result, Now: w.clock.Now(),
		}}, w.ledger.settles)
		require.Empty(t, w.ledger.marks, "idempotent work is not marked")
		require.Zero(t, w.node.Busy())
	})
}

// A slot has no payload of its own, nor has a request that names none.
func TestTheTasksPayloadIsSentWhenTheInstanceHasNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(t)
		w.task.Spec.Payload = json.RawMessage(`{"all":true}`)
		w.run(t.Context())
		require.JSONEq(t, `{"all":true}`, string(w.target.calls[0].Payload))
	})
}

func TestAnAnswerFollowsTheEnding(t *testing.T) {
	due := moment("2000-01-01T00:00:40Z")
	for name, c := range map[string]struct {
		settled Settled
		want    Answer
	}{
		"succeeded": {Settled{Ending: Ending{To: Succeeded}}, Answer{}},
		"awaiting":  {Settled{Ending: Ending{To: Awaiting}}, Answer{}},
		"retrying":  {Settled{Ending: Ending{To: Retrying, DueAt: due}}, Answer{Again: true, DueAt: due, Failed: true}},
		"failed":    {Settled{Ending: Ending{To: Failed}}, Answer{}},
		"timed out": {Settled{Ending: Ending{To: TimedOut}}, Answer{}},
		"canceled":  {Settled{Ending: Ending{To: Canceled}}, Answer{}},
		"refused":   {Settled{Refused: true, Ending: Ending{To: Retrying, DueAt: due}}, Answer{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorker(t)
				w.ledger.settled = c.settled
				require.Equal(t, c.want, w.run(t.Context()))
			})
		})
	}
}

func TestAFreedPlaceWakesADeferredInstance(t *testing.T) {
	next := Message{InstanceID: "next", Dispatch: 3}
	for name, c := range map[string]struct {
		limit   int
		refused bool
		err     error
		wakes   *Message
		woken   []int64
		sent    []Message
	}{
		"one waits":                   {limit: 1, wakes: &next, woken: []int64{3}, sent: []Message{next}},
		"none waits":                  {limit: 1, woken: []int64{3}},
		"no limit, nobody waits":      {limit: 0, wakes: &next},
		"refused: no place was freed": {limit: 1, refused: true, wakes: &next},
		"a wake that fails is late":   {limit: 1, err: errAway, wakes: &next, woken: []int64{3}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorker(t)
				w.task.Spec.Policy.MaxConcurrent = c.limit
				w.ledger.settled.Refused, w.ledger.wakes = c.refused, c.wakes
				w.ledger.fails("Wake", c.err)
				require.Equal(t, Answer{}, w.run(t.Context()))
				require.Equal(t, c.woken, w.ledger.woken)
				require.Equal(t, c.sent, w.carrier.sent)
			})
		})
	}
}

func TestNonIdempotentWorkIsMarkedBeforeItIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(t)
		w.task.Spec.Policy.Idempotent = false
		w.ledger.does("MarkSent", func() error { require.Empty(t, w.target.calls); return nil })
		w.run(t.Context())
		require.Len(t, w.ledger.marks, 1)
		require.Equal(t, 1, w.ledger.marks[0].Attempt)
		require.Equal(t, "node-1", w.ledger.marks[0].NodeID)
		require.Len(t, w.target.calls, 1)
	})
}

func TestARefusedMarkIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(t)
		w.task.Spec.Policy.Idempotent, w.ledger.ours = false, false
		require.Equal(t, Answer{}, w.run(t.Context()))
		require.Empty(t, w.target.calls)
		require.Empty(t, w.ledger.settles, "the attempt is somebody else's")
	})
}

func TestAMarkIsTriedUntilTheLedgerAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(t)
		w.task.Spec.Policy.Idempotent = false
		w.ledger.failsTimes("MarkSent", 3, ErrCommitUnknown)
		start := time.Now()
		require.Equal(t, Answer{}, w.run(t.Context()))
		require.Equal(t, 3*settleWait, time.Since(start))
		require.Len(t, w.target.calls, 1)
	})
}

// The ledger was away for longer than the attempt may take: the audit may have
// ended it, and ended work must not be sent (flaw 28).
func TestWhatIsMarkedTooLateIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(t)
		w.task.Spec.Policy.Idempotent = false
		w.ledger.failsTimes("MarkSent", 60, errAway) // 30 s
		w.run(t.Context())
		require.Empty(t, w.target.calls)
		requireUnsent(t, w)
	})
}

func requireUnsent(t *testing.T, w *worker) {
	require.Len(t, w.ledger.settles, 1)
	require.Equal(t, OutcomeTimedOut, w.ledger.settles[0].Result.Outcome)
	require.True(t, w.ledger.settles[0].Result.Definite, "surely nothing was sent")
	require.NotEmpty(t, w.ledger.settles[0].Result.Error)
}

// Behind the fence the time may run out (flaw 28).
func TestWhatIsPastItsDeadlineIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(t)
		w.task.Spec.Policy.TimeoutSeconds, w.task.Spec.Policy.Idempotent = 5, false
		time.Sleep(11 * time.Second) // no beat
		time.AfterFunc(5*time.Second, func() { require.NoError(t, w.node.Beat(t.Context())) })
		require.Equal(t, Answer{}, w.run(t.Context()))
		require.Empty(t, w.target.calls)
		require.Empty(t, w.ledger.marks)
		requireUnsent(t, w)
	})
}

func TestAPartOfTheTimeIsLeftBehindTheFence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(t)
		w.target.do = until(time.Hour)
		w.ledger.settled = Settled{Ending: Ending{To: TimedOut}}
		time.Sleep(11 * time.Second)
		start := time.Now()
		time.AfterFunc(20*time.Second, func() { require.NoError(t, w.node.Beat(t.Context())) })
		w.run(t.Context())
		require.Equal(t, 30*time.Second, time.Since(start))
		require.Equal(t, OutcomeTimedOut, w.ledger.settles[0].Result.Outcome)
	})
}

// protocol.md (flaw 4): what a panic leaves behind is running and nobody's.
func TestAPanicForgetsTheClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(t)
		w.target.do = func(context.Context, Call) Result { panic("a bug of the executor") }
		require.Equal(t, w.soon(), w.run(t.Context()))
		require.Zero(t, w.node.Busy())
		w.ledger.holding = []Held{{InstanceID: w.in.ID, NodeID: "node-1", ClaimID: "claim-1", DeadlineAt: w.clock.Now().Add(time.Minute)}}
		require.NoError(t, w.node.Beat(t.Context()))
		require.Equal(t, w.ledger.holding, w.ledger.lost, "the audit ends its attempt")
	})
}

// STUCK-07: the database is away while callbacks end (flaw 27).
func TestAResultWaitsForTheLedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(t)
		w.ledger.failsTimes("Settle", 400, errAway) // 200 s
		w.ledger.holding = []Held{{InstanceID: w.in.ID, NodeID: "node-1", ClaimID: "claim-1", DeadlineAt: w.clock.Now()}}
		stop := w.live(t)
		start := time.Now()
		require.Equal(t, Answer{}, w.run(t.Context()))
		require.Equal(t, 200*time.Second, time.Since(start))
		stop()
		require.Len(t, w.target.calls, 1, "one call, however often it is settled")
		require.Empty(t, w.ledger.overdue, "the audit spares an answer in hand")
		require.Empty(t, w.ledger.lost)
	})
}

func TestAnUnsentResultWaitsForTheLedgerToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(t)
		w.task.Spec.Policy.TimeoutSeconds = 0
		w.ledger.failsTimes("Settle", 400, errAway)
		w.ledger.holding = []Held{{InstanceID: w.in.ID, NodeID: "node-1", ClaimID: "claim-1", DeadlineAt: w.clock.Now()}}
		stop := w.live(t)
		w.run(t.Context())
		stop()
		require.Empty(t, w.target.calls)
		require.Len(t, w.ledger.settles, 401)
		require.Empty(t, w.ledger.overdue, "its answer is in hand: nothing was sent")
	})
}

func TestAResultIsGivenUpWhenTheProcessEnds(t *testing.T) {
	for _, call := range []string{"Settle", "MarkSent"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorker(t)
			w.task.Spec.Policy.Idempotent = false
			w.ledger.fails(call, errAway)
			ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
			defer stop()
			require.Equal(t, Answer{}, w.run(ctx), call)
		})
	}
}

// What cuts a call off by this process's own end leaves the decision to the
// row: nothing is settled.
func TestACallThatIsCutOffIsNotSettled(t *testing.T) {
	for name, cut := range map[string]func(*worker, *testing.T, context.CancelFunc){
		"declared dead (DUP-07)": func(w *worker, t *testing.T, _ context.CancelFunc) {
			w.ledger.gone["node-1"] = true
			require.NoError(t, w.node.Beat(t.Context()))
		},
		"closed in order":  func(w *worker, t *testing.T, _ context.CancelFunc) { require.NoError(t, w.node.Close(t.Context())) },
		"stopped at once":  func(_ *worker, _ *testing.T, stop context.CancelFunc) { stop() },
		"for no cause yet": nil,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorker(t)
				w.target.do = until(time.Minute)
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				if cut != nil {
					time.AfterFunc(time.Second, func() { cut(w, t, stop) })
				} else {
					w.target.do = func(context.Context, Call) Result { return Result{Outcome: OutcomeCanceled} }
				}
				require.Equal(t, Answer{}, w.run(ctx))
				require.Len(t, w.target.calls, 1)
				require.Empty(t, w.ledger.settles)
				require.Zero(t, w.node.Busy())
			})
		})
	}
}

func TestACallThatAPersonCanceledIsSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(t)
		w.target.do = until(time.Minute)
		w.ledger.settled = Settled{Ending: Ending{To: Canceled}}
		w.live(t)
		time.AfterFunc(time.Second, func() { w.ledger.with(func() { w.ledger.wishes = []string{w.in.ID} }) })
		start := time.Now()
		require.Equal(t, Answer{}, w.run(t.Context()))
		require.Equal(t, 5*time.Second, time.Since(start), "the next beat reads the wish")
		require.Equal(t, OutcomeCanceled, w.ledger.settles[0].Result.Outcome)
	})
}

// A success that came before the cut is the truth: it is settled.
func TestASuccessIsSettledEvenOnADeadNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(t)
		w.ledger.settled = Settled{Refused: true}
		w.target.do = func(ctx context.Context, _ Call) Result {
			w.ledger.gone["node-1"] = true
			require.NoError(t, w.node.Beat(ctx))
			return Result{Outcome: OutcomeSucceeded}
		}
		require.Equal(t, Answer{}, w.run(t.Context()))
		require.Equal(t, "node-1", w.ledger.settles[0].NodeID, "under the row that claimed it")
	})
}
