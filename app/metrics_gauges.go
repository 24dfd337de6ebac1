package app

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"ax/app/alert"
	"ax/app/sched"
)

// gauge describes one metric of the installation; of gives its values. What
// can't be known gives none: a gap is honest, a zero is not.
type gauge struct {
	name, help string
	labels     string // separated by spaces; "" for none
	of         func(f gaugeFacts) []sample
}

// sample is a value; labels are separated by keySplitter.
type sample struct {
	labels string
	v      float64
}

// gaugeTable is every metric of the installation. Names and labels are read by
// other people's dashboards: don't change one lightly.
func gaugeTable() []gauge {
	return slices.Concat(upGauges(), workGauges(), resultGauges(), alertGauges(), nodeGauges())
}

func upGauges() []gauge {
	return []gauge{
		{"ax_ledger_up", "1 when the database answered this node.", "", func(f gaugeFacts) []sample { return truth(f.ledgerUp) }},
		{"ax_redis_up", "1 when Redis answered this node.", "", func(f gaugeFacts) []sample { return known(f, truth(f.redisUp)...) }},
		{"ax_clock_steady", "1 while this node trusts its reading of the database's clock; it plans nothing else.", "", func(f gaugeFacts) []sample { return truth(f.steady) }},
		{"ax_rollup_delay_seconds", "How far figures of what ended are behind; up to a minute is usual.", "", func(f gaugeFacts) []sample {
			if f.rolled.IsZero() {
				return nil
			}
			return known(f, sample{v: max(0, f.now.Sub(f.rolled).Seconds())})
		}},
	}
}

func workGauges() []gauge {
	return []gauge{
		{"ax_instances", "Instances that have not ended, by state.", "state", openInstances},
		{"ax_late", "Instances that were due more than 5 s ago and have not begun.", "", func(f gaugeFacts) []sample {
			return known(f, sample{v: float64(f.dashboard.Late)})
		}},
		{"ax_late_seconds_max", "How long the latest of them is overdue.", "", func(f gaugeFacts) []sample {
			return known(f, sample{v: f.dashboard.WorstLate.Seconds()})
		}},
		{"ax_queue_due", "Instances of a queue that are due by the ledger and have not begun.", "queue", func(f gaugeFacts) []sample {
			return perQueue(f, func(q QueueInfo) float64 { return float64(q.Due) })
		}},
		{"ax_queue_pending", "Messages of a queue that are ready in Redis.", "queue", func(f gaugeFacts) []sample {
			return perCarried(f, func(q QueueInfo) float64 { return float64(q.Pending) })
		}},
		{"ax_queue_active", "Messages of a queue that workers hold.", "queue", func(f gaugeFacts) []sample {
			return perCarried(f, func(q QueueInfo) float64 { return float64(q.Active) })
		}},
		{"ax_queue_paused", "1 while a queue is paused.", "queue", func(f gaugeFacts) []sample {
			return perCarried(f, func(q QueueInfo) float64 { return truth(q.Paused)[0].v })
		}},
		{"ax_queue_oldest_seconds", "Age of the oldest message of a queue that is ready in Redis.", "queue", func(f gaugeFacts) []sample {
			return perCarried(f, func(q QueueInfo) float64 { return q.Latency.Seconds() })
		}},
		{"ax_dead_letters_open", "Dead letters that are open or taken.", "", func(f gaugeFacts) []sample {
			return known(f, sample{v: float64(f.dashboard.OpenLetters)})
		}},
	}
}

func resultGauges() []gauge {
	return []gauge{
		{"ax_ended_total", "Instances that ended since the minute in which this process was first asked, by team and final state.", "team outcome", func(f gaugeFacts) []sample {
			return known(f, f.ends...)
		}},
		{"ax_ended_1h", "Instances that ended within the hour; skipped and canceled don't count.", "result", func(f gaugeFacts) []sample {
			return known(f, sample{"succeeded", float64(f.dashboard.Hour.Succeeded)}, sample{"bad", float64(f.dashboard.Hour.Bad)})
		}},
		{"ax_success_ratio_1h", "Share that succeeded of what ended within the hour; skipped and canceled don't count.", "", func(f gaugeFacts) []sample {
			share, ok := f.dashboard.Hour.Success()
			if !ok {
				return nil
			}
			return known(f, sample{v: share})
		}},
		{"ax_trigger_lag_seconds", "From the moment wanted to the start, of the latest 1,000 starts within the hour.", "quantile", lagQuantiles},
	}
}

func alertGauges() []gauge {
	return []gauge{
		{"ax_incidents_firing", "Incidents that fire, by level.", "level", func(f gaugeFacts) []sample {
			return known(f, sample{string(alert.P1), float64(f.alerts.Firing[alert.P1])}, sample{string(alert.P2), float64(f.alerts.Firing[alert.P2])})
		}},
		{"ax_deliveries_waiting", "Messages of alerts that are not delivered yet.", "", func(f gaugeFacts) []sample {
			return known(f, sample{v: float64(f.alerts.Waiting)})
		}},
		{"ax_deliveries_oldest_seconds", "Age of the oldest of them; 0: none waits.", "", func(f gaugeFacts) []sample {
			if f.alerts.Oldest.IsZero() {
				return known(f, sample{})
			}
			return known(f, sample{v: max(0, f.now.Sub(f.alerts.Oldest).Seconds())})
		}},
		{"ax_deliveries_refused_1h", "Messages of alerts that were given up within the hour.", "", func(f gaugeFacts) []sample {
			return known(f, sample{v: float64(f.alerts.Refused)})
		}},
	}
}

