package db_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/fault"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

func receive(d *db.DB, t *testing.T, id string, attempt int, o sched.Outcome) (sched.Received, error) {
	t.Helper()
	return d.Receive(t.Context(), sched.Report{InstanceID: id, Attempt: attempt, Outcome: o, Message: "库存不足", Address: "10.0.0.9"}, later(50))
}

// A receipt of the present attempt in each state that an instance can have.
func TestAReceiptInEachState(t *testing.T) {
	t.Parallel()
	for state, reach := range stages() {
		for _, o := range []sched.Outcome{sched.OutcomeSucceeded, sched.OutcomeFailed} {
			t.Run(string(state)+" "+string(o), func(t *testing.T) {
				each(t, func(t *testing.T, d *db.DB) {
					id := reach(t, d, dbtest.MakeTask(t, d))
					attempt := read(t, d, id).Attempt
					before := dump(t, d, "instances", "attempts", "dead_letters")
					got, err := receive(d, t, id, attempt, o)
					v := look(t, d, id)
					counts := o == sched.OutcomeSucceeded || state == sched.Running || state == sched.Awaiting
					switch {
					case attempt == 0, !state.Final() && !counts:
						require.Equal(t, fault.KindConflict, fault.KindOf(err))
						require.Equal(t, before, dump(t, d, "instances", "attempts", "dead_letters"))
						require.Zero(t, count(t, d, "receipts"))
					case state.Final():
						require.NoError(t, err)
						require.Equal(t, sched.Received{Already: true, State: state, TaskID: v.TaskID}, got)
						require.Equal(t, before, dump(t, d, "instances", "attempts", "dead_letters"))
						require.Equal(t, sched.EvRefusedWord, v.Events[len(v.Events)-1].Kind)
						require.Equal(t, 1, count(t, d, "receipts"))
					default:
						require.NoError(t, err)
						require.Equal(t, sched.Received{State: sched.State(o), TaskID: v.TaskID}, got)
						require.Equal(t, sched.State(o), v.State)
						require.Equal(t, later(50), v.FinishedAt)
						require.True(t, v.LookAt.IsZero() && v.ReceiptDeadline.IsZero())
						require.Equal(t, o == sched.OutcomeFailed, v.Letter != 0)
						require.Equal(t, sched.EvReceipt, v.Events[len(v.Events)-1].Kind)
						require.Equal(t, "10.0.0.9", v.Events[len(v.Events)-1].Actor)
						if state != sched.Retrying {
							require.Equal(t, o, v.Attempts[len(v.Attempts)-1].Outcome)
						}
					}
				})
			})
		}
	}
}

// protocol.md (flaw 5): the target reports before our own settlement, or late
// for an attempt that was given up.
func TestAnEarlierAttemptsSuccessCountsAndItsFailureDoesNot(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d), dbtest.MakeNode(t, d)
		second := func() sched.Claimed {
			run := running(t, d, task, node)
			settle(t, d, run, silence(), later(1))
			return take(t, d, run.Instance.ID, node, later(20))
		}
		run := second()
		_, err := receive(d, t, run.Instance.ID, 1, sched.OutcomeFailed)
		require.Equal(t, fault.KindConflict, fault.KindOf(err))
		require.Equal(t, sched.Running, read(t, d, run.Instance.ID).State)
		_, err = receive(d, t, run.Instance.ID, 3, sched.OutcomeSucceeded)
		require.Equal(t, fault.KindConflict, fault.KindOf(err), "an attempt that was never made")
		_, err = receive(d, t, run.Instance.ID, 0, sched.OutcomeSucceeded)
		require.Equal(t, fault.KindConflict, fault.KindOf(err))

		_, err = receive(d, t, run.Instance.ID, 1, sched.OutcomeSucceeded)
		require.NoError(t, err)
		v := look(t, d, run.Instance.ID)
		require.Equal(t, sched.Succeeded, v.State)
		require.Equal(t, []sched.Outcome{sched.OutcomeTimedOut, sched.OutcomeSucceeded}, outcomes(v), "the open attempt is closed")
		require.True(t, settle(t, d, run, failure(), later(60)).Refused)
		require.Equal(t, sched.Succeeded, read(t, d, run.Instance.ID).State)
		got, err := receive(d, t, run.Instance.ID, 2, sched.OutcomeFailed)
		require.NoError(t, err)
		require.True(t, got.Already, "C20: a repeated receipt is told so")
	})
}

func TestAReceiptOfHandedBackWorkCounts(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		run := running(t, d, dbtest.MakeTask(t, d), dbtest.MakeNode(t, d))
		handBack(t, d, run, later(1))
		_, err := receive(d, t, run.Instance.ID, 1, sched.OutcomeFailed)
		require.Equal(t, fault.KindConflict, fault.KindOf(err))
		got, err := receive(d, t, run.Instance.ID, 1, sched.OutcomeSucceeded)
		require.NoError(t, err)
		require.Equal(t, sched.Succeeded, got.State)
	})
}

func TestOfAReceiptAndASettlementAtOnceOneCounts(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d), dbtest.MakeNode(t, d)
		for range 10 {
			run := running(t, d, task, node)
			var s sched.Settled
			var r sched.Received
			errs := both(
				func() (err error) {
					s, err = d.Settle(t.Context(), dbtest.Settlement(run, success(), later(1)))
					return err
				},
				func() (err error) { r, err = receive(d, t, run.Instance.ID, 1, sched.OutcomeSucceeded); return err })
			require.Equal(t, [2]error{}, errs)
			// Both say success of the same attempt: whichever came first stands.
			require.Equal(t, sched.Succeeded, read(t, d, run.Instance.ID).State)
			require.Len(t, look(t, d, run.Instance.ID).Attempts, 1)
			require.True(t, r.Already || !s.Refused)
		}
	})
}
