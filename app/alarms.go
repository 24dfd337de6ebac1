package app

import (
	"cmp"
	"time"
)

// Alarms are the values at which the console begins to warn (design.md
// section 5). They don't change what the engine does.
type Alarms struct {
	ClockOffset time.Duration // of a node's wall clock against the ledger's
	Lag         time.Duration // between the moment wanted and the start
	QueueDepth  int           // instances of one queue that are due and have not begun
	SuccessRate float64       // percent of what ended within the hour
}

// orDefault fills in what is zero.
func (a Alarms) orDefault() Alarms {
	return Alarms{
		ClockOffset: cmp.Or(a.ClockOffset, 30*time.Second),
		Lag:         cmp.Or(a.Lag, 5*time.Second),
		QueueDepth:  cmp.Or(a.QueueDepth, 10_000),
		SuccessRate: cmp.Or(a.SuccessRate, 95),
	}
}
