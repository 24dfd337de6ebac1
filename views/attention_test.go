package views

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
)

func galleryCtx(t *testing.T, lang string) context.Context {
	return With(t.Context(), GalleryViewer(lang, "light"))
}

// quietPage is an installation with nothing to say: one node that does all.
func quietPage() DashboardPage {
	p := DashboardPage{Alarms: sampleAlarms(), Beats: sched.DefaultPulse()}
	p.Figures.Nodes = []sched.NodeInfo{sampleNode("ax-1", "web", "scheduler", "worker")}
	p.Queues = QueuesPage{Nodes: p.Figures.Nodes, Beats: p.Beats, Alarms: p.Alarms, Rows: []QueueFigures{{Name: "default", Due: 9_999}}}
	return p
}

func kinds(list []attention) []string {
	out := []string{}
	for _, a := range list {
		out = append(out, a.kind)
	}
	return out
}

func TestWhatNeedsAPerson(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(p *DashboardPage)
		want   []string
	}{
		"nothing":              {func(*DashboardPage) {}, []string{}},
		"Redis":                {func(p *DashboardPage) { p.Queues.RedisAway = true }, []string{"redis"}},
		"a queue at its alarm": {func(p *DashboardPage) { p.Queues.Rows[0].Due = 10_000 }, []string{"backlog"}},
		"a queue that nobody serves": {func(p *DashboardPage) {
			p.Queues.Rows = append(p.Queues.Rows, QueueFigures{Name: "labels", Due: 1})
		}, []string{"unserved"}},
		"an empty queue that nobody serves": {func(p *DashboardPage) {
			p.Queues.Rows = append(p.Queues.Rows, QueueFigures{Name: "labels"})
		}, []string{}},
		"no scheduler": {func(p *DashboardPage) { p.Figures.Nodes[0].Roles = []string{"web", "worker"} }, []string{"scheduler"}},
		"the only node is dead": {func(p *DashboardPage) {
			p.Figures.Nodes[0].DeadAt = ago(time.Minute)
		}, []string{"scheduler", "unserved", "node"}},
		"a node was stopped in order": {func(p *DashboardPage) {
			n := sampleNode("wk-1", "worker")
			n.ClosedAt = ago(time.Minute)
			p.Figures.Nodes = append(p.Figures.Nodes, n)
		}, []string{}},
		"a clock at the first threshold": {func(p *DashboardPage) { p.Figures.Nodes[0].ClockOffset = -5 * time.Second }, []string{}},
		"a clock beyond it":              {func(p *DashboardPage) { p.Figures.Nodes[0].ClockOffset = -5001 * time.Millisecond }, []string{"clock"}},
		"many nodes at once": {func(p *DashboardPage) {
			for range 4 {
				n := sampleNode("wk-1", "worker")
				n.DeadAt = ago(time.Minute)
				p.Figures.Nodes = append(p.Figures.Nodes, n)
			}
		}, []string{"node"}},
		"the worst first": {func(p *DashboardPage) {
			p.Figures.Overlong = []sched.Instance{{ID: "i"}}
			p.Figures.Troubled = make([]sched.Task, 2)
			p.Errors = sampleErrors()[:1]
			p.Figures.Nodes[0].ClockOffset = 6 * time.Second
			p.Queues.RedisAway = true
		}, []string{"redis", "letter", "troubled", "troubled", "overlong", "clock"}},
		"no more lines of a kind than one can read": {func(p *DashboardPage) {
			p.Figures.Overlong = make([]sched.Instance, 6)
			p.Figures.Troubled = make([]sched.Task, 4)
		}, []string{"troubled", "troubled", "troubled", "troubled", "overlong", "overlong", "overlong", "overlong"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := quietPage()
			c.change(&p)
			require.Equal(t, c.want, kinds(p.attention(galleryCtx(t, English))))
		})
	}
}

func TestAClockBeyondTheAlarmGoesBeforeDeadLetters(t *testing.T) {
	t.Parallel()
	p := quietPage()
	p.Errors = sampleErrors()[:1]
	p.Figures.Nodes[0].ClockOffset = 31 * time.Second
	list := p.attention(galleryCtx(t, English))
	require.Equal(t, []string{"clock", "letter"}, kinds(list))
	require.Equal(t, "The clock of ax-1:30218 is off by +31 s", list[0].title)
}

func TestALetterWithoutErrorIsCalledByItsOutcome(t *testing.T) {
	t.Parallel()
	p := quietPage()
	p.Errors = []LetterGroup{{Latest: sched.Letter{ID: 3, Outcome: sched.OutcomeTimedOut}, Letters: Counted{N: 200, More: true}, Task: sched.Task{Code: "a.b&c"}}}
	a := p.attention(galleryCtx(t, English))[0]
	require.Equal(t, "Timed out", a.title)
	require.Equal(t, "at least 200 dead letters", a.more)
	require.Equal(t, "/dead-letters?task=a.b%26c", a.moreHref)
	p.Errors[0].Latest.Error = "  first\nsecond"
	require.Equal(t, "first", p.attention(galleryCtx(t, Chinese))[0].title)
}
