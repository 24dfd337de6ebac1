//go:build slow

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/alert"
	"ax/jobs/redistest"
	"ax/jobs/robottest"
)

// watch is an installation whose alerts are followed in a browser.
type watch struct {
	*ax
	*browser
	t     *testing.T
	redis *redistest.Server
	hook  *robottest.Robot
	seen  int // messages of the hook that were looked at
}

const hookKey = "0123456789abcdef0123456789abcdef"

func newWatch(t *testing.T) *watch {
	a, redis := onServers(t, plainAx.build(t))
	a.start()
	w := &watch{ax: a, t: t, redis: redis, hook: robottest.Webhook(t, robottest.Options{Key: hookKey, Plain: true})}
	w.browser = newBrowser(t, "http://"+a.addr)
	signIn(t, a, w.browser)
	w.connect()
	return w
}

// connect makes the channel and has it told of every alert of the team.
func (w *watch) connect() {
	w.open("/alerts")
	w.waits("document.querySelector('[data-test=unheard]')") // a new team sees that nobody would be told
	w.open("/alerts/channels/new?kind=webhook&team=payments")
	w.fair("new channel")
	w.fill("#channel-form", map[string]string{"name": "pager", "url": w.hook.URL, "key": hookKey})
	w.waits("/^\\/alerts\\/channels\\/[0-9a-f]{32}$/.test(location.pathname)")
	w.fill("[data-test=tell-form]", map[string]string{"what": "all", "after": "0"})
	w.waits("document.querySelector('[data-test=told]')")
	w.eval(`document.querySelector('form[action*="/test"]').requestSubmit(); ''`) // htmx puts the answer in place
	require.Equal(w.t, "test", w.hears().Type, "a test goes out at once")
	w.fair("channel")
	w.open("/alerts")
	w.waits("!document.querySelector('[data-test=unheard]')")
}

// hears is the next message that the hook took: its signature was right.
func (w *watch) hears() robottest.Got {
	w.t.Helper()
	require.Eventually(w.t, func() bool { return len(w.hook.Got()) > w.seen }, 90*time.Second, 50*time.Millisecond, "no message: %s", w.where())
	w.seen++
	return w.hook.Got()[w.seen-1]
}

// hearsOf is the next message about an incident, past those about others.
func (w *watch) hearsOf(id string) robottest.Got {
	w.t.Helper()
	for {
		if got := w.hears(); strings.HasSuffix(strings.Join(got.Links, ""), "/alerts/incidents/"+id) {
			return got
		}
	}
}

// incident waits until the console shows one that fires and has the words, and
// gives its id.
func (w *watch) incident(words string) string {
	w.t.Helper()
	w.open("/alerts")
	find := fmt.Sprintf("[...document.querySelectorAll('[data-test=firing] [data-test=incident]')].find(i => i.innerText.includes(%q))", words)
	w.waits(find) // the page refreshes itself
	return w.eval(find + ".dataset.incident")
}

// facts of an incident, by the API.
func (w *watch) facts(id string) map[string]any {
	w.t.Helper()
	return w.call("GET", "/alerts/incidents/"+id, nil, http.StatusOK)
}

func (w *watch) isOver(id string) bool { return w.facts(id)["state"] == string(alert.Over) }

