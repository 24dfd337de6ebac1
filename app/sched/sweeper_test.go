package sched

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

var errRow = errors.New("this row can't be changed")

// staleOf makes n rows that wait for a message: "i0", "i1", …
func staleOf(n int) []Stale {
	out := make([]Stale, n)
	for i := range out {
		out[i] = Stale{InstanceID: fmt.Sprintf("i%d", i), State: Queued, Dispatch: i}
	}
	return out
}

func heldOf(ids ...string) []Held {
	var out []Held
	for _, id := range ids {
		out = append(out, Held{InstanceID: id, Attempt: 1, NodeID: "dead"})
	}
	return out
}

// protocol.md (flaw 11): Asynq may hold the old number archived or orphaned.
func TestWhatWasNotTakenInTimeIsSentUnderANewNumber(t *testing.T) {
	b := loopBench()
	b.ledger.stale = staleOf(3)
	b.ledger.stale[1].State = Succeeded // moved since it was read
	again, err := b.sweeper().Tick(t.Context())
	require.NoError(t, err)
	require.False(t, again)
	require.Equal(t, []Message{{InstanceID: "i0", Dispatch: 1}, {InstanceID: "i2", Dispatch: 3}}, b.carrier.sent)
}

func TestAFullSweepIsFollowedAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		stale int
		fail  string
		again bool
	}{
		"full":                     {sweepBatch + 1, "", true},
		"one less":                 {sweepBatch - 1, "", false},
		"full, but one isn't sent": {sweepBatch, "i3", false},
	} {
		t.Run(name, func(t *testing.T) {
			b := loopBench()
			b.ledger.stale = staleOf(c.stale)
			b.carrier.fail[c.fail] = errAway
			again, err := b.sweeper().Tick(t.Context())
			require.Equal(t, c.fail != "", err != nil)
			require.Equal(t, c.again, again)
		})
	}
}

// The worst row is looked at first at every tick: it must not hold up the
// others, nor keep what was raised from being sent.
func TestABadRowHoldsUpNoOther(t *testing.T) {
	b := loopBench()
	b.ledger.stale = staleOf(3)
	b.ledger.orphans = heldOf("o1", "o2")
	b.ledger.missed = heldOf("m1", "m2")
	b.ledger.fails("Raise i1", errRow)
	b.ledger.failsTimes("Lose", 1, errRow)
	b.ledger.fails("EndAwaiting m1", errRow)
	b.ledger.again = map[string]Message{"o2": {InstanceID: "o2", Dispatch: 5}}
	again, err := b.sweeper().Tick(t.Context())
	require.ErrorIs(t, err, errRow)
	require.False(t, again)
	require.Equal(t, []Message{{InstanceID: "i0", Dispatch: 1}, {InstanceID: "i2", Dispatch: 3}, {InstanceID: "o2", Dispatch: 5}}, b.carrier.sent)
	require.Equal(t, []string{"o2"}, heldIDs(b.ledger.lost))
	require.Equal(t, []string{"m2"}, heldIDs(b.ledger.ended))
}

func TestThePartsOfASweepAreIndependent(t *testing.T) {
	for name, call := range map[string]string{
		"a list of stale rows": "Stale", "the declaration": "DeclareDead by node-0", "the list of orphans": "Orphans", "the list of missed receipts": "Overdue",
	} {
		t.Run(name, func(t *testing.T) {
			b := loopBench()
			b.ledger.stale, b.ledger.orphans, b.ledger.missed = staleOf(1), heldOf("o1"), heldOf("m1")
			b.ledger.fails(call, errAway)
			again, err := b.sweeper().Tick(t.Context())
			require.ErrorIs(t, err, errAway)
			require.False(t, again)
			done := len(b.ledger.raised) + len(b.ledger.lost) + len(b.ledger.ended)
			require.Equal(t, 2, done, "the two other parts ran")
		})
	}
}

// protocol.md (flaw 17): a dead node is looked at at every tick.
//
// STUCK-10: a node is found once, its work at every tick until it is done.
func TestOrphansAreSweptWhoeverDeclaredTheirNode(t *testing.T) {
	b := loopBench()
	b.ledger.dead = []string{"n1"}
	b.ledger.orphans = []Held{{InstanceID: "o1", NodeID: "n1"}, {InstanceID: "o2", NodeID: "n0", Graceful: true}}
	b.ledger.again = map[string]Message{"o2": {InstanceID: "o2", Dispatch: 1}}
	_, err := b.sweeper().Tick(t.Context())
	require.NoError(t, err)
	require.Equal(t, b.ledger.orphans, b.ledger.lost)
	require.Equal(t, []Message{{InstanceID: "o2", Dispatch: 1}}, b.carrier.sent)
	b.ledger.dead = nil
	_, err = b.sweeper().Tick(t.Context())
	require.NoError(t, err)
	require.Len(t, b.ledger.lost, 4)
}

// A message of taken-over work that isn't sent is sent by the next look.
func TestTakenOverWorkMayWaitForItsMessage(t *testing.T) {
	b := loopBench()
	b.ledger.orphans = heldOf("o1")
	b.ledger.again = map[string]Message{"o1": {InstanceID: "o1"}}
	b.carrier.fail["o1"] = errAway
	_, err := b.sweeper().Tick(t.Context())
	require.NoError(t, err)
}

func TestAWipedRedisIsLookedAtNow(t *testing.T) {
	b := loopBench()
	b.ledger.looked = 500
	require.NoError(t, b.sweeper().Wiped(t.Context()))
	require.Equal(t, 1, b.ledger.count("LookNow"))
	b.ledger.fails("LookNow", errAway)
	require.ErrorIs(t, b.sweeper().Wiped(t.Context()), errAway)
}
