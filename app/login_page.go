package app

import (
	"net/url"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/fault"
	"ax/views"
)

// showLogin is the sign-in form; somebody who is signed in already goes on.
func (a *App) showLogin(c *gin.Context) (reply, error) {
	who, err := a.visit(c)
	if err != nil {
		return reply{}, err
	}
	next := localPath(c.Query("next"), "/")
	if who.person.ID != 0 {
		return reply{to: next}, nil
	}
	if waiting, err := a.waiting(c.Request.Context()); err != nil || waiting {
		return a.waitingPage(c), err
	}
	return show(views.Login(a.loginPage("", next))), nil
}

func (a *App) loginPage(login, next string) views.LoginPage {
	p := views.LoginPage{Login: login, Next: next, PlainHTTPWarning: !a.https()}
	if a.external != nil {
		p.Host = a.external.Host
	}
	if a.provider != nil {
		p.Provider, p.ProviderURL = a.provider.Name(), "/login/oidc?"+url.Values{"next": {next}}.Encode()
	}
	return p
}

// signIn opens a session. Every refusal reads the same, whatever was wrong.
func (a *App) signIn(c *gin.Context) (reply, error) {
	f, err := readForm(c, a.zone)
	if err != nil {
		return reply{}, err
	}
	login, next := f.text("login"), localPath(f.raw("next"), "/")
	if f.has("half") {
		return a.finishSignIn(c, f, next)
	}
	half, err := a.openSession(c, login, f.raw("password"))
	switch fault.KindOf(err) {
	case fault.KindUnauthenticated, fault.KindTooMany:
		page := a.loginPage(login, next)
		if text, ok := fault.TextOf(err); ok {
			page.Errors = []fault.FieldError{{Name: "login", Text: text}}
		}
		return show(views.Login(page)), err
	}
	if err != nil {
		return reply{}, err
	}
	if half != "" {
		return show(views.LoginCode(a.loginCodePage(half, next))), nil
	}
	return reply{to: next}, nil
}

func (a *App) loginCodePage(half, next string) views.LoginCodePage {
	return views.LoginCodePage{Half: half, Next: next, Host: a.loginPage("", "").Host}
}

// finishSignIn opens a session for the code that follows a right password.
func (a *App) finishSignIn(c *gin.Context, f *form, next string) (reply, error) {
	half := f.raw("half")
	token, _, err := a.sessions.FinishSignIn(c.Request.Context(), access.SecondCredentials{
		Half: half, Code: f.text("code"), Address: address(c), Agent: c.Request.UserAgent(), RequestID: requestID(c),
	})
	switch fault.KindOf(err) {
	case fault.KindUnauthenticated:
		page := a.loginPage("", next)
		page.Errors = errorsOf(err)
		return show(views.Login(page)), err
	case fault.KindInvalid, fault.KindTooMany:
		page := a.loginCodePage(half, next)
		page.Errors = errorsOf(err)
		return show(views.LoginCode(page)), err
	}
	if err != nil {
		return reply{}, err
	}
	a.enter(c, token)
	return reply{to: next}, nil
}

// openSession signs in and gives the browser a session of its own: one that
// it had before is ended, so that nobody can hand one to somebody else. Half
// is not "" when a code must follow; there is no session yet then.
func (a *App) openSession(c *gin.Context, login, password string) (half string, err error) {
	token, session, err := a.sessions.SignIn(c.Request.Context(), access.Credentials{
		Login: login, Password: password,
		Address: address(c), Agent: c.Request.UserAgent(), RequestID: requestID(c),
	})
	if err != nil {
		return "", err
	}
	if session.Half {
		return token, nil
	}
	a.enter(c, token)
	return "", nil
}

// enter puts the session into the browser.
func (a *App) enter(c *gin.Context, token string) {
	if old := a.sessionToken(c); old != "" {
		if err := a.sessions.SignOut(c.Request.Context(), old, address(c), requestID(c)); err != nil {
			a.note(c, err) // it ends by itself; the person is in
		}
	}
	a.keepSession(c, token)
	a.setCookie(c, languageCookie, "", -1) // the person's own setting counts now
}

// signOut ends the session in the ledger, not only in this browser.
func (a *App) signOut(c *gin.Context) (reply, error) {
	if token := a.sessionToken(c); token != "" {
		if err := a.sessions.SignOut(c.Request.Context(), token, address(c), requestID(c)); err != nil {
			return reply{}, err
		}
	}
	a.dropSession(c)
	return goTo("/login"), nil
}
