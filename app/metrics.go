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
	"ax/app/alert"
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

// figures are what metrics read of the ledger besides the dashboard's.
type figures interface {
	EndedByTeam(ctx context.Context, from, to time.Time) ([]sched.TeamEnds, error)
	RolledUp(ctx context.Context) (time.Time, error)
	AlertFigures(ctx context.Context, now time.Time) (alert.Figures, error)
}

// MetricsOptions are the parts of NewMetrics. All but Beats, Steady and Own are
// required.
type MetricsOptions struct {
	Log     *slog.Logger
	Version string
	Clock   func() time.Time // the ledger's now
	Steady  func() bool      // the clock is to be trusted; nil: it is
	Beats   sched.Pulse      // zero: sched.DefaultPulse
	Reports *sched.Reports
	Figures figures
	Queues  queues
	Own     []prometheus.Collector // of this process's own work
}

// NewMetrics makes the handler of /metrics: this process's own figures and
// those of the whole installation, which every node gives alike. It asks
// nobody who they are, so it belongs on a listener of its own; labels are
// closed sets and the codes of teams, never tasks or people.
func NewMetrics(o MetricsOptions) (http.Handler, error) {
	for name, missing := range map[string]bool{
		"Log": o.Log == nil, "Clock": o.Clock == nil, "Reports": o.Reports == nil, "Figures": o.Figures == nil, "Queues": o.Queues == nil,
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
	for _, c := range append([]prometheus.Collector{
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), build, &gauges{o: o},
	}, o.Own...) {
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
	ends teamEnds
}

// gaugeFacts are the figures of one moment. A metric of something new has its
// figure here, is read in readLedger, and stands as a row in a table of
// metrics_gauges.go and in docs/telemetry.md.
type gaugeFacts struct {
	now       time.Time
	beats     sched.Pulse
	steady    bool
	ledgerUp  bool
	redisUp   bool
	dashboard sched.Dashboard
	queues    []QueueInfo
	rolled    time.Time
	alerts    alert.Figures
	ends      []sample // by team and outcome, since this process first looked
}

// facts gives what is at most 5 s old. That the ledger is away is a fact too.
func (g *gauges) facts() gaugeFacts {
	now := g.o.Clock()
	f, _ := g.read.get("", now, metricsFor, func() (gaugeFacts, error) {
		// A collector is given no context.
		ctx, cancel := context.WithTimeout(context.Background(), metricsLimit)
		defer cancel()
		f := gaugeFacts{now: now, beats: g.o.Beats, steady: g.o.Steady == nil || g.o.Steady()}
		if err := g.readLedger(ctx, &f); err != nil {
			g.o.Log.Warn("metrics without the ledger's figures", "error", err)
			return f, nil
		}
		f.ledgerUp = true
		var err error
		f.queues, err = g.o.Queues.List(ctx)
		if f.redisUp = err == nil; err != nil && fault.KindOf(err) != fault.KindUnavailable {
			g.o.Log.Warn("metrics without the queues", "error", err)
		}
		return f, nil
	})
	return f
}

func (g *gauges) readLedger(ctx context.Context, f *gaugeFacts) (err error) {
	if f.dashboard, err = g.o.Reports.Dashboard(ctx, access.Scope{All: true}); err != nil {
		return err
	}
	if f.rolled, err = g.o.Figures.RolledUp(ctx); err != nil {
		return err
	}
	if f.alerts, err = g.o.Figures.AlertFigures(ctx, f.now); err != nil {
		return err
	}
	f.ends, err = g.ends.at(ctx, f.now, g.o.Figures)
	return err
}
