package db_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// Claims and settlements in a batch (engine-sql.md, CLAIM and SETTLE).

func asks(node sched.NodeInfo, now time.Time, ids ...string) []sched.ClaimRequest {
	rs := make([]sched.ClaimRequest, len(ids))
	for i, id := range ids {
		rs[i] = sched.ClaimRequest{InstanceID: id, NodeID: node.ID, ClaimID: dbtest.ID(), Now: now}
	}
	return rs
}

// together claims in one batch; nothing may fail.
func together(t *testing.T, d *db.DB, rs []sched.ClaimRequest) []sched.Claimed {
	t.Helper()
	got, errs := d.ClaimAtOnce(t, rs)
	for _, err := range errs {
		require.NoError(t, err)
	}
	return got
}

func verdicts(got []sched.Claimed) []sched.ClaimKind {
	out := make([]sched.ClaimKind, len(got))
	for i, c := range got {
		out[i] = c.Verdict.Kind
	}
	return out
}

func TestABatchNeverExceedsALimit(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d, dbtest.Limit(3)), dbtest.MakeNode(t, d)
		running(t, d, task, node)
		var ids []string
		for i := range 8 {
			ids = append(ids, dbtest.MakeInstance(t, d, task, dbtest.Due(later(float64(-i)))).ID)
		}
		got := verdicts(together(t, d, asks(node, t0, ids...)))
		take, later := sched.ClaimTake, sched.ClaimDefer
		require.Equal(t, []sched.ClaimKind{later, later, later, later, later, later, take, take}, got, "those wanted first get the free places")
		require.Equal(t, 3, count(t, d, "instances WHERE state='running'"))
		require.Equal(t, 6, count(t, d, "instances WHERE defers=1"))
	})
}

func TestASlotOverlapsWithOneTakenInItsBatch(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d, dbtest.Every(time.Minute), dbtest.Limit(1)), dbtest.MakeNode(t, d)
		first := dbtest.MakeInstance(t, d, task, dbtest.Slot(later(60)))
		second := dbtest.MakeInstance(t, d, task, dbtest.Slot(later(120)))
		got := together(t, d, asks(node, later(120), second.ID, first.ID))
		require.Equal(t, []sched.ClaimKind{sched.ClaimSkip, sched.ClaimTake}, verdicts(got))
		require.Equal(t, "overlap: "+first.ID+" has not ended", read(t, d, second.ID).Reason)
	})
}

// One row that can't be written must not cost the others their claim, nor a
// settlement its result.
func TestABadRowFailsOnlyItsOwnCaller(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d), dbtest.MakeNode(t, d)
		var ids []string
		for range 4 {
			ids = append(ids, dbtest.MakeInstance(t, d, task).ID)
		}
		exec(t, d, "INSERT INTO attempts (instance_id, no, task_id, team_id, task_version, started_at) VALUES (?,1,?,?,1,1)", ids[1], task.ID, task.TeamID)
		got, errs := d.ClaimAtOnce(t, asks(node, t0, ids...))
		for i := range ids {
			if i == 1 {
				require.True(t, db.IsDuplicate(errs[i]), "%v", errs[i])
				continue
			}
			require.NoError(t, errs[i])
			require.Equal(t, sched.ClaimTake, got[i].Verdict.Kind)
			require.Equal(t, got[i].Instance, read(t, d, ids[i]))
		}
		require.Equal(t, sched.Pending, read(t, d, ids[1]).State)
		exec(t, d, "DELETE FROM attempts WHERE instance_id=?", ids[1])
	})
}

func TestACommitThatNobodyConfirmedIsToldToTheWholeBatch(t *testing.T) {
	t.Parallel()
	d, w := through(t)
	task, node := dbtest.MakeTask(t, d), dbtest.MakeNode(t, d)
	rs := asks(node, t0, dbtest.MakeInstance(t, d, task).ID, dbtest.MakeInstance(t, d, task).ID, dbtest.MakeInstance(t, d, task).ID)
	w.after.Store("COMMIT")
	_, errs := d.ClaimAtOnce(t, rs)
	w.after.Store("")
	var ss []sched.Settlement
	for i, err := range errs {
		require.ErrorIs(t, err, sched.ErrCommitUnknown)
		got, ours, err := d.ReadClaim(t.Context(), rs[i])
		require.NoError(t, err)
		require.True(t, ours)
		ss = append(ss, dbtest.Settlement(got, success(), later(1)))
	}
	w.after.Store("COMMIT")
	_, errs = d.SettleAtOnce(t, ss)
	w.after.Store("")
	for i, err := range errs {
		require.ErrorIs(t, err, sched.ErrCommitUnknown)
		again, err := d.Settle(t.Context(), ss[i])
		require.NoError(t, err)
		require.False(t, again.Refused, "it was ours")
		require.Equal(t, sched.Succeeded, again.Ending.To)
	}
	require.EqualValues(t, 2, w.cuts.Load())
	clean(t, d)
}

// A claim that waits for a gate holds up its batch, not what comes after it.
func TestAClaimThatWaitsForAGateHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	d := dbtest.MariaDB(t)
	held, free, node := dbtest.MakeTask(t, d, dbtest.Limit(1)), dbtest.MakeTask(t, d, dbtest.Limit(1)), dbtest.MakeNode(t, d)
	waits, goes := dbtest.MakeInstance(t, d, held), dbtest.MakeInstance(t, d, free)
	var g errgroup.Group
	holdGate(t, d, held, func() {
		g.Go(func() error {
			_, err := d.Claim(t.Context(), asks(node, t0, waits.ID)[0])
			return err
		})
		awaitLockWait(t, d)
		take(t, d, goes.ID, node, t0)
		require.Equal(t, sched.Pending, read(t, d, waits.ID).State)
	})
	require.NoError(t, g.Wait())
	require.Equal(t, sched.Running, read(t, d, waits.ID).State)
}

