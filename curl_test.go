//go:build slow

package main

import (
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func readAll(resp *http.Response) string {
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// With nothing but HTTP and the command line: one biz_id is one instance, a
// failing callback is tried with the delays set and ends in the dead letters,
// and a replay carries the same key and closes the letter.
func TestTheStoryByHTTPAlone(t *testing.T) {
	t.Parallel()
	eachCarrier(t, plainAx.build(t), func(t *testing.T, a *ax) {
		var broken atomic.Bool
		s := newSink(t, func(_ sinkCall, w http.ResponseWriter) {
			if broken.Load() {
				w.WriteHeader(http.StatusInternalServerError)
			}
		})
		require.Equal(t, "created ada", a.say("a long enough password\n", "user", "create", "--admin", "--login", "ada", "--password-stdin"))
		a.prepare()
		a.start()
		a.task("story", s.URL, func(w map[string]any) {
			w["payload"] = map[string]any{"order": 7}
			w["policy"].(map[string]any)["retry"] = map[string]any{"kind": "steps", "max": 2, "delays_seconds": []int{1, 3}}
		})

		first := a.call("POST", "/tasks/story/trigger", map[string]any{"biz_id": "once"}, http.StatusAccepted)
		again := a.call("POST", "/tasks/story/trigger", map[string]any{"biz_id": "once"}, http.StatusOK)
		require.Equal(t, first["id"], again["id"])
		a.settles("story", map[string]int{"succeeded": 1}, 30*time.Second)
		calls := s.got()
		require.Len(t, calls, 1)
		h := calls[0].Header
		require.Equal(t, "story/once", h.Get("Idempotency-Key"))
		require.Equal(t, first["id"], h.Get("Ax-Instance"))
		for _, name := range []string{"Ax-Attempt", "Ax-Replay", "Ax-Timestamp", "Ax-Signature", "Traceparent", "Ax-Receipt-Url", "Ax-Receipt-Token"} {
			require.NotEmpty(t, h.Get(name), name)
		}
		require.Equal(t, map[string]any{"order": 7.0}, calls[0].Body["payload"])
		require.Equal(t, "once", calls[0].Body["biz_id"])

		broken.Store(true)
		a.call("POST", "/tasks/story/trigger", map[string]any{"biz_id": "fails"}, http.StatusAccepted)
		a.settles("story", map[string]int{"succeeded": 1, "failed": 1}, 60*time.Second)
		calls = s.got()[1:]
		require.Len(t, calls, 3, "one attempt and two retries")
		assert.GreaterOrEqual(t, calls[1].At.Sub(calls[0].At), 990*time.Millisecond, "never before its delay")
		assert.GreaterOrEqual(t, calls[2].At.Sub(calls[1].At), 2990*time.Millisecond, "never before its delay")

		letters := a.call("GET", "/dead-letters", nil, http.StatusOK)["items"].([]any)
		require.Len(t, letters, 1)
		letter := letters[0].(map[string]any)
		require.Equal(t, "open", letter["status"])
		path := "/dead-letters/" + jsonID(letter["id"])
		broken.Store(false)
		a.call("POST", path+"/replay", map[string]any{"reason": "fixed"}, http.StatusAccepted)
		a.settles("story", map[string]int{"succeeded": 2, "failed": 1}, 30*time.Second)
		require.Equal(t, "solved", a.call("GET", path, nil, http.StatusOK)["status"])
		last := s.got()[4]
		require.Equal(t, "story/fails", last.key(), "the same key")
		require.Equal(t, "1", last.Header.Get("Ax-Replay"))
		a.stop()
		a.verify()
	})
}
