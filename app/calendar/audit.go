package calendar

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"ax/app/access"
)

// maxTold is how many stretches of days an audit row names one by one.
const maxTold = 60

// entryOf is the audit row of a change.
func entryOf(by access.Actor, now time.Time, action, reason string, was, is *Calendar) access.Entry {
	e := access.Entry{
		At: now, Actor: by, Action: action, TeamID: is.TeamID, Reason: reason,
		Object: access.Object{Kind: "calendar", Name: is.Code},
	}
	if is.ID != 0 {
		e.Object.ID = strconv.FormatInt(is.ID, 10)
	}
	if was.Name != is.Name {
		e.Changes = append(e.Changes, access.Change{Field: "name", Old: was.Name, New: is.Name})
	}
	if was.Week != is.Week {
		e.Changes = append(e.Changes, access.Change{Field: "week", Old: was.Week.String(), New: is.Week.String()})
	}
	spans := Spans(Diff(was.Listed, is.Listed))
	for i, s := range spans {
		if i == maxTold {
			e.Changes = append(e.Changes, access.Change{Field: "days", New: fmt.Sprintf("and %d more stretches", len(spans)-maxTold)})
			break
		}
		e.Changes = append(e.Changes, access.Change{Field: "days " + s.String(), Old: s.Was.words(), New: s.Now.words()})
	}
	return e
}

// words tells of an entry in an audit row; "" is not listed.
func (e *Entry) words() string {
	if e == nil {
		return ""
	}
	kind := "off"
	if e.Work {
		kind = "work"
	}
	return strings.TrimSpace(kind + " " + e.Name)
}

// String gives the workdays of the week, as "mon,tue,wed".
func (w Week) String() string { return strings.Join(w.Names(), ",") }
