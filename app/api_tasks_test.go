package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
)

// fieldsOf decodes an object.
func (a *answer) fieldsOf() map[string]any {
	a.h.t.Helper()
	var m map[string]any
	a.into(&m)
	return m
}

func TestATaskIsCreatedReadChangedAndArchivedOverTheAPI(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.api(access.Editor)
	made := c.wants(v1+"/tasks", order("order.close"), 201)
	require.Equal(t, v1+"/tasks/order.close", made.header.Get("Location"))
	require.JSONEq(t, `{"id": 1, "code": "order.close", "name": "Close unpaid orders", "team": "payments", "group": "", "tags": ["money"], "owner": "",
		"schedule": {"kind": "cron", "cron": "30 2 * * 1-5", "timezone": "Asia/Shanghai", "anchor": "2026-12-02T06:32:07.000Z", "misfire": "fire_once"},
		"target": {"kind": "http", "url": "https://orders.example.com/close"},
		"policy": {"timeout_seconds": 30, "retry": {"kind": "steps", "max": 3, "delays_seconds": [10, 30, 120]}, "overlap": "skip",
			"max_concurrent": 1, "idempotent": true, "alert_level": "p2"},
		"queue": "default", "payload": {"shop": 17}, "enabled": true, "version": 1, "next_fire_at": "2026-12-02T18:30:00.000Z", "next_run_at": "2026-12-02T18:30:00.000Z",
		"paused_until": null, "plan_error": "", "archived_at": null, "created_at": "2026-12-02T06:32:07.000Z", "created_by": "test-editor",
		"updated_at": "2026-12-02T06:32:07.000Z", "updated_by": "test-editor"}`, made.body)
	require.Equal(t, made.body, c.get(v1+"/tasks/order.close").body)

	// What was read may be sent back, less what is ax's own.
	spec := made.fieldsOf()
	maps.DeleteFunc(spec, func(name string, _ any) bool {
		return !slices.Contains([]string{"code", "name", "team", "group", "tags", "owner", "schedule", "target", "policy", "queue", "payload", "enabled", "version"}, name)
	})
	spec["name"], spec["note"] = "Close unpaid orders soon", "as asked"
	h.forward(time.Minute)
	changed := c.json("PUT", v1+"/tasks/order.close", spec)
	require.Equal(t, 200, changed.status, changed.body)
	want := made.fieldsOf()
	want["name"], want["version"], want["updated_at"] = "Close unpaid orders soon", float64(2), "2026-12-02T06:33:07.000Z"
	require.Equal(t, want, changed.fieldsOf())

	// The version is stale now.
	stale := c.json("PUT", v1+"/tasks/order.close", spec)
	require.Equal(t, 409, stale.status)
	require.Equal(t, "test-editor changed the task meanwhile: it is at version 2, you began from 1", stale.problem().Detail)
	delete(spec, "version")
	require.Equal(t, []string{"version"}, c.json("PUT", v1+"/tasks/order.close", spec).fields())

	gone := c.do("DELETE", v1+"/tasks/order.close", "", nil)
	require.Equal(t, 204, gone.status)
	require.Empty(t, gone.body)
	after := c.get(v1 + "/tasks/order.close").fieldsOf()
	require.Equal(t, "2026-12-02T06:33:07.000Z", after["archived_at"])
	require.Nil(t, after["next_fire_at"])
	require.Equal(t, 409, c.do("DELETE", v1+"/tasks/order.close", "", nil).problem().Status)
	require.Contains(t, c.get(v1+"/tasks").body, `"items":[]`)
	require.Contains(t, c.get(v1+"/tasks?archived=true").body, "order.close")
}

