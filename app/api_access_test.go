package app_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
)

// unused gives a name that nothing has yet.
func (h *house) unused(name string) string {
	h.t.Helper()
	return name + "." + newID()
}

// apiRoutes are the routes of the API as the router has them.
func (h *house) apiRoutes() []string {
	var out []string
	for _, r := range h.app.Engine().Routes() {
		if path, ok := strings.CutPrefix(r.Path, v1); ok {
			out = append(out, r.Method+" "+path)
		}
	}
	slices.Sort(out)
	return out
}

func TestNoTokenNoAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.copy(t)
	expired, _, err := h.opt.Tokens.Create(t.Context(), root, access.NewToken{TeamID: h.team.ID, Name: "gone", Role: access.Owner, Life: time.Hour})
	require.NoError(t, err)
	good := h.token(access.Owner)
	h.forward(2 * time.Hour)
	callers := map[string]*client{
		"nothing":             h.browser(),
		"a session":           w.caller(h, "admin"),
		"no token":            h.bearer(""),
		"a made-up token":     h.bearer("ax_" + strings.Repeat("a", 27)),
		"a long token":        h.bearer(strings.Repeat("a", 5000)),
		"a revoked token":     w.caller(h, "token revoked"),
		"an expired token":    h.bearer(expired),
		"another scheme":      h.browser().with("Authorization", "Basic "+good),
		"the token alone":     h.browser().with("Authorization", good),
		"a token as a cookie": h.browser().with("Cookie", "Authorization=Bearer "+good),
		"another's header":    h.browser().with("X-Authorization", "Bearer "+good),
	}
	for _, r := range w.apiRights(t) {
		for what, c := range callers {
			got := c.json(r.method, w.address(t, r.call), r.body)
			require.Equal(t, http.StatusUnauthorized, got.status, "%s %s with %s: %s", r.method, r.call, what, got.body)
			scheme := `Bearer realm="ax"`
			if byReceiptToken(r.path) {
				scheme = `Receipt realm="ax"`
			}
			require.Equal(t, scheme, got.header.Get("WWW-Authenticate"))
			require.Empty(t, got.problem().Errors)
		}
	}
	require.Equal(t, 200, h.bearer(good).get(v1+"/teams").status)
	require.Equal(t, 200, h.browser().with("Authorization", "bearer  "+good).get(v1+"/teams").status, "the scheme is no word of ours")
}

// What isn't there and what belongs to others can't be told apart.
func TestForeignAndMissingLookTheSame(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	l := h.letter("orders.send", "o-1", "no luck")
	missing := newID()
	for there, not := range map[string]string{
		"/tasks/orders.send":             "/tasks/orders.sent",
		"/instances/" + l.InstanceID:     "/instances/" + missing,
		letterPath(l)[len(v1):]:          "/dead-letters/4711",
		"/tasks/orders.send?x=1":         "/tasks/orders.sent?x=1",
		"/instances/" + missing + "?x=1": "/instances/nonesuch?x=1",
	} {
		c := h.otherAPI()
		for _, method := range []string{"GET", "DELETE", "PUT", "PATCH"} {
			a, b := c.json(method, v1+there, "{}"), c.json(method, v1+not, "{}")
			require.Equal(t, a.status, b.status, "%s %s", method, there)
			require.Equal(t, a.problem().Detail, b.problem().Detail, "%s %s", method, there)
		}
		for _, action := range []string{"/cancel", "/replay", "/trigger", "/pause"} {
			a, b := c.json("POST", v1+there+action, ""), c.json("POST", v1+not+action, "")
			require.Equal(t, a.status, b.status, "%s%s", there, action)
			require.Equal(t, a.problem().Detail, b.problem().Detail)
		}
	}
	for _, path := range []string{"/tasks/%C3%A9", "/tasks/" + strings.Repeat("a", 65), "/instances/1", "/instances/" + strings.ToUpper(l.InstanceID),
		"/instances/{" + l.InstanceID + "}", "/dead-letters/0", "/dead-letters/-1", "/dead-letters/01", "/dead-letters/99999999999999999999", "/dead-letters/x", "/tasks//", "/instances//"} {
		require.Equal(t, 404, h.api(access.Owner).get(v1+path).status, path)
	}
	for _, path := range []string{"/tasks//trigger", "/instances//cancel", "/instances//receipt", "/dead-letters//replay"} {
		require.Equal(t, 404, h.api(access.Owner).json("POST", v1+path, "").problem().Status, path)
	}
}

