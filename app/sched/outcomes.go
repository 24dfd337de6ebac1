package sched

import (
	"context"
	"time"

	"ax/app/access"
)

// Span is how far back outcomes are shown.
type Span string

// The spans, each with the steps that its outcomes are counted in.
const (
	SpanHour Span = "1h"  // minutes
	SpanDay  Span = "24h" // hours
	SpanWeek Span = "7d"  // six hours
)

// Spans are all, the shortest first.
func Spans() []Span { return []Span{SpanHour, SpanDay, SpanWeek} }

// Steps are the width and the number of a span's steps; the last holds now.
func (s Span) Steps() (step time.Duration, n int) {
	switch s {
	case SpanHour:
		return time.Minute, 60
	case SpanWeek:
		return 6 * time.Hour, 28
	}
	return time.Hour, 24
}

// begin is where the first step of a span begins. The week's steps end with the
// running hour, so that all hours before are whole.
func (s Span) begin(now time.Time) time.Time {
	step, n := s.Steps()
	last := min(step, time.Hour)
	return now.Truncate(last).Add(last - step*time.Duration(n))
}

// Outcomes of what ended in the span, in its steps.
func (r *Reports) Outcomes(ctx context.Context, scope access.Scope, s Span) ([]Bucket, error) {
	step, n := s.Steps()
	return r.store.Outcomes(ctx, scope, s.begin(r.clock.Now()), step, n)
}
