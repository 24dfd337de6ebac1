package app

import (
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/fault"
	"ax/static"
)

// route is one row of the route table. The verb is checked before do runs:
// the actor must have it in some team. Whether in the object's own team is
// checked by the use case, which alone knows the object.
type route struct {
	method, path string
	do           func(*App, *gin.Context) (reply, error)
	verb         access.Verb // or anyone, signedIn
	stream       bool        // stays open: no deadline
}

// What a route asks of who comes, beside the verbs of access.
const (
	anyone   access.Verb = "(anyone)"    // the session isn't even looked up
	signedIn access.Verb = "(signed in)" // a person, whatever the role
)

// routes is the whole table of pages. A test fails when the engine has a
// route that isn't in it.
func (a *App) routes() []route {
	return slices.Concat(
		a.entryRoutes(),
		a.providerRoutes(),
		a.dashboardRoutes(),
		a.taskRoutes(),
		a.instanceRoutes(),
		a.letterRoutes(),
		a.alertRoutes(),
		a.opsRoutes(),
		a.executorRoutes(),
		a.calendarRoutes(),
		a.auditRoutes(),
		a.settingsRoutes(),
		a.teamRoutes(),
		a.userRoutes(),
		a.invitationRoutes(),
		a.accountRoutes(),
		a.alertFormRoutes(),
	)
}

func (a *App) entryRoutes() []route {
	rows := []route{
		{http.MethodGet, "/healthz", (*App).showAlive, anyone, false},
		{http.MethodGet, "/readyz", (*App).showReady, anyone, false},
		{http.MethodGet, "/login", (*App).showLogin, anyone, false},
		{http.MethodPost, "/login", (*App).signIn, anyone, false},
		{http.MethodPost, "/logout", (*App).signOut, anyone, false},
		{http.MethodGet, "/setup", (*App).showSetup, anyone, false},
		{http.MethodPost, "/setup", (*App).completeSetup, anyone, false},
		{http.MethodGet, "/language", (*App).chooseLanguage, anyone, false},
		{http.MethodPost, "/theme", (*App).chooseTheme, anyone, false},
		{http.MethodGet, "/help", (*App).showHelp, signedIn, false},
		{http.MethodGet, "/search", (*App).search, signedIn, false},
	}
	if a.dev {
		rows = append(rows, route{http.MethodGet, "/dev/gallery", (*App).showGallery, anyone, false})
	}
	return rows
}

func (a *App) register(e *gin.Engine) {
	for _, r := range a.routes() {
		e.Handle(r.method, r.path, a.serve(r))
		if r.method == http.MethodGet { // net/http leaves the body out
			e.Handle(http.MethodHead, r.path, a.serve(r))
		}
		if r.stream {
			a.streams[r.path] = true
		}
	}
	files := gin.WrapH(static.Handler())
	e.GET(static.Prefix+"*file", files)
	e.HEAD(static.Prefix+"*file", files)
	a.mountAPI(e)
	e.NoRoute(a.serve(route{verb: anyone, do: (*App).nowhere}))
	e.NoMethod(a.serve(route{verb: anyone, do: (*App).wrongMethod}))
}

// serve wraps what every route has in common: who it is, may they, and the
// answer.
func (a *App) serve(r route) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := a.admit(c, r.verb); err != nil {
			a.respond(c, reply{}, err)
			return
		}
		if err := a.slowDown(c, r); err != nil {
			a.respond(c, reply{}, err)
			return
		}
		answer, err := r.do(a, c)
		a.respond(c, answer, err)
	}
}

// slowDown refuses a person who acts faster than people do. Nothing was done
// then. Faults: TooMany.
func (a *App) slowDown(c *gin.Context, r route) error {
	v, ok := visited(c)
	if !ok || v.person.ID == 0 || (r.method == http.MethodGet && !costly[r.path]) {
		return nil
	}
	return a.acts.take(bucketKey(v.actor), a.now())
}

func (a *App) admit(c *gin.Context, v access.Verb) error {
	if v == anyone {
		return nil
	}
	who, err := a.visit(c)
	if err != nil {
		return err
	}
	if who.person.ID == 0 {
		return signInFirst()
	}
	if v == signedIn || mayAnywhere(who.actor, v) {
		return nil
	}
	return who.actor.Check(v, who.anyTeam())
}

func signInFirst() error { return fault.Unauthenticated("Sign in first") }

// mayAnywhere tells whether the actor has the verb in some team.
func mayAnywhere(a access.Actor, v access.Verb) bool {
	if a.Can(v, 0) {
		return true
	}
	for team := range a.Roles {
		if a.Can(v, team) {
			return true
		}
	}
	return v == access.Read // whoever is in no team sees empty lists
}

func (a *App) nowhere(*gin.Context) (reply, error) {
	return reply{}, fault.NotFound("There is nothing at this address")
}

func (a *App) wrongMethod(*gin.Context) (reply, error) {
	return reply{status: http.StatusMethodNotAllowed}, fault.NotFound("That can’t be done here")
}
