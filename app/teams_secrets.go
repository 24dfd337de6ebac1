package app

import (
	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/fault"
	"ax/views"
)

// addSecret stores a value that nobody can read again.
func (a *App) addSecret(c *gin.Context) (reply, error) {
	team, f, err := a.teamForm(c, access.ManageSecrets)
	if err != nil {
		return reply{}, err
	}
	in := access.NewSecret{Name: f.text("secret_name"), Value: f.raw("secret_value"), Hosts: f.raw("secret_hosts")}
	made, err := a.secrets.Add(c.Request.Context(), actor(c), team, in)
	if err = renamed(renamed(renamed(err, "name", "secret_name"), "value", "secret_value"), "hosts", "secret_hosts"); err != nil {
		return a.teamAgain(c, team, views.FormSecret, err, func(v *views.TeamValues) { v.SecretName, v.SecretHosts = in.Name, in.Hosts })
	}
	a.flash(c, "The secret %s is set. Headers name it as %s", made.Name, access.SecretRef(made.Name))
	return goTo("/teams/%s#secrets", team.Code), nil
}

// changeSecret gives a secret another value, or other hosts.
func (a *App) changeSecret(c *gin.Context) (reply, error) {
	team, f, err := a.teamForm(c, access.ManageSecrets)
	if err != nil {
		return reply{}, err
	}
	name, hosts := f.text("change_secret"), f.raw("change_hosts")
	_, err = a.secrets.Change(c.Request.Context(), actor(c), team, name, access.NewSecret{Value: f.raw("change_value"), Hosts: hosts})
	if fault.KindOf(err) == fault.KindNotFound {
		err = fault.Invalid(fault.Field("change_secret", "Choose a secret of the list"))
	}
	if err = renamed(renamed(err, "value", "change_value"), "hosts", "change_hosts"); err != nil {
		return a.teamAgain(c, team, views.FormChangeSecret, err, func(v *views.TeamValues) { v.ChangeSecret, v.ChangeHosts = name, hosts })
	}
	a.flash(c, "The secret %s is changed: calls that begin from now on carry it", name)
	return goTo("/teams/%s#secrets", team.Code), nil
}

// removeSecret takes a secret away that no task names.
func (a *App) removeSecret(c *gin.Context) (reply, error) {
	team, f, err := a.teamForm(c, access.ManageSecrets)
	if err != nil {
		return reply{}, err
	}
	name := f.text("remove_secret")
	err = a.secrets.Remove(c.Request.Context(), actor(c), team, name)
	switch kind := fault.KindOf(err); {
	case err == nil:
	case kind == fault.KindNotFound:
		err = fault.Invalid(fault.Field("remove_secret", "Choose a secret of the list"))
	case kind == fault.KindConflict:
		text, _ := fault.TextOf(err)
		err = fault.Invalid(fault.FieldError{Name: "remove_secret", Text: text})
	}
	if err != nil {
		return a.teamAgain(c, team, views.FormRemoveSecret, err, func(v *views.TeamValues) { v.RemoveSecret = name })
	}
	a.flash(c, "The secret %s is gone", name)
	return goTo("/teams/%s#secrets", team.Code), nil
}
