package views

import (
	"context"
	"strconv"
	"time"

	"ax/app/calendar"
	"ax/app/fault"
	"ax/app/sched"
	"ax/views/ui"
)

// CalendarImport takes over the days of a file, in two steps: first it says
// what changes, then it is stored.
type CalendarImport struct {
	CalendarRow
	Year   int // that is to be filled; 0: whatever the file has
	Text   string
	File   string // name of the file that was sent
	Mode   calendar.Mode
	Reason string
	Seen   string // what was shown: only that is stored
	Errors []fault.FieldError
	Read   *calendar.Imported    // nil until something was read
	Effect *sched.CalendarEffect // what the changes mean for slots; nil: not known
	Moved  string                // somebody changed the calendar meanwhile
}

// CalendarChoose asks into which calendar a file goes.
type CalendarChoose struct {
	Calendars []CalendarChoice // that may be changed
	Chosen    string
	Errors    []fault.FieldError
}

func (p CalendarChoose) options() []ui.Option {
	options := make([]ui.Option, len(p.Calendars))
	for i, c := range p.Calendars {
		options[i] = ui.Option{Value: c.Code, Label: c.Name}
	}
	return options
}

// changesShown is how many stretches of changes are listed at first.
const changesShown = 12

func (p CalendarImport) title(ctx context.Context) string {
	if p.Year == 0 {
		return t(ctx, "Import days")
	}
	return t(ctx, "Import %s", strconv.Itoa(p.Year))
}

func (p CalendarImport) crumbs(ctx context.Context) []ui.Crumb {
	return []ui.Crumb{{Label: t(ctx, "Calendars"), Href: "/calendars"}, {Label: p.Calendar.Name, Href: p.back()}}
}

func (p CalendarImport) back() string {
	if p.Year == 0 {
		return calendarURL(p.Calendar.Code)
	}
	return calendarYearURL(p.Calendar.Code, p.Year)
}

func importModes(ctx context.Context) []ui.Option {
	return []ui.Option{
		{Value: string(calendar.ReplaceYears), Label: t(ctx, "Replace the year")},
		{Value: string(calendar.AddDays), Label: t(ctx, "Add to it")},
	}
}

// ready tells whether there is something to store.
func (p CalendarImport) ready() bool { return p.Read != nil && len(p.Read.Changes) > 0 }

func (p CalendarImport) spans() []calendar.SpanChange {
	if p.Read == nil {
		return nil
	}
	return calendar.Spans(p.Read.Changes)
}

// counts are the days of the file that are off, and those that are worked.
func (p CalendarImport) counts() (off, worked int) {
	if p.Read == nil {
		return 0, 0
	}
	for _, e := range p.Read.Days {
		if e.Work {
			worked++
		} else {
			off++
		}
	}
	return off, worked
}

// spanWords are the dates of a stretch with weekdays: "Fri 1 Jan to Sun 3 Jan".
func (p CalendarImport) spanWords(ctx context.Context, s calendar.SpanChange) string {
	v, year := viewer(ctx), 0
	if first, last := p.between(); first == last {
		year = first
	}
	if s.From == s.To {
		return v.dayWords(s.From, year)
	}
	return t(ctx, "%s to %s|dates", v.dayWords(s.From, year), v.dayWords(s.To, year))
}

// wasWords says what the days of a stretch were before.
func (p CalendarImport) wasWords(ctx context.Context, s calendar.SpanChange) string {
	if s.Was != nil {
		if s.Was.Work {
			return joined(": ", t(ctx, "worked|day"), s.Was.Name)
		}
		return joined(": ", t(ctx, "day off"), s.Was.Name)
	}
	workdays := 0
	for d := s.From; d <= s.To; d++ {
		if p.Calendar.Week.Works(d.Weekday()) {
			workdays++
		}
	}
	if workdays == 0 {
		return t(ctx, "weekend")
	}
	return tn(ctx, "%d workdays", workdays)
}

// importState is what the days of a stretch become.
func importState(ctx context.Context, e *calendar.Entry) ui.State {
	switch {
	case e == nil:
		return ui.State{Icon: "calendar", Word: t(ctx, "As the week says")}
	case e.Work:
		return ui.State{Icon: "calendar-plus", Class: "accst", Word: t(ctx, "Worked")}
	}
	return ui.State{Icon: "calendar-off", Word: t(ctx, "Day off")}
}

func entryName(e *calendar.Entry) string {
	if e == nil {
		return ""
	}
	return e.Name
}

// badWords tells of the lines that are left out.
func (p CalendarImport) badWords(ctx context.Context) []string {
	if p.Read == nil {
		return nil
	}
	var said []string
	for _, b := range p.Read.Bad {
		said = append(said, text(ctx, b.Words()))
	}
	if p.Read.More > 0 {
		said = append(said, tn(ctx, "and %d more", p.Read.More))
	}
	return said
}

// importEffect says in one sentence what becomes of the workdays.
func (p CalendarImport) effect(ctx context.Context) string {
	lost, won := 0, 0
	for _, c := range p.Read.Changes {
		switch was, is := p.Read.Was.Workday(c.Day), p.Read.Calendar.Workday(c.Day); {
		case was && !is:
			lost++
		case !was && is:
			won++
		}
	}
	return t(ctx, "%s and %s.", tn(ctx, "%d workdays become days off", lost), tn(ctx, "%d days off become workdays", won))
}

// slotsWords says how many coming slots the changes touch.
func (p CalendarImport) slotsWords(ctx context.Context) string {
	e := p.Effect
	slots, tasks := tn(ctx, "%d slots", e.Slots), tn(ctx, "%d tasks", e.Tasks)
	switch {
	case e.Cut:
		return t(ctx, "At least %s of %s fall on days that change; not all were looked at.", slots, tasks)
	case e.Slots == 0:
		return t(ctx, "No coming slot falls on a day that changes.")
	}
	return t(ctx, "%s of %s fall on days that change.", slots, tasks)
}

// between gives the first and last year that the file has days of.
func (p CalendarImport) between() (first, last int) {
	for d := range p.Read.Days {
		y := d.Year()
		if first == 0 || y < first {
			first = y
		}
		last = max(last, y)
	}
	return first, last
}

func (p CalendarImport) years() string {
	first, last := p.between()
	if first == last {
		return strconv.Itoa(first)
	}
	return strconv.Itoa(first) + "–" + strconv.Itoa(last)
}

// sampleLines show in the empty box how lines are written.
func sampleLines(year int, now time.Time) string {
	if year == 0 {
		year = now.Year()
	}
	y := strconv.Itoa(year)
	return y + "-01-01,off,元旦\n" + y + "-01-02,workday,调休"
}

// textProblems are what is wrong with the text, or with lines of it.
func (p CalendarImport) textProblems(ctx context.Context) []string {
	if said := p.badWords(ctx); len(said) > 0 {
		return said
	}
	if said := problem(ctx, p.Errors, "text"); said != "" {
		return []string{said}
	}
	return nil
}
