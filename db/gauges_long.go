package db

import (
	"context"
	"maps"
	"time"
)

// longRate sums what stands of a window that is longer than what is kept by
// minutes: from its begin to the first minute that is kept.
type longRate struct {
	from time.Time
	made time.Time
	sums map[int64]rate
}

// before counts what ended from the first minute of a window to the first that
// is kept; nil when there are too many such windows.
func (b *rateBook) before(ctx context.Context, window time.Duration, first time.Time) (map[int64]rate, error) {
	l := b.long[window]
	if l == nil || first.Before(l.from) {
		if l == nil && len(b.long) >= longMost {
			return nil, nil
		}
		var err error
		if l, err = b.sumBefore(ctx, first); err != nil {
			return nil, err
		}
		b.long[window] = l
	}
	if l.from.Before(first) { // what stands is taken away as it was added
		err := b.ledger.eachCell(ctx, part{"stats_minute", "minute_at", l.from, first}, func(_ int64, c cell) { addCells(l.sums, []cell{c}, -1) })
		if err != nil {
			delete(b.long, window)
			return nil, err
		}
		l.from = first
	}
	return maps.Clone(l.sums), nil
}

// sumBefore reads whole hours where they stand, and minutes at the edges.
func (b *rateBook) sumBefore(ctx context.Context, first time.Time) (*longRate, error) {
	parts := []part{{"stats_minute", "minute_at", first, b.from}}
	begin, end := first.Truncate(time.Hour), b.from.Truncate(time.Hour)
	if begin.Before(first) {
		begin = begin.Add(time.Hour)
	}
	if begin.Before(end) && !end.After(b.hours) {
		parts = []part{{"stats_minute", "minute_at", first, begin}, {"stats_hour", "hour_at", begin, end}, {"stats_minute", "minute_at", end, b.from}}
	}
	l := &longRate{from: first, made: b.now, sums: map[int64]rate{}}
	for _, p := range parts {
		if err := b.ledger.eachCell(ctx, p, func(_ int64, c cell) { addCells(l.sums, []cell{c}, 1) }); err != nil {
			return nil, err
		}
	}
	return l, nil
}
