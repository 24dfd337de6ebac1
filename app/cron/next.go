package cron

import (
	"math"
	"time"
)

// horizon is how far Next and Prev look, in years. Two leap days can lie 8
// years apart and "the fifth Monday of February" 40.
const horizon = 100

// Next returns the first slot strictly after the given time, in UTC, for a
// schedule kept in zone loc (nil is UTC). It is false if there is none within
// 100 years: the time is then the zero time and must not be used.
func (e Expr) Next(after time.Time, loc *time.Location) (time.Time, bool) {
	if e.r == nil {
		return time.Time{}, false
	}
	limit := after.AddDate(horizon, 0, 0).Unix()
	return slot(e.r.next(after.Unix()+1, limit, orUTC(loc)))
}

// Prev returns the last slot strictly before the given time, in UTC. It is
// false if there is none within 100 years.
func (e Expr) Prev(before time.Time, loc *time.Location) (time.Time, bool) {
	if e.r == nil {
		return time.Time{}, false
	}
	from := before.Unix()
	if before.Nanosecond() == 0 {
		from--
	}
	limit := before.AddDate(-horizon, 0, 0).Unix()
	return slot(e.r.prev(from, limit, orUTC(loc)))
}

// Matches says whether t is exactly a slot. A part of a second never is.
func (e Expr) Matches(t time.Time, loc *time.Location) bool {
	if e.r == nil || t.Nanosecond() != 0 {
		return false
	}
	_, ok := e.r.next(t.Unix(), t.Unix()+1, orUTC(loc))
	return ok
}

func slot(unix int64, ok bool) (time.Time, bool) {
	if !ok {
		return time.Time{}, false
	}
	return time.Unix(unix, 0).UTC(), true
}

func orUTC(loc *time.Location) *time.Location {
	if loc == nil {
		return time.UTC
	}
	return loc
}

// segment is a stretch of time with one offset from UTC, all in seconds.
type segment struct {
	start, end int64 // [start, end) in Unix seconds; math.MinInt64/MaxInt64: open
	offset     int64
	before     int64 // offset just before start
}

func segmentAt(unix int64, loc *time.Location) segment {
	t := time.Unix(unix, 0).In(loc)
	_, offset := t.Zone()
	start, end := t.ZoneBounds()
	s := segment{math.MinInt64, math.MaxInt64, int64(offset), int64(offset)}
	if !start.IsZero() {
		_, before := start.Add(-time.Second).Zone()
		s.start, s.before = start.Unix(), int64(before)
	}
	if !end.IsZero() {
		s.end = end.Unix()
	}
	if s.end <= unix {
		// Beyond the table of a zone, Go 1.26's ZoneBounds lets every year end
		// after 365 days: on 31 December of a leap year the bound lies behind,
		// and a search that trusts it never ends. The year's end is right.
		// Remove when time.tzset counts the days of leap years.
		s.end = (floorDiv(unix, daySeconds) + 1) * daySeconds
	}
	return s
}

// fresh returns the first civil second of the segment that no earlier instant
// showed: after the clocks went back it is the time at which they did.
func (s segment) fresh() int64 {
	if s.start == math.MinInt64 {
		return math.MinInt64
	}
	return s.start + max(s.offset, s.before)
}

// gapSlot says whether the segment's first instant stands in for local times
// that its clock change left out.
func (r *rule) gapSlot(s segment) bool {
	if r.realTime || s.before >= s.offset {
		return false
	}
	_, ok := r.nextCivil(s.start+s.before, s.start+s.offset)
	return ok
}

// next returns the first slot in [from, limit), Unix seconds.
func (r *rule) next(from, limit int64, loc *time.Location) (int64, bool) {
	if r.every > 0 {
		unix := -floorDiv(-from, r.everySeconds()) * r.everySeconds()
		return unix, unix < limit
	}
	limit = min(limit, r.lastSecond())
	for from < limit {
		s := segmentAt(from, loc)
		if from == s.start && r.gapSlot(s) {
			return from, true
		}
		civil := from + s.offset
		if !r.realTime {
			civil = max(civil, s.fresh())
		}
		end := min(s.end, limit)
		if c, ok := r.nextCivil(civil, end+s.offset); ok {
			return c - s.offset, true
		}
		from = end
	}
	return 0, false
}

// prev returns the last slot in [limit, from], Unix seconds.
func (r *rule) prev(from, limit int64, loc *time.Location) (int64, bool) {
	if r.every > 0 {
		unix := floorDiv(from, r.everySeconds()) * r.everySeconds()
		return unix, unix >= limit
	}
	from = min(from, r.lastSecond())
	for from >= limit {
		s := segmentAt(from, loc)
		first := max(s.start, limit) + s.offset
		if !r.realTime {
			first = max(first, s.fresh())
		}
		if c, ok := r.prevCivil(from+s.offset, first); ok {
			return c - s.offset, true
		}
		if s.start < limit {
			return 0, false
		}
		if r.gapSlot(s) {
			return s.start, true
		}
		from = s.start - 1
	}
	return 0, false
}

func (r *rule) everySeconds() int64 { return int64(r.every / time.Second) }

// lastSecond bounds the search when the year field has an end: a day past
// its last year, because local time may lie behind UTC.
func (r *rule) lastSecond() int64 {
	if r.years == nil {
		return math.MaxInt64
	}
	return r.lastYearEnd + 2*daySeconds
}
