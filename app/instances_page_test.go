package app_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
)

// presentHouse is a house at the present: ids hold the time of their making,
// and lists bound it.
func presentHouse(t *testing.T) *house {
	t.Helper()
	h := newHouse(t)
	h.at = time.Now().UTC().Truncate(time.Millisecond)
	return h
}

// ofStore moves a task to the stranger's team.
func (h *house) ofStore(s *sched.TaskSpec) { s.Team = h.other.Code }

// bizIDs are those of the rows of a list.
func bizIDs(a *answer, rows string) []string { return a.texts(rows + " .bizline .mono") }

// recorded is the newest audit row of the action.
func (h *house) recorded(action string) access.Entry {
	h.t.Helper()
	page, err := access.NewReader(h.ledger).List(h.t.Context(), root, access.AuditFilter{Action: action}, 0, 10)
	require.NoError(h.t, err)
	require.NotEmpty(h.t, page.Entries, "nothing in the audit about %s", action)
	return page.Entries[0]
}

func (h *house) instance(id string) sched.Instance {
	h.t.Helper()
	in, err := h.ledger.Instance(h.t.Context(), id)
	require.NoError(h.t, err)
	return in
}

// claim makes the instance run and leaves it at that.
func (h *house) claim(id string) {
	h.t.Helper()
	h.work()
	_, err := h.ledger.Claim(h.t.Context(), sched.ClaimRequest{InstanceID: id, NodeID: h.node.ID(), ClaimID: newID(), Now: h.local()})
	require.NoError(h.t, err)
	require.Equal(h.t, sched.Running, h.instance(id).State)
}

func TestAListOfInstancesShowsOnlyTheOwnTeams(t *testing.T) {
	t.Parallel()
	h := presentHouse(t)
	h.found()
	h.task("orders.send")
	h.task("shop.open", h.ofStore)
	h.trigger("orders.send", "pay-1")
	h.trigger("shop.open", "shop-1")
	for who, want := range map[string][]string{"viewer": {"pay-1"}, "stranger": {"shop-1"}, "nobody": nil, "auditor": {"shop-1", "pay-1"}} {
		for _, path := range []string{"/instances", "/instances?since=all", "/instances?team=payments&team=store", "/instances?task="} {
			if who == "auditor" && strings.Contains(path, "team=") {
				continue // chooses one of them
			}
			require.Equal(t, want, bizIDs(h.as(who).get(path), "[data-test=instance]"), "%s as %s", path, who)
			require.Equal(t, want, bizIDs(h.as(who).htmx("/instances").get(path), "[data-test=instance]"), "%s as %s, refreshed", path, who)
		}
	}
	require.Empty(t, bizIDs(h.as("stranger").get("/instances?task=orders.send"), "[data-test=instance]"), "a task of others is no filter")
	require.Equal(t, []string{"pay-1"}, bizIDs(h.as("auditor").get("/instances?team=payments"), "[data-test=instance]"))
}

func TestTheListOfInstancesIsNarrowedByItsAddress(t *testing.T) {
	t.Parallel()
	h := presentHouse(t)
	h.task("orders.send")
	h.task("orders.close")
	h.run(h.trigger("orders.send", "o-1").ID, ok())
	h.run(h.trigger("orders.send", "o-2").ID, bad("no luck"))
	h.trigger("orders.close", "c-1")
	c := h.as("viewer")
	for query, want := range map[string][]string{
		"":                                   {"c-1", "o-2", "o-1"},
		"state=failed":                       {"o-2"},
		"group=failed":                       {"o-2"},
		"group=waiting":                      {"c-1"},
		"group=succeeded":                    {"o-1"},
		"task=orders.send":                   {"o-2", "o-1"},
		"task=orders.send&state=failed":      {"o-2"},
		"task=nonesuch":                      nil,
		"biz=o-":                             {"o-2", "o-1"},
		"biz=%25":                            nil,
		"node=" + h.node.ID():                {"o-2", "o-1"},
		"node=" + newID():                    nil,
		"origin=api":                         nil,
		"origin=person":                      {"c-1", "o-2", "o-1"},
		"since=1h":                           {"c-1", "o-2", "o-1"},
		"since=all":                          {"c-1", "o-2", "o-1"},
		"since=2020-01-01&until=2021-01-01":  nil,
		"since=2020-01-01T10:00":             {"c-1", "o-2", "o-1"},
		"since=0001-01-01&until=9999-01-01":  {"c-1", "o-2", "o-1"},
		"until=0001-01-01":                   nil,
		"state=succeeded&group=failed":       {"o-1"},
		"nonesuch=1&state=failed":            {"o-2"},
		"after=" + newID() + "&state=failed": {"o-2"},
	} {
		got := c.get("/instances?" + query)
		require.Equal(t, http.StatusOK, got.status, query)
		require.Equal(t, want, bizIDs(got, "[data-test=instance]"), query)
	}
}

