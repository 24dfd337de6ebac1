package app

import (
	"strconv"

	"github.com/gin-gonic/gin"

	"ax/app/alert"
	"ax/app/fault"
	"ax/views"
)

// historyShown is how many incidents a page of the history has.
const historyShown = 50

// listAlertHistory shows incidents that are over; ?since=, ?rule=, ?before=.
func (a *App) listAlertHistory(c *gin.Context) (reply, error) {
	ctx, by := c.Request.Context(), actor(c)
	q := views.HistoryQuery{Since: c.Query("since"), Before: c.Query("before")}
	q.Rule, _ = strconv.ParseInt(c.Query("rule"), 10, 64) // what is no number asks for all
	top, err := a.alertsTop(c)
	if err != nil {
		return reply{}, err
	}
	p := views.HistoryPage{AlertsTop: top.AlertsTop, Query: q}
	if q.Rule != 0 {
		r, err := a.alerts.Rules.Find(ctx, by, q.Rule)
		if err != nil && fault.KindOf(err) != fault.KindNotFound {
			return reply{}, err
		}
		if p.Rule = r.Name; err != nil {
			p.Rule = "#" + strconv.FormatInt(q.Rule, 10)
		}
	}
	if teamless(c) {
		return show(views.AlertsHistoryTab(p)), nil
	}
	all, err := a.alerts.Incidents.List(ctx, by, alert.IncidentFilter{
		Scope: scopeOf(c), RuleID: q.Rule, Since: a.viewer(c).Now.Add(-q.Span()), Before: q.Before, Limit: historyShown + 1,
	})
	if err != nil {
		return reply{}, err
	}
	if len(all) > historyShown {
		all = all[:historyShown]
		p.Older = all[historyShown-1].ID
	}
	p.Rows, err = a.incidentRows(c, all, nil)
	return show(views.AlertsHistoryTab(p)), err
}
