package cron

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// anyExpr draws a valid expression of any kind.
func anyExpr(t *rapid.T) Expr {
	w := writer{rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))}
	for {
		expr := w.clock() + " "
		switch w.IntN(4) {
		case 0:
			expr += w.date(false, 5)
		case 1:
			expr = "0 " + expr + w.date(true, 5)
		case 2:
			expr = w.field(0, 59, nil, 2) + " " + expr + w.date(true, 5) + " " + w.field(1970, 2099, nil, 7)
		case 3:
			expr = "@every " + (time.Duration(w.between(1, 100_000)) * time.Second).String()
		}
		if e, err := Parse(expr); err == nil {
			return e
		}
	}
}

func anyTime(t *rapid.T) time.Time {
	seconds := rapid.Int64Range(-2_000_000_000, 6_000_000_000).Draw(t, "seconds")
	return time.Unix(seconds, rapid.SampledFrom([]int64{0, 1, 999_999_999}).Draw(t, "ns"))
}

func anyZone(t *rapid.T) *time.Location {
	loc, err := LoadZone(rapid.SampledFrom(Zones()).Draw(t, "zone"))
	require.NoError(t, err)
	return loc
}

func TestNextIsAheadAndPrevTakesItBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e, from, loc := anyExpr(t), anyTime(t), anyZone(t)
		t.Log(e, from.UTC(), loc)
		first, ok := e.Next(from, loc)
		if !ok {
			return
		}
		require.True(t, first.After(from))
		require.Equal(t, time.UTC, first.Location())
		require.True(t, e.Matches(first, loc))
		require.False(t, e.Matches(first.Add(time.Millisecond), loc))
		if second, ok := e.Next(first, loc); ok {
			require.True(t, second.After(first))
			back, ok := e.Prev(second, loc)
			require.True(t, ok)
			require.Equal(t, first, back, "Prev undoes Next")
			between := first.Add(second.Sub(first) / 2).Truncate(time.Second)
			require.Equal(t, between.Equal(first), e.Matches(between, loc), "no slot lies between two slots")
		}
		if back, ok := e.Prev(first, loc); ok {
			require.False(t, back.After(from), "Next skipped a slot")
			again, _ := e.Next(back, loc)
			require.Equal(t, first, again, "Next undoes Prev")
		}
		if same, ok := e.Prev(first.Add(1), loc); ok {
			require.Equal(t, first, same, "a slot lies before the nanosecond after it")
		}
	})
}

func TestAnExpressionReadsBackFromItsText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := anyExpr(t)
		again, err := Parse(e.String())
		require.NoError(t, err)
		require.Equal(t, e, again)
		require.NotEmpty(t, e.Words("en"))
		require.NotEmpty(t, e.Words("zh-CN"))
		require.NotContains(t, e.Words("en"), "  ")
		require.NotContains(t, e.Words("zh-CN"), "  ")
	})
}

// changes lists the clock changes of a zone in [from, to) that move the clock.
func changes(loc *time.Location, from, to int64) []segment {
	var out []segment
	for s := segmentAt(from, loc); s.end < to && s.end != math.MaxInt64; {
		bound := s.end
		if s = segmentAt(bound, loc); s.offset != s.before && s.start == bound {
			out = append(out, s)
		}
	}
	return out
}

// The search looks back over one change only. That is right as long as no
// segment is shorter than the changes at its ends.
func TestNoTwoClockChangesOverlapInAnyZone(t *testing.T) {
	t.Parallel()
	from, to := at(t, "1970-01-01T00:00:00Z").Unix(), at(t, "2100-01-01T00:00:00Z").Unix()
	size := func(s segment) int64 { return max(s.offset-s.before, s.before-s.offset) }
	for _, name := range Zones() {
		loc := zone(t, name)
		all := changes(loc, from, to)
		for i := 1; i < len(all); i++ {
			apart := all[i].start - all[i-1].start
			require.Greater(t, apart, size(all[i])+size(all[i-1]), "%s: %s", name, stamp(all[i].start))
		}
		for _, s := range all {
			// Nor may a change of name alone cut a fold in two.
			require.GreaterOrEqual(t, s.end-s.start, size(s), "%s: %s", name, stamp(s.start))
		}
	}
}

