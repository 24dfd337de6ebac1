package db

import (
	"context"
	"slices"
	"time"
)

const (
	// startsOverlap is how far behind the latest look an end may come to light:
	// it names its moment when it begins to be committed.
	startsOverlap = time.Minute
	// startsMost is how many starts are kept: 32 bytes each.
	startsMost = 500_000
)

// startBook keeps the starts of what ended lately.
type startBook struct {
	ledger *DB
	most   int
	from   time.Time // since when all are kept
	upTo   time.Time // the latest look
	whole  time.Time
	long   time.Duration // the longest window that was asked since the look before whole
	next   time.Duration // and since whole
	kept   []start
}

// since gives the starts of what ended since a moment, and maybe more.
func (b *startBook) since(ctx context.Context, since, now time.Time) ([]start, error) {
	b.next = max(b.next, now.Sub(since))
	if b.whole.IsZero() || now.Before(b.upTo) || now.Sub(b.whole) >= gaugesWhole || since.Before(b.from) {
		return b.readWhole(ctx, now)
	}
	if b.upTo.Equal(now) {
		return b.kept, nil
	}
	again := at(b.upTo.Add(-startsOverlap))
	fresh, err := b.ledger.startsOf(ctx, again.Time)
	if err != nil {
		return nil, err
	}
	b.from = now.Add(-max(b.long, b.next))
	old := at(b.from).UnixMilli()
	b.kept = slices.DeleteFunc(b.kept, func(s start) bool { return s.ended >= again.UnixMilli() || s.ended < old })
	b.kept, b.upTo = append(b.kept, fresh...), now
	return b.bounded(b.kept), nil
}

func (b *startBook) readWhole(ctx context.Context, now time.Time) ([]start, error) {
	from := now.Add(-max(b.long, b.next))
	all, err := b.ledger.startsOf(ctx, from)
	if err != nil {
		return nil, err
	}
	*b = startBook{ledger: b.ledger, most: b.most, from: from, upTo: now, whole: now, long: b.next, kept: all}
	return b.bounded(all), nil
}

// bounded forgets what is too much, which is in the answer all the same.
func (b *startBook) bounded(all []start) []start {
	if len(all) > b.most {
		*b = startBook{ledger: b.ledger, most: b.most}
	}
	return all
}
