package app_test

import (
	"strconv"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/alert"
)

// alertsWorld are the ids of one of everything that alerts have.
type alertsWorld struct{ incident, rule, channel, silence string }

// alerts makes a rule with an incident that fires, a channel that nobody set to
// listen, and a silence of another task; all are of the team payments.
func (h *house) alerts() alertsWorld {
	h.t.Helper()
	ctx := h.t.Context()
	rules, err := h.opt.Alerts.Rules.List(ctx, root, access.Scope{Teams: []int64{h.team.ID}})
	require.NoError(h.t, err)
	require.NotEmpty(h.t, rules, "a team begins with rules")
	rule := rules[0]
	for _, r := range rules {
		if r.Metric == alert.InARow {
			rule = r
		}
	}
	i := h.incident(rule, "orders.send")
	channel, _, err := h.opt.Alerts.Channels.Create(ctx, root, alert.ChannelSpec{Team: h.team.Code, Kind: alert.Webhook, Name: "pager", URL: "https://pager.example.com/in"})
	require.NoError(h.t, err)
	silence, err := h.opt.Alerts.Silences.Create(ctx, root, alert.SilenceSpec{
		Team: h.team.Code, Scope: alert.Scope{Kind: alert.OfTag, Value: "gateway"}, Lasts: 3600, Reason: "the gateway is replaced"})
	require.NoError(h.t, err)
	return alertsWorld{i.ID, strconv.FormatInt(rule.ID, 10), channel.ID, strconv.FormatInt(silence.ID, 10)}
}

// incident that fires, of one task that fails.
func (h *house) incident(r alert.Rule, code string) alert.Incident {
	h.t.Helper()
	now := h.clock.Now()
	b := alert.Breach{Fingerprint: "f-" + code, TeamID: h.team.ID, Level: alert.P1, Value: 7, Members: []alert.Member{{
		Subject: alert.Subject{Kind: alert.TaskSubject, Key: code, Name: "Send orders"}, Value: 7, Level: alert.P1, Detail: "connection refused <b>"}}}
	r.For = 0
	i := alert.Begin(newID(), r, b, now)
	stored, err := h.ledger.RecordIncident(h.t.Context(), alert.IncidentChange{Is: i, Members: true}, now)
	require.NoError(h.t, err)
	require.True(h.t, stored)
	return i
}
