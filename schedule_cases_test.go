//go:build slow

package main

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/libtnb/sqlite"
	"github.com/stretchr/testify/require"
)

// one lets a task have a slot each second and one run at a time.
func one(w map[string]any) {
	everySecond(w)
	w["policy"].(map[string]any)["max_concurrent"] = 1
}

// OVER-01: the scheduler that planned a run is killed while a worker holds it:
// another scheduler's slots are skipped, and say by which instance.
func TestOVER01ALimitOutlivesTheScheduler(t *testing.T) {
	t.Parallel()
	a, _ := onServers(t, plainAx.build(t), "AX_ROLES=web,scheduler")
	release := make(chan struct{})
	s := newSink(t, func(sinkCall, http.ResponseWriter) { <-release })
	end := sync.OnceFunc(func() { close(release) })
	t.Cleanup(end)
	a.prepare()
	worker, other := a.beside(t, "AX_ROLES=web,worker"), a.beside(t, "AX_ROLES=web,scheduler")
	a.start()
	worker.start()
	a.task("long", s.URL, one, func(w map[string]any) { w["policy"].(map[string]any)["timeout_seconds"] = 120 })
	require.Eventually(t, func() bool { return len(s.got()) == 1 }, 30*time.Second, 50*time.Millisecond, &a.log)
	held := s.got()[0].Header.Get("Ax-Instance")
	a.kill()
	before := worker.states("long")["skipped"]
	other.start()
	require.Eventually(t, func() bool { return worker.states("long")["skipped"] >= before+5 }, 30*time.Second, 100*time.Millisecond, &other.log)
	require.Len(t, s.got(), 1, "one runs")
	for _, in := range worker.call("GET", "/instances?task=long&state=skipped&limit=200", nil, http.StatusOK)["items"].([]any) {
		require.Equal(t, "overlap: "+held+" has not ended", in.(map[string]any)["reason"])
	}
	end()
	require.Eventually(t, func() bool { return worker.states("long")["succeeded"] >= 2 }, 30*time.Second, 100*time.Millisecond, "its place is free again")
	other.verify()
}

// OVER-03: the worker that holds the one place is killed. The place is free
// when its node is known to be dead (three beats) and swept, though the run had
// a day of time.
func TestOVER03APlaceIsFreeSoonAfterItsWorkerIsKilled(t *testing.T) {
	t.Parallel()
	for name, idempotent := range map[string]bool{"the run is repeated": true, "the next slot runs": false} {
		t.Run(name, func(t *testing.T) {
			a, _ := onServers(t, plainAx.build(t), "AX_ROLES=web,scheduler")
			release := make(chan struct{})
			s := newSink(t, nil)
			first := true
			s.serve = func(sinkCall, http.ResponseWriter) {
				if s.mu.Lock(); first {
					first = false
					s.mu.Unlock()
					<-release
					return
				}
				s.mu.Unlock()
			}
			t.Cleanup(func() { close(release) })
			a.prepare()
			doomed, other := a.beside(t, "AX_ROLES=web,worker"), a.beside(t, "AX_ROLES=web,worker")
			a.start()
			doomed.start()
			a.task("held", s.URL, one, func(w map[string]any) {
				w["policy"].(map[string]any)["timeout_seconds"] = 86_400
				w["policy"].(map[string]any)["idempotent"] = idempotent
				onceOnly(w, idempotent)
			})
			require.Eventually(t, func() bool { return len(s.got()) == 1 }, 30*time.Second, 50*time.Millisecond, &a.log)
			other.start()
			doomed.kill()
			killed := time.Now()
			require.Eventually(t, func() bool { return len(s.got()) >= 2 }, 30*time.Second, 20*time.Millisecond, &a.log)
			took := s.got()[1].At.Sub(killed)
			t.Logf("free after %s; a beat is 300 ms, a sweep 200 ms, a slot each second", took.Round(time.Millisecond))
			require.Less(t, took, 10*time.Second)
			same := s.got()[0].key() == s.got()[1].key()
			require.Equal(t, idempotent, same, "only work that may be repeated is")
			a.call("POST", "/tasks/held/disable", map[string]any{}, http.StatusOK)
			want := 0
			if !idempotent {
				want = 1
			}
			require.Eventually(t, func() bool {
				states := a.states("held")
				return states["lost"] == want && states["running"]+states["queued"]+states["pending"] == 0
			}, 30*time.Second, 100*time.Millisecond, "%v", a.states("held"))
			a.verify()
		})
	}
}

