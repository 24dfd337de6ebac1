package sched

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/fault"
)

var errAway = errors.New("the database is away")

func TestANodeIsANewRowOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{ledger: &ledger{ahead: -7 * time.Second}, clock: NewClock(time.Now)}
		n := NewNode(NodeOptions{Store: b.ledger, Clock: b.clock, NewID: ids("node"), Local: time.Now, Log: quiet(), Pulse: DefaultPulse(), Info: NodeInfo{Host: "h", PID: 9}})
		require.Empty(t, n.ID())
		require.NoError(t, n.Register(t.Context()))
		now := b.ledger.now()
		require.Equal(t, []NodeInfo{{
			ID: "node-1", Host: "h", PID: 9, StartedAt: now, BeatAt: now, SteadyAt: now, ClockOffset: 7 * time.Second,
		}}, b.ledger.nodes)
		require.Equal(t, "node-1", n.ID())
		require.Equal(t, now, b.clock.Now())
	})
}

func TestANodeThatCannotRegisterHasNoRow(t *testing.T) {
	for _, call := range []string{"Now", "Register"} {
		l := &ledger{}
		l.fails(call, errAway)
		n := NewNode(NodeOptions{Store: l, Clock: NewClock(time.Now), NewID: ids("node"), Local: time.Now, Log: quiet()})
		require.ErrorIs(t, n.Register(t.Context()), errAway, call)
		require.Empty(t, n.ID(), call)
	}
}

// protocol.md (flaw 35): two failures in a row are no death.
func TestANodeBeatsEveryFiveSecondsAndSoonAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		start := time.Now()
		var at []time.Duration
		b.ledger.does("Now", func() error { at = append(at, time.Since(start)); return nil })
		b.ledger.failsTimes("Beat", 2, errAway)
		stop := b.live(t)
		time.Sleep(18 * time.Second)
		stop()
		require.Equal(t, []time.Duration{5 * time.Second, 6 * time.Second, 7 * time.Second, 12 * time.Second, 17 * time.Second}, at)
		require.Equal(t, Beat{NodeID: "node-1", Now: b.ledger.now().Add(-time.Second), Gap: 10 * time.Second}, b.ledger.beats[2])
	})
}

// F14: a lock on all instances holds the audit up. A node that didn't beat
// meanwhile would be taken for dead by one whose audit came before the lock.
func TestTheNextBeatDoesNotWaitForTheAudit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.ledger.locked = true
		stop := b.live(t)
		time.Sleep(40 * time.Second)
		stop()
		var at []time.Time
		for _, beat := range b.ledger.beats {
			at = append(at, beat.Now)
		}
		require.GreaterOrEqual(t, len(at), 6)
		for i := range at[1:] {
			require.LessOrEqual(t, at[i+1].Sub(at[i]), DefaultPulse().Fresh(), "beat %d", i+1)
		}
	})
}

func TestEveryPartOfABeatMayFail(t *testing.T) {
	for _, call := range []string{"Now", "Beat", "Draining", "Wishes", "Holding"} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			b.ledger.fails(call, errAway)
			require.ErrorIs(t, b.node.Beat(t.Context()), errAway, call)
		})
	}
}

func TestABeatTellsTheNodesLoadAndReadsTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.node.remember("claim", "i1")
		b.ledger.ahead = 40 * time.Second
		require.NoError(t, b.node.Beat(t.Context()))
		require.Equal(t, 1, b.ledger.beats[0].Busy)
		require.Equal(t, -40*time.Second, b.ledger.beats[0].Offset)
		require.False(t, b.clock.Steady(), "a jump stops planning")
	})
}

// hold puts a claim into the node's memory whose call is out, and gives the
// call's context.
func (b *bench) hold(t *testing.T, claimID, instance string) context.Context {
	ctx, cancel := context.WithCancelCause(t.Context())
	b.node.remember(claimID, instance)
	b.node.calling(claimID, cancel)
	return ctx
}

func TestANodeDeclaredDeadGivesUpItsCallsAndRegistersAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		first, second := b.hold(t, "c1", "i1"), b.hold(t, "c2", "i2")
		b.node.remember("c3", "i3") // its call is not out yet
		b.ledger.gone["node-1"] = true
		require.NoError(t, b.node.Beat(t.Context()))
		require.ErrorIs(t, context.Cause(first), errGone)
		require.ErrorIs(t, context.Cause(second), errGone)
		require.Equal(t, "node-2", b.node.ID())
		require.Zero(t, b.ledger.count("Holding"), "what the old row held is not the new one's")
		require.NoError(t, b.node.Beat(t.Context()))
		require.Equal(t, "node-2", b.ledger.beats[1].NodeID)
	})
}

func TestAStoppingNodeIsNotBornAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		call := b.hold(t, "c1", "i1")
		require.False(t, b.node.Stopping())
		b.node.Stop()
		require.True(t, b.node.Stopping())
		b.ledger.gone["node-1"] = true
		require.NoError(t, b.node.Beat(t.Context()))
		require.ErrorIs(t, context.Cause(call), errGone)
		require.Len(t, b.ledger.nodes, 1)
		require.Equal(t, "node-1", b.node.ID())
	})
}

