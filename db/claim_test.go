package db_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"gorm.io/gorm"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

func TestAClaimTakesTheRowAndBeginsAnAttempt(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d), dbtest.MakeNode(t, d)
		in := dbtest.MakeInstance(t, d, task)
		exec(t, d, "UPDATE instances SET sent_at=5, resends=3, defers=4 WHERE id=?", in.ID)
		got := take(t, d, in.ID, node, later(2))

		row := read(t, d, in.ID)
		require.Equal(t, got.Instance, row, "the answer is the row")
		require.Equal(t, task.Spec, got.Task.Spec)
		require.Equal(t, sched.Running, row.State)
		require.Equal(t, 1, row.Attempt)
		require.Equal(t, node.ID, row.NodeID)
		require.Equal(t, later(2+30), row.DeadlineAt)
		require.Equal(t, later(2), row.StartedAt)
		require.True(t, row.SentAt.IsZero(), "a mark of an earlier attempt would let nothing be sent")
		require.Zero(t, row.Resends+row.Defers)
		a := look(t, d, in.ID).Attempts
		require.Equal(t, []sched.Attempt{{
			InstanceID: in.ID, No: 1, TaskID: task.ID, TeamID: task.TeamID, TaskVersion: 1, NodeID: node.ID,
			ClaimID: row.ClaimID, Executor: "http", StartedAt: later(2),
		}}, a)
	})
}

// protocol.md, CLAIM: the task's current version is read at every claim and
// kept on the attempt (bench/model, base/version).
func TestASecondAttemptKeepsTheFirstStart(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d), dbtest.MakeNode(t, d)
		c := running(t, d, task, node)
		settle(t, d, c, failure(), later(1))
		change(t, d, sched.TaskChange{Code: task.Code, Now: later(2), Version: true}, func(task *sched.Task) { task.Spec.Policy.TimeoutSeconds = 60 })
		take(t, d, c.Instance.ID, node, later(20))
		v := look(t, d, c.Instance.ID)
		require.Equal(t, t0, v.StartedAt)
		require.Equal(t, 2, v.Attempt)
		require.Equal(t, later(80), v.DeadlineAt, "the task as it is now")
		require.Equal(t, 2, v.Attempts[1].TaskVersion)
		require.Equal(t, 1, v.Attempts[0].TaskVersion)
	})
}

// broken is a claim that a guard refuses: what another hand did to the ledger,
// and what the claim at t0 answers.
type broken struct {
	sql   string
	want  sched.ClaimKind
	due   time.Time
	event sched.EventKind
}

// protocol.md (flaw 3): an early message, or an old one of a row that retries
// later, begins nothing and isn't forgotten.
func TestAClaimIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]broken{
		"when it succeeded":          {"UPDATE instances SET state='succeeded'", sched.ClaimDrop, time.Time{}, ""},
		"when it failed":             {"UPDATE instances SET state='failed'", sched.ClaimDrop, time.Time{}, ""},
		"when it timed out":          {"UPDATE instances SET state='timed_out'", sched.ClaimDrop, time.Time{}, ""},
		"when it was lost":           {"UPDATE instances SET state='lost'", sched.ClaimDrop, time.Time{}, ""},
		"when it was skipped":        {"UPDATE instances SET state='skipped'", sched.ClaimDrop, time.Time{}, ""},
		"when it was canceled":       {"UPDATE instances SET state='canceled'", sched.ClaimDrop, time.Time{}, ""},
		"when another runs it":       {"UPDATE instances SET state='running'", sched.ClaimDrop, time.Time{}, sched.EvRefusedClaim},
		"when it awaits its receipt": {"UPDATE instances SET state='awaiting'", sched.ClaimDrop, time.Time{}, ""},
		"when its node was closed":   {"UPDATE nodes SET closed_at=1", sched.ClaimBack, later(1), ""},
		"when its node is dead":      {"UPDATE nodes SET dead_at=1", sched.ClaimBack, later(1), ""},
		"when it is early by little": {"UPDATE instances SET due_at=due_at+1000", sched.ClaimWait, later(1), ""},
		"when it is early by much":   {"UPDATE instances SET due_at=due_at+1001", sched.ClaimBack, later(1.001), ""},
		"when it retries later":      {"UPDATE instances SET state='retrying', due_at=due_at+5000", sched.ClaimBack, later(5), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				task, node := dbtest.MakeTask(t, d), dbtest.MakeNode(t, d)
				in := dbtest.MakeInstance(t, d, task)
				exec(t, d, c.sql)
				before := dump(t, d, "instances", "attempts", "dead_letters")
				got := claim(t, d, in.ID, node, t0)
				require.Equal(t, c.want, got.Verdict.Kind)
				require.Equal(t, c.due, got.Verdict.Due)
				require.Equal(t, before, dump(t, d, "instances", "attempts", "dead_letters"), "nothing changed")
				if c.event == "" {
					require.Empty(t, look(t, d, in.ID).Events)
				} else {
					require.Equal(t, []sched.EventKind{c.event}, kinds(look(t, d, in.ID)))
				}
			})
		})
	}
}

