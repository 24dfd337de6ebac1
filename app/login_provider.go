package app

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/fault"
	"ax/views"
)

// provider is the company's identity provider.
type provider interface {
	Name() string // what people call it
	Issuer() string
	Grants() []access.Grant
	// Start gives the address to send the browser to. Faults: Unavailable.
	Start(ctx context.Context, t access.Trip) (string, error)
	// Finish trades the code for what the provider says of the person. Faults:
	// Unavailable; any other error is an answer that can't be believed.
	Finish(ctx context.Context, t access.Trip, code string) (access.Assertion, error)
}

// CallbackPath is where the provider sends people back to.
const CallbackPath = "/login/oidc/callback"

// tripCookie holds a sign-in while it is at the provider, sealed.
const tripCookie = "ax_oidc"

// maxNext bounds the path to go on to, in bytes: browsers drop long cookies.
const maxNext = 500

// tripKept is how long the browser keeps it; the trip says by itself when it
// is over.
const tripKept = 10 * time.Minute

func (a *App) providerRoutes() []route {
	return []route{
		{http.MethodGet, "/login/oidc", (*App).startTrip, anyone, false},
		{http.MethodGet, CallbackPath, (*App).endTrip, anyone, false},
		{http.MethodPost, "/users/:login/provider", (*App).bindUser, access.Administer, false},
	}
}

// tripName keeps other hosts of the same domain from setting the cookie.
func (a *App) tripName() string {
	if a.https() {
		return "__Host-" + tripCookie
	}
	return tripCookie
}

func (a *App) noProvider() error { return fault.NotFound("There is nothing at this address") }

// startTrip sends the browser to the provider. It is a link, not a form, and
// changes nothing but a cookie: browsers hold a form to form-action, through
// all redirects.
func (a *App) startTrip(c *gin.Context) (reply, error) {
	if a.provider == nil {
		return reply{}, a.noProvider()
	}
	next := localPath(c.Query("next"), "/")
	if len(next) > maxNext {
		next = "/"
	}
	who, err := a.visit(c)
	if err != nil {
		return reply{}, err
	}
	if who.person.ID != 0 {
		return reply{to: next}, nil
	}
	if waiting, err := a.waiting(c.Request.Context()); err != nil || waiting {
		return a.waitingPage(c), err
	}
	trip, sealed, err := a.sessions.BeginTrip(next)
	if err != nil {
		return reply{}, err
	}
	to, err := a.provider.Start(c.Request.Context(), trip)
	if err != nil {
		return a.loginAgain(c, next, err)
	}
	a.setCookie(c, a.tripName(), sealed, tripKept)
	return reply{to: to}, nil
}

// endTrip signs in who comes back.
func (a *App) endTrip(c *gin.Context) (reply, error) {
	if a.provider == nil {
		return reply{}, a.noProvider()
	}
	token, trip, err := a.sessions.SignInThrough(c.Request.Context(), access.Return{
		Provider: a.provider.Name(), Grants: a.provider.Grants(), Trip: cookie(c, a.tripName()), State: c.Query("state"),
		Ask: func(ctx context.Context, t access.Trip) (access.Assertion, error) {
			return a.ask(ctx, t, c.Request.URL.Query())
		},
		Address: address(c), Agent: c.Request.UserAgent(), RequestID: requestID(c),
	})
	if trip.State != "" { // it has ended; another, begun in this browser since, has not
		a.setCookie(c, a.tripName(), "", -1)
	}
	next := localPath(trip.Next, "/")
	switch fault.KindOf(err) {
	case fault.KindDenied:
		return a.turnedAway(c, err), err
	case fault.KindUnauthenticated, fault.KindTooMany, fault.KindUnavailable:
		return a.loginAgain(c, next, err)
	}
	if err != nil {
		return reply{}, err
	}
	a.enter(c, token)
	return reply{to: next}, nil
}

