package calendar

import (
	"cmp"
	"maps"
	"slices"
)

// DayChange is a day whose entry differs; nil is not listed.
type DayChange struct {
	Day      Day
	Was, Now *Entry
}

// Diff gives the days in which two lists differ, in order.
func Diff(was, now map[Day]Entry) []DayChange {
	var out []DayChange
	for d, e := range now {
		old, ok := was[d]
		switch {
		case !ok:
			out = append(out, DayChange{Day: d, Now: &e})
		case old != e:
			out = append(out, DayChange{Day: d, Was: &old, Now: &e})
		}
	}
	for d, e := range was {
		if _, ok := now[d]; !ok {
			out = append(out, DayChange{Day: d, Was: &e})
		}
	}
	slices.SortFunc(out, func(a, b DayChange) int { return cmp.Compare(a.Day, b.Day) })
	return out
}

// SpanChange is a stretch of consecutive days with the same change.
type SpanChange struct {
	From, To Day
	Was, Now *Entry
}

// Days of the stretch.
func (s SpanChange) Days() int { return int(s.To-s.From) + 1 }

// String is the stretch as 2026-10-01 or 2026-10-01..2026-10-07.
func (s SpanChange) String() string {
	if s.From == s.To {
		return s.From.String()
	}
	return s.From.String() + ".." + s.To.String()
}

// Spans joins consecutive days that change alike.
func Spans(days []DayChange) []SpanChange {
	var out []SpanChange
	for _, d := range days {
		if n := len(out) - 1; n >= 0 && out[n].To+1 == d.Day && same(out[n].Was, d.Was) && same(out[n].Now, d.Now) {
			out[n].To = d.Day
			continue
		}
		out = append(out, SpanChange{From: d.Day, To: d.Day, Was: d.Was, Now: d.Now})
	}
	return out
}

func same(a, b *Entry) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// Sorted gives the listed days in order.
func Sorted(days map[Day]Entry) []Day { return slices.Sorted(maps.Keys(days)) }
