package calendar

import "time"

// noticeTime is how long before a year begins its lack of data is told.
const noticeTime = 60 * 24 * time.Hour

// NoData tells of which year the calendar lacks data that will soon be asked
// for: this one, or the next when it begins within 60 days. Such a year goes
// by the week alone. The year is that of now in its own location; 0 means that
// nothing is lacking. Every page, warning and answer goes by this one rule.
func (c *Calendar) NoData(now time.Time) int {
	if !c.Covers(now.Year()) {
		return now.Year()
	}
	if next := now.Add(noticeTime).Year(); next != now.Year() && !c.Covers(next) {
		return next
	}
	return 0
}

// Years gives the first and last year that has data; zeros when none has.
func (c *Calendar) Years() (first, last int) {
	for d := range c.Listed {
		y := d.Year()
		if first == 0 || y < first {
			first = y
		}
		last = max(last, y)
	}
	return first, last
}

// DaysLeft is how many days there are, today counted, until the first day of a
// year that lacks data: 0 when this year does. The year is that of now in its
// own location.
func (c *Calendar) DaysLeft(now time.Time) int {
	years := map[int]bool{}
	for d := range c.Listed {
		years[d.Year()] = true
	}
	year := now.Year()
	for years[year] {
		year++
	}
	if year == now.Year() {
		return 0
	}
	return int(Date(year, time.January, 1) - DayOf(now))
}
