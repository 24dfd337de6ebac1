package alert

import "time"

// Point is what a metric said from a moment on, until the next point.
type Point struct {
	At    time.Time
	Value float64
	N     int  // what the value rests on, for the rule's least
	Blank bool // nothing can be said
	Cause string
}

// Track is the past of one subject, its points in order of time.
type Track struct {
	Subject Subject // of tasks: TaskSubject with the code
	TeamID  int64
	Points  []Point
}

// Series is the past of all that a rule looks at, as far as the ledger keeps
// it.
type Series struct {
	From, To time.Time
	// Known is from when on anything is known, and Exact from when on to the
	// minute: before, whole hours stand for the rule's window. Zero: never.
	Known, Exact time.Time
	Cut          bool // not all that was there was read: Known is where it began
	Lines        []Track
}