// inAnEmptyRoot prepares ax as a static program in a folder that has nothing
// else, no zone files least of all.
func inAnEmptyRoot(t *testing.T) *ax {
	t.Helper()
	if os.Geteuid() != 0 {
		if os.Getenv("AX_TEST_REQUIRE") == "1" {
			t.Fatal("only root may change the root folder")
		}
		t.Skip("only root may change the root folder")
	}
	a := newAx(t, "/ax")
	a.root = t.TempDir()
	build := exec.Command("go", "build", "-trimpath", "-tags", "nomsgpack", "-o", filepath.Join(a.root, "ax"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, os.MkdirAll(filepath.Join(a.root, "tmp"), 0o700))
	a.env = append(a.env, "AX_DATA_DIR=/data", "ZONEINFO=", "GOROOT=/nowhere", "TMPDIR=/tmp")
	return a
}

// DST-11: zones come with the program. A zone that isn't known is refused; when
// one gets into the ledger all the same, its task is marked and the others run.
func TestDST11ZonesWorkWithoutZoneFiles(t *testing.T) {
	t.Parallel()
	a := inAnEmptyRoot(t)
	s := newSink(t, nil)
	a.prepare()
	a.start()
	inZone := func(zone string) func(map[string]any) {
		return func(w map[string]any) {
			everySecond(w)
			w["schedule"].(map[string]any)["timezone"] = zone
		}
	}
	a.task("shanghai", s.URL, inZone("Asia/Shanghai"))
	a.task("lord-howe", s.URL, inZone("Australia/Lord_Howe"))
	a.task("bad", s.URL, inZone("Asia/Tokyo"))
	status, answer, err := a.tryCall("POST", "/tasks", map[string]any{
		"code": "mars", "name": "mars", "team": "default", "target": map[string]any{"kind": "http", "url": s.URL},
		"schedule": map[string]any{"kind": "cron", "cron": "* * * * *", "timezone": "Mars/Base"},
		"policy":   map[string]any{"idempotent": true, "timeout_seconds": 10, "retry": map[string]any{"kind": "steps", "max": 0}},
	})
	require.NoError(t, err)
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Contains(t, fmtJSON(answer), "Mars/Base")
	preview := a.call("GET", "/schedules/preview?cron=30+2+*+*+*&timezone=America/New_York&from=2027-03-14T00:00:00Z&count=1", nil, http.StatusOK)
	require.Contains(t, fmtJSON(preview), "2027-03-14T07:00:00", "the clock change is known")

	ledger, err := sql.Open("sqlite", "file:"+filepath.Join(a.root, "data", "ax.db")+"?_pragma=busy_timeout(20000)&_txlock=immediate")
	require.NoError(t, err)
	defer ledger.Close()
	_, err = ledger.Exec("UPDATE tasks SET spec=REPLACE(spec, 'Asia/Tokyo', 'Mars/Base') WHERE code='bad'")
	require.NoError(t, err)
	var why string
	require.Eventually(t, func() bool {
		err := ledger.QueryRow("SELECT plan_error FROM tasks WHERE code='bad'").Scan(&why)
		return err == nil && why != ""
	}, 20*time.Second, 50*time.Millisecond)
	require.Contains(t, why, "Mars/Base")
	require.Contains(t, fmtJSON(a.call("GET", "/tasks/bad", nil, http.StatusOK)), "Mars/Base", "its page says so")
	for _, code := range []string{"shanghai", "lord-howe"} {
		done := a.states(code)["succeeded"]
		require.Eventually(t, func() bool { return a.states(code)["succeeded"] >= done+3 }, 20*time.Second, 100*time.Millisecond, "%s runs on: %s", code, &a.log)
	}
	require.False(t, strings.Contains(a.log.String(), "panic"))
	a.stop()
}

func fmtJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
