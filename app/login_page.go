package app

import (
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
	return p
}

// signIn opens a session. Every refusal reads the same, whatever was wrong.
func (a *App) signIn(c *gin.Context) (reply, error) {
	f, err := readForm(c, a.zone)
	if err != nil {
		return reply{}, err
	}
	login, next := f.text("login"), localPath(f.raw("next"), "/")
	err = a.openSession(c, login, f.raw("password"))
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
	return reply{to: next}, nil
}

// openSession signs in and gives the browser a session of its own: one that
// it had before is ended, so that nobody can hand one to somebody else.
func (a *App) openSession(c *gin.Context, login, password string) error {
	ctx := c.Request.Context()
	token, _, err := a.sessions.SignIn(ctx, access.Credentials{
		Login: login, Password: password,
		Address: address(c), Agent: c.Request.UserAgent(), RequestID: requestID(c),
	})
	if err != nil {
		return err
	}
	if old := a.sessionToken(c); old != "" {
		if err := a.sessions.SignOut(ctx, old, address(c), requestID(c)); err != nil {
			a.note(c, err) // it ends by itself; the person is in
		}
	}
	a.keepSession(c, token)
	a.setCookie(c, languageCookie, "", -1) // the person's own setting counts now
	return nil
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
