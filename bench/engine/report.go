package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// report is the document that the medians go into.
type report struct{ o options }

func newReport(o options) report { return report{o} }

func (r report) write(all map[string][]result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Benchmarks\n\nWritten by `make bench` on %s: %s, %d processors, %s, %s, %s.\n\n",
		time.Now().UTC().Format("2006-01-02"), cpuName(), runtime.NumCPU(), runtime.Version(), firstLine("mariadbd", "--version"), firstLine("redis-server", "--version"))
	fmt.Fprintf(&b, "Medians of %d runs in turn; each run is a fresh installation in one process, with the database, Redis and the callback target as processes of the same machine.\n\n", r.o.runs)
	fmt.Fprintf(&b, "- Full instances: %d tasks due in the same second, from the first planned row to the last committed result. Planned, handed over, claimed, HTTP 200, attempt and result committed before the message is acknowledged.\n", r.o.n)
	fmt.Fprintf(&b, "- Processor time: of ax, database and Redis together, without the callback target.\n- Trigger lag: from the due time to the start in the ledger, %d instances per second for %d s, all due on the whole second.\n", r.o.rate, r.o.secs)
	fmt.Fprintf(&b, "- All at once: the trigger lag of the %d that were due in the same second, and the most memory that ax had resident by then.\n\n", r.o.n)
	fmt.Fprintf(&b, "| side | full instances/s | processor time per instance | lag p50 | lag p99 | started early | at once: p50 | p99 | memory |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, s := range splitSides(r.o.sides) {
		rs := all[s.name]
		early := 0
		for _, x := range rs {
			early += x.early
		}
		fmt.Fprintf(&b, "| %s | %.0f | %d µs | %d ms | %d ms | %d | %d ms | %d ms | %d MiB |\n", title(s.name),
			median(rs, func(x result) float64 { return x.perSecond }),
			median(rs, result.total).Microseconds(),
			median(rs, func(x result) time.Duration { return x.lagP50 }).Milliseconds(),
			median(rs, func(x result) time.Duration { return x.lagP99 }).Milliseconds(), early,
			median(rs, func(x result) time.Duration { return x.burstP50 }).Milliseconds(),
			median(rs, func(x result) time.Duration { return x.burstP99 }).Milliseconds(),
			median(rs, func(x result) int { return x.memory }))
	}
	fmt.Print("\n", b.String())
	if r.o.out == "" {
		return nil
	}
	return os.WriteFile(r.o.out, []byte(b.String()), 0o644)
}

func title(side string) string {
	if side == "mariadb" {
		return "MariaDB + redis-server"
	}
	return "embedded (SQLite + miniredis)"
}

func firstLine(name string, arg string) string {
	out, err := exec.Command(name, arg).Output()
	if err != nil {
		return name + " (not found)"
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.Join(strings.Fields(line), " ")
}

func cpuName() string {
	raw, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(raw)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return runtime.GOARCH
}
