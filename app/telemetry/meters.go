package telemetry

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"ax/app/sched"
)

// meters are what this process counts of its own work. Their labels are closed
// sets: loops, outcomes, routes; docs/telemetry.md has the table.
type meters struct {
	turns    *prometheus.CounterVec
	turned   *prometheus.GaugeVec
	planned  *prometheus.CounterVec
	handed   *prometheus.CounterVec
	attempts *prometheus.HistogramVec
	lag      prometheus.Histogram
	requests *prometheus.HistogramVec
	spans    *prometheus.CounterVec
}

func newMeters() meters {
	lag := []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 3600}
	took := []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 3600}
	answered := []float64{.005, .025, .1, .25, 1, 5}
	m := meters{
		turns:    counters("ax_loop_turns_total", "Turns of a loop of this process.", "loop", "result"),
		turned:   prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "ax_loop_success_timestamp_seconds", Help: "When a loop of this process last ended a turn without an error."}, []string{"loop"}),
		planned:  counters("ax_planned_total", "What this process planned: tasks looked at, instances made, slots missed, tasks that failed.", "what"),
		handed:   counters("ax_handed_over_total", "Messages that this process sent to the carrier.", "result"),
		attempts: histograms("ax_attempt_seconds", "How long attempts of this process took, by outcome.", took, "outcome"),
		lag:      prometheus.NewHistogram(prometheus.HistogramOpts{Name: "ax_start_lag_seconds", Help: "From the moment wanted to the call of the first attempt, in this process.", Buckets: lag}),
		requests: histograms("ax_http_request_seconds", "How long this process took to answer requests of the console and the API.", answered, "method", "route", "status"),
		spans:    counters("ax_trace_spans_total", "Spans of this process; what is made and neither sent nor failed waits or was dropped.", "result"),
	}
	// A series that begins with its first event hides that event from rates.
	for _, what := range []string{"tasks", "instances", "missed", "failed"} {
		m.planned.WithLabelValues(what)
	}
	for _, result := range []string{"sent", "failed"} {
		m.handed.WithLabelValues(result)
	}
	for _, o := range []sched.Outcome{sched.OutcomeSucceeded, sched.OutcomeAccepted, sched.OutcomeFailed, sched.OutcomeTimedOut, sched.OutcomeCanceled} {
		m.attempts.WithLabelValues(string(o))
	}
	for _, result := range []string{"made", "sent", "failed"} {
		m.spans.WithLabelValues(result)
	}
	return m
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

func (m meters) all() []prometheus.Collector {
	return []prometheus.Collector{m.turns, m.turned, m.planned, m.handed, m.attempts, m.lag, m.requests, m.spans}
}

// class is the class of a status, such as 2xx.
func class(status int) string { return strconv.Itoa(status/100) + "xx" }
