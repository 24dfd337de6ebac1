package app

import (
	"cmp"

	"github.com/gin-gonic/gin"

	"ax/views"
)

// beginSecondStep shows the secret for the app, this once: the answer is the
// page itself, so that no address leads to it again.
func (a *App) beginSecondStep(c *gin.Context) (reply, error) {
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	setup, err := a.sessions.BeginSecondStep(c.Request.Context(), actor(c), f.raw("step_password"), a.issuer())
	if err != nil {
		return a.accountAgain(c, views.AboutSecondStep, err, nil)
	}
	page, err := a.accountPage(c)
	page.SecondStep = views.SecondStepPart{Begun: true, Setup: &setup}
	return show(views.Account(page)), err
}

// issuer is what an authenticator app calls this installation.
func (a *App) issuer() string {
	if a.external != nil {
		return a.external.Hostname()
	}
	return cmp.Or(a.env, "ax")
}

// confirmSecondStep switches the second step on, and shows the recovery
// codes this once.
func (a *App) confirmSecondStep(c *gin.Context) (reply, error) {
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	codes, err := a.sessions.ConfirmSecondStep(c.Request.Context(), actor(c), f.text("code"))
	if err != nil {
		return a.accountAgain(c, views.AboutSecondStep, err, func(p *views.AccountPage) { p.SecondStep.Begun = !p.SecondStep.CreatedAt.IsZero() })
	}
	a.flash(c, "The second step is on")
	return a.showCodes(c, codes)
}

func (a *App) showCodes(c *gin.Context, codes []string) (reply, error) {
	page, err := a.accountPage(c)
	page.SecondStep.Codes = codes
	return show(views.Account(page)), err
}

// newRecoveryCodes makes the old ones void.
func (a *App) newRecoveryCodes(c *gin.Context) (reply, error) {
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	codes, err := a.sessions.NewRecoveryCodes(c.Request.Context(), actor(c), f.raw("step_password"), f.text("code"))
	if err != nil {
		return a.accountAgain(c, views.AboutSecondStep, err, nil)
	}
	a.flash(c, "The old recovery codes are void")
	return a.showCodes(c, codes)
}

// dropSecondStep switches it off: sign-ins ask for the password alone.
func (a *App) dropSecondStep(c *gin.Context) (reply, error) {
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	if err := a.sessions.SwitchOffSecondStep(c.Request.Context(), actor(c), f.raw("step_password"), f.text("code")); err != nil {
		return a.accountAgain(c, views.AboutSecondStep, err, nil)
	}
	a.flash(c, "The second step is off")
	return goTo("/account"), nil
}
