package calendar

import (
	"context"
	"maps"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"ax/app/access"
	"ax/app/fault"
)

var goodCode = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// Draft is what it takes to make a calendar.
type Draft struct {
	Code   string // 1 to 64 of a–z, 0–9, . _ -; never changes
	Name   string // "" is the code
	Team   string // code of the owning team; "" is the installation, for admins
	Week   Week
	Days   map[Day]Entry
	From   string // code of a calendar whose week and days are taken instead
	Reason string // kept in the audit
}

// Edit changes a calendar's name and week.
type Edit struct {
	Name    string
	Week    Week
	Version int // as it was read
	Reason  string
}

// Create makes a calendar. Faults: Invalid with all broken fields, Denied,
// Conflict when there are too many.
func (s *Calendars) Create(ctx context.Context, by access.Actor, w Draft) (*Calendar, error) {
	now := s.now()
	c := &Calendar{
		Code: strings.TrimSpace(w.Code), Name: strings.TrimSpace(w.Name), Week: w.Week, Listed: squeezed(w.Days),
		Version: 1, UpdatedAt: now, UpdatedBy: by.Name,
	}
	if c.Name == "" {
		c.Name = c.Code
	}
	bad := append(checkCode(c.Code), checkName(c.Name)...)
	bad = append(bad, checkWeek(c.Week)...)
	bad = append(bad, checkReason(w.Reason)...)
	var denied error
	if w.Team != "" {
		team, err := s.store.Team(ctx, w.Team)
		switch {
		case err != nil && fault.KindOf(err) != fault.KindNotFound:
			return nil, err
		case err != nil || !by.Sees(team.ID):
			bad = append(bad, fault.Field("team", "There is no team %q that you can see", w.Team))
		default:
			c.TeamID = team.ID
		}
	}
	if len(bad) == 0 {
		denied = check(by, c.TeamID)
	}
	if denied != nil {
		return nil, denied
	}
	if w.From != "" {
		from, err := s.Get(ctx, by, w.From)
		switch {
		case err != nil && fault.KindOf(err) != fault.KindNotFound:
			return nil, err
		case err != nil:
			bad = append(bad, fault.Field("from", "There is no calendar %q that you can see", w.From))
		default:
			c.Week, c.Listed = from.Week, maps.Clone(from.Listed)
		}
	}
	if err := fault.Invalid(append(bad, checkDays(c.Listed)...)...); err != nil {
		return nil, err
	}
	return s.store.CreateCalendar(ctx, c, entryOf(by, now, "calendar.create", w.Reason, &Calendar{TeamID: c.TeamID, Code: c.Code}, c))
}

// Update changes the name and the week. A stale version is a Conflict that
// names who changed it.
func (s *Calendars) Update(ctx context.Context, by access.Actor, code string, w Edit) (*Calendar, error) {
	name := strings.TrimSpace(w.Name)
	bad := append(checkName(name), checkWeek(w.Week)...)
	bad = append(bad, checkVersion(w.Version)...)
	return s.change(ctx, by, code, "calendar.update", w.Version, w.Reason, bad, func(c *Calendar) error {
		c.Name, c.Week = name, w.Week
		return nil
	})
}

// Kind says what becomes of days that a person sets.
type Kind string

// The kinds of a setting.
const (
	SetOff     Kind = "off"
	SetWorked  Kind = "work"
	SetCleared Kind = "week" // listed no longer: as the week says
)

// Span sets the days of a stretch, both ends included.
type Span struct {
	From, To Day
	Kind     Kind
	Name     string
	Version  int
	Reason   string
}

// maxSpan bounds a stretch that is set at once.
const maxSpan = 366

// SetDays lists the days of a stretch as off or worked, or clears them.
func (s *Calendars) SetDays(ctx context.Context, by access.Actor, code string, w Span) (*Calendar, error) {
	name := squeeze(w.Name)
	var bad []fault.FieldError
	if w.To < w.From {
		bad = append(bad, fault.Field("to", "The last day comes before the first"))
	} else if w.To-w.From >= maxSpan {
		bad = append(bad, fault.Field("to", "At most %d days are set at once", maxSpan))
	}
	if w.Kind != SetOff && w.Kind != SetWorked && w.Kind != SetCleared {
		bad = append(bad, fault.Field("kind", "One of off, work and week is needed"))
	}
	bad = append(bad, checkDayName("name", name)...)
	bad = append(bad, checkVersion(w.Version)...)
	return s.change(ctx, by, code, "calendar.days", w.Version, w.Reason, bad, func(c *Calendar) error {
		for d := w.From; d <= w.To; d++ {
			if w.Kind == SetCleared {
				delete(c.Listed, d)
				continue
			}
			c.Listed[d] = Entry{Work: w.Kind == SetWorked, Name: name}
		}
		return nil
	})
}

// SetYear replaces the listed days of a year.
func (s *Calendars) SetYear(ctx context.Context, by access.Actor, code string, year int, days map[Day]Entry, version int, reason string) (*Calendar, error) {
	days = squeezed(days)
	bad := append(checkDays(days), checkVersion(version)...)
	if !inRange(year) {
		bad = append(bad, fault.Field("year", "A year between 1970 and 2199 is needed"))
	}
	for d := range days {
		if d.Year() != year {
			bad = append(bad, fault.Field("days", "%s is no day of %d", d.String(), year))
			break
		}
	}
	return s.change(ctx, by, code, "calendar.days", version, reason, bad, func(c *Calendar) error {
		c.replace(map[int]bool{year: true}, days)
		return nil
	})
}

