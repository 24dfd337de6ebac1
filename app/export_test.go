package app

import (
	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/views"
)

// Engine is the router, for tests that look at all routes.
func (a *App) Engine() *gin.Engine { return a.engine }

// Row is a row of the route table.
type Row struct {
	Method, Path string
	Verb         access.Verb
	Stream       bool
}

// What a row asks of who comes, beside the verbs of access.
const (
	Anyone   = anyone
	SignedIn = signedIn
)

// Rows is the route table.
func (a *App) Rows() []Row {
	var rows []Row
	for _, r := range a.routes() {
		rows = append(rows, Row{r.method, r.path, r.verb, r.stream})
	}
	return rows
}

// RequestDeadline and MaxBody are the bounds of a request.
const (
	RequestDeadline = requestDeadline
	MaxBody         = maxBody
)

// Reply is what a handler answers with.
type Reply = reply

// Route adds a route for a test.
func (a *App) Route(method, path string, verb access.Verb, do func(*App, *gin.Context) (Reply, error)) {
	a.engine.Handle(method, path, a.serve(route{method: method, path: path, do: do, verb: verb}))
}

// Answers, for the handlers of tests.
func Show(c templ.Component) Reply                    { return show(c) }
func (r reply) Piecewise(piece templ.Component) Reply { return r.piecewise(piece) }
func Fragment(c templ.Component) Reply                { return fragment(c) }
func GoTo(path string, values ...any) Reply           { return goTo(path, values...) }
func GoBack(c *gin.Context, fallback string) Reply    { return goBack(c, fallback) }
func (a *App) Flash(c *gin.Context, f views.Flash)    { a.flashWith(c, f) }
func (a *App) Viewer(c *gin.Context) views.Viewer     { return a.viewer(c) }
func Actor(c *gin.Context) access.Actor               { return actor(c) }
func ScopeOf(c *gin.Context) access.Scope             { return scopeOf(c) }
func TeamCode(c *gin.Context, id int64) string        { return teamCode(c, id) }

// Costly are the pages that count as acts.
func Costly() map[string]bool { return costly }