func TestAClaimOfWhatIsNotThereIsDropped(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		require.Equal(t, sched.ClaimDrop, claim(t, d, dbtest.ID(), dbtest.MakeNode(t, d), t0).Verdict.Kind)
	})
}

func TestANodeThatIsNotThereClaimsNothing(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		in := dbtest.MakeInstance(t, d, dbtest.MakeTask(t, d))
		_, err := d.Claim(t.Context(), sched.ClaimRequest{InstanceID: in.ID, NodeID: dbtest.ID(), ClaimID: dbtest.ID(), Now: t0})
		require.Error(t, err)
		require.Equal(t, sched.Pending, read(t, d, in.ID).State)
	})
}

// protocol.md (flaw 1), (flaw 2): the message comes while the row is pending,
// and whatever number it bears.
func TestEveryWaitingStateCanBeClaimed(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d), dbtest.MakeNode(t, d)
		for _, state := range sched.Claimable() {
			in := dbtest.MakeInstance(t, d, task)
			exec(t, d, "UPDATE instances SET state=?, look_at=1, dispatch=7 WHERE id=?", string(state), in.ID)
			take(t, d, in.ID, node, t0)
		}
	})
}

// protocol.md (flaw 31): what has begun before waits as well.
func TestAPausedTaskDefersEveryAttempt(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d), dbtest.MakeNode(t, d)
		first := dbtest.MakeInstance(t, d, task)
		c := running(t, d, task, node)
		handBack(t, d, c, t0)
		pause(t, d, task, later(0), later(20))
		for _, id := range []string{first.ID, c.Instance.ID} {
			got := claim(t, d, id, node, later(1))
			require.Equal(t, sched.ClaimDefer, got.Verdict.Kind)
			in := read(t, d, id)
			require.Equal(t, 1, in.Defers)
			require.Equal(t, got.Verdict.Due, in.DueAt)
			require.Equal(t, in.DueAt.Add(sched.LookAgain), in.LookAt)
			require.Equal(t, sched.Pending, in.State)
		}
		exec(t, d, "UPDATE instances SET defers=20, due_at=?", db.At(later(19)))
		got := claim(t, d, first.ID, node, later(19))
		require.Equal(t, later(20), got.Verdict.Due, "never beyond the end of the pause")
		take(t, d, first.ID, node, later(20))
	})
}

