package calendar

import (
	"context"
	"fmt"
	"time"

	"ax/app/access"
	"ax/app/fault"
)

// Bounds of what is kept.
const (
	MaxDays      = 4000 // listed days of one calendar
	MaxCalendars = 200  // of the installation with all its teams
	maxName      = 200  // characters of a calendar's name
	maxDayName   = 100  // characters of a day's name
)

// Listing names a calendar where one is chosen.
type Listing struct {
	ID     int64
	TeamID int64 // 0: of the installation, for every team
	Code   string
	Name   string
}

// For tells whether tasks of the team may go by the calendar.
func (l Listing) For(team int64) bool { return l.TeamID == 0 || l.TeamID == team }

// Overview is a calendar with how many tasks that the actor sees go by it.
type Overview struct {
	*Calendar
	Tasks int
}

// Use is a task that goes by a calendar. Mode and Move are the words of
// sched.Schedule.
type Use struct {
	Code, Name string
	TeamID     int64
	Mode, Move string
}

// store is what the use cases need of the ledger. Each method is one
// transaction.
type store interface {
	// Calendars lists those of the scope and of the installation by code.
	Calendars(ctx context.Context, s access.Scope) ([]Listing, error)
	// CalendarsWithDays is the same with days, and with counts of the tasks
	// of the scope.
	CalendarsWithDays(ctx context.Context, s access.Scope) ([]Overview, error)
	// Calendar is NotFound when there is none with the code.
	Calendar(ctx context.Context, code string) (*Calendar, error)
	// CalendarUses gives the first tasks by code, and how many there are.
	CalendarUses(ctx context.Context, code string, s access.Scope, limit int) ([]Use, int, error)
	// CreateCalendar is Invalid at "code" when it is taken, Conflict when
	// there are MaxCalendars.
	CreateCalendar(ctx context.Context, c *Calendar, e access.Entry) (*Calendar, error)
	// ChangeCalendar locks the calendar, asks apply what is to become of it,
	// and stores that. It notes the tasks that go by it as to be planned anew.
	ChangeCalendar(ctx context.Context, c Change) (*Calendar, error)
	// DeleteCalendar is a Conflict while tasks go by it.
	DeleteCalendar(ctx context.Context, code string, check func(*Calendar) (access.Entry, error)) error
	Team(ctx context.Context, code string) (access.Team, error)
}

// Change is a change of one calendar in one transaction. Apply gets what
// stands and changes it; it may run more than once, each time with a fresh
// copy. An error of it undoes everything.
type Change struct {
	Code  string
	Now   time.Time
	By    access.Actor
	Apply func(c *Calendar) (access.Entry, error)
}

// replanner plans the tasks of a calendar anew. What it leaves over, the
// schedulers finish.
type replanner interface {
	Replan(ctx context.Context, calendar string) error
}

// Calendars are the use cases of calendars. Each checks the actor's right
// itself: everybody sees those of the installation, which admins change; those
// of a team are seen by its members and changed by its editors.
type Calendars struct {
	store store
	plan  replanner
	now   func() time.Time
}

// NewCalendars keeps calendars in the store.
func NewCalendars(s store, plan replanner, now func() time.Time) *Calendars {
	return &Calendars{store: s, plan: plan, now: now}
}

// List gives the calendars that the actor may see, by code, to choose from.
func (s *Calendars) List(ctx context.Context, by access.Actor) ([]Listing, error) {
	return s.store.Calendars(ctx, by.Scope())
}

// Overviews gives the calendars that the actor may see with their days.
func (s *Calendars) Overviews(ctx context.Context, by access.Actor) ([]Overview, error) {
	return s.store.CalendarsWithDays(ctx, by.Scope())
}

// Get gives a calendar that the actor may see; NotFound otherwise.
func (s *Calendars) Get(ctx context.Context, by access.Actor, code string) (*Calendar, error) {
	if !goodCode.MatchString(code) {
		return nil, access.NoObject()
	}
	c, err := s.store.Calendar(ctx, code)
	if fault.KindOf(err) == fault.KindNotFound && err != nil {
		return nil, access.NoObject()
	}
	if err != nil {
		return nil, fmt.Errorf("calendar %q: %w", code, err)
	}
	if !sees(by, c.TeamID) {
		return nil, access.NoObject()
	}
	return c, nil
}

// Uses gives the first tasks that go by the calendar and that the actor sees,
// by code, and how many there are.
func (s *Calendars) Uses(ctx context.Context, by access.Actor, code string, limit int) ([]Use, int, error) {
	if _, err := s.Get(ctx, by, code); err != nil {
		return nil, 0, err
	}
	return s.store.CalendarUses(ctx, code, by.Scope(), limit)
}

// sees tells whether the actor may know of a team's calendars: of those of the
// installation everybody does.
func sees(by access.Actor, team int64) bool { return team == 0 || by.Sees(team) }

// check is the actor's Check for calendars.
func check(by access.Actor, team int64) error {
	if team == 0 && !by.Can(access.EditCalendar, 0) {
		return fault.Denied("A calendar of the whole installation is changed by administrators")
	}
	return by.Check(access.EditCalendar, team)
}

// MayEdit tells whether the actor may change the calendar.
func MayEdit(by access.Actor, c *Calendar) bool { return check(by, c.TeamID) == nil }