func TestWhatHasEndedIsBoundedInTimeAndWhatIsOpenIsNot(t *testing.T) {
	t.Parallel()
	h := presentHouse(t)
	h.task("orders.send")
	h.run(h.trigger("orders.send", "ended").ID, ok())
	h.trigger("orders.send", "waits")
	h.forward(25 * time.Hour)
	c := h.as("viewer")
	page := c.get("/instances")
	require.Empty(t, bizIDs(page, "[data-test=instance]"))
	require.Equal(t, "24 h", page.text(`.seg [aria-current]`))
	require.Equal(t, "Nothing in this time", page.text(".blank h2"))
	wider := page.attr(".blank a", "href")
	require.Equal(t, []string{"waits", "ended"}, bizIDs(c.get(wider), "[data-test=instance]"))
	require.Equal(t, []string{"waits"}, bizIDs(c.get("/instances?group=waiting"), "[data-test=instance]"))
	require.Empty(t, bizIDs(c.get("/instances?group=succeeded"), "[data-test=instance]"))
	require.Equal(t, []string{"ended"}, bizIDs(c.get("/instances?group=succeeded&since=2d"), "[data-test=instance]"))
	require.Equal(t, "Nothing matches", c.get("/instances?group=failed&since=all").text(".blank h2"))
	require.Equal(t, "No instance yet", h.as("stranger").get("/instances?since=all").text(".blank h2"))
}

func TestTheRailCountsWhatItsLinksShow(t *testing.T) {
	t.Parallel()
	h := presentHouse(t)
	h.task("orders.send")
	for i := range 3 {
		h.trigger("orders.send", fmt.Sprintf("w-%d", i))
	}
	h.run(h.trigger("orders.send", "bad").ID, bad("no luck"))
	h.rolled()
	page := h.as("viewer").get("/instances")
	require.Equal(t, "4", page.text(`#states a[href="/instances"] .count`))
	require.Equal(t, "3", page.text(`#states a[href="/instances?group=waiting"] .count`))
	require.Equal(t, "1", page.text(`#states a[href="/instances?state=failed"] .count`))
	require.Equal(t, "0", h.as("stranger").get("/instances").text(`#states a[href="/instances"] .count`))
	narrow := h.as("viewer").get("/instances?biz=w")
	require.Empty(t, narrow.text("#states .count"), "the counts know nothing of this filter")
	fresh := h.as("viewer").htmx("/instances").get("/instances")
	require.Contains(t, fresh.body, `<hx-partial hx-target="#states"`)
	require.NotContains(t, fresh.body, "<html")
	require.NotContains(t, fresh.body, `name="q"`, "somebody may be typing there")
}

func TestAListOfInstancesHasPages(t *testing.T) {
	t.Parallel()
	h := presentHouse(t)
	h.task("orders.send")
	for i := range 55 {
		h.trigger("orders.send", fmt.Sprintf("o-%02d", i))
	}
	c := h.as("viewer")
	first := c.get("/instances?task=orders.send")
	require.Len(t, bizIDs(first, "[data-test=instance]"), 50)
	require.False(t, first.has("a[rel=prev]"))
	second := c.get(first.attr("a[rel=next]", "href"))
	require.Equal(t, []string{"o-04", "o-03", "o-02", "o-01", "o-00"}, bizIDs(second, "[data-test=instance]"))
	require.False(t, second.has("a[rel=next]"))
	back := c.get(second.attr("a[rel=prev]", "href"))
	require.Equal(t, bizIDs(first, "[data-test=instance]"), bizIDs(back, "[data-test=instance]"))
	end := c.get("/instances?before=" + newID())
	require.Equal(t, "No more of them", end.text(".blank h2"))
}

