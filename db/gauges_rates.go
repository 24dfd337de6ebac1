package db

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

const (
	// ratesKept is how far back minutes are kept by themselves at most; of longer
	// windows the part before is kept as a sum.
	ratesKept = 2 * time.Hour
	// ratesMost is how many counts of a task and minute are kept: 16 bytes each.
	ratesMost = 2_000_000
	// longWhole is how long the sum of a longer window is kept before it is made
	// anew.
	longWhole = time.Hour
	// longMost is how many windows have sums.
	longMost = 16
)

// cell is what of a task ended in a minute.
type cell struct {
	task      int64
	good, bad uint32
}

// minute is what ended in one, with what tells whether it was counted anew:
// what has ended stays as it is, so a minute that changes counts more or less.
type minute struct {
	rows, n int64
	cells   []cell
}

// rateBook keeps the counts of minutes. Those since the first hour that is not
// rolled up may still be counted anew; what is older stands. (But for a clock
// that was set back by more than hourLate: then hours lack what ended in them
// again, on pages as here.)
type rateBook struct {
	ledger *DB
	most   int       // cells
	now    time.Time // of the latest look
	whole  time.Time // when all minutes were looked at
	hours  time.Time // where the roll-up of hours stood
	rolled time.Time // and that of minutes
	from   time.Time // since when all minutes are kept
	asked  time.Duration
	much   time.Time        // when it was too much
	kept   map[int64]minute // by their begin in ms
	cells  int
	long   map[time.Duration]*longRate
}

// emptied is the book as it begins, for the same windows.
func (b *rateBook) emptied() rateBook {
	return rateBook{ledger: b.ledger, most: b.most, asked: b.asked}
}

// since counts what ended since a moment by task, as ratesOf does.
func (b *rateBook) since(ctx context.Context, since, now time.Time) (map[int64]rate, error) {
	window, first := now.Sub(since), since.Truncate(time.Minute)
	if window <= ratesKept {
		b.asked = max(b.asked, window)
	}
	if !b.much.IsZero() && !now.Before(b.much) && now.Sub(b.much) < gaugesWhole {
		return b.ledger.ratesOf(ctx, since)
	}
	if b.kept == nil || !b.now.Equal(now) || window <= ratesKept && first.Before(b.from) {
		if err := b.look(ctx, now); err != nil { // what was read is kept: the next look goes on
			return nil, err
		}
	}
	if !b.much.IsZero() || len(partsOf("stats", b.hours, since)) > 1 { // the latter: a clock was set back
		return b.ledger.ratesOf(ctx, since)
	}
	if !first.Before(b.from) {
		return b.sum(map[int64]rate{}, first), nil
	}
	before, err := b.before(ctx, window, first)
	if err != nil {
		return nil, err
	}
	if before == nil {
		return b.ledger.ratesOf(ctx, since)
	}
	return b.sum(before, b.from), nil
}

// sum adds the minutes since the first one.
func (b *rateBook) sum(to map[int64]rate, first time.Time) map[int64]rate {
	for m, x := range b.kept {
		if m >= first.UnixMilli() {
			addCells(to, x.cells, 1)
		}
	}
	return to
}

func addCells(to map[int64]rate, cells []cell, times int) {
	for _, c := range cells {
		r := to[c.task]
		to[c.task] = rate{r.good + times*int(c.good), r.bad + times*int(c.bad)}
	}
}

// look reads what is new, and what was counted anew since the last look.
func (b *rateBook) look(ctx context.Context, now time.Time) error {
	hours, err := momentOf(b.ledger.view(ctx), "", hoursName)
	if err != nil {
		return err
	}
	rolled, err := momentOf(b.ledger.view(ctx), "", rollName)
	if err != nil {
		return err
	}
	from := now.Add(-b.asked).Truncate(time.Minute)
	if stands := hours; !hours.IsZero() {
		if last := rolled.Add(-rollBack).Truncate(time.Minute); last.Before(stands) { // the clock was set back
			stands = last
		}
		if stands.Before(from) {
			from = stands
		}
	}
	if b.kept == nil || now.Before(b.now) || hours.Before(b.hours) || rolled.Before(b.rolled) || b.hours.IsZero() != hours.IsZero() || from.Before(b.from) {
		*b = b.emptied()
		b.from, b.whole, b.kept, b.long = from, now, map[int64]minute{}, map[time.Duration]*longRate{}
	}
	again := b.from
	if now.Sub(b.whole) >= gaugesWhole {
		b.whole = now
		maps.DeleteFunc(b.long, func(_ time.Duration, l *longRate) bool { return now.Sub(l.made) >= longWhole })
	} else if !b.rolled.IsZero() {
		again = later(b.from, b.rolled.Add(-rollBack).Truncate(time.Minute))
		if b.hours.Before(hours) && b.hours.Before(again) { // those were counted a last time
			again = later(b.from, b.hours)
		}
	}
	if err := b.reread(ctx, again); err != nil {
		return err
	}
	if b.cells > b.most {
		*b = rateBook{ledger: b.ledger, most: b.most, much: now}
		return nil
	}
	b.now, b.hours, b.rolled = now, hours, rolled
	b.forget(from)
	return nil
}

