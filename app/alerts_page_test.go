package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/alert"
)

func TestWhatFiresStandsOnThePageUntilSomebodyHasIt(t *testing.T) {
	h := newHouse(t)
	h.task("orders.send")
	ids := h.alerts()
	op := h.as("operator")
	p := op.get("/alerts")
	require.Contains(t, p.text("[data-test=incident] .nm"), "Send orders failed 7 times in a row")
	require.Contains(t, p.text("[data-test=incident]"), "Nobody is told", "no channel listens yet")
	require.Contains(t, p.text("[data-test=unheard]"), "Nobody would be told")

	require.Equal(t, "/alerts", op.post("/alerts/incidents/"+ids.incident+"/acknowledge", "back", "/alerts").location())
	p = op.get("/alerts")
	require.Contains(t, p.text("[data-test=incident]"), "seen by operator")
	require.NotContains(t, p.text("[data-test=incident] .do"), "Acknowledge")

	again := op.post("/alerts/incidents/" + ids.incident + "/acknowledge")
	require.Equal(t, 409, again.status)
	require.Contains(t, again.text(".note.bad[role=alert]"), "operator acknowledged it already")
}

func TestAnIncidentSaysWhatItIsAndTakesNotes(t *testing.T) {
	h := newHouse(t)
	h.task("orders.send")
	ids := h.alerts()
	op := h.as("operator")
	path := "/alerts/incidents/" + ids.incident
	p := op.get(path)
	require.Equal(t, "connection refused <b>", p.text("[data-test=member] .err"))
	require.Equal(t, "/tasks/orders.send", p.attr("[data-test=member] a.nm", "href"))
	require.Equal(t, path, op.post(path+"/note", "assignee", "owner", "note", "The gateway is down").location())
	require.Contains(t, op.get(path).text("#f-note"), "The gateway is down")
	require.Contains(t, h.as("viewer").get(path).text("main aside"), "The gateway is down")
}

func TestASilenceIsRefusedAtItsFieldsAndKeepsWhatWasTyped(t *testing.T) {
	h := newHouse(t)
	h.task("orders.send")
	h.alerts()
	op := h.as("operator")
	form := op.get("/alerts/silences/new?task=orders.send")
	require.Equal(t, "orders.send", form.attr("#f-scope-value", "value"))
	require.Contains(t, form.text("[data-test=covers]"), "It covers 1 task.")
	require.Contains(t, form.text("[data-test=covers]"), "1 incident that fires now goes quiet.")

	bad := op.post("/alerts/silences", "team", h.team.Code, "scope.kind", "task", "scope.value", "orders.send", "length", "again", "cron", "99 * * * *", "zone", "UTC", "lasts", "5")
	require.Equal(t, 422, bad.status)
	require.Equal(t, "99 * * * *", bad.attr("#f-cron", "value"))
	require.NotEmpty(t, bad.text("#f-cron-error"))
	require.NotEmpty(t, bad.text("#f-reason-error"))

	require.Equal(t, "/alerts/silences", op.post("/alerts/silences", "team", h.team.Code, "scope.kind", "task", "scope.value", "orders.send", "length", "3600", "reason", "release").location())
	require.Contains(t, op.get("/alerts/silences").text("[data-test=silences-active]"), "release")
}

func TestATestMessageShowsItsAnswerInPlace(t *testing.T) {
	h := newHouse(t)
	h.task("orders.send")
	ids := h.alerts()
	h.robot.answer = alert.Answer{Verdict: alert.GiveUp, Code: "310000", Body: "sign not match"}
	p := h.as("owner").htmx("/alerts/channels").with("HX-Target", "tr#c-"+ids.channel).post("/alerts/channels/" + ids.channel + "/test")
	require.Equal(t, 200, p.status)
	require.Contains(t, p.body, "310000 · sign not match")
	require.Contains(t, p.body, "Test refused")
}

func TestARuleShowsItsValueAndItsSwitch(t *testing.T) {
	h := newHouse(t)
	h.task("orders.send")
	ids := h.alerts()
	editor := h.as("editor")
	p := editor.get("/alerts/rules")
	require.Contains(t, p.text("#r-"+ids.rule), "1 time")
	require.Equal(t, "/alerts/rules", editor.post("/alerts/rules/"+ids.rule+"/disable", "back", "/alerts/rules").location())
	require.Contains(t, editor.get("/alerts/rules").text("#r-"+ids.rule), "Switch on")
}
