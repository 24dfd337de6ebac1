package app_test

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/alert"
)

// alerted are the ids of objects of alerts of the team payments.
type alerted struct {
	incident, acked, delivery, channel string
	rule, subscription, silence        string
}

// told makes an incident, one that is acknowledged, a webhook and a message that
// it has refused.
func (h *house) told(instance string) alerted {
	h.t.Helper()
	ctx, now := h.t.Context(), h.clock.Now()
	c, _, err := h.opt.Alerts.Channels.Create(ctx, root, alert.ChannelSpec{Team: h.team.Code, Kind: alert.Webhook, Name: h.unused("hook"), URL: "https://hooks.example.com/x"})
	require.NoError(h.t, err)
	out := alerted{incident: newID(), acked: newID(), delivery: newID(), channel: c.ID}
	r, err := h.opt.Alerts.Rules.Create(ctx, root, alert.RuleSpec{Team: h.team.Code, Name: h.unused("rule"), Metric: alert.InARow, Scope: alert.Scope{Kind: alert.All}, Threshold: 3, Level: alert.P1})
	require.NoError(h.t, err)
	sub, err := h.opt.Alerts.Subscriptions.Create(ctx, root, alert.SubscriptionSpec{Team: h.team.Code, ChannelID: c.ID, RuleID: r.ID})
	require.NoError(h.t, err)
	quiet, err := h.opt.Alerts.Silences.Create(ctx, root, alert.SilenceSpec{Team: h.team.Code, Scope: alert.Scope{Kind: alert.All}, Reason: "x", Lasts: 600})
	require.NoError(h.t, err)
	out.rule, out.subscription, out.silence = fmt.Sprint(r.ID), fmt.Sprint(sub.ID), fmt.Sprint(quiet.ID)
	for _, id := range []string{out.incident, out.acked} {
		i := alert.Incident{
			ID: id, RuleID: 7, RuleName: "Failures in a row", Metric: alert.InARow, TeamID: h.team.ID, Fingerprint: id, State: alert.Firing, Level: alert.P1,
			Threshold: 3, Value: 4, Worst: 5, Since: now, OpenedAt: now,
			Members: []alert.Member{{Subject: alert.Subject{Kind: alert.TaskSubject, Key: "orders.send"}, Value: 4, Since: now, Detail: "no luck", Instance: instance, Level: alert.P1}},
		}
		d := alert.Delivery{
			ID: newID(), TeamID: h.team.ID, ChannelID: c.ID, IncidentID: id, Object: "incident/" + id, Dedupe: id, Kind: alert.Opened, State: alert.Waiting,
			CreatedAt: now, DueAt: now, Message: alert.Message{ID: out.delivery, Kind: alert.Opened, At: now, Rule: i.RuleName},
		}
		if id == out.incident {
			d.ID = out.delivery
		}
		stored, err := h.ledger.RecordIncident(ctx, alert.IncidentChange{Is: i, Members: true, Deliveries: []alert.Delivery{d}}, now)
		require.NoError(h.t, err)
		require.True(h.t, stored)
	}
	_, err = h.opt.Alerts.Incidents.Acknowledge(ctx, access.Actor{Kind: access.System, Name: "ann"}, out.acked)
	require.NoError(h.t, err)
	d, err := h.ledger.Delivery(ctx, out.delivery)
	require.NoError(h.t, err)
	d.State, d.Tries, d.SentAt, d.EndedAt, d.Answer = alert.Refused, 2, now, now, alert.Answer{Verdict: alert.GiveUp, Status: 400, Body: "bad"}
	require.NoError(h.t, h.ledger.EndDelivery(ctx, d))
	return out
}
