package db

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/DataDog/sketches-go/ddsketch"
	"github.com/DataDog/sketches-go/ddsketch/mapping"
	"github.com/DataDog/sketches-go/ddsketch/store"

	"ax/app/access"
	"ax/app/sched"
)

// sketchError is the relative error of a percentile that a sketch tells. What
// is stored rests on it: a sketch of another error can't be merged.
const sketchError = 0.01

// sketch tells percentiles of milliseconds.
type sketch struct{ dd *ddsketch.DDSketch }

func newSketch() (sketch, error) {
	m, err := mapping.NewLogarithmicMapping(sketchError)
	if err != nil {
		return sketch{}, fmt.Errorf("make a sketch: %w", err)
	}
	return sketch{ddsketch.NewDDSketchFromStoreProvider(m, store.DefaultProvider)}, nil
}

// add takes a time that clocks of two nodes may have turned negative for 0.
func (s sketch) add(ms int64) error { return s.dd.Add(float64(max(ms, 0))) }

// merge adds what another sketch was encoded to.
func (s sketch) merge(encoded []byte) error {
	if err := s.dd.DecodeAndMergeWith(encoded); err != nil {
		return fmt.Errorf("read a sketch: %w", err)
	}
	return nil
}

// encoded leaves the mapping out, for all have the same.
func (s sketch) encoded() []byte {
	var b []byte
	s.dd.Encode(&b, true)
	return b
}

func (s sketch) count() int { return int(s.dd.GetCount()) }

// percentile of the nearest rank, as sched.Percentile has it. The library goes
// by the rank below: half a rank more keeps rounding from the one before.
func (s sketch) percentile(p int) (time.Duration, error) {
	n := s.count()
	rank := max((n*p+99)/100, 1)
	q := 1.0
	if rank < n {
		q = (float64(rank) - 0.5) / float64(n-1)
	}
	ms, err := s.dd.GetValueAtQuantile(q)
	return time.Duration(math.Round(ms * float64(time.Millisecond))), err
}

func (s sketch) spread() (out sched.Spread, err error) {
	if out.Of = s.count(); out.Of == 0 {
		return out, nil
	}
	for p, to := range map[int]*time.Duration{50: &out.P50, 95: &out.P95, 99: &out.P99} {
		if *to, err = s.percentile(p); err != nil {
			return out, fmt.Errorf("read percentile %d: %w", p, err)
		}
	}
	return out, nil
}

// Spread tells percentiles of what was measured of attempts that ended since a
// moment, up to some four minutes ago, of one task or (0) of all in the scope.
// It reads a row per minute and measure, of the task or of the scope's teams;
// of a window over a day a row per task and hour.
func (d *DB) Spread(ctx context.Context, scope access.Scope, taskID int64, since time.Time, of ...sched.Measure) (sched.Spread, error) {
	m, err := d.moving(ctx, scope)
	if err != nil {
		return sched.Spread{}, err
	}
	done, err := momentOf(d.view(ctx), "", sketchHoursName)
	if err != nil {
		return sched.Spread{}, err
	}
	all, err := newSketch()
	if err != nil {
		return sched.Spread{}, err
	}
	parts, err := d.spreadParts(ctx, m, taskID, partsOf("sketch", done, since))
	if err != nil {
		return sched.Spread{}, err
	}
	for _, p := range parts {
		w := p.where(m, scope, taskID)
		if p.table == "sketch_team" {
			w = p.total(scope)
		}
		w.and("kind IN ?", of)
		if err := d.mergeInto(ctx, all, "SELECT sketch FROM "+p.table+w.sql(), w.args...); err != nil {
			return sched.Spread{}, reading(p.table, err)
		}
	}
	return all.spread()
}

func reading(table string, err error) error { return fmt.Errorf("read %s: %w", table, away(err)) }

// mergeInto holds one row at a time: there may be many.
func (d *DB) mergeInto(ctx context.Context, all sketch, query string, args ...any) error {
	rows, err := d.view(ctx).Raw(query, args...).Rows()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var one []byte
		if err := rows.Scan(&one); err != nil {
			return err
		}
		if err := all.merge(one); err != nil {
			return err
		}
	}
	return rows.Err()
}