// protocol.md (flaw 20): what was planned for an earlier version is decided
// about, not dropped.
//
// A slot that the task doesn't want any more is skipped at its first attempt;
// a request, and what has begun, goes on.
func TestWhatTheTaskNoLongerWantsIsSkippedAtTheFirstClaim(t *testing.T) {
	t.Parallel()
	wants := func(task *sched.Task) { task.Spec.Schedule.EverySeconds = 30 }
	for name, c := range map[string]struct {
		change func(*sched.Task)
		reason string // of the slot; empty: it runs
	}{
		"disabled":              {func(task *sched.Task) { task.Enabled = false }, sched.ReasonDisabled},
		"archived":              {func(task *sched.Task) { task.Enabled, task.ArchivedAt = false, t0 }, sched.ReasonArchived},
		"edited away":           {func(task *sched.Task) { task.Spec.Schedule.Anchor = later(1) }, sched.ReasonEdited},
		"edited, still wanted":  {wants, ""},
		"no schedule any more":  {func(task *sched.Task) { task.Spec.Schedule = sched.Schedule{Kind: sched.KindManual} }, sched.ReasonEdited},
		"a schedule in tatters": {func(task *sched.Task) { task.Spec.Schedule.EverySeconds = 0 }, sched.ReasonEdited},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				task, node := dbtest.MakeTask(t, d, dbtest.Every(time.Minute), dbtest.Limit(0)), dbtest.MakeNode(t, d)
				slot := dbtest.MakeInstance(t, d, task, dbtest.Slot(later(60)))
				request := dbtest.MakeInstance(t, d, task)
				begun := running(t, d, task, node, dbtest.Slot(t0))
				handBack(t, d, begun, later(1))
				change(t, d, sched.TaskChange{Code: task.Code, Now: later(50), Version: true}, func(task *sched.Task) {
					c.change(task)
					task.NextFireAt, task.PlanError = time.Time{}, "not of interest here"
				})
				take(t, d, request.ID, node, later(60))
				take(t, d, begun.Instance.ID, node, later(60))
				got := claim(t, d, slot.ID, node, later(60))
				in := read(t, d, slot.ID)
				if c.reason == "" {
					require.Equal(t, sched.ClaimTake, got.Verdict.Kind)
					require.Equal(t, 2, look(t, d, slot.ID).Attempts[0].TaskVersion)
					return
				}
				require.Equal(t, sched.ClaimSkip, got.Verdict.Kind)
				require.Equal(t, sched.Skipped, in.State)
				require.Equal(t, c.reason, in.Reason)
				require.Equal(t, later(60), in.FinishedAt)
				require.Zero(t, in.Attempt)
			})
		})
	}
}

func TestAnOverlappingSlotIsSkippedAndNamesWhatRuns(t *testing.T) {
	t.Parallel()
	for name, busy := range map[string]func(t *testing.T, d *db.DB, c sched.Claimed){
		"running":               func(*testing.T, *db.DB, sched.Claimed) {},
		"awaiting its receipt":  func(t *testing.T, d *db.DB, c sched.Claimed) { settle(t, d, c, accepted(), later(1)) },
		"waiting for its retry": func(t *testing.T, d *db.DB, c sched.Claimed) { settle(t, d, c, failure(), later(1)) },
		"handed back":           func(t *testing.T, d *db.DB, c sched.Claimed) { handBack(t, d, c, later(1)) },
		"left by a dead node":   func(t *testing.T, d *db.DB, c sched.Claimed) { lose(t, d, held(c), later(1)) },
		"asked to be canceled":  func(t *testing.T, d *db.DB, c sched.Claimed) { cancel(t, d, c.Instance.ID, later(1)) },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				task, node := dbtest.MakeTask(t, d, dbtest.Every(time.Minute), dbtest.Limit(1)), dbtest.MakeNode(t, d)
				c := running(t, d, task, node, dbtest.Slot(t0))
				busy(t, d, c)
				slot := dbtest.MakeInstance(t, d, task, dbtest.Slot(later(60)))
				request := dbtest.MakeInstance(t, d, task)
				require.Equal(t, sched.ClaimSkip, claim(t, d, slot.ID, node, later(60)).Verdict.Kind)
				in := read(t, d, slot.ID)
				require.Equal(t, sched.Skipped, in.State)
				require.Equal(t, "overlap: "+c.Instance.ID+" has not ended", in.Reason)
				require.Equal(t, sched.ClaimDefer, claim(t, d, request.ID, node, later(60)).Verdict.Kind, "a request waits")
				require.Equal(t, sched.Pending, read(t, d, request.ID).State)
			})
		})
	}
}

