package app_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
)

// edited is a task with two versions.
func (h *house) edited(code string) {
	h.t.Helper()
	h.task(code)
	h.rename(code)
}

// rename makes the task's next version: with another name, owner and schedule.
func (h *house) rename(code string) {
	h.t.Helper()
	w := h.stored(code).Written("")
	w.Name, w.Owner, w.Note = "Another name", "lin", "a new name"
	w.Schedule = sched.ScheduleSpec{Kind: sched.KindDelay, DelaySeconds: 5400}
	_, err := h.opt.Tasks.Update(h.t.Context(), root, code, w)
	require.NoError(h.t, err)
}

func TestATaskIsRolledBack(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.edited("orders.send")
	editor := h.as("editor")
	task := editor.get("/tasks/orders.send")
	require.Equal(t, []string{"Roll back…"}, task.texts("[data-test=roll-back]"), "not to the present one")
	require.Equal(t, "/tasks/orders.send/versions/1", task.attr("[data-test=roll-back]", "href"))

	page := editor.get("/tasks/orders.send/versions/1")
	require.Equal(t, "Version 1 of Another name", page.text("h1"))
	rows := page.texts("[data-test=diff] tbody tr")
	require.Contains(t, rows[0], "Another name")
	require.Contains(t, rows[0], "Task orders.send")
	require.Contains(t, page.text("[data-test=diff]"), "1 h 30 min")
	require.Equal(t, "2", page.value("read_version"))

	got := editor.post("/tasks/orders.send/versions/1", "note", "  wrong hour ", "read_version", "2")
	require.Equal(t, http.StatusSeeOther, got.status, got.body)
	require.Equal(t, "/tasks/orders.send", got.location())
	after := editor.get("/tasks/orders.send")
	require.Contains(t, after.text("#ax-toasts"), "Saved as version 3.")
	require.Contains(t, after.text("#ax-toasts"), "The definition is that of version 1.")
	require.Contains(t, after.texts("[data-test=versions] li")[0], "roll back to v1: wrong hour")
	stored := h.stored("orders.send")
	require.Equal(t, []any{3, "Task orders.send", "", sched.KindManual, true}, []any{stored.Version, stored.Name, stored.Owner, stored.Spec.Schedule.Kind, stored.Enabled})
	require.Contains(t, h.as("owner").get("/audit?action=task.update").text("main"), "roll back to v1: wrong hour")
	require.Contains(t, editor.get("/tasks/orders.send/versions/2").text("[data-test=diff]"), "Another name", "the history is as it was")
}

func TestARollBackIsAskedForAgain(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.edited("orders.send")
	editor := h.as("editor")
	const path = "/tasks/orders.send/versions/1"
	got := editor.post(path, "note", "", "read_version", "2")
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, fieldError(got, "note"), "A reason is needed")
	got = editor.post(path, "note", "r")
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, got.text("[data-test=refused]"), "The version that you read is needed")

	got = editor.post(path, "note", "wrong hour", "read_version", "1")
	require.Equal(t, http.StatusConflict, got.status)
	require.Contains(t, got.text("[data-test=refused]"), "changed the task meanwhile: it is at version 2, you began from 1")
	require.Equal(t, "wrong hour", got.value("note"), "nothing is lost")
	require.Equal(t, "2", got.value("read_version"))

	got = editor.post("/tasks/orders.send/versions/2", "note", "r", "read_version", "2")
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, got.text("[data-test=refused]"), "nothing to roll back")
	require.False(t, got.has(testForm))
	require.Equal(t, 2, h.stored("orders.send").Version)
}

// A version whose calendar is gone can't be had again, and it is said why.
func TestAVersionWhoseCalendarIsGoneIsRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.calendar("pay-days")
	w := h.task("pay.daily", func(s *sched.TaskSpec) {
		s.Schedule = sched.ScheduleSpec{Kind: sched.KindCron, Cron: "0 9 * * *", Timezone: "UTC", Calendar: "pay-days"}
	}).Written("")
	w.Schedule.Calendar, w.Schedule.CalendarMode, w.Schedule.CalendarMove = "", "", ""
	_, err := h.opt.Tasks.Update(t.Context(), root, "pay.daily", w)
	require.NoError(t, err)
	require.NoError(t, h.opt.Calendars.Delete(t.Context(), root, "pay-days", ""))
	got := h.as("editor").post("/tasks/pay.daily/versions/1", "note", "r", "read_version", "2")
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, got.text("[data-test=refused]"), `Calendar: There is no calendar "pay-days" that this team can use`)
	require.Equal(t, 2, h.stored("pay.daily").Version)
}

func TestAVersionIsForThoseWhoMay(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.edited("orders.send")
	const path = "/tasks/orders.send/versions/1"
	page := h.as("operator").get(path)
	require.True(t, page.has("[data-test=diff]"), "whoever sees the task may compare")
	require.False(t, page.has(testForm))
	require.False(t, h.as("viewer").get("/tasks/orders.send").has("[data-test=roll-back]"))
	require.Equal(t, http.StatusForbidden, h.as("operator").post(path, "note", "r", "read_version", "2").status)
	require.Equal(t, http.StatusForbidden, h.as("auditor").post(path, "note", "r", "read_version", "2").status)
	require.Equal(t, http.StatusNotFound, h.as("stranger").post(path, "note", "r", "read_version", "2").status)
	for _, odd := range []string{"9", "0", "-1", "x", "99999999999999999999"} {
		require.Equal(t, http.StatusNotFound, h.as("editor").get("/tasks/orders.send/versions/"+odd).status, odd)
		require.Equal(t, http.StatusNotFound, h.as("stranger").get("/tasks/orders.send/versions/"+odd).status, odd)
	}
	require.Equal(t, http.StatusSeeOther, h.as("editor").post("/tasks/orders.send/archive", "reason", "over").status)
	require.False(t, h.as("editor").get(path).has(testForm))
	require.Equal(t, http.StatusConflict, h.as("editor").post(path, "note", "r", "read_version", "3").status)
	require.Equal(t, 3, h.stored("orders.send").Version)
}

// All versions can be reached, however many there are.
func TestOlderVersionsAreListedWhenAskedFor(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	w := h.task("orders.send").Written("")
	for range 21 {
		w.Name += "x"
		got, err := h.opt.Tasks.Update(t.Context(), root, "orders.send", w)
		require.NoError(t, err)
		w.Version = got.Version
	}
	editor := h.as("editor")
	page := editor.get("/tasks/orders.send")
	require.Len(t, page.texts("[data-test=versions] li"), 20)
	require.Equal(t, "/tasks/orders.send?versions=all#versions", page.attr("[data-test=older]", "href"))
	page = editor.get("/tasks/orders.send?versions=all")
	require.Len(t, page.texts("[data-test=versions] li"), 22)
	require.False(t, page.has("[data-test=older]"))
	require.Equal(t, "/tasks/orders.send?versions=all", page.attr("#task", "hx-get"), "a refresh keeps them")
}
