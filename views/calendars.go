package views

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"ax/app/calendar"
	"ax/app/sched"
	"ax/views/ui"
)

// CalendarsPage lists the calendars that the viewer may see.
type CalendarsPage struct {
	Rows      []CalendarRow
	Ahead     []sched.TaskDayOff // the next slots that a calendar drops or moves
	MayCreate bool
}

// CalendarRow is a calendar in a list.
type CalendarRow struct {
	Calendar *calendar.Calendar
	Team     string // code; "" is the whole installation
	Tasks    int    // that go by it, as far as the viewer sees them
	MayEdit  bool
}

func calendarURL(code string) string { return "/calendars/" + url.PathEscape(code) }

func calendarYearURL(code string, year int) string {
	return calendarURL(code) + "?year=" + strconv.Itoa(year)
}

// today is the date where the viewer is.
func (v Viewer) today() calendar.Day { return calendar.DayOf(v.Now.In(v.zone())) }

// year is the year where the viewer is.
func (v Viewer) year() int { return v.today().Year() }

// dayWords is a date with its weekday, and with its year when that isn't the
// one that the page is about.
func (v Viewer) dayWords(d calendar.Day, year int) string {
	at := d.Time()
	switch {
	case v.Lang == Chinese && at.Year() == year:
		return at.Format("1 月 2 日 ") + chineseDays[at.Weekday()]
	case v.Lang == Chinese:
		return at.Format("2006 年 1 月 2 日 ") + chineseDays[at.Weekday()]
	case at.Year() == year:
		return at.Format("Mon 2 Jan")
	}
	return at.Format("Mon 2 Jan 2006")
}

// shortDay is a date without its weekday, and without its year when it is the
// one that the page is about.
func (v Viewer) shortDay(d calendar.Day, year int) string {
	at := d.Time()
	switch {
	case v.Lang == Chinese && at.Year() == year:
		return at.Format("1 月 2 日")
	case v.Lang == Chinese:
		return at.Format("2006 年 1 月 2 日")
	case at.Year() == year:
		return at.Format("2 Jan")
	}
	return at.Format("2 Jan 2006")
}

// stretchWords are the dates of a stretch: "1 Jan to 3 Jan".
func (v Viewer) stretchWords(from, to calendar.Day, year int) string {
	if from == to {
		return v.shortDay(from, year)
	}
	return Translate(v.Lang, "%s to %s|dates", v.shortDay(from, year), v.shortDay(to, year))
}

// weekdays are the names of the days of a week from Monday: in full, short, and
// as the head of a column.
var weekdays = [...]struct{ full, short, head string }{
	{msg("Monday"), msg("Mon"), msg("M|Monday")}, {msg("Tuesday"), msg("Tue"), msg("T|Tuesday")}, {msg("Wednesday"), msg("Wed"), msg("W|Wednesday")},
	{msg("Thursday"), msg("Thu"), msg("T|Thursday")}, {msg("Friday"), msg("Fri"), msg("F|Friday")}, {msg("Saturday"), msg("Sat"), msg("S|Saturday")},
	{msg("Sunday"), msg("Sun"), msg("S|Sunday")},
}

// months are the names of the months.
var months = [...]struct{ full string }{
	{msg("January")}, {msg("February")}, {msg("March")}, {msg("April")}, {msg("May")}, {msg("June")}, {msg("July")},
	{msg("August")}, {msg("September")}, {msg("October")}, {msg("November")}, {msg("December")},
}

// weekWords says which weekdays are worked: "Monday to Friday".
func weekWords(ctx context.Context, w calendar.Week) string {
	var on []int
	for i, d := range calendar.Weekdays() {
		if w.Works(d) {
			on = append(on, i)
		}
	}
	switch n := len(on); {
	case n == 0:
		return t(ctx, "no day")
	case n == 7:
		return t(ctx, "every day")
	case n > 2 && on[n-1]-on[0] == n-1:
		return t(ctx, "%s to %s|weekdays", t(ctx, weekdays[on[0]].full), t(ctx, weekdays[on[n-1]].full))
	}
	names := make([]string, len(on))
	for i, d := range on {
		names[i] = t(ctx, weekdays[d].full)
	}
	return strings.Join(names, t(ctx, ", |between days"))
}

