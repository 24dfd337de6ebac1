package app

import (
	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/fault"
	"ax/views"
)

// openRange lets targets of the team be in a range inside the network.
func (a *App) openRange(c *gin.Context) (reply, error) {
	team, f, err := a.teamForm(c, access.Administer)
	if err != nil {
		return reply{}, err
	}
	prefix, reason := f.text("prefix"), f.text("open_reason")
	made, err := a.allowances.Add(c.Request.Context(), actor(c), team, prefix, reason)
	if err = renamed(err, "reason", "open_reason"); err != nil {
		return a.teamAgain(c, team, views.FormOpen, err, func(v *views.TeamValues) { v.Prefix, v.OpenReason = prefix, reason })
	}
	a.flash(c, "Tasks of the team may call %s now", made.Prefix.String())
	return goTo("/teams/%s", team.Code), nil
}

// setCommands opens commands of nodes to the team's tasks, or closes them.
func (a *App) setCommands(c *gin.Context) (reply, error) {
	team, f, err := a.teamForm(c, access.Administer)
	if err != nil {
		return reply{}, err
	}
	on, reason := f.text("commands") == "on", f.text("commands_reason")
	if err := renamed(a.teams.SetCommands(c.Request.Context(), actor(c), team, on, reason), "reason", "commands_reason"); err != nil {
		return a.teamAgain(c, team, views.FormCommands, err, func(v *views.TeamValues) { v.CommandsReason = reason })
	}
	if on {
		a.flash(c, "Tasks of the team may run commands of nodes now")
	} else {
		a.flash(c, "Tasks of the team run no more commands")
	}
	return goTo("/teams/%s", team.Code), nil
}

// closeRange takes a range out of the team's list.
func (a *App) closeRange(c *gin.Context) (reply, error) {
	team, f, err := a.teamForm(c, access.Administer)
	if err != nil {
		return reply{}, err
	}
	id, err := rowNumber(f.text("range"))
	if err != nil {
		err = fault.Invalid(fault.Field("range", "Choose a range of the list"))
	} else {
		err = renamed(a.allowances.Remove(c.Request.Context(), actor(c), team, id, f.text("close_reason")), "reason", "close_reason")
	}
	if err != nil {
		return a.teamAgain(c, team, views.FormClose, err, func(v *views.TeamValues) { v.Range, v.CloseReason = f.text("range"), f.text("close_reason") })
	}
	a.flash(c, "The range is closed: within seconds no call goes there")
	return goTo("/teams/%s", team.Code), nil
}
