package app

import (
	"net/url"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/fault"
	"ax/views"
)

// teamAgain shows the team with the form that was refused, open and filled.
func (a *App) teamAgain(c *gin.Context, team access.Team, form string, wrong error, typed func(*views.TeamValues)) (reply, error) {
	if kind := fault.KindOf(wrong); kind != fault.KindInvalid && kind != fault.KindConflict {
		return reply{}, wrong
	}
	page, err := a.teamPage(c.Request.Context(), actor(c), team)
	if err != nil {
		return reply{}, err
	}
	page.Form, page.Errors = form, errorsOf(wrong)
	typed(&page.Values)
	return show(views.TeamDetail(page)), wrong
}

// teamForm is the team of the address, if the person has the right in it, and
// what was sent.
func (a *App) teamForm(c *gin.Context, v access.Verb) (access.Team, *form, error) {
	team, err := a.teamFor(c, v)
	if err != nil {
		return team, nil, err
	}
	f, err := a.form(c)
	return team, f, err
}

// renameTeam gives the team another name.
func (a *App) renameTeam(c *gin.Context) (reply, error) {
	team, f, err := a.teamForm(c, access.ManageTeam)
	if err != nil {
		return reply{}, err
	}
	err = renamed(a.teams.Rename(c.Request.Context(), actor(c), team, f.text("team_name")), "name", "team_name")
	if err != nil {
		return a.teamAgain(c, team, views.FormRename, err, func(v *views.TeamValues) { v.TeamName = f.text("team_name") })
	}
	a.flash(c, "The team is now %s", f.text("team_name"))
	return goTo("/teams/%s", team.Code), nil
}

// setMember gives somebody a role, new in the team or not.
func (a *App) setMember(c *gin.Context) (reply, error) {
	team, f, err := a.teamForm(c, access.ManageTeam)
	if err != nil {
		return reply{}, err
	}
	login, role := f.text("login"), f.text("member_role")
	err = renamed(a.teams.SetMember(c.Request.Context(), actor(c), team, login, access.Role(role)), "role", "member_role")
	if err != nil {
		return a.teamAgain(c, team, views.FormMember, err, func(v *views.TeamValues) { v.Login, v.MemberRole = login, role })
	}
	a.flash(c, "%s is saved", login)
	return goTo("/teams/%s", team.Code), nil
}

// removeMember takes somebody out of the team.
func (a *App) removeMember(c *gin.Context) (reply, error) {
	team, f, err := a.teamForm(c, access.ManageTeam)
	if err != nil {
		return reply{}, err
	}
	if err := a.teams.RemoveMember(c.Request.Context(), actor(c), team, f.text("login")); err != nil {
		return reply{}, err
	}
	a.flash(c, "%s is no longer in the team", f.text("login"))
	if f.text("login") == actor(c).Name { // gone with the role
		return goTo("/teams"), nil
	}
	return goTo("/teams/%s", team.Code), nil
}

// invite makes a one-time link and shows it, this once.
func (a *App) invite(c *gin.Context) (reply, error) {
	team, f, err := a.teamForm(c, access.ManageTeam)
	if err != nil {
		return reply{}, err
	}
	meant, role := f.text("for"), f.text("invite_role")
	secret, made, err := a.invitations.Invite(c.Request.Context(), actor(c), team, access.Role(role), meant)
	if err = renamed(err, "role", "invite_role"); err != nil {
		return a.teamAgain(c, team, views.FormInvite, err, func(v *views.TeamValues) { v.For, v.InviteRole = meant, role })
	}
	page, err := a.teamPage(c.Request.Context(), actor(c), team)
	page.Link, page.Until = a.link(c, "/invitation?"+url.Values{"token": {secret}}.Encode()), made.ExpiresAt
	return show(views.TeamDetail(page)), err
}

// withdrawInvitation ends a link that nobody used yet.
func (a *App) withdrawInvitation(c *gin.Context) (reply, error) {
	team, err := a.teamFor(c, access.ManageTeam)
	if err != nil {
		return reply{}, err
	}
	id, err := rowNumber(c.Param("id"))
	if err == nil {
		err = a.invitations.Withdraw(c.Request.Context(), actor(c), team.ID, id)
	}
	if err != nil {
		return reply{}, err
	}
	a.flash(c, "The invitation is withdrawn")
	return goTo("/teams/%s", team.Code), nil
}

// createToken makes a token and shows its secret, this once.
func (a *App) createToken(c *gin.Context) (reply, error) {
	team, f, err := a.teamForm(c, access.ManageTeam)
	if err != nil {
		return reply{}, err
	}
	name, role, end := f.text("token_name"), f.text("token_role"), f.text("token_end")
	in := access.NewToken{TeamID: team.ID, Name: name, Role: access.Role(role), Executors: access.ReadExecutors(f.text("token_executors"))}
	days, bad := strconv.Atoi(end)
	switch {
	case bad != nil || days < 0 || days > 10_000:
		err = fault.Invalid(fault.Field("token_end", "A number of days, or 0 for no end"))
	case days == 0:
		in.NoEnd = true
	default:
		in.Life = time.Duration(days) * 24 * time.Hour
	}
	var secret string
	var made access.APIToken
	if err == nil {
		secret, made, err = a.tokens.Create(c.Request.Context(), actor(c), in)
		err = renamed(renamed(renamed(renamed(err, "name", "token_name"), "role", "token_role"), "expires_at", "token_end"), "executors", "token_executors")
	}
	if err != nil {
		return a.teamAgain(c, team, views.FormToken, err, func(v *views.TeamValues) {
			v.TokenName, v.TokenRole, v.TokenEnd, v.TokenExecutors = name, role, end, f.text("token_executors")
		})
	}
	page, err := a.teamPage(c.Request.Context(), actor(c), team)
	page.Secret, page.Made = secret, made
	return show(views.TeamDetail(page)), err
}

// revokeToken ends a token of the team at once.
func (a *App) revokeToken(c *gin.Context) (reply, error) {
	team, err := a.teamFor(c, access.ManageTeam)
	if err != nil {
		return reply{}, err
	}
	id, err := rowNumber(c.Param("id"))
	if err == nil {
		err = a.tokens.Revoke(c.Request.Context(), actor(c), id)
	}
	if err != nil {
		return reply{}, err
	}
	a.flash(c, "The token is revoked")
	return goTo("/teams/%s", team.Code), nil
}
