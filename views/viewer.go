// Package views holds the pages: one .templ file per noun with its page
// struct above it, on top of the pieces of views/ui. A page gets values and
// the viewer's context; it calls no service and reads no clock.
//
// It may import the values of the domain (app/sched, app/access, app/cron,
// app/fault) and static; never app, jobs, db or Gin.
package views

import (
	"context"
	"time"

	"ax/app/alert"
)

// Viewer is who looks at a page and how they want it shown. The app puts it
// into the request's context with With; every page reads it from there.
type Viewer struct {
	Lang  string         // English or Chinese
	Theme string         // "light", "dark" or "auto"
	Zone  *time.Location // of the times shown; nil is UTC
	Now   time.Time      // the ledger's now, for everything relative

	User  User   // zero when nobody is signed in
	Teams []Team // those the user may see, in the order shown
	Team  string // code of the team chosen, "" for all

	Path         string  // path and query of this page, for links that come back
	Env          string  // the installation's name, such as "production"; "" hides it
	Version      string  // of ax
	Counts       Counts  // beside the sections' names
	Health       *Health // foot of the sidebar; nil hides it
	Flash        *Flash  // said once, after an action
	Refresh      int     // seconds between live refreshes; 0 is never
	SetupWarning bool    // the connection is plain HTTP: said at the foot of the sidebar
}

// User is the person signed in.
type User struct {
	ID    int64
	Login string
	Name  string
	Admin bool
	All   bool // reads everything: administrators and auditors
	Audit bool // may read the audit, of some team at least
}

func (u User) isAdmin() bool  { return u.Admin }
func (u User) readsAll() bool { return u.All }
func (u User) mayAudit() bool { return u.Audit }

// Team is a team the viewer may see.
type Team struct {
	Code string
	Name string
}

// Counts are the numbers beside the sections' names; 0 shows none.
type Counts struct {
	DeadLetters int64             // open
	Alerts      alert.FiringCount // firing
}

// Health is what the foot of the sidebar says.
type Health struct {
	Ledger bool // the database answers
	Redis  bool
	Nodes  int // that beat
	Known  int // that should
}

// Flash is what an action has to say on the next page. Texts come
// translated.
type Flash struct {
	Text   string
	Detail string
	Bad    bool // stays until it is closed
}

// SignedIn reports whether there is a user.
func (v Viewer) SignedIn() bool { return v.User.ID != 0 }

type viewerKey struct{}

// With gives ctx the viewer that pages rendered with it are for.
func With(ctx context.Context, v Viewer) context.Context {
	if v.Zone == nil {
		v.Zone = time.UTC
	}
	return context.WithValue(ctx, viewerKey{}, v)
}

// viewer is the viewer of ctx; without one, English in UTC.
func viewer(ctx context.Context) Viewer {
	if v, ok := ctx.Value(viewerKey{}).(Viewer); ok {
		return v
	}
	return Viewer{Lang: English, Zone: time.UTC}
}
