package app_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
)

// apiRow is what a route of the API answers to each kind of caller. The object
// is one of the team payments; other is the owner of another team. A guest, a
// made-up token, a revoked and an expired one get 401 everywhere.
type apiRow struct {
	object func(h *house) string // fills the path's parameter
	body   string
	viewer, operator, editor, owner,
	other int
}

// apiTable is the reviewed table of who may do what over the API: a route
// without a row fails the test.
func apiTable() map[string]apiRow {
	aTask := func(h *house) string { return h.task(h.unused("task")).Code }
	paused := func(h *house) string {
		code := aTask(h)
		_, err := h.opt.Tasks.Pause(h.t.Context(), root, code, h.clock.Now().Add(time.Hour), "")
		require.NoError(h.t, err)
		return code
	}
	waiting := func(h *house) string { return h.trigger(aTask(h), "o-1").ID }
	failed := func(h *house) string { return h.letter(aTask(h), "o-1", "no luck").InstanceID }
	letter := func(h *house) string { return strconv.FormatInt(h.letter(aTask(h), "o-1", "no luck").ID, 10) }
	aCalendar := func(h *house) string { return h.calendar(h.unused("cal")).Code }
	return map[string]apiRow{
		"GET /calendars":                  {nil, "", 200, 200, 200, 200, 200},
		"POST /calendars":                 {nil, `{"code": "new.CODE", "team": "payments"}`, 403, 403, 201, 201, 422},
		"GET /calendars/:code":            {aCalendar, "", 200, 200, 200, 200, 404},
		"PUT /calendars/:code":            {aCalendar, `{"name": "Other", "week": [], "version": 1}`, 403, 403, 200, 200, 404},
		"DELETE /calendars/:code":         {aCalendar, "", 403, 403, 204, 204, 404},
		"GET /calendars/:code/days":       {aCalendar, "", 200, 200, 200, 200, 404},
		"PUT /calendars/:code/days":       {aCalendar, `{"year": 2027, "days": [], "version": 1}`, 403, 403, 200, 200, 404},
		"POST /calendars/:code/import":    {aCalendar, `{"text": "2027-01-01,off"}`, 403, 403, 200, 200, 404},
		"GET /calendars/:code/export.csv": {aCalendar, "", 200, 200, 200, 200, 404},
		"GET /calendars/:code/export.ics": {aCalendar, "", 200, 200, 200, 200, 404},
		"GET /tasks":                      {nil, "", 200, 200, 200, 200, 200},
		"POST /tasks":                     {nil, order("new.CODE"), 403, 403, 201, 201, 422},
		"GET /tasks/:code":                {aTask, "", 200, 200, 200, 200, 404},
		"PUT /tasks/:code":                {aTask, strings.ReplaceAll(order(""), `"code": "", `, `"version": 1, `), 403, 403, 200, 200, 404},
		"DELETE /tasks/:code":             {aTask, "", 403, 403, 204, 204, 404},
		"POST /tasks/:code/enable":        {aTask, "", 403, 200, 200, 200, 404},
		"POST /tasks/:code/disable":       {aTask, `{"reason": "quiet"}`, 403, 200, 200, 200, 404},
		"POST /tasks/:code/pause":         {aTask, `{"until": "2026-12-03T00:00:00Z"}`, 403, 200, 200, 200, 404},
		"POST /tasks/:code/resume":        {paused, "", 403, 200, 200, 200, 404},
		"POST /tasks/:code/trigger":       {aTask, "", 403, 202, 202, 202, 404},
		"GET /schedules/preview":          {nil, "", 200, 200, 200, 200, 200},
		"GET /instances":                  {nil, "", 200, 200, 200, 200, 200},
		"GET /instances/:id":              {waiting, "", 200, 200, 200, 200, 404},
		"POST /instances/:id/cancel":      {waiting, "", 403, 200, 200, 200, 404},
		"POST /instances/:id/replay":      {failed, "", 403, 202, 202, 202, 404},
		"POST /instances/:id/receipt":     {waiting, `{"outcome": "succeeded"}`, 401, 401, 401, 401, 401}, // a bearer token is none
		"GET /dead-letters":               {nil, "", 200, 200, 200, 200, 200},
		"GET /dead-letters/:id":           {letter, "", 200, 200, 200, 200, 404},
		"PATCH /dead-letters/:id":         {letter, `{"status": "taken"}`, 403, 200, 200, 200, 404},
		"POST /dead-letters/:id/replay":   {letter, "", 403, 202, 202, 202, 404},
		"GET /queues":                     {nil, "", 200, 200, 200, 200, 200},
		"GET /nodes":                      {nil, "", 200, 200, 200, 200, 200},
		"GET /stats":                      {nil, "", 200, 200, 200, 200, 200},
		"GET /teams":                      {nil, "", 200, 200, 200, 200, 200},
		"GET /allowances":                 {nil, "", 200, 200, 200, 200, 200},
	}
}

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

