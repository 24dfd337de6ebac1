package app

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/fault"
	"ax/app/sched"
	"ax/views"
)

const listedDeliveries = 50

// listDeliveries shows the log of messages, narrowed by the address.
func (a *App) listDeliveries(c *gin.Context) (reply, error) {
	q, err := readDeliveryQuery(c)
	page := views.DeliveriesPage{Query: q, Errors: fault.Fields(err)}
	if err != nil {
		return show(views.Deliveries(page)), err
	}
	ctx := c.Request.Context()
	if page.Channels, err = a.alerts.Channels.List(ctx, actor(c), scopeOf(c)); err != nil {
		return reply{}, err
	}
	list, err := a.alerts.Deliveries.List(ctx, actor(c), alert.DeliveryFilter{Scope: scopeOf(c), Channel: q.Channel, Incident: q.Incident, State: q.State, Kind: q.Kind},
		sched.PageRequest{After: q.After, Before: q.Before, Limit: listedDeliveries})
	if err != nil {
		return reply{}, err
	}
	page.Rows, page.Newer, page.Older = list.Items, list.Prev, list.Next
	return show(views.Deliveries(page)).piecewise(views.DeliveryRows(page)), nil
}

// readDeliveryQuery takes the filters from the address. The error is Invalid,
// its texts are for the whole form.
func readDeliveryQuery(c *gin.Context) (views.DeliveryQuery, error) {
	get := func(name string) string { return clip(strings.TrimSpace(c.Query(name)), maxFilterText) }
	q := views.DeliveryQuery{
		Channel: get("channel"), State: alert.DeliveryState(get("state")), Incident: get("incident"), Kind: alert.MessageKind(get("kind")),
		After: get("after"), Before: get("before"),
	}
	bad := &form{}
	if q.State != "" && !slices.Contains([]alert.DeliveryState{alert.Waiting, alert.Delivered, alert.Refused}, q.State) {
		bad.refuse("", "There is no state %q", string(q.State))
	}
	kinds := []alert.MessageKind{alert.Opened, alert.Repeated, alert.Grown, alert.Escalated, alert.Closed, alert.Test, alert.Summing, alert.Event, alert.Ran}
	if q.Kind != "" && !slices.Contains(kinds, q.Kind) {
		bad.refuse("", "There is no kind of message %q", string(q.Kind))
	}
	if q.Incident != "" && !isID(q.Incident) {
		bad.refuse("", "There is no incident %q", q.Incident)
	}
	if (q.After != "" && !isID(q.After)) || (q.Before != "" && !isID(q.Before)) {
		bad.refuse("", "This place in the list can’t be read")
	}
	return q, bad.err()
}

// showDelivery shows one message: what was sent, and all that came of it.
func (a *App) showDelivery(c *gin.Context) (reply, error) {
	d, err := a.alerts.Deliveries.Find(c.Request.Context(), actor(c), c.Param("id"))
	if err != nil {
		return reply{}, err
	}
	page := views.DeliveryPage{Delivery: d, MaySend: actor(c).Can(access.Acknowledge, d.TeamID)}
	page.Channel, err = a.alerts.Channels.Find(c.Request.Context(), actor(c), d.ChannelID)
	if err != nil && fault.KindOf(err) != fault.KindNotFound { // it may be gone: the message is not
		return reply{}, err
	}
	when := d.SentAt
	if when.IsZero() {
		when = a.now()
	}
	where := alert.Where{Name: a.env, Bad: page.Channel.Bad, Good: page.Channel.Good, Zone: a.zoneOf(c), Now: when, Quiet: page.Channel.Mention == alert.MentionNobody, All: page.Channel.Mention == alert.MentionAll}
	if a.external != nil {
		where.Base = a.external.String()
	}
	for _, login := range d.Message.Mention {
		where.People = append(where.People, alert.Person{Login: login})
	}
	page.Text = d.Message.Text(page.Channel.Language, where)
	if d.Kind == alert.Event {
		page.Body = indented(d.Message.Object)
	}
	return show(views.DeliveryDetail(page)).piecewise(views.DeliveryKnown(page)), nil
}

// indented is JSON for people; what is none stands as it is.
func indented(raw json.RawMessage) string {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return string(raw)
	}
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return string(raw)
	}
	return string(out)
}

// replayDelivery sends a message again, as it was and with its id.
func (a *App) replayDelivery(c *gin.Context) (reply, error) {
	d, err := a.alerts.Deliveries.Replay(c.Request.Context(), actor(c), c.Param("id"))
	if err != nil {
		return reply{}, err
	}
	a.flash(c, "The message is on its way again")
	return goTo("/alerts/deliveries/%s", d.ID), nil
}
