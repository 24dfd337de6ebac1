package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
)

func codes(a *answer) []string {
	var out []string
	for _, row := range a.doc().Find("[data-test=task]").EachIter() {
		out = append(out, row.AttrOr("data-code", ""))
	}
	return out
}

func TestTheListIsNarrowedByItsAddress(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("bank.a", func(s *sched.TaskSpec) { s.Tags, s.Group, s.Owner = []string{"bank", "big"}, "ledger", "operator" })
	h.task("bank.b", func(s *sched.TaskSpec) {
		s.Tags, s.Enabled = []string{"bank"}, new(false)
		s.Schedule = sched.ScheduleSpec{Kind: sched.KindInterval, EverySeconds: 60}
	})
	h.task("shop.c", func(s *sched.TaskSpec) { s.Name = "门店 100% off" })
	h.task("store.d", func(s *sched.TaskSpec) { s.Team = "store" })
	h.task("old.e")
	_, err := h.opt.Tasks.Archive(t.Context(), root, "old.e", "over")
	require.NoError(t, err)
	for query, want := range map[string][]string{
		"":                          {"bank.a", "bank.b", "shop.c"},
		"?q=bank":                   {"bank.a", "bank.b"},
		"?q=%E9%97%A8%E5%BA%97":     {"shop.c"},
		"?q=100%25":                 {"shop.c"},
		"?q=_":                      nil,
		"?tag=bank":                 {"bank.a", "bank.b"},
		"?tag=ban":                  nil,
		"?group=ledger":             {"bank.a"},
		"?owner=operator":           {"bank.a"},
		"?kind=interval":            {"bank.b"},
		"?kind=manual&enabled=true": {"bank.a", "shop.c"},
		"?enabled=false":            {"bank.b"},
		"?troubled=true":            nil,
		"?archived=1":               {"old.e"},
		"?kind=nonsense":            {"bank.a", "bank.b", "shop.c"},
		"?tag=bank&q=b":             {"bank.a", "bank.b"},
		"?team=store":               {"bank.a", "bank.b", "shop.c"}, // not a team of the viewer
	} {
		got := h.as("viewer").get("/tasks" + query)
		require.Equal(t, http.StatusOK, got.status, query)
		require.Equal(t, want, codes(got), query)
	}
	require.Equal(t, []string{"store.d"}, codes(h.as("admin").get("/tasks?team=store")))
}

func TestTokensTypedIntoTheBoxMoveIntoTheAddress(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("bank.a")
	got := h.as("viewer").get("/tasks?enabled=true&q=some+tag:Bank+kind:cron+words+kind:odd+x:y+after:")
	require.Equal(t, http.StatusSeeOther, got.status)
	require.Equal(t, "/tasks?enabled=true&kind=cron&q=some+words+kind%3Aodd+x%3Ay+after%3A&tag=bank", got.location())
	page := h.as("viewer").get("/tasks?tag=bank&kind=cron&enabled=true")
	require.Equal(t, []string{"tagbank", "kindcron"}, page.texts(".tok"))
	require.Equal(t, "/tasks?enabled=true&kind=cron", page.attr(".tok a", "href"), "each leads to the list without it")
	require.Equal(t, "bank", page.attr(`.tokens input[name="tag"]`, "value"), "a search keeps the filters")
}

func TestEmptyAndNothingMatchesAreTwoTexts(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	require.Equal(t, "No task yet", h.as("editor").get("/tasks").text("h2"))
	require.True(t, h.as("editor").get("/tasks").has(`#tasks a[href="/tasks/new"]`))
	require.False(t, h.as("viewer").get("/tasks").has(`a[href="/tasks/new"]`))
	require.Equal(t, "Nothing matches", h.as("viewer").get("/tasks?tag=x").text("h2"))
	require.Equal(t, http.StatusOK, h.as("nobody").get("/tasks").status)
}

func TestTheListHasPagesByKey(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for i := range 60 {
		h.task(fmt.Sprintf("t.%02d", i))
	}
	first := h.as("viewer").get("/tasks?kind=manual")
	require.Len(t, codes(first), 50)
	require.False(t, first.has(".foot a[rel=prev]"))
	second := h.as("viewer").get(first.attr(".foot a[rel=next]", "href"))
	require.Equal(t, []string{"t.50", "t.51"}, codes(second)[:2])
	require.Len(t, codes(second), 10)
	require.False(t, second.has(".foot a[rel=next]"))
	require.Equal(t, codes(first), codes(h.as("viewer").get(second.attr(".foot a[rel=prev]", "href"))))
}

func TestTheListRefreshesItsTableOnly(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	got := h.as("viewer").htmx("/tasks?tag=x").get("/tasks")
	require.Equal(t, http.StatusOK, got.status)
	require.False(t, got.has("main"))
	require.Equal(t, "/tasks", got.attr("#tasks", "hx-get"))
	require.Equal(t, []string{"orders.send"}, codes(got))
	got = h.as("viewer").htmx("/tasks/orders.send").get("/tasks/orders.send")
	require.False(t, got.has("main"))
	require.True(t, got.has("#task h1"))
}

