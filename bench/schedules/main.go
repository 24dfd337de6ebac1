// Command schedules measures the time rules: reading a cron line and finding
// its next time, planning what is due among a million tasks, catching up after
// a day without a planner, and the roll-up of figures, on MariaDB and SQLite. It starts its own
// MariaDB and removes what it made. `make bench` runs it after bench/engine and
// adds its figures to the same page.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"ax/db"
)

// options of a measurement.
type options struct {
	tasks, due, rounds int // of planning
	late               int // tasks of the outage
	ended              int // instances of the roll-up
	sides, dir, out    string
}

func main() {
	var o options
	flag.IntVar(&o.tasks, "tasks", 1_000_000, "tasks among which some are due")
	flag.IntVar(&o.due, "due", 500, "due tasks of a planning transaction")
	flag.IntVar(&o.rounds, "rounds", 51, "planning transactions; the median is told")
	flag.IntVar(&o.late, "late", 1000, "tasks of the outage, half of them minutely, half hourly")
	flag.IntVar(&o.ended, "ended", 60_000, "instances that end within the hour of the roll-up")
	flag.StringVar(&o.sides, "sides", "mariadb,sqlite", "databases to measure")
	flag.StringVar(&o.dir, "dir", os.TempDir(), "where the databases are made; a million tasks take about 1 GB each")
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

// figures of one side.
type figures struct {
	side    string
	roll    time.Duration   // of the roll-up, an instance
	plan    []time.Duration // whole transactions
	outages []outage
}

func measure(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp(o.dir, "ax-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	crons := measureCron()
	var all []figures
	for side := range strings.SplitSeq(o.sides, ",") {
		f, err := measureSide(ctx, o, side, filepath.Join(dir, side))
		if err != nil {
			return fmt.Errorf("%s: %w", side, err)
		}
		all = append(all, f)
	}
	return report(o, crons, all)
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
	if f.roll, err = l.rollUp(ctx, o.ended); err != nil {
		return f, fmt.Errorf("roll up %d instances: %w", o.ended, err)
	}
	fmt.Printf("%-8s roll-up of %d instances: %s each\n", side, o.ended, us(f.roll))
	if f.plan, err = l.planAmongMany(ctx, o); err != nil {
		return f, fmt.Errorf("plan %d of %d: %w", o.due, o.tasks, err)
	}
	slices.Sort(f.plan)
	fmt.Printf("%-8s plan %d of %d: p50 %s, worst %s\n", side, o.due, o.tasks, f.plan[len(f.plan)/2], f.plan[len(f.plan)-1])
	for _, policy := range []string{"fire_once", "fire_all"} {
		g, err := l.catchUp(ctx, o.late, policy)
		if err != nil {
			return f, fmt.Errorf("catch up by %s: %w", policy, err)
		}
		fmt.Printf("%-8s %+v\n", side, g)
		f.outages = append(f.outages, g)
	}
	return f, nil
}

// quiet is the log of a measured ledger.
func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func openLedger(ctx context.Context, dialect, dsn string) (*db.DB, error) {
	d, err := db.Open(ctx, db.Options{Dialect: dialect, DSN: dsn, Log: quiet()})
	if err != nil {
		return nil, err
	}
	if err := d.Migrate(ctx); err != nil {
		_ = d.Close()
		return nil, err
	}
	return d, nil
}
