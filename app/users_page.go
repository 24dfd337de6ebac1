package app

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/fault"
	"ax/views"
)

func (a *App) userRoutes() []route {
	return []route{
		{http.MethodGet, "/users", (*App).showUsers, access.Read, false},
		{http.MethodPost, "/users", (*App).createUser, access.Administer, false},
		{http.MethodGet, "/users/:login", (*App).showUser, access.Read, false},
		{http.MethodPost, "/users/:login/rights", (*App).setRights, access.Administer, false},
		{http.MethodPost, "/users/:login/disable", (*App).disableUser, access.Administer, false},
		{http.MethodPost, "/users/:login/enable", (*App).enableUser, access.Administer, false},
		{http.MethodPost, "/users/:login/second-step/off", (*App).takeOffSecondStep, access.Administer, false},
		{http.MethodPost, "/users/:login/password-link", (*App).makePasswordLink, access.Administer, false},
	}
}

// showUsers lists all people, to administrators and auditors.
func (a *App) showUsers(c *gin.Context) (reply, error) {
	page, err := a.usersPage(c)
	return show(views.Users(page)), err
}

func (a *App) usersPage(c *gin.Context) (views.UsersPage, error) {
	p := views.UsersPage{Words: strings.TrimSpace(c.Query("q")), MayMake: actor(c).Can(access.Administer, 0), Teams: teamsOf(c)}
	var err error
	p.People, err = a.users.List(c.Request.Context(), actor(c))
	return p, err
}

// createUser makes a person without a password, and a link to choose one.
func (a *App) createUser(c *gin.Context) (reply, error) {
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	in := access.NewUser{
		Login: f.text("login"), Name: f.text("name"), Email: f.text("email"), ByLink: true,
		Admin: f.ticked("admin"), Auditor: f.ticked("auditor"),
	}
	made, err := a.users.Create(c.Request.Context(), actor(c), in)
	if kind := fault.KindOf(err); kind == fault.KindInvalid || kind == fault.KindConflict {
		page, failed := a.usersPage(c)
		if failed != nil {
			return reply{}, failed
		}
		page.Making, page.Errors = true, errorsOf(err)
		page.Values = views.UserValues{Login: in.Login, Name: in.Name, Email: in.Email, Admin: in.Admin, Auditor: in.Auditor}
		return show(views.Users(page)), err
	}
	if err != nil {
		return reply{}, err
	}
	return a.withPasswordLink(c, made)
}

// showUser shows one person: teams, rights, and what can be done.
func (a *App) showUser(c *gin.Context) (reply, error) {
	page, err := a.userPage(c, c.Param("login"))
	return show(views.UserDetail(page)), err
}

// userPage finds the person in the list: it is short, and says when each was
// seen.
func (a *App) userPage(c *gin.Context, login string) (views.UserPage, error) {
	people, err := a.users.List(c.Request.Context(), actor(c))
	if err != nil {
		return views.UserPage{}, err
	}
	for _, p := range people {
		if p.Person.Login == login {
			return views.UserPage{
				Provider: a.providerName(), Subject: p.Bound.Subject, Standing: p, Teams: teamsOf(c), MayChange: actor(c).Can(access.Administer, 0), Self: p.Person.ID == actor(c).ID,
			}, nil
		}
	}
	return views.UserPage{}, access.NoObject()
}

// personOf is the person of the address, for administrators.
func (a *App) personOf(c *gin.Context) (access.Person, error) {
	p, err := a.users.ByLogin(c.Request.Context(), actor(c), c.Param("login"))
	if fault.KindOf(err) == fault.KindNotFound {
		err = access.NoObject()
	}
	return p, err
}

// setRights makes or unmakes an administrator or auditor.
func (a *App) setRights(c *gin.Context) (reply, error) {
	p, err := a.personOf(c)
	if err != nil {
		return reply{}, err
	}
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	err = a.users.SetRights(c.Request.Context(), actor(c), p.ID, access.Rights{Admin: f.ticked("admin"), Auditor: f.ticked("auditor")})
	return a.userChanged(c, p, err, "The rights of %s are saved; their sessions are ended", p.Login)
}

func (a *App) disableUser(c *gin.Context) (reply, error) {
	p, err := a.personOf(c)
	if err == nil {
		err = a.users.Disable(c.Request.Context(), actor(c), p.ID)
	}
	return a.userChanged(c, p, err, "%s is disabled; their sessions are ended", p.Login)
}

func (a *App) enableUser(c *gin.Context) (reply, error) {
	p, err := a.personOf(c)
	if err == nil {
		err = a.users.Enable(c.Request.Context(), actor(c), p.ID)
	}
	return a.userChanged(c, p, err, "%s can sign in again", p.Login)
}

// takeOffSecondStep is for somebody who lost the phone and the recovery codes.
func (a *App) takeOffSecondStep(c *gin.Context) (reply, error) {
	p, err := a.personOf(c)
	if err == nil {
		err = a.sessions.TakeOffSecondStep(c.Request.Context(), actor(c), p.ID)
	}
	return a.userChanged(c, p, err, "%s signs in without a second step now", p.Login)
}

// userChanged goes back to the person, or shows there what was refused.
func (a *App) userChanged(c *gin.Context, p access.Person, err error, format string, args ...any) (reply, error) {
	if fault.KindOf(err) == fault.KindConflict {
		page, failed := a.userPage(c, p.Login)
		if failed != nil {
			return reply{}, failed
		}
		page.Errors = errorsOf(err)
		return show(views.UserDetail(page)), err
	}
	if err != nil {
		return reply{}, err
	}
	a.flash(c, format, args...)
	return goTo("/users/%s", p.Login), nil
}

// makePasswordLink makes a link for a new password and shows it, this once.
func (a *App) makePasswordLink(c *gin.Context) (reply, error) {
	p, err := a.personOf(c)
	if err != nil {
		return reply{}, err
	}
	return a.withPasswordLink(c, p)
}

func (a *App) withPasswordLink(c *gin.Context, p access.Person) (reply, error) {
	secret, made, err := a.invitations.PasswordLink(c.Request.Context(), actor(c), p.ID)
	if err != nil {
		return a.userChanged(c, p, err, "%s", p.Login)
	}
	page, err := a.userPage(c, p.Login)
	page.Link, page.Until = a.link(c, "/invitation?"+url.Values{"token": {secret}}.Encode()), made.ExpiresAt
	return show(views.UserDetail(page)), err
}
