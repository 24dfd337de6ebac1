package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// line tells of one run, with all that is needed to find out why it is red.
func (o outcome) line() string {
	head := fmt.Sprintf("%-14s seed %-3d %5.1f s, %4d instances, quiet after %4.1f s", o.scenario, o.seed, o.took.Seconds(), o.instances, o.recovery.Seconds())
	switch {
	case o.clean():
		return head + ", clean"
	case o.skipped != "":
		return head + ", SKIPPED: " + o.skipped
	}
	var b strings.Builder
	b.WriteString(head + ", RED\n")
	if o.err != nil {
		fmt.Fprintf(&b, "    the bench: %v\n", o.err)
	}
	for _, v := range o.violations {
		fmt.Fprintf(&b, "    %s\n", v)
	}
	for _, s := range o.story {
		fmt.Fprintf(&b, "    %s\n", s)
	}
	fmt.Fprintf(&b, "    evidence: %s", o.evidence)
	return b.String()
}

// table sums the runs of each scenario up.
type table struct {
	rows []row
	red  int
}

type row struct {
	scenario             string
	runs, instances, red int
	late                 []int64
	recovery             []time.Duration
	skipped              int
	reason               string // of skipping
	facts                map[string][]float64
}

func tableOf(outcomes []outcome) table {
	byName := map[string]*row{}
	t := table{}
	for _, o := range outcomes {
		r := byName[o.scenario]
		if r == nil {
			r = &row{scenario: o.scenario, facts: map[string][]float64{}}
			byName[o.scenario] = r
		}
		if o.skipped != "" {
			r.skipped, r.reason = r.skipped+1, o.skipped
			continue
		}
		r.runs++
		r.instances += o.instances
		r.late = append(r.late, o.late...)
		r.recovery = append(r.recovery, o.recovery)
		for name, v := range o.facts {
			r.facts[name] = append(r.facts[name], v)
		}
		if !o.clean() {
			r.red++
			t.red++
		}
	}
	for _, sc := range append(scenarios(), soakScenario(0)) {
		if r := byName[sc.name]; r != nil {
			t.rows = append(t.rows, *r)
		}
	}
	return t
}

// percentile of values; 0 when there are none.
func percentile[T int64 | float64 | time.Duration](values []T, p int) T {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, len(sorted)*p/100)]
}

func (t table) markdown() string {
	says := map[string]string{}
	for _, sc := range append(scenarios(), soakScenario(0)) {
		says[sc.name] = sc.says
	}
	var b strings.Builder
	b.WriteString("| scenario | what is done | runs | instances | red | lateness of slots p50 / p99 | quiet after, median / most |\n|---|---|--:|--:|--:|--:|--:|\n")
	for _, r := range t.rows {
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %s / %s | %s / %s |\n", r.scenario, says[r.scenario]+r.figures(), r.runs, r.instances, r.red,
			seconds(time.Duration(percentile(r.late, 50))*time.Millisecond), seconds(time.Duration(percentile(r.late, 99))*time.Millisecond),
			seconds(percentile(r.recovery, 50)), seconds(percentile(r.recovery, 100)))
	}
	return b.String()
}

// figures are the medians that only this scenario has.
func (r row) figures() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r.facts)) {
		fmt.Fprintf(&b, "; %s: %.4g", name, percentile(r.facts[name], 50))
	}
	if r.skipped > 0 {
		fmt.Fprintf(&b, "; **skipped %d times: %s**", r.skipped, r.reason)
	}
	return b.String()
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// Marks between which a document holds the table.
const (
	tableBegin = "<!-- faults -->"
	tableEnd   = "<!-- /faults -->"
)

// writeInto puts the table between the marks of a document.
func (t table) writeInto(file string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(raw), tableBegin)
	_, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		return fmt.Errorf("%s has no %s … %s", file, tableBegin, tableEnd)
	}
	return os.WriteFile(file, []byte(before+tableBegin+"\n"+t.markdown()+tableEnd+after), 0o644)
}
