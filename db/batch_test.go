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
		_, errs := d.SettleAtOnce(t, ss)
		for i, err := range errs {
			require.NoError(t, err)
			if i%50 == 0 {
				require.Equal(t, ss[i].Result.Response, look(t, d, ids[i]).Attempts[0].Response)
			}
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
	var g errgroup.Group
	for n := range 4 {
		r := rand.New(rand.NewPCG(uint64(n), 11))
		g.Go(func() error {
			for range 12 {
				var ids []string
				for _, i := range r.Perm(len(tasks)) {
					in := dbtest.MakeInstance(t, d, tasks[i])
					ids = append(ids, in.ID)
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
				_, errs = ledgers[1-n%2].SettleAtOnce(t, ss)
				for i, err := range errs {
					if err != nil {
						return fmt.Errorf("settle %s: %w", ss[i].InstanceID, err)
					}
				}
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
	require.Zero(t, seen.total(), "%v", seen.seen)
	clean(t, d)
}

// scene is a ledger made by chance: the same chance makes the same ledger.
type scene struct {
	r     *rand.Rand
	nodes []sched.NodeInfo
	tasks []sched.Task
	ids   []string
	made  int
}

func (s *scene) id() string {
	s.made++
	return fmt.Sprintf("01900000-0000-7000-8000-%012d", s.made)
}

func newScene(t *testing.T, d *db.DB, seed uint64) *scene {
	t.Helper()
	s := &scene{r: rand.New(rand.NewPCG(seed, 3))}
	team := dbtest.MakeTeam(t, d)
	for range 3 {
		s.nodes = append(s.nodes, dbtest.MakeNode(t, d, func(n *sched.NodeInfo) { n.ID = s.id() }))
	}
	exec(t, d, "UPDATE nodes SET dead_at=1 WHERE id=?", s.nodes[2].ID)
	for i := range 8 {
		opts := []dbtest.TaskOption{dbtest.Of(team), dbtest.Every(time.Minute), dbtest.Limit(s.r.IntN(4)), dbtest.Retries(s.r.IntN(2))}
		if s.r.IntN(3) == 0 {
			opts = append(opts, dbtest.NonIdempotent())
		}
		task := dbtest.MakeTask(t, d, opts...)
		s.tasks = append(s.tasks, task)
		for _, slot := range s.r.Perm(4 + s.r.IntN(3)) {
			o := dbtest.Slot(later(float64(60 * slot)))
			if s.r.IntN(3) == 0 {
				o = func(in *sched.Instance) { dbtest.Due(later(float64(s.r.IntN(300))))(in); in.BizID = s.id() }
			}
			in, id := dbtest.MakeInstance(t, d, task, o), s.id()
			exec(t, d, "UPDATE instances SET id=? WHERE id=?", id, in.ID)
			s.ids = append(s.ids, id)
		}
		switch i {
		case 5:
			change(t, d, sched.TaskChange{Code: task.Code, Now: later(300), Version: true}, func(task *sched.Task) { task.Enabled = false })
		case 6:
			change(t, d, sched.TaskChange{Code: task.Code, Now: later(300), Version: true}, func(task *sched.Task) { task.Spec.Schedule.EverySeconds = 120 })
		case 7:
			pause(t, d, task, later(0), later(900))
		}
	}
	s.live(t, d)
	return s
}

// live lets some instances have a life behind them.
func (s *scene) live(t *testing.T, d *db.DB) {
	t.Helper()
	for _, id := range s.ids {
		switch s.r.IntN(12) {
		case 0:
			exec(t, d, "UPDATE instances SET due_at=? WHERE id=?", db.At(later(300.7)), id)
		case 1:
			exec(t, d, "UPDATE instances SET due_at=? WHERE id=?", db.At(later(330)), id)
		case 2:
			cancel(t, d, id, later(290))
		case 3, 4:
			c := s.claim(t, d, id, later(290))
			if c.Verdict.Kind != sched.ClaimTake {
				continue
			}
			switch s.r.IntN(5) {
			case 0:
				handBack(t, d, c, later(291))
			case 1:
				settle(t, d, c, failure(), later(280))
			case 2:
				settle(t, d, c, accepted(), later(291))
			case 3:
				lose(t, d, held(c), later(291))
			}
		case 5:
			exec(t, d, "UPDATE instances SET state='queued', look_at=1 WHERE id=?", id)
		}
	}
}

func (s *scene) claim(t *testing.T, d *db.DB, id string, now time.Time) sched.Claimed {
	t.Helper()
	got, err := d.Claim(t.Context(), sched.ClaimRequest{InstanceID: id, NodeID: s.nodes[0].ID, ClaimID: s.id(), Now: now})
	require.NoError(t, err)
	return got
}

// claims asks for everything and for what isn't there, in the order in which a
// batch decides.
func (s *scene) claims(t *testing.T, d *db.DB) []sched.ClaimRequest {
	t.Helper()
	wanted := map[string]time.Time{}
	for _, id := range s.ids {
		wanted[id] = read(t, d, id).WantedAt
	}
	ids := append(slices.Clone(s.ids), s.id())
	slices.SortFunc(ids, func(a, b string) int {
		if c := wanted[a].Compare(wanted[b]); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	var rs []sched.ClaimRequest
	for i, id := range ids {
		node := s.nodes[[]int{0, 0, 0, 1, 1, 2}[s.r.IntN(6)]].ID
		if s.r.IntN(20) == 0 {
			node = s.id() // never registered
		}
		rs = append(rs, sched.ClaimRequest{InstanceID: id, NodeID: node, ClaimID: s.id(), Now: later(300 + float64(i%3)/10)})
	}
	return rs
}

// settlements answers what was taken, in any way, also of attempts that are no
// longer the node's.
func (s *scene) settlements(t *testing.T, d *db.DB, got []sched.Claimed) []sched.Settlement {
	t.Helper()
	slices.SortStableFunc(got, func(a, b sched.Claimed) int { // as letters are locked
		if a.Instance.TaskID != b.Instance.TaskID {
			return int(a.Instance.TaskID - b.Instance.TaskID)
		}
		return strings.Compare(a.Instance.BizID, b.Instance.BizID)
	})
	var ss []sched.Settlement
	for _, c := range got {
		if c.Verdict.Kind != sched.ClaimTake {
			continue
		}
		results := []sched.Result{success(), success(), failure(), silence(), accepted(), cutOff()}
		x := dbtest.Settlement(c, results[s.r.IntN(len(results))], later(301+float64(s.r.IntN(3))))
		switch s.r.IntN(8) {
		case 0:
			cancel(t, d, c.Instance.ID, later(301)) // a wish
		case 1:
			x.Attempt++
		case 2:
			settle(t, d, c, x.Result, later(301)) // the answer of the first was cut off
		}
		ss = append(ss, x)
	}
	return append(ss, sched.Settlement{InstanceID: s.id(), Now: later(301)})
}

func theLedger(t *testing.T, d *db.DB) string {
	t.Helper()
	return dump(t, d, "instances ORDER BY id", "attempts ORDER BY instance_id, no", "dead_letters ORDER BY id", "instance_events ORDER BY id")
}

// A batch decides and writes what its requests would have got one by one.
func TestABatchIsAsGoodAsOneByOne(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) *db.DB{"sqlite": dbtest.SQLite, "mariadb": dbtest.MariaDB} {
		for seed := range uint64(4) {
			t.Run(fmt.Sprint(name, " ", seed), func(t *testing.T) {
				t.Parallel()
				one, batch := open(t), open(t)
				a, b := newScene(t, one, seed), newScene(t, batch, seed)
				require.Equal(t, theLedger(t, one), theLedger(t, batch), "both begin alike")

				asked := a.claims(t, one)
				require.Equal(t, asked, b.claims(t, batch))
				got, errs := batch.ClaimAtOnce(t, asked)
				var kinds [sched.ClaimTake + 1]int
				for i, r := range asked {
					want, err := one.Claim(t.Context(), r)
					require.Equal(t, err == nil, errs[i] == nil, "%v, %v", err, errs[i])
					want.Task.Code, got[i].Task.Code = "", "" // made by a counter
					want.Task.Name, got[i].Task.Name = "", ""
					require.Equal(t, want, got[i])
					kinds[want.Verdict.Kind]++
				}
				t.Log(kinds)
				require.Equal(t, theLedger(t, one), theLedger(t, batch))

				ends := a.settlements(t, one, slices.Clone(got))
				require.Equal(t, ends, b.settlements(t, batch, slices.Clone(got)))
				done, errs := batch.SettleAtOnce(t, ends)
				for i, s := range ends {
					want, err := one.Settle(t.Context(), s)
					require.Equal(t, err == nil, errs[i] == nil, "%v, %v", err, errs[i])
					require.Equal(t, want, done[i])
				}
				require.Equal(t, theLedger(t, one), theLedger(t, batch))
			})
		}
	}
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
