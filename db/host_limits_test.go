package db_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// calls makes the task call the address, without a limit of its own runs, while
// fewer than n calls to the host run; 0: always.
func calls(url string, n int) dbtest.TaskOption {
	return func(t *sched.Task) {
		t.Spec.Target = sched.Target{Kind: sched.TargetHTTP, URL: url}
		t.Spec.Policy.MaxConcurrent, t.Spec.Policy.Overlap, t.Spec.Policy.HostLimit = 0, sched.OverlapAllow, n
	}
}

// Every task and node counts, and whatever scheme; the limit is the task's own.
func TestACallWaitsWhileItsHostHasAsManyAsItsTaskAllows(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		n1, n2 := dbtest.MakeNode(t, d), dbtest.MakeNode(t, d)
		few := dbtest.MakeTask(t, d, calls("http://Orders.internal:8080/a", 2))
		more := dbtest.MakeTask(t, d, calls("https://orders.internal:8080/b", 3))
		free := dbtest.MakeTask(t, d, calls("http://orders.internal:8080/c", 0))
		other := dbtest.MakeTask(t, d, calls("http://orders.internal/d", 1))
		running(t, d, free, n1)
		first := running(t, d, few, n2)
		waits := dbtest.MakeInstance(t, d, few)
		got := claim(t, d, waits.ID, n1, later(1))
		require.Equal(t, sched.ClaimDefer, got.Verdict.Kind)
		require.Equal(t, sched.Pending, look(t, d, waits.ID).State)
		require.Equal(t, 1, look(t, d, waits.ID).Defers)
		running(t, d, more, n1)
		require.Equal(t, sched.ClaimDefer, claim(t, d, dbtest.MakeInstance(t, d, more).ID, n1, later(1)).Verdict.Kind)
		running(t, d, free, n1)
		running(t, d, other, n1)
		// What awaits its receipt is no call any more, and an end is a place.
		edit(t, d, few, later(2), func(next *sched.Task) { next.Spec.Policy.HostLimit = 4 })
		settle(t, d, first, accepted(), later(3))
		m, woken, err := d.WakeHost(t.Context(), few.ID, later(1))
		require.NoError(t, err)
		require.True(t, woken)
		require.Equal(t, waits.ID, m.InstanceID)
		take(t, d, waits.ID, n2, later(4))
	})
}

// What a dead node held is free, as for every limit that counts rows.
func TestTheDeathOfANodeFreesTheHost(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		dead, alive := dbtest.MakeNode(t, d), dbtest.MakeNode(t, d)
		task := dbtest.MakeTask(t, d, calls("http://a.internal/", 1), dbtest.NonIdempotent())
		run := running(t, d, task, dead)
		waits := dbtest.MakeInstance(t, d, task)
		require.Equal(t, sched.ClaimDefer, claim(t, d, waits.ID, alive, later(1)).Verdict.Kind)
		_, err := d.MarkSent(t.Context(), sched.Settlement{InstanceID: run.Instance.ID, Attempt: 1, NodeID: dead.ID, Now: later(1)})
		require.NoError(t, err)
		lose(t, d, held(run), later(20))
		take(t, d, waits.ID, alive, later(60))
	})
}

// An edit of the address doesn't move what runs: it goes where it went.
func TestWhatRunsCountsForTheHostThatItBeganWith(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		node := dbtest.MakeNode(t, d)
		moved := dbtest.MakeTask(t, d, calls("http://a.internal/", 0))
		task := dbtest.MakeTask(t, d, calls("http://a.internal/", 1))
		running(t, d, moved, node)
		edit(t, d, moved, later(1), func(next *sched.Task) { next.Spec.Target.URL = "http://b.internal/" })
		require.Equal(t, sched.ClaimDefer, claim(t, d, dbtest.MakeInstance(t, d, task).ID, node, later(2)).Verdict.Kind)
		edit(t, d, task, later(3), func(next *sched.Task) { next.Spec.Target.URL = "http://c.internal/" })
		running(t, d, task, node)
	})
}

// Claims of processes that know nothing of each other never start more than the
// limit.
func TestClaimsAtOnceKeepTheLimitOfTheirHost(t *testing.T) {
	t.Parallel()
	dsn := dbtest.MariaDSN(t)
	d := dbtest.Open(t, db.MySQL, dsn)
	require.NoError(t, d.Migrate(t.Context()))
	processes := []*db.DB{d, dbtest.Open(t, db.MySQL, dsn), dbtest.Open(t, db.MySQL, dsn), dbtest.Open(t, db.MySQL, dsn)}
	node := dbtest.MakeNode(t, d)
	for round := range 20 {
		url := fmt.Sprintf("http://busy-%d.internal/", round)
		kinds := make([]sched.ClaimKind, len(processes))
		var all sync.WaitGroup
		begin := make(chan struct{})
		for i, p := range processes {
			id := dbtest.MakeInstance(t, d, dbtest.MakeTask(t, d, calls(url, 1))).ID
			all.Go(func() {
				<-begin
				got, err := p.Claim(t.Context(), sched.ClaimRequest{InstanceID: id, NodeID: node.ID, ClaimID: dbtest.ID(), Now: later(1)})
				if err != nil {
					t.Error(err)
				}
				kinds[i] = got.Verdict.Kind
			})
		}
		close(begin)
		all.Wait()
		slices.Sort(kinds)
		require.Equal(t, []sched.ClaimKind{sched.ClaimDefer, sched.ClaimDefer, sched.ClaimDefer, sched.ClaimTake}, kinds)
	}
}