func TestTheFenceIsOpenWhileTheLastBeatIsFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		require.NoError(t, b.node.fence(t.Context(), "node-1"))
		time.Sleep(10 * time.Second)
		require.NoError(t, b.node.fence(t.Context(), "node-1"), "as old as it may be")
	})
}

func TestTheFenceWaitsForAConfirmedBeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.ledger.failsTimes("Beat", 8, errAway)
		b.live(t)
		time.Sleep(10*time.Second + time.Millisecond)
		start := time.Now()
		require.NoError(t, b.node.fence(t.Context(), "node-1"))
		require.Equal(t, 3*time.Second, time.Since(start).Round(time.Second), "the ninth beat, at 13 s, gets through")
	})
}

// A beat that takes long confirms the moment at which it began: the ledger may
// have stamped it then.
func TestABeatConfirmsTheMomentItBegan(t *testing.T) {
	for name, c := range map[string]struct {
		slow string // the call that takes 6 s
		do   func(*Node, context.Context) error
	}{
		"the beat of a beat":       {"Beat", (*Node).Beat},
		"the reading of a beat":    {"Now", (*Node).Beat},
		"the row of a new node":    {"Register", (*Node).Register},
		"the reading of a new one": {"Now", (*Node).Register},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.ledger.does(c.slow, func() error { time.Sleep(6 * time.Second); return nil })
				require.NoError(t, c.do(b.node, t.Context()))
				time.Sleep(4*time.Second + time.Millisecond)
				ctx, stop := context.WithTimeoutCause(t.Context(), time.Second, errStopped)
				defer stop()
				require.ErrorIs(t, b.node.fence(ctx, b.node.ID()), errStopped, "it is older than 10 s")
			})
		})
	}
}

func TestTheFenceEndsWithItsRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.ledger.fails("Beat", errAway)
		b.live(t)
		time.Sleep(11 * time.Second)
		got := make(chan error, 1)
		go func() { got <- b.node.fence(t.Context(), "node-1") }()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		require.Empty(t, got, "it waits")
		b.ledger.with(func() { b.ledger.gone["node-1"] = true })
		b.ledger.fails("Beat", nil)
		require.ErrorIs(t, <-got, errGone)
		require.ErrorIs(t, b.node.fence(t.Context(), "node-1"), errGone, "for good")
		require.NoError(t, b.node.fence(t.Context(), "node-2"))
	})
}

// From the moment a node learns of its death nothing is begun on the old row,
// though its last beat is fresh and the new row can't be made yet.
func TestTheFenceIsShutOnceDeathIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.ledger.gone["node-1"] = true
		b.ledger.fails("Register", errAway)
		require.ErrorIs(t, b.node.Beat(t.Context()), errAway)
		ctx, stop := context.WithTimeoutCause(t.Context(), time.Second, errStopped)
		defer stop()
		require.Error(t, b.node.fence(ctx, "node-1"))
		b.ledger.fails("Register", nil)
		require.NoError(t, b.node.Beat(t.Context()), "it tries again")
		require.ErrorIs(t, b.node.fence(t.Context(), "node-1"), errGone)
		require.NoError(t, b.node.fence(t.Context(), b.node.ID()))
	})
}

func TestTheFenceEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		time.Sleep(time.Minute)
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errStopped)
		require.ErrorIs(t, b.node.fence(ctx, "node-1"), errStopped)
	})
}

func TestAWishCancelsTheCallsOfItsInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		wanted, other := b.hold(t, "c1", "i1"), b.hold(t, "c2", "i2")
		b.ledger.wishes = []string{"i1", "i9"}
		require.NoError(t, b.node.Beat(t.Context()))
		require.ErrorIs(t, context.Cause(wanted), errWish)
		require.NoError(t, other.Err())
		b.node.CancelCall("i2") // a hint between two beats
		require.ErrorIs(t, context.Cause(other), errWish)
	})
}

// What ends a call may come between the claim and the call: it must not be
// forgotten.
func TestACallThatIsOverBeforeItIsOut(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*bench, *testing.T)
		want error
	}{
		"a wish": {func(b *bench, _ *testing.T) { b.node.CancelCall("i1") }, errWish},
		"a death": {func(b *bench, t *testing.T) {
			b.ledger.gone["node-1"] = true
			require.NoError(t, b.node.Beat(t.Context()))
		}, errGone},
		"a stop": {func(b *bench, t *testing.T) { require.NoError(t, b.node.Close(t.Context())) }, errStopped},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.node.remember("c1", "i1")
				c.end(b, t)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				b.node.calling("c1", cancel)
				require.ErrorIs(t, context.Cause(ctx), c.want)
			})
		})
	}
}

