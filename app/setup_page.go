package app

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/cron"
	"ax/app/fault"
	"ax/views"
)

// showSetup is the form of the first administrator, behind the one-time link.
func (a *App) showSetup(c *gin.Context) (reply, error) {
	token := c.Query("token")
	page, err := a.setupPage(c, token)
	if err != nil {
		return a.spentLink(err)
	}
	page.Values = views.SetupValues{
		TeamName: "Default", TeamCode: access.DefaultTeam,
		Zone: a.zone.String(), Language: a.viewer(c).Lang,
	}
	return show(views.Setup(page)), nil
}

func (a *App) setupPage(c *gin.Context, token string) (views.SetupPage, error) {
	until, err := a.setup.Check(c.Request.Context(), token)
	if err != nil {
		return views.SetupPage{}, err
	}
	return views.SetupPage{Token: token, Zones: cron.Zones(), Left: until.Sub(a.now())}, nil
}

// spentLink says that a link is no good, and where a new one comes from.
func (a *App) spentLink(err error) (reply, error) {
	if fault.KindOf(err) != fault.KindNotFound {
		return reply{}, err
	}
	return show(views.Setup(views.SetupPage{Finished: true})), err
}

// completeSetup makes the first administrator and signs them in.
func (a *App) completeSetup(c *gin.Context) (reply, error) {
	f, err := readForm(c, a.zone)
	if err != nil {
		return reply{}, err
	}
	token := f.raw("token")
	in := access.SetupForm{
		Login: f.text("login"), Name: f.text("name"), Password: f.raw("password"),
		TeamCode: f.text("team_code"), TeamName: f.text("team_name"),
		Language: f.text("language"), Zone: f.text("zone"),
	}
	_, team, err := a.setup.Complete(c.Request.Context(), token, in, address(c), requestID(c))
	if fault.KindOf(err) == fault.KindInvalid {
		return a.setupAgain(c, token, in, err)
	}
	if err != nil {
		return a.spentLink(err)
	}
	if _, err := a.openSession(c, in.Login, in.Password); err != nil {
		return goTo("/login"), nil //nolint:nilerr // the administrator is made: the login says what is wrong
	}
	a.flash(c, "You are the administrator, and owner of the team %s.", team.Name)
	return goTo("/"), nil
}

// setupAgain shows the form with what was typed and what is wrong with it.
func (a *App) setupAgain(c *gin.Context, token string, in access.SetupForm, wrong error) (reply, error) {
	page, err := a.setupPage(c, token)
	if err != nil {
		return a.spentLink(err)
	}
	page.Values = views.SetupValues{
		Name: in.Name, Login: in.Login, TeamName: in.TeamName, TeamCode: in.TeamCode,
		Zone: in.Zone, Language: in.Language,
	}
	page.Errors = fault.Fields(wrong)
	return show(views.Setup(page)), wrong
}

// waitingPage is what everybody sees until there is an administrator.
func (a *App) waitingPage(c *gin.Context) reply {
	page := views.ErrorPage{
		Status: http.StatusServiceUnavailable,
		Title:  a.say(c, "ax has no administrator yet"),
		What:   a.say(c, "Open the setup link that ax printed when it started. It makes the first administrator."),
		Why:    a.say(c, "A new link is printed by the command: ax setup-link"),
		Kept:   " ", // nothing was sent that could be kept
	}
	return reply{page: views.Error(page), status: page.Status}
}

func (a *App) showWaiting(c *gin.Context) { a.render(c, a.waitingPage(c), nil) }