// Work that has begun goes on although a slot of its task is running: it was
// there first. What runs and what awaits its receipt hold a place (flaw 13),
// (flaw 14).
func TestARetryIsNeverSkippedAndTakesAFreePlace(t *testing.T) {
	t.Parallel()
	for name, awaits := range map[string]bool{"beside one that runs": false, "beside one that awaits its receipt": true} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				task, node := dbtest.MakeTask(t, d, dbtest.Every(time.Minute), dbtest.Limit(1)), dbtest.MakeNode(t, d)
				a := running(t, d, task, node, dbtest.Slot(t0))
				settle(t, d, a, failure(), later(1))
				exec(t, d, "UPDATE tasks SET spec=REPLACE(spec, '\"max_concurrent\":1', '\"max_concurrent\":2')")
				b := running(t, d, task, node)
				if awaits {
					settle(t, d, b, accepted(), later(2))
				}
				exec(t, d, "UPDATE tasks SET spec=REPLACE(spec, '\"max_concurrent\":2', '\"max_concurrent\":1')")
				got := claim(t, d, a.Instance.ID, node, later(20))
				require.Equal(t, sched.ClaimDefer, got.Verdict.Kind, "no place is free")
				require.Equal(t, sched.Retrying, read(t, d, a.Instance.ID).State)
				if awaits {
					cancel(t, d, b.Instance.ID, later(21))
				} else {
					settle(t, d, b, success(), later(21))
				}
				take(t, d, a.Instance.ID, node, got.Verdict.Due)
			})
		})
	}
}

// OVER-05: a request, a slot and a due retry at the same moment under limit 1.
func TestOVER05OfThreeAtOnceOneRuns(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d, dbtest.Every(time.Minute), dbtest.Limit(1)), dbtest.MakeNode(t, d)
		for round := range 5 {
			now := later(float64(1200 * (round + 1)))
			retry := take(t, d, dbtest.MakeInstance(t, d, task, dbtest.Due(now.Add(-20*time.Second))).ID, node, now.Add(-20*time.Second))
			settle(t, d, retry, failure(), now.Add(-15*time.Second))
			ids := []string{
				retry.Instance.ID, dbtest.MakeInstance(t, d, task, dbtest.Due(now)).ID, dbtest.MakeInstance(t, d, task, dbtest.Slot(now)).ID,
			}
			var g errgroup.Group
			for _, id := range ids {
				g.Go(func() error {
					_, err := d.Claim(t.Context(), sched.ClaimRequest{InstanceID: id, NodeID: node.ID, ClaimID: dbtest.ID(), Now: now})
					return err
				})
			}
			require.NoError(t, g.Wait())
			states := map[sched.State]int{}
			for _, id := range ids {
				states[read(t, d, id).State]++
			}
			require.LessOrEqual(t, states[sched.Running], 1)
			require.Equal(t, sched.Skipped, read(t, d, ids[2]).State, "the retry has begun, so the slot overlaps")
			require.Equal(t, "overlap: "+ids[0]+" has not ended", read(t, d, ids[2]).Reason)
			cancelOpen(t, d)
		}
	})
}

// cancelOpen ends everything, so that the next round begins with free places.
func cancelOpen(t *testing.T, d *db.DB) {
	t.Helper()
	var ids []string
	require.NoError(t, d.View(t.Context()).Raw("SELECT id FROM instances WHERE finished_at IS NULL ORDER BY id").Scan(&ids).Error)
	for _, id := range ids {
		if cancel(t, d, id, later(9999)).Wish {
			in := read(t, d, id)
			settle(t, d, sched.Claimed{Instance: in}, cutOff(), later(9999))
		}
	}
}