// protocol.md (flaw 27): only the node itself knows which answers are in hand.
func TestTheAuditEndsWhatNobodyKeeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		held := func(claim, instance string, over time.Duration) Held {
			return Held{InstanceID: instance, Attempt: 1, NodeID: "node-1", ClaimID: claim, DeadlineAt: b.clock.Now().Add(-over)}
		}
		b.hold(t, "working", "i1")
		b.hold(t, "late", "i2")
		b.hold(t, "stuck", "i3")
		b.hold(t, "answered", "i4")
		b.node.answer("answered")
		b.ledger.holding = []Held{
			held("working", "i1", -time.Second), held("late", "i2", time.Minute), held("stuck", "i3", time.Minute+time.Millisecond),
			held("answered", "i4", time.Hour), held("panicked", "i5", -time.Second), held("forgotten", "i6", time.Hour),
		}
		b.ledger.again = map[string]Message{"i6": {InstanceID: "i6", Dispatch: 4}}
		require.NoError(t, b.node.Beat(t.Context()))
		require.Equal(t, []string{"i3"}, heldIDs(b.ledger.overdue))
		require.Equal(t, []string{"i5", "i6"}, heldIDs(b.ledger.lost))
		require.Equal(t, []Message{{InstanceID: "i6", Dispatch: 4}}, b.carrier.sent)
	})
}

// One row that can't be changed must not keep the others from it, at every
// beat again.
func TestTheAuditGoesOnAfterABadRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		long := b.clock.Now().Add(-time.Hour)
		b.hold(t, "s1", "i1")
		b.hold(t, "s2", "i2")
		b.ledger.holding = []Held{
			{InstanceID: "i1", NodeID: "node-1", ClaimID: "s1", DeadlineAt: long}, {InstanceID: "i2", NodeID: "node-1", ClaimID: "s2", DeadlineAt: long},
			{InstanceID: "i3", NodeID: "node-1", ClaimID: "x"}, {InstanceID: "i4", NodeID: "node-1", ClaimID: "y"},
		}
		b.ledger.failsTimes("EndOverdue", 1, errAway)
		b.ledger.failsTimes("Lose", 1, errAway)
		require.ErrorIs(t, b.node.Beat(t.Context()), errAway)
		require.Equal(t, []string{"i2"}, heldIDs(b.ledger.overdue))
		require.Equal(t, []string{"i4"}, heldIDs(b.ledger.lost))
	})
}

func TestRepairsGoOnUntilTheLedgerIsAway(t *testing.T) {
	away := fault.Unavailable(errAway, "The database can't be reached")
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for name, c := range map[string]struct {
		ctx  context.Context
		errs map[int]error
		done []int
	}{
		"all is well":        {t.Context(), nil, []int{1, 2, 3, 4, 5}},
		"two bad rows":       {t.Context(), map[int]error{2: errRow, 5: errRow}, []int{1, 2, 3, 4, 5}},
		"the ledger is away": {t.Context(), map[int]error{2: errRow, 4: away}, []int{1, 2, 3, 4}},
		"the process stops":  {stopped, map[int]error{2: errRow}, []int{1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			var done []int
			err := each(c.ctx, []int{1, 2, 3, 4, 5}, func(n int) error {
				done = append(done, n)
				return c.errs[n]
			})
			require.Equal(t, c.done, done)
			for _, want := range c.errs {
				require.ErrorIs(t, err, want)
			}
			require.Equal(t, len(c.errs) == 0, err == nil)
		})
	}
}

func TestANodeThatClosesCutsItsCallsOff(t *testing.T) {
	for name, answer := range map[string]error{"in order": nil, "without the ledger": errAway} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				call := b.hold(t, "c1", "i1")
				b.ledger.does("CloseNode", func() error {
					require.NoError(t, call.Err(), "the row is closed first")
					return answer
				})
				require.Equal(t, answer, b.node.Close(t.Context()))
				require.Equal(t, []string{"node-1"}, b.ledger.closed)
				require.ErrorIs(t, context.Cause(call), errStopped)
			})
		})
	}
}

func TestAClaimThatIsNotKnownIsNotNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.node.answer("unknown")
		b.node.calling("unknown", func(error) { t.Error("canceled") })
		b.node.forget("unknown")
		require.Zero(t, b.node.Busy())
		known, answered := b.node.knows("unknown")
		require.False(t, known || answered)
	})
}

func TestThePulseOfANode(t *testing.T) {
	p := DefaultPulse()
	require.Equal(t, Pulse{Beat: 5 * time.Second, Dead: 15 * time.Second, Retry: time.Second}, p)
	require.Equal(t, 10*time.Second, p.Fresh())
	require.Less(t, p.Fresh(), p.Dead, "a node stops beginning work before others may take it for dead")
}

func TestANodeIsGoneWhenItIsDeadOrClosed(t *testing.T) {
	require.False(t, NodeInfo{}.Gone())
	require.True(t, NodeInfo{DeadAt: noon()}.Gone())
	require.True(t, NodeInfo{ClosedAt: noon()}.Gone())
}