func TestWordsInTheBoxBecomeFilters(t *testing.T) {
	t.Parallel()
	h := presentHouse(t)
	h.task("orders.send")
	in := h.trigger("orders.send", "o-1")
	h.work()
	c := h.as("viewer")
	for typed, want := range map[string]string{
		"task:orders.send biz:o-":              "/instances?biz=o-&task=orders.send",
		"state:failed":                         "/instances?state=failed",
		"orders.send":                          "/instances?task=orders.send",
		"o-1":                                  "/instances?biz=o-1",
		"@2026-12-02T06:20:00Z":                "/instances?biz=" + url.QueryEscape("@2026-12-02T06:20:00Z"),
		"order:17":                             "/instances?biz=order%3A17",
		"node:node-1":                          "/instances?node=" + h.node.ID(),
		"node:node-1:1 origin:api":             "/instances?node=" + h.node.ID() + "&origin=api",
		"node:nonesuch":                        "/instances?node=nonesuch",
		"since:2026-12-01T08:00 until:all":     "/instances?since=2026-12-01T08%3A00&until=all",
		in.ID:                                  "/instances/" + in.ID,
		newID():                                "",
		"group:waiting http://evil.example/x?": "/instances?biz=" + url.QueryEscape("http://evil.example/x?") + "&group=waiting",
		"  ":                                   "/instances",
	} {
		got := c.get("/instances?after=" + newID() + "&q=" + url.QueryEscape(typed))
		require.Equal(t, http.StatusSeeOther, got.status, typed)
		if want != "" {
			require.Equal(t, want, got.location(), typed)
		}
	}
	got := c.get("/instances?state=failed&since=7d&q=o-1")
	require.Equal(t, "/instances?biz=o-1&since=7d&state=failed", got.location(), "what was in force stays")
	require.Equal(t, "/instances?biz="+in.ID, h.as("stranger").get("/instances?q="+in.ID).location(), "an id of others is a word like any other")
}

func TestFiltersThatCannotBeReadAreSaid(t *testing.T) {
	t.Parallel()
	h := presentHouse(t)
	c := h.as("viewer")
	for query, said := range map[string]string{
		"state=done":              `There is no state "done"`,
		"group=done":              `There is no state "done"`,
		"origin=mars":             `There is no origin "mars"`,
		"node=x":                  `There is no node "x"`,
		"biz=%E4%B8%AD":           "printable ASCII",
		"since=yesterday":         `"yesterday" is not a date`,
		"until=2026-13-01":        "is not a date",
		"after=1+OR+1%3D1":        "place in the list",
		"before=x":                "place in the list",
		"state=%3Cscript%3E":      `There is no state "<script>"`,
		"state=done&origin=mars":  `There is no origin "mars"`,
		"since=9999999999h":       "is not a date",
		"state=failed&until=1h":   "is not a date",
		"since=2026-03-08T02:30x": "is not a date",
	} {
		got := c.get("/instances?" + query)
		require.Equal(t, http.StatusUnprocessableEntity, got.status, query)
		require.Contains(t, got.text(".note.bad"), said, query)
		require.Empty(t, bizIDs(got, "[data-test=instance]"))
		require.False(t, got.has("main script"), query)
	}
	for _, query := range []string{"biz=%00", "task=%00", "biz=%ff", "q=%00"} {
		require.Equal(t, http.StatusBadRequest, c.get("/instances?"+query).status, query)
	}
	require.Equal(t, http.StatusOK, c.get("/instances?task=%E4%B8%AD").status, "no task has such a code")
}