// replace gives the years new days.
func (c *Calendar) replace(years map[int]bool, days map[Day]Entry) {
	maps.DeleteFunc(c.Listed, func(d Day, _ Entry) bool { return years[d.Year()] })
	maps.Copy(c.Listed, days)
}

// Delete removes a calendar that no task goes by; Conflict while one does.
func (s *Calendars) Delete(ctx context.Context, by access.Actor, code, reason string) error {
	if _, err := s.editable(ctx, by, code); err != nil {
		return err
	}
	now := s.now()
	return s.store.DeleteCalendar(ctx, code, func(c *Calendar) (access.Entry, error) {
		return entryOf(by, now, "calendar.delete", reason, c, &Calendar{ID: c.ID, TeamID: c.TeamID, Code: c.Code}), check(by, c.TeamID)
	})
}

// editable reads a calendar that the actor may change.
func (s *Calendars) editable(ctx context.Context, by access.Actor, code string) (*Calendar, error) {
	c, err := s.Get(ctx, by, code)
	if err != nil {
		return nil, err
	}
	return c, check(by, c.TeamID)
}

// change is the one shape of all changes: right, fields, version, bounds, the
// change with its audit row, and then the tasks that go by it.
func (s *Calendars) change(ctx context.Context, by access.Actor, code, action string, version int, reason string,
	bad []fault.FieldError, set func(*Calendar) error,
) (*Calendar, error) {
	if _, err := s.editable(ctx, by, code); err != nil {
		return nil, err
	}
	if err := fault.Invalid(append(bad, checkReason(reason)...)...); err != nil {
		return nil, err
	}
	now := s.now()
	c, err := s.store.ChangeCalendar(ctx, Change{Code: code, Now: now, By: by, Apply: func(c *Calendar) (access.Entry, error) {
		if err := c.fresh(version); err != nil {
			return access.Entry{}, err
		}
		old := *c
		old.Listed = maps.Clone(c.Listed)
		if err := set(c); err != nil {
			return access.Entry{}, err
		}
		if err := fault.Invalid(checkDays(c.Listed)...); err != nil {
			return access.Entry{}, err
		}
		return entryOf(by, now, action, reason, &old, c), nil
	}})
	if err != nil {
		return nil, err
	}
	_ = s.plan.Replan(ctx, code) // it is noted; the schedulers repeat what failed
	return c, nil
}

// fresh refuses a change of what somebody else changed meanwhile; version 0
// asks for nothing.
func (c *Calendar) fresh(version int) error {
	if version != 0 && version != c.Version {
		return fault.Conflict("%s changed the calendar meanwhile: it is at version %d, you began from %d", c.UpdatedBy, c.Version, version)
	}
	return nil
}

// squeezed gives the days with names on one line.
func squeezed(days map[Day]Entry) map[Day]Entry {
	out := make(map[Day]Entry, len(days))
	for d, e := range days {
		e.Name = squeeze(e.Name)
		out[d] = e
	}
	return out
}

func checkCode(code string) []fault.FieldError {
	if goodCode.MatchString(code) && code != "new" && code != "import" {
		return nil
	}
	return []fault.FieldError{fault.Field("code", "A calendar's code has 1 to 64 of a–z, 0–9, dot, - and _, begins with a letter or digit, and is not new or import")}
}

func checkName(name string) []fault.FieldError {
	switch {
	case name == "":
		return []fault.FieldError{fault.Field("name", "A name is needed")}
	case !plain(name) || utf8.RuneCountInString(name) > maxName:
		return []fault.FieldError{fault.Field("name", "A name has at most %d characters on one line", maxName)}
	}
	return nil
}

func checkDayName(field, name string) []fault.FieldError {
	if plain(name) && utf8.RuneCountInString(name) <= maxDayName {
		return nil
	}
	return []fault.FieldError{fault.Field(field, "A day's name has at most %d characters on one line", maxDayName)}
}

func plain(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

func checkWeek(w Week) []fault.FieldError {
	if w < 1<<7 {
		return nil
	}
	return []fault.FieldError{fault.Field("week", "A week has seven days")}
}

func checkVersion(version int) []fault.FieldError {
	if version > 0 {
		return nil
	}
	return []fault.FieldError{fault.Field("version", "The version that you read is needed, so that nobody's change is overwritten")}
}

// maxReason bounds a reason, in characters.
const maxReason = 500

func checkReason(reason string) []fault.FieldError {
	if utf8.ValidString(reason) && utf8.RuneCountInString(reason) <= maxReason {
		return nil
	}
	return []fault.FieldError{fault.Field("reason", "At most %d characters are kept", maxReason)}
}

func checkDays(days map[Day]Entry) []fault.FieldError {
	if len(days) > MaxDays {
		return []fault.FieldError{fault.Field("days", "A calendar lists at most %d days", MaxDays)}
	}
	for d, e := range days {
		if y := d.Year(); y < 1970 || y > 2199 {
			return []fault.FieldError{fault.Field("days", "%q lies outside the years 1970 to 2199", d.String())}
		}
		if bad := checkDayName("days", e.Name); bad != nil {
			return bad
		}
	}
	return nil
}