// OVER-07: a run of two minutes each minute; no slot goes without a trace.
func TestOVER07EverySecondSlotOfALongRunIsSkippedWithAReason(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d, dbtest.Every(time.Minute), dbtest.Limit(1)), dbtest.MakeNode(t, d)
		var open []sched.Claimed
		for minute := range 6 {
			now := later(float64(60 * minute))
			for _, m := range plan(t, d, now).Messages {
				if c := claim(t, d, m.InstanceID, node, now); c.Verdict.Kind == sched.ClaimTake {
					open = append(open, c)
				}
			}
			if minute%2 == 1 {
				settle(t, d, open[len(open)-1], success(), now.Add(59*time.Second))
			}
		}
		page, err := d.Instances(t.Context(), sched.InstanceFilter{Scope: all, TaskID: task.ID}, sched.PageRequest{})
		require.NoError(t, err)
		var states []string
		for _, in := range page.Items {
			states = append(states, string(in.State))
			if in.State == sched.Skipped {
				require.True(t, strings.HasPrefix(in.Reason, "overlap: "), in.Reason)
			}
		}
		require.ElementsMatch(t, []string{"succeeded", "skipped", "succeeded", "skipped", "succeeded", "skipped"}, states)
	})
}

func TestALimitHoldsAgainstManyAtOnce(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		const limit, n = 3, 12
		task, node := dbtest.MakeTask(t, d, dbtest.Limit(limit)), dbtest.MakeNode(t, d)
		ids := make([]string, n)
		for i := range ids {
			ids[i] = dbtest.MakeInstance(t, d, task).ID
		}
		var g errgroup.Group
		for _, id := range ids {
			g.Go(func() error {
				_, err := d.Claim(t.Context(), sched.ClaimRequest{InstanceID: id, NodeID: node.ID, ClaimID: dbtest.ID(), Now: t0})
				return err
			})
		}
		require.NoError(t, g.Wait())
		runs := 0
		for _, id := range ids {
			switch in := read(t, d, id); in.State {
			case sched.Running:
				runs++
			default:
				require.Equal(t, 1, in.Defers, "a request waits")
			}
		}
		require.Equal(t, limit, runs)
	})
}

// STUCK, DUP: a message that is delivered twice, at once, has one owner.
func TestOfTwoClaimsOfOneInstanceOneIsTaken(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d)
		nodes := []sched.NodeInfo{dbtest.MakeNode(t, d), dbtest.MakeNode(t, d)}
		for range 10 {
			in := dbtest.MakeInstance(t, d, task)
			var verdicts [2]sched.ClaimKind
			var g errgroup.Group
			for i, node := range nodes {
				g.Go(func() error {
					got, err := d.Claim(t.Context(), sched.ClaimRequest{InstanceID: in.ID, NodeID: node.ID, ClaimID: dbtest.ID(), Now: t0})
					verdicts[i] = got.Verdict.Kind
					return err
				})
			}
			require.NoError(t, g.Wait())
			require.ElementsMatch(t, []sched.ClaimKind{sched.ClaimTake, sched.ClaimDrop}, verdicts[:])
			v := look(t, d, in.ID)
			require.Equal(t, 1, v.Attempt)
			require.Len(t, v.Attempts, 1)
		}
	})
}

// An edit and a claim of one task take turns at the gate: the claim sees the
// task before or after the edit, never between, and a limit that the edit
// brings holds.
func TestAClaimWaitsForAnEditAndObeysIt(t *testing.T) {
	t.Parallel()
	d := dbtest.MariaDB(t)
	task, node := dbtest.MakeTask(t, d), dbtest.MakeNode(t, d)
	busy := running(t, d, task, node)
	in := dbtest.MakeInstance(t, d, task)
	var g errgroup.Group
	change(t, d, sched.TaskChange{Code: task.Code, Now: t0, Version: true}, func(next *sched.Task) {
		g.Go(func() error {
			_, err := d.Claim(t.Context(), sched.ClaimRequest{InstanceID: in.ID, NodeID: node.ID, ClaimID: dbtest.ID(), Now: t0})
			return err
		})
		awaitLockWait(t, d)
		next.Spec.Policy.MaxConcurrent = 1
	})
	require.NoError(t, g.Wait())
	require.Equal(t, 1, read(t, d, in.ID).Defers, "the limit of the edit held")
	settle(t, d, busy, success(), later(1))
	clean(t, d)
}

