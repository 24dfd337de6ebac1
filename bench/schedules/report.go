package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// report writes the section of the page.
func report(o options, crons []cronFigure, all []figures) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## Schedules\n\nWritten by `make bench` on %s.\n\n", time.Now().UTC().Format(time.DateOnly))
	fmt.Fprintf(&b, "| cron line | zone | parse | allocations | next | allocations |\n|---|---|---|---|---|---|\n")
	for _, c := range crons {
		fmt.Fprintf(&b, "| `%s` | %s | %d ns | %d | %d ns | %d |\n", c.line, c.zone, c.parse.Nanoseconds(), c.parseAllocs, c.next.Nanoseconds(), c.nextAllocs)
	}
	fmt.Fprintf(&b, "\nPlanning: one transaction that finds %d due among %d tasks, makes their instances and moves them on; the median of %d. Catching up: a planner comes back after 24 hours to %d tasks, half of them minutely, half hourly.\n\n", o.due, o.tasks, o.rounds, o.late)
	fmt.Fprintf(&b, "| side | planning p50 | worst | policy | caught up in | transactions | slots | instances | missed ranges |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, f := range all {
		for i, g := range f.outages {
			side, p50, worst := title(f.side), ms(f.plan[len(f.plan)/2]), ms(f.plan[len(f.plan)-1])
			if i > 0 {
				side, p50, worst = "", "", ""
			}
			fmt.Fprintf(&b, "| %s | %s | %s | `%s` | %s | %d | %d | %d | %d |\n",
				side, p50, worst, g.policy, g.took.Round(time.Millisecond), g.transactions, g.slots, g.instances, g.ranges)
		}
	}
	fmt.Fprintf(&b, "\nThe roll-up of figures, an instance: %d of %d tasks that end within an hour, a turn each %s, counts and sketches of minutes and of the hour.\n\n| side | roll-up |\n|---|---|\n", o.ended, rolledTasks, rollEvery)
	for _, f := range all {
		fmt.Fprintf(&b, "| %s | %s |\n", title(f.side), us(f.roll))
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

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

func us(d time.Duration) string { return fmt.Sprintf("%.1f µs", float64(d.Nanoseconds())/1000) }

func title(side string) string {
	if side == "mariadb" {
		return "MariaDB"
	}
	return "SQLite"
}