// ask reads the provider's answer. What it says in words is shown to nobody:
// anybody can write such an address.
func (a *App) ask(ctx context.Context, t access.Trip, answer url.Values) (access.Assertion, error) {
	if wrong := answer.Get("error"); wrong != "" {
		return access.Assertion{}, access.GaveUp(a.provider.Name(), errText(wrong))
	}
	if iss := answer.Get("iss"); iss != "" && iss != a.provider.Issuer() {
		return access.Assertion{}, errText("the answer names another issuer")
	}
	return a.provider.Finish(ctx, t, answer.Get("code"))
}

// errText is an error for the log.
type errText string

// Error cuts what came from outside.
func (e errText) Error() string { return plain(string(e[:min(len(e), 100)])) }

// loginAgain shows the sign-in with what went wrong; a password still opens
// it.
func (a *App) loginAgain(c *gin.Context, next string, err error) (reply, error) {
	a.noteCause(c, err)
	a.standAt(c, "/login?"+url.Values{"next": {next}}.Encode())
	page := a.loginPage("", next)
	if text, ok := fault.TextOf(err); ok {
		page.Errors = []fault.FieldError{{Text: text}}
	}
	return show(views.Login(page)), err
}

// standAt says which page this is, in the place of an address that holds the
// provider's answer and is good once.
func (a *App) standAt(c *gin.Context, path string) {
	_, _ = a.visit(c) // who can't be known is a guest
	if v, ok := visited(c); ok {
		v.viewer.Path = path
	}
}

// noteCause logs why an answer was not believed: nobody is told, and whoever
// set the provider up must know.
func (a *App) noteCause(c *gin.Context, err error) {
	if fault.KindOf(err) != fault.KindUnauthenticated {
		return // said by the rest
	}
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Cause != nil {
		a.log.WarnContext(c.Request.Context(), "nobody was signed in through the provider",
			"request_id", requestID(c), "cause", plain(f.Cause.Error()))
	}
}

// turnedAway says to who is known at the provider that ax is not open to
// them. Which groups open it is nobody's business who has none of them.
func (a *App) turnedAway(c *gin.Context, err error) reply {
	a.standAt(c, "/login")
	lang := a.viewer(c).Lang
	text, _ := fault.TextOf(err)
	return show(views.Error(views.ErrorPage{
		Status: http.StatusForbidden, RequestID: requestID(c),
		Title: views.Translate(lang, "You can’t come in with this account"),
		What:  views.TranslateText(lang, text),
		Why:   views.Translate(lang, "%s knows you. What you may do in ax follows from your groups there, as the configuration of ax says.", a.provider.Name()),
		Kept:  views.Translate(lang, "Nobody was signed in. The refusal is in the audit."),
		Help:  views.Translate(lang, "Ask whoever runs ax, and name the request."),
	}))
}

// bindUser binds a person to who they are at the provider.
func (a *App) bindUser(c *gin.Context) (reply, error) {
	if a.provider == nil {
		return reply{}, a.noProvider()
	}
	p, err := a.personOf(c)
	if err != nil {
		return reply{}, err
	}
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	to := access.ProviderID{Issuer: a.provider.Issuer(), Subject: f.text("subject")}
	err = a.users.Bind(c.Request.Context(), actor(c), p.ID, to)
	if kind := fault.KindOf(err); kind == fault.KindInvalid || kind == fault.KindConflict {
		page, failed := a.userPage(c, p.Login)
		if failed != nil {
			return reply{}, failed
		}
		page.Errors, page.Subject = errorsOf(err), to.Subject
		return show(views.UserDetail(page)), err
	}
	if to.Subject == "" {
		return a.userChanged(c, p, err, "%s can’t sign in through %s any more; their sessions are ended", p.Login, a.provider.Name())
	}
	return a.userChanged(c, p, err, "%s signs in through %s from now on; their sessions are ended", p.Login, a.provider.Name())
}

// providerName is what people call the provider; "" is none.
func (a *App) providerName() string {
	if a.provider == nil {
		return ""
	}
	return a.provider.Name()
}