// awaitLockWait waits until a statement of the ledger takes so long that it
// must be waiting for a row. (innodb_trx is renewed only when nobody read it
// for 100 ms.)
func awaitLockWait(t *testing.T, d *db.DB) {
	t.Helper()
	require.Eventually(t, func() bool {
		var n int
		err := d.View(t.Context()).Raw("SELECT COUNT(*) FROM information_schema.processlist" +
			" WHERE db=DATABASE() AND command='Query' AND id<>CONNECTION_ID() AND time_ms>100").Scan(&n).Error
		return err == nil && n > 0
	}, 6*waitLimit, waitTick)
}

// protocol.md (flaw 17): the node is declared dead while its claim is on the
// way.
func TestAClaimWaitsForTheDeclarationOfItsNode(t *testing.T) {
	t.Parallel()
	d := dbtest.MariaDB(t)
	in, node := dbtest.MakeInstance(t, d, dbtest.MakeTask(t, d)), dbtest.MakeNode(t, d)
	var got sched.Claimed
	var g errgroup.Group
	require.NoError(t, d.Tx(t.Context(), "declare", func(tx *gorm.DB) error {
		err := tx.Exec("UPDATE nodes SET dead_at=1 WHERE id=?", node.ID).Error
		g.Go(func() (err error) {
			got, err = d.Claim(t.Context(), sched.ClaimRequest{InstanceID: in.ID, NodeID: node.ID, ClaimID: dbtest.ID(), Now: t0})
			return err
		})
		awaitLockWait(t, d)
		return err
	}))
	require.NoError(t, g.Wait())
	require.Equal(t, sched.ClaimBack, got.Verdict.Kind)
	require.Equal(t, sched.Pending, read(t, d, in.ID).State)
}

func TestAClaimIsReadBackAsOursOnlyIfItIs(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		c := running(t, d, dbtest.MakeTask(t, d), dbtest.MakeNode(t, d))
		in := c.Instance
		ours := func(r sched.ClaimRequest) bool {
			got, ok, err := d.ReadClaim(t.Context(), r)
			require.NoError(t, err)
			require.Equal(t, read(t, d, in.ID), got.Instance)
			return ok
		}
		r := sched.ClaimRequest{InstanceID: in.ID, NodeID: in.NodeID, ClaimID: in.ClaimID, Now: t0}
		require.True(t, ours(r))
		got, _, _ := d.ReadClaim(t.Context(), r)
		require.Equal(t, sched.ClaimVerdict{Kind: sched.ClaimTake, Deadline: in.DeadlineAt}, got.Verdict)
		require.Equal(t, c.Task.Spec, got.Task.Spec)
		other := r
		other.ClaimID = dbtest.ID()
		require.False(t, ours(other), "another claim of the same node")
		other = r
		other.NodeID = dbtest.ID()
		require.False(t, ours(other), "another node")
		settle(t, d, c, failure(), later(1))
		require.False(t, ours(r), "it has ended")
		_, ok, err := d.ReadClaim(t.Context(), sched.ClaimRequest{InstanceID: dbtest.ID()})
		require.Error(t, err)
		require.False(t, ok)
	})
}

