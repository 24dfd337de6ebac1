package telemetry

import (
	"database/sql"

	"github.com/prometheus/client_golang/prometheus"
)

// poolMeters tell of the connections to the database.
type poolMeters struct {
	read                     func() map[string]sql.DBStats
	conns, most, waits, wait *prometheus.Desc
}

// Pools tells how pools of connections are used; read gives them by name.
func Pools(read func() map[string]sql.DBStats) prometheus.Collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, append([]string{"pool"}, labels...), nil)
	}
	return poolMeters{
		read:  read,
		conns: desc("ax_db_connections", "Connections of this process to the database, by pool.", "state"),
		most:  desc("ax_db_connections_max", "The most that a pool may have; 0: no bound."),
		waits: desc("ax_db_waits_total", "Statements that waited for a connection."),
		wait:  desc("ax_db_wait_seconds_total", "How long they waited, together."),
	}
}

// Describe makes poolMeters a prometheus.Collector.
func (p poolMeters) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{p.conns, p.most, p.waits, p.wait} {
		out <- d
	}
}

// Collect makes poolMeters a prometheus.Collector.
func (p poolMeters) Collect(out chan<- prometheus.Metric) {
	for pool, s := range p.read() {
		out <- prometheus.MustNewConstMetric(p.conns, prometheus.GaugeValue, float64(s.InUse), pool, "busy")
		out <- prometheus.MustNewConstMetric(p.conns, prometheus.GaugeValue, float64(s.Idle), pool, "idle")
		out <- prometheus.MustNewConstMetric(p.most, prometheus.GaugeValue, float64(s.MaxOpenConnections), pool)
		out <- prometheus.MustNewConstMetric(p.waits, prometheus.CounterValue, float64(s.WaitCount), pool)
		out <- prometheus.MustNewConstMetric(p.wait, prometheus.CounterValue, s.WaitDuration.Seconds(), pool)
	}
}
