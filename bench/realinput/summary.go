package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// summary is what a run tells.
type summary struct {
	seen       *evidence
	mismatches findings
	jobs       []job
	faults     []string       // processes that did not end well
	words      map[string]int // warnings and errors of ax's logs
	began      time.Time
	took       time.Duration
	minutes    float64
}

func (s summary) bad() bool { return len(s.mismatches) > 0 || len(s.faults) > 0 }

// write prints the summary and puts it into a file.
func (s summary) write(path string) error {
	var b strings.Builder
	s.head(&b)
	s.counts(&b)
	s.verdict(&b)
	fmt.Print(b.String())
	if path == "" {
		return nil
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

func (s summary) head(b *strings.Builder) {
	fmt.Fprintf(b, "# Real input, %s\n\n", s.began.UTC().Format(time.RFC3339))
	fmt.Fprintf(b, "%g minutes (%s with start, end and comparison) on MariaDB, redis-server and three processes of ax;\nthe target and the oracle are Node programs.\n\n", s.minutes, s.took.Round(time.Second))
	fmt.Fprintf(b, "## Schedules\n\n")
	for i, j := range s.jobs {
		t := s.seen.driven.tasks[i]
		fmt.Fprintf(b, "%-60s %-28s → %-30s %-16s %s\n", j.source, j.schedule, t.Schedule.text(), t.Schedule.Timezone, t.behaviour)
	}
	b.WriteString("\n")
}

// text of a schedule in a line.
func (s schedule) text() string {
	switch s.Kind {
	case "cron":
		return s.Cron
	case "interval":
		return fmt.Sprintf("every %d s", s.EverySeconds)
	}
	return s.Kind
}

func (s summary) counts(b *strings.Builder) {
	e := s.seen
	states, origins, outcomes, behaviours := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	ran, attempts := map[string]bool{}, 0
	var lags []int64
	for _, in := range e.instances {
		states[in.State]++
		origins[in.Origin]++
		attempts += len(in.Attempts)
		for _, a := range in.Attempts {
			outcomes[a.Outcome]++
		}
		if len(in.Attempts) > 0 {
			ran[in.Task] = true
			lags = append(lags, in.Attempts[0].Started-in.Wanted)
		}
	}
	for _, c := range e.calls {
		behaviours[c.Behaviour]++
	}
	fmt.Fprintf(b, "## Counts\n\n")
	fmt.Fprintf(b, "tasks: %d, of which %d ran at least once\n", len(e.driven.tasks), len(ran))
	fmt.Fprintf(b, "instances: %d %s; by origin %s\n", len(e.instances), spread(states), spread(origins))
	fmt.Fprintf(b, "orders: %d accepted, %d of them placed twice\n", len(e.driven.orders), len(e.driven.again))
	fmt.Fprintf(b, "slots by the oracle: %d; ranges recorded as missed: %d\n", len(e.slots), len(e.missed))
	fmt.Fprintf(b, "attempts in the ledger: %d %s\n", attempts, spread(outcomes))
	fmt.Fprintf(b, "calls in the target's log: %d %s\n", len(e.calls), spread(behaviours))
	fmt.Fprintf(b, "receipts: %d; dead letters: %d, of which %d replayed\n", len(e.receipts), len(e.letters), len(e.driven.replays))
	slices.Sort(lags)
	if n := len(lags); n > 0 {
		fmt.Fprintf(b, "lag from due to start: p50 %d ms, p99 %d ms, most %d ms\n", lags[n/2], lags[n*99/100], lags[n-1])
	}
	fmt.Fprintf(b, "log lines of ax above info: %s\n\n", spread(s.words))
}

// spread shows counts by name.
func spread(counts map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, counts[name]))
	}
	if len(parts) == 0 {
		return "(none)"
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

func (s summary) verdict(b *strings.Builder) {
	n := len(s.faults)
	for _, lines := range s.mismatches {
		n += len(lines)
	}
	fmt.Fprintf(b, "## Mismatches: %d\n", n)
	for _, fault := range s.faults {
		fmt.Fprintf(b, "%s\n", fault)
	}
	for _, kind := range slices.Sorted(maps.Keys(s.mismatches)) {
		lines := s.mismatches[kind]
		slices.Sort(lines)
		fmt.Fprintf(b, "\n%s: %d\n", kind, len(lines))
		for _, line := range lines[:min(len(lines), 20)] {
			fmt.Fprintf(b, "  %s\n", line)
		}
	}
}

// logWords counts what ax logged above the level info.
func logWords(dir string) map[string]int {
	out := map[string]int{}
	for _, role := range []string{"web", "scheduler", "worker"} {
		file, err := os.Open(filepath.Join(dir, "ax-"+role+".log"))
		if err != nil {
			continue
		}
		sc := bufio.NewScanner(file)
		sc.Buffer(nil, 1<<20)
		for sc.Scan() {
			var line struct{ Level, Msg string }
			if json.Unmarshal(sc.Bytes(), &line) == nil && (line.Level == "WARN" || line.Level == "ERROR") {
				out[role+" "+strings.ToLower(line.Level)+" "+line.Msg]++
			}
		}
		_ = file.Close()
	}
	return out
}
