package app

import (
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/fault"
	"ax/app/sched"
	"ax/views"
)

// messagesShown is how many messages the page of an incident has.
const messagesShown = 50

// showIncident shows one incident; ?from= is the place of the first member.
func (a *App) showIncident(c *gin.Context) (reply, error) {
	i, err := a.alerts.Incidents.Find(c.Request.Context(), actor(c), c.Param("id"))
	if err != nil {
		return reply{}, err
	}
	p, err := a.incidentPage(c, i)
	return show(views.Incident(p)).piecewise(views.IncidentLive(p)), err
}

func (a *App) incidentPage(c *gin.Context, i alert.Incident) (views.IncidentPage, error) {
	ctx, by := c.Request.Context(), actor(c)
	channels, err := a.alerts.Channels.List(ctx, by, access.Scope{})
	if err != nil {
		return views.IncidentPage{}, err
	}
	rows, err := a.incidentRows(c, []alert.Incident{i}, channels)
	if err != nil {
		return views.IncidentPage{}, err
	}
	p := views.IncidentPage{IncidentRow: rows[0], People: a.peopleOf(c, i.TeamID), Assignee: i.Assignee, Note: i.Note}
	p.From, _ = strconv.Atoi(c.Query("from")) // what is no number is the first page
	r, err := a.alerts.Rules.Find(ctx, by, i.RuleID)
	switch {
	case err == nil:
		p.Rule = &r
	case fault.KindOf(err) != fault.KindNotFound:
		return p, err
	}
	if by.Can(access.ReadAudit, i.TeamID) {
		p.Audit = views.AuditOf("incident", i.ID)
	}
	page, err := a.alerts.Deliveries.List(ctx, by, alert.DeliveryFilter{Incident: i.ID}, sched.PageRequest{Limit: messagesShown})
	named := map[string]alert.Channel{}
	for _, ch := range channels {
		named[ch.ID] = ch
	}
	for _, d := range page.Items {
		p.Told = append(p.Told, views.ToldLine{Delivery: d, Channel: named[d.ChannelID]})
	}
	p.ToldAll = page.Next == ""
	return p, err
}

// acknowledge says that the person is on it.
func (a *App) acknowledge(c *gin.Context) (reply, error) {
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	i, err := a.alerts.Incidents.Acknowledge(c.Request.Context(), actor(c), c.Param("id"))
	if err != nil {
		return a.incidentAgain(c, f, err)
	}
	a.flash(c, "Acknowledged: messages stop until it is over")
	return goBack(c, "/alerts/incidents/"+i.ID), nil
}

// takeBack takes an acknowledgement back.
func (a *App) takeBack(c *gin.Context) (reply, error) {
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	i, err := a.alerts.Incidents.Reopen(c.Request.Context(), actor(c), c.Param("id"))
	if err != nil {
		return a.incidentAgain(c, f, err)
	}
	a.flash(c, "Taken back: messages go on")
	return goTo("/alerts/incidents/%s", i.ID), nil
}

// noteIncident stores who has it and what is known.
func (a *App) noteIncident(c *gin.Context) (reply, error) {
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	i, err := a.alerts.Incidents.Note(c.Request.Context(), actor(c), c.Param("id"), strings.ToLower(f.text("assignee")), plainLines(f.text("note")))
	if err != nil {
		return a.incidentAgain(c, f, err)
	}
	a.flash(c, "Saved")
	return goTo("/alerts/incidents/%s", i.ID), nil
}

// incidentAgain shows the incident as it is now, with what was typed and why it
// was refused.
func (a *App) incidentAgain(c *gin.Context, f *form, why error) (reply, error) {
	if k := fault.KindOf(why); k != fault.KindInvalid && k != fault.KindConflict {
		return reply{}, why
	}
	i, err := a.alerts.Incidents.Find(c.Request.Context(), actor(c), c.Param("id"))
	if err != nil {
		return reply{}, err
	}
	p, err := a.incidentPage(c, i)
	if err != nil {
		return reply{}, err
	}
	if f.has("note") {
		p.Assignee, p.Note = f.text("assignee"), f.text("note")
	}
	p.Errors, p.Refused = fault.Fields(why), a.refusal(c, why)
	return show(views.Incident(p)), why
}
