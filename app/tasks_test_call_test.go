package app_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
)

// tried is a target of this machine, and what it was sent last.
type tried struct {
	url   string
	calls atomic.Int64
	head  http.Header
	body  string
}

func triedTarget(t *testing.T, answer http.HandlerFunc) *tried {
	t.Helper()
	out := &tried{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		out.head, out.body = r.Header.Clone(), string(body)
		out.calls.Add(1)
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	out.url = s.URL
	return out
}

// testFields are a form's; more replaces what it names.
func testFields(url string, more ...string) []string {
	all := map[string]string{
		"team": "payments", "schedule.kind": "cron", "target.kind": "http", "target.url": url, "policy.idempotent": "true", "payload": `{"order": 7}`,
	}
	for i := 0; i < len(more); i += 2 {
		all[more[i]] = more[i+1]
	}
	var out []string
	for name, value := range all {
		out = append(out, name, value)
	}
	return out
}

func TestATargetIsCalledAsATestFromAnUnfinishedForm(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	target := triedTarget(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"closed":17}`) })
	page := h.as("editor").post("/tasks/new/test-call", testFields(target.url+"/close", "name", "")...)
	require.Equal(t, http.StatusOK, page.status)
	require.Equal(t, "A run would have succeeded.", page.text("[data-test=test-verdict] .strong"))
	require.Contains(t, page.text("#test-sent"), "POST "+target.url+"/close")
	require.Contains(t, page.text("#test-sent"), `"order":7`)
	require.Contains(t, page.text("#test-sent"), "Ax-Signature: ***")
	require.Contains(t, page.text("#test-back"), "200 OK")
	require.Contains(t, page.text("#test-back"), `"closed"`)
	require.Contains(t, page.text("[data-test=test-parts]"), "in all")
	require.Equal(t, target.url+"/close", page.value("target.url"), "what was typed stays")
	require.False(t, page.has("[data-test=problems]"))

	require.Equal(t, "1", target.head.Get("Ax-Test"))
	var body struct {
		InstanceID string `json:"instance_id"`
		BizID      string `json:"biz_id"`
	}
	require.NoError(t, json.Unmarshal([]byte(target.body), &body))
	require.Equal(t, "test-"+body.InstanceID, body.BizID)
	require.Equal(t, "test-call/"+body.BizID, target.head.Get("Idempotency-Key"))

	require.Equal(t, http.StatusNotFound, h.as("owner").get("/instances/"+body.InstanceID).status, "no run was made")
	require.Contains(t, h.as("owner").get("/audit").body, "Called the target as a test")

	piece := h.as("editor").htmx("/tasks/new").post("/tasks/new/test-call", testFields(target.url)...)
	require.Equal(t, http.StatusOK, piece.status)
	require.True(t, strings.HasPrefix(strings.TrimSpace(piece.body), `<section id="test-call"`), piece.body)
}

func TestTheReceiptOfATestCallIsRefusedPolitely(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	target := triedTarget(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })
	page := h.as("editor").post("/tasks/new/test-call", testFields(target.url)...)
	require.Contains(t, page.text("[data-test=test-verdict] .strong"), "a run would wait for its receipt, for 1 d at most")
	require.Contains(t, page.text("#test-sent"), "Ax-Receipt-Token: ***")
	at := strings.TrimPrefix(target.head.Get("Ax-Receipt-Url"), "https://ax.example")
	token := target.head.Get("Ax-Receipt-Token")
	got := h.as("").json(http.MethodPost, at, map[string]string{"token": token, "outcome": "succeeded"})
	require.Equal(t, http.StatusConflict, got.status)
	require.Contains(t, got.problem().Detail, "That was a test call")
	forged := h.as("").json(http.MethodPost, at, map[string]string{"token": token + "x", "outcome": "succeeded"})
	require.Equal(t, http.StatusNotFound, forged.status)
}

func TestATestCallGoesByTheSameRulesAsARun(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	answer := http.StatusServiceUnavailable
	target := triedTarget(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "120")
		w.Header().Set("X-Echo", r.Header.Get("Authorization"))
		w.WriteHeader(answer)
	})
	editor := h.as("editor")
	verdict := func(more ...string) string {
		page := editor.post("/tasks/new/test-call", testFields(target.url, more...)...)
		require.Equal(t, http.StatusOK, page.status, page.body)
		return page.text("[data-test=test-verdict]")
	}
	require.Contains(t, verdict(), "Failed: a run would be tried again after 2 min", "as the target asks")
	require.Contains(t, verdict("policy.idempotent", "false"), "Failed: a run would end so and become a dead letter.")
	answer = http.StatusNotFound
	require.Contains(t, verdict("target.http.statuses", "200, 404"), "A run would have succeeded.")

	require.Equal(t, http.StatusSeeOther, h.as("owner").post("/teams/payments/secrets", "secret_name", "PAY_TOKEN", "secret_value", "hush-hush-hush", "secret_hosts", "127.0.0.1:"+target.url[strings.LastIndex(target.url, ":")+1:]).status)
	page := editor.post("/tasks/new/test-call", testFields(target.url, "target.headers", "Authorization: Bearer {{secret:PAY_TOKEN}}")...)
	require.Equal(t, "Bearer hush-hush-hush", target.head.Get("Authorization"))
	require.NotContains(t, page.body, "hush-hush")
	require.Contains(t, page.text("#test-back"), "X-Echo: Bearer ***")

	before := target.calls.Load()
	gone := h.as("stranger").post("/tasks/new/test-call", "team", "store", "schedule.kind", "manual", "target.kind", "http", "target.url", target.url,
		"policy.idempotent", "true", "target.headers", "Authorization: Bearer {{secret:PAY_TOKEN}}")
	require.Equal(t, http.StatusUnprocessableEntity, gone.status, "another team's secret")
	require.Contains(t, gone.text("[data-test=test-refused]"), "The team has no secret PAY_TOKEN")
	require.Equal(t, before, target.calls.Load())
}

func TestWhatCannotBeCalledIsSaidAtItsField(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for name, c := range map[string]struct {
		fields []string
		field  string
		says   string
	}{
		"an address inside the network": {testFields("http://10.0.0.7/"), "target.url", "This team may not call 10.0.0.7"},
		"a metadata service":            {testFields("http://169.254.169.254/"), "target.url", "metadata service"},
		"no address":                    {testFields(""), "target.url", "An address is needed"},
		"a payload that is no JSON":     {testFields("http://127.0.0.1:1/", "payload", "{"), "payload", "not valid JSON"},
		"a limit that can't be read":    {testFields("http://127.0.0.1:1/", "policy.timeout_seconds", "soon"), "policy.timeout_seconds", "length of time"},
		"a team of others":              {testFields("http://127.0.0.1:1/", "team", "store"), "team", "There is no team"},
		"a command":                     {testFields("", "target.kind", "shell", "target.command", "/bin/true"), "target.kind", "Only a target of kind http"},
		"an executor":                   {testFields("", "target.executor", "billing/close-day"), "target.executor", "Only an address"},
	} {
		page := h.as("editor").post("/tasks/new/test-call", c.fields...)
		require.Equal(t, http.StatusUnprocessableEntity, page.status, name)
		require.Contains(t, page.text("[data-test=test-refused]"), c.says, name)
		require.Contains(t, page.attr("[data-test=test-refused] a", "href"), "#f-"+strings.NewReplacer(".", "-", "_", "-").Replace(c.field), name)
	}
	h.forward(time.Minute)
	page := h.as("editor").post("/tasks/new/test-call", testFields("http://127.0.0.1:1/")...)
	require.Equal(t, http.StatusOK, page.status)
	require.Contains(t, page.text("[data-test=test-verdict]"), "Surely nothing was sent.")
	require.Contains(t, page.text("[data-test=test-error]"), "refused")
}

func TestAStoredTaskIsCalledAsTheFormHasIt(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	target := triedTarget(t, func(http.ResponseWriter, *http.Request) {})
	form := h.as("editor").get("/tasks/orders.send/edit")
	require.Equal(t, "/tasks/orders.send/test-call#test-call", form.attr("#test-call button", "formaction"))
	page := h.as("editor").post("/tasks/orders.send/test-call", testFields(target.url, "version", "1", "name", "Other")...)
	require.Equal(t, http.StatusOK, page.status)
	require.Regexp(t, "^orders.send/test-", target.head.Get("Idempotency-Key"))
	stored, err := h.ledger.Task(t.Context(), "orders.send")
	require.NoError(t, err)
	require.Equal(t, 1, stored.Version)
	require.NotEqual(t, target.url, stored.Spec.Target.URL)
}

func TestTestCallsAreTenAMinute(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	target := triedTarget(t, func(http.ResponseWriter, *http.Request) {})
	for range 10 {
		require.Equal(t, http.StatusOK, h.as("editor").post("/tasks/new/test-call", testFields(target.url)...).status)
	}
	page := h.as("editor").post("/tasks/new/test-call", testFields(target.url, "name", "Mine")...)
	require.Equal(t, http.StatusTooManyRequests, page.status)
	require.NotEmpty(t, page.header.Get("Retry-After"))
	require.Equal(t, "Mine", page.value("name"))
	require.EqualValues(t, 10, target.calls.Load())
	require.Equal(t, http.StatusOK, h.as("owner").post("/tasks/new/test-call", testFields(target.url)...).status, "by person")
	h.forward(6 * time.Second)
	require.Equal(t, http.StatusOK, h.as("editor").post("/tasks/new/test-call", testFields(target.url)...).status)
}

func TestATestCallEndsWithWhoAskedForIt(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	gone := make(chan struct{})
	ctx, leave := context.WithCancel(t.Context())
	target := triedTarget(t, func(_ http.ResponseWriter, r *http.Request) {
		leave()
		<-r.Context().Done()
		close(gone)
	})
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, v1+"/tasks/test-call", strings.NewReader(apiTest(target.url)))
	r.Header.Set("Authorization", "Bearer "+h.token(access.Editor))
	began := time.Now()
	h.handler.ServeHTTP(httptest.NewRecorder(), r)
	<-gone
	require.Less(t, time.Since(began), 10*time.Second)
}

func apiTest(url string) string {
	return `{"name": "x", "team": "payments", "schedule": {"kind": "manual"}, "target": {"kind": "http", "url": "` + url + `"}, "policy": {"idempotent": true, "timeout_seconds": 1}}`
}

func TestATargetIsCalledAsATestByAPI(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	target := triedTarget(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			<-r.Context().Done()
		}
		_, _ = io.WriteString(w, "fine")
	})
	type verdict struct {
		Verdict, Outcome, Error, Request, Body, Response string
		InstanceID                                       string `json:"instance_id"`
		Certain                                          bool
		StatusCode                                       int     `json:"status_code"`
		RetryAt                                          *string `json:"retry_at"`
		LimitSeconds                                     float64 `json:"limit_seconds"`
		Parts                                            map[string]any
	}
	call := func(path string) (v verdict) {
		got := h.api(access.Editor).json(http.MethodPost, v1+"/tasks/test-call", json.RawMessage(apiTest(target.url+path)))
		require.Equal(t, http.StatusOK, got.status, got.body)
		got.into(&v)
		return v
	}
	v := call("/")
	require.Equal(t, []any{"succeeded", "succeeded", true, 200}, []any{v.Verdict, v.Outcome, v.Certain, v.StatusCode})
	require.Contains(t, v.Request, "Ax-Test: 1")
	require.Contains(t, v.Response, "fine")
	require.Contains(t, v.Body, v.InstanceID)
	require.Positive(t, v.Parts["whole_ms"])
	require.Positive(t, v.Parts["first_byte_ms"])
	v = call("/slow")
	require.Equal(t, []any{"retrying", "timed_out", false, 0, 1.0}, []any{v.Verdict, v.Outcome, v.Certain, v.StatusCode, v.LimitSeconds})
	require.NotNil(t, v.RetryAt)
	got := h.api(access.Editor).json(http.MethodPost, v1+"/tasks/test-call", json.RawMessage(apiTest("http://10.0.0.7/")))
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Equal(t, []string{"target.url"}, got.fields())
}
