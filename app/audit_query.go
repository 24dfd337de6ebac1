package app

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/views"
)

// auditQuery takes the filters from the address as they stand there.
func auditQuery(c *gin.Context) views.AuditQuery {
	q := func(name string) string { return clip(strings.TrimSpace(c.Query(name)), maxFilterText) }
	return views.AuditQuery{
		Actor: q("actor"), Action: q("action"), Kind: q("object"), ID: q("id"), Words: q("words"), Result: access.Outcome(q("result")),
		Period: q("period"), From: q("from"), To: q("to"), After: q("after"), Before: q("before"),
	}
}

// How the names of actions and kinds are written.
var (
	actionName = regexp.MustCompile(`^[a-z_]+(\.[a-z_]*)?$`)
	kindName   = regexp.MustCompile(`^[a-z_]+$`)
)

// readAuditQuery makes the filter of the query and its place in the list. The
// error is Invalid, its texts are for the whole form.
func (a *App) readAuditQuery(c *gin.Context, q views.AuditQuery) (f access.AuditFilter, cursor int64, err error) {
	bad := &form{zone: a.zoneOf(c)}
	f = access.AuditFilter{Actor: q.Actor, Action: q.Action, ObjectKind: q.Kind, ObjectID: q.ID, Words: q.Words, Outcome: q.Result}
	if q.Action != "" && !actionName.MatchString(q.Action) {
		bad.refuse("", "There is no action %q: they are named like task.update, all of a kind task.", q.Action)
	} else if q.Action != "" && !strings.Contains(q.Action, ".") {
		f.Action += "."
	}
	if q.Kind != "" && !kindName.MatchString(q.Kind) {
		bad.refuse("", "There is no kind of object %q", q.Kind)
	}
	if q.Result != "" && q.Result != access.Done && q.Result != access.Refused {
		bad.refuse("", "There is no result %q: it is done or refused", string(q.Result))
	}
	bad.auditTeam(c, &f)
	bad.auditPeriod(q, &f, a.now())
	switch {
	case (q.After != "" && !isNumber(q.After)) || (q.Before != "" && !isNumber(q.Before)):
		bad.refuse("", "This place in the list can’t be read")
	case q.After != "":
		cursor, _ = rowNumber(q.After)
	case q.Before != "":
		cursor, _ = rowNumber(q.Before)
		cursor = -cursor
	}
	return f, cursor, bad.err()
}

// auditTeam narrows to the team chosen. One that was asked for and isn't there
// must not show all of them.
func (f *form) auditTeam(c *gin.Context, to *access.AuditFilter) {
	v, ok := visited(c)
	if !ok {
		return
	}
	to.Team = v.team
	if asked := c.Query("team"); asked != "" && v.team == 0 {
		f.refuse("", "There is no team %q", clip(asked, maxFilterText))
	}
}

// auditPeriod bounds the filter in time, in the person's zone.
func (f *form) auditPeriod(q views.AuditQuery, to *access.AuditFilter, now time.Time) {
	switch period := q.In(); {
	case period == "":
		to.Since, to.Until = f.readMoment(q.From), f.readEnd(q.To)
	case !slices.Contains(views.AuditPeriods(), period):
		f.refuse("", "There is no period %q: it is today, 7d, 30d or all", period)
	case period == views.AuditToday:
		local := now.In(f.zone)
		to.Since = time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, f.zone)
	default:
		to.Since = f.begin(period, now)
	}
	if !to.Since.IsZero() && !to.Until.IsZero() && !to.Since.Before(to.Until) {
		f.refuse("", "The period ends before it begins")
	}
}

// readEnd reads a moment that ends a period: a date is meant to its end.
func (f *form) readEnd(typed string) time.Time {
	end := f.readMoment(typed)
	if end.IsZero() || len(typed) != len("2006-01-02") {
		return end
	}
	return end.In(f.zone).AddDate(0, 0, 1).UTC()
}
