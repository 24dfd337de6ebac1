// Command engine measures ax as a whole: full instances per second and
// processor time per instance (planned, handed over, claimed, HTTP 200,
// attempt and result committed), and the trigger lag at a steady rate. It
// starts real servers, ax and a callback target as processes of their own on
// the loopback address, and stops what it started. Run it by `make bench`.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// options of a measurement.
type options struct {
	ax    string // the program to measure
	n     int    // instances of a throughput run
	runs  int
	rate  int // instances per second of a lag run
	secs  int // length of a lag run
	sides string
	out   string
	kinds bool
	add   string
}

func main() {
	var o options
	flag.StringVar(&o.ax, "ax", "", "ax program (default: built from this module)")
	flag.IntVar(&o.n, "n", 10_000, "instances of a throughput run")
	flag.IntVar(&o.runs, "runs", 5, "runs of each side, in turn")
	flag.IntVar(&o.rate, "rate", 100, "instances per second of a lag run")
	flag.IntVar(&o.secs, "seconds", 20, "length of a lag run")
	flag.StringVar(&o.sides, "sides", "mariadb,embedded", "sides to measure")
	flag.StringVar(&o.out, "out", "", "file for the report (default: standard output only)")
	flag.BoolVar(&o.kinds, "kinds", false, "measure the kinds of targets instead")
	flag.StringVar(&o.add, "append", "", "with -kinds: file that the figures are added to")
	target := flag.Bool("target", false, "be the callback target (used by the program itself)")
	flag.Parse()
	if *target {
		serveTarget()
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := measure(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// result of one run.
type result struct {
	perSecond      float64
	cpu            map[string]time.Duration // per instance, by program; without the target
	lagP50, lagP99 time.Duration
	early          int

	burstP50, burstP99 time.Duration // lag of the throughput run, due in one second
	memory             int           // of ax at its peak in it, MiB
}

// total processor time per instance.
func (r result) total() time.Duration {
	var sum time.Duration
	for _, d := range r.cpu {
		sum += d
	}
	return sum
}

func measure(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "ax-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if o.ax == "" {
		o.ax = filepath.Join(dir, "ax")
		if err := build(ctx, o.ax); err != nil {
			return err
		}
	}
	if o.kinds {
		return measureKinds(ctx, o, dir)
	}
	report := newReport(o)
	all := map[string][]result{}
	for run := range o.runs {
		for _, side := range splitSides(o.sides) {
			r, err := side.run(ctx, o, filepath.Join(dir, fmt.Sprintf("%s-%d", side.name, run)))
			if err != nil {
				return fmt.Errorf("run %d on %s: %w", run+1, side.name, err)
			}
			all[side.name] = append(all[side.name], r)
			fmt.Printf("run %d  %-9s %6.0f/s  cpu %6s/instance %v  lag at %d/s: p50 %s p99 %s  early %d  at once: p50 %s p99 %s %d MiB\n",
				run+1, side.name, r.perSecond, r.total().Round(time.Microsecond), r.cpu, o.rate, r.lagP50, r.lagP99, r.early, r.burstP50, r.burstP99, r.memory)
		}
	}
	return report.write(all)
}

// median of the values that pick takes from the results.
func median[T cmp.Ordered](rs []result, pick func(result) T) T {
	vs := make([]T, len(rs))
	for i, r := range rs {
		vs[i] = pick(r)
	}
	slices.Sort(vs)
	return vs[len(vs)/2]
}