// protocol.md (flaw 26): the read waits for a commit that lands late.
func TestReadingAClaimBackWaitsForALateCommit(t *testing.T) {
	t.Parallel()
	d := dbtest.MariaDB(t)
	in, node := dbtest.MakeInstance(t, d, dbtest.MakeTask(t, d)), dbtest.MakeNode(t, d)
	r := sched.ClaimRequest{InstanceID: in.ID, NodeID: node.ID, ClaimID: dbtest.ID(), Now: t0}
	var ours bool
	var g errgroup.Group
	require.NoError(t, d.Tx(t.Context(), "late", func(tx *gorm.DB) error {
		err := tx.Exec("UPDATE instances SET state='running', node_id=?, claim_id=? WHERE id=?", r.NodeID, r.ClaimID, in.ID).Error
		g.Go(func() (err error) {
			_, ours, err = d.ReadClaim(t.Context(), r)
			return err
		})
		awaitLockWait(t, d)
		return err
	}))
	require.NoError(t, g.Wait())
	require.True(t, ours)
}

// protocol.md (flaw 4): the claim stands, and nobody heard so.
func TestAClaimWhoseAnswerWasCutOffIsReadBack(t *testing.T) {
	t.Parallel()
	for name, stored := range map[string]bool{"it was taken": true, "it was not": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, w := through(t)
			in, node := dbtest.MakeInstance(t, d, dbtest.MakeTask(t, d)), dbtest.MakeNode(t, d)
			if stored {
				w.after.Store("COMMIT")
			} else {
				w.before.Store("COMMIT")
			}
			r := sched.ClaimRequest{InstanceID: in.ID, NodeID: node.ID, ClaimID: dbtest.ID(), Now: t0}
			_, err := d.Claim(t.Context(), r)
			require.ErrorIs(t, err, sched.ErrCommitUnknown)
			w.after.Store("")
			w.before.Store("")
			_, ours, err := d.ReadClaim(t.Context(), r)
			require.NoError(t, err)
			require.Equal(t, stored, ours)
			clean(t, d)
		})
	}
}

// protocol.md (flaw 25): the mark stands, and nobody heard so.
func TestWorkIsMarkedAsSentOnceAndReadBack(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		c := running(t, d, dbtest.MakeTask(t, d, dbtest.NonIdempotent()), dbtest.MakeNode(t, d))
		mark(t, d, c, later(1))
		mark(t, d, c, later(5)) // the answer of the first was cut off
		v := look(t, d, c.Instance.ID)
		require.Equal(t, later(1), v.SentAt, "the first mark stands")
		require.Equal(t, later(1), v.Attempts[0].SentAt)
	})
}

func TestAMarkIsRefusedWhenTheAttemptIsNoLongerOurs(t *testing.T) {
	t.Parallel()
	for name, breaking := range notOurs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				c := running(t, d, dbtest.MakeTask(t, d, dbtest.NonIdempotent()), dbtest.MakeNode(t, d))
				exec(t, d, breaking)
				before := dump(t, d, "instances", "attempts")
				ours, err := d.MarkSent(t.Context(), dbtest.Settlement(c, sched.Result{}, later(1)))
				require.NoError(t, err)
				require.False(t, ours)
				require.Equal(t, before, dump(t, d, "instances", "attempts"))
			})
		})
	}
}

// notOurs is what makes a running attempt another's, or no attempt at all: the
// guard OWN of protocol.md.
func notOurs() map[string]string {
	return map[string]string{
		"another attempt runs": "UPDATE instances SET attempt=2",
		"another node runs it": "UPDATE instances SET node_id='00000000-0000-7000-8000-000000000001'",
		"it was queued again":  "UPDATE instances SET state='queued', node_id=NULL, claim_id=NULL, look_at=1",
		"it waits for a retry": "UPDATE instances SET state='retrying', look_at=1",
		"it awaits a receipt":  "UPDATE instances SET state='awaiting', receipt_deadline=1",
		"it succeeded":         "UPDATE instances SET state='succeeded', finished_at=1",
		"it failed":            "UPDATE instances SET state='failed', finished_at=1",
		"it was lost":          "UPDATE instances SET state='lost', finished_at=1",
		"it was canceled":      "UPDATE instances SET state='canceled', finished_at=1",
	}
}