// noDataWords says from when on a calendar goes by its week alone.
func noDataWords(ctx context.Context, c *calendar.Calendar) (what, effect string) {
	v := viewer(ctx)
	year := c.NoData(v.Now.In(v.zone()))
	if year == v.year() {
		return t(ctx, "%s has no data for %s.", c.Name, strconv.Itoa(year)), t(ctx, "It takes %s for workdays.", weekWords(ctx, c.Week))
	}
	last, first := calendar.Date(year-1, time.December, 31), calendar.Date(year, time.January, 1)
	return t(ctx, "%s has no data after %s.", c.Name, v.shortDay(last, 0)),
		t(ctx, "From %s on it takes %s for workdays.", v.shortDay(first, year), weekWords(ctx, c.Week))
}

// lacks tells whether a year of the calendar lacks data.
func lacks(ctx context.Context, c *calendar.Calendar) bool {
	return c.NoData(viewer(ctx).Now.In(viewer(ctx).zone())) != 0
}

// coversWords says which years have data.
func coversWords(ctx context.Context, c *calendar.Calendar) string {
	first, last := c.Years()
	switch first {
	case 0:
		return t(ctx, "no year")
	case last:
		return strconv.Itoa(first)
	}
	return t(ctx, "%s to %s|years", strconv.Itoa(first), strconv.Itoa(last))
}

// ownerWords says whose a calendar is.
func ownerWords(ctx context.Context, team string) string {
	if team == "" {
		return t(ctx, "all teams")
	}
	return teamShown(viewer(ctx), team)
}

// yearBars are the days of a year as one path for each kind, two units wide
// each: high bars are worked, low ones are off.
func yearBars(c *calendar.Calendar, year int) []ui.Path {
	var paths [3]strings.Builder
	first := calendar.Date(year, time.January, 1)
	for d := first; d.Year() == year; d++ {
		x := 2 * int(d-first)
		switch c.Kind(d) {
		case calendar.Workday:
			fmt.Fprintf(&paths[0], "M%d 9h1.4v13h-1.4z", x)
		case calendar.Worked:
			fmt.Fprintf(&paths[1], "M%d 2h1.4v20h-1.4z", x)
		default:
			fmt.Fprintf(&paths[2], "M%d 18h2v4h-2z", x)
		}
	}
	return []ui.Path{{Class: "f-soft", D: paths[0].String()}, {Class: "f-acc", D: paths[1].String()}, {Class: "f-idle", D: paths[2].String()}}
}

// todayBar is where the viewer's today stands among the bars.
func todayBar(d calendar.Day) string {
	return strconv.Itoa(2 * int(d-calendar.Date(d.Year(), time.January, 1)))
}

// nextOff is the next day that is no workday.
func nextOff(ctx context.Context, c *calendar.Calendar) string {
	d, ok := c.NextOff(viewer(ctx).today())
	if !ok {
		return dash
	}
	return viewer(ctx).dayWords(d, viewer(ctx).year())
}

// changedWords says who changed a calendar, and when.
func changedWords(ctx context.Context, c *calendar.Calendar) string {
	v := viewer(ctx)
	return t(ctx, "%s, %s|who, when", c.UpdatedBy, v.shortDay(calendar.DayOf(c.UpdatedAt.In(v.zone())), v.year()))
}

// aheadSlot is the day and time of a slot in its own zone.
func aheadSlot(ctx context.Context, d sched.TaskDayOff) string {
	at := d.Slot.In(zoneOf(d.Task.Spec.Schedule, viewer(ctx)))
	return viewer(ctx).dayWords(calendar.DayOf(at), viewer(ctx).year()) + " " + at.Format("15:04")
}

// aheadWords say what becomes of a slot on a day off.
func aheadWords(ctx context.Context, d sched.TaskDayOff) string {
	if d.To.IsZero() {
		return joined(": ", t(ctx, "Dropped"), d.Name)
	}
	to := viewer(ctx).dayWords(calendar.DayOf(d.To.In(zoneOf(d.Task.Spec.Schedule, viewer(ctx)))), viewer(ctx).year())
	if d.Joins {
		return t(ctx, "Moves to %s, joins that day’s own", to)
	}
	return t(ctx, "Moves to %s", to)
}