func nodeGauges() []gauge {
	return []gauge{
		{"ax_nodes", "Nodes, by state; dead are those declared dead within the hour.", "state", nodeStates},
		{"ax_nodes_role", "Nodes that beat, by role.", "role", nodeRoles},
		{"ax_places", "Places for runs on the nodes that beat.", "", func(f gaugeFacts) []sample {
			return overNodes(f, func(n sched.NodeInfo, sum float64) float64 { return sum + float64(n.Slots) })
		}},
		{"ax_places_busy", "Places in which something runs.", "", func(f gaugeFacts) []sample {
			return overNodes(f, func(n sched.NodeInfo, sum float64) float64 { return sum + float64(n.Busy) })
		}},
		{"ax_clock_offset_seconds_max", "The farthest that the wall clock of a node that beats is off the database's.", "", func(f gaugeFacts) []sample {
			return overNodes(f, func(n sched.NodeInfo, most float64) float64 { return max(most, n.ClockOffset.Abs().Seconds()) })
		}},
	}
}

// Describe makes gauges a prometheus.Collector.
func (g *gauges) Describe(out chan<- *prometheus.Desc) {
	for _, row := range gaugeTable() {
		out <- row.desc()
	}
}

// Collect makes gauges a prometheus.Collector.
func (g *gauges) Collect(out chan<- prometheus.Metric) {
	f := g.facts()
	for _, row := range gaugeTable() {
		desc := row.desc()
		kind := prometheus.GaugeValue
		if strings.HasSuffix(row.name, "_total") {
			kind = prometheus.CounterValue
		}
		for _, s := range row.of(f) {
			var labels []string
			if row.labels != "" {
				labels = strings.Split(s.labels, keySplitter)
			}
			out <- prometheus.MustNewConstMetric(desc, kind, s.v, labels...)
		}
	}
}

func (g gauge) desc() *prometheus.Desc {
	return prometheus.NewDesc(g.name, g.help, strings.Fields(g.labels), nil)
}

func truth(yes bool) []sample {
	if yes {
		return []sample{{v: 1}}
	}
	return []sample{{}}
}

// known gives the samples when the ledger could be read.
func known(f gaugeFacts, samples ...sample) []sample {
	if !f.ledgerUp {
		return nil
	}
	return samples
}

func openInstances(f gaugeFacts) []sample {
	var out []sample
	for _, s := range sched.States() {
		if !s.Final() {
			out = append(out, sample{string(s), float64(f.dashboard.Open[s])})
		}
	}
	return known(f, out...)
}

func perQueue(f gaugeFacts, figure func(QueueInfo) float64) []sample {
	var out []sample
	for _, q := range f.queues {
		out = append(out, sample{q.Name, figure(q)})
	}
	return known(f, out...)
}

// perCarried is perQueue for what only the carrier knows.
func perCarried(f gaugeFacts, figure func(QueueInfo) float64) []sample {
	if !f.redisUp {
		return nil
	}
	return perQueue(f, figure)
}

func lagQuantiles(f gaugeFacts) []sample {
	if f.dashboard.LagOf == 0 {
		return nil
	}
	return known(f, sample{"0.5", f.dashboard.LagP50.Seconds()}, sample{"0.99", f.dashboard.LagP99.Seconds()})
}

// nodeStates counts the nodes that were not stopped in order.
func nodeStates(f gaugeFacts) []sample {
	counts := map[string]int{}
	for _, n := range f.dashboard.Nodes {
		switch {
		case !n.DeadAt.IsZero():
			counts["dead"]++
		case !n.ClosedAt.IsZero():
		case !f.beat(n):
			counts["silent"]++
		case n.Draining:
			counts["draining"]++
		default:
			counts["alive"]++
		}
	}
	var out []sample
	for _, state := range []string{"alive", "draining", "silent", "dead"} {
		out = append(out, sample{state, float64(counts[state])})
	}
	return known(f, out...)
}

// nodeRoles counts the nodes that beat by role: an installation without a
// scheduler plans nothing, whatever else lives.
func nodeRoles(f gaugeFacts) []sample {
	counts := map[string]int{}
	for _, n := range f.dashboard.Nodes {
		if f.beat(n) {
			for _, role := range n.Roles {
				counts[role]++
			}
		}
	}
	var out []sample
	for _, role := range []string{"web", "scheduler", "worker"} {
		out = append(out, sample{role, float64(counts[role])})
	}
	return known(f, out...)
}

// overNodes folds over the nodes that beat.
func overNodes(f gaugeFacts, fold func(n sched.NodeInfo, so float64) float64) []sample {
	v := 0.0
	for _, n := range f.dashboard.Nodes {
		if f.beat(n) {
			v = fold(n, v)
		}
	}
	return known(f, sample{v: v})
}

// beat tells whether the node lives, as far as is known.
func (f gaugeFacts) beat(n sched.NodeInfo) bool {
	return !n.Gone() && f.now.Sub(n.BeatAt) < f.beats.Dead
}
