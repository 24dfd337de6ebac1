package calendar

import "time"

// Week is the set of weekdays that are workdays; bit 0 is Sunday, as in
// time.Weekday.
type Week uint8

// MondayToFriday is the week of a new calendar.
const MondayToFriday Week = 0b0111110

// Works tells whether the weekday is a workday.
func (w Week) Works(d time.Weekday) bool { return w&(1<<d) != 0 }

// Entry is a listed day: off, or worked.
type Entry struct {
	Work bool
	Name string // of the holiday, for people
}

// Calendar is a named set of workdays and days off.
type Calendar struct {
	ID     int64
	TeamID int64  // 0: of the whole installation; admins change it, everybody uses it
	Code   string // unique in the installation, never changes
	Name   string
	Week   Week
	Listed map[Day]Entry
	// Version rises with every change of the week or the days.
	Version   int
	UpdatedAt time.Time
	UpdatedBy string
}

// Workday tells whether work is done on the day: as listed, else by the week.
func (c *Calendar) Workday(d Day) bool {
	if e, ok := c.Listed[d]; ok {
		return e.Work
	}
	return c.Week.Works(d.Weekday())
}

// DayOff tells whether the day is listed as a day off; a plain weekend is not.
func (c *Calendar) DayOff(d Day) bool {
	e, ok := c.Listed[d]
	return ok && !e.Work
}

// Covers tells whether any day of the year is listed. A year that isn't covered
// goes by the week alone, which people are warned of.
func (c *Calendar) Covers(year int) bool {
	for d := range c.Listed {
		if d.Year() == year {
			return true
		}
	}
	return false
}
