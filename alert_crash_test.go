//go:build slow

package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// hook is a program that is told: it keeps what came and checks signatures as
// docs/channels.md says.
type hook struct {
	*httptest.Server
	mu    sync.Mutex
	key   string
	wrong []string
	got   []hookCall
}

type hookCall struct{ id, event, about string }

func newHook(t *testing.T) *hook {
	h := &hook{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // half a body has a wrong signature
		h.mu.Lock()
		defer h.mu.Unlock()
		id := r.Header.Get("Ax-Event-Id")
		sent, _ := strconv.ParseInt(r.Header.Get("Ax-Timestamp"), 10, 64)
		mac := hmac.New(sha256.New, []byte(h.key))
		fmt.Fprintf(mac, "%d.%s.%s", sent, id, body)
		if "v1="+hex.EncodeToString(mac.Sum(nil)) != r.Header.Get("Ax-Signature") || time.Since(time.Unix(sent, 0)).Abs() > 5*time.Minute {
			h.wrong = append(h.wrong, id)
			return
		}
		var b struct {
			Type   string
			Alert  struct{ Metric string }
			Object struct{ ID string }
		}
		_ = json.Unmarshal(body, &b) // it is signed
		h.got = append(h.got, hookCall{id, b.Type, b.Alert.Metric + b.Object.ID})
	}))
	t.Cleanup(h.Close)
	return h
}

// times counts how often each id of a kind of message came, by what it is about.
func (h *hook) times(event string) map[string]map[string]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := map[string]map[string]int{}
	for _, c := range h.got {
		if c.event != event {
			continue
		}
		if out[c.about] == nil {
			out[c.about] = map[string]int{}
		}
		out[c.about][c.id]++
	}
	return out
}

// alertCrash is an installation that dies on an alert's way.
type alertCrash struct {
	name  string
	place string
	event string // what its hook must be told of: alert.opened or instance.finished
	a     *ax
	hook  *hook
}

// failures is how often the task of such an installation fails, one each two
// seconds: the rules see something new at each of their turns.
const failures = 10

// begins prepares the task, the channel and the runs to come, and starts the
// process that is to die.
func (c *alertCrash) begins(t *testing.T, target string) {
	t.Helper()
	c.hook = newHook(t)
	c.a.prepare()
	c.a.start()
	c.a.task("bad", target, func(w map[string]any) { onceOnly(w, false) })
	ch := c.a.call("POST", "/alerts/channels", map[string]any{"team": "default", "kind": "webhook", "name": "hook", "url": c.hook.URL + "/hook"}, http.StatusCreated)
	c.hook.key = ch["key"].(string)
	sub := map[string]any{"team": "default", "channel_id": ch["id"]}
	if c.event != "alert.opened" {
		sub["events"] = []string{c.event}
	}
	c.a.call("POST", "/alerts/subscriptions", sub, http.StatusCreated)
	for i := range failures {
		require.NoError(t, c.a.trigger("bad", fmt.Sprintf("b%d", i), map[string]any{"delay_seconds": 4 + 2*i}))
	}
	c.a.kill()
	c.a.start("AX_FAILPOINT=" + c.place + "=kill")
}

// told tells whether all is there that must come.
func (c *alertCrash) told() bool {
	got := c.hook.times(c.event)
	if c.event == "alert.opened" {
		return len(got["failures_in_row"]) > 0
	}
	return len(got) >= failures
}

// judge: each message came, under one id, at most once more, and a cause has
// one incident.
func (c *alertCrash) judge(t *testing.T) {
	require.True(t, c.told(), "told of %v\n%s", c.hook.times(c.event), c.a.log.String())
	require.Empty(t, c.hook.wrong, "signatures")
	for about, ids := range c.hook.times(c.event) {
		require.Len(t, ids, 1, "%s was told under several ids: %v", about, ids)
		for id, n := range ids {
			require.LessOrEqual(t, n, 2, "%s of %s came too often", id, about)
		}
	}
	if c.event != "alert.opened" {
		return
	}
	items := c.a.call("GET", "/alerts/incidents?limit=200", nil, http.StatusOK)["items"].([]any)
	items = slices.DeleteFunc(items, func(i any) bool { return i.(map[string]any)["metric"] != "failures_in_row" })
	require.Len(t, items, 1, "one cause, one incident: %v", items)
}

// A process that is killed at a named place of an alert's way and started again
// tells what it owes, at most once more than it should, and under the same id.
// A channel that was being sent to waits for its lease of a minute, so all
// cases wait side by side.
func TestAKillAtEachPlaceOfAnAlertsWayLosesNoMessage(t *testing.T) {
	t.Parallel()
	bin := failingAx.build(t, "-tags", "failpoint")
	target := newSink(t, func(_ sinkCall, w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) })
	var all []*alertCrash
	for _, c := range []struct{ place, event string }{
		{"alert.asked:3", "alert.opened"},
		{"alert.incident:1", "alert.opened"}, // it opens
		{"alert.incident:3", "alert.opened"}, // it is told of, about
		{"alert.recorded:1", "alert.opened"},
		{"alert.recorded:3", "alert.opened"},
		{"deliver.taken:1", "alert.opened"},
		{"deliver.sent:1", "alert.opened"},
		{"deliver.settled:1", "alert.opened"},
		{"events.found:4", "instance.finished"},
		{"deliver.taken:2", "instance.finished"},
		{"deliver.sent:2", "instance.finished"},
		{"deliver.settled:2", "instance.finished"},
	} {
		servers, _ := onServers(t, bin)
		for kind, a := range map[string]*ax{"embedded": newAx(t, bin), "servers": servers} {
			x := &alertCrash{name: strings.Join([]string{c.place, c.event, kind}, ", "), place: c.place, event: c.event, a: a}
			x.begins(t, target.URL)
			all = append(all, x)
		}
	}
	for _, c := range all {
		c.a.dies()
		c.a.start()
	}
	end := time.Now().Add(100 * time.Second)
	for slices.ContainsFunc(all, func(c *alertCrash) bool { return !c.told() }) && time.Now().Before(end) {
		time.Sleep(100 * time.Millisecond)
	}
	time.Sleep(5 * time.Second) // what comes too often comes now
	for _, c := range all {
		t.Run(c.name, c.judge)
	}
}
