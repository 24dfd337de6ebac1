//go:build slow

package main

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/jobs/robottest"
)

// asked is an address that hooks ask: 503 until it is ready.
func asked(t *testing.T, ready *atomic.Bool) *sink {
	return newSink(t, func(_ sinkCall, w http.ResponseWriter) {
		if !ready.Load() {
			http.Error(w, "the day is not closed yet", http.StatusServiceUnavailable)
		}
	})
}

func hooks(h map[string]any) func(map[string]any) {
	return func(w map[string]any) { w["hooks"] = h }
}

// instance is the one instance of a task as the API shows it.
func (a *ax) instance(code string) map[string]any {
	a.t.Helper()
	items := a.call("GET", "/instances?task="+code, nil, http.StatusOK)["items"].([]any)
	require.Len(a.t, items, 1)
	return a.call("GET", "/instances/"+items[0].(map[string]any)["id"].(string), nil, http.StatusOK)
}

// Who waits for a hook is shown so, survives a kill, and is called once, after
// the answer that it was waiting for.
func TestWhoWaitsForAHookSurvivesAKillAndIsCalledOnceWhenItIsReady(t *testing.T) {
	t.Parallel()
	eachCarrier(t, plainAx.build(t), func(t *testing.T, a *ax) {
		var ready atomic.Bool
		hook, target := asked(t, &ready), newSink(t, nil)
		a.prepare()
		a.start()
		a.task("wait", target.URL, hooks(map[string]any{"before": map[string]any{"url": hook.URL + "/ready", "every_seconds": 5, "limit_seconds": 600}}))
		require.NoError(t, a.trigger("wait", "b1", nil))
		require.Eventually(t, func() bool { return len(hook.got()) > 0 && a.instance("wait")["hook"] != nil }, 20*time.Second, 100*time.Millisecond)
		in := a.instance("wait")
		said := in["hook"].(map[string]any)
		require.Contains(t, []any{"pending", "queued"}, in["state"])
		require.Equal(t, []any{float64(0), float64(0), hook.URL + "/ready"}, []any{in["attempt"], in["retries"], said["url"]})
		require.Equal(t, "answered 503 Service Unavailable: the day is not closed yet", said["answers"].([]any)[0].(map[string]any)["said"])
		require.NotNil(t, said["next_at"])

		a.kill()
		before := len(hook.got())
		a.start()
		require.Eventually(t, func() bool { return len(hook.got()) > before }, 60*time.Second, 100*time.Millisecond, "it is asked again after the kill")
		require.Empty(t, target.got())
		ready.Store(true)
		from := time.Now()
		a.settles("wait", map[string]int{"succeeded": 1}, 60*time.Second)
		a.verify()
		require.Len(t, target.got(), 1)
		require.True(t, target.got()[0].At.After(from))
		last := hook.got()[len(hook.got())-1]
		require.True(t, last.At.Before(target.got()[0].At), "first the answer, then the call")
		require.Empty(t, last.Header.Get("Idempotency-Key"))
		in = a.instance("wait")
		require.Equal(t, float64(1), in["attempt"])
		require.NotNil(t, in["hook"].(map[string]any)["ready_at"])
	})
}

// A hook that skips leaves a reason and calls nobody; who waits can be canceled;
// at its limit it fails with a dead letter.
func TestAHookThatIsNotReadySkipsFailsOrWaitsToBeCanceled(t *testing.T) {
	t.Parallel()
	a := newAx(t, plainAx.build(t))
	var never atomic.Bool
	hook, target := asked(t, &never), newSink(t, nil)
	a.prepare()
	a.start()
	a.task("skip", target.URL, hooks(map[string]any{"before": map[string]any{"url": hook.URL, "not_ready": "skip"}}))
	a.task("limit", target.URL, hooks(map[string]any{"before": map[string]any{"url": hook.URL, "every_seconds": 5, "limit_seconds": 5}}))
	a.task("cancel", target.URL, hooks(map[string]any{"before": map[string]any{"url": hook.URL, "every_seconds": 5}}))
	for _, code := range []string{"skip", "limit", "cancel"} {
		require.NoError(t, a.trigger(code, "b1", nil))
	}
	a.settles("skip", map[string]int{"skipped": 1}, 30*time.Second)
	require.Equal(t, "hook not ready: "+hook.URL+" answered 503 Service Unavailable: the day is not closed yet", a.instance("skip")["reason"])
	require.Eventually(t, func() bool { return a.instance("cancel")["hook"] != nil }, 20*time.Second, 100*time.Millisecond)
	a.call("POST", "/instances/"+a.instance("cancel")["id"].(string)+"/cancel", map[string]any{"reason": "no need"}, http.StatusOK)
	a.settles("limit", map[string]int{"failed": 1}, 60*time.Second)
	require.NotNil(t, a.instance("limit")["dead_letter"])
	require.Equal(t, "canceled", a.instance("cancel")["state"])
	a.verify()
	require.Empty(t, target.got())
}

// Channels hear of ends by their hooks, each once, a restart in between.
func TestAChannelHearsOfEachEndThatAHookNamesOnce(t *testing.T) {
	t.Parallel()
	a := newAx(t, failingAx.build(t, "-tags", "failpoint"))
	var well atomic.Bool
	target := asked(t, &well)
	robot := robottest.Webhook(t, robottest.Options{Key: hookKey, Plain: true})
	a.prepare()
	a.start()
	ch := a.call("POST", "/alerts/channels", map[string]any{"team": "default", "kind": "webhook", "name": "pager", "url": robot.URL, "key": hookKey}, http.StatusCreated)
	a.task("tells", target.URL, hooks(map[string]any{"after": []map[string]any{{"on": "failure", "channel": ch["id"]}, {"on": "change", "channel": ch["id"]}}}), func(w map[string]any) {
		w["policy"].(map[string]any)["retry"] = map[string]any{"max": 0}
	})
	heard := func(want ...string) {
		t.Helper()
		types := func() (out []string) {
			for _, g := range robot.Got() {
				out = append(out, g.Type)
			}
			return out
		}
		require.Eventually(t, func() bool { return len(types()) >= len(want) }, 60*time.Second, 50*time.Millisecond)
		require.Equal(t, want, types())
	}
	run := func(biz string, states map[string]int) {
		t.Helper()
		require.NoError(t, a.trigger("tells", biz, nil))
		a.settles("tells", states, 30*time.Second)
	}
	run("b1", map[string]int{"failed": 1})
	heard("run.failure")
	got := robot.Got()[0]
	require.Equal(t, "tells failed", got.Title)
	require.Contains(t, got.Plain, "answered 503 Service Unavailable: the day is not closed yet")
	require.True(t, strings.HasSuffix(strings.Join(got.Links, ""), "/instances/"+a.instance("tells")["id"].(string)), got.Links)
	a.kill()
	a.start("AX_FAILPOINT=hooks.found:1=kill")
	well.Store(true)
	require.NoError(t, a.trigger("tells", "b2", nil))
	a.dies() // with what it found untold
	a.start()
	a.settles("tells", map[string]int{"failed": 1, "succeeded": 1}, 30*time.Second)
	run("b3", map[string]int{"failed": 1, "succeeded": 2})
	heard("run.failure", "run.change")
	require.Equal(t, "tells succeeded again", robot.Got()[1].Title)
	time.Sleep(5 * time.Second) // two turns that look at the same ends again
	heard("run.failure", "run.change")
	status, _, err := a.tryCall("DELETE", "/alerts/channels/"+ch["id"].(string), nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusConflict, status, "its removal says who names it")
	a.verify()
}
