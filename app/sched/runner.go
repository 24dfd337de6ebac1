package sched

import "time"

// Answer is what becomes of a message. The zero Answer: it is done with.
// Again brings it back at DueAt; Failed counts it as a failed attempt in the
// carrier's own figures.
type Answer struct {
	Again  bool
	DueAt  time.Time
	Failed bool
}
