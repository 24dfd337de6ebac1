// Command alerts measures what judges the alert rules: one turn over 2,000
// rules and 10,000 tasks that run every minute, with nothing broken and with
// 200 incidents open, and what a storm of failures with one cause has told.
// Its world goes on between the turns, by a clock of its own: runs end, are
// counted and rolled up, unmeasured. It starts its own MariaDB and removes what
// it made. `make bench` runs it and adds its figures to docs/benchmarks.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

// options of a measurement.
type options struct {
	tasks, rules, turns int
	minutes             int // of which there are runs, not counts alone
	storm, failures     int // tasks of the storm, and how often each fails
	sides, dir, out     string
}

func main() {
	var o options
	flag.IntVar(&o.tasks, "tasks", 10_000, "tasks that run every minute")
	flag.IntVar(&o.rules, "rules", 2_000, "rules, those that teams begin with among them")
	flag.IntVar(&o.turns, "turns", 11, "turns of which the median is told")
	flag.IntVar(&o.minutes, "minutes", 15, "minutes of runs before the first turn; an hour is counted")
	flag.IntVar(&o.storm, "storm", 1_000, "tasks of one host that is gone")
	flag.IntVar(&o.failures, "failures", 10, "failures of each of them, within a minute")
	flag.StringVar(&o.sides, "sides", "mariadb,sqlite", "databases to measure")
	flag.StringVar(&o.dir, "dir", os.TempDir(), "where the databases are made; about 0.5 GB each")
	flag.StringVar(&o.out, "append", "", "file that the figures are added to (default: standard output only)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := measure(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func measure(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp(o.dir, "ax-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var all []figures
	for side := range strings.SplitSeq(o.sides, ",") {
		f, err := measureSide(ctx, o, side, filepath.Join(dir, side))
		if err != nil {
			return fmt.Errorf("%s: %w", side, err)
		}
		all = append(all, f)
	}
	return report(o, all)
}

func measureSide(ctx context.Context, o options, side, dir string) (figures, error) {
	f := figures{side: side}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return f, err
	}
	defer os.RemoveAll(dir) // before the next side needs the room
	l, stop, err := open(ctx, side, dir)
	if err != nil {
		return f, err
	}
	defer stop()
	w := newWorld(l, o)
	if err := w.fill(ctx); err != nil {
		return f, fmt.Errorf("fill: %w", err)
	}
	if f.quiet, err = w.turns(ctx, o.turns); err != nil {
		return f, err
	}
	if open, err := w.open(ctx); err != nil || len(open) > 0 {
		return f, fmt.Errorf("what is open where nothing broke: %v %w", open, err)
	}
	w.broken = 200
	if f.busy, err = w.turns(ctx, o.turns); err != nil {
		return f, err
	}
	open, err := w.open(ctx)
	if err != nil {
		return f, err
	}
	f.open = len(open)
	w.broken = 0
	f.storm, err = w.blow(ctx)
	return f, err
}
