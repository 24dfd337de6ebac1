package views

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"ax/app/sched"
	"ax/views/ui"
)

// depthLimit is how many queues the first page draws.
const depthLimit = 4

// spanTabs choose how far back a page looks.
func spanTabs(ctx context.Context, path string, on sched.Span) []ui.Tab {
	words := map[sched.Span]string{sched.SpanHour: t(ctx, "1 h"), sched.SpanDay: t(ctx, "24 h"), sched.SpanWeek: t(ctx, "7 d")}
	var tabs []ui.Tab
	for _, s := range sched.Spans() {
		tabs = append(tabs, ui.Tab{Label: words[s], Href: path + "?span=" + string(s), On: s == on})
	}
	return tabs
}

// deepest is the sample with the most that waited.
func deepest(samples []sched.QueueSample) (most sched.QueueSample) {
	for _, s := range samples {
		if s.Due >= most.Due {
			most = s
		}
	}
	return most
}

// drawn are the queues of which there are samples, the deepest against the
// alarm first, at most n.
func (p QueuesPage) drawn(n int) []QueueFigures {
	var out []QueueFigures
	for _, q := range p.Rows {
		if len(p.Depths.Queues[q.Name]) > 1 {
			out = append(out, q)
		}
	}
	slices.SortStableFunc(out, func(x, y QueueFigures) int {
		return cmp.Compare(deepest(p.Depths.Queues[y.Name]).Due, deepest(p.Depths.Queues[x.Name]).Due)
	})
	return out[:min(n, len(out))]
}

// depthChart draws how deep a queue was, with its alarm.
func (p QueuesPage) depthChart(ctx context.Context, q QueueFigures) ui.Lines {
	samples := p.Depths.Queues[q.Name]
	most := deepest(samples)
	l := depthLine(p.Depths, samples, p.Alarms.QueueDepth)
	l.Label = t(ctx, "Depth of the queue %s: now %s, at most %s at %s; alarm at %s", q.Name, number(q.Due), number(most.Due), clock(ctx, most.At), number(p.Alarms.QueueDepth))
	v := viewer(ctx)
	layout := "15:04"
	if p.Depths.To.Sub(p.Depths.From) > 36*time.Hour {
		layout = "01-02"
	}
	for i, at := range []string{"0%", "33.3%", "66.7%"} {
		moment := p.Depths.From.Add(p.Depths.To.Sub(p.Depths.From) * time.Duration(i) / 3)
		class := ""
		if i > 0 {
			class = "mid tk2"
		}
		l.XTicks = append(l.XTicks, ui.Tick{At: at, Label: moment.In(v.zone()).Format(layout), Class: class})
	}
	l.XTicks = append(l.XTicks, ui.Tick{At: "100%", Label: t(ctx, "now"), Class: "end"})
	return l
}

// depthSpark is the last hour of a queue in its row, as high as it was itself.
func (p QueuesPage) depthSpark(ctx context.Context, q QueueFigures) ui.Lines {
	samples := p.Lately.Queues[q.Name]
	l := depthLine(p.Lately, samples, 0)
	if len(samples) > 0 && p.Alarms.QueueDepth > 0 && samples[len(samples)-1].Due >= p.Alarms.QueueDepth {
		for i := range l.Paths {
			l.Paths[i].Class += " hot"
		}
	}
	l.Label = t(ctx, "The last hour: at most %s", number(deepest(samples).Due))
	return l
}

// depthLine draws samples where they lie in time; where nobody looked for two
// steps the line is broken. It is red when the last one reaches the limit, which
// is drawn when it is above 0.
func depthLine(d sched.Depths, samples []sched.QueueSample, limit int) ui.Lines {
	l := ui.Lines{Height: 92}
	span := d.To.Sub(d.From)
	if len(samples) < 2 || span <= 0 {
		return l
	}
	top := max(limit, deepest(samples).Due, 1)
	x := func(at time.Time) string { return dec(1000*ratio(at.Sub(d.From), span), 1) }
	y := func(n int) string { return dec(100-100*float64(n)/float64(top), 1) }
	var line, area strings.Builder
	for i, s := range samples {
		first := i == 0 || s.At.Sub(samples[i-1].At) > 2*d.Step
		last := i == len(samples)-1 || samples[i+1].At.Sub(s.At) > 2*d.Step
		verb := "L"
		if first {
			verb = "M"
			area.WriteString("M" + x(s.At) + " 100")
		}
		line.WriteString(verb + x(s.At) + " " + y(s.Due))
		area.WriteString("L" + x(s.At) + " " + y(s.Due))
		if last {
			area.WriteString("L" + x(s.At) + " 100Z")
		}
	}
	hot := ""
	if limit > 0 && samples[len(samples)-1].Due >= limit {
		hot = " hot"
	}
	l.Paths = []ui.Path{{Class: "ar" + hot, D: area.String()}, {Class: "ln" + hot, D: line.String()}}
	if limit > 0 {
		l.Paths = append(l.Paths, ui.Path{Class: "ln th", D: "M0 " + y(limit) + "L1000 " + y(limit)})
	}
	return l
}
