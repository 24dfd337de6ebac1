package cron

import (
	"math/bits"
	"time"
)

// A civil second is a second of a calendar without zone: the Unix second that
// the same wall clock would have in UTC.

const daySeconds = 24 * 60 * 60

// daysIn returns the length of a month.
func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// monthDays returns the matching days of a month (bits 1–31), whatever the
// month and year fields say.
func (r *rule) monthDays(year, month int) uint32 {
	first := weekday(daysBefore(year, month))
	return r.table[first][daysIn(year, month)-28]
}

// daysBefore returns the days from 1970-01-01 to the first of a month.
func daysBefore(year, month int) int64 {
	return time.Date(year, time.Month(month), 1, 0, 0, 0, 0, time.UTC).Unix() / daySeconds
}

// weekday of a day counted from 1970-01-01, a Thursday; 0 = Sunday.
func weekday(day int64) int { return int(((day+4)%7 + 7) % 7) }

// nextCivil returns the first matching civil second in [from, limit).
func (r *rule) nextCivil(from, limit int64) (int64, bool) {
	day := floorDiv(from, daySeconds)
	if r.matchesDay(day) {
		if clock, ok := r.clockFrom(int(from - day*daySeconds)); ok {
			c := day*daySeconds + int64(clock)
			return c, c < limit
		}
	}
	day, ok := r.nextDay(day+1, floorDiv(limit-1, daySeconds))
	if !ok {
		return 0, false
	}
	clock, _ := r.clockFrom(0)
	c := day*daySeconds + int64(clock)
	return c, c < limit
}

// prevCivil returns the last matching civil second in [limit, from].
func (r *rule) prevCivil(from, limit int64) (int64, bool) {
	if from < limit {
		return 0, false
	}
	day := floorDiv(from, daySeconds)
	if r.matchesDay(day) {
		if clock, ok := r.clockUntil(int(from - day*daySeconds)); ok {
			c := day*daySeconds + int64(clock)
			return c, c >= limit
		}
	}
	day, ok := r.prevDay(day-1, floorDiv(limit, daySeconds))
	if !ok {
		return 0, false
	}
	clock, _ := r.clockUntil(daySeconds - 1)
	c := day*daySeconds + int64(clock)
	return c, c >= limit
}

func floorDiv(a, b int64) int64 {
	if a < 0 {
		return (a - b + 1) / b
	}
	return a / b
}

func (r *rule) matchesDay(day int64) bool {
	year, month, d := dateOf(day)
	return r.month>>month&1 == 1 && r.years.has(year) && r.monthDays(year, month)>>d&1 == 1
}

func dateOf(day int64) (year, month, d int) {
	y, m, d := time.Unix(day*daySeconds, 0).UTC().Date()
	return y, int(m), d
}

// nextDay returns the first matching day in [day, last].
func (r *rule) nextDay(day, last int64) (int64, bool) {
	if day > last {
		return 0, false
	}
	year, month, d := dateOf(day)
	start := day - int64(d) + 1 // the first of the month
	for start <= last {
		if r.month>>month&1 == 1 && r.years.has(year) {
			days := r.table[weekday(start)][daysIn(year, month)-28] >> d << d
			if days != 0 {
				found := start + int64(bits.TrailingZeros32(days)) - 1
				return found, found <= last
			}
		}
		start, d = start+int64(daysIn(year, month)), 1
		if month++; month > 12 {
			year, month = year+1, 1
		}
	}
	return 0, false
}

// prevDay returns the last matching day in [first, day].
func (r *rule) prevDay(day, first int64) (int64, bool) {
	if day < first {
		return 0, false
	}
	year, month, d := dateOf(day)
	start := day - int64(d) + 1
	for {
		if r.month>>month&1 == 1 && r.years.has(year) {
			days := r.table[weekday(start)][daysIn(year, month)-28] & (1<<(d+1) - 1)
			if days != 0 {
				found := start + int64(bits.Len32(days)) - 2
				return found, found >= first
			}
		}
		if start <= first {
			return 0, false
		}
		if month--; month < 1 {
			year, month = year-1, 12
		}
		d = daysIn(year, month)
		start -= int64(d)
	}
}

// clockFrom returns the first matching second of the day at or after clock.
func (r *rule) clockFrom(clock int) (int, bool) {
	h, m, s := clock/3600, clock/60%60, clock%60
	if r.hour>>h&1 == 1 {
		if r.min>>m&1 == 1 {
			if next := lowest(r.sec, s); next >= 0 {
				return h*3600 + m*60 + next, true
			}
		}
		if next := lowest(r.min, m+1); next >= 0 {
			return h*3600 + next*60 + lowest(r.sec, 0), true
		}
	}
	if next := lowest(r.hour, h+1); next >= 0 {
		return next*3600 + lowest(r.min, 0)*60 + lowest(r.sec, 0), true
	}
	return 0, false
}

// clockUntil returns the last matching second of the day at or before clock.
func (r *rule) clockUntil(clock int) (int, bool) {
	h, m, s := clock/3600, clock/60%60, clock%60
	if r.hour>>h&1 == 1 {
		if r.min>>m&1 == 1 {
			if prev := highest(r.sec, s); prev >= 0 {
				return h*3600 + m*60 + prev, true
			}
		}
		if prev := highest(r.min, m-1); prev >= 0 {
			return h*3600 + prev*60 + highest(r.sec, 59), true
		}
	}
	if prev := highest(r.hour, h-1); prev >= 0 {
		return prev*3600 + highest(r.min, 59)*60 + highest(r.sec, 59), true
	}
	return 0, false
}

// lowest returns the lowest member of set that is at least n, or -1.
func lowest(set uint64, n int) int {
	if set = set >> n << n; set == 0 {
		return -1
	}
	return bits.TrailingZeros64(set)
}

// highest returns the highest member of set that is at most n, or -1.
func highest(set uint64, n int) int {
	if n < 0 {
		return -1
	}
	return bits.Len64(set&(1<<(n+1)-1)) - 1
}
