package access

import (
	"context"
	"fmt"
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
	Action  string // verb in the past of the object: "task.create", "letter.replay"
	Object  Object
	TeamID  int64
	Changes []Change
	Reason  string
}

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

// AuditFilter narrows a list of audit rows; zero fields don't.
type AuditFilter struct {
	Actor      string // name, exactly
	Action     string // exactly, or a prefix that ends in a dot: "task."
	ObjectKind string
	ObjectID   string
	Since      time.Time // at or after
	Until      time.Time // before
}

// valid drops what no stored text has: a database may refuse to compare with
// bytes that are no UTF-8.
func (f AuditFilter) valid() AuditFilter {
	for _, s := range []*string{&f.Actor, &f.Action, &f.ObjectKind, &f.ObjectID} {
		*s = strings.ToValidUTF8(*s, "\uFFFD")
	}
	return f
}

// AuditPage is one page of audit rows, newest first. Next goes into the next
// call as cursor; 0 is the end.
type AuditPage struct {
	Entries []Entry
	Next    int64
}

// auditStore gives the rows with an id below cursor (0: from the newest).
type auditStore interface {
	Audit(ctx context.Context, s Scope, f AuditFilter, cursor int64, limit int) ([]Entry, error)
}

// Reader shows the audit to those who may read it.
type Reader struct{ store auditStore }

// NewReader reads from the store.
func NewReader(store auditStore) *Reader { return &Reader{store: store} }

// The bounds of a page of audit rows.
const (
	auditPage    = 50
	maxAuditPage = 200
)

// List gives the rows of the teams that the actor may read; the rows of the
// installation itself (people, teams) only to admins and auditors. A limit
// outside of 1–200 becomes 50.
func (r *Reader) List(ctx context.Context, a Actor, f AuditFilter, cursor int64, limit int) (AuditPage, error) {
	if limit < 1 || limit > maxAuditPage {
		limit = auditPage
	}
	rows, err := r.store.Audit(ctx, a.Scope(), f.valid(), cursor, limit+1)
	if err != nil {
		return AuditPage{}, fmt.Errorf("list the audit: %w", err)
	}
	if len(rows) <= limit {
		return AuditPage{Entries: rows}, nil
	}
	rows = rows[:limit]
	return AuditPage{Entries: rows, Next: rows[limit-1].ID}, nil
}
