//go:build slow

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// worksLater is a target that answers 202; what it is told at /stop, it keeps.
func worksLater(t *testing.T, status func() int) (work, stop *sink) {
	work = newSink(t, func(_ sinkCall, w http.ResponseWriter) { w.WriteHeader(http.StatusAccepted) })
	stop = newSink(t, func(_ sinkCall, w http.ResponseWriter) { w.WriteHeader(status()) })
	return work, stop
}

// stops gives a task the address of a sink that is told.
func stops(at *sink) func(map[string]any) {
	return func(w map[string]any) {
		w["target"].(map[string]any)["http"] = map[string]any{"cancel_url": at.URL + "/stop"}
		w["policy"].(map[string]any)["retry"] = map[string]any{"max": 0}
	}
}

func always200() int { return http.StatusOK }

// word sends what a target says of a call to its receipt's address, or the one
// of progress.
func word(t *testing.T, c sinkCall, to string, body map[string]any) (int, map[string]any) {
	t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), "POST", strings.TrimSuffix(c.Header.Get("Ax-Receipt-Url"), "receipt")+to, bytes.NewReader(raw))
	require.NoError(t, err)
	req.Header.Set("Ax-Receipt-Token", c.Header.Get("Ax-Receipt-Token"))
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	var out map[string]any
	require.NoError(t, json.Unmarshal(answer, &out), string(answer))
	return resp.StatusCode, out
}

// only gives the only instance of a task, with all that is known of it.
func (a *ax) only(code string) map[string]any {
	a.t.Helper()
	items := a.call("GET", "/instances?task="+code, nil, http.StatusOK)["items"].([]any)
	require.Len(a.t, items, 1)
	return a.call("GET", "/instances/"+items[0].(map[string]any)["id"].(string), nil, http.StatusOK)
}

// A target that takes the work says how far it is, and its receipt ends it:
// all that a page shows, and nobody is told to stop.
func TestAcceptedWorkSaysHowFarItIsAndEndsByItsReceipt(t *testing.T) {
	t.Parallel()
	a := newAx(t, plainAx.build(t))
	work, stop := worksLater(t, always200)
	a.prepare()
	a.start()
	a.task("long", work.URL, stops(stop), func(w map[string]any) { w["policy"].(map[string]any)["heartbeat_seconds"] = 5 })
	require.NoError(t, a.trigger("long", "b1", nil))
	a.settles("long", map[string]int{"awaiting": 1}, 20*time.Second)
	c := work.got()[0]
	deadline := a.only("long")["receipt_deadline"]
	reader := a.signedIn()
	page := func() *goquery.Document { return reader.page("/instances/" + a.only("long")["id"].(string)) }
	for _, step := range []struct {
		percent int
		message string
	}{{10, "121 of 1,204 rows"}, {60, "723 of 1,204 rows 门店"}} {
		status, said := word(t, c, "progress", map[string]any{"percent": step.percent, "message": step.message})
		require.Equal(t, 200, status)
		require.Equal(t, map[string]any{"state": "awaiting", "already": false, "cancel": false, "stored": true}, said)
		shown := page()
		require.Equal(t, step.message, shown.Find("[data-test=message]").Text())
		require.Equal(t, strconv.Itoa(step.percent)+" %", shown.Find("[data-test=percent]").Text())
		time.Sleep(1100 * time.Millisecond)
		_, said = word(t, c, "progress", map[string]any{}) // a heartbeat
		require.Equal(t, true, said["stored"])
		time.Sleep(1100 * time.Millisecond)
	}
	require.Greater(t, a.only("long")["receipt_deadline"], deadline, "signs of life put the end off")
	status, got := word(t, c, "receipt", map[string]any{"outcome": "succeeded", "message": "1,204 rows"})
	require.Equal(t, 200, status)
	require.Equal(t, map[string]any{"state": "succeeded", "already": false}, got)
	in := a.only("long")
	require.Equal(t, "succeeded", in["state"])
	require.Nil(t, in["cancel_call"])
	require.Empty(t, stop.got())
	a.verify()
}

