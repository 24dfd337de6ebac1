package sched

import (
	"context"
	"time"

	"ax/app/access"
)

// OutputTail is the number from which on stretches of an output are of its last
// part, and are replaced as it moves.
const OutputTail = 1_000_000

// OutputStretch is at most so many bytes of text.
const OutputStretch = 16 << 10

// What stands in a Stretch between text of the one source and of the other.
// Neither is ever printed: control characters are taken out.
const (
	OutMark byte = 0x0f // standard output follows; so a text begins
	ErrMark byte = 0x0e // standard error follows
)

// Stretch is a part of what an attempt printed, in whole lines where it can be.
type Stretch struct {
	// Seq orders stretches. From OutputTail on it counts the lines of the last
	// part before it.
	Seq     int
	At      time.Time
	Skipped int64  // bytes between the one before and this that were not kept
	Text    string // with OutMark and ErrMark between sources
}

// Output is what is kept of what an attempt printed, or the end of that.
type Output struct {
	Attempt   int
	Stretches []Stretch // in their order
	Earlier   bool      // there is more before the first
}

// Bytes of text that it has.
func (o Output) Bytes() int {
	n := 0
	for _, s := range o.Stretches {
		n += len(s.Text)
	}
	return n
}

// Progress is what targets said of the instance's attempts while they worked.
// Faults: NotFound.
func (s *Instances) Progress(ctx context.Context, by access.Actor, in Instance) ([]Progress, error) {
	if err := by.Check(access.Read, in.TeamID); err != nil {
		return nil, err
	}
	return s.store.Progress(ctx, in.ID)
}
