package app

import (
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/cron"
	"ax/app/fault"
	"ax/views"
)

func (a *App) invitationRoutes() []route {
	return []route{
		{http.MethodGet, "/invitation", (*App).showInvitation, anyone, false},
		{http.MethodPost, "/invitation", (*App).acceptInvitation, anyone, false},
	}
}

// showInvitation is the page behind a one-time link: into a team, or to a new
// password.
func (a *App) showInvitation(c *gin.Context) (reply, error) {
	page, err := a.invitationPage(c, c.Query("token"))
	if err != nil {
		return a.spentInvitation(err)
	}
	page.Values = views.InvitationValues{Zone: a.zone.String(), Language: a.viewer(c).Lang}
	return show(views.Invitation(page)), nil
}

func (a *App) invitationPage(c *gin.Context, token string) (views.InvitationPage, error) {
	offer, err := a.invitations.Offer(c.Request.Context(), token)
	if err != nil {
		return views.InvitationPage{}, err
	}
	who, err := a.visit(c)
	if err != nil {
		return views.InvitationPage{}, err
	}
	return views.InvitationPage{
		Token: token, Offer: offer, Left: offer.Invitation.ExpiresAt.Sub(a.now()), Zones: cron.Zones(),
		Joining: who.person.ID != 0, SignInURL: "/login?" + url.Values{"next": {"/invitation?" + url.Values{"token": {token}}.Encode()}}.Encode(),
	}, nil
}

// spentInvitation says that a link is no good, and where a new one comes from.
func (a *App) spentInvitation(err error) (reply, error) {
	if fault.KindOf(err) != fault.KindNotFound {
		return reply{}, err
	}
	return show(views.Invitation(views.InvitationPage{Finished: true})), err
}

// acceptInvitation uses the link up.
func (a *App) acceptInvitation(c *gin.Context) (reply, error) {
	f, err := readForm(c, a.zone)
	if err != nil {
		return reply{}, err
	}
	page, err := a.invitationPage(c, f.raw("token"))
	if err != nil {
		return a.spentInvitation(err)
	}
	var done reply
	switch {
	case page.Offer.Invitation.Kind == access.NewPassword:
		done, err = a.choosePassword(c, f)
	case page.Joining:
		done, err = a.join(c, f)
	default:
		done, err = a.joinNew(c, f)
	}
	if kind := fault.KindOf(err); kind == fault.KindInvalid || kind == fault.KindConflict {
		page.Errors = errorsOf(err)
		page.Values = views.InvitationValues{
			Login: f.text("login"), Name: f.text("name"), Email: f.text("email"), Zone: f.text("zone"), Language: f.text("language"),
		}
		return show(views.Invitation(page)), err
	}
	if err != nil {
		return a.spentInvitation(err)
	}
	return done, nil
}

func (a *App) choosePassword(c *gin.Context, f *form) (reply, error) {
	p, err := a.invitations.SetPassword(c.Request.Context(), f.raw("token"), f.raw("password"), address(c), requestID(c))
	if err == nil {
		a.flash(c, "Your password is set, %s. Sign in with it.", p.Login)
	}
	return goTo("/login"), err
}

// join lets the person who is signed in into the team.
func (a *App) join(c *gin.Context, f *form) (reply, error) {
	team, err := a.invitations.Join(c.Request.Context(), actor(c), f.raw("token"))
	if err == nil {
		a.flash(c, "You are in the team %s", team.Name)
	}
	return goTo("/teams/%s", team.Code), err
}

// joinNew makes the person and signs them in.
func (a *App) joinNew(c *gin.Context, f *form) (reply, error) {
	team, err := a.invitations.JoinNew(c.Request.Context(), f.raw("token"), access.NewUser{
		Login: f.text("login"), Name: f.text("name"), Email: f.text("email"), Password: f.raw("password"),
		Preferences: access.Preferences{Language: f.text("language"), Zone: f.text("zone")},
	}, address(c), requestID(c))
	if err != nil {
		return reply{}, err
	}
	if _, err := a.openSession(c, f.text("login"), f.raw("password")); err != nil {
		return goTo("/login"), nil //nolint:nilerr // the person is made: the login says what is wrong
	}
	a.flash(c, "You are in the team %s", team.Name)
	return goTo("/"), nil
}
