package access

import (
	"strconv"
	"strings"
	"time"
)

// Change is one field's old and new value, as text, secrets already masked.
type Change struct {
	Field string `json:"field"`
	Old   string `json:"old"`
	New   string `json:"new"`
}

// Object names what an audit row is about.
type Object struct {
	Kind string // task, instance, dead_letter, user, token, team
	ID   string
	Name string
}

// Entry is one row of the audit, written in the transaction of the change it
// tells of.
type Entry struct {
	ID      int64
	At      time.Time
	Actor   Actor
	Action  string // kind of object and what was done: "task.create", "letter.replay"; see Refused
	Object  Object
	TeamID  int64
	Changes []Change
	Reason  string
}

// refusing ends the actions that were not let happen.
const refusing = ".refuse"

// Refused tells whether the entry is of something that ax did not let happen.
// The name of the action says so, not a column of its own: the hash chain
// covers it, and versions of ax side by side seal the same rows alike.
func (e Entry) Refused() bool { return strings.HasSuffix(e.Action, refusing) }

// Masked stands in an audit row for a value that is not to be read.
const Masked = "••••"

// object names what has a numbered row; 0 is not stored yet.
func object(kind string, id int64, name string) Object {
	o := Object{Kind: kind, Name: name}
	if id != 0 {
		o.ID = strconv.FormatInt(id, 10)
	}
	return o
}

// differ appends a change when the values differ.
func differ(c []Change, field, was, is string) []Change {
	if was == is {
		return c
	}
	return append(c, Change{Field: field, Old: was, New: is})
}

// diffPerson tells what an edit changed; of a password only that it did.
func diffPerson(was, is Person) []Change {
	var c []Change
	c = differ(c, "name", was.Name, is.Name)
	c = differ(c, "email", was.Email, is.Email)
	c = differ(c, "admin", strconv.FormatBool(was.Admin), strconv.FormatBool(is.Admin))
	c = differ(c, "auditor", strconv.FormatBool(was.Auditor), strconv.FormatBool(is.Auditor))
	c = differ(c, "disabled", strconv.FormatBool(was.Disabled), strconv.FormatBool(is.Disabled))
	c = differ(c, "language", was.Language, is.Language)
	c = differ(c, "zone", was.Zone, is.Zone)
	c = differ(c, "theme", was.Theme, is.Theme)
	if was.PasswordHash != is.PasswordHash {
		c = append(c, Change{Field: "password", Old: Masked, New: Masked})
	}
	return c
}

// rightsOf tells which global rights a new person begins with.
func rightsOf(p Person) []Change {
	var c []Change
	if p.Admin {
		c = append(c, Change{Field: "admin", Old: "false", New: "true"})
	}
	if p.Auditor {
		c = append(c, Change{Field: "auditor", Old: "false", New: "true"})
	}
	return c
}