// Texts of targets that together are longer than a server takes in one
// statement.
func TestLongAnswersAreStoredTogether(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d), dbtest.MakeNode(t, d)
		var ids []string
		for range 256 {
			ids = append(ids, dbtest.MakeInstance(t, d, task).ID)
		}
		var ss []sched.Settlement
		for i, c := range together(t, d, asks(node, t0, ids...)) {
			r := success()
			r.Response, r.Request = strings.Repeat(fmt.Sprintf("'%d", i), 60_000)[:60_000], strings.Repeat("\\", 60_000)
			ss = append(ss, dbtest.Settlement(c, r, later(1)))
		}
		require.NoError(t, d.SettleTogether(t.Context(), ss))
		for i := range 5 {
			require.Equal(t, ss[i*50].Result.Response, look(t, d, ids[i*50]).Attempts[0].Response)
		}
	})
}

// Batches of two nodes over the same tasks and nodes, in any order: no deadlock
// happens, so none reaches a caller (claimBatch says why).
func TestBatchesOverTheSameTasksDontDeadlock(t *testing.T) {
	t.Parallel()
	dsn := dbtest.MariaDSN(t)
	seen := &reruns{Handler: slog.DiscardHandler, seen: map[string]int{}}
	var ledgers []*db.DB
	for range 2 {
		d, err := db.Open(t.Context(), db.Options{Dialect: db.MySQL, DSN: dsn, Log: slog.New(seen)})
		require.NoError(t, err)
		t.Cleanup(func() { _ = d.Close() })
		ledgers = append(ledgers, d)
	}
	d := ledgers[0]
	require.NoError(t, d.Migrate(t.Context()))
	var tasks []sched.Task
	for i := range 12 {
		tasks = append(tasks, dbtest.MakeTask(t, d, dbtest.Limit(i%3*40), dbtest.Retries(0)))
	}
	node := dbtest.MakeNode(t, d)
	var shared []string // what all want
	for i := range 240 {
		shared = append(shared, dbtest.MakeInstance(t, d, tasks[i%len(tasks)]).ID)
	}
	var g errgroup.Group
	for n := range 4 {
		r := rand.New(rand.NewPCG(uint64(n), 11))
		g.Go(func() error {
			for round := range 12 {
				ids := slices.Clone(shared[20*round : 20*round+20])
				for _, i := range r.Perm(len(tasks)) {
					ids = append(ids, dbtest.MakeInstance(t, d, tasks[i]).ID)
				}
				r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
				got, errs := ledgers[n%2].ClaimAtOnce(t, asks(node, t0, ids...))
				var ss []sched.Settlement
				for i, c := range got {
					if errs[i] != nil {
						return errs[i]
					}
					if c.Verdict.Kind == sched.ClaimTake {
						ss = append(ss, dbtest.Settlement(c, []sched.Result{success(), silence()}[i%2], later(1)))
					}
				}
				if err := settleTwice(t, ledgers, ss); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
	require.Zero(t, seen.total(), "%v", seen.seen)
	clean(t, d)
}

// settleTwice settles on both ledgers at once: the second is told what the
// first did.
func settleTwice(t *testing.T, ledgers []*db.DB, ss []sched.Settlement) error {
	t.Helper()
	back := slices.Clone(ss)
	slices.Reverse(back)
	var g errgroup.Group
	for i, ss := range [][]sched.Settlement{ss, back} {
		g.Go(func() error {
			done, errs := ledgers[i].SettleAtOnce(t, ss)
			for i, err := range errs {
				if err != nil || done[i].Refused {
					return fmt.Errorf("settle %s: %w, %+v", ss[i].InstanceID, err, done[i])
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// look_at is set only while a sweep is to look: its key leads to nothing else.
func TestASweepLooksAtNothingThatWasTakenOrSkipped(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d, dbtest.Every(time.Minute), dbtest.Limit(1)), dbtest.MakeNode(t, d)
		first, second := dbtest.MakeInstance(t, d, task, dbtest.Slot(t0)), dbtest.MakeInstance(t, d, task, dbtest.Slot(later(60)))
		exec(t, d, "UPDATE instances SET state='queued', look_at=1")
		together(t, d, asks(node, later(60), first.ID, second.ID))
		require.Equal(t, sched.Running, read(t, d, first.ID).State)
		require.Equal(t, sched.Skipped, read(t, d, second.ID).State)
		require.Zero(t, count(t, d, "instances WHERE look_at IS NOT NULL"))
	})
}

// Looks for something deferred are shared, and each task gets its own answer.
func TestAWakeWakesOnlyItsOwnTask(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		node := dbtest.MakeNode(t, d)
		full, idle := dbtest.MakeTask(t, d, dbtest.Limit(1)), dbtest.MakeTask(t, d, dbtest.Limit(1))
		running(t, d, full, node)
		ids := deferred(t, d, full, node, 1)
		var g errgroup.Group
		var woken [8]string
		for i := range woken {
			g.Go(func() error {
				m, _, err := d.Wake(context.WithoutCancel(t.Context()), []int64{full.ID, idle.ID}[i%2], later(0.5))
				woken[i] = m.InstanceID
				return err
			})
		}
		require.NoError(t, g.Wait())
		slices.Sort(woken[:])
		require.Equal(t, [8]string{7: ids[0]}, woken, "once")
	})
}
