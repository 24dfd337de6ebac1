package sched

import (
	"sync"
	"time"
)

// Limits of clock trust (design.md section 4, "Time").
const (
	// ClockStop is the offset of the node's wall clock, and the jump of the
	// ledger's clock against monotonic time, at which planning stops.
	ClockStop = 30 * time.Second
	// ClockWarn is the offset that is shown and alerted as P2.
	ClockWarn = 5 * time.Second
	// steadyReadings is how many readings without a jump end the stop.
	steadyReadings = 2
)

// Clock tells the ledger's time: the database's clock as last read, plus
// monotonic time since. It is safe for concurrent use.
type Clock struct {
	local func() time.Time // carries a monotonic reading

	mu      sync.Mutex
	base    time.Time // the ledger's reading
	at      time.Time // local instant of that reading
	offset  time.Duration
	unready int // steady readings still wanted after a jump
}

// NewClock makes a clock that runs on local time until the first reading.
func NewClock(local func() time.Time) *Clock {
	now := local()
	return &Clock{local: local, base: now.UTC(), at: now}
}

// Now is the ledger's time in UTC, cut to milliseconds.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.base.Add(c.local().Sub(c.at)).UTC().Truncate(time.Millisecond)
}

// Set takes a reading of the database's clock and tells how far it jumped
// against monotonic time since the last one. first skips that comparison.
func (c *Clock) Set(reading time.Time, first bool) (jump time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	local := c.local()
	if !first {
		jump = reading.Sub(c.base.Add(local.Sub(c.at)))
	}
	c.base, c.at = reading, local
	// Round strips the monotonic part: the wall clocks are compared here.
	c.offset = local.Round(0).Sub(reading)
	switch {
	case jump.Abs() > ClockStop:
		c.unready = steadyReadings
	case c.unready > 0:
		c.unready--
	}
	return jump
}

// Offset is how far the node's wall clock is ahead of the ledger's.
func (c *Clock) Offset() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.offset
}

// Steady tells whether slots may be planned by this clock.
func (c *Clock) Steady() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unready == 0 && c.offset.Abs() <= ClockStop
}

// ceilSecond rounds up to a whole second: Asynq cuts due times to the second,
// so anything finer would come early.
func ceilSecond(t time.Time) time.Time {
	if cut := t.Truncate(time.Second); !cut.Equal(t) {
		return cut.Add(time.Second)
	}
	return t
}