func TestActionsOnATaskAreDiscrete(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	c := h.api(access.Operator)
	path := v1 + "/tasks/orders.send"
	for range 2 { // never a toggle
		require.Equal(t, false, c.wants(path+"/disable", `{"reason": "bank closed"}`, 200).fieldsOf()["enabled"])
	}
	require.Equal(t, "The task is disabled: it takes no requests", c.wants(path+"/trigger", "", 409).problem().Detail)
	require.Equal(t, true, c.wants(path+"/enable", "", 200).fieldsOf()["enabled"])
	require.Equal(t, "2026-12-24T10:00:00.000Z", c.wants(path+"/pause", `{"until": "2026-12-24T18:00:00+08:00", "reason": "节日"}`, 200).fieldsOf()["paused_until"])
	require.Nil(t, c.wants(path+"/resume", "{}", 200).fieldsOf()["paused_until"])
	require.Equal(t, 409, c.wants(path+"/resume", "", 409).problem().Status)
	require.Equal(t, []string{"until"}, c.wants(path+"/pause", `{"until": "2020-01-01T00:00:00Z"}`, 422).fields())
	require.Equal(t, []string{"until"}, c.wants(path+"/pause", `{}`, 422).fields())
	require.Equal(t, 400, c.wants(path+"/pause", "", 400).problem().Status)

	for name, body := range map[string]string{
		"too long": `{"reason": "` + strings.Repeat("x", 501) + `"}`, "control": `{"reason": "a\u0000b"}`, "a line": `{"reason": "a\nlevel=INFO"}`,
	} {
		for _, action := range []string{"/enable", "/disable", "/resume"} {
			require.Equal(t, []string{"reason"}, c.wants(path+action, body, 422).fields(), name)
		}
		require.Equal(t, []string{"reason"}, c.wants(path+"/pause", `{"until": "2026-12-24T18:00:00Z", `+body[1:], 422).fields(), name)
	}
	require.Equal(t, "bank closed", h.audited("task.disable").Reason)
}

// audited is the latest row of the audit with the action.
func (h *house) audited(action string) access.Entry {
	h.t.Helper()
	rows, err := h.ledger.Audit(h.t.Context(), access.Scope{All: true}, access.AuditFilter{Action: action}, 0, 1)
	require.NoError(h.t, err)
	require.NotEmpty(h.t, rows, action)
	return rows[0]
}

func TestListsOfTasksAreFilteredAndPaged(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for i := range 5 {
		h.task(fmt.Sprintf("orders.%d", i), func(s *sched.TaskSpec) {
			s.Tags, s.Group, s.Owner = []string{[]string{"even", "odd"}[i%2]}, "g", "li.na"
		})
	}
	h.task("stock.count", func(s *sched.TaskSpec) { s.Enabled = new(false) })
	c := h.api(access.Viewer)
	codes := func(query string) (got []string) {
		t.Helper()
		for cursor := new(""); cursor != nil; {
			var page struct {
				Items      []struct{ Code string }
				NextCursor *string `json:"next_cursor"`
			}
			a := c.get(v1 + "/tasks" + query + *cursor)
			require.Equal(t, 200, a.status, a.body)
			a.into(&page)
			for _, it := range page.Items {
				got = append(got, it.Code)
			}
			if cursor = page.NextCursor; cursor != nil {
				cursor = new("&cursor=" + *cursor)
			}
			require.LessOrEqual(t, len(got), 6, "the pages have no end")
		}
		return got
	}
	all := []string{"orders.0", "orders.1", "orders.2", "orders.3", "orders.4", "stock.count"}
	for query, want := range map[string][]string{
		"?limit=2": all, "?limit=1": all, "?limit=6": all, "?limit=200": all, "": all,
		"?q=stock": {"stock.count"}, "?tag=odd&limit=1": {"orders.1", "orders.3"}, "?enabled=false": {"stock.count"},
		"?enabled=true&group=g&owner=li.na&kind=manual&limit=3": all[:5], "?kind=cron": nil, "?troubled=true": nil, "?archived=true": nil,
		"?q=%25": nil, "?q=%E4%B8%AD": nil, "?tag=%27%3B--": nil,
	} {
		require.Equal(t, want, codes(query), query)
	}
}

