package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/alert"
)

// A program makes a webhook, is told its key once, tests it and has it told of
// what ends.
func TestAProgramSubscribesAWebhook(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.api(access.Owner)
	var ch struct{ ID, Key, Hint string }
	made := c.wants(v1+"/alerts/channels", `{"team": "payments", "kind": "webhook", "name": "Orders", "url": "https://orders.example.com/secret-path"}`, 201)
	made.into(&ch)
	require.Len(t, ch.Key, 64)
	require.NotContains(t, made.body, "secret-path")
	again := c.get(made.header.Get("Location"))
	require.NotContains(t, again.body, ch.Key)
	require.NotContains(t, again.body, "secret-path")

	h.robot.answer = alert.Answer{Verdict: alert.TurnOff, Status: 401, Body: "who are you?"}
	var d struct {
		ID, State, Kind string
		Answer          struct {
			Status int
			Body   string
		}
	}
	c.wants(v1+"/alerts/channels/"+ch.ID+"/test", "", 200).into(&d)
	require.Equal(t, []string{"refused", "test", "who are you?"}, []string{d.State, d.Kind, d.Answer.Body})
	require.Equal(t, d.ID, h.robot.got[0].ID)

	c.wants(v1+"/alerts/subscriptions", `{"team": "payments", "channel_id": "`+ch.ID+`", "events": ["instance.finished", "letter.opened"]}`, 201)
	h.task("orders.send")
	events := alert.NewEvents(alert.EventsOptions{Box: h.ledger, Now: h.clock.Now, NewID: newID, Log: h.opt.Log})
	l := h.letter("orders.send", "o-1", "no luck")
	_, err := events.Tick(t.Context())
	require.NoError(t, err)
	var page struct {
		Items []struct{ ID, Event, Object string }
	}
	c.get(v1 + "/alerts/deliveries?state=waiting").into(&page)
	var got []string
	for _, x := range page.Items {
		got = append(got, x.Event+" "+x.Object)
	}
	require.ElementsMatch(t, []string{"instance.finished instance/" + l.InstanceID, "letter.opened letter/1"}, got)
	require.Equal(t, []string{"threshold"}, c.json("POST", v1+"/alerts/rules", `{"threshold": "many"}`).fields())
}
