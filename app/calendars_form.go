package app

import (
	"errors"
	"slices"
	"strconv"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/calendar"
	"ax/app/fault"
	"ax/views"
)

// showNewCalendar shows the form of a new calendar; ?from= copies another one.
func (a *App) showNewCalendar(c *gin.Context) (reply, error) {
	values := views.CalendarValues{Week: calendar.MondayToFriday.Names(), From: c.Query("from")}
	if teams := a.calendarTeams(c); len(teams) > 0 {
		values.Team = teams[0].Code
	}
	page, err := a.calendarForm(c, values, nil)
	return show(views.CalendarNew(page)), err
}

func (a *App) calendarForm(c *gin.Context, values views.CalendarValues, failed error) (views.CalendarForm, error) {
	page := views.CalendarForm{Values: values, Errors: errorsOf(failed)}
	for _, t := range a.calendarTeams(c) {
		page.Teams = append(page.Teams, views.Team{Code: t.Code, Name: t.Name})
	}
	if values.From == "" {
		return page, nil
	}
	var err error
	page.From, err = a.calendars.Get(c.Request.Context(), actor(c), values.From)
	return page, err
}

// calendarTeams are those in which the person may make calendars, the one that
// the lists show first.
func (a *App) calendarTeams(c *gin.Context) []access.Team {
	var out []access.Team
	v, _ := visited(c)
	for _, t := range teamsOf(c) {
		switch {
		case !actor(c).Can(access.EditCalendar, t.ID):
		case v != nil && t.ID == v.team:
			out = append([]access.Team{t}, out...)
		default:
			out = append(out, t)
		}
	}
	return out
}

// createCalendar makes a calendar of what the form says.
func (a *App) createCalendar(c *gin.Context) (reply, error) {
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	values := views.CalendarValues{
		Code: f.text("code"), Name: f.text("name"), Team: f.text("team"), From: f.text("from"), Week: f.all("week"), Reason: f.text("reason"),
	}
	week, err := calendar.ReadWeek(values.Week)
	var cal *calendar.Calendar
	if err == nil {
		cal, err = a.calendars.Create(c.Request.Context(), actor(c), calendar.Draft{
			Code: values.Code, Name: values.Name, Team: values.Team, Week: week, From: values.From, Reason: values.Reason,
		})
	}
	if err != nil {
		page, failed := a.calendarForm(c, values, err)
		if failed != nil {
			return reply{}, failed
		}
		return show(views.CalendarNew(page)), err
	}
	a.flash(c, "The calendar %s is made", cal.Name)
	return goTo("/calendars/%s", cal.Code), nil
}

// editableCalendar is the calendar of the address if the person may change it.
func (a *App) editableCalendar(c *gin.Context) (*calendar.Calendar, error) {
	cal, err := a.calendarOf(c)
	if err == nil && !calendar.MayEdit(actor(c), cal) {
		return nil, fault.Denied("You may look at this calendar, and not change it")
	}
	return cal, err
}

// showCalendarEdit shows the forms for the days of a year, and for name and
// week.
func (a *App) showCalendarEdit(c *gin.Context) (reply, error) {
	cal, err := a.editableCalendar(c)
	if err != nil {
		return reply{}, err
	}
	return show(views.CalendarEditPage(a.calendarEdit(c, cal, c.Query("year"), nil))), nil
}

func (a *App) calendarEdit(c *gin.Context, cal *calendar.Calendar, year string, failed error) views.CalendarEdit {
	page := views.CalendarEdit{
		CalendarRow: a.calendarRow(c, cal, 0), Year: a.yearOf(c, year), Errors: errorsOf(failed),
		Values: views.DayValues{Kind: string(calendar.SetOff)}, Edit: views.CalendarValues{Name: cal.Name, Week: cal.Week.Names()},
	}
	if text, ok := fault.TextOf(failed); ok && fault.KindOf(failed) == fault.KindConflict {
		page.Moved = views.TranslateText(a.viewer(c).Lang, text)
	}
	return page
}

// editAgain shows the forms with what was typed and what is wrong, over the
// calendar as it is stored now.
func (a *App) editAgain(c *gin.Context, f *form, err error, typed func(*views.CalendarEdit)) (reply, error) {
	if kind := fault.KindOf(err); kind != fault.KindInvalid && kind != fault.KindConflict {
		return reply{}, err
	}
	cal, failed := a.editableCalendar(c)
	if failed != nil {
		return reply{}, failed
	}
	page := a.calendarEdit(c, cal, f.text("year"), err)
	typed(&page)
	return show(views.CalendarEditPage(page)), err
}

// saveCalendar changes name and week.
func (a *App) saveCalendar(c *gin.Context) (reply, error) {
	if _, err := a.editableCalendar(c); err != nil {
		return reply{}, err
	}
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	version := f.number("version")
	week, err := calendar.ReadWeek(f.all("week"))
	if err == nil {
		err = f.err()
	}
	if err == nil {
		_, err = a.calendars.Update(c.Request.Context(), actor(c), c.Param("code"), calendar.Edit{
			Name: f.text("title"), Week: week, Version: version,
		})
		err = renamed(err, "name", "title")
	}
	if err != nil {
		return a.editAgain(c, f, err, func(p *views.CalendarEdit) { p.Edit = views.CalendarValues{Name: f.text("title"), Week: f.all("week")} })
	}
	a.flash(c, "Name and week are saved")
	return goTo("/calendars/" + c.Param("code") + "?year=" + f.text("year")), nil
}

// renamed puts the errors of one field at another.
func renamed(err error, from, to string) error {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || len(e.Fields) == 0 {
		return err
	}
	out := *e
	out.Fields = slices.Clone(e.Fields)
	for i := range out.Fields {
		if out.Fields[i].Name == from {
			out.Fields[i].Name = to
		}
	}
	return &out
}

// setDays lists days as off or worked, or takes them out.
func (a *App) setDays(c *gin.Context) (reply, error) {
	if _, err := a.editableCalendar(c); err != nil {
		return reply{}, err
	}
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	span := calendar.Span{
		From: f.day("from"), Kind: calendar.Kind(f.text("kind")), Name: f.text("name"), Version: f.number("version"), Reason: f.text("reason"),
	}
	if span.To = span.From; f.text("to") != "" {
		span.To = f.day("to")
	}
	if err = f.err(); err == nil {
		_, err = a.calendars.SetDays(c.Request.Context(), actor(c), c.Param("code"), span)
	}
	if err != nil {
		return a.editAgain(c, f, err, func(p *views.CalendarEdit) {
			p.Values = views.DayValues{From: f.text("from"), To: f.text("to"), Kind: f.text("kind"), Name: f.text("name"), Reason: f.text("reason")}
		})
	}
	a.flash(c, "%d days are set", span.To-span.From+1)
	year := strconv.Itoa(span.From.Year())
	return goTo("/calendars/" + c.Param("code") + "/edit?year=" + year), nil
}

// day gives the date of a field.
func (f *form) day(name string) calendar.Day {
	d, err := calendar.ParseDay(f.text(name))
	for _, e := range fault.Fields(err) {
		e.Name = name
		f.bad = append(f.bad, e)
	}
	return d
}
