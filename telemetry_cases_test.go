//go:build slow

package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/telemetry/collectortest"
)

// byName sorts the spans of a trace.
func byName(c *collectortest.Collector, trace string) map[string][]collectortest.Span {
	out := map[string][]collectortest.Span{}
	for _, s := range c.Spans() {
		if s.Trace == trace {
			out[s.Name] = append(out[s.Name], s)
		}
	}
	return out
}

// One run that is asked for of one process, planned by another and called by a
// third is one trace, and its target is told the span of its own call.
func TestATraceIsOneAcrossProcesses(t *testing.T) {
	c := collectortest.Start(t)
	a, _ := onServers(t, plainAx.build(t), "AX_ROLES=web", "AX_TRACING_ENDPOINT="+c.URL)
	failing := true
	s := newSink(t, func(_ sinkCall, w http.ResponseWriter) {
		if failing {
			failing = false
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	a.prepare()
	scheduler, worker := a.beside(t, "AX_ROLES=web,scheduler"), a.beside(t, "AX_ROLES=web,worker")
	for _, p := range []*ax{a, scheduler, worker} {
		p.start()
	}
	a.task("traced", s.URL)
	req, err := http.NewRequest("POST", "http://"+a.addr+"/api/v1/tasks/traced/trigger", strings.NewReader("{}"))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+a.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, http.StatusAccepted, resp.StatusCode)
	id := filepath.Base(resp.Header.Get("Location"))
	a.settles("traced", map[string]int{"succeeded": 1}, 30*time.Second)

	trace := strings.ReplaceAll(id, "-", "")
	require.Eventually(t, func() bool {
		got := byName(c, trace)
		return len(got["settle"]) == 2 && len(got["hand over"]) > 0 && len(got["POST /api/v1/tasks/:code/trigger"]) == 1
	}, 20*time.Second, 50*time.Millisecond)
	got := byName(c, trace)
	first := got["POST /api/v1/tasks/:code/trigger"][0]
	require.Empty(t, first.Parent)
	require.Equal(t, []string{"4bf92f3577b34da6a3ce929d0e0e4736"}, first.Links)
	nodes := map[string]bool{first.Node: true}
	for _, name := range []string{"hand over", "attempt"} {
		for _, x := range got[name] {
			require.Equal(t, first.ID, x.Parent, name)
			nodes[x.Node] = true
		}
	}
	require.Len(t, nodes, 2, "web and worker")
	calls := s.got()
	require.Len(t, calls, 2)
	require.Len(t, got["call"], 2)
	for i, x := range got["call"] {
		require.Equal(t, "00-"+trace+"-"+x.ID+"-01", calls[i].Header.Get("Traceparent"))
	}
	require.True(t, got["call"][0].Bad)
	require.False(t, got["call"][1].Bad)

	a.task("tick", s.URL, everySecond)
	require.Eventually(t, func() bool {
		for _, p := range c.Spans() {
			if slot := byName(c, p.Trace); p.Name == "plan" && len(slot["settle"]) == 1 {
				return slot["attempt"][0].Parent == p.ID && slot["attempt"][0].Node != p.Node
			}
		}
		return false
	}, 30*time.Second, 100*time.Millisecond, "a slot: planned by the scheduler, called by the worker")
}

// A collector that takes nothing slows no run, and one that isn't configured is
// not found by the variables of the library either.
func TestRunsGoOnWhateverTheCollectorDoes(t *testing.T) {
	t.Parallel()
	c := collectortest.Start(t)
	c.Answer(http.StatusServiceUnavailable)
	a := newAx(t, plainAx.build(t), "AX_TRACING_ENDPOINT="+c.URL)
	s := newSink(t, nil)
	a.prepare()
	a.start()
	a.task("traced", s.URL)
	for i := range 50 {
		require.NoError(t, a.trigger("traced", fmt.Sprint("b", i), nil))
	}
	a.settles("traced", map[string]int{"succeeded": 50}, 30*time.Second)
	require.Eventually(t, func() bool { return c.Visits() > 0 }, 20*time.Second, 50*time.Millisecond)
	require.Eventually(t, func() bool { return strings.Contains(a.log.String(), "traces are not sent") }, 30*time.Second, 100*time.Millisecond)
	a.stop()
	a.verify()

	a.env = append(a.env, "AX_TRACING_ENDPOINT=", "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL)
	visits := c.Visits()
	a.start()
	require.NoError(t, a.trigger("traced", "off", nil))
	a.settles("traced", map[string]int{"succeeded": 51}, 30*time.Second)
	a.stop()
	require.Equal(t, visits, c.Visits())
}
