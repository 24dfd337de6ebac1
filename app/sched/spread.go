package sched

import "time"

// Measure is something of attempts that is measured.
type Measure string

// The measures. What took long is told apart by how it ended: a failure is
// often quick, or as long as the timeout. What a dead node or a person ended
// has no time of its own.
const (
	TookWell  Measure = "ok"  // from begin to end of an attempt that succeeded
	TookBadly Measure = "bad" // of one that failed or timed out
	Lag       Measure = "lag" // from the wanted moment to the begin of the first attempt
)

// Spread are percentiles of measures, each within 1 % of the value whose rank
// it is (nearest rank).
type Spread struct {
	P50, P95, P99 time.Duration
	Of            int // measures; 0: the percentiles mean nothing
}

// QueueSample is how deep a queue was at a moment.
type QueueSample struct {
	At      time.Time
	Due     int  // instances that were due and had not begun, says the ledger
	Pending int  // messages that waited, says the carrier
	Known   bool // whether the carrier could be asked
}
