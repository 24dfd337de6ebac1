package views

import (
	"context"
	"slices"
	"strconv"

	"ax/app/calendar"
	"ax/app/fault"
	"ax/views/ui"
)

// CalendarForm makes a calendar, from nothing or from another one.
type CalendarForm struct {
	Values CalendarValues
	Errors []fault.FieldError
	Teams  []Team // it may go to; "" among them is the whole installation
	From   *calendar.Calendar
}

// CalendarValues are the fields as they are typed.
type CalendarValues struct {
	Code, Name, Team, From string
	Week                   []string
	Reason                 string
}

// CalendarEdit changes the days of a year, and the name and week.
type CalendarEdit struct {
	CalendarRow
	Year   int
	Values DayValues
	Edit   CalendarValues
	Errors []fault.FieldError
	// Moved says that somebody changed the calendar since the form was opened.
	Moved string
}

// DayValues are the fields of a stretch of days as they are typed.
type DayValues struct {
	From, To, Kind, Name, Reason string
}

func weekdayOptions(ctx context.Context) []ui.Option {
	var options []ui.Option
	for i, d := range calendar.Weekdays() {
		options = append(options, ui.Option{Value: calendar.WeekdayName(d), Label: t(ctx, weekdays[i].short)})
	}
	return options
}

func kindsOfDays(ctx context.Context) []ui.Option {
	return []ui.Option{
		{Value: string(calendar.SetOff), Label: t(ctx, "Day off")},
		{Value: string(calendar.SetWorked), Label: t(ctx, "Worked")},
		{Value: string(calendar.SetCleared), Label: t(ctx, "As the week says")},
	}
}

func (p CalendarForm) field(ctx context.Context, name, label, value string) ui.Field {
	return ui.Field{Name: name, Label: label, Value: value, Error: problem(ctx, p.Errors, name)}
}

func (p CalendarEdit) field(ctx context.Context, name, label, value string) ui.Field {
	return ui.Field{Name: name, Label: label, Value: value, Error: problem(ctx, p.Errors, name)}
}

func (p CalendarForm) title(ctx context.Context) string {
	if p.From != nil {
		return t(ctx, "Copy of %s", p.From.Name)
	}
	return t(ctx, "New calendar")
}

// teamOptions are the teams that it may go to. An administrator may also make
// one for everybody.
func (p CalendarForm) teamOptions(ctx context.Context) []ui.Option {
	var options []ui.Option
	for _, team := range p.Teams {
		options = append(options, ui.Option{Value: team.Code, Label: team.Name})
	}
	if viewer(ctx).User.Admin {
		options = append(options, ui.Option{Value: "", Label: t(ctx, "The whole installation")})
	}
	return options
}

func (p CalendarEdit) crumbs(ctx context.Context) []ui.Crumb {
	return []ui.Crumb{{Label: t(ctx, "Calendars"), Href: "/calendars"}, {Label: p.Calendar.Name, Href: calendarYearURL(p.Calendar.Code, p.Year)}}
}

// loose are the errors that stand at no field of the page.
func loose(ctx context.Context, errs []fault.FieldError, known ...string) string {
	var said []string
	for _, e := range errs {
		if !slices.Contains(known, e.Name) {
			said = append(said, text(ctx, e.Text))
		}
	}
	return joined(" ", said...)
}

// listed are the stretches of the year, those that are off and those that are
// worked, in the order of their days.
func (p CalendarEdit) listed() []calendar.Stretch {
	off, worked := p.Calendar.Stretches(p.Year)
	all := append(off, worked...)
	slices.SortFunc(all, func(a, b calendar.Stretch) int { return int(a.From - b.From) })
	return all
}

func version(n int) string { return strconv.Itoa(n) }
