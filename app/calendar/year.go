package calendar

import "time"

// DayKind says what a day of a year is.
type DayKind string

// The kinds of day.
const (
	Workday DayKind = "work" // by the week, or listed
	Weekend DayKind = "we"   // no workday of the week, and not listed
	DayOff  DayKind = "off"  // listed as off
	Worked  DayKind = "make" // listed as worked, though the week says not
)

// Kind says what a day is.
func (c *Calendar) Kind(d Day) DayKind {
	e, listed := c.Listed[d]
	weekday := c.Week.Works(d.Weekday())
	switch {
	case listed && !e.Work:
		return DayOff
	case listed && !weekday:
		return Worked
	case !listed && !weekday:
		return Weekend
	}
	return Workday
}

// Cell is a day in a month; Kind "" is a place before or after the month.
type Cell struct {
	Day  Day
	Kind DayKind
	Name string
}

// Month is a month as a grid of weeks from Monday.
type Month struct {
	Month time.Month
	Weeks [][7]Cell
}

// Months gives the twelve months of a year.
func (c *Calendar) Months(year int) []Month {
	out := make([]Month, 0, 12)
	for m := time.January; m <= time.December; m++ {
		month := Month{Month: m}
		var week [7]Cell
		column := 0
		for d := Date(year, m, 1); d < Date(year, m+1, 1); d++ {
			column = (int(d.Weekday()) + 6) % 7
			week[column] = Cell{Day: d, Kind: c.Kind(d), Name: c.Listed[d].Name}
			if column == 6 {
				month.Weeks, week = append(month.Weeks, week), [7]Cell{}
			}
		}
		if column != 6 {
			month.Weeks = append(month.Weeks, week)
		}
		out = append(out, month)
	}
	return out
}

// Count is what a year has of each.
type Count struct {
	Workdays int
	Off      int // all others, weekends too
	Worked   int // workdays at weekends
}

// Count counts the days of a year.
func (c *Calendar) Count(year int) Count {
	var n Count
	for d := Date(year, time.January, 1); d < Date(year+1, time.January, 1); d++ {
		switch c.Kind(d) {
		case Worked:
			n.Worked++
			n.Workdays++
		case Workday:
			n.Workdays++
		default:
			n.Off++
		}
	}
	return n
}

// Stretch is a run of consecutive listed days of one kind and name.
type Stretch struct {
	From, To Day
	Entry
}

// Days of the stretch.
func (s Stretch) Days() int { return int(s.To-s.From) + 1 }

// Stretches gives the listed days of a year that are off, by name, and those
// that are worked, in order.
func (c *Calendar) Stretches(year int) (off, worked []Stretch) {
	for _, s := range Spans(Diff(nil, c.Of(year))) {
		stretch := Stretch{From: s.From, To: s.To, Entry: *s.Now}
		if s.Now.Work {
			worked = append(worked, stretch)
		} else {
			off = append(off, stretch)
		}
	}
	return off, worked
}

// Of gives the listed days of a year.
func (c *Calendar) Of(year int) map[Day]Entry {
	out := map[Day]Entry{}
	for d, e := range c.Listed {
		if d.Year() == year {
			out[d] = e
		}
	}
	return out
}

// NextOff is the first day from d on that is no workday, within a year.
func (c *Calendar) NextOff(d Day) (Day, bool) {
	for end := d + 366; d < end; d++ {
		if !c.Workday(d) {
			return d, true
		}
	}
	return 0, false
}
