package db_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

var pulse = sched.DefaultPulse()

func beat(t *testing.T, d *db.DB, id string, now time.Time) bool {
	t.Helper()
	alive, err := d.Beat(t.Context(), sched.Beat{NodeID: id, Busy: 3, Offset: -1500 * time.Millisecond, Now: now, Gap: pulse.Fresh()})
	require.NoError(t, err)
	return alive
}

func nodeAt(t *testing.T, d *db.DB, id string) sched.NodeInfo {
	t.Helper()
	nodes, err := d.Nodes(t.Context(), later(-1))
	require.NoError(t, err)
	for _, n := range nodes {
		if n.ID == id {
			return n
		}
	}
	t.Fatalf("no node %s", id)
	return sched.NodeInfo{}
}

func TestANodeIsStoredAsItIs(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		n := dbtest.MakeNode(t, d, func(n *sched.NodeInfo) {
			n.Labels, n.ClockOffset = []string{"disk=ssd", "zone=a"}, 1500*time.Millisecond
		})
		require.Equal(t, n, nodeAt(t, d, n.ID))
		bare := sched.NodeInfo{ID: dbtest.ID(), Host: strings.Repeat("长", 300), StartedAt: t0, BeatAt: t0, SteadyAt: t0}
		require.NoError(t, d.Register(t.Context(), bare), "a long name keeps no node from starting")
		require.Nil(t, nodeAt(t, d, bare.ID).Roles)
	})
}

func TestABeatConfirmsTheNode(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		n := dbtest.MakeNode(t, d)
		require.True(t, beat(t, d, n.ID, later(5)))
		got := nodeAt(t, d, n.ID)
		require.Equal(t, later(5), got.BeatAt)
		require.Equal(t, t0, got.SteadyAt)
		require.Equal(t, 3, got.Busy)
		require.Equal(t, -1500*time.Millisecond, got.ClockOffset)
		require.True(t, beat(t, d, n.ID, later(5)), "a beat that says nothing new is a beat")
		require.True(t, beat(t, d, n.ID, later(15)))
		require.Equal(t, t0, nodeAt(t, d, n.ID).SteadyAt, "a gap of 10 s is whole")
		require.True(t, beat(t, d, n.ID, later(25.001)))
		require.Equal(t, later(25.001), nodeAt(t, d, n.ID).SteadyAt, "a longer one begins the steady time anew")
		require.False(t, beat(t, d, dbtest.ID(), later(5)), "a node that isn't there")
	})
}

// F14: locked tables took up every connection of the workers, who were
// declared dead with their work, alive as they were.
func TestABeatDoesNotWaitForAConnection(t *testing.T) {
	t.Parallel()
	d := dbtest.MariaDB(t)
	n := dbtest.MakeNode(t, d)
	release := make(chan struct{})
	var held, all sync.WaitGroup
	for range 16 { // what dbtest gives
		held.Add(1)
		all.Go(func() {
			err := d.Tx(t.Context(), "wait for a lock", func(*gorm.DB) error { held.Done(); <-release; return nil })
			assert.NoError(t, err)
		})
	}
	held.Wait()
	defer all.Wait()
	defer close(release)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := d.Now(ctx)
	require.NoError(t, err)
	alive, err := d.Beat(ctx, sched.Beat{NodeID: n.ID, Now: later(5), Gap: 10 * time.Second})
	require.NoError(t, err)
	require.True(t, alive)
}

func TestAGoneNodeDoesNotBeat(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ breaking string }{
		"closed":        {"UPDATE nodes SET closed_at=1"},
		"declared dead": {"UPDATE nodes SET dead_at=1"},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				n := dbtest.MakeNode(t, d)
				exec(t, d, c.breaking)
				before := dump(t, d, "nodes")
				require.False(t, beat(t, d, n.ID, later(5)))
				require.NoError(t, d.CloseNode(t.Context(), n.ID, later(5)))
				require.Equal(t, before, dump(t, d, "nodes"))
			})
		})
	}
}

func TestANodeIsClosedInOrder(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		n := dbtest.MakeNode(t, d)
		beat(t, d, n.ID, later(5))
		require.NoError(t, d.CloseNode(t.Context(), n.ID, later(6)))
		got := nodeAt(t, d, n.ID)
		require.Equal(t, later(6), got.ClosedAt)
		require.True(t, got.Gone())
		require.True(t, got.DeadAt.IsZero())
		require.Zero(t, got.Busy)
	})
}

// F36: the ledger's clock steps two hours back and forth. Whoever has beaten
// since looks hours late to one who has not, and the other way round.
func TestF36AStepOfTheClockMakesNobodyDead(t *testing.T) {
	for name, step := range map[string]float64{"ahead": 7200, "back": -7200} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				me, other := dbtest.MakeNode(t, d), dbtest.MakeNode(t, d)
				for at := 5.0; at <= 60; at += 5 {
					beat(t, d, me.ID, later(at))
					beat(t, d, other.ID, later(at))
				}
				require.Empty(t, declare(t, d, me.ID, later(61+step)), "before anybody has beaten")
				beat(t, d, other.ID, later(62+step))
				require.Empty(t, declare(t, d, me.ID, later(63+step)), "before my own beat")
				beat(t, d, me.ID, later(65+step))
				require.Equal(t, later(65+step), nodeAt(t, d, me.ID).SteadyAt, "my beats are whole from here on")
				require.Empty(t, declare(t, d, me.ID, later(66+step)))
				for at := 70.0; at <= 100; at += 5 {
					beat(t, d, me.ID, later(at+step))
				}
				require.Equal(t, []string{other.ID}, declare(t, d, me.ID, later(100+step)), "a death after the step is seen")
			})
		})
	}
}

