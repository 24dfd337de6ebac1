package app_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app"
	"ax/app/access"
	"ax/db"
	"ax/db/dbtest"
)

func TestTheSameKeyGetsTheSameAnswer(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	c := h.api(access.Operator).with("Idempotency-Key", "run-1")
	path := v1 + "/tasks/orders.send/trigger"
	first := c.wants(path, `{"payload": {"n": 1}}`, 202)
	require.Empty(t, first.header.Get("Idempotency-Replayed"))
	h.forward(time.Hour)
	for range 3 {
		again := c.wants(path, `{"payload": {"n": 1}}`, 202)
		require.Equal(t, first.body, again.body)
		require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
		require.Equal(t, first.header.Get("Location"), again.header.Get("Location"))
		require.Equal(t, "application/json", again.header.Get("Content-Type"))
		require.Equal(t, "no-store", again.header.Get("Cache-Control"))
	}
	require.Len(t, h.instances("orders.send"), 1)

	// Another body, path or method with the key is a mistake of the caller's.
	for _, other := range []*answer{c.json("POST", path, `{"payload": {"n": 2}}`), c.json("POST", path, `{"payload": {"n": 1} }`),
		c.json("POST", v1+"/tasks/orders.send/disable", `{"payload": {"n": 1}}`)} {
		require.Equal(t, 422, other.status)
		require.Equal(t, []string{"Idempotency-Key"}, other.fields())
	}
	require.Equal(t, 202, h.api(access.Owner).with("Idempotency-Key", "run-1").json("POST", path, `{"payload": {"n": 1}}`).status, "another token's keys are its own")
	require.Len(t, h.instances("orders.send"), 2)

	h.forward(24 * time.Hour)
	require.Equal(t, 202, c.json("POST", path, `{"payload": {"n": 2}}`).status, "keys are kept for a day")
}

// instances lists those of the task.
func (h *house) instances(code string) []instanceJSON {
	h.t.Helper()
	var page struct{ Items []instanceJSON }
	h.api(access.Viewer).get(v1 + "/instances?limit=200&task=" + code).into(&page)
	return page.Items
}

func TestEveryPOSTTakesAKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, r := range w.apiRights(t) {
		if r.method != http.MethodPost || byReceiptToken(r.path) { // what a target says can be said again as it is
			continue
		}
		h := w.copy(t)
		c := w.caller(h, "token owner").with("Idempotency-Key", h.unused("key"))
		r.body = w.filled(r.body)
		first := c.json(r.method, w.address(t, r.call), r.body)
		require.Less(t, first.status, 300, "%s: %s", r.call, first.body)
		again := c.wants(w.address(t, r.call), r.body, first.status)
		require.Equal(t, first.body, again.body, r.call)
		require.Equal(t, "true", again.header.Get("Idempotency-Replayed"), r.call)
		require.Equal(t, first.header.Get("Location"), again.header.Get("Location"), r.call)
	}
}

func TestARefusalIsNotKept(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	c := h.api(access.Operator).with("Idempotency-Key", "run-1")
	path := v1 + "/tasks/orders.send/"
	h.api(access.Operator).wants(path+"disable", "", 200)
	c.wants(path+"trigger", "", 409)
	c.wants(path+"trigger", "", 409)
	h.api(access.Operator).wants(path+"enable", "", 200)
	got := c.wants(path+"trigger", "", 202)
	require.Empty(t, got.header.Get("Idempotency-Replayed"))
	require.Equal(t, 422, c.wants(path+"trigger", `{"biz_id": "@x"}`, 422).status)
}

func TestAKeyIsPlainText(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	for name, key := range map[string]string{"empty": "", "too long": strings.Repeat("k", 256), "not ASCII": "schlüssel", "a control": "a\tb"} {
		got := h.api(access.Operator).with("Idempotency-Key", key).json("POST", v1+"/tasks/orders.send/trigger", "")
		require.Equal(t, 400, got.status, "%s: %s", name, got.body)
	}
	h.api(access.Operator).with("Idempotency-Key", strings.Repeat("k", 255)).wants(v1+"/tasks/orders.send/trigger", "", 202)
	require.Len(t, h.instances("orders.send"), 1)
	require.Equal(t, 200, h.api(access.Operator).with("Idempotency-Key", "").get(v1+"/tasks").status, "a GET has no use for one")
}

// slowCalls holds a call open until it is let go.
type slowCalls struct {
	*db.DB
	begun, release chan struct{}
	once           sync.Once
}

func (s *slowCalls) FinishCall(ctx context.Context, c access.Call, a access.Answer) error {
	s.once.Do(func() { close(s.begun); <-s.release })
	return s.DB.FinishCall(ctx, c, a)
}

func TestTwoAtOnceWithOneKeyRunOnce(t *testing.T) {
	t.Parallel()
	d := dbtest.SQLite(t)
	slow := &slowCalls{DB: d, begun: make(chan struct{}), release: make(chan struct{})}
	h := newHouseOn(t, d, func(o *app.Options) { o.Calls = slow })
	h.task("orders.send")
	c := h.api(access.Operator).with("Idempotency-Key", "run-1")
	path := v1 + "/tasks/orders.send/trigger"
	done := make(chan *answer)
	go func() { done <- c.json("POST", path, `{"biz_id": "o-1"}`) }()
	<-slow.begun
	require.Equal(t, "A request with this Idempotency-Key is still being worked on", c.wants(path, `{"biz_id": "o-1"}`, 409).problem().Detail)
	close(slow.release)
	require.Equal(t, 202, (<-done).status)
	require.Equal(t, "true", c.wants(path, `{"biz_id": "o-1"}`, 202).header.Get("Idempotency-Replayed"))
	require.Len(t, h.instances("orders.send"), 1)
}

// brokenCalls can't keep an answer.
type brokenCalls struct{ *db.DB }

func (brokenCalls) FinishCall(context.Context, access.Call, access.Answer) error {
	return context.DeadlineExceeded
}

func TestAnAnswerThatCantBeKeptIsGivenAllTheSame(t *testing.T) {
	t.Parallel()
	d := dbtest.SQLite(t)
	h := newHouseOn(t, d, func(o *app.Options) { o.Calls = brokenCalls{d} })
	h.task("orders.send")
	c := h.api(access.Operator).with("Idempotency-Key", "run-1")
	c.wants(v1+"/tasks/orders.send/trigger", "", 202)
	require.Contains(t, h.log.String(), "the answer of an idempotency key was not kept")
	c.wants(v1+"/tasks/orders.send/trigger", "", 409)
	h.forward(access.CallPatience)
	c.wants(v1+"/tasks/orders.send/trigger", "", 200)
	require.Len(t, h.instances("orders.send"), 1, "the request was stored: its repetition finds it")
}