func TestAListShowsWhatCameOfTheRuns(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	for i := range 3 {
		h.run(h.trigger("orders.send", fmt.Sprint("ok-", i)).ID, ok())
		h.forward(time.Second)
	}
	h.run(h.trigger("orders.send", "bad").ID, bad("no luck"))
	h.forward(time.Minute)
	h.trigger("orders.send", "waits")
	row := h.as("viewer").get("/tasks")
	require.Equal(t, "Failed", row.text("[data-test=task] .ck .w"), "what only waits is no result")
	require.Equal(t, 4, row.doc().Find("[data-test=task] svg.slots rect").Length())
	require.Equal(t, "Last 4 runs, 1 failed", row.attr("[data-test=task] svg.slots", "aria-label"))
	require.Contains(t, row.text("[data-test=task] .num-l"), "On request")

	for more := true; more; { // ax's own periodic work
		var err error
		more, err = h.ledger.RollUp(t.Context(), h.clock.Now())
		require.NoError(t, err)
	}
	require.Contains(t, h.as("viewer").get("/tasks").text("[data-test=task] td.num"), "75.00 %")
	page := h.as("viewer").get("/tasks/orders.send")
	require.Equal(t, "Failed", page.text("[data-test=state]"))
	require.Equal(t, 5, page.doc().Find("[data-test=instance]").Length())
	require.Equal(t, "Queued", page.text("[data-test=instance] .st"), "newest first")
	require.Contains(t, page.text(".strip"), "75.00 %")
	require.Contains(t, page.text(".strip"), "1 of 4 failed")
	require.Contains(t, page.text("main"), "no luck")
	require.True(t, page.has("[data-test=runs] [role=img]"))
}

func TestATaskThatNeverRanIsNotAFailure(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	page := h.as("viewer").get("/tasks/orders.send")
	require.Equal(t, "Never ran", page.text("[data-test=state]"))
	require.Contains(t, page.text("main"), "It never ran.")
	require.False(t, page.has("[data-test=runs]"))
	require.Contains(t, page.text(".strip"), "nothing ended")
}

func TestAPageTellsOfPausesAndMissedSlots(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("beat", func(s *sched.TaskSpec) {
		s.Schedule = sched.ScheduleSpec{Kind: sched.KindInterval, EverySeconds: 60}
	})
	_, err := h.opt.Tasks.Pause(t.Context(), root, "beat", h.clock.Now().Add(10*time.Minute), "quiet")
	require.NoError(t, err)
	page := h.as("viewer").get("/tasks/beat")
	require.Equal(t, "Paused", page.text("[data-test=state]"))
	require.Contains(t, page.text(".note"), "Paused until")
	require.Contains(t, page.text("[data-test=upcoming]"), "paused")
	require.Contains(t, h.as("viewer").get("/tasks").text("[data-test=task] .num-l"), "Paused")

	h.forward(30 * time.Minute) // no planner: the edit plans what is owed
	_, err = h.opt.Tasks.SetEnabled(t.Context(), root, "beat", false, "over")
	require.NoError(t, err)
	missed := h.as("viewer").get("/tasks/beat").text("[data-test=missed]")
	require.Contains(t, missed, "10 slots in a pause")
	require.Contains(t, missed, "slots missed, too late to run")
	require.Contains(t, missed, "ran in their place")
}

func TestATaskThatCannotBePlannedSaysWhy(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("beat", func(s *sched.TaskSpec) {
		s.Schedule = sched.ScheduleSpec{Kind: sched.KindInterval, EverySeconds: 60}
	})
	_, _, err := h.ledger.ChangeTask(t.Context(), sched.TaskChange{
		Code: "beat", Now: h.clock.Now(), By: root,
		Apply: func(old sched.Task) (sched.Task, access.Entry, error) {
			old.PlanError = `zone "Mars" is not known`
			return old, access.Entry{At: h.clock.Now(), Actor: root, Action: "task.break"}, nil
		},
	})
	require.NoError(t, err)
	page := h.as("viewer").get("/tasks/beat")
	require.Equal(t, "Can’t be planned", page.text("[data-test=state]"))
	require.Contains(t, page.text(".note.bad"), `zone "Mars" is not known`)
	require.Equal(t, []string{"beat"}, codes(h.as("viewer").get("/tasks?troubled=true")))
}

func TestNamesAreShownAsText(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	evil := `<script>alert(1)</script>" onclick="x`
	h.task("orders.send", func(s *sched.TaskSpec) {
		s.Name, s.Owner, s.Group, s.Tags = evil, `<b>"o"</b>`, `<i>'g'</i>`, []string{`<u>t</u>`}
		s.Payload = []byte(`{"a":"</pre><script>alert(2)</script>"}`)
		s.Target.URL = "https://x.example/?q=%3Cscript%3E&a='"
	})
	_, err := h.opt.Tasks.SetEnabled(t.Context(), root, "orders.send", false, `<script>alert(3)</script>`)
	require.NoError(t, err)
	editor := h.as("editor")
	for _, path := range []string{"/tasks", "/tasks/orders.send", "/tasks/orders.send/edit", "/tasks/orders.send/confirm/enable", "/tasks?q=%3Cscript%3E&owner=%22%3E%3Cscript%3E"} {
		for _, c := range []*client{editor, editor.htmx("/tasks")} {
			got := c.get(path)
			require.Equal(t, http.StatusOK, got.status, path)
			for _, s := range got.doc().Find("script").EachIter() {
				require.NotEmpty(t, s.AttrOr("src", ""), "a script in %s", path)
			}
			require.Zero(t, got.doc().Find("[onclick], pre script, #tasks b, #task b, main i, main u").Length(), path)
		}
	}
	require.Equal(t, evil, h.as("editor").get("/tasks").text("[data-test=task] a.nm"))
	require.Contains(t, strings.Join(editor.get("/tasks/orders.send").texts("[data-test=versions] li"), " "), "<script>alert(3)</script>")
}