func declare(t *testing.T, d *db.DB, me string, now time.Time) []string {
	t.Helper()
	dead, err := d.DeclareDead(t.Context(), me, pulse, now)
	require.NoError(t, err)
	return dead
}

func TestDUP10ANodeIsDeclaredDeadNotBeforeItsTime(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		silent := dbtest.MakeNode(t, d, dbtest.Beaten(t0, later(40)))
		me := dbtest.MakeNode(t, d, dbtest.Beaten(t0, later(50)))
		require.Empty(t, declare(t, d, me.ID, later(55)), "15 s old is not older than 15 s")
		require.Equal(t, []string{silent.ID}, declare(t, d, me.ID, later(55.001)))
		got := nodeAt(t, d, silent.ID)
		require.Equal(t, later(55.001), got.DeadAt)
		require.Equal(t, me.ID, got.DeclaredBy)
		require.Empty(t, declare(t, d, me.ID, later(56)), "once only")
		require.False(t, beat(t, d, silent.ID, later(57)))
	})
}

// protocol.md (flaw 34), (flaw 35): an outage, a pause of the host or a step of the
// clock must not be taken for dead nodes.
func TestOnlyASteadyNodeJudges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mine     dbtest.NodeOption
		breaking string
		want     bool
	}{
		"15 s of whole beats":         {dbtest.Beaten(later(85), later(95)), "", true},
		"less than 15 s of them":      {dbtest.Beaten(later(85.001), later(95)), "", false},
		"its own beat is 10 s old":    {dbtest.Beaten(t0, later(90)), "", true},
		"its own beat is older":       {dbtest.Beaten(t0, later(89.999)), "", false},
		"it was declared dead itself": {dbtest.Beaten(t0, later(99)), "UPDATE nodes SET dead_at=1 WHERE id=?", false},
		"it was closed":               {dbtest.Beaten(t0, later(99)), "UPDATE nodes SET closed_at=1 WHERE id=?", false},
		"it isn't there":              {dbtest.Beaten(t0, later(99)), "DELETE FROM nodes WHERE id=?", false},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				dbtest.MakeNode(t, d) // silent since t0
				me := dbtest.MakeNode(t, d, c.mine)
				if c.breaking != "" {
					exec(t, d, c.breaking, me.ID)
				}
				require.Equal(t, c.want, len(declare(t, d, me.ID, later(100))) == 1)
			})
		})
	}
}

func TestOfTwoJudgesOneDeclares(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		dbtest.MakeNode(t, d)
		a, b := dbtest.MakeNode(t, d, dbtest.Beaten(t0, later(99))), dbtest.MakeNode(t, d, dbtest.Beaten(t0, later(99)))
		var dead [2][]string
		errs := both(func() (err error) { dead[0], err = d.DeclareDead(t.Context(), a.ID, pulse, later(100)); return err },
			func() (err error) { dead[1], err = d.DeclareDead(t.Context(), b.ID, pulse, later(100)); return err })
		require.Equal(t, [2]error{}, errs)
		require.Len(t, append(dead[0], dead[1]...), 1)
	})
}

// STUCK-03: a process that is back within a second is another node; its old
// row is judged by its own beats.
func TestSTUCK03ARestartedWorkerIsAnotherNode(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		old := dbtest.MakeNode(t, d, func(n *sched.NodeInfo) { n.Host, n.PID = "worker-1", 7 })
		run := running(t, d, dbtest.MakeTask(t, d), old)
		again := dbtest.MakeNode(t, d, func(n *sched.NodeInfo) { n.Host, n.PID = "worker-1", 7 }, dbtest.Beaten(later(1), later(1)))
		for s := 6.0; s <= 16; s += 5 {
			beat(t, d, again.ID, later(s))
		}
		require.Equal(t, []string{old.ID}, declare(t, d, again.ID, later(16.5)))
		all := orphans(t, d)
		require.Equal(t, []sched.Held{held(run)}, all)
		_, sent := lose(t, d, all[0], later(16.5))
		require.True(t, sent)
	})
}

func TestTheOnlyProcessClosesEarlierRows(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		old, closed, me := dbtest.MakeNode(t, d), dbtest.MakeNode(t, d), dbtest.MakeNode(t, d)
		require.NoError(t, d.CloseNode(t.Context(), closed.ID, later(1)))
		require.NoError(t, d.CloseEarlier(t.Context(), me.ID, later(2)))
		require.Equal(t, later(2), nodeAt(t, d, old.ID).DeadAt, "it crashed: that is a death")
		require.True(t, nodeAt(t, d, closed.ID).DeadAt.IsZero())
		require.False(t, nodeAt(t, d, me.ID).Gone())
	})
}

func TestLivingNodesAndThoseThatEndedLatelyAreListed(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		living, closed, dead := dbtest.MakeNode(t, d), dbtest.MakeNode(t, d), dbtest.MakeNode(t, d)
		longGone := dbtest.MakeNode(t, d)
		require.NoError(t, d.CloseNode(t.Context(), longGone.ID, later(10)))
		require.NoError(t, d.CloseNode(t.Context(), closed.ID, later(20)))
		exec(t, d, "UPDATE nodes SET dead_at=? WHERE id=?", db.At(later(30)), dead.ID)
		nodes, err := d.Nodes(t.Context(), later(20))
		require.NoError(t, err)
		var ids []string
		for _, n := range nodes {
			ids = append(ids, n.ID)
		}
		require.Equal(t, []string{dead.ID, closed.ID, living.ID}, ids, "the latest start first")
	})
}
