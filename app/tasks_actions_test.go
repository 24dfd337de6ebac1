package app_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
)

func TestAViewerSeesNoActionsAndMayNotPost(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	viewer, operator, editor := h.as("viewer"), h.as("operator"), h.as("editor")
	offers := func(c *client) []string {
		page := c.get("/tasks/orders.send")
		require.Equal(t, http.StatusOK, page.status)
		var out []string
		for _, a := range page.doc().Find(".acts [data-test]").EachIter() {
			out = append(out, a.AttrOr("data-test", ""))
		}
		return out
	}
	require.Empty(t, offers(viewer))
	require.Equal(t, []string{"do-pause", "do-disable", "do-run"}, offers(operator))
	require.Equal(t, []string{"do-pause", "do-disable", "do-archive", "edit", "do-run"}, offers(editor))
	require.False(t, viewer.get("/tasks").has("[data-test=switch]"))
	require.True(t, operator.get("/tasks").has("[data-test=switch]"))
	for _, path := range []string{"", "/run", "/enable", "/disable", "/pause", "/resume", "/archive"} {
		require.Equal(t, http.StatusForbidden, viewer.post("/tasks/orders.send"+path, "reason", "x").status, path)
	}
	require.Equal(t, http.StatusForbidden, viewer.post("/tasks/new", taskFields()...).status)
	require.Equal(t, http.StatusForbidden, viewer.get("/tasks/orders.send/edit").status)
	require.Equal(t, http.StatusForbidden, viewer.get("/tasks/orders.send/confirm/run").status)
	for _, path := range []string{"", "/archive"} {
		require.Equal(t, http.StatusForbidden, operator.post("/tasks/orders.send"+path, "reason", "x").status, path)
	}
	require.Equal(t, http.StatusForbidden, operator.get("/tasks/orders.send/confirm/archive").status)
	require.Equal(t, 1, h.stored("orders.send").Version)
}

func TestAnotherTeamsTaskIsNotThere(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	stranger := h.as("stranger")
	for _, path := range []string{"", "/edit", "/confirm/run", "/confirm/disable"} {
		require.Equal(t, http.StatusNotFound, stranger.get("/tasks/orders.send"+path).status, path)
		require.Equal(t, http.StatusNotFound, stranger.get("/tasks/no.such"+path).status, path)
	}
	for _, path := range []string{"", "/run", "/enable", "/disable", "/pause", "/resume", "/archive"} {
		require.Equal(t, http.StatusNotFound, stranger.post("/tasks/orders.send"+path, "reason", "x", "until", "2026-12-03T08:00").status, path)
	}
	require.Equal(t, http.StatusNotFound, h.as("editor").get("/tasks/orders.send/confirm/delete").status)
	require.Equal(t, http.StatusNotFound, h.as("editor").get("/tasks/%F0%9F%98%80").status)
	require.Equal(t, 1, h.stored("orders.send").Version)
}

func TestAQuestionIsADialogToHTMXAndAPageWithout(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	h.trigger("orders.send", "waits")
	operator := h.as("operator")
	page := operator.get("/tasks/orders.send/confirm/disable?back=%2Ftasks%3Ftag%3Dx")
	require.Equal(t, "Disable Task orders.send?", page.text("h1"))
	require.Contains(t, page.text(testForm), "1 that was accepted still runs.")
	require.Equal(t, "/tasks/orders.send/disable", page.attr(testForm, "action"))
	require.Equal(t, "/tasks?tag=x", page.value("back"))
	dialog := operator.htmx("/tasks").get("/tasks/orders.send/confirm/disable")
	require.True(t, dialog.has("dialog[data-ax-show] "+testForm))
	require.False(t, dialog.has("main"))
	away := operator.get("/tasks/orders.send/confirm/disable?back=https%3A%2F%2Fevil.example")
	require.Empty(t, away.value("back"), "only a page of ours")
}

const testForm = "[data-test=confirm]"

func TestADisabledTaskGoesBackToTheListAndIsSaid(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("beat", func(s *sched.TaskSpec) {
		s.Schedule = sched.ScheduleSpec{Kind: sched.KindInterval, EverySeconds: 60}
	})
	operator := h.as("operator")
	got := operator.post("/tasks/beat/disable", "reason", "  gateway cut-over ", "back", "/tasks?kind=interval")
	require.Equal(t, http.StatusSeeOther, got.status)
	require.Equal(t, "/tasks?kind=interval", got.location())
	list := operator.get("/tasks?kind=interval")
	require.Contains(t, list.text("#ax-toasts"), "beat is disabled")
	require.True(t, list.has("tr.off form[action='/tasks/beat/enable']"), "the switch enables at once")
	require.False(t, h.stored("beat").Enabled)
	versions, err := h.opt.Tasks.Versions(t.Context(), root, "beat", 1)
	require.NoError(t, err)
	require.Equal(t, "gateway cut-over", versions[0].Note)
	require.Equal(t, "operator", versions[0].Author)

	again := operator.post("/tasks/beat/enable", "back", "/tasks?kind=interval")
	require.Equal(t, http.StatusSeeOther, again.status)
	require.True(t, h.stored("beat").Enabled)
	require.Contains(t, operator.get("/tasks").text("#ax-toasts"), "beat is enabled")
	require.Contains(t, operator.get("/tasks/beat").texts("[data-test=versions] li")[1], "gateway cut-over")
}

