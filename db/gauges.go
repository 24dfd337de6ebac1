package db

import (
	"context"
	"sync"
	"time"

	"ax/app/alert"
)

// gaugesWhole is when what is kept in memory is read again as a whole, in case
// that something changed what nothing changes any more.
const gaugesWhole = 10 * time.Minute

// Gauges is Readings for who asks again and again, with the same answers: after
// the first time it reads what is new and what may still have changed. It holds
// two million counts and half a million starts at most; what doesn't fit is read
// whenever it is asked.
type Gauges struct {
	ledger *DB

	mu     sync.Mutex
	at     time.Time // of the reader
	reader *reader
	rates  rateBook
	starts startBook
}

// NewGauges makes them.
func NewGauges(d *DB) *Gauges { return newGauges(d, ratesMost, startsMost) }

func newGauges(d *DB, rates, starts int) *Gauges {
	return &Gauges{ledger: d, rates: rateBook{ledger: d, most: rates}, starts: startBook{ledger: d, most: starts}}
}

// Readings answers as DB.Readings does; what several questions of one moment
// need is read once.
func (g *Gauges) Readings(ctx context.Context, q alert.Question, now time.Time) ([]alert.Reading, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reader == nil || !now.Equal(g.at) {
		g.at, g.reader = now, newReader(g.ledger)
		g.reader.rates = func(ctx context.Context, since time.Time) (map[int64]rate, error) {
			return g.rates.since(ctx, since, now)
		}
		g.reader.starts = func(ctx context.Context, since time.Time) ([]start, error) { return g.starts.since(ctx, since, now) }
	}
	return g.reader.readings(ctx, q, now)
}
