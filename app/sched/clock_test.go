package sched

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// twoClocks are a node's clocks and the ledger's, moved by hand.
type twoClocks struct {
	local, ledger time.Time
}

func (c *twoClocks) now() time.Time { return c.local }

// pass lets time pass on both.
func (c *twoClocks) pass(d time.Duration) { c.local, c.ledger = c.local.Add(d), c.ledger.Add(d) }

// readClock is a clock whose ledger is behind by the given time, read once.
func readClock(behind time.Duration) (*twoClocks, *Clock) {
	c := &twoClocks{local: noon(), ledger: noon().Add(-behind)}
	clock := NewClock(c.now)
	clock.Set(c.ledger, true)
	return c, clock
}

func TestNowIsTheLedgersClockAndMonotonicTime(t *testing.T) {
	c, clock := readClock(10 * time.Second) // CLOCK-06
	require.Equal(t, noon().Add(-10*time.Second), clock.Now())
	c.pass(1500 * time.Millisecond)
	require.Equal(t, noon().Add(-8500*time.Millisecond), clock.Now())
	c.pass(999 * time.Microsecond)
	require.Equal(t, noon().Add(-8500*time.Millisecond), clock.Now(), "cut to what the ledger stores")
	require.Equal(t, time.UTC, clock.Now().Location())
	require.Equal(t, 10*time.Second, clock.Offset())
	require.Greater(t, clock.Offset(), ClockWarn)
	require.True(t, clock.Steady(), "late by ten seconds, it plans on time by the ledger's clock")
}

func TestBeforeTheFirstReadingLocalTimeRuns(t *testing.T) {
	c := &twoClocks{local: noon().In(time.FixedZone("", 3600))}
	clock := NewClock(c.now)
	require.Equal(t, noon(), clock.Now())
	require.Zero(t, clock.Offset())
}

func TestTheFirstReadingIsNoJump(t *testing.T) {
	c := &twoClocks{local: noon()}
	clock := NewClock(c.now)
	require.Zero(t, clock.Set(noon().Add(20*time.Second), true))
	require.True(t, clock.Steady())
	require.Equal(t, noon().Add(20*time.Second), clock.Now())
	require.Equal(t, -20*time.Second, clock.Offset())
}

// CLOCK-01: ahead by two hours for one beat, then back.
func TestAJumpStopsPlanningUntilTwoSteadyBeats(t *testing.T) {
	c, clock := readClock(0)
	beat := func(jump time.Duration) time.Duration {
		c.pass(5 * time.Second)
		return clock.Set(c.ledger.Add(jump), false)
	}
	require.Zero(t, beat(0))
	require.Equal(t, 2*time.Hour, beat(2*time.Hour))
	require.False(t, clock.Steady())
	require.Equal(t, -2*time.Hour, beat(0))
	require.False(t, clock.Steady())
	require.Zero(t, beat(0))
	require.False(t, clock.Steady(), "one steady beat")
	require.Zero(t, beat(0))
	require.True(t, clock.Steady(), "two steady beats")
	require.Equal(t, c.ledger, clock.Now())
}

func TestASmallStepIsNoJump(t *testing.T) {
	for name, c := range map[string]struct {
		step   time.Duration
		steady bool
	}{
		"30 s ahead":           {30 * time.Second, true},
		"30 s back":            {-30 * time.Second, true},
		"a millisecond beyond": {30*time.Second + time.Millisecond, false},
		"as much back":         {-30*time.Second - time.Millisecond, false},
	} {
		t.Run(name, func(t *testing.T) {
			two, clock := readClock(c.step) // it steps to the node's clock: no offset is left
			two.pass(time.Second)
			require.Equal(t, c.step, clock.Set(two.ledger.Add(c.step), false))
			require.Equal(t, c.steady, clock.Steady())
		})
	}
}

// CLOCK-03: a node whose clock is ahead plans nothing, and judges by the
// ledger's time all the same.
func TestANodeFarFromTheLedgerStopsPlanning(t *testing.T) {
	for behind, steady := range map[time.Duration]bool{
		120 * time.Second: false, -120 * time.Second: false, 30 * time.Second: true, -30 * time.Second: true, 31 * time.Second: false,
	} {
		c, clock := readClock(behind)
		require.Equal(t, steady, clock.Steady(), "%s", behind)
		require.Equal(t, c.ledger, clock.Now())
		c.local = c.ledger // somebody sets it right
		clock.Set(c.ledger, true)
		require.True(t, clock.Steady(), "%s", behind)
	}
}

func TestAReadingIsAllThatIsLeftOfTheOneBefore(t *testing.T) {
	c, clock := readClock(0)
	for i := range 10 {
		c.pass(5 * time.Second)
		c.ledger = c.ledger.Add(time.Second) // drifts by a second each beat
		require.Equal(t, time.Second, clock.Set(c.ledger, false), "beat %d", i)
		require.Equal(t, c.ledger, clock.Now())
	}
	require.Equal(t, -10*time.Second, clock.Offset())
	require.True(t, clock.Steady())
}

func TestDueTimesAreRoundedUp(t *testing.T) {
	for in, want := range map[time.Duration]time.Duration{0: 0, 1: time.Second, time.Millisecond: time.Second, time.Second: time.Second, time.Second + 1: 2 * time.Second} {
		require.Equal(t, noon().Add(want), ceilSecond(noon().Add(in)), "%s", in)
	}
	require.True(t, ceilSecond(time.Time{}).IsZero())
}
