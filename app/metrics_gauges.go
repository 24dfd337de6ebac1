package app

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ax/app/sched"
)

// gauge describes one metric of the installation; of gives its values. What
// can't be known gives none: a gap is honest, a zero is not.
type gauge struct {
	name, help string
	label      string // "" for none
	of         func(f gaugeFacts, beats sched.Pulse) []sample
}

type sample struct {
	label string
	v     float64
}

// gaugeTable is every metric beside those of the process. Names and labels are
// read by other people's dashboards: don't change one lightly.
func gaugeTable() []gauge {
	return []gauge{
		{"ax_ledger_up", "1 when the database answered this node.", "", func(f gaugeFacts, _ sched.Pulse) []sample { return truth(f.ledgerUp) }},
		{"ax_redis_up", "1 when Redis answered this node.", "", func(f gaugeFacts, _ sched.Pulse) []sample {
			return known(f, truth(f.redisUp)...)
		}},
		{"ax_instances", "Instances that have not ended, by state.", "state", openInstances},
		{"ax_late", "Instances that were due more than 5 s ago and have not begun.", "", func(f gaugeFacts, _ sched.Pulse) []sample {
			return known(f, sample{v: float64(f.dashboard.Late)})
		}},
		{"ax_late_seconds_max", "How long the latest of them is overdue.", "", func(f gaugeFacts, _ sched.Pulse) []sample {
			return known(f, sample{v: f.dashboard.WorstLate.Seconds()})
		}},
		{"ax_queue_due", "Instances of a queue that are due by the ledger and have not begun.", "queue", func(f gaugeFacts, _ sched.Pulse) []sample {
			return perQueue(f, func(q QueueInfo) int { return q.Due })
		}},
		{"ax_queue_pending", "Messages of a queue that are ready in Redis.", "queue", func(f gaugeFacts, _ sched.Pulse) []sample {
			if !f.redisUp {
				return nil
			}
			return perQueue(f, func(q QueueInfo) int { return q.Pending })
		}},
		{"ax_dead_letters_open", "Dead letters that are open or taken.", "", func(f gaugeFacts, _ sched.Pulse) []sample {
			return known(f, sample{v: float64(f.dashboard.OpenLetters)})
		}},
		{"ax_trigger_lag_seconds", "From the moment wanted to the start, of the latest 1,000 starts within the hour.", "quantile", lagQuantiles},
		{"ax_success_ratio_1h", "Share that succeeded of what ended within the hour; skipped and canceled don't count.", "", func(f gaugeFacts, _ sched.Pulse) []sample {
			share, ok := f.dashboard.Hour.Success()
			if !ok {
				return nil
			}
			return known(f, sample{v: share})
		}},
		{"ax_ended_1h", "Instances that ended within the hour; skipped and canceled don't count.", "result", func(f gaugeFacts, _ sched.Pulse) []sample {
			return known(f, sample{"succeeded", float64(f.dashboard.Hour.Succeeded)}, sample{"bad", float64(f.dashboard.Hour.Bad)})
		}},
		{"ax_nodes", "Nodes, by state; dead are those declared dead within the hour.", "state", nodeStates},
		{"ax_places", "Places for runs on the nodes that beat.", "", func(f gaugeFacts, beats sched.Pulse) []sample {
			return overNodes(f, beats, func(n sched.NodeInfo, sum float64) float64 { return sum + float64(n.Slots) })
		}},
		{"ax_places_busy", "Places in which something runs.", "", func(f gaugeFacts, beats sched.Pulse) []sample {
			return overNodes(f, beats, func(n sched.NodeInfo, sum float64) float64 { return sum + float64(n.Busy) })
		}},
		{"ax_clock_offset_seconds_max", "The farthest that the wall clock of a node that beats is off the database's.", "", func(f gaugeFacts, beats sched.Pulse) []sample {
			return overNodes(f, beats, func(n sched.NodeInfo, most float64) float64 { return max(most, n.ClockOffset.Abs().Seconds()) })
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
		for _, s := range row.of(f, g.o.Beats) {
			var labels []string
			if row.label != "" {
				labels = []string{s.label}
			}
			out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, s.v, labels...)
		}
	}
}

func (g gauge) desc() *prometheus.Desc {
	var labels []string
	if g.label != "" {
		labels = []string{g.label}
	}
	return prometheus.NewDesc(g.name, g.help, labels, nil)
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

func openInstances(f gaugeFacts, _ sched.Pulse) []sample {
	var out []sample
	for _, s := range sched.States() {
		if !s.Final() {
			out = append(out, sample{string(s), float64(f.dashboard.Open[s])})
		}
	}
	return known(f, out...)
}

func perQueue(f gaugeFacts, figure func(QueueInfo) int) []sample {
	var out []sample
	for _, q := range f.queues {
		out = append(out, sample{q.Name, float64(figure(q))})
	}
	return known(f, out...)
}

func lagQuantiles(f gaugeFacts, _ sched.Pulse) []sample {
	if f.dashboard.LagOf == 0 {
		return nil
	}
	return known(f, sample{"0.5", f.dashboard.LagP50.Seconds()}, sample{"0.99", f.dashboard.LagP99.Seconds()})
}

// nodeStates counts the nodes that were not stopped in order.
func nodeStates(f gaugeFacts, beats sched.Pulse) []sample {
	counts := map[string]int{}
	for _, n := range f.dashboard.Nodes {
		switch {
		case !n.DeadAt.IsZero():
			counts["dead"]++
		case !n.ClosedAt.IsZero():
		case !beatsNow(n, f.now, beats):
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

// overNodes folds over the nodes that beat.
func overNodes(f gaugeFacts, beats sched.Pulse, fold func(n sched.NodeInfo, so float64) float64) []sample {
	v := 0.0
	for _, n := range f.dashboard.Nodes {
		if beatsNow(n, f.now, beats) {
			v = fold(n, v)
		}
	}
	return known(f, sample{v: v})
}

func beatsNow(n sched.NodeInfo, now time.Time, beats sched.Pulse) bool {
	return !n.Gone() && now.Sub(n.BeatAt) < beats.Dead
}