func TestDST03TheSequenceIncreasesOverTenYearsInEveryZone(t *testing.T) {
	t.Parallel()
	start, end := at(t, "2016-01-01T00:00:00Z"), at(t, "2026-01-01T00:00:00Z")
	daily, quarters := parsed(t, "30 2 * * *"), parsed(t, "0,15,30,45 6-22 * * *")
	for _, name := range Zones() {
		loc := zone(t, name)
		require.InDelta(t, 3654, increases(t, daily, loc, start, end), 1, name)
		for _, s := range changes(loc, start.Unix(), end.Unix()) {
			day := time.Unix(s.start, 0)
			increases(t, quarters, loc, day.Add(-24*time.Hour), day.Add(24*time.Hour))
		}
	}
}

// increases counts the slots and fails when one isn't after the last.
func increases(t *testing.T, e Expr, loc *time.Location, from, to time.Time) (n int) {
	t.Helper()
	for from.Before(to) {
		next, ok := e.Next(from, loc)
		if !ok || !next.After(from) {
			t.Fatalf("%s in %s: after %s comes %s", e, loc, from, next)
		}
		from = next
		n++
	}
	return n
}

func TestEveryKeepsToTheGridOf1970(t *testing.T) {
	e := parsed(t, "@every 90s")
	d, ok := e.Every()
	require.True(t, ok)
	require.Equal(t, 90*time.Second, d)
	require.Equal(t, []string{"2026-01-01T00:01:30Z", "2026-01-01T00:03:00Z"}, slots(e, at(t, "2026-01-01T00:00:00.5Z"), nil, 2))
	prev, ok := e.Prev(at(t, "2026-01-01T00:01:30Z"), nil)
	require.True(t, ok)
	require.Equal(t, at(t, "2026-01-01T00:00:00Z"), prev)
	before, ok := e.Prev(time.Unix(-1, 0), nil)
	require.True(t, ok)
	require.Equal(t, time.Unix(-90, 0).UTC(), before)
	_, ok = parsed(t, "@daily").Every()
	require.False(t, ok)
}

func TestTheSearchEnds(t *testing.T) {
	past := parsed(t, "0 0 0 1 1 ? 1999")
	_, ok := past.Next(at(t, "2026-01-01T00:00:00Z"), nil)
	require.False(t, ok)
	last, ok := past.Prev(at(t, "2026-01-01T00:00:00Z"), nil)
	require.True(t, ok)
	require.Equal(t, at(t, "1999-01-01T00:00:00Z"), last)
	_, ok = past.Prev(at(t, "1999-01-01T00:00:00Z"), nil)
	require.False(t, ok)

	far := parsed(t, "0 0 0 1 1 ? 2099")
	_, ok = far.Next(at(t, "1998-01-01T00:00:00Z"), nil)
	require.False(t, ok, "more than 100 years away")
	// The last second of the last year lies in the next year in UTC.
	edge := parsed(t, "59 59 23 31 12 ? 2026")
	require.Equal(t, []string{"2027-01-01T07:59:59Z"}, slots(edge, at(t, "2026-06-01T00:00:00Z"), zone(t, "America/Los_Angeles"), 2))
}

func TestTheZeroExpressionNeverFires(t *testing.T) {
	var e Expr
	_, next := e.Next(time.Unix(0, 0), time.UTC)
	_, prev := e.Prev(time.Unix(0, 0), time.UTC)
	_, every := e.Every()
	require.False(t, next || prev || every || e.Matches(time.Unix(0, 0), time.UTC) || e.Quartz())
	require.Empty(t, e.String()+e.Words("en"))
	require.Empty(t, e.Warnings(time.Unix(0, 0), time.UTC))
}