func TestAnInstanceIsToldStepByStep(t *testing.T) {
	t.Parallel()
	h := presentHouse(t)
	h.task("orders.send", func(s *sched.TaskSpec) { s.Policy.Retry = &sched.RetrySpec{Max: new(1), DelaysSeconds: []int{10}} })
	in := h.trigger("orders.send", "o-1")
	h.run(in.ID, bad("no luck"))
	page := h.as("viewer").get("/instances/" + in.ID)
	require.Equal(t, http.StatusOK, page.status)
	require.Equal(t, "Retrying", page.text(".facts .st"))
	require.Equal(t, "/instances/"+in.ID, page.attr("#instance", "hx-get"), "it refreshes itself")
	require.Equal(t, "2", page.attr("[data-ax-live]", "data-ax-live"))
	h.forward(11 * time.Second)
	require.Equal(t, sched.Failed, h.run(in.ID, bad("no luck again")).State)
	page = h.as("viewer").get("/instances/" + in.ID)
	steps := page.texts(".walk .h")
	require.Equal(t, []string{"Asked for by hand", "Handed over to the queue default"}, steps[:2])
	require.Equal(t, []string{"Attempt 1 failed after 0 ms", "Attempt 2 failed after 0 ms", "Ended: failed, no more retries"}, steps[2:])
	require.Contains(t, page.text(".walk"), "retry 1 of 1, 10 s after the failure")
	require.Equal(t, "orders.send/o-1", page.attr(`.kv [data-ax-copy]`, "data-ax-copy"))
	require.Contains(t, page.text("#attempt-2 pre"), "500 Internal Server Error")
	require.Equal(t, "definition version 1", page.text("#attempt-2 a"))
	require.True(t, page.has("#attempt-2[open]"))
	require.True(t, page.has(`.head a[href="/dead-letters/1"]`))
	require.False(t, page.has("#instance[hx-get]"), "nothing changes any more")
	require.False(t, page.has(`main form[method="post"]`), "a viewer may do nothing")
}

func TestARefreshOfAnEndedInstanceLoadsThePageAnew(t *testing.T) {
	t.Parallel()
	h := presentHouse(t)
	h.task("orders.send")
	in := h.trigger("orders.send", "o-1")
	c := h.as("viewer").htmx("/instances/" + in.ID)
	open := c.get("/instances/" + in.ID)
	require.Empty(t, open.header.Get("HX-Refresh"))
	require.True(t, strings.HasPrefix(open.body, `<div id="instance"`), open.body[:40])
	h.run(in.ID, ok())
	require.Equal(t, "true", c.get("/instances/"+in.ID).header.Get("HX-Refresh"))
	require.Empty(t, h.as("viewer").get("/instances/"+in.ID).header.Get("HX-Refresh"))
}

func TestWhatATargetSaysIsShownAsText(t *testing.T) {
	t.Parallel()
	h := presentHouse(t)
	evil := `<script>alert(1)</script><img src=x onerror=alert(1)>"'>`
	h.task("orders.send", func(s *sched.TaskSpec) { s.Name = evil })
	in, _, err := h.opt.Tasks.Trigger(t.Context(), root, "orders.send", sched.TriggerRequest{BizID: `<b>"o'1</b>`, Payload: []byte(`{"x":"</pre><script>alert(1)</script>"}`)})
	require.NoError(t, err)
	result := bad(evil)
	result.Request = "POST https://x/\nX: " + evil
	result.Response = "HTTP/1.1 500 " + evil + "\nX-Reason: " + evil + "\n\n" + evil
	v := h.run(in.ID, result)
	c := h.as("operator")
	for _, a := range []*answer{
		c.get("/instances"), c.htmx("/instances").get("/instances"), c.get("/instances/" + in.ID), c.htmx("/instances/" + in.ID).get("/instances/" + in.ID),
		c.get("/dead-letters"), c.get("/dead-letters/1"), c.htmx("/dead-letters/1").get("/dead-letters/1"),
		c.post("/instances/"+in.ID+"/cancel", "reason", evil), c.post("/dead-letters/1/replay", "reason", ""),
		c.post("/dead-letters/1", "version", "1", "assignee", evil, "solution", evil),
	} {
		require.Contains(t, a.body, "&lt;script&gt;")
		require.False(t, a.has("main script, main img, main b b, #instance script, #top script, #rows script"), a.body)
		require.NotContains(t, a.body, "<script>alert")
		require.NotContains(t, a.body, "<img")
	}
	require.NotZero(t, v.Letter)
	page := c.get("/instances/" + in.ID)
	require.Contains(t, page.doc().Find("#attempt-1 pre").Text(), evil)
	require.Contains(t, page.doc().Find("#payload").Text(), "</pre><script>alert(1)</script>")
}

