package views

import (
	"context"
	"strconv"
	"strings"
	"time"

	"ax/app/calendar"
	"ax/app/sched"
	"ax/views/ui"
)

// CalendarPage is one year of a calendar.
type CalendarPage struct {
	CalendarRow
	Year    int
	Uses    []calendar.Use // the first of the tasks that go by it
	MayCopy bool
	History ObjectHistory
}

func noDataYear(ctx context.Context, c *calendar.Calendar) int {
	return c.NoData(viewer(ctx).Now.In(viewer(ctx).zone()))
}

func importURL(code string, year int) string {
	return calendarURL(code) + "/import?year=" + strconv.Itoa(year)
}

func editDaysURL(code string, year int) string {
	return calendarURL(code) + "/edit?year=" + strconv.Itoa(year)
}

// maxTabs bounds the years that have a tab.
const maxTabs = 12

// yearTab is a year that one may look at.
type yearTab struct {
	Year   int
	On     bool
	NoData bool // it goes by the week alone, and will soon be asked for
}

// tabs are the years with data, this one, the one shown, and the one that
// lacks data.
func (p CalendarPage) tabs(ctx context.Context) []yearTab {
	lacking := noDataYear(ctx, p.Calendar)
	wanted := map[int]bool{p.Year: true, viewer(ctx).year(): true}
	for d := range p.Calendar.Listed {
		wanted[d.Year()] = true
	}
	first, last := p.Year, p.Year
	if lacking != 0 {
		wanted[lacking] = true
	}
	for y := range wanted {
		first, last = min(first, y), max(last, y)
	}
	var tabs []yearTab
	for y := first; y <= last; y++ {
		if wanted[y] {
			tabs = append(tabs, yearTab{Year: y, On: y == p.Year, NoData: y == lacking})
		}
	}
	return aroundChosen(tabs)
}

// aroundChosen leaves out the tabs that are farthest from the one chosen.
func aroundChosen(tabs []yearTab) []yearTab {
	for len(tabs) > maxTabs {
		on := 0
		for i, tab := range tabs {
			if tab.On {
				on = i
			}
		}
		if on > len(tabs)-1-on {
			tabs = tabs[1:]
		} else {
			tabs = tabs[:len(tabs)-1]
		}
	}
	return tabs
}

// cellClass is how a day is drawn.
func cellClass(ctx context.Context, c calendar.Cell) string {
	if c.Day == viewer(ctx).today() {
		return string(c.Kind) + " now"
	}
	return string(c.Kind)
}

// cellTitle says what a day is that differs from its week; "" for others.
func cellTitle(ctx context.Context, c calendar.Cell) string {
	switch c.Kind {
	case calendar.DayOff:
		return joined(": ", t(ctx, "day off"), c.Name)
	case calendar.Worked:
		return joined(": ", t(ctx, "weekend day worked"), c.Name)
	}
	return ""
}

// cellSays is what is read out after the day's number.
func cellSays(ctx context.Context, c calendar.Cell) string {
	said := ""
	switch c.Kind {
	case calendar.DayOff:
		said = t(ctx, "off|day")
	case calendar.Worked:
		said = t(ctx, "worked|day")
	}
	if c.Day == viewer(ctx).today() {
		said = joined(", ", said, t(ctx, "today"))
	}
	if said == "" {
		return ""
	}
	return " " + said
}

// ruleOfUse says in a few words how a task goes by the calendar.
func ruleOfUse(ctx context.Context, u calendar.Use) string {
	switch {
	case u.Move == string(sched.MoveNext):
		return t(ctx, "moves to the next workday")
	case u.Move == string(sched.MovePrevious):
		return t(ctx, "moves to the workday before")
	case u.Mode == string(sched.SkipDaysOff):
		return t(ctx, "days off dropped")
	}
	return t(ctx, "runs on workdays, others dropped")
}

// workedWords lists the weekend days that are worked.
func workedWords(ctx context.Context, c *calendar.Calendar, year int) string {
	var days []string
	for d := calendar.Date(year, time.January, 1); d.Year() == year; d++ {
		if c.Kind(d) == calendar.Worked {
			days = append(days, viewer(ctx).shortDay(d, year))
		}
	}
	return strings.Join(days, t(ctx, ", |between days"))
}

// stretchName is the name of days off; those without one have a word.
func stretchName(ctx context.Context, s calendar.Stretch) string {
	switch {
	case s.Name != "":
		return s.Name
	case s.Work:
		return t(ctx, "Workday")
	}
	return t(ctx, "Day off")
}

func (p CalendarPage) crumbs(ctx context.Context) []ui.Crumb {
	return []ui.Crumb{{Label: t(ctx, "Calendars"), Href: "/calendars"}, {Label: p.Calendar.Code, Mono: true}}
}

// deletion is the question before a calendar goes.
func (p CalendarPage) deletion(ctx context.Context) ui.Confirm {
	return ui.Confirm{
		ID: "delete", Title: t(ctx, "Delete the calendar %s?", p.Calendar.Name),
		Effects: []string{tn(ctx, "Its %d listed days are gone.", len(p.Calendar.Listed)), t(ctx, "No task goes by it, so nothing runs at another time.")},
		Action:  calendarURL(p.Calendar.Code) + "/delete", Verb: t(ctx, "Delete calendar"), Keep: t(ctx, "Keep it"), Danger: true,
		Reason: ui.Field{Name: "reason", Label: t(ctx, "Reason, kept in the audit"), Optional: t(ctx, "optional"), Autocomplete: "off"},
	}
}
