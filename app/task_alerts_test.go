package app_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app"
	"ax/app/access"
	"ax/app/alert"
	"ax/db"
)

func TestATaskSaysWhatFiresWhatIsSilentAndWhatWatchesIt(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	h.task("orders.other")
	ids := h.alerts()
	p := h.as("editor").get("/tasks/orders.send")
	require.Equal(t, "/alerts/incidents/"+ids.incident, p.attr("[data-test=open-incident] a", "href"))
	require.Contains(t, p.text("[data-test=task-rule]"), "nobody is told")
	require.Contains(t, p.texts("[data-test=task-rule] a"), "Failures in a row")
	require.NotContains(t, p.texts("[data-test=task-rule] a"), "Node offline", "that says nothing of this task")
	require.False(t, p.has("[data-test=task-silence]"), "the silence is of another tag")
	require.Equal(t, "/alerts/silences/new?task=orders.send", p.attr("[data-test=silence]", "href"))

	form := h.as("editor").get(p.attr("[data-test=new-rule]", "href"))
	require.Equal(t, "orders.send", form.attr("#f-scope-value", "value"))
	require.False(t, h.as("editor").get("/tasks/orders.other").has("[data-test=open-incident]"))

	_, err := h.opt.Alerts.Silences.Create(t.Context(), root, alert.SilenceSpec{
		Team: h.team.Code, Scope: alert.Scope{Kind: alert.OfTask, Value: "orders.send"}, Lasts: 600, Reason: "release 7"})
	require.NoError(t, err)
	_, err = h.opt.Alerts.Subscriptions.Create(t.Context(), root, alert.SubscriptionSpec{Team: h.team.Code, ChannelID: ids.channel})
	require.NoError(t, err)
	viewer := h.as("viewer").get("/tasks/orders.send")
	require.Contains(t, viewer.text("[data-test=task-silence]"), "release 7")
	require.Contains(t, viewer.text("[data-test=task-rule]"), "pager")
	require.False(t, viewer.has("[data-test=silence]"), "viewers silence nothing")
	require.False(t, viewer.has("[data-test=new-rule]"))
}

func TestATaskThatNothingWatchesSaysSoInOneLine(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	rules, err := h.opt.Alerts.Rules.List(t.Context(), root, access.Scope{Teams: []int64{h.team.ID}})
	require.NoError(t, err)
	for _, r := range rules {
		if r.TeamID != 0 {
			require.NoError(t, h.opt.Alerts.Rules.Delete(t.Context(), root, r.ID, ""))
		}
	}
	p := h.as("viewer").get("/tasks/orders.send")
	require.Equal(t, "No rule watches it: nobody is told when it fails.", p.text("[data-test=alerts] p"))
	require.False(t, p.has("[data-test=alerts] li"))
}

// countingSource answers each question alike, and counts them.
type countingSource struct {
	asked atomic.Int64
	task  int64
	team  int64
}

func (s *countingSource) Readings(context.Context, alert.Question, time.Time) ([]alert.Reading, error) {
	s.asked.Add(1)
	return []alert.Reading{{TaskID: s.task, TeamID: s.team, Value: 4, N: 4}}, nil
}

func TestManyViewersOfTheRulesCostOneReading(t *testing.T) {
	t.Parallel()
	source := &countingSource{}
	h := newHouse(t, func(o *app.Options) { o.Alerts.Live = alert.NewLive(o.Past.(*db.DB), source, o.Clock) })
	task := h.task("orders.send")
	source.task, source.team = task.ID, h.team.ID
	house, err := h.opt.Alerts.Rules.Create(t.Context(), root, alert.RuleSpec{Name: "Any row", Metric: alert.InARow, Scope: alert.Scope{Kind: alert.All}, Threshold: 3, Level: alert.P1})
	require.NoError(t, err)

	admin, auditor := h.as("admin"), h.as("auditor")
	named := admin.get("/alerts/rules").text("[data-rule='Any row']")
	require.Contains(t, named, "orders.send")
	once := source.asked.Load()
	require.Positive(t, once)
	require.Contains(t, auditor.get("/alerts/rules").text("[data-rule='Any row']"), "orders.send")
	require.Equal(t, once, source.asked.Load(), "the second viewer is shown what the first one read")

	require.NotContains(t, h.as("stranger").get("/alerts/rules").text("[data-rule='Any row']"), "orders.send", "of another team")

	_, err = h.opt.Alerts.Rules.SetEnabled(t.Context(), root, house.ID, false, "")
	require.NoError(t, err)
	asked := source.asked.Load()
	admin.get("/alerts/rules")
	require.Greater(t, source.asked.Load(), asked, "a rule that was changed is read anew")
	asked = source.asked.Load()
	h.forward(6 * time.Second)
	admin.get("/alerts/rules")
	require.Greater(t, source.asked.Load(), asked)
}