// AUTHZ-03: lists have own rows only, whatever is asked for.
func TestListsHaveOwnRowsOnly(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	h.letter("orders.send", "o-1", "no luck")
	other := h.otherAPI()
	for _, path := range []string{"/tasks", "/tasks?q=orders", "/instances", "/instances?task=orders.send", "/instances?task=nonesuch",
		"/instances?task=%C3%A9", "/instances?biz_id=o-1", "/dead-letters", "/dead-letters?task=orders.send"} {
		got := other.get(v1 + path)
		require.Equal(t, 200, got.status, "%s: %s", path, got.body)
		require.JSONEq(t, `{"items": [], "next_cursor": null}`, got.body, path)
	}
	for _, path := range []string{"/tasks", "/tasks?q=orders", "/instances", "/instances?task=orders.send", "/instances?biz_id=o-1", "/dead-letters", "/dead-letters?task=orders.send"} {
		require.Contains(t, h.api(access.Viewer).get(v1+path).body, "orders.send", path)
	}
	for _, path := range []string{"/tasks?team=payments", "/instances?team=payments", "/dead-letters?scope=all", "/stats?team=payments"} {
		require.Equal(t, 422, other.get(v1+path).status, path)
	}
	var teams struct{ Items []struct{ Code string } }
	other.get(v1 + "/teams").into(&teams)
	require.Len(t, teams.Items, 1)
	require.Equal(t, "store", teams.Items[0].Code)
}

// AUTHZ-09: no alias of a route takes another decision.
func TestNoAliasOfARouteIsOpen(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	for _, path := range []string{v1 + "/tasks/", "/api//v1/tasks", "//api/v1/tasks", v1 + "/tasks/orders.send/", "/api/v1/../v1/tasks",
		"/api/V1/tasks", "/API/v1/tasks", v1 + "/Tasks", "/api/v2/tasks", v1 + "/tasks.json", v1} {
		for _, method := range []string{"GET", "POST"} {
			got := h.browser().do(method, path, "", nil)
			require.Contains(t, []int{301, 303, 307, 404}, got.status, "%s %s", method, path)
			require.NotContains(t, got.body, "Task orders.send", "its name")
		}
	}
	require.Equal(t, 401, h.browser().do("POST", v1+"/tasks/orders.send%2Ftrigger", "", nil).status)
	guest := h.browser().with("X-HTTP-Method-Override", "DELETE", "X-Method-Override", "DELETE")
	require.Equal(t, 401, guest.get(v1+"/tasks/orders.send").status)
	require.Equal(t, 200, h.api(access.Owner).with("X-HTTP-Method-Override", "DELETE").get(v1+"/tasks/orders.send").status)
	require.Equal(t, 405, guest.do("HEAD", v1+"/tasks", "", nil).status)
	got := guest.do("DELETE", v1+"/tasks", "", nil)
	require.Equal(t, 405, got.status)
	require.Equal(t, 405, got.problem().Status)
	require.Equal(t, 404, h.api(access.Owner).get(v1+"/bulk-jobs").problem().Status, "what a later release brings is not there")
}

// The API takes no cookies, so another website can't use them; what it sends
// by a browser is refused as everywhere.
func TestAnotherWebsiteCantUseTheAPI(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	admin := h.as("admin").with("Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site")
	require.Equal(t, 403, admin.json("POST", v1+"/tasks/orders.send/trigger", "{}").problem().Status)
	require.Equal(t, 401, h.as("admin").json("POST", v1+"/tasks/orders.send/trigger", "{}").status)
	require.Empty(t, h.api(access.Owner).get(v1+"/teams").header.Get("Access-Control-Allow-Origin"))
}

// A token that is revoked is refused with the next call.
func TestARevokedTokenEndsAtOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.found()
	secret, tok, err := h.opt.Tokens.Create(t.Context(), root, access.NewToken{TeamID: h.team.ID, Name: "t", Role: access.Viewer})
	require.NoError(t, err)
	require.Equal(t, 200, h.bearer(secret).get(v1+"/tasks").status)
	require.NoError(t, h.opt.Tokens.Revoke(t.Context(), root, tok.ID))
	require.Equal(t, 401, h.bearer(secret).get(v1+"/tasks").status)
	require.NotContains(t, h.log.String(), secret)
	require.NotContains(t, h.bearer(secret).get(v1+"/tasks").body, secret)
}

// A task whose work isn't idempotent may be made to repeat by owners only.
func TestOnlyOwnersAllowUnsafeRetries(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	body := strings.ReplaceAll(order("pay.out"), `{"idempotent": true}`, `{"idempotent": false, "retry": {"max": 1, "unsafe": true}}`)
	require.Equal(t, 403, h.api(access.Editor).json("POST", v1+"/tasks", body).problem().Status)
	h.api(access.Owner).wants(v1+"/tasks", body, 201)
	task, err := h.ledger.Task(t.Context(), "pay.out")
	require.NoError(t, err)
	require.Equal(t, sched.Retry{Kind: sched.RetrySteps, Max: 1, DelaysSeconds: []int{10, 30, 120}, Unsafe: true}, task.Spec.Policy.Retry)
}

func TestTheLogNamesTheTokenAndNotItsSecret(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	caller := h.api(access.Viewer)
	caller.get(v1 + "/tasks")
	lines := h.logLines()
	last := lines[len(lines)-1]
	require.Contains(t, last["user"], "token ")
	require.NotContains(t, h.log.String(), "ax_")
}
