package calendar

import (
	"slices"
	"time"

	"ax/app/fault"
)

// weekOrder is the week as calendars show it, with the names of the API.
var weekOrder = []struct {
	day  time.Weekday
	name string
}{
	{time.Monday, "mon"}, {time.Tuesday, "tue"}, {time.Wednesday, "wed"}, {time.Thursday, "thu"},
	{time.Friday, "fri"}, {time.Saturday, "sat"}, {time.Sunday, "sun"},
}

// Weekdays gives the days of a week from Monday.
func Weekdays() []time.Weekday {
	out := make([]time.Weekday, len(weekOrder))
	for i, w := range weekOrder {
		out[i] = w.day
	}
	return out
}

// Names gives the workdays from Monday: mon, tue, wed, thu, fri, sat, sun.
func (w Week) Names() []string {
	out := []string{}
	for _, d := range weekOrder {
		if w.Works(d.day) {
			out = append(out, d.name)
		}
	}
	return out
}

// WeekdayName is the name of a weekday in the API.
func WeekdayName(d time.Weekday) string {
	return weekOrder[(int(d)+6)%7].name
}

// ReadWeek makes a week of the names of its workdays. The error is a fault
// (Invalid) at "week".
func ReadWeek(names []string) (Week, error) {
	var w Week
	for _, n := range names {
		i := slices.IndexFunc(weekOrder, func(d struct {
			day  time.Weekday
			name string
		},
		) bool {
			return d.name == n
		})
		if i < 0 {
			return 0, fault.Invalid(fault.Field("week", "%q is no weekday; write mon, tue, wed, thu, fri, sat or sun", n))
		}
		w |= 1 << weekOrder[i].day
	}
	return w, nil
}