func TestAnActionAsksForItsReasonAgain(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	editor := h.as("editor")
	for name, c := range map[string]struct {
		action string
		fields []string
		field  string
		says   string
	}{
		"disable without reason": {"disable", nil, "reason", "A reason is needed"},
		"archive without reason": {"archive", []string{"reason", "  "}, "reason", "A reason is needed"},
		"a reason too long":      {"enable", []string{"reason", strings.Repeat("x", 501)}, "reason", "At most 500 characters"},
		"a reason of two lines":  {"disable", []string{"reason", "a\nb"}, "reason", "Control characters"},
		"pause without moment":   {"pause", []string{"reason", "r"}, "until", "A moment is needed"},
		"pause until before":     {"pause", []string{"reason", "r", "until", "2026-12-01T08:00"}, "until", "A moment after now is needed"},
		"pause until whenever":   {"pause", []string{"reason", "r", "until", "soon"}, "until", "is not a date and time"},
	} {
		t.Run(name, func(t *testing.T) {
			got := editor.post("/tasks/orders.send/"+c.action, append(c.fields, "back", "/tasks")...)
			require.Equal(t, http.StatusUnprocessableEntity, got.status)
			require.Contains(t, fieldError(got, c.field), c.says)
			require.Equal(t, "/tasks", got.value("back"), "nothing is lost")
			require.Equal(t, 1, h.stored("orders.send").Version)
			require.Zero(t, h.stored("orders.send").PausedUntil)
		})
	}
}

func TestATaskIsPausedAndResumed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	operator := h.as("operator")
	require.Equal(t, "2026-12-03T08:00", operator.get("/tasks/orders.send/confirm/pause").value("until"))
	got := operator.post("/tasks/orders.send/pause", "reason", "quiet", "until", "2026-12-03T08:00")
	require.Equal(t, "/tasks/orders.send", got.location())
	require.True(t, h.stored("orders.send").PausedUntil.Equal(time.Date(2026, 12, 3, 8, 0, 0, 0, time.UTC)))
	page := operator.get("/tasks/orders.send")
	require.Contains(t, page.text("#ax-toasts"), "orders.send is paused")
	require.True(t, page.has("[data-test=do-resume]"))
	require.False(t, page.has("[data-test=do-pause]"))
	require.Equal(t, http.StatusSeeOther, operator.post("/tasks/orders.send/resume").status)
	require.False(t, h.stored("orders.send").Paused(h.clock.Now()))
	got = operator.post("/tasks/orders.send/resume")
	require.Equal(t, http.StatusConflict, got.status)
	require.Contains(t, got.text(testForm), "The task is not paused")
}

func TestAnArchivedTaskOffersNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	editor := h.as("editor")
	require.Equal(t, http.StatusSeeOther, editor.post("/tasks/orders.send/archive", "reason", "over").status)
	page := editor.get("/tasks/orders.send")
	require.Equal(t, "Archived", page.text("[data-test=state]"))
	require.False(t, page.has(".acts [data-test]"))
	require.Empty(t, codes(editor.get("/tasks")))
	require.Equal(t, []string{"orders.send"}, codes(editor.get("/tasks?archived=true")))
	require.Equal(t, http.StatusConflict, editor.post("/tasks/orders.send/enable").status)
}

func TestRunNowLeadsToItsInstance(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	operator := h.as("operator")
	got := operator.post("/tasks/orders.send/run", "biz_id", "o-1", "payload", `{"n": 1}`, "delay_seconds", "10 min")
	require.Equal(t, http.StatusSeeOther, got.status)
	id := strings.TrimPrefix(got.location(), "/instances/")
	in, err := h.ledger.Instance(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, "o-1", in.BizID)
	require.Equal(t, sched.FromPerson, in.Origin)
	require.Equal(t, "operator", in.RequestedBy)
	require.JSONEq(t, `{"n":1}`, string(in.Payload))
	require.Equal(t, 10*time.Minute+0, in.DueAt.Sub(h.clock.Now()).Truncate(time.Minute))

	again := operator.post("/tasks/orders.send/run", "biz_id", "o-1")
	require.Equal(t, got.location(), again.location(), "one business action, one instance")
	require.Contains(t, operator.get("/tasks").text("#ax-toasts"), "This biz_id was there already")

	at := operator.post("/tasks/orders.send/run")
	require.Equal(t, http.StatusSeeOther, at.status, "everything may be left out")
	require.Len(t, h.queue.sent, 1, "what is due now is handed over at once")
}

func TestARunThatCannotBeAcceptedIsAskedForAgain(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	operator := h.as("operator")
	for name, c := range map[string]struct{ field, value, says string }{
		"a slot's name":        {"biz_id", "@2026-12-02T06:32:07Z", "belongs to a slot"},
		"a name with blanks":   {"biz_id", "a b", "Printable ASCII"},
		"a payload that is no": {"payload", "{", "Line 1 is not valid JSON"},
		"a delay in words":     {"delay_seconds", "later", "is not a length of time"},
		"a delay of two years": {"delay_seconds", "800 d", "Between 1 and"},
	} {
		t.Run(name, func(t *testing.T) {
			got := operator.post("/tasks/orders.send/run", c.field, c.value)
			require.Equal(t, http.StatusUnprocessableEntity, got.status)
			require.Contains(t, fieldError(got, c.field), c.says)
			require.Equal(t, c.value, got.value(c.field))
		})
	}
	_, err := h.opt.Tasks.SetEnabled(t.Context(), root, "orders.send", false, "")
	require.NoError(t, err)
	got := operator.post("/tasks/orders.send/run", "biz_id", "o-1")
	require.Equal(t, http.StatusConflict, got.status)
	require.Contains(t, got.text(testForm), "The task is disabled: it takes no requests")
	require.Equal(t, "o-1", got.value("biz_id"))
	require.Empty(t, h.queue.sent)
}

func TestAnotherSiteCannotAct(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	got := h.as("operator").with("Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example").post("/tasks/orders.send/disable", url.Values{}.Encode(), "")
	require.Equal(t, http.StatusForbidden, got.status)
	require.True(t, h.stored("orders.send").Enabled)
}
