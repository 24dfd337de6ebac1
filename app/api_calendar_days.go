package app

import (
	"cmp"
	"context"
	"net/http"

	"ax/app/access"
	"ax/app/calendar"
)

func (s *api) calendarDayOperations() {
	add(s, operation{
		method: http.MethodGet, path: "/calendars/{code}/days", id: "list-calendar-days", tag: tagCalendars, verb: access.Read, object: calendarObject,
		summary: "List the days of a year", about: "Those that differ from the week. A year without any goes by the week alone.",
	}, (*api).listDays)
	add(s, operation{
		method: http.MethodPut, path: "/calendars/{code}/days", id: "replace-calendar-days", tag: tagCalendars, verb: access.EditCalendar, object: calendarObject,
		summary: "Replace the days of a year", body: calendarDays{}, example: exampleCalendarDays, conflicts: true,
		about: "The next slots of the tasks that go by the calendar are found anew; slots that are planned already stay.",
	}, (*api).replaceDays)
	add(s, operation{
		method: http.MethodPost, path: "/calendars/{code}/import", id: "import-calendar", tag: tagCalendars, verb: access.EditCalendar, object: calendarObject,
		summary: "Import days", body: calendarImport{}, example: exampleCalendarImport, conflicts: true,
		about: "Lines or iCalendar. Lines that can't be read are left out and told; 422 when no day can be read.",
	}, (*api).importDays)
	for _, format := range []struct{ name, media, about string }{
		{"csv", "text/csv; charset=utf-8", "Lines such as 2027-01-01,off,元旦 under a header, as an import reads them."},
		{"ics", "text/calendar; charset=utf-8", "Each stretch of days as an all-day event, as an import reads them."},
	} {
		add(s, operation{
			method: http.MethodGet, path: "/calendars/{code}/export." + format.name, id: "export-calendar-" + format.name, tag: tagCalendars, verb: access.Read,
			object: calendarObject, media: format.media, summary: "Export a calendar as " + format.name, about: format.about,
		}, func(s *api, ctx context.Context, k *call, in *calendarIn) (*fileOut, error) {
			return s.exportDays(ctx, k, in.Code, calendar.Format(format.name), format.media)
		})
	}
}

type daysIn struct {
	Code string `path:"code" doc:"The calendar's code" example:"cn-workdays"`
	Year int    `query:"year" minimum:"1970" maximum:"2199" doc:"Left out: this year" example:"2027"`
}

type daysOut struct {
	Body daysBody
}

// daysBody are the listed days of a year.
type daysBody struct {
	Year     int       `json:"year" example:"2027"`
	Covered  bool      `json:"covered" doc:"Whether any day of the year is listed"`
	Workdays int       `json:"workdays"`
	DaysOff  int       `json:"days_off" doc:"Weekends too"`
	Worked   int       `json:"worked" doc:"Weekend days that are worked"`
	Version  int       `json:"version" doc:"Of the calendar"`
	Days     []dayBody `json:"days" nullable:"false"`
}

func daysShape(c *calendar.Calendar, year int) daysBody {
	n, days := c.Count(year), c.Of(year)
	out := daysBody{Year: year, Covered: len(days) > 0, Workdays: n.Workdays, DaysOff: n.Off, Worked: n.Worked, Version: c.Version, Days: []dayBody{}}
	for _, d := range calendar.Sorted(days) {
		out.Days = append(out.Days, dayShape(d, days[d]))
	}
	return out
}

func (s *api) listDays(ctx context.Context, k *call, in *daysIn) (*daysOut, error) {
	c, err := s.calendars.Get(ctx, k.actor, in.Code)
	if err != nil {
		return nil, err
	}
	return &daysOut{Body: daysShape(c, cmp.Or(in.Year, s.now().Year()))}, nil
}

func (s *api) replaceDays(ctx context.Context, k *call, in *calendarIn) (*daysOut, error) {
	var body calendarDays
	if err := decode(k.body, &body); err != nil {
		return nil, err
	}
	days, err := readDays(body.Days)
	if err != nil {
		return nil, err
	}
	c, err := s.calendars.SetYear(ctx, k.actor, in.Code, body.Year, days, body.Version, body.Reason)
	if err != nil {
		return nil, err
	}
	return &daysOut{Body: daysShape(c, body.Year)}, nil
}

type importOut struct {
	Body importBody
}

func (s *api) importDays(ctx context.Context, k *call, in *calendarIn) (*importOut, error) {
	var body calendarImport
	if err := decode(k.body, &body); err != nil {
		return nil, err
	}
	got, err := s.calendars.Import(ctx, k.actor, in.Code, calendar.Import{
		Text: body.Text, Format: calendar.Format(body.Format), Mode: cmp.Or(calendar.Mode(body.Mode), calendar.ReplaceYears),
		Version: body.Version, Reason: body.Reason,
	}, body.DryRun)
	if err != nil {
		return nil, err
	}
	return &importOut{Body: importShape(got, body.DryRun)}, nil
}

// fileOut is a file to be kept.
type fileOut struct {
	ContentType        string `header:"Content-Type"`
	ContentDisposition string `header:"Content-Disposition"`
	Body               []byte
}

func (s *api) exportDays(ctx context.Context, k *call, code string, format calendar.Format, media string) (*fileOut, error) {
	c, err := s.calendars.Get(ctx, k.actor, code)
	if err != nil {
		return nil, err
	}
	return &fileOut{ContentType: media, ContentDisposition: attachment(c.Code, format), Body: []byte(s.export(c, format))}, nil
}

// attachment names a calendar's file. Codes need no escaping.
func attachment(code string, format calendar.Format) string {
	return `attachment; filename="` + code + "." + string(format) + `"`
}

// export writes all days of a calendar.
func (a *App) export(c *calendar.Calendar, format calendar.Format) string {
	if format == calendar.ICS {
		return calendar.WriteICS(c.Code, c.Name, c.Listed, a.now())
	}
	return calendar.WriteCSV(c.Listed)
}