// AUTHZ-07: a PUT or POST that names what isn't the caller's to set is
// refused as a whole, and nothing moves.
func TestNoColumnCanBeSetThatIsNotTheCallers(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	c := h.api(access.Owner)
	before := c.get(v1 + "/tasks/orders.send").body
	task, err := h.ledger.Task(t.Context(), "orders.send")
	require.NoError(t, err)
	spec := map[string]any{
		"name": "Mine", "version": 1, "schedule": map[string]any{"kind": "manual"},
		"target": map[string]any{"kind": "http", "url": "https://x.example.com"}, "policy": map[string]any{"idempotent": true},
	}
	columns := map[string]any{
		"id": 1, "team_id": h.other.ID, "created_by": "root", "created_at": "2020-01-01T00:00:00Z", "updated_by": "root", "updated_at": "2020-01-01T00:00:00Z",
		"next_fire_at": "2020-01-01T00:00:00Z", "anchor_at": "2020-01-01T00:00:00Z", "archived_at": "2020-01-01T00:00:00Z", "paused_from": "2020-01-01T00:00:00Z",
		"paused_until": "2030-01-01T00:00:00Z", "plan_error": "x", "spec": map[string]any{}, "schedule_kind": "cron", "role": "admin", "admin": true,
		"status": "open", "biz_id": "x", "fence": 1, "Name": "x", "NAME": "x", "Version": 9, "teamId": 1, "__proto__": map[string]any{}, "priority": "1 onclick=alert(1)",
		"colour": `red" onmouseover=`,
	}
	for column, value := range columns {
		one := maps.Clone(spec)
		one[column] = value
		got := c.json("PUT", v1+"/tasks/orders.send", one)
		require.Equal(t, 422, got.status, "%s: %s", column, got.body)
		require.Equal(t, []string{column}, got.fields())
		one["code"], one["team"] = "orders.new", "payments"
		got = c.json("POST", v1+"/tasks", one)
		require.Equal(t, 422, got.status, "%s: %s", column, got.body)
		require.Equal(t, []string{column}, got.fields())
	}
	maps.Copy(spec, columns)
	got := c.json("PUT", v1+"/tasks/orders.send", spec)
	require.Equal(t, 422, got.status)
	require.ElementsMatch(t, slices.Collect(maps.Keys(columns)), got.fields())

	require.Equal(t, before, c.get(v1+"/tasks/orders.send").body)
	now, err := h.ledger.Task(t.Context(), "orders.send")
	require.NoError(t, err)
	require.Equal(t, task, now)
	require.Equal(t, 404, c.get(v1+"/tasks/orders.new").status)
	require.Equal(t, []string{"team"}, c.json("PUT", v1+"/tasks/orders.send", strings.Replace(strings.ReplaceAll(order("orders.send"), "payments", "store"), "{", `{"version": 1, `, 1)).fields())
	require.Equal(t, []string{"code"}, c.json("PUT", v1+"/tasks/orders.send", strings.Replace(order("orders.sent"), "{", `{"version": 1, `, 1)).fields())
}

// with is order with something replaced.
func orderWith(old, replacement string) string {
	return strings.Replace(order("orders.bad"), old, replacement, 1)
}

