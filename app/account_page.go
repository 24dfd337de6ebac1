package app

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/cron"
	"ax/app/fault"
	"ax/views"
)

func (a *App) accountRoutes() []route {
	return []route{
		{http.MethodGet, "/account", (*App).showAccount, signedIn, false},
		{http.MethodPost, "/account/preferences", (*App).savePreferences, signedIn, false},
		{http.MethodPost, "/account/chat-ids", (*App).saveChatIDs, signedIn, false},
		{http.MethodPost, "/account/alerts", (*App).saveOwnAlerts, signedIn, false},
		{http.MethodPost, "/account/password", (*App).changePassword, signedIn, false},
		{http.MethodPost, "/account/second-step/begin", (*App).beginSecondStep, signedIn, false},
		{http.MethodPost, "/account/second-step/confirm", (*App).confirmSecondStep, signedIn, false},
		{http.MethodPost, "/account/second-step/codes", (*App).newRecoveryCodes, signedIn, false},
		{http.MethodPost, "/account/second-step/off", (*App).dropSecondStep, signedIn, false},
		{http.MethodPost, "/account/sessions/end", (*App).endSession, signedIn, false},
		{http.MethodPost, "/account/sessions/end-others", (*App).endOtherSessions, signedIn, false},
	}
}

// showAccount shows a person what is kept of them, and where they are signed
// in.
func (a *App) showAccount(c *gin.Context) (reply, error) {
	page, err := a.accountPage(c)
	return show(views.Account(page)), err
}

func (a *App) accountPage(c *gin.Context) (views.AccountPage, error) {
	who, err := a.visit(c)
	if err != nil {
		return views.AccountPage{}, err
	}
	p := who.person
	page := views.AccountPage{
		Person: p, Values: access.Preferences{Language: p.Language, Zone: p.Zone, Theme: p.Theme},
		Zones: cron.Zones(), HomeZone: a.zone.String(), NoPassword: p.PasswordHash == "", Provider: a.providerName(),
	}
	for _, t := range who.teams {
		if role := who.actor.Roles[t.ID]; role.Valid() {
			page.Roles = append(page.Roles, views.TeamRole{Team: t.Name, Role: role})
		}
	}
	ctx := c.Request.Context()
	if page.Sessions, err = a.sessions.Open(ctx, who.actor, a.sessionToken(c)); err != nil {
		return page, err
	}
	if page.SecondStep.SecondStep, err = a.sessions.SecondStep(ctx, who.actor); err != nil {
		return page, err
	}
	page.Reach, err = a.reach(ctx, who)
	return page, err
}

// accountAgain shows the page with what was wrong with a form of it.
func (a *App) accountAgain(c *gin.Context, part views.AccountPart, wrong error, typed func(*views.AccountPage)) (reply, error) {
	switch fault.KindOf(wrong) {
	case fault.KindInvalid, fault.KindTooMany, fault.KindConflict:
	default:
		return reply{}, wrong
	}
	page, err := a.accountPage(c)
	if err != nil {
		return reply{}, err
	}
	page.About, page.Errors = part, errorsOf(wrong)
	if typed != nil {
		typed(&page)
	}
	return show(views.Account(page)), wrong
}

// savePreferences keeps language, zone and theme with the person. What was
// chosen in this browser alone makes way for it.
func (a *App) savePreferences(c *gin.Context) (reply, error) {
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	in := access.Preferences{Language: f.text("language"), Zone: f.text("zone"), Theme: f.text("theme")}
	if err := a.users.UpdatePreferences(c.Request.Context(), actor(c), in); err != nil {
		return a.accountAgain(c, views.AboutPreferences, err, func(p *views.AccountPage) { p.Values = in })
	}
	a.setCookie(c, languageCookie, "", -1)
	a.setCookie(c, themeCookie, "", -1)
	a.flashWith(c, views.Flash{Text: views.Translate(views.PickLang("", in.Language, c.GetHeader("Accept-Language")), "Saved")})
	return goTo("/account"), nil
}

// changePassword ends the person's other sessions; this browser gets a new
// one.
func (a *App) changePassword(c *gin.Context) (reply, error) {
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	next := f.raw("password")
	if next != f.raw("again") {
		wrong := fault.Invalid(fault.Field("again", "The two are not the same"))
		return a.accountAgain(c, views.AboutPassword, wrong, nil)
	}
	token, err := a.sessions.ChangePassword(c.Request.Context(), actor(c),
		access.PasswordChange{Current: f.raw("current"), Next: next, Agent: c.Request.UserAgent()})
	if err != nil {
		return a.accountAgain(c, views.AboutPassword, err, nil)
	}
	a.keepSession(c, token)
	a.flash(c, "Your password is changed. All other sessions have ended.")
	return goTo("/account"), nil
}

// endSession signs another browser of the person out.
func (a *App) endSession(c *gin.Context) (reply, error) {
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	err = a.sessions.End(c.Request.Context(), actor(c), f.text("session"))
	if fault.KindOf(err) == fault.KindNotFound { // ended by itself, or on another page
		a.flash(c, "This session has ended already")
		return goTo("/account"), nil
	}
	if err != nil {
		return reply{}, err
	}
	a.flash(c, "The session has ended")
	return goTo("/account"), nil
}

// endOtherSessions signs all other browsers of the person out.
func (a *App) endOtherSessions(c *gin.Context) (reply, error) {
	n, err := a.sessions.EndOthers(c.Request.Context(), actor(c), a.sessionToken(c))
	if err != nil {
		return reply{}, err
	}
	a.flashWith(c, views.Flash{Text: views.TranslateCount(a.viewer(c).Lang, "%d sessions have ended", int64(n))})
	return goTo("/account"), nil
}