// A task begins to fail: the console shows it, the hook is told with a valid
// signature, somebody acknowledges, the target is mended, and the hook hears
// that it is over. In a silence it hears nothing until that ends.
func TestABreachAndItsEndInABrowser(t *testing.T) {
	t.Parallel()
	w := newWatch(t)
	var broken atomic.Bool
	s := newSink(t, func(_ sinkCall, rw http.ResponseWriter) {
		if broken.Load() {
			http.Error(rw, `the period is "closed" <b>`, http.StatusInternalServerError)
		}
	})
	w.task("ledger.close", s.URL, func(task map[string]any) {
		task["team"], task["name"] = "payments", "Close the ledger"
		task["schedule"] = map[string]any{"kind": "interval", "every_seconds": 1, "anchor": "2020-01-01T00:00:00Z"}
		task["policy"].(map[string]any)["retry"] = map[string]any{"max": 0}
		task["policy"].(map[string]any)["alert_level"] = "p1"
	})
	broken.Store(true)
	id := w.incident("Close the ledger")
	w.fair("alerts, firing")
	told := w.hearsOf(id)
	require.Equal(t, "alert.opened", told.Type)
	require.Contains(t, told.Title, "[P1]")
	require.Contains(t, told.Title, "Close the ledger")

	w.open("/alerts/incidents/" + id)
	require.Contains(t, w.eval("document.querySelector('main').innerText"), `the period is "closed" <b>`, "what came back is shown as text")
	w.fair("incident")
	w.fill(`form[action$="/acknowledge"]`, map[string]string{})
	require.Equal(t, "ada", w.facts(id)["acknowledged_by"])

	broken.Store(false)
	require.Eventually(t, func() bool { return w.isOver(id) }, 2*time.Minute, 300*time.Millisecond)
	over := w.hearsOf(id)
	require.Equal(t, "alert.closed", over.Type)
	require.NotEqual(t, told.ID, over.ID)
	w.open("/alerts/history")
	w.waits(fmt.Sprintf("document.querySelector('[data-incident=%q]')", id))
	w.fair("alerts, history")

	w.open("/alerts/silences/new?task=ledger.close")
	w.fair("new silence")
	w.fill("#silence-form", map[string]string{"length": "3600", "reason": "the period is closed by hand"})
	w.waits("location.pathname === '/alerts/silences'")
	w.fair("silences")
	broken.Store(true)
	id = w.incident("Close the ledger")
	w.staysQuiet(id)
	w.open("/alerts/silences")
	w.fill(`[data-test=silence] form[action$="/end"]`, map[string]string{})
	require.Equal(t, "alert.opened", w.hearsOf(id).Type, "what is still wrong is told when the silence ends")
	broken.Store(false)
	require.Equal(t, "alert.closed", w.hearsOf(id).Type)
	for _, path := range []string{"/alerts/rules", "/alerts/channels", "/alerts/deliveries", "/alerts/rules/new?team=payments", "/tasks/ledger.close", "/"} {
		w.open(path)
		w.fair(path)
	}
}

// staysQuiet waits until the rules were judged several times after the first
// message would have been due.
func (w *watch) staysQuiet(id string) {
	w.t.Helper()
	require.Eventually(w.t, func() bool { return w.facts(id)["silenced"] == true }, 30*time.Second, 200*time.Millisecond)
	opened, err := time.Parse(time.RFC3339, w.facts(id)["opened_at"].(string))
	require.NoError(w.t, err)
	require.Eventually(w.t, func() bool { return time.Since(opened) > 10*time.Second+4*alert.TurnEvery }, time.Minute, 200*time.Millisecond)
	require.Zero(w.t, w.facts(id)["messages"])
}

// A queue is over its depth: once because it is paused, once because Redis is
// gone. The hook is told both times, and both times hears that it is over.
func TestAQueueOverItsDepthInABrowserAlsoWithoutRedis(t *testing.T) {
	t.Parallel()
	w := newWatch(t)
	s := newSink(t, nil)
	w.task("orders.send", s.URL, func(task map[string]any) { task["team"] = "payments" })
	w.open("/alerts/rules/new?team=payments&metric=queue_depth")
	w.fair("new rule")
	w.fill("#rule-form", map[string]string{"name": "Orders wait", "metric": "queue_depth", "measured": "queue_depth", "threshold": "5", "for_seconds": "0", "level": "p1"})
	w.waits("/^\\/alerts\\/rules\\/\\d+$/.test(location.pathname)")
	w.fair("rule")

	w.open("/queues/default/confirm/pause")
	w.fill("[data-test=confirm]", map[string]string{"reason": "to see them wait"})
	w.goesOverItsDepth("paused", func() {
		w.open("/queues/default/confirm/resume")
		w.fill("[data-test=confirm]", map[string]string{"reason": "seen"})
	})
	w.redis.Kill()
	w.goesOverItsDepth("without-redis", w.redis.Restart)
	w.settles("orders.send", map[string]int{"succeeded": 20}, time.Minute)
	w.verify()
}

// goesOverItsDepth asks for ten runs that wait until they are let go.
func (w *watch) goesOverItsDepth(name string, letGo func()) {
	w.t.Helper()
	for i := range 10 {
		require.NoError(w.t, w.trigger("orders.send", fmt.Sprint(name, i), nil))
	}
	id := w.incident("Orders wait")
	told := w.hearsOf(id)
	require.Equal(w.t, "alert.opened", told.Type)
	var m struct {
		Alert struct{ Value, Threshold float64 } `json:"alert"`
	}
	require.NoError(w.t, json.Unmarshal(told.Raw, &m))
	require.GreaterOrEqual(w.t, m.Alert.Value, 5.0)
	require.InDelta(w.t, 5, m.Alert.Threshold, 0)
	letGo()
	require.Eventually(w.t, func() bool { return w.isOver(id) }, 2*time.Minute, 300*time.Millisecond)
	require.Equal(w.t, "alert.closed", w.hearsOf(id).Type)
}
