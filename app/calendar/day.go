package calendar

import (
	"time"

	"ax/app/fault"
)

// Day is a date: days since 1970-01-01 in the proleptic Gregorian calendar.
type Day int

// Date makes a day; values beyond a month's end go on into the next, as in
// time.Date.
func Date(year int, month time.Month, day int) Day {
	return Day(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / 86_400)
}

// DayOf is the date of t in its own location.
func DayOf(t time.Time) Day { return Date(t.Date()) }

// ParseDay reads a date such as 2026-10-01, between the years 1970 and 2199.
// The error is a fault (Invalid) without a field.
func ParseDay(s string) (Day, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return 0, fault.Invalid(fault.Field("", "%q is not a date; write it as 2026-10-01", s))
	}
	if t.Year() < 1970 || t.Year() > 2199 {
		return 0, fault.Invalid(fault.Field("", "%q lies outside the years 1970 to 2199", s))
	}
	return DayOf(t), nil
}

// Time is the day's midnight in UTC.
func (d Day) Time() time.Time { return time.Unix(int64(d)*86_400, 0).UTC() }

// Weekday of the day.
func (d Day) Weekday() time.Weekday { return d.Time().Weekday() }

// Year of the day.
func (d Day) Year() int { return d.Time().Year() }

// String is the date as 2026-10-01.
func (d Day) String() string { return d.Time().Format(time.DateOnly) }