// reread brings the minutes since the first one up to date.
func (b *rateBook) reread(ctx context.Context, first time.Time) error {
	rows, err := b.ledger.view(ctx).Raw("SELECT minute_at, COUNT(*), SUM(n) FROM "+b.ledger.dialect.byIndex("stats_minute", "stats_minute_counts")+
		" WHERE minute_at>=? GROUP BY minute_at", at(first)).Rows()
	if err != nil {
		return fmt.Errorf("look which minutes were counted: %w", err)
	}
	defer rows.Close()
	var changed []int64
	is := map[int64]minute{}
	for rows.Next() {
		var m int64
		var x minute
		if err := rows.Scan(&m, &x.rows, &x.n); err != nil {
			return err
		}
		is[m] = x
		if had, ok := b.kept[m]; !ok || had.rows != x.rows || had.n != x.n {
			changed = append(changed, m)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for m := range b.kept {
		if _, still := is[m]; !still && m >= first.UnixMilli() {
			b.drop(m)
		}
	}
	for _, m := range changed {
		b.drop(m)
	}
	slices.Sort(changed)
	return b.read(ctx, changed, is)
}

func (b *rateBook) drop(m int64) {
	b.cells -= len(b.kept[m].cells)
	delete(b.kept, m)
}

// read reads minutes, those that follow each other at once.
func (b *rateBook) read(ctx context.Context, minutes []int64, is map[int64]minute) error {
	for len(minutes) > 0 && b.cells <= b.most {
		n := 1
		for n < len(minutes) && minutes[n] == minutes[n-1]+time.Minute.Milliseconds() && n < 10 {
			n++
		}
		begin, end := time.UnixMilli(minutes[0]), time.UnixMilli(minutes[n-1]).Add(time.Minute)
		cells := map[int64][]cell{}
		err := b.ledger.eachCell(ctx, part{"stats_minute", "minute_at", begin, end}, func(m int64, c cell) { cells[m] = append(cells[m], c) })
		if err != nil {
			return err
		}
		for _, m := range minutes[:n] {
			x := is[m]
			x.cells = cells[m]
			b.kept[m] = x
			b.cells += len(x.cells)
		}
		minutes = minutes[n:]
	}
	return nil
}

// forget drops the minutes before the first one, which stand by now, into the
// sums of longer windows.
func (b *rateBook) forget(first time.Time) {
	for m, x := range b.kept {
		if m >= first.UnixMilli() {
			continue
		}
		for _, l := range b.long {
			addCells(l.sums, x.cells, 1)
		}
		b.drop(m)
	}
	if first.After(b.from) {
		b.from = first
	}
}

// eachCell gives what of each task ended in each minute, or hour, of a part.
func (d *DB) eachCell(ctx context.Context, p part, do func(at int64, c cell)) error {
	key := map[string]string{"stats_minute": "stats_minute_counts", "stats_hour": "stats_hour_hour"}[p.table]
	rows, err := d.view(ctx).Raw("SELECT "+p.at+", task_id, SUM(CASE WHEN state IN ('succeeded','retried') THEN n ELSE 0 END), SUM(CASE WHEN state IN ('failed','timed_out','lost') THEN n ELSE 0 END)"+
		" FROM "+d.dialect.byIndex(p.table, key)+" WHERE "+p.at+">=? AND "+p.at+"<? GROUP BY "+p.at+", task_id", at(p.from), at(p.to)).Rows()
	if err != nil {
		return fmt.Errorf("read %s: %w", p.table, err)
	}
	defer rows.Close()
	for rows.Next() {
		var moment int64
		var c cell
		if err := rows.Scan(&moment, &c.task, &c.good, &c.bad); err != nil {
			return fmt.Errorf("read %s: %w", p.table, err)
		}
		do(moment, c)
	}
	return rows.Err()
}
