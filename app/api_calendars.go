package app

import (
	"context"
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/calendar"
)

// calendarIn names a calendar.
type calendarIn struct {
	Code string `path:"code" doc:"The calendar's code" example:"cn-workdays"`
}

type calendarOut struct {
	Body calendarBody
}

// calendarMade is a new calendar and where it is.
type calendarMade struct {
	Location string `header:"Location" doc:"Path of the new calendar"`
	Body     calendarBody
}

type calendarListOut struct {
	Body listOf[calendarBody]
}

// calendarObject finds the calendar of the path.
func calendarObject(ctx context.Context, s *api, by access.Actor, c *gin.Context) error {
	_, err := s.calendars.Get(ctx, by, c.Param("code"))
	return err
}

func (s *api) calendarOperations() {
	add(s, operation{
		method: http.MethodGet, path: "/calendars", id: "list-calendars", tag: tagCalendars, verb: access.Read,
		summary: "List calendars", about: "Those of the token's team and those of the installation, by code, with figures of this year.",
	}, (*api).listCalendars)
	add(s, operation{
		method: http.MethodPost, path: "/calendars", id: "create-calendar", tag: tagCalendars, verb: access.EditCalendar, status: http.StatusCreated,
		summary: "Create a calendar", body: calendarNew{}, example: exampleCalendar,
		about: "Of a team. Its days follow by an import, or are copied from another calendar.",
	}, (*api).createCalendar)
	add(s, operation{
		method: http.MethodGet, path: "/calendars/{code}", id: "get-calendar", tag: tagCalendars, verb: access.Read, object: calendarObject,
		summary: "Get a calendar", about: "With figures of this year, and the year that lacks data, if one does.",
	}, (*api).getCalendar)
	add(s, operation{
		method: http.MethodPut, path: "/calendars/{code}", id: "update-calendar", tag: tagCalendars, verb: access.EditCalendar, object: calendarObject,
		summary: "Change a calendar's name and week", body: calendarEdit{}, example: exampleCalendarEdit, conflicts: true,
		about: "The version that was read goes along: 409 when somebody changed the calendar meanwhile. The next slots of the tasks that go by it are found anew.",
	}, (*api).updateCalendar)
	add(s, operation{
		method: http.MethodDelete, path: "/calendars/{code}", id: "delete-calendar", tag: tagCalendars, verb: access.EditCalendar, object: calendarObject,
		status: http.StatusNoContent, conflicts: true,
		summary: "Delete a calendar", about: "409 while tasks go by it.",
	}, (*api).deleteCalendar)
	s.calendarDayOperations()
}

func (s *api) listCalendars(ctx context.Context, k *call, _ *struct{}) (*calendarListOut, error) {
	all, err := s.calendars.Overviews(ctx, k.actor)
	if err != nil {
		return nil, err
	}
	teams, err := s.teamCodes(ctx, k.actor)
	if err != nil {
		return nil, err
	}
	var items []calendarBody
	for _, o := range all {
		items = append(items, calendarShape(o.Calendar, o.Tasks, teams[o.TeamID], s.now()))
	}
	return &calendarListOut{Body: listPage(items, "")}, nil
}

func (s *api) createCalendar(ctx context.Context, k *call, _ *struct{}) (*calendarMade, error) {
	var in calendarNew
	if err := decode(k.body, &in); err != nil {
		return nil, err
	}
	week, err := in.week()
	if err != nil {
		return nil, err
	}
	c, err := s.calendars.Create(ctx, k.actor, calendar.Draft{
		Code: in.Code, Name: in.Name, Team: in.Team, Week: week, From: in.From, Reason: in.Reason,
	})
	if err != nil {
		return nil, err
	}
	out, err := s.calendarOut(ctx, k, c)
	if err != nil {
		return nil, err
	}
	return &calendarMade{Location: apiPrefix + "/calendars/" + url.PathEscape(c.Code), Body: out.Body}, nil
}

func (s *api) getCalendar(ctx context.Context, k *call, in *calendarIn) (*calendarOut, error) {
	c, err := s.calendars.Get(ctx, k.actor, in.Code)
	if err != nil {
		return nil, err
	}
	return s.calendarOut(ctx, k, c)
}

func (s *api) updateCalendar(ctx context.Context, k *call, in *calendarIn) (*calendarOut, error) {
	var body calendarEdit
	if err := decode(k.body, &body); err != nil {
		return nil, err
	}
	week, err := calendar.ReadWeek(body.Week)
	if err != nil {
		return nil, err
	}
	c, err := s.calendars.Update(ctx, k.actor, in.Code, calendar.Edit{Name: body.Name, Week: week, Version: body.Version, Reason: body.Reason})
	if err != nil {
		return nil, err
	}
	return s.calendarOut(ctx, k, c)
}

func (s *api) deleteCalendar(ctx context.Context, k *call, in *calendarIn) (*struct{}, error) {
	return nil, s.calendars.Delete(ctx, k.actor, in.Code, "")
}

// calendarOut shows a calendar that the actor may see.
func (s *api) calendarOut(ctx context.Context, k *call, c *calendar.Calendar) (*calendarOut, error) {
	_, tasks, err := s.calendars.Uses(ctx, k.actor, c.Code, 1)
	if err != nil {
		return nil, err
	}
	teams, err := s.teamCodes(ctx, k.actor)
	if err != nil {
		return nil, err
	}
	return &calendarOut{Body: calendarShape(c, tasks, teams[c.TeamID], s.now())}, nil
}
