package db_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// stages of an instance's life, each reached as in life.
func stages() map[sched.State]func(t *testing.T, d *db.DB, task sched.Task) string {
	onNode := func(t *testing.T, d *db.DB, task sched.Task) sched.Claimed {
		return running(t, d, task, dbtest.MakeNode(t, d))
	}
	ended := func(r sched.Result) func(*testing.T, *db.DB, sched.Task) string {
		return func(t *testing.T, d *db.DB, task sched.Task) string {
			c := onNode(t, d, task)
			s := dbtest.Settlement(c, r, later(1))
			s.Policy.Retry.Max = 0
			_, err := d.Settle(t.Context(), s)
			require.NoError(t, err)
			return c.Instance.ID
		}
	}
	return map[sched.State]func(t *testing.T, d *db.DB, task sched.Task) string{
		sched.Pending: func(t *testing.T, d *db.DB, task sched.Task) string { return dbtest.MakeInstance(t, d, task).ID },
		sched.Queued: func(t *testing.T, d *db.DB, task sched.Task) string {
			in := dbtest.MakeInstance(t, d, task)
			queue(t, d, in, t0)
			return in.ID
		},
		sched.Running:  func(t *testing.T, d *db.DB, task sched.Task) string { return onNode(t, d, task).Instance.ID },
		sched.Awaiting: ended(accepted()),
		sched.Retrying: func(t *testing.T, d *db.DB, task sched.Task) string {
			c := onNode(t, d, task)
			settle(t, d, c, failure(), later(1))
			return c.Instance.ID
		},
		sched.Succeeded: ended(success()),
		sched.Failed:    ended(failure()),
		sched.TimedOut:  ended(silence()),
		sched.Lost: func(t *testing.T, d *db.DB, task sched.Task) string {
			c := onNode(t, d, task)
			exec(t, d, "UPDATE instances SET deaths=2 WHERE id=?", c.Instance.ID)
			lose(t, d, held(c), later(1))
			return c.Instance.ID
		},
		sched.Skipped: func(t *testing.T, d *db.DB, task sched.Task) string {
			in := dbtest.MakeInstance(t, d, task, dbtest.Slot(later(-7)))
			require.Equal(t, sched.ClaimSkip, claim(t, d, in.ID, dbtest.MakeNode(t, d), t0).Verdict.Kind)
			return in.ID
		},
		sched.Canceled: func(t *testing.T, d *db.DB, task sched.Task) string {
			in := dbtest.MakeInstance(t, d, task)
			cancel(t, d, in.ID, later(1))
			return in.ID
		},
	}
}

func TestEachStateIsCanceledInItsWay(t *testing.T) {
	t.Parallel()
	for state, reach := range stages() {
		t.Run(string(state), func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				id := reach(t, d, dbtest.MakeTask(t, d))
				require.Equal(t, state, read(t, d, id).State)
				before := dump(t, d, "instances", "attempts", "dead_letters", "instance_events", "audit_log")
				attempts := len(look(t, d, id).Attempts)
				got, err := d.Cancel(t.Context(), id, later(5), ask("instance.cancel"))
				v := look(t, d, id)
				switch {
				case state.Final():
					require.Equal(t, fault.KindConflict, fault.KindOf(err))
					require.ErrorContains(t, err, string(state))
					require.Equal(t, before, dump(t, d, "instances", "attempts", "dead_letters", "instance_events", "audit_log"))
					return
				case state == sched.Running:
					require.NoError(t, err)
					require.Equal(t, sched.CancelResult{State: sched.Running, Wish: true, TaskID: v.TaskID}, got)
					require.Equal(t, sched.Running, v.State)
					require.Equal(t, later(5), v.CancelWanted)
					require.Equal(t, sched.EvCancelWanted, v.Events[len(v.Events)-1].Kind)
				default:
					require.NoError(t, err)
					require.Equal(t, sched.CancelResult{State: sched.Canceled, TaskID: v.TaskID}, got)
					require.Equal(t, sched.Canceled, v.State)
					require.Equal(t, later(5), v.FinishedAt)
					require.Equal(t, "canceled by lin: 测试", v.Reason)
					require.True(t, v.LookAt.IsZero() && v.ReceiptDeadline.IsZero())
					require.Equal(t, sched.EvCanceled, v.Events[len(v.Events)-1].Kind)
				}
				require.Len(t, v.Attempts, attempts)
				require.Equal(t, "lin", v.Events[len(v.Events)-1].Actor)
				require.Equal(t, "instance.cancel", lastAudit(t, d).Action)
			})
		})
	}
}

func lastAudit(t *testing.T, d *db.DB) access.Entry {
	t.Helper()
	rows, err := d.Audit(t.Context(), all, access.AuditFilter{}, 0, 1)
	require.NoError(t, err)
	return rows[0]
}

func TestTheFirstWishStands(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d), dbtest.MakeNode(t, d)
		run, other := running(t, d, task, node), running(t, d, task, node)
		wishes := func() []string {
			ids, err := d.Wishes(t.Context(), node.ID)
			require.NoError(t, err)
			return ids
		}
		require.Empty(t, wishes())
		cancel(t, d, run.Instance.ID, later(1))
		cancel(t, d, run.Instance.ID, later(2))
		require.Equal(t, later(1), read(t, d, run.Instance.ID).CancelWanted)
		require.Equal(t, []string{run.Instance.ID}, wishes())
		settle(t, d, run, cutOff(), later(3))
		require.Empty(t, wishes())
		settle(t, d, other, success(), later(3))
	})
}

func TestCancelingWhatIsNotThereIsNotFound(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		_, err := d.Cancel(t.Context(), dbtest.ID(), t0, ask("instance.cancel"))
		require.Equal(t, fault.KindNotFound, fault.KindOf(err))
		_, err = d.Receive(t.Context(), sched.Report{InstanceID: dbtest.ID(), Attempt: 1, Outcome: sched.OutcomeSucceeded}, t0)
		require.Equal(t, fault.KindNotFound, fault.KindOf(err))
		require.Zero(t, count(t, d, "instance_events")+count(t, d, "receipts"))
	})
}

func TestAClaimAndACancelOfOneInstanceAgree(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d), dbtest.MakeNode(t, d)
		for range 10 {
			in := dbtest.MakeInstance(t, d, task)
			var c sched.Claimed
			var res sched.CancelResult
			errs := both(
				func() (err error) {
					c, err = d.Claim(t.Context(), sched.ClaimRequest{InstanceID: in.ID, NodeID: node.ID, ClaimID: dbtest.ID(), Now: t0})
					return err
				},
				func() (err error) {
					res, err = d.Cancel(t.Context(), in.ID, t0, ask("instance.cancel"))
					return err
				})
			require.Equal(t, [2]error{}, errs)
			require.Equal(t, c.Verdict.Kind == sched.ClaimTake, res.Wish, "taken first: a wish; canceled first: dropped")
		}
	})
}