func TestABadTaskIsRefusedAtItsFieldsAndNotStored(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.api(access.Owner)
	c.wants(v1+"/tasks", order("orders.taken"), 201)
	cron := `"30 2 * * 1-5"`
	rows := map[string]struct {
		body   string
		status int
		fields []string
	}{
		"no body":                      {"", 400, nil},
		"blank":                        {"  ", 400, nil},
		"half a body":                  {`{"code": "orders.bad"`, 400, nil},
		"two bodies":                   {order("orders.bad") + order("orders.worse"), 400, nil},
		"a comma too many":             {`{"code": "orders.bad",}`, 400, nil},
		"no UTF-8":                     {"{\"code\": \"\xff\"}", 400, nil},
		"deeper than anything":         {strings.Repeat("[", 20_000), 400, nil},
		"a list":                       {"[]", 422, []string{"body"}},
		"a text":                       {`"orders.bad"`, 422, []string{"body"}},
		"null":                         {"null", 422, []string{"body"}},
		"nothing of what is needed":    {"{}", 422, []string{"code", "name", "team", "schedule.kind", "target.kind", "policy.idempotent"}},
		"a code that is taken":         {order("orders.taken"), 422, []string{"code"}},
		"a code with capitals":         {order("Orders.bad"), 422, []string{"code"}},
		"a code that is too long":      {order(strings.Repeat("a", 65)), 422, []string{"code"}},
		"a name that is too long":      {orderWith("Close unpaid orders", strings.Repeat("名", 101)), 422, []string{"name"}},
		"a name with a control":        {orderWith("Close unpaid orders", `a\u0000b`), 422, []string{"name"}},
		"no name":                      {orderWith("Close unpaid orders", " "), 422, []string{"name"}},
		"a team of others":             {orderWith("payments", "store"), 422, []string{"team"}},
		"no such team":                 {orderWith("payments", "nonesuch"), 422, []string{"team"}},
		"an unknown cron":              {orderWith(cron, `"61 * * * *"`), 422, []string{"schedule.cron"}},
		"CRON-01 a bare zone":          {orderWith(cron, `"TZ=0"`), 422, []string{"schedule.cron"}},
		"CRON-01 a zone, no fields":    {orderWith(cron, `"CRON_TZ=Asia/Shanghai"`), 422, []string{"schedule.cron"}},
		"CRON-05 never, crontab":       {orderWith(cron, `"0 0 31 2 *"`), 422, []string{"schedule.cron"}},
		"CRON-05 never, quartz":        {orderWith(cron, `"0 0 0 31 4 ?"`), 422, []string{"schedule.cron"}},
		"an unknown zone":              {orderWith("Asia/Shanghai", "Mars/Base"), 422, []string{"schedule.timezone"}},
		"no zone":                      {orderWith(`, "timezone": "Asia/Shanghai"`, ""), 422, []string{"schedule.timezone"}},
		"a wrong kind":                 {orderWith(`"kind": "cron"`, `"kind": "weekly"`), 422, []string{"schedule.kind"}},
		"fields of another kind":       {orderWith(`"kind": "cron"`, `"kind": "interval", "delay_seconds": 5`), 422, []string{"schedule.every_seconds", "schedule.cron", "schedule.delay_seconds"}},
		"no such calendar, and more":   {orderWith(`"kind": "cron"`, `"kind": "cron", "calendar": "moon", "jitter_seconds": -5`), 422, []string{"schedule.jitter_seconds", "schedule.calendar"}},
		"a wrong scheme":               {orderWith("https://orders", "ftp://orders"), 422, []string{"target.url"}},
		"a script":                     {orderWith("https://orders.example.com/close", "javascript:alert(1)"), 422, []string{"target.url"}},
		"a password in the address":    {orderWith("https://orders", "https://a:b@orders"), 422, []string{"target.url"}},
		"a shell":                      {orderWith(`"kind": "http"`, `"kind": "shell"`), 422, []string{"target.kind", "target.url", "target.command", "policy.timeout_seconds"}},
		"no queue of ours":             {orderWith(`"team"`, `"queue": "fast", "team"`), 422, []string{"queue"}},
		"retries of unsafe work":       {orderWith(`{"idempotent": true}`, `{"idempotent": false, "retry": {"max": 3}}`), 422, []string{"policy.retry.max"}},
		"a time out of range":          {orderWith(`{"idempotent": true}`, `{"idempotent": true, "timeout_seconds": 0}`), 422, []string{"policy.timeout_seconds"}},
		"XSS-05 markup as a number":    {orderWith(`{"idempotent": true}`, `{"idempotent": true, "max_concurrent": "1 onclick=alert(1)"}`), 422, []string{"policy.max_concurrent"}},
		"XSS-05 an unknown field":      {orderWith(`"team"`, `"colour": "red\" onmouseover=", "team"`), 422, []string{"colour"}},
		"a fraction":                   {orderWith(`{"idempotent": true}`, `{"idempotent": true, "timeout_seconds": 1.5}`), 422, []string{"policy.timeout_seconds"}},
		"an exponent":                  {orderWith(`{"idempotent": true}`, `{"idempotent": true, "timeout_seconds": 1e1}`), 422, []string{"policy.timeout_seconds"}},
		"more than any number":         {orderWith(`{"idempotent": true}`, `{"idempotent": true, "timeout_seconds": 99999999999999999999}`), 422, []string{"policy.timeout_seconds"}},
		"a text for a choice":          {orderWith(`"idempotent": true`, `"idempotent": "true"`), 422, []string{"policy.idempotent"}},
		"a null":                       {orderWith(`"idempotent": true`, `"idempotent": null`), 422, []string{"policy.idempotent"}},
		"a text for a list":            {orderWith(`["money"]`, `"money"`), 422, []string{"tags"}},
		"a number in a list":           {orderWith(`["money"]`, `["money", 7]`), 422, []string{"tags[1]"}},
		"a list for an object":         {orderWith(`{"idempotent": true}`, `[{"idempotent": true}]`), 422, []string{"policy"}},
		"a field twice":                {orderWith(`"team"`, `"code": "orders.worse", "team"`), 422, []string{"code"}},
		"a field in other letters":     {orderWith(`"team"`, `"Team"`), 422, []string{"Team"}},
		"a field twice, deeper":        {orderWith(`"idempotent": true`, `"idempotent": true, "idempotent": false`), 422, []string{"policy.idempotent"}},
		"a field twice in the payload": {orderWith(`{"shop": 17}`, `{"shop": [{"a": 1, "a": 2}]}`), 422, []string{"payload.shop[0].a"}},
		"a payload that is too long":   {orderWith(`{"shop": 17}`, `"`+strings.Repeat("x", 70_000)+`"`), 422, []string{"payload"}},
		"a body that is too long":      {orderWith(`{"shop": 17}`, `"`+strings.Repeat("x", 1<<20)+`"`), 413, nil},
		"a moment without a zone":      {orderWith(`"kind": "cron"`, `"kind": "cron", "anchor": "2026-12-01T00:00:00"`), 422, []string{"schedule.anchor"}},
		"a moment as a number":         {orderWith(`"kind": "cron"`, `"kind": "cron", "anchor": 1764547200`), 422, []string{"schedule.anchor"}},
		"many things at once": {`{"code": "Bad", "schedule": {"kind": "cron", "cron": "x", "timezone": "y"}, "target": {"kind": "http", "url": "z"}, "policy": {}}`,
			422, []string{"code", "name", "schedule.cron", "schedule.timezone", "target.url", "policy.idempotent", "team"}},
	}
	for name, row := range rows {
		got := c.json("POST", v1+"/tasks", row.body)
		require.Equal(t, row.status, got.status, "%s: %s", name, got.body)
		p := got.problem()
		require.NotEmpty(t, p.Detail, name)
		if row.status == 422 {
			require.ElementsMatch(t, row.fields, got.fields(), "%s: %s", name, got.body)
		}
		require.NotContains(t, got.body, "SQL", name)
	}
	require.Contains(t, c.get(v1+"/tasks").body, "orders.taken")
	var page struct{ Items []any }
	c.get(v1 + "/tasks").into(&page)
	require.Len(t, page.Items, 1)
}