func TestAnInstanceOfOthersIsNotThere(t *testing.T) {
	t.Parallel()
	h := presentHouse(t)
	h.task("orders.send")
	in := h.trigger("orders.send", "o-1")
	for _, who := range []string{"stranger", "nobody"} {
		c := h.as(who)
		for _, path := range []string{"/instances/" + in.ID, "/instances/" + newID(), "/instances/1", "/instances/" + strings.ToUpper(in.ID), "/instances/..%2f", "/instances/%27"} {
			require.Equal(t, http.StatusNotFound, c.get(path).status, "%s as %s", path, who)
			require.Equal(t, http.StatusNotFound, c.htmx("/instances").get(path).status, "%s as %s, fragment", path, who)
		}
		require.Equal(t, http.StatusNotFound, c.post("/instances/"+in.ID+"/cancel", "reason", "mine now").status, who)
		require.NotContains(t, c.get("/instances/"+in.ID).body, "orders.send")
	}
	require.Equal(t, http.StatusBadRequest, h.as("viewer").get("/instances/%00").status)
	require.Equal(t, http.StatusBadRequest, h.as("viewer").get("/instances/%ff").status)
	require.Equal(t, sched.Queued, h.instance(in.ID).State)
}

func TestAQueuedInstanceIsCanceledWithAReason(t *testing.T) {
	t.Parallel()
	h := presentHouse(t)
	h.task("orders.send")
	in := h.trigger("orders.send", "o-1")
	path := "/instances/" + in.ID
	c := h.as("operator")
	require.Equal(t, path+"/cancel", c.get(path).attr("dialog#cancel form[method=post]", "action"))
	require.False(t, h.as("viewer").get(path).has("#cancel"))
	require.Equal(t, http.StatusForbidden, h.as("viewer").post(path+"/cancel", "reason", "x").status)

	again := c.post(path+"/cancel", "reason", "  ")
	require.Equal(t, http.StatusUnprocessableEntity, again.status)
	require.True(t, again.has("dialog#cancel[open] input[name=reason][aria-invalid=true]"))
	again = c.post(path+"/cancel", "reason", strings.Repeat("long", 200))
	require.Equal(t, http.StatusUnprocessableEntity, again.status)
	require.Equal(t, strings.Repeat("long", 200), again.value("reason"), "nothing typed is lost")
	require.Equal(t, sched.Queued, h.instance(in.ID).State)

	done := c.post(path+"/cancel", "reason", "wrong price list", "state", "succeeded", "team_id", "2")
	require.Equal(t, http.StatusSeeOther, done.status)
	require.Equal(t, path, done.location())
	page := c.get(path)
	require.Equal(t, "Canceled", page.text(".facts .st"))
	require.Contains(t, page.text(".walk .step:last-child"), "canceled by operator: wrong price list")
	require.Equal(t, "The instance is canceled", page.text("#ax-toasts [data-text]"))
	e := h.recorded("instance.cancel")
	require.Equal(t, []string{"operator", "wrong price list", in.ID}, []string{e.Actor.Name, e.Reason, e.Object.ID})

	ended := c.post(path+"/cancel", "reason", "once more")
	require.Equal(t, http.StatusConflict, ended.status)
	require.Contains(t, ended.text(".note.bad"), "has ended already")
	require.Equal(t, "Canceled", ended.text(".facts .st"), "the page as it is now")
	require.Contains(t, ended.attr(`a[hreflang="zh-CN"]`, "href"), url.QueryEscape(path), "the page has an address to come back to")
}

func TestARunningInstanceIsAskedToStop(t *testing.T) {
	t.Parallel()
	h := presentHouse(t)
	h.task("orders.send")
	in := h.trigger("orders.send", "o-1")
	h.claim(in.ID)
	c := h.as("operator")
	page := c.get("/instances/" + in.ID)
	require.Equal(t, "Running", page.text(".facts .st"))
	require.Contains(t, page.text("#cancel .eff"), "If the target finishes first, its success counts.")
	require.Equal(t, http.StatusSeeOther, c.post("/instances/"+in.ID+"/cancel", "reason", "too slow").status)
	page = c.get("/instances/" + in.ID)
	require.Contains(t, page.text(".note.warn"), "operator asked to cancel it")
	require.Contains(t, page.text(".walk"), "too slow")
	require.False(t, page.has("#cancel"), "it was asked once")
	require.Equal(t, []string{in.ID}, h.queue.hints)
	require.Contains(t, h.as("viewer").get("/instances").text("[data-test=instance] .err"), "Somebody asked to cancel it")
}
