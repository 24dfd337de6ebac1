package cron

import "time"

// Instant is the moment at which the zone's clocks show the given second of a
// day. A time that doesn't exist there is the end of its gap, one that occurs
// twice its first pass (the rule for jobs at a fixed time, doc.go). day counts
// from 1970-01-01, second is 0 to 86,399.
func Instant(day int64, second int, loc *time.Location) time.Time {
	civil := day*daySeconds + int64(second)
	loc = orUTC(loc)
	// No zone is two days away from UTC, so this segment begins before.
	s := segmentAt(civil-2*daySeconds, loc)
	for civil-s.offset >= s.end {
		s = segmentAt(s.end, loc)
	}
	return time.Unix(max(civil-s.offset, s.start), 0).UTC()
}
