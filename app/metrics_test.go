package app_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app"
)

func (h *house) metrics(change func(*app.MetricsOptions)) http.Handler {
	h.t.Helper()
	o := app.MetricsOptions{Log: h.opt.Log, Version: "1.2.3", Clock: h.opt.Clock, Reports: h.opt.Reports, Figures: h.ledger, Queues: h.opt.Queues}
	if change != nil {
		change(&o)
	}
	m, err := app.NewMetrics(o)
	require.NoError(h.t, err)
	return m
}

// scrape gives the samples of ax by their name and labels.
func scrape(t *testing.T, m http.Handler) map[string]string {
	t.Helper()
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	out := map[string]string{}
	for line := range strings.Lines(w.Body.String()) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "} "); ok && strings.HasPrefix(line, "ax_") {
			out[name+"}"] = value
		} else if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.HasPrefix(line, "ax_") {
			out[name] = value
		}
	}
	return out
}

func TestMetricsGiveTheInstallationsFigures(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.nowadays()
	// What ended in the minute of the first look counts: it must not turn
	// between the end and the look.
	h.forward(h.local().Truncate(time.Minute).Add(80 * time.Second).Sub(h.local()))
	h.task("orders.send")
	h.queues = []app.QueueInfo{{Name: "default", Due: 7, Pending: 5, Active: 2, Paused: true, Latency: 3 * time.Second}}
	h.run(h.trigger("orders.send", "o-1").ID, ok())
	h.letter("orders.send", "o-2", "no luck")
	h.trigger("orders.send", "o-3")
	h.forward(8 * time.Second)
	h.rolled()
	got := scrape(t, h.metrics(nil))
	for name, want := range map[string]string{
		`ax_ledger_up`: "1", `ax_redis_up`: "1",
		`ax_instances{state="pending"}`: "0", `ax_instances{state="queued"}`: "1", `ax_instances{state="running"}`: "0",
		`ax_instances{state="awaiting"}`: "0", `ax_instances{state="retrying"}`: "0",
		`ax_late`: "1", `ax_late_seconds_max`: "8",
		`ax_queue_due{queue="default"}`: "7", `ax_queue_pending{queue="default"}`: "5", `ax_queue_active{queue="default"}`: "2",
		`ax_queue_paused{queue="default"}`: "1", `ax_queue_oldest_seconds{queue="default"}`: "3",
		`ax_clock_steady`:                        "1",
		`ax_dead_letters_open`:                   "1",
		`ax_trigger_lag_seconds{quantile="0.5"}`: "0", `ax_trigger_lag_seconds{quantile="0.99"}`: "0",
		`ax_ended_total{outcome="succeeded",team="payments"}`: "1", `ax_ended_total{outcome="failed",team="payments"}`: "1",
		`ax_success_ratio_1h`: "0.5", `ax_ended_1h{result="succeeded"}`: "1", `ax_ended_1h{result="bad"}`: "1",
		`ax_nodes{state="alive"}`: "1", `ax_nodes{state="draining"}`: "0", `ax_nodes{state="silent"}`: "0", `ax_nodes{state="dead"}`: "0",
		`ax_nodes_role{role="web"}`: "0", `ax_nodes_role{role="scheduler"}`: "0", `ax_nodes_role{role="worker"}`: "1",
		`ax_incidents_firing{level="p1"}`: "0", `ax_incidents_firing{level="p2"}`: "0",
		`ax_deliveries_waiting`: "0", `ax_deliveries_oldest_seconds`: "0", `ax_deliveries_refused_1h`: "0",
		`ax_places`: "10", `ax_places_busy`: "0", `ax_clock_offset_seconds_max`: "0",
	} {
		require.Equal(t, want, got[name], name)
		delete(got, name)
	}
	require.Contains(t, got, "ax_rollup_delay_seconds")
	delete(got, "ax_rollup_delay_seconds")
	for name, v := range got {
		if strings.HasPrefix(name, "ax_ended_total{") {
			require.Equal(t, "0", v, "in the minute of the first look: %s", name)
			delete(got, name)
		}
	}
	require.Len(t, got, 1, "anything new belongs into this test")
	for name := range got {
		require.Regexp(t, `^ax_build_info\{goversion="go[^"]+",version="1\.2\.3"\}$`, name)
	}
}

func TestMetricsNameNoTaskOrPerson(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	h.letter("orders.send", "o-2", "no luck")
	h.as("operator")
	w := httptest.NewRecorder()
	h.metrics(nil).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.NotRegexp(t, regexp.MustCompile(`orders|operator|no luck|o-2|node-1`), w.Body.String())
	require.Contains(t, w.Body.String(), "go_goroutines")
	require.Contains(t, w.Body.String(), "process_open_fds")
}

func TestMetricsLeaveOutWhatCanNotBeKnown(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	got := scrape(t, h.metrics(nil))
	require.NotContains(t, got, "ax_success_ratio_1h", "nothing ended: there is no ratio")
	require.NotContains(t, got, `ax_trigger_lag_seconds{quantile="0.5"}`)

	got = scrape(t, h.metrics(func(o *app.MetricsOptions) { o.Queues = noRedis{} }))
	require.Equal(t, "0", got["ax_redis_up"])
	require.Equal(t, "7", got[`ax_queue_due{queue="default"}`], "the ledger knows")
	require.NotContains(t, got, `ax_queue_pending{queue="default"}`)

	require.NoError(t, h.ledger.Close())
	got = scrape(t, h.metrics(nil))
	require.Equal(t, "0", got["ax_ledger_up"])
	require.Len(t, got, 3, "the version, the clock and that the ledger is away: %v", got)
}

func TestScrapesCloseTogetherReadTheLedgerOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	m := h.metrics(nil)
	require.Equal(t, "0", scrape(t, m)[`ax_instances{state="queued"}`])
	h.trigger("orders.send", "o-1")
	require.Equal(t, "0", scrape(t, m)[`ax_instances{state="queued"}`])
	h.forward(5 * time.Second)
	require.Equal(t, "1", scrape(t, m)[`ax_instances{state="queued"}`])
}

func TestTheMetricsListenerServesNothingElse(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	l, err := app.ListenMetrics("127.0.0.1:0", h.metrics(nil), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	for path, want := range map[string]int{"/metrics": 200, "/": 404, "/tasks": 404, "/debug/pprof/": 404} {
		res, err := http.Get("http://" + l.Addr() + path)
		require.NoError(t, err)
		_, _ = io.Copy(io.Discard, res.Body)
		require.NoError(t, res.Body.Close())
		require.Equal(t, want, res.StatusCode, path)
	}
	_, err = app.ListenMetrics(l.Addr(), nil, slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, "listen on metrics.addr")
	require.NoError(t, l.Close())
	_, err = app.NewMetrics(app.MetricsOptions{})
	require.ErrorContains(t, err, "is missing")
}
