package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"ax/app/alert"
)

// figures of one side.
type figures struct {
	side        string
	quiet, busy figure
	open        int // incidents of busy
	storm       storm
}

// report writes the section of the page.
func report(o options, all []figures) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## Alerts\n\nWritten by `make bench` on %s.\n\n", time.Now().UTC().Format(time.DateOnly))
	fmt.Fprintf(&b, "One turn over %d rules of %d teams and %d tasks that run every minute; turns are %s apart. Medians of %d; processor time is of ax and of the database. What takes the longest is told by its metrics.\n\n",
		o.rules, teams, o.tasks, step, o.turns)
	fmt.Fprintf(&b, "| side | open incidents | turn | processor time | statements | longest |\n|---|---|---|---|---|---|\n")
	for _, f := range all {
		for _, x := range []struct {
			open int
			figure
		}{{0, f.quiet}, {f.open, f.busy}} {
			fmt.Fprintf(&b, "| %s | %d | %s | %s | %d | %s |\n", title(f.side), x.open, ms(x.middle.took), x.middle.work(), x.middle.statements, x.longest())
		}
	}
	fmt.Fprintf(&b, "\nStorm: the host of %d tasks refuses connections; each fails %d times within a minute. Messages until two minutes later, as they went out to the team's channels: two that are told of everything, one of P1 alone, a webhook of incidents.\n\n", o.storm, o.failures)
	fmt.Fprintf(&b, "| side | failures | incidents (tasks) | messages | turn | worst turn | statements |\n|---|---|---|---|---|---|---|\n")
	for _, f := range all {
		s := f.storm
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %s | %d |\n", title(f.side), s.failures, strings.Join(s.incidents, ", "), s.messages(), ms(s.middle.took), ms(s.worst.took), s.middle.statements)
	}
	fmt.Print(b.String())
	if o.out == "" {
		return nil
	}
	f, err := os.OpenFile(o.out, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(b.String()); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func (t turn) work() string {
	if t.base == 0 {
		return ms(t.own)
	}
	return ms(t.own) + " + " + ms(t.base)
}

// longest names the three metrics that took the most of a turn.
func (f figure) longest() string {
	all := slices.SortedFunc(maps.Keys(f.asked), func(a, b alert.Metric) int { return cmp.Compare(f.asked[b], f.asked[a]) })
	var out []string
	for _, m := range all[:min(3, len(all))] {
		out = append(out, fmt.Sprintf("`%s` %s", m, ms(f.asked[m])))
	}
	return strings.Join(out, ", ")
}

func (s storm) messages() string {
	var out []string
	for _, kind := range slices.Sorted(maps.Keys(s.sent)) {
		var told []string
		for _, what := range slices.Sorted(maps.Keys(s.sent[kind])) {
			told = append(told, fmt.Sprintf("%d %s", s.sent[kind][what], what))
		}
		out = append(out, fmt.Sprintf("%s: %s", kind, strings.Join(told, ", ")))
	}
	return strings.Join(out, "; ")
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

func title(side string) string {
	if side == "mariadb" {
		return "MariaDB"
	}
	return "SQLite"
}