// Silence beyond the heartbeat ends it, and the target is told; so is one whose
// work somebody cancels.
func TestATargetIsToldThatItsWorkIsOver(t *testing.T) {
	t.Parallel()
	a := newAx(t, plainAx.build(t))
	first := true
	work, stop := worksLater(t, func() int { // called one after another
		if first {
			first = false
			return http.StatusServiceUnavailable
		}
		return http.StatusNoContent
	})
	a.prepare()
	a.start()
	a.task("silent", work.URL, stops(stop), func(w map[string]any) { w["policy"].(map[string]any)["heartbeat_seconds"] = 5 })
	require.NoError(t, a.trigger("silent", "b1", nil))
	a.settles("silent", map[string]int{"timed_out": 1}, 30*time.Second)
	require.Eventually(t, func() bool { return len(stop.got()) == 2 }, 20*time.Second, 50*time.Millisecond, &a.log)
	for _, c := range stop.got() {
		assert.Equal(t, "silent/b1:cancel", c.key())
		assert.Equal(t, map[string]any{"instance_id": a.only("silent")["id"], "task": "silent", "biz_id": "b1", "attempt": 1.0, "reason": "timed_out"}, c.Body)
		assert.NotEmpty(t, c.Header.Get("Ax-Signature"))
	}
	told := func(code string) map[string]any {
		call, _ := a.only(code)["cancel_call"].(map[string]any)
		return call
	}
	require.Eventually(t, func() bool { return told("silent")["state"] == "told" }, 10*time.Second, 50*time.Millisecond)
	require.Equal(t, 2.0, told("silent")["tries"])
	require.Equal(t, 204.0, told("silent")["status_code"])
	page := a.signedIn().page("/instances/" + a.only("silent")["id"].(string))
	require.Equal(t, "it answered 204, after 2 tries", page.Find("[data-test=told]").Text())

	a.task("unwanted", work.URL, stops(stop))
	require.NoError(t, a.trigger("unwanted", "b1", nil))
	a.settles("unwanted", map[string]int{"awaiting": 1}, 20*time.Second)
	a.call("POST", "/instances/"+a.only("unwanted")["id"].(string)+"/cancel", map[string]any{"reason": "not needed"}, http.StatusOK)
	require.Eventually(t, func() bool { return len(stop.got()) == 3 }, 20*time.Second, 50*time.Millisecond, &a.log)
	require.Equal(t, "canceled", stop.got()[2].Body["reason"])
	require.NotEmpty(t, stop.got()[2].Body["by"])
	require.Equal(t, "canceled", a.only("unwanted")["state"])
	a.verify()
}

// A process that dies with a cancel call in its hands leaves it to the next
// one: told at least once, under one key, and nothing else is touched.
func TestAKillAtACancelCallTellsTheTargetAllTheSame(t *testing.T) {
	bin := failingAx.build(t, "-tags", "failpoint")
	for place, calls := range map[string]int{"cancel.taken": 1, "cancel.told": 2} {
		t.Run(place, func(t *testing.T) {
			a, _ := onServers(t, bin)
			work, stop := worksLater(t, always200)
			a.prepare()
			a.start("AX_FAILPOINT=" + place)
			a.task("over", work.URL, stops(stop))
			require.NoError(t, a.trigger("over", "b1", nil))
			a.settles("over", map[string]int{"awaiting": 1}, 20*time.Second)
			a.call("POST", "/instances/"+a.only("over")["id"].(string)+"/cancel", map[string]any{"reason": "not needed"}, http.StatusOK)
			a.dies()
			require.Len(t, stop.got(), calls-1)
			_, err := a.sql().Exec("UPDATE cancel_calls SET due_at=1 WHERE due_at IS NOT NULL") // its lease, half a minute
			require.NoError(t, err)
			a.start()
			require.Eventually(t, func() bool { return len(stop.got()) == calls }, 20*time.Second, 50*time.Millisecond, &a.log)
			require.Equal(t, map[string]int{"over/b1:cancel": calls}, stop.perKey())
			require.Equal(t, "canceled", a.only("over")["state"])
			a.verify()
		})
	}
}