func TestEveryRouteOfTheAPIStandsInTheTableOfRights(t *testing.T) {
	t.Parallel()
	var rows []string
	for row := range apiTable() {
		rows = append(rows, row)
	}
	slices.Sort(rows)
	require.Equal(t, newHouse(t).apiRoutes(), rows)
}

func (h *house) ask(c *client, route string, row apiRow) *answer {
	h.t.Helper()
	method, path, _ := strings.Cut(route, " ")
	if row.object != nil {
		object := row.object(h)
		path = strings.NewReplacer(":code", object, ":id", object).Replace(path)
	}
	if path == "/schedules/preview" {
		path += "?cron=@daily&timezone=UTC"
	}
	body := strings.ReplaceAll(row.body, "new.CODE", h.unused("new"))
	if method == http.MethodGet {
		return c.get(v1 + path)
	}
	return c.json(method, v1+path, body)
}

func TestTheTableOfRightsHolds(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	other := h.otherAPI()
	for route, row := range apiTable() {
		for who, want := range map[*client]int{
			h.api(access.Viewer): row.viewer, h.api(access.Operator): row.operator,
			h.api(access.Editor): row.editor, h.api(access.Owner): row.owner, other: row.other,
		} {
			got := h.ask(who, route, row)
			require.Equal(t, want, got.status, "%s with %s: %s", route, who.headers["Authorization"][:12], got.body)
		}
	}
}

func TestNoTokenNoAnswer(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.found()
	now := h.clock.Now()
	token := func(life time.Duration) (string, access.APIToken) {
		secret, tok, err := h.opt.Tokens.Create(t.Context(), root, access.NewToken{TeamID: h.team.ID, Name: "gone", Role: access.Owner, Life: life})
		require.NoError(t, err)
		return secret, tok
	}
	revoked, tok := token(0)
	require.NoError(t, h.opt.Tokens.Revoke(t.Context(), root, tok.ID))
	expired, _ := token(time.Hour)
	good := h.token(access.Owner)
	h.forward(2 * time.Hour)
	require.True(t, h.clock.Now().After(now))

	admin := h.as("admin")
	callers := map[string]*client{
		"nothing":             h.browser(),
		"a session":           admin,
		"no token":            h.bearer(""),
		"a made-up token":     h.bearer("ax_" + strings.Repeat("a", 27)),
		"a long token":        h.bearer(strings.Repeat("a", 5000)),
		"a revoked token":     h.bearer(revoked),
		"an expired token":    h.bearer(expired),
		"another scheme":      h.browser().with("Authorization", "Basic "+good),
		"the token alone":     h.browser().with("Authorization", good),
		"a token as a cookie": h.browser().with("Cookie", "Authorization=Bearer "+good),
		"another's header":    h.browser().with("X-Authorization", "Bearer "+good),
	}
	for route, row := range apiTable() {
		for what, c := range callers {
			got := h.ask(c, route, row)
			require.Equal(t, http.StatusUnauthorized, got.status, "%s with %s: %s", route, what, got.body)
			scheme := `Bearer realm="ax"`
			if strings.HasSuffix(route, "/receipt") {
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
	require.Equal(t, 404, h.api(access.Owner).get(v1+"/executors").problem().Status, "what a later release brings is not there")
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
