package db_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

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
