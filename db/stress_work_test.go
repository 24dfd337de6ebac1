package db_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// node gives the worker's node, which lives for some seconds of the storm and
// then falls silent with what it holds.
func (a *actor) node(now time.Time) (string, error) {
	if id, ok := a.nodes.Load(a.i); ok {
		return id.(string), nil
	}
	n := sched.NodeInfo{ID: dbtest.ID(), Host: "storm", StartedAt: now, BeatAt: now, SteadyAt: now}
	if err := a.d.Register(a.ctx, n); err != nil {
		return "", err
	}
	a.nodes.Store(a.i, n.ID)
	return n.ID, nil
}

// work takes a message and does what its row asks for, as well or as badly as
// it comes.
func (a *actor) work() error {
	now := a.now()
	node, err := a.node(now)
	if err != nil {
		return err
	}
	if a.r.IntN(40) == 0 {
		return a.endNode(node, now)
	}
	select {
	case id := <-a.mail:
		c, err := a.d.Claim(a.ctx, sched.ClaimRequest{InstanceID: id, NodeID: node, ClaimID: dbtest.ID(), Now: now})
		if err != nil {
			return err
		}
		a.claims[c.Verdict.Kind].Add(1)
		switch c.Verdict.Kind {
		case sched.ClaimTake:
			return a.finish(c)
		case sched.ClaimWait, sched.ClaimBack:
			a.rest(2 * time.Millisecond)
			a.send(id) // early, or the node is gone
		}
		return nil
	default:
		a.rest(2 * time.Millisecond)
		return nil
	}
}

// endNode lets a node end: in order, or by falling silent.
func (a *actor) endNode(node string, now time.Time) error {
	a.nodes.Delete(a.i)
	if a.r.IntN(2) == 0 {
		return nil
	}
	return a.d.CloseNode(a.ctx, node, now)
}

func (a *actor) finish(c sched.Claimed) error {
	p := c.Task.Spec.Policy
	if a.r.IntN(20) == 0 {
		_, err := a.d.HandBack(a.ctx, dbtest.Settlement(c, sched.Result{}, a.now()))
		return err
	}
	if !p.Idempotent {
		ours, err := a.d.MarkSent(a.ctx, dbtest.Settlement(c, sched.Result{}, a.now()))
		if err != nil || !ours {
			return err
		}
	}
	a.rest(2 * time.Millisecond)
	switch a.r.IntN(20) {
	case 0:
		return nil // the node falls silent with it
	case 1:
		return a.d.EndOverdue(a.ctx, held(c), a.now())
	}
	r := []sched.Result{success(), success(), success(), failure(), silence(), accepted(), cutOff()}[a.r.IntN(7)]
	if _, err := a.d.Settle(a.ctx, dbtest.Settlement(c, r, a.now())); err != nil || p.MaxConcurrent == 0 {
		return err
	}
	m, ok, err := a.d.Wake(a.ctx, c.Task.ID, a.now())
	if ok {
		a.send(m.InstanceID)
	}
	return err
}

// theJudge is a node that beats all along, so that it may declare others dead.
func (s *storm) theJudge() {
	n := dbtest.MakeNode(s.t, s.ledger[0], dbtest.Beaten(t0.Add(-time.Minute), t0))
	s.nodes = sync.Map{}
	s.nodes.Store(0, n.ID)
}

func TestTheEngineUnderStressOnMariaDB(t *testing.T) {
	t.Parallel()
	s := newStorm(t, db.MySQL, dbtest.MariaDSN(t))
	s.theJudge()
	times := map[string]int{"plan": 2, "dispatch": 2, "work": 12, "edit": 3, "sweep": 2, "request": 2, "people": 3, "report": 1}
	s.run(stressFor(12*time.Second), stormActors(), func(name string) int { return times[name] })
	s.end(t)
}

// DB-03: fifty at once on one SQLite file; nobody sees a busy database.
func TestDB03TheEngineUnderStressOnSQLite(t *testing.T) {
	t.Parallel()
	s := newStorm(t, db.SQLite, t.TempDir()+"/ax.db")
	s.theJudge()
	times := map[string]int{"plan": 2, "dispatch": 2, "work": 30, "edit": 4, "sweep": 2, "request": 6, "people": 5, "report": 1}
	s.run(stressFor(4*time.Second), stormActors(), func(name string) int { return times[name] })
	s.end(t)
}

func (s *storm) end(t *testing.T) {
	t.Helper()
	d := s.ledger[0]
	problems, err := d.VerifyAt(t.Context(), s.now())
	require.NoError(t, err)
	require.Empty(t, problems)
	var states []struct {
		State string
		N     int
	}
	require.NoError(t, d.View(t.Context()).Raw("SELECT state, COUNT(*) AS n FROM instances GROUP BY state ORDER BY state").Scan(&states).Error)
	taken := s.claims[sched.ClaimTake].Load()
	t.Logf("%d acts; claims: %d taken, %d deferred, %d skipped, %d early or back, %d dropped", s.acts.Load(), taken, s.claims[sched.ClaimDefer].Load(),
		s.claims[sched.ClaimSkip].Load(), s.claims[sched.ClaimWait].Load()+s.claims[sched.ClaimBack].Load(), s.claims[sched.ClaimDrop].Load())
	t.Logf("%d missed ranges, instances %v", count(t, d, "missed_ranges"), states)
	t.Logf("transactions that ran again: %d %v", s.reruns.total(), s.reruns.seen)
	require.Positive(t, taken)
	// A deadlock is no error, but many mean that a statement breaks the order
	// of locks.
	require.LessOrEqual(t, s.reruns.total(), 2+int(s.acts.Load()/1000))
}
