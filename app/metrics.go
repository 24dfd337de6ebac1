package app

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
)

const (
	// metricsFor is how long figures are given to scrapes before they are read
	// anew.
	metricsFor = 5 * time.Second
	// metricsLimit bounds what a scrape waits for the ledger and Redis.
	metricsLimit = 5 * time.Second
	// metricsAtOnce is how many scrapes are answered at a time.
	metricsAtOnce = 4
)

// MetricsOptions are the parts of NewMetrics. All but Beats are required.
type MetricsOptions struct {
	Log     *slog.Logger
	Version string
	Clock   func() time.Time // the ledger's now
	Beats   sched.Pulse      // zero: sched.DefaultPulse
	Reports *sched.Reports
	Queues  queues
}

// NewMetrics makes the handler of /metrics: this process's own figures and
// those of the whole installation, which every node gives alike. It asks
// nobody who they are, so it belongs on a listener of its own; labels are
// states and queues, never tasks, teams or people.
func NewMetrics(o MetricsOptions) (http.Handler, error) {
	for name, missing := range map[string]bool{
		"Log": o.Log == nil, "Clock": o.Clock == nil, "Reports": o.Reports == nil, "Queues": o.Queues == nil,
	} {
		if missing {
			return nil, fmt.Errorf("app.NewMetrics: %s is missing", name)
		}
	}
	o.Beats = cmp.Or(o.Beats, sched.DefaultPulse())
	registry := prometheus.NewRegistry()
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "ax_build_info", Help: "1; the labels say what runs.",
		ConstLabels: prometheus.Labels{"version": o.Version, "goversion": runtime.Version()},
	})
	build.Set(1)
	for _, c := range []prometheus.Collector{
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), build, &gauges{o: o},
	} {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelWarn), MaxRequestsInFlight: metricsAtOnce,
	}))
	return mux, nil
}

// gauges read the installation's figures when they are scraped.
type gauges struct {
	o    MetricsOptions
	read recent[gaugeFacts]
}

// gaugeFacts are the figures of one moment.
type gaugeFacts struct {
	now       time.Time
	ledgerUp  bool
	redisUp   bool
	dashboard sched.Dashboard
	queues    []QueueInfo
}

// facts gives what is at most 5 s old. That the ledger is away is a fact too.
func (g *gauges) facts() gaugeFacts {
	now := g.o.Clock()
	f, _ := g.read.get("", now, metricsFor, func() (gaugeFacts, error) {
		// A collector is given no context.
		ctx, cancel := context.WithTimeout(context.Background(), metricsLimit)
		defer cancel()
		f := gaugeFacts{now: now}
		var err error
		if f.dashboard, err = g.o.Reports.Dashboard(ctx, access.Scope{All: true}); err != nil {
			g.o.Log.Warn("metrics without the ledger's figures", "error", err)
			return f, nil
		}
		f.ledgerUp = true
		f.queues, err = g.o.Queues.List(ctx)
		if f.redisUp = err == nil; err != nil && fault.KindOf(err) != fault.KindUnavailable {
			g.o.Log.Warn("metrics without the queues", "error", err)
		}
		return f, nil
	})
	return f
}