func TestTheKindOfABodyIsLookedAt(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.api(access.Owner)
	for i, kind := range []string{"", "application/json", "application/json; charset=UTF-8", "application/merge-patch+json", "application/x-www-form-urlencoded"} {
		got := c.do("POST", v1+"/tasks", kind, strings.NewReader(order(fmt.Sprintf("orders.%d", i))))
		require.Equal(t, 201, got.status, "%q: %s", kind, got.body)
	}
	for _, kind := range []string{"text/plain", "multipart/form-data; boundary=x", "application/xml", "application/json; charset=utf-16", "application/json; charset=", ";", "application/cbor"} {
		got := c.do("POST", v1+"/tasks", kind, strings.NewReader(order("orders.x")))
		require.Equal(t, 415, got.status, "%q: %s", kind, got.body)
		require.NotEmpty(t, got.problem().Detail)
	}
	got := c.with("Content-Encoding", "gzip").json("POST", v1+"/tasks", order("orders.x"))
	require.Equal(t, 415, got.status)
	require.Equal(t, "application/json", c.with("Accept", "text/html").get(v1+"/tasks").header.Get("Content-Type"))
	require.Equal(t, "application/problem+json", c.with("Accept", "application/xml").get(v1+"/tasks/x").header.Get("Content-Type"))
}

func TestAnswersAreJSONWithMilliseconds(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.forward(123 * time.Millisecond)
	h.task("orders.send")
	got := h.api(access.Viewer).get(v1 + "/tasks/orders.send")
	require.Equal(t, "2026-12-02T06:32:07.123Z", got.fieldsOf()["created_at"])
	require.True(t, json.Valid([]byte(got.body)))
	require.Equal(t, "no-store", got.header.Get("Cache-Control"))
}
