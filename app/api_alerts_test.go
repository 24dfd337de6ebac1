package app_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/sched"
)

type incidentJSON struct {
	ID, Rule, Team, State, Unit, Assignee, Note string
	AckedBy                                     string  `json:"acknowledged_by"`
	AckedAt                                     *string `json:"acknowledged_at"`
	Members                                     []struct{ Kind, Key, Detail string }
}

func TestAProgramTakesAnIncidentInHand(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	l := h.letter("orders.send", "o-1", "no luck")
	told := h.told(l.InstanceID)
	c, path := h.api(access.Operator), v1+"/alerts/incidents/"+told.incident
	var i incidentJSON
	c.get(path).into(&i)
	require.Equal(t, []string{"Failures in a row", "payments", "firing", "count", ""}, []string{i.Rule, i.Team, i.State, i.Unit, i.AckedBy})
	require.Equal(t, "no luck", i.Members[0].Detail)

	c.wants(path+"/acknowledge", "", 200).into(&i)
	require.Equal(t, "test-operator", i.AckedBy)
	require.Equal(t, "2026-12-02T06:32:07.000Z", *i.AckedAt)
	require.Contains(t, c.wants(path+"/acknowledge", "", 409).problem().Detail, "test-operator")
	c.wants(path+"/reopen", "", 200).into(&i)
	require.Empty(t, i.AckedBy)
	c.wants(path+"/reopen", "", 409)

	got := c.json("PUT", path+"/note", `{"assignee": "li.na", "note": "bank offline"}`)
	require.Equal(t, 200, got.status, got.body)
	got.into(&i)
	require.Equal(t, []string{"li.na", "bank offline"}, []string{i.Assignee, i.Note})
	require.Equal(t, []string{"note"}, c.json("PUT", path+"/note", map[string]string{"note": long(2001)}).fields())
	require.Equal(t, 404, c.get(v1+"/alerts/incidents/x").status)
}

func long(n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = 'x'
	}
	return string(out)
}

func TestIncidentsComeInPages(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	l := h.letter("orders.send", "o-1", "no luck")
	told := h.told(l.InstanceID)
	c := h.api(access.Viewer)
	var page struct {
		Items      []incidentJSON
		NextCursor *string `json:"next_cursor"`
	}
	c.get(v1 + "/alerts/incidents?limit=1").into(&page)
	require.Len(t, page.Items, 1)
	require.Equal(t, told.acked, page.Items[0].ID)
	c.get(v1 + "/alerts/incidents?limit=1&cursor=" + *page.NextCursor).into(&page)
	require.Equal(t, told.incident, page.Items[0].ID)
	require.Nil(t, page.NextCursor)
	c.get(v1 + "/alerts/incidents?state=over").into(&page)
	require.Empty(t, page.Items)
	require.Equal(t, []string{"cursor"}, c.get(v1+"/alerts/incidents?cursor=7").fields())
	h.otherAPI().get(v1 + "/alerts/incidents").into(&page)
	require.Empty(t, page.Items)
}

func TestAMessageIsSentAgainByAProgram(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	l := h.letter("orders.send", "o-1", "no luck")
	told := h.told(l.InstanceID)
	c := h.api(access.Operator)
	path := v1 + "/alerts/deliveries/" + told.delivery
	var d struct {
		ID, State, Title string
		MessageID        string `json:"message_id"`
		ReplayOf         string `json:"replay_of"`
		Answer           struct{ Status int }
		Message          struct{ Rule string }
	}
	c.get(path).into(&d)
	require.Equal(t, []string{"refused", "Failures in a row", "Failures in a row"}, []string{d.State, d.Title, d.Message.Rule})
	require.Equal(t, 400, d.Answer.Status)
	got := c.wants(path+"/replay", "", 202)
	got.into(&d)
	require.Equal(t, []string{"waiting", told.delivery, told.delivery}, []string{d.State, d.MessageID, d.ReplayOf})
	require.Equal(t, v1+"/alerts/deliveries/"+d.ID, got.header.Get("Location"))
	c.wants(got.header.Get("Location")+"/replay", "", 409)
	var page struct{ Items []struct{ ID string } }
	c.get(v1 + "/alerts/deliveries?state=waiting&channel=" + told.channel).into(&page)
	require.Equal(t, d.ID, page.Items[0].ID)
	require.Len(t, page.Items, 2)
	h.otherAPI().get(v1 + "/alerts/deliveries").into(&page)
	require.Empty(t, page.Items)
}

// The same request with the same key gets the same answer, and one message.
func TestAReplayWithAKeyIsMadeOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	told := h.told(h.letter("orders.send", "o-1", "no luck").InstanceID)
	c := h.api(access.Operator).with("Idempotency-Key", "again-1")
	first := c.wants(v1+"/alerts/deliveries/"+told.delivery+"/replay", "", 202)
	second := c.wants(v1+"/alerts/deliveries/"+told.delivery+"/replay", "", 202)
	require.Equal(t, first.body, second.body)
	page, err := h.opt.Alerts.Deliveries.List(t.Context(), root, alert.DeliveryFilter{State: alert.Waiting}, sched.PageRequest{})
	require.NoError(t, err)
	require.Len(t, page.Items, 2)
	require.WithinDuration(t, h.clock.Now(), page.Items[0].CreatedAt, time.Second)
}
