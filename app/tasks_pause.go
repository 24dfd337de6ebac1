package app

import "time"

// The lengths of a pause that people choose from; anything else is a moment of
// their own.
const (
	pauseHour     = "hour"
	pauseTomorrow = "tomorrow"
	pauseMonday   = "monday"
)

// pauseUntil is when a pause of the length chosen ends; zero for another
// choice. The day's work begins at eight, by the clocks of now's zone.
func pauseUntil(choice string, now time.Time) time.Time {
	days := 0
	switch choice {
	case pauseHour:
		return now.Add(time.Hour).Truncate(time.Second)
	case pauseTomorrow:
		days = 1
	case pauseMonday:
		days = (int(time.Monday-now.Weekday())+6)%7 + 1
	default:
		return time.Time{}
	}
	return time.Date(now.Year(), now.Month(), now.Day()+days, 8, 0, 0, 0, now.Location())
}

// pauseEnd is the end of the pause that the form asks for: of the length
// chosen, else the moment typed.
func (f *form) pauseEnd(now time.Time) time.Time {
	if at := pauseUntil(f.text("for"), now.In(f.zone)); !at.IsZero() {
		return at
	}
	return f.time("until")
}
