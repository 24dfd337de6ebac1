package views

import (
	"context"
	"math"
	"time"

	"ax/app/sched"
	"ax/views/ui"
)

// RunChart is how long the last runs took, with the usual and the rare
// duration as lines.
type RunChart struct {
	Columns ui.Columns
	Lines   []ChartLine
	Unit    string // of the axis
}

// ChartLine is a level across the chart.
type ChartLine struct {
	Class string
	Y     string
}

const (
	runTop    = 8
	runBase   = 152
	runHeight = 170
)

// runChart draws the runs, the oldest left. What never began is a stub; what
// ended badly in no time still shows.
func runChart(ctx context.Context, runs []sched.Run, p50, p99 time.Duration) RunChart {
	var begun []sched.Run
	longest := p99
	for _, r := range runs {
		if !r.StartedAt.IsZero() || r.State.Final() {
			begun = append(begun, r)
			longest = max(longest, r.Took())
		}
	}
	size, unit := chartUnit(ctx, longest)
	step, n := axis(int64(math.Ceil(float64(longest) / float64(size))))
	top := time.Duration(step*int64(n)) * size
	level := func(d time.Duration) float64 { return runBase - (runBase-runTop)*ratio(d, top) }
	c := RunChart{Unit: unit, Columns: ui.Columns{Height: runHeight, Label: runFinding(ctx, begun, p50, p99)}}
	for i := range n + 1 {
		at := step * int64(i)
		c.Columns.YTicks = append(c.Columns.YTicks, ui.Tick{At: dec(level(time.Duration(at)*size), 0), Label: short(at)})
	}
	width := 100 / float64(stripSlots)
	first := stripSlots - len(begun)
	for i, r := range begun {
		h := max(runBase-level(r.Took()), leastBar(r.State))
		c.Columns.Bars = append(c.Columns.Bars, ui.Bar{
			Class: runFill(RunMark{State: string(r.State), Retried: r.Attempt > 1}),
			X:     dec(float64(first+i)*width+width*.1, 3) + "%", W: dec(width*.8, 3) + "%",
			Y: dec(runBase-h, 1), H: dec(h, 1),
		})
	}
	if p50 > 0 {
		c.Lines = []ChartLine{{"ln p50", dec(level(p50), 1)}, {"ln p99", dec(level(p99), 1)}}
	}
	c.Columns.XTicks = runTicks(ctx, begun, first)
	return c
}

// leastBar is the least height of a bar, in pixels.
func leastBar(s sched.State) float64 {
	if s.Bad() {
		return 10
	}
	return 2
}

// chartUnit is the unit in which the longest run has a number of two or three
// digits.
func chartUnit(ctx context.Context, longest time.Duration) (time.Duration, string) {
	switch {
	case longest < time.Second:
		return time.Millisecond, t(ctx, "milliseconds")
	case longest < 20*time.Minute:
		return time.Second, t(ctx, "seconds")
	}
	return time.Minute, t(ctx, "minutes")
}

// runFinding is what one should see in the chart.
func runFinding(ctx context.Context, runs []sched.Run, p50, p99 time.Duration) string {
	bad := 0
	for _, r := range runs {
		if r.State.Bad() {
			bad++
		}
	}
	finding := tn(ctx, "Last %d runs, %s failed", len(runs), number(bad))
	if p50 > 0 {
		finding += t(ctx, ". Half of the good ones took at most %s, 99 of 100 at most %s", duration(ctx, p50), duration(ctx, p99))
	}
	return finding
}

// runTicks label the first run, the last, and where there is room those at
// thirds between.
func runTicks(ctx context.Context, runs []sched.Run, first int) []ui.Tick {
	if len(runs) == 0 {
		return nil
	}
	place := func(i int) string { return dec(float64(first+i)*100/stripSlots, 2) + "%" }
	v := viewer(ctx)
	last := len(runs) - 1
	ticks := []ui.Tick{{At: place(0), Label: v.Clock(runs[0].WantedAt)}}
	if last >= 40 {
		ticks = append(ticks,
			ui.Tick{At: place(last / 3), Label: v.Clock(runs[last/3].WantedAt), Class: "mid tk2"},
			ui.Tick{At: place(2 * last / 3), Label: v.Clock(runs[2*last/3].WantedAt), Class: "mid tk2"})
	}
	if last < 12 { // too near to each other for two labels
		ticks = nil
	}
	return append(ticks, ui.Tick{At: "100%", Label: v.Clock(runs[last].WantedAt), Class: "end"})
}

// runKeys explain the colours that the chart has.
func runKeys(ctx context.Context, runs []sched.Run) []ui.Key {
	words := map[string]string{
		"f-ok": t(ctx, "Succeeded"), "f-retry": t(ctx, "Succeeded after a retry"), "f-late": t(ctx, "Timed out"),
		"f-lost": t(ctx, "Lost"), "f-fail": t(ctx, "Failed"), "f-idle": t(ctx, "Not run"), "f-run": t(ctx, "Running"), "f-await": t(ctx, "Awaiting receipt"),
	}
	there := map[string]bool{}
	for _, r := range runMarks(runs) {
		there[runFill(r)] = true
	}
	var keys []ui.Key
	for _, class := range []string{"f-ok", "f-retry", "f-late", "f-lost", "f-fail", "f-run", "f-await", "f-idle"} {
		if there[class] {
			keys = append(keys, ui.Key{Class: class, Label: words[class]})
		}
	}
	return keys
}
