package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ax/app/sched"
)

// Options of New; all are required.
type Options struct {
	Config
	Log         *slog.Logger
	Version     string           // of ax
	Node        string           // who this process is, such as host:pid
	Environment string           // the installation's name; may be ""
	Now         func() time.Time // the process's own clock, for durations
	Ledger      func() time.Time // the ledger's, which says how late a start is
}

// Telemetry is one process's. It is safe for concurrent use.
type Telemetry struct {
	o      Options
	meters meters
	spans  *spans // nil: off
}

// New makes it. Without an endpoint nothing is sent, connected or running.
func New(o Options) (*Telemetry, error) {
	t := &Telemetry{o: o, meters: newMeters()}
	if !o.On() {
		return t, nil
	}
	var err error
	if t.spans, err = newSpans(o, t.meters.spans); err != nil {
		return nil, fmt.Errorf("switch traces on: %w", err)
	}
	return t, nil
}

// closeLimit bounds what the end of a process waits for the collector.
const closeLimit = 3 * time.Second

// Close sends what is left, for 3 s at most.
func (t *Telemetry) Close() {
	if t.spans == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	if err := t.spans.provider.Shutdown(ctx); err != nil {
		t.o.Log.Warn("the last spans were not sent", "error", err)
	}
}

// Collectors are this process's own figures, for /metrics.
func (t *Telemetry) Collectors() []prometheus.Collector { return t.meters.all() }

// Sampled tells whether the instance's trace is recorded: all nodes say the
// same. nil when traces are off.
func (t *Telemetry) Sampled() func(instanceID string) bool {
	if t.spans == nil {
		return nil
	}
	return t.spans.records
}

// records tells whether spans of the instance are made.
func (s *spans) records(instanceID string) bool {
	return s != nil && s.ratio.takes(sched.TraceID(instanceID))
}
