package views

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"ax/views/ui"
)

// OutcomeBucket is what ended in one span of time.
type OutcomeBucket struct {
	At        time.Time // its start
	Succeeded int64     // at the first attempt
	Retried   int64     // succeeded after a retry
	TimedOut  int64
	Lost      int64
	Failed    int64
}

// outcomeClasses are the parts of a column from the baseline up: good below,
// bad on top.
var outcomeClasses = [...]string{"f-ok", "f-retry", "f-late", "f-lost", "f-fail"}

func (b OutcomeBucket) parts() [5]int64 {
	return [...]int64{b.Succeeded, b.Retried, b.TimedOut, b.Lost, b.Failed}
}

func (b OutcomeBucket) total() int64 {
	return b.Succeeded + b.Retried + b.TimedOut + b.Lost + b.Failed
}

// outcomeKeys explain the colours of outcomeColumns.
func outcomeKeys(ctx context.Context) []ui.Key {
	words := [...]string{t(ctx, "Succeeded"), t(ctx, "Succeeded after a retry"), t(ctx, "Timed out"), t(ctx, "Lost"), t(ctx, "Failed")}
	keys := make([]ui.Key, len(words))
	for i, w := range words {
		keys[i] = ui.Key{Class: outcomeClasses[i], Label: w}
	}
	return keys
}

const (
	columnTop    = 18  // pixels above the highest gridline, for marks
	columnBase   = 172 // pixel of the baseline
	columnHeight = 190
)

// outcomeColumns draws what ended per bucket. The buckets are of equal length
// and in order; finding is the sentence that the chart is read out as.
func outcomeColumns(ctx context.Context, buckets []OutcomeBucket, finding string) ui.Columns {
	c := ui.Columns{Label: finding, Height: columnHeight}
	var most int64
	for _, b := range buckets {
		most = max(most, b.total())
	}
	step, n := axis(most)
	scale := float64(columnBase-columnTop) / float64(step*int64(n))
	for i := range n + 1 {
		y := columnBase - float64(step*int64(i))*scale
		c.YTicks = append(c.YTicks, ui.Tick{At: dec(y, 0), Label: short(step * int64(i))})
	}
	for i, b := range buckets {
		width := 100 / float64(len(buckets))
		x, y := dec(float64(i)*width+width*.08, 3)+"%", float64(columnBase)
		for k, part := range b.parts() {
			if part == 0 {
				continue
			}
			h := max(float64(part)*scale, 0.6) // one failure among thousands still shows
			y -= h
			c.Bars = append(c.Bars, ui.Bar{Class: outcomeClasses[k], X: x, Y: dec(y, 1), W: dec(width*.84, 3) + "%", H: dec(h, 1)})
		}
	}
	c.XTicks = timeTicks(ctx, buckets)
	return c
}

// timeTicks label every eighth of the time; the last is "now".
func timeTicks(ctx context.Context, buckets []OutcomeBucket) []ui.Tick {
	if len(buckets) == 0 {
		return nil
	}
	v := viewer(ctx)
	layout := "15:04"
	if span := buckets[len(buckets)-1].At.Sub(buckets[0].At); span > 36*time.Hour {
		layout = "2 Jan"
		if v.Lang == Chinese {
			layout = "01-02"
		}
	}
	ticks := make([]ui.Tick, 0, 9)
	for i := range 8 {
		at := buckets[i*len(buckets)/8].At.In(v.zone())
		class := "mid"
		if i == 0 {
			class = ""
		}
		if i%2 == 1 {
			class = "mid tk2"
		}
		ticks = append(ticks, ui.Tick{At: dec(float64(i)*12.5, 1) + "%", Label: at.Format(layout), Class: class})
	}
	return append(ticks, ui.Tick{At: "100%", Label: t(ctx, "now"), Class: "end"})
}

// axis chooses a step of 1, 2 or 5 times a power of ten and how many of them
// (2 to 4) hold most.
func axis(most int64) (step int64, n int) {
	for unit := int64(1); ; unit *= 10 {
		for _, f := range [...]int64{1, 2, 5} {
			if step = f * unit; step*4 >= most {
				return step, max(2, int((most+step-1)/step))
			}
		}
	}
}

// RunMark is one run of a strip.
type RunMark struct {
	State    string
	Retried  bool          // succeeded, but not at once
	Duration time.Duration // of its last attempt
}

const stripSlots = 60

// runStrip draws the last 60 runs, the oldest first: the higher the longer.
// What failed stands at full height, so that it shows among short ones.
func runStrip(ctx context.Context, runs []RunMark) ui.Slots {
	if len(runs) > stripSlots {
		runs = runs[len(runs)-stripSlots:]
	}
	var longest time.Duration
	failed := int64(0)
	for _, r := range runs {
		longest = max(longest, r.Duration)
		if full(r.State) {
			failed++
		}
	}
	s := ui.Slots{Width: strconv.Itoa(stripSlots * 3), Label: tn(ctx, "Last %d runs, %s failed", int64(len(runs)), number(failed))}
	for i, r := range runs {
		h := 3 + int(math.Round(12*math.Sqrt(ratio(r.Duration, longest))))
		if full(r.State) {
			h = 22
		}
		s.Bars = append(s.Bars, ui.Bar{Class: runFill(r), W: "2", X: strconv.Itoa((stripSlots - len(runs) + i) * 3),
			Y: strconv.Itoa(22 - h), H: strconv.Itoa(h)})
	}
	return s
}

// full reports the states that end badly.
func full(state string) bool { return state == "failed" || state == "timed_out" || state == "lost" }

// runFill is the colour of a run in charts.
func runFill(r RunMark) string {
	switch {
	case r.State == "succeeded" && r.Retried:
		return "f-retry"
	case looks[r.State].class != "":
		return "f-" + looks[r.State].class
	}
	return "f-idle"
}

// durationLine draws how long the runs took, the oldest first, below the
// limit when there is one.
func durationLine(runs []RunMark, limit time.Duration, finding string) ui.Lines {
	values := make([]int64, len(runs))
	for i, r := range runs {
		values[i] = int64(r.Duration)
	}
	return areaLine(values, int64(limit), finding)
}

// areaLine draws values over time, the oldest first, with a dashed line at
// the limit when it is above 0. It is red when the last value exceeds it.
func areaLine(values []int64, limit int64, finding string) ui.Lines {
	l := ui.Lines{Label: finding, Height: 92}
	top := limit
	for _, v := range values {
		top = max(top, v)
	}
	if len(values) < 2 || top == 0 {
		return l
	}
	height := func(v int64) string { return dec(100-100*float64(v)/float64(top), 1) }
	var line strings.Builder
	for i, v := range values {
		verb := "L"
		if i == 0 {
			verb = "M"
		}
		line.WriteString(verb + dec(1000*float64(i)/float64(len(values)-1), 1) + " " + height(v))
	}
	hot := ""
	if limit > 0 && values[len(values)-1] > limit {
		hot = " hot"
	}
	l.Paths = []ui.Path{{Class: "ar" + hot, D: line.String() + "L1000 100L0 100Z"}, {Class: "ln" + hot, D: line.String()}}
	if limit > 0 {
		l.Paths = append(l.Paths, ui.Path{Class: "ln th", D: "M0 " + height(limit) + "L1000 " + height(limit)})
	}
	return l
}

func ratio(part, whole time.Duration) float64 {
	if whole <= 0 {
		return 0
	}
	return min(max(float64(part)/float64(whole), 0), 1)
}

// dec prints with at most n decimals.
func dec(f float64, n int) string {
	s := strconv.FormatFloat(f, 'f', n, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
