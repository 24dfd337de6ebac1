// Command realinput lets ax do real work for a while and then compares what
// its ledger says with what the called side wrote down, row by row.
//
// The work is the periodic jobs of a Debian system (collect.sh: /etc/crontab,
// /etc/cron.d, the scripts of run-parts, systemd timers), each an HTTP task at
// a sped-up rate, and 2,000 delayed orders of one task. MariaDB, redis-server,
// ax as three processes (web, scheduler, worker) and the callback target
// (target.mjs, Node) run on the loopback address and are stopped by their ids.
// Tasks and orders go in through the API only. Which slots should have run is
// worked out by oracle.mjs, which shares no code with ax.
//
// # How schedules are sped up
//
// One unit down for what runs more than twice a day, on any day: the minute
// becomes the second; the hour becomes the minute, with days of 24 minutes, so
// hour h is the minutes h, h+24 and h+48.
//
// Two units down for the rest: the hour becomes the second and the minute of
// the hour is dropped; days become minutes: a week has seven of them, from
// Sunday, a month ten (day d is every minute m with m ≡ d modulo 10), a year
// sixty. So 25 6 * * * runs each minute at second 6, 47 6 * * 7 at second 6 of
// the minutes 0, 7, 14 …, @monthly at the minutes 1, 11, 21 …, and @yearly at
// minute 1 of each hour. Both day fields restricted are joined as the source
// joins them: either day in a crontab, both in a timer.
//
// OnUnitActiveSec is an interval: a day becomes a minute, less becomes a 60th.
// It begins at the run's boot plus a 60th of OnBootSec. OnActiveSec and
// @reboot run once. RandomizedDelaySec and AccuracySec are left out: ax
// promises the second.
//
// What runs at second 0 only is written with five fields, all else with six.
// The zones of zones() take turns; none of them changes a sped-up schedule by
// more than its minute.
//
// # What must agree
//
// Every attempt of the ledger and every call that the target logged, one to
// one, with key, numbers, times and outcome; the slots of the ledger and of the
// oracle, both ways, from the moment that a task was created to the one that it
// was disabled; accepted orders and instances; receipts; dead letters; the way
// in which each instance ended and what its target does; and ax verify finds
// nothing. The program ends with 1 when anything doesn't.
//
//	go run ./bench/realinput -minutes 15
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// options of a run.
type options struct {
	ax      string // program
	jobs    string // list of collect.sh
	tools   string // folder of collect.sh, target.mjs and oracle.mjs
	minutes float64
	orders  int
	callers int
	keep    string // folder for what the run leaves
	out     string
}

func main() {
	var o options
	flag.StringVar(&o.ax, "ax", "", "ax program (default: built from this module)")
	flag.StringVar(&o.jobs, "jobs", "", "list of jobs (default: made by collect.sh now)")
	flag.StringVar(&o.tools, "tools", "bench/realinput", "folder of collect.sh, target.mjs and oracle.mjs")
	flag.Float64Var(&o.minutes, "minutes", 15, "length of the run")
	flag.IntVar(&o.orders, "orders", 2000, "delayed orders")
	flag.IntVar(&o.callers, "callers", 8, "callers that place them at once")
	flag.StringVar(&o.keep, "keep", "", "folder that keeps logs and lists (default: a temporary one)")
	flag.StringVar(&o.out, "out", "", "file for the summary (default: standard output only)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "realinput:", err)
		os.Exit(1)
	}
}

var errMismatch = errors.New("ledger, target and oracle don't agree")

func run(ctx context.Context, o options) error {
	dir, remove, err := workFolder(o.keep)
	if err != nil {
		return err
	}
	defer func() { remove() }()
	jobs, err := readJobs(ctx, o, dir)
	if err != nil {
		return err
	}
	h := &house{dir: dir, tools: o.tools}
	defer h.close()
	if err := h.open(ctx, o.ax); err != nil {
		return err
	}
	began := time.Now()
	d, err := drive(ctx, h, jobs, o)
	if err != nil {
		remove = func() {}
		return fmt.Errorf("%w (logs: %s)", err, dir)
	}
	faults := h.stop()
	seen, err := collect(ctx, h, d)
	if err != nil {
		return err
	}
	s := summary{seen: seen, mismatches: compare(seen), jobs: jobs, faults: faults, words: logWords(dir), began: began, took: time.Since(began), minutes: o.minutes}
	if err := s.write(o.out); err != nil {
		return err
	}
	if s.bad() {
		remove = func() {} // what is left tells why
		return fmt.Errorf("%w (logs: %s)", errMismatch, dir)
	}
	return nil
}

// workFolder makes the folder of a run. Without a name it is removed at the
// end.
func workFolder(keep string) (dir string, remove func(), err error) {
	if keep != "" {
		dir, err = filepath.Abs(keep)
		return dir, func() {}, errors.Join(err, os.MkdirAll(dir, 0o700))
	}
	dir, err = os.MkdirTemp("", "ax-real-")
	return dir, func() { _ = os.RemoveAll(dir) }, err
}
