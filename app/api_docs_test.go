package app_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app"
	"ax/app/access"
)

func TestTheDocsShowEveryOperation(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(o *app.Options) { o.ExternalURL = "https://ax.example.com" })
	viewer := h.as("viewer")
	page := viewer.with("Host", "evil.example").get("/api/docs")
	require.Equal(t, 200, page.status)
	require.Equal(t, "text/html; charset=utf-8", page.header.Get("Content-Type"))
	require.True(t, page.has(`.side-link[href="/api/docs"][aria-current]`))
	require.True(t, page.says("https://ax.example.com/api/v1"))
	calls := page.texts("[data-test=operations] .opl")
	require.Len(t, calls, len(h.apiRoutes()))
	operations(h.apiDoc(), func(method, path string, op object) {
		require.Contains(t, calls, method+" "+path)
		one := viewer.get("/api/docs?show=" + op["operationId"].(string))
		require.Equal(t, 200, one.status, path)
		require.Equal(t, op["summary"], one.text("h1"))
		example := one.doc().Find("#example").Text()
		require.Contains(t, example, "https://ax.example.com/api/v1"+strings.SplitN(path, "{", 2)[0])
		require.NotContains(t, example, "{code}", "the example can be run")
		require.NotContains(t, example, "{id}", "the example can be run")
		for status := range op["responses"].(object) {
			require.Contains(t, one.texts("#statuses dt"), status)
		}
		if op["requestBody"] != nil {
			require.NotEmpty(t, one.texts("[data-test=body] td .mono"), path)
		}
	})
	body := viewer.get("/api/docs?show=create-task").texts("[data-test=body] td:first-child .mono")
	require.Subset(t, body, []string{"code", "schedule.cron", "policy.retry.max", "target.url"})
	require.Contains(t, viewer.get("/api/docs?show=list-instances").texts("[data-test=answer] td .mono"), "items[].due_at")
}

func TestTheDocsAreForPeopleSignedIn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	got := h.as("").get("/api/docs?show=create-task")
	require.Equal(t, http.StatusSeeOther, got.status)
	require.Equal(t, "/login?next=%2Fapi%2Fdocs%3Fshow%3Dcreate-task", got.location())
	got = h.as("viewer").get("/api/docs?show=nonesuch")
	require.Equal(t, 404, got.status)
	require.Equal(t, "text/html; charset=utf-8", got.header.Get("Content-Type"))
	require.Equal(t, http.StatusSeeOther, h.api(access.Owner).get("/api/docs").status, "a token opens no page")
}

func TestTheDocsAreSearched(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.as("viewer")
	require.Equal(t, []string{"POST /tasks/{code}/trigger"}, c.get("/api/docs?q=trigger+biz_id").texts("[data-test=operations] .opl"))
	require.Contains(t, c.get("/api/docs?q=SOLUTION").texts("[data-test=operations] .opl"), "PATCH /dead-letters/{id}")
	none := c.get("/api/docs?q=%3Cscript%3Ealert(1)%3C/script%3E")
	require.False(t, none.has("[data-test=operations]"))
	require.False(t, none.has("main script"))
	require.Equal(t, "<script>alert(1)</script>", none.attr("main input[name=q]", "value"))
}

func TestTheDocsComeInBothLanguages(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.as("viewer").with("Accept-Language", "zh-CN")
	for _, path := range []string{"/api/docs", "/api/docs?show=create-task"} {
		page := c.get(path)
		require.Equal(t, "zh-CN", page.attr("html", "lang"))
		require.Regexp(t, `\p{Han}`, page.text("main h2"))
		require.Equal(t, 0, page.doc().Find("main [style], main [onclick]").Length())
	}
}

// Every example of the document is taken by ax as it is.
func TestTheExamplesOfTheDocumentWork(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.found()
	c := h.api(access.Owner)
	h.task("orders.send")
	broker := h.broker().Name
	seen := 0
	operations(h.apiDoc(), func(method, path string, op object) {
		body, ok := op["requestBody"].(object)
		if !ok {
			return
		}
		example := body["content"].(object)["application/json"].(object)["example"]
		require.NotNil(t, example, "%s %s", method, path)
		seen++
		code := h.task(h.unused("task")).Code
		l := h.letter(code, "o-1", "no luck")
		cal := h.calendar(h.unused("cal")).Code
		if strings.HasSuffix(path, "/calendars") {
			example.(object)["code"] = h.unused("new")
		}
		paths := map[string]string{"tasks": code, "calendars": cal, "brokers": broker, "instances": l.InstanceID, "dead-letters": letterPath(l)[len(v1+"/dead-letters/"):]}
		if path == "/executors/{id}/heartbeat" {
			paths["executors"] = h.executor("billing", "http://127.0.0.1:9001").ID
		}
		told := h.told(l.InstanceID)
		if parts := strings.Split(path, "/"); parts[1] == "alerts" {
			paths["alerts"] = map[string]string{"incidents": told.incident, "rules": told.rule, "channels": told.channel, "silences": told.silence}[parts[2]]
		}
		if m, ok := example.(object); ok && m["channel_id"] != nil {
			m["channel_id"] = told.channel
		}
		real := regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, paths[strings.Split(path, "/")[1]])
		if strings.HasSuffix(real, "/cancel") || byReceiptToken(real) {
			in := h.accepted(code, "o-2")
			real = strings.Replace(real, l.InstanceID, in.ID, 1)
			c = c.with("Ax-Receipt-Token", h.signer.ReceiptToken(in.ID, 1))
		}
		if m, ok := example.(object); ok && m["team"] != nil {
			m["team"] = "payments"
		}
		if strings.HasSuffix(real, "/rollback") {
			h.rename(code)
		}
		if strings.HasSuffix(real, "/resume") {
			c.wants(v1+strings.Replace(real, "/resume", "/pause", 1), `{"until": "2026-12-24T18:00:00Z"}`, 200)
		}
		by := c
		if strings.HasPrefix(path, "/executors") { // by a token that is bound to the name
			by = h.bearer(h.service(h.team, h.unused("svc"), access.Operator))
		}
		got := by.json(method, v1+real, example)
		require.Less(t, got.status, 300, "%s %s: %s", method, real, got.body)
	})
	require.Equal(t, 31, seen)
}
