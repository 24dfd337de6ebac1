package app

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/cron"
	"ax/app/fault"
	"ax/views"
)

// The cookies. None but the session says who it is.
const (
	sessionCookie  = "ax_session"
	languageCookie = "ax_lang"  // chosen in this browser since the sign-in
	themeCookie    = "ax_theme" // also written by theme.js
	teamCookie     = "ax_team"
	flashCookie    = "ax_flash"
)

const year = 365 * 24 * time.Hour

// refreshEvery is how often a live page asks for its parts, in seconds.
const refreshEvery = 5

// visit is who comes with a request and what they look at.
type visit struct {
	actor  access.Actor  // zero when nobody is signed in
	person access.Person // ID 0 then
	teams  []access.Team // those that the actor may read, by code
	team   int64         // the one chosen; 0: all
	viewer views.Viewer
	said   *views.Flash // by this request, for the next page
	failed error        // why it can't be known who it is; a guest is shown then
}

// anyTeam is a team that the actor sees; 0 when there is none.
func (v *visit) anyTeam() int64 {
	if len(v.teams) == 0 {
		return 0
	}
	return v.teams[0].ID
}

const visitKey = "ax.visit"

// visited gives the visit if it was looked up already.
func visited(c *gin.Context) (*visit, bool) {
	kept, _ := c.Get(visitKey)
	v, ok := kept.(*visit)
	return v, ok
}

// visit looks up who it is, once per request. The error is never that nobody
// is signed in.
func (a *App) visit(c *gin.Context) (*visit, error) {
	if v, ok := visited(c); ok {
		return v, v.failed
	}
	v := &visit{}
	if v.failed = a.lookUp(c, v); v.failed != nil {
		v = &visit{failed: v.failed} // not asked again: the ledger may be slow to say no
	}
	v.viewer = a.newViewer(c, v)
	c.Set(visitKey, v)
	return v, v.failed
}

func (a *App) lookUp(c *gin.Context, v *visit) (err error) {
	token := a.sessionToken(c)
	if token == "" {
		return nil
	}
	ctx := c.Request.Context()
	v.actor, v.person, err = a.sessions.Resolve(ctx, token, address(c), requestID(c))
	if fault.KindOf(err) == fault.KindUnauthenticated {
		return nil
	}
	if err != nil {
		return err
	}
	if v.teams, err = a.teams.List(ctx, v.actor); err != nil {
		return fmt.Errorf("list the teams of %s: %w", v.person.Login, err)
	}
	v.team = a.chooseTeam(c, v.teams)
	return nil
}

// newViewer says how the pages of the visit are to look.
func (a *App) newViewer(c *gin.Context, v *visit) views.Viewer {
	p := v.person
	out := views.Viewer{
		// The cookie is a choice in this browser since the sign-in, which
		// clears it; so it goes before the person's own setting.
		Lang:  views.PickLang(cookie(c, languageCookie), p.Language, c.GetHeader("Accept-Language")),
		Theme: cmp.Or(cookie(c, themeCookie), p.Theme, "auto"),
		Zone:  a.zone, Now: a.now(),
		Path: pageOf(c), Env: a.env, Version: a.version,
		Refresh: refreshEvery, SetupWarning: !a.https(),
	}
	if zone, err := cron.LoadZone(p.Zone); err == nil {
		out.Zone = zone
	}
	if p.ID == 0 {
		return out
	}
	out.User = views.User{ID: p.ID, Login: p.Login, Name: p.Shown(), Admin: p.Admin, All: v.actor.Can(access.Read, 0), Audit: mayAnywhere(v.actor, access.ReadAudit)}
	for _, t := range v.teams {
		out.Teams = append(out.Teams, views.Team{Code: t.Code, Name: t.Name})
		if t.ID == v.team {
			out.Team = t.Code
		}
	}
	return out
}

// pageOf is the page that the request belongs to: for a fragment, the one it
// is on.
func pageOf(c *gin.Context) string {
	if isHTMX(c) {
		if u, err := url.Parse(c.GetHeader("HX-Current-URL")); err == nil {
			return localPath(u.RequestURI(), "/")
		}
	}
	if c.Request.Method != http.MethodGet && c.Request.Method != http.MethodHead {
		return localPath(c.Request.URL.Path, "/")
	}
	return localPath(c.Request.URL.RequestURI(), "/")
}

// chooseTeam takes the team from ?team= and remembers it in the browser; ""
// is all teams, and so is one that isn't the actor's.
func (a *App) chooseTeam(c *gin.Context, teams []access.Team) int64 {
	code, asked := c.GetQuery("team")
	if !asked {
		code = cookie(c, teamCookie)
	}
	var chosen access.Team
	for _, t := range teams {
		if t.Code == code {
			chosen = t
		}
	}
	// A refresh is no choice: two tabs would fight over the cookie.
	if asked && c.Request.Method == http.MethodGet && !isHTMX(c) {
		a.setCookie(c, teamCookie, chosen.Code, year)
	}
	return chosen.ID
}

// viewer of the request; of a guest when it can't be known who it is.
func (a *App) viewer(c *gin.Context) views.Viewer {
	_, _ = a.visit(c) // the error is answered by admit
	v, _ := visited(c)
	return v.viewer
}

// actor of a route that asks for a person.
func actor(c *gin.Context) access.Actor {
	v, ok := visited(c)
	if !ok {
		return access.Actor{}
	}
	return v.actor
}

// scopeOf is what lists show: what the actor may read, of the team chosen.
func scopeOf(c *gin.Context) access.Scope {
	v, ok := visited(c)
	if !ok {
		return access.Scope{}
	}
	if v.team != 0 {
		return v.actor.Scope().Only(v.team)
	}
	return v.actor.Scope()
}

// teamsOf gives the teams that the actor may read, by code.
func teamsOf(c *gin.Context) []access.Team {
	if v, ok := visited(c); ok {
		return v.teams
	}
	return nil
}

// teamCode is the code of a team that the actor may read, else "".
func teamCode(c *gin.Context, id int64) string {
	for _, t := range teamsOf(c) {
		if t.ID == id {
			return t.Code
		}
	}
	return ""
}

// zoneOf gives the zone of the times that this person reads and types.
func (a *App) zoneOf(c *gin.Context) *time.Location { return a.viewer(c).Zone }

// say translates for the person.
func (a *App) say(c *gin.Context, format string, args ...any) string {
	return views.Translate(a.viewer(c).Lang, format, args...)
}

// address is the socket's, or what a trusted proxy says of it.
func address(c *gin.Context) string { return c.ClientIP() }

// askToSignIn sends to the login and from there back to the page.
func (a *App) askToSignIn(c *gin.Context) {
	if waiting, err := a.waiting(c.Request.Context()); err == nil && waiting {
		a.showWaiting(c)
		return
	}
	to := "/login"
	if next := pageOf(c); next != "/" && (isHTMX(c) || c.Request.Method == http.MethodGet) {
		to += "?" + url.Values{"next": {next}}.Encode()
	}
	c.Header("Cache-Control", "no-store")
	if isHTMX(c) {
		c.Header("HX-Redirect", to)
		c.Status(http.StatusUnauthorized)
		c.Writer.WriteHeaderNow()
		return
	}
	c.Redirect(http.StatusSeeOther, to)
}

// waiting tells whether nobody is administrator yet. Once there is one, there
// always is.
func (a *App) waiting(ctx context.Context) (bool, error) {
	if a.settled.Load() {
		return false, nil
	}
	needed, err := a.setup.Needed(ctx)
	if err == nil && !needed {
		a.settled.Store(true)
	}
	return needed, err
}
