package app

import (
	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/fault"
	"ax/views"
)

// brokerFields are the fields of a broker's forms: as errors name them, and as
// the forms do, behind a prefix.
var brokerFields = []string{"name", "kind", "address", "tls", "user", "password", "places"}

// brokerForm reads a broker's form.
func (f *form) brokerForm(prefix string) (access.NewBroker, views.BrokerValues) {
	in := access.NewBroker{
		Name: f.text(prefix + "name"), Kind: access.BrokerKind(f.text(prefix + "kind")), Address: f.text(prefix + "address"), TLS: f.text(prefix + "tls"),
		User: f.text(prefix + "user"), Password: f.raw(prefix + "password"), Places: f.raw(prefix + "places"),
	}
	return in, views.BrokerValues{Name: in.Name, Kind: string(in.Kind), Address: in.Address, TLS: in.TLS, User: in.User, Places: in.Places}
}

// asTyped names the fields of an error as the form does.
func asTyped(err error, prefix string) error {
	for _, name := range brokerFields {
		err = renamed(err, name, prefix+name)
	}
	return err
}

// addBroker stores a broker whose account nobody can read again.
func (a *App) addBroker(c *gin.Context) (reply, error) {
	team, f, err := a.teamForm(c, access.ManageSecrets)
	if err != nil {
		return reply{}, err
	}
	in, typed := f.brokerForm("broker_")
	made, err := a.brokers.Add(c.Request.Context(), actor(c), team, in)
	if err = asTyped(err, "broker_"); err != nil {
		return a.teamAgain(c, team, views.FormBroker, err, func(v *views.TeamValues) { v.Broker = typed })
	}
	a.flash(c, "The broker %s is added. Test it before a task names it", made.Name)
	return goTo("/teams/%s#brokers", team.Code), nil
}

// changeBroker gives a broker other fields; what is empty stays.
func (a *App) changeBroker(c *gin.Context) (reply, error) {
	team, f, err := a.teamForm(c, access.ManageSecrets)
	if err != nil {
		return reply{}, err
	}
	in, typed := f.brokerForm("other_")
	_, err = a.brokers.Change(c.Request.Context(), actor(c), team, in.Name, in)
	if fault.KindOf(err) == fault.KindNotFound {
		err = fault.Invalid(fault.Field("name", "Choose a broker of the list"))
	}
	if err = asTyped(err, "other_"); err != nil {
		return a.teamAgain(c, team, views.FormChangeBroker, err, func(v *views.TeamValues) { v.OtherBroker = typed })
	}
	a.flash(c, "The broker %s is changed: messages from now on go by it", in.Name)
	return goTo("/teams/%s#brokers", team.Code), nil
}

// removeBroker takes a broker away that no task names.
func (a *App) removeBroker(c *gin.Context) (reply, error) {
	team, f, err := a.teamForm(c, access.ManageSecrets)
	if err != nil {
		return reply{}, err
	}
	name := f.text("remove_broker")
	err = a.brokers.Remove(c.Request.Context(), actor(c), team, name)
	switch kind := fault.KindOf(err); {
	case err == nil:
	case kind == fault.KindNotFound:
		err = fault.Invalid(fault.Field("remove_broker", "Choose a broker of the list"))
	case kind == fault.KindConflict:
		text, _ := fault.TextOf(err)
		err = fault.Invalid(fault.FieldError{Name: "remove_broker", Text: text})
	}
	if err != nil {
		return a.teamAgain(c, team, views.FormRemoveBroker, err, func(v *views.TeamValues) { v.RemoveBroker = name })
	}
	a.flash(c, "The broker %s is gone", name)
	return goTo("/teams/%s#brokers", team.Code), nil
}

// testBroker connects to a broker and says what came of it.
func (a *App) testBroker(c *gin.Context) (reply, error) {
	team, f, err := a.teamForm(c, access.ManageSecrets)
	if err != nil {
		return reply{}, err
	}
	name := f.text("test_broker")
	err = a.brokers.Test(c.Request.Context(), actor(c), team, name)
	if fault.KindOf(err) == fault.KindNotFound {
		err = fault.Invalid(fault.Field("", "Choose a broker of the list"))
	}
	if err != nil {
		return a.teamAgain(c, team, views.FormTestBroker, err, func(*views.TeamValues) {})
	}
	a.flash(c, "%s answers, and all that tasks may publish to is there", name)
	return goTo("/teams/%s#brokers", team.Code), nil
}
