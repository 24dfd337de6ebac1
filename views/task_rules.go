package views

import (
	"context"
	"fmt"
	"time"

	"ax/app/sched"
)

// calendarSentence says which days a schedule follows; "" when it follows none.
func calendarSentence(ctx context.Context, s sched.Schedule, name string) string {
	if s.Calendar == "" {
		return ""
	}
	days := t(ctx, "Only on workdays of %s.", name)
	if s.CalendarMode == sched.SkipDaysOff {
		days = t(ctx, "Not on the days off of %s.", name)
	}
	switch s.CalendarMove {
	case sched.MoveNext:
		return t(ctx, "%s %s|two sentences", days, t(ctx, "A slot on another day moves to the next workday."))
	case sched.MovePrevious:
		return t(ctx, "%s %s|two sentences", days, t(ctx, "A slot on another day moves to the workday before."))
	}
	return t(ctx, "%s %s|two sentences", days, t(ctx, "A slot on another day is dropped."))
}

// windowSentence says from when to when slots may be; "" without a window.
func windowSentence(ctx context.Context, s sched.Schedule) string {
	v := viewer(ctx)
	zone := zoneOf(s, v)
	switch {
	case !s.StartAt.IsZero() && !s.EndAt.IsZero():
		return t(ctx, "From %s to %s.", v.Moment(s.StartAt, zone), v.Moment(s.EndAt, zone))
	case !s.StartAt.IsZero():
		return t(ctx, "From %s on.", v.Moment(s.StartAt, zone))
	case !s.EndAt.IsZero():
		return t(ctx, "Until %s.", v.Moment(s.EndAt, zone))
	}
	return ""
}

// ruleSentences are all that bends the plain schedule, a sentence each.
func ruleSentences(ctx context.Context, s sched.Schedule, calendar string) []string {
	var out []string
	for _, said := range []string{calendarSentence(ctx, s, calendar), windowSentence(ctx, s)} {
		if said != "" {
			out = append(out, said)
		}
	}
	if s.FixedDelay {
		out = append(out, t(ctx, "Only the next run is known: each one after it is counted from the end of the run before."))
	}
	if s.JitterSeconds > 0 {
		out = append(out, t(ctx, "Each run begins up to %s later, always the same for one task.", viewer(ctx).Exactly(s.JitterSeconds)))
	}
	return out
}

// dayOffSentence says what becomes of a slot on a day off.
func dayOffSentence(ctx context.Context, d sched.DayOff, zone *time.Location) string {
	v := viewer(ctx)
	day := v.Date(d.Slot, zone)
	if d.Name != "" {
		day = t(ctx, "%s (%s)|day, name", day, d.Name)
	}
	switch {
	case d.To.IsZero():
		return t(ctx, "%s is off: its slots are dropped.", day)
	case d.Joins && d.To.Before(d.Slot):
		return t(ctx, "%s is off: runs on %s before, with that day’s own.", day, v.Date(d.To, zone))
	case d.To.Before(d.Slot):
		return t(ctx, "%s is off: runs on %s before.", day, v.Date(d.To, zone))
	case d.Joins:
		return t(ctx, "%s is off: moves to %s and joins that day’s own.", day, v.Date(d.To, zone))
	}
	return t(ctx, "%s is off: moves to %s.", day, v.Date(d.To, zone))
}

// shiftSentence says what the next change of offset does to runs in UTC.
func shiftSentence(ctx context.Context, c sched.ClockShift, zone *time.Location) string {
	v := viewer(ctx)
	if c.By > 0 {
		return t(ctx, "From %s on %s is %s: runs begin %s earlier in UTC.", v.Date(c.At, zone), zone.String(), utcOffset(c.Offset), v.Exactly(c.By))
	}
	return t(ctx, "From %s on %s is %s: runs begin %s later in UTC.", v.Date(c.At, zone), zone.String(), utcOffset(c.Offset), v.Exactly(-c.By))
}

// utcOffset is an offset as people write it: UTC+2, UTC+5:30.
func utcOffset(seconds int) string {
	sign := "+"
	if seconds < 0 {
		sign, seconds = "−", -seconds
	}
	if minutes := seconds % 3600 / 60; minutes != 0 {
		return fmt.Sprintf("UTC%s%d:%02d", sign, seconds/3600, minutes)
	}
	return fmt.Sprintf("UTC%s%d", sign, seconds/3600)
}

// Date is the day of an instant in a zone with its weekday: "Fri 25 Dec", in
// Chinese "12-25 周五"; another year than this one is said.
func (v Viewer) Date(at time.Time, zone *time.Location) string {
	at = at.In(zone)
	sameYear := at.Year() == v.Now.In(zone).Year()
	if v.Lang == Chinese {
		if sameYear {
			return at.Format("01-02") + " " + chineseDays[at.Weekday()]
		}
		return at.Format("2006-01-02") + " " + chineseDays[at.Weekday()]
	}
	if sameYear {
		return at.Format("Mon 2 Jan")
	}
	return at.Format("Mon 2 Jan 2006")
}
