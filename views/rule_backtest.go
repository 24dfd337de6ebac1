package views

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"ax/app/alert"
	"ax/views/ui"
)

// BackTest is what a rule would have done lately. The zero BackTest was not
// asked for: what is typed can't be read yet.
type BackTest struct {
	Asked     bool
	Metric    alert.Metric
	Threshold float64
	NoHistory bool   // the ledger keeps none of this metric
	Failed    string // why it could not be made; ""
	From, To  time.Time
	Kept      time.Time // since when there is history, where that is later than From
	Points    []TestPoint
	Incidents []TestIncident
	Messages  int
	Acted     int // of the incidents: people acknowledged what was real then
	Real      int // of the incidents: there was a real one at that time
	Others    []OtherNumbers
}

// TestPoint is the metric's worst value around a moment.
type TestPoint struct {
	At    time.Time
	Value float64
	Gap   bool // nothing is known of it
}

// TestIncident is one that the rule would have opened.
type TestIncident struct {
	From, To time.Time // To is zero while it lasts
	Worst    float64
	Subject  string          // what it would have been about; "": the scope
	Real     *alert.Incident // that was open at that time; nil: none
}

// OtherNumbers are a neighbour of the rule, and what it would have done.
type OtherNumbers struct {
	Threshold float64
	Window    time.Duration
	Incidents int
	Acted     int
	Now       bool   // they are those of the form
	Use       string // the form with these numbers
}

func (b BackTest) days() int { return int(math.Round(b.To.Sub(b.From).Hours() / 24)) }

func (b BackTest) meter() alert.Meter {
	m, _ := alert.MeterOf(b.Metric)
	return m
}

func (b BackTest) worstWord(ctx context.Context) string {
	if b.meter().Below {
		return t(ctx, "Lowest")
	}
	return t(ctx, "Highest")
}

// lasted says how long one would have been open.
func (i TestIncident) lasted(ctx context.Context) string {
	if i.To.IsZero() {
		return t(ctx, "%s so far", viewer(ctx).Span(viewer(ctx).Now.Sub(i.From)))
	}
	return viewer(ctx).Span(i.To.Sub(i.From))
}

// then says what people did about it when it was real.
func (i TestIncident) then(ctx context.Context) string {
	switch r := i.Real; {
	case r == nil:
		return t(ctx, "nobody was told")
	case r.Acked() && r.AckedAt.Sub(r.OpenedAt) >= time.Second:
		return t(ctx, "acknowledged after %s, %s", viewer(ctx).Span(r.AckedAt.Sub(r.OpenedAt)), r.AckedBy)
	case r.Acked():
		return t(ctx, "acknowledged by %s", r.AckedBy)
	case r.State == alert.Over:
		return t(ctx, "nobody, over by itself")
	}
	return t(ctx, "still open")
}

// said goes on after how many incidents there would have been.
func (b BackTest) said(ctx context.Context) string {
	span, messages := tn(ctx, "%d d", b.days()), number(b.Messages)
	if b.Real == 0 {
		return t(ctx, "within %s, and %s messages.", span, messages)
	}
	return t(ctx, "within %s, and %s messages; people acted on %s.", span, messages, number(b.Acted))
}

// testShown is how many incidents the table has.
const testShown = 12

func (b BackTest) shown() []TestIncident { return b.Incidents[max(0, len(b.Incidents)-testShown):] }

// no is the number of the i-th that is shown.
func (b BackTest) no(i int) int { return len(b.Incidents) - len(b.shown()) + i + 1 }

const testHeight = 190

