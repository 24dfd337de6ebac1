//go:build slow

package main

import (
	"database/sql"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// visitor is a browser without a window.
type visitor struct {
	t      *testing.T
	base   string
	client *http.Client
}

func newVisitor(t *testing.T, addr string) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &visitor{t: t, base: "http://" + addr, client: &http.Client{Jar: jar, Timeout: 20 * time.Second}}
}

// get and post give the page where they end up.
func (v *visitor) get(path string) string {
	v.t.Helper()
	resp, err := v.client.Get(v.base + path)
	require.NoError(v.t, err)
	return v.read(resp, path)
}

func (v *visitor) post(path string, fields ...string) string {
	v.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	resp, err := v.client.PostForm(v.base+path, form)
	require.NoError(v.t, err)
	return v.read(resp, path)
}

func (v *visitor) read(resp *http.Response, path string) string {
	v.t.Helper()
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(v.t, err)
	require.Less(v.t, resp.StatusCode, 500, "%s: %s", path, body)
	return string(body)
}

// cookie is the value of the session's cookie.
func (v *visitor) cookie() string {
	v.t.Helper()
	at, err := url.Parse(v.base)
	require.NoError(v.t, err)
	for _, c := range v.client.Jar.Cookies(at) {
		if strings.Contains(c.Name, "session") {
			return c.Value
		}
	}
	v.t.Fatal("no session")
	return ""
}

// find is the first match of the expression's group.
func find(t *testing.T, expression, text string) string {
	t.Helper()
	found := regexp.MustCompile(expression).FindStringSubmatch(text)
	require.NotNil(t, found, "nothing like %s in %.3000s", expression, text)
	return found[1]
}

// canaries are secrets by what they are; each was used, and none may be found
// again anywhere.
type canaries map[string]string

// in names those that a text has.
func (c canaries) in(text string) (found []string) {
	for _, what := range slices.Sorted(maps.Keys(c)) {
		if strings.Contains(text, c[what]) {
			found = append(found, what)
		}
	}
	return found
}

// Every kind of secret that there is, used once; then none is in the log at
// its most talkative, in the ledger, in Redis, or on a page.
func TestNoSecretIsFoundAgain(t *testing.T) {
	t.Parallel()
	const password, second = "canary password of ada", "canary password of bob"
	key := "canary-" + strings.Repeat("k", 40)
	a, server := onServers(t, plainAx.build(t), "AX_LOG_LEVEL=debug")
	a.env = append(a.env, "AX_SECRET="+key)
	echo := newSink(t, func(c sinkCall, w http.ResponseWriter) { // as targets do that help to find faults
		w.WriteHeader(http.StatusInternalServerError)
		_ = c.Header.Write(w)
	})
	found := canaries{"the installation's secret": key, "a password": password, "another password": second}
	a.say(password+"\n", "user", "create", "--admin", "--login", "ada", "--password-stdin")
	a.prepare()
	found["an API token"] = a.token
	a.start()

	ada := newVisitor(t, a.addr)
	ada.post("/login", "login", "ada", "password", "canary of a typing error")
	found["what was typed wrong"] = "canary of a typing error"
	ada.post("/login", "login", "ada", "password", password)
	found["a session"] = ada.cookie()
	begun := ada.post("/account/second-step/begin", "step_password", password)
	found["the secret of the second step"] = find(t, `data-test="secret">([A-Z2-7 ]+)<`, begun)
	found["the same without its gaps"] = strings.ReplaceAll(found["the secret of the second step"], " ", "")
	made := ada.post("/teams/default/tokens", "token_name", "ci", "token_role", "viewer", "token_end", "30")
	found["a token made on the page"] = find(t, `(ax_[0-9A-Za-z_-]{20,})`, made)
	link := find(t, `/invitation\?token=([0-9A-Za-z_-]{20,})`, ada.post("/teams/default/invitations", "invite_role", "owner"))
	found["an invitation"] = link
	bob := newVisitor(t, a.addr)
	bob.get("/invitation?token=" + link)
	bob.post("/invitation", "token", link, "login", "bob", "name", "Bob", "password", second)
	found["the session of who came by it"] = bob.cookie()
	found["a password link"] = find(t, `/invitation\?token=([0-9A-Za-z_-]{20,})`, ada.post("/users/bob/password-link"))

	found["a secret of the team"], found["another one"] = "canary of pay 77777777", "Y2FuYXJ5OmNhbmFyeSBvZiBiYXNpYyA3Nw=="
	found["the password in it"] = "canary of basic 77"
	ada.post("/teams/default/secrets", "secret_name", "PAY_TOKEN", "secret_value", found["a secret of the team"], "secret_hosts", "127.0.0.1")
	ada.post("/teams/default/secrets", "secret_name", "PAY_BASIC", "secret_value", found["another one"], "secret_hosts", "127.0.0.1")
	found["the password of a broker"], found["the user of a broker"] = "canary of rabbit 777", "canary-user-of-rabbit"
	for _, kind := range []string{"amqp", "redis"} {
		ada.post("/teams/default/brokers", "broker_name", kind, "broker_kind", kind, "broker_address", kind+"://"+server.Addr, "broker_user", found["the user of a broker"],
			"broker_password", found["the password of a broker"], "broker_places", map[string]string{"amqp": "orders #", "redis": "orders"}[kind])
		ada.post("/teams/default/brokers/test", "test_broker", kind)
	}
	a.task("posted", echo.URL, func(w map[string]any) {
		w["target"] = map[string]any{"kind": "mq", "broker": "redis", "stream": "orders"}
	})
	require.NoError(t, a.trigger("posted", "o-1", nil))
	a.settles("posted", map[string]int{"failed": 1}, 30*time.Second)
	a.task("echo", echo.URL, func(w map[string]any) {
		w["target"].(map[string]any)["headers"] = map[string]any{"X-Token": "{{secret:PAY_TOKEN}}", "Authorization": "Basic {{secret:PAY_BASIC}}"}
	})
	require.NoError(t, a.trigger("echo", "o-1", nil))
	a.settles("echo", map[string]int{"failed": 1}, 30*time.Second)
	found["a receipt's token"] = echo.got()[0].Header.Get("Ax-Receipt-Token")
	require.Equal(t, found["a secret of the team"], echo.got()[0].Header.Get("X-Token"))
	found["a signature"] = echo.got()[0].Header.Get("Ax-Signature")
	a.call("POST", "/tasks/echo/trigger", map[string]any{"biz_id": "later", "delay_seconds": 3600}, http.StatusAccepted)
	for what, secret := range found {
		require.Greater(t, len(secret), 15, what)
	}

	pages := crawl(t, ada, found)
	require.Greater(t, pages, 60, "the crawl came around")
	crawl(t, bob, found)
	require.Empty(t, found.in(a.log.String()), "in the log")
	dump := dumpLedger(t, a)
	require.Contains(t, dump, "later", "the dump has what there is")
	require.Empty(t, found.in(dump), "in the ledger")
	carried := dumpRedis(t, server.Addr)
	require.Contains(t, carried, "asynq", "the dump has what there is")
	require.Empty(t, found.in(carried), "in Redis")
	require.Empty(t, found.in(a.say("", "verify")), "in what a command prints")
}

