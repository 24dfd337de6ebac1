package sched

import (
	"context"
	"time"
)

// CarrierQueue is what the carrier says of one queue. The ledger's own figures
// are the truth; these tell how the carrier does.
type CarrierQueue struct {
	Name      string
	Weight    int
	Pending   int // ready to be taken
	Active    int // in a handler
	Scheduled int // due later
	Retry     int // come back later: retries and deferrals
	Archived  int // given up by the carrier; ax never does that
	Paused    bool
	Latency   time.Duration // age of the oldest pending message
	Memory    int64         // bytes, by samples
}

// CarrierFigures are all queues at one moment, and how the carrier itself does.
type CarrierFigures struct {
	At        time.Time
	Queues    []CarrierQueue // by name
	Memory    int64          // bytes that it uses; 0: not known (embedded)
	MaxMemory int64          // bytes; 0: no limit
	Policy    string         // what it does when memory is full; "": not known (embedded)
	Clients   int            // connections; 0: not known (embedded)
	RoundTrip time.Duration  // of the last question
}

// QueueTrend is how the work of a queue moves, by the ledger.
type QueueTrend struct {
	In   float64 // instances that became due a second, over five minutes
	Out  float64 // instances that ended a second, over the same
	Hour Rate    // what ended within the hour
}

// trendOver is what the rates of a queue are taken over.
const trendOver = 5 * time.Minute

// depthSteps are the width and number of the steps of a span in which depths
// are drawn: the deepest of each.
func (s Span) depthSteps() (step time.Duration, n int) {
	switch s {
	case SpanHour:
		return time.Minute, 60
	case SpanWeek:
		return 2 * time.Hour, 84
	}
	return 15 * time.Minute, 96
}

// Depths are how deep queues were, by name: the deepest of each step, the
// oldest first. A step in which nobody looked is missing.
type Depths struct {
	From, To time.Time
	Step     time.Duration
	Queues   map[string][]QueueSample
}

// QueueDepths of all queues over the span.
func (r *Reports) QueueDepths(ctx context.Context, s Span) (Depths, error) {
	step, n := s.depthSteps()
	out := Depths{To: r.clock.Now(), Step: step}
	out.From = out.To.Truncate(step).Add(-step * time.Duration(n-1))
	var err error
	out.Queues, err = r.store.QueueDepths(ctx, out.From, step)
	return out, err
}

// QueueTrends of all queues in which something ended, or of which there are
// samples. What came in is what ended and by how much more waits.
func (r *Reports) QueueTrends(ctx context.Context) (map[string]QueueTrend, error) {
	now := r.clock.Now().Truncate(time.Minute)
	hours, err := r.store.QueueRates(ctx, now.Add(-time.Hour), time.Time{})
	if err != nil {
		return nil, err
	}
	lately, err := r.store.QueueRates(ctx, now.Add(-trendOver), now)
	if err != nil {
		return nil, err
	}
	depths, err := r.store.QueueDepths(ctx, now.Add(-trendOver), time.Minute)
	if err != nil {
		return nil, err
	}
	out := map[string]QueueTrend{}
	for name, rate := range hours {
		t := out[name]
		t.Hour = rate.Rate
		out[name] = t
	}
	for name, rate := range lately {
		t := out[name]
		t.Out = float64(rate.All) / trendOver.Seconds()
		out[name] = t
	}
	for name, samples := range depths {
		t := out[name]
		more := samples[len(samples)-1].Due - samples[0].Due
		t.In = max(t.Out+float64(more)/trendOver.Seconds(), 0)
		out[name] = t
	}
	return out, nil
}

// QueueRate counts what ended in a queue; All has skipped and canceled ones too.
type QueueRate struct {
	Rate
	All int
}