// chart draws the metric against the threshold.
func (b BackTest) chart(ctx context.Context) ui.Limit {
	low, high, step := b.axis()
	box := float64(testHeight - 26)
	y := func(v float64) float64 { return 8 + box*(high-v)/(high-low) }
	c := ui.Limit{Label: b.finding(ctx), Height: testHeight, Line: b.line(low, high), At: dec(y(b.Threshold), 1)}
	for v := low; v <= high+step/2; v += step {
		tick := ui.Tick{At: dec(y(v), 1), Label: axisNumber(v)}
		if math.Abs(y(v)-y(b.Threshold)) < 14 { // the limit's own number stands there
			tick.Label = ""
		}
		c.YTicks = append(c.YTicks, tick)
	}
	c.YTicks = append(c.YTicks, ui.Tick{At: c.At, Label: axisNumber(b.Threshold), Class: "on"})
	c.XTicks = b.ticks(ctx)
	for i, x := range b.Incidents {
		c.Bands = append(c.Bands, b.band(i, x))
	}
	return c
}

// axis gives the ends of the axis and its step.
func (b BackTest) axis() (low, high, step float64) {
	low, high = b.Threshold, b.Threshold
	for _, p := range b.Points {
		if !p.Gap {
			low, high = min(low, p.Value), max(high, p.Value)
		}
	}
	if !b.meter().Below {
		low = 0
	}
	if high-low < 1e-9 {
		high = low + max(1, math.Abs(low)/10)
	}
	step = niceStep((high - low) / 4)
	low, high = math.Floor(low/step)*step, math.Ceil(high/step)*step
	if b.meter().Unit == alert.Percent {
		high = min(high, 100)
	}
	return low, high, step
}

// niceStep is the next of 1, 2 and 5 times a power of ten.
func niceStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, n := range []float64{1, 2, 5} {
		if v <= n*power {
			return n * power
		}
	}
	return 10 * power
}

func axisNumber(v float64) string {
	if math.Abs(v) >= 1000 {
		return short(int64(v))
	}
	return dec(v, 2)
}

// across is the place of a moment, from 0 to 1.
func (b BackTest) across(at time.Time) float64 {
	if b.To.Equal(b.From) {
		return 0
	}
	return min(1, max(0, float64(at.Sub(b.From))/float64(b.To.Sub(b.From))))
}

func (b BackTest) line(low, high float64) string {
	var d strings.Builder
	verb := "M"
	for _, p := range b.Points {
		if p.Gap {
			verb = "M"
			continue
		}
		d.WriteString(verb + dec(1000*b.across(p.At), 1) + " " + dec(100*(high-p.Value)/(high-low), 1))
		verb = "L"
	}
	return d.String()
}

// band is an incident in the chart; only those of the table have a number.
func (b BackTest) band(i int, x TestIncident) ui.Band {
	from, to := b.across(x.From), 1.0
	if !x.To.IsZero() {
		to = b.across(x.To)
	}
	wide := max(to-from, 0.004) // a minute of 30 days is seen too
	out := ui.Band{X: dec(100*from, 2) + "%", W: dec(100*wide, 2) + "%", Mid: dec(100*min(max(from+wide/2, 0.012), 0.988), 2) + "%"}
	if len(b.Incidents) <= testShown {
		out.No = strconv.Itoa(i + 1)
	}
	return out
}

func (b BackTest) ticks(ctx context.Context) []ui.Tick {
	third := b.To.Sub(b.From) / 3
	day := func(at time.Time) string { return viewer(ctx).ShortDate(at) }
	return []ui.Tick{
		{At: "0", Label: day(b.From)},
		{At: "33%", Label: day(b.From.Add(third)), Class: "mid tk2"},
		{At: "67%", Label: day(b.From.Add(2 * third)), Class: "mid tk2"},
		{At: "100%", Label: t(ctx, "now"), Class: "end"},
	}
}

// finding is what one should see in the chart.
func (b BackTest) finding(ctx context.Context) string {
	return tn(ctx, "%d incidents: %s over %s against %s.", len(b.Incidents), measureName(ctx, b.Metric),
		tn(ctx, "%d d", b.days()), measured(ctx, b.Metric, b.Threshold))
}

// windowed tells whether the other numbers have windows.
func (b BackTest) windowed() bool { return b.meter().Windowed }
