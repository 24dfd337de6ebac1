//go:build slow

package main

import (
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A worker that is told to stop, or killed, in the middle of a call of work
// that must not be done twice: the target gets it once, whoever comes after.
// What ended in the worker's time is as it ended; of what did not, nobody can
// know, and a person decides (RETRY-03).
func TestAWorkerThatStopsInACallNeverSendsNonIdempotentWorkTwice(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		grace time.Duration
		end   func(w *ax)
		ends  bool // the call ends a second after the worker was told
		state string
	}{
		"SIGTERM, and the call ends within the grace": {15 * time.Second, terminate, true, "succeeded"},
		"SIGTERM, and the call outlasts the grace":    {time.Second, terminate, false, "lost"},
		"kill -9": {15 * time.Second, (*ax).kill, false, "lost"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, _ := onServers(t, plainAx.build(t), "AX_ROLES=web,scheduler")
			release := make(chan struct{})
			s := newSink(t, func(sinkCall, http.ResponseWriter) { <-release })
			t.Cleanup(func() {
				if !c.ends {
					close(release)
				}
			})
			a.prepare()
			stopped, other := a.beside(t, "AX_ROLES=web,worker", "AX_WORKER_SHUTDOWN_GRACE="+c.grace.String()), a.beside(t, "AX_ROLES=web,worker")
			a.start()
			stopped.start()
			a.task("once", s.URL, func(w map[string]any) {
				p := w["policy"].(map[string]any)
				p["idempotent"], p["timeout_seconds"] = false, 60
				p["retry"].(map[string]any)["unsafe"] = true // even where retries are allowed: this end is not definite
			})
			require.NoError(t, a.trigger("once", "b1", nil))
			require.Eventually(t, func() bool { return len(s.got()) == 1 }, 20*time.Second, 20*time.Millisecond, &stopped.log)
			other.start()
			if c.ends {
				time.AfterFunc(time.Second, func() { close(release) })
			}
			c.end(stopped)
			a.settles("once", map[string]int{c.state: 1}, 40*time.Second)
			time.Sleep(3 * time.Second) // retries are due after one
			require.Len(t, s.got(), 1, "one request, whatever became of it")
			a.settles("once", map[string]int{c.state: 1}, 5*time.Second)
			requireLetterOf(t, a, c.state == "lost")
			a.verify()
		})
	}
}

// terminate sends SIGTERM and waits for the end.
func terminate(w *ax) {
	require.NoError(w.t, w.cmd.Process.Signal(syscall.SIGTERM))
	w.dies()
}

// requireLetterOf requires the only instance to say plainly that nobody knows,
// with a dead letter for a person; or that nothing is open.
func requireLetterOf(t *testing.T, a *ax, want bool) {
	t.Helper()
	in := a.call("GET", "/instances?task=once", nil, http.StatusOK)["items"].([]any)[0].(map[string]any)
	whole := a.call("GET", "/instances/"+in["id"].(string), nil, http.StatusOK)
	require.Len(t, whole["attempts"], 1)
	require.Equal(t, want, whole["dead_letter"] != nil)
	if want {
		require.Contains(t, in["error"], "whether the target did the work is not known")
	}
}
