package app

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/calendar"
	"ax/views"
)

func (a *App) calendarRoutes() []route {
	return []route{
		{http.MethodGet, "/calendars", (*App).listCalendars, access.Read, false},
		{http.MethodGet, "/calendars/new", (*App).showNewCalendar, access.EditCalendar, false},
		{http.MethodPost, "/calendars/new", (*App).createCalendar, access.EditCalendar, false},
		{http.MethodGet, "/calendars/import", (*App).chooseImport, access.EditCalendar, false},
		{http.MethodGet, "/calendars/:code", (*App).showCalendar, access.Read, false},
		{http.MethodGet, "/calendars/:code/edit", (*App).showCalendarEdit, access.EditCalendar, false},
		{http.MethodPost, "/calendars/:code/edit", (*App).saveCalendar, access.EditCalendar, false},
		{http.MethodPost, "/calendars/:code/days", (*App).setDays, access.EditCalendar, false},
		{http.MethodGet, "/calendars/:code/import", (*App).showImport, access.EditCalendar, false},
		{http.MethodPost, "/calendars/:code/import", (*App).importDays, access.EditCalendar, false},
		{http.MethodPost, "/calendars/:code/delete", (*App).deleteCalendar, access.EditCalendar, false},
		{http.MethodGet, "/calendars/:code/export.csv", exporter(calendar.CSV, "text/csv; charset=utf-8"), access.Read, false},
		{http.MethodGet, "/calendars/:code/export.ics", exporter(calendar.ICS, "text/calendar; charset=utf-8"), access.Read, false},
	}
}

// usesShown is how many tasks of a calendar its page names.
const usesShown = 12

// listCalendars shows the calendars of the team chosen and of the installation.
func (a *App) listCalendars(c *gin.Context) (reply, error) {
	by := actor(c)
	all, err := a.calendars.Overviews(c.Request.Context(), by)
	if err != nil {
		return reply{}, err
	}
	page := views.CalendarsPage{MayCreate: mayAnywhere(by, access.EditCalendar)}
	v, _ := visited(c)
	for _, o := range all {
		if v != nil && v.team != 0 && o.TeamID != 0 && o.TeamID != v.team {
			continue
		}
		page.Rows = append(page.Rows, a.calendarRow(c, o.Calendar, o.Tasks))
	}
	page.Ahead, err = a.outlook.DaysOff(c.Request.Context(), by, scopeOf(c))
	return show(views.Calendars(page)), err
}

func (a *App) calendarRow(c *gin.Context, cal *calendar.Calendar, tasks int) views.CalendarRow {
	return views.CalendarRow{Calendar: cal, Team: teamCode(c, cal.TeamID), Tasks: tasks, MayEdit: calendar.MayEdit(actor(c), cal)}
}

// calendarOf is the calendar of the address.
func (a *App) calendarOf(c *gin.Context) (*calendar.Calendar, error) {
	return a.calendars.Get(c.Request.Context(), actor(c), c.Param("code"))
}

// yearOf is the year that the page is about: the one given, else this one.
func (a *App) yearOf(c *gin.Context, given string) int {
	if y, err := strconv.Atoi(given); err == nil && y >= 1970 && y <= 2199 {
		return y
	}
	return a.now().In(a.zoneOf(c)).Year()
}

// showCalendar shows a year of a calendar.
func (a *App) showCalendar(c *gin.Context) (reply, error) {
	return a.calendarPage(c, a.yearOf(c, c.Query("year")))
}

func (a *App) calendarPage(c *gin.Context, year int) (reply, error) {
	cal, err := a.calendarOf(c)
	if err != nil {
		return reply{}, err
	}
	uses, n, err := a.calendars.Uses(c.Request.Context(), actor(c), cal.Code, usesShown)
	if err != nil {
		return reply{}, err
	}
	return show(views.Calendar(views.CalendarPage{
		CalendarRow: a.calendarRow(c, cal, n), Year: year, Uses: uses, MayCopy: mayAnywhere(actor(c), access.EditCalendar),
		History: a.historyOf(c, cal.TeamID, "calendar", cal.ID),
	})), nil
}

// exporter answers with all days of a calendar as a file.
func exporter(format calendar.Format, media string) func(*App, *gin.Context) (reply, error) {
	return func(a *App, c *gin.Context) (reply, error) {
		cal, err := a.calendarOf(c)
		if err != nil {
			return reply{}, err
		}
		c.Header("Content-Disposition", attachment(cal.Code, format))
		c.Header("Cache-Control", "no-store")
		c.Data(http.StatusOK, media, []byte(a.export(cal, format)))
		return reply{}, nil
	}
}

// deleteCalendar removes a calendar that no task goes by.
func (a *App) deleteCalendar(c *gin.Context) (reply, error) {
	cal, err := a.calendarOf(c)
	if err != nil {
		return reply{}, err
	}
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	if err := a.calendars.Delete(c.Request.Context(), actor(c), cal.Code, f.text("reason")); err != nil {
		return reply{}, err
	}
	a.flash(c, "The calendar %s is deleted", cal.Name)
	return goTo("/calendars"), nil
}
