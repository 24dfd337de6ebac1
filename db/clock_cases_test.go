package db_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// The cases of the clock: real loops on a real ledger, with clocks that are
// set by hand.

// lab is one process whose wall clock and whose ledger's clock are set by hand.
type lab struct {
	*db.DB
	local, ledger time.Time
	log           bytes.Buffer
	clock         *sched.Clock
	node          *sched.Node
	planner       *sched.Planner
	sweeper       *sched.Sweeper
}

// Now is the ledger's clock as the node reads it.
func (l *lab) Now(context.Context) (time.Time, error) { return l.ledger, nil }

// nobody is a carrier that takes everything and delivers nothing.
type nobody struct{}

func (nobody) Send(_ context.Context, m []sched.Message) []error { return make([]error, len(m)) }

// newLab starts a process at t0 whose wall clock is ahead of the ledger's.
func newLab(t *testing.T, d *db.DB, ahead time.Duration) *lab {
	t.Helper()
	l := &lab{DB: d, local: t0.Add(ahead), ledger: t0}
	log := slog.New(slog.NewTextHandler(&l.log, nil))
	l.clock = sched.NewClock(func() time.Time { return l.local })
	l.node = sched.NewNode(sched.NodeOptions{
		Store: l, Clock: l.clock, NewID: dbtest.ID, Local: func() time.Time { return l.local }, Send: nobody{}, Log: log,
		Pulse: pulse, Info: sched.NodeInfo{Host: "lab", Roles: []string{"scheduler", "worker"}, Slots: 10},
	})
	l.planner = sched.NewPlanner(sched.PlannerOptions{
		Store: l, Node: l.node, Clock: l.clock, Hand: sched.NewDispatcher(l, nobody{}, l.clock, log), Batch: 500, Log: log,
	})
	l.sweeper = sched.NewSweeper(l, nobody{}, l.node, l.clock, log)
	require.NoError(t, l.node.Register(t.Context()))
	return l
}

// pass lets seconds go by: a beat each five, a tick of the planner each.
func (l *lab) pass(t *testing.T, seconds int) {
	t.Helper()
	for range seconds {
		l.local, l.ledger = l.local.Add(time.Second), l.ledger.Add(time.Second)
		if l.ledger.Second()%5 == 0 {
			require.NoError(t, l.node.Beat(t.Context()))
		}
		_, err := l.planner.Tick(t.Context())
		require.NoError(t, err)
	}
}

// The node's own wall clock can't jump here: a made time has no monotonic part.
func TestCLOCK01TheLedgersClockJumpsTwoHoursAndBack(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		l := newLab(t, d, 0)
		task := dbtest.MakeTask(t, d, dbtest.Cron("* * * * *"))
		l.pass(t, 150)
		l.ledger = l.ledger.Add(2 * time.Hour)
		l.pass(t, 5)
		require.False(t, l.clock.Steady())
		l.ledger = l.ledger.Add(-2 * time.Hour)
		l.pass(t, 205)
		require.True(t, l.clock.Steady())
		var want []time.Time
		for minute := range 7 {
			want = append(want, later(float64(60*minute)))
		}
		require.Equal(t, want, slotsOf(t, d, task), "each minute once, none of two hours ahead")
		require.Empty(t, missed(t, d, task))
		require.Contains(t, l.log.String(), "level=ERROR msg=\"the ledger's clock jumped")
	})
}

func TestCLOCK03AProcessTwoMinutesAheadTakesNobodyForDead(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		a, b := newLab(t, d, 0), newLab(t, d, 2*time.Minute)
		task := dbtest.MakeTask(t, d, dbtest.Cron("* * * * *"))
		in := dbtest.MakeInstance(t, d, task)
		took, err := d.Claim(t.Context(), sched.ClaimRequest{InstanceID: in.ID, NodeID: a.node.ID(), ClaimID: dbtest.ID(), Now: t0})
		require.NoError(t, err)
		require.Equal(t, sched.ClaimTake, took.Verdict.Kind)
		beat := func(l *lab, audited bool) {
			if audited {
				require.NoError(t, l.node.Beat(t.Context()))
				return
			}
			_, err := d.Beat(t.Context(), sched.Beat{NodeID: l.node.ID(), Now: l.ledger, Gap: pulse.Fresh()}) // a real worker knows its claim
			require.NoError(t, err)
		}
		for second := 1; second <= 90; second++ {
			for _, l := range []*lab{a, b} {
				l.local, l.ledger = l.local.Add(time.Second), l.ledger.Add(time.Second)
				if second%5 == 0 && (l == b || second <= 60) {
					beat(l, l == b)
				}
			}
			_, err := b.sweeper.Tick(t.Context())
			require.NoError(t, err)
			_, err = b.planner.Tick(t.Context())
			require.NoError(t, err)
			dead := !nodeAt(t, d, a.node.ID()).DeadAt.IsZero()
			require.Equal(t, second > 60+int(pulse.Dead/time.Second), dead, "after %d s, the last beat was at 60 s", second)
		}
		require.Empty(t, slotsOf(t, d, task), "a node so far from the ledger plans nothing")
		require.NotEqual(t, sched.Running, read(t, d, in.ID).State, "what the dead node ran goes on elsewhere")
	})
}

func TestCLOCK06ANodeTenSecondsSlowPlansByTheLedgersClock(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		l := newLab(t, d, -10*time.Second)
		task := dbtest.MakeTask(t, d, dbtest.Cron("* * * * *"))
		l.pass(t, 57)
		require.Equal(t, []time.Time{t0}, slotsOf(t, d, task))
		l.pass(t, 1)
		require.Equal(t, []time.Time{t0, later(60)}, slotsOf(t, d, task), "two seconds ahead by the ledger's clock")
		l.pass(t, 2)
		id := instancesOf(t, d, task)[1]
		claimed, err := d.Claim(t.Context(), sched.ClaimRequest{InstanceID: id, NodeID: l.node.ID(), ClaimID: dbtest.ID(), Now: l.clock.Now()})
		require.NoError(t, err)
		require.Equal(t, sched.ClaimTake, claimed.Verdict.Kind)
		in := read(t, d, id)
		require.Zero(t, in.StartedAt.Sub(in.WantedAt), "the lag that is measured")
		offset := nodeAt(t, d, l.node.ID()).ClockOffset
		require.Equal(t, -10*time.Second, offset)
		require.Greater(t, offset.Abs(), sched.ClockWarn, "so it is warned of")
		require.Less(t, offset.Abs(), sched.ClockStop)
	})
}