// crawl follows the links of all pages and tells how many there were.
func crawl(t *testing.T, v *visitor, secrets canaries) int {
	t.Helper()
	seen, queue := map[string]bool{"/": true}, []string{"/"}
	number := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|\d+`)
	shapes := map[string]int{}
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		body := v.get(path)
		require.Empty(t, secrets.in(body), "at %s", path)
		doc, err := goquery.NewDocumentFromReader(strings.NewReader(body))
		require.NoError(t, err)
		doc.Find("a[href], [hx-get]").Each(func(_ int, s *goquery.Selection) {
			to := s.AttrOr("href", s.AttrOr("hx-get", ""))
			to, _, _ = strings.Cut(to, "#")
			shape := number.ReplaceAllString(to, "#")
			if !strings.HasPrefix(to, "/") || seen[to] || shapes[shape] > 2 || strings.HasPrefix(to, "/static/") || strings.HasPrefix(to, "/language") {
				return
			}
			seen[to] = true
			shapes[shape]++
			queue = append(queue, to)
		})
	}
	return len(seen)
}

// dumpLedger is everything in the database, as text.
func dumpLedger(t *testing.T, a *ax) string {
	t.Helper()
	var dsn string
	for _, e := range a.env {
		if rest, ok := strings.CutPrefix(e, "AX_DATABASE_DSN="); ok {
			dsn = rest
		}
	}
	conn, err := sql.Open("mysql", dsn)
	require.NoError(t, err)
	defer conn.Close()
	var out strings.Builder
	for _, table := range columnOf(t, conn, "SHOW TABLES") {
		for _, name := range columnOf(t, conn, "SELECT column_name FROM information_schema.columns WHERE table_schema=DATABASE() AND table_name='"+table+"'") {
			for _, value := range columnOf(t, conn, fmt.Sprintf("SELECT `%s` FROM `%s` WHERE `%s` IS NOT NULL", name, table, name)) {
				fmt.Fprintf(&out, "%s.%s %s\n", table, name, value)
			}
		}
	}
	return out.String()
}

func columnOf(t *testing.T, conn *sql.DB, query string) (out []string) {
	t.Helper()
	rows, err := conn.QueryContext(t.Context(), query)
	require.NoError(t, err, query)
	defer rows.Close()
	for rows.Next() {
		var s string
		require.NoError(t, rows.Scan(&s))
		out = append(out, s)
	}
	require.NoError(t, rows.Err())
	return out
}

// dumpRedis is all keys with their values.
func dumpRedis(t *testing.T, addr string) string {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: addr})
	defer c.Close()
	var out strings.Builder
	for key := range slices.Values(c.Keys(t.Context(), "*").Val()) {
		value, err := c.Dump(t.Context(), key).Result()
		require.NoError(t, err)
		fmt.Fprintf(&out, "%s %s %v %v\n", key, value, c.HGetAll(t.Context(), key).Val(), c.ZRange(t.Context(), key, 0, -1).Val())
	}
	return out.String()
}
