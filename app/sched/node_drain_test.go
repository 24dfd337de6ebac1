package sched

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestANodeDrainsFromItsNextBeatOnAndBeginsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		var said []bool
		b.node.OnDrain(func(on bool) error { said = append(said, on); return nil })
		beat := func(on bool) { b.ledger.draining = on; require.NoError(t, b.node.Beat(t.Context())) }
		beat(false)
		require.Empty(t, said)
		beat(true)
		beat(true)
		require.Equal(t, []bool{true}, said, "once")
		beat(false)
		require.Equal(t, []bool{true, false}, said)
	})
}

func TestADrainThatFailedIsTriedAtTheNextBeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.ledger.draining = true
		tries, err := 0, errAway
		b.node.OnDrain(func(bool) error { tries++; return err })
		require.NoError(t, b.node.Beat(t.Context()), "the audit goes on")
		err = nil
		require.NoError(t, b.node.Beat(t.Context()))
		require.NoError(t, b.node.Beat(t.Context()))
		require.Equal(t, 2, tries)
	})
}

// Somebody wished it of the process, which is the same after it was taken for
// dead.
func TestANodeThatWasDeclaredDeadGoesOnDraining(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.ledger.draining = true
		require.NoError(t, b.node.Beat(t.Context()))
		b.ledger.gone["node-1"] = true
		require.NoError(t, b.node.Beat(t.Context()))
		require.Equal(t, "node-2", b.node.ID())
		require.True(t, b.ledger.nodes[1].Draining)
	})
}
