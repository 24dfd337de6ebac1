package views

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"ax/app/sched"
	"ax/views/ui"
)

// attention is one thing that needs a person.
type attention struct {
	rank  int    // the lower the worse
	kind  string // for tests
	id    string // of the object, so that a refresh moves the line instead of rewriting it under the focus
	state ui.State
	title string
	href  string
	code  string // of the task, before the words
	words string
	more  string // a link behind the words: how many there are
	// moreHref is the list that more counts.
	moreHref string
	since    time.Time
}

// What needs a person, the worst first: what stops everybody's work, then what
// ended badly, then what hangs, then what may become one of these.
const (
	rankStopped = iota
	rankFailed
	rankHeld
	rankWarning
)

// mostOfAKind is how many lines one cause gets before it is summed up.
const mostOfAKind = 3

// attention lists what needs a person, the worst first.
func (p DashboardPage) attention(ctx context.Context) []attention {
	list := slices.Concat(
		p.stopped(ctx), p.clocks(ctx), p.badErrors(ctx), p.unplannable(ctx), p.overlong(ctx), p.offline(ctx),
	)
	slices.SortStableFunc(list, func(a, b attention) int { return cmp.Compare(a.rank, b.rank) })
	return list
}

func attentionSub(ctx context.Context, list []attention) string {
	if len(list) == 0 {
		return ""
	}
	return tn(ctx, "%d open, worst first", len(list))
}

func failLook(ctx context.Context, icon, word string) ui.State {
	return ui.State{Icon: icon, Class: "fail", Word: word}
}

// stopped is what keeps work from being done at all.
func (p DashboardPage) stopped(ctx context.Context) []attention {
	var list []attention
	add := func(kind, id, href, title, words string) {
		list = append(list, attention{
			rank: rankStopped, kind: kind, id: id, state: failLook(ctx, "alert-triangle", t(ctx, "Stopped|work")), title: title, href: href, words: words,
		})
	}
	if p.Queues.RedisAway {
		add("redis", "", "/queues", t(ctx, "Redis does not answer"), t(ctx, "New work waits in the ledger; nothing is lost"))
	}
	if !p.scheduled(ctx) {
		add("scheduler", "", "/nodes", t(ctx, "No scheduler is alive"), t(ctx, "Nothing is planned and nothing handed over; start a node with the role scheduler"))
	}
	for _, q := range p.Queues.Rows {
		switch {
		case q.Due > 0 && p.Queues.serving(ctx, q.Name) == 0:
			add("unserved", q.Name, "/queues", t(ctx, "No node serves the queue %s", q.Name), tn(ctx, "%d runs wait", q.Due))
		case q.Due >= p.Alarms.QueueDepth:
			add("backlog", q.Name, "/queues", t(ctx, "The queue %s is behind", q.Name),
				t(ctx, "%s runs are due and have not begun; alarm at %s", number(q.Due), number(p.Alarms.QueueDepth)))
		}
	}
	return list
}

// scheduled tells whether a node plans. No node at all is a ledger without
// figures, not an alarm.
func (p DashboardPage) scheduled(ctx context.Context) bool {
	return len(p.Figures.Nodes) == 0 || slices.ContainsFunc(p.Figures.Nodes, func(n sched.NodeInfo) bool {
		return lives(n, viewer(ctx).Now, p.Beats) && slices.Contains(n.Roles, "scheduler")
	})
}

// clocks are the nodes whose wall clock is off.
func (p DashboardPage) clocks(ctx context.Context) []attention {
	var list []attention
	for _, n := range p.Figures.Nodes {
		if !lives(n, viewer(ctx).Now, p.Beats) || n.ClockOffset.Abs() <= sched.ClockWarn {
			continue
		}
		a := attention{
			rank: rankWarning, kind: "clock", id: n.ID, href: "/nodes",
			state: ui.State{Icon: "clock", Class: "retry", Word: t(ctx, "Clock")},
			title: t(ctx, "The clock of %s is off by %s", n.Name(), offsetText(ctx, n.ClockOffset)),
			words: t(ctx, "against the database; over %s it stops planning", duration(ctx, sched.ClockStop)),
		}
		if n.ClockOffset.Abs() >= p.Alarms.ClockOffset {
			a.rank, a.state.Class = rankStopped, "fail"
			a.words = t(ctx, "against the database; the alarm is at %s", duration(ctx, p.Alarms.ClockOffset))
		}
		list = append(list, a)
	}
	return list
}

// badErrors are the errors of the open dead letters.
func (p DashboardPage) badErrors(ctx context.Context) []attention {
	var list []attention
	for _, g := range p.Errors {
		a := attention{
			rank: rankFailed, kind: "letter", id: strconv.FormatInt(g.First, 10), state: letterState(ctx, string(sched.LetterOpen)),
			title: errorText(ctx, firstLine(g.Latest.Error)), href: "/dead-letters/" + strconv.FormatInt(g.Latest.ID, 10),
			code: g.Task.Code, words: g.Task.Name, since: g.Latest.OpenedAt,
		}
		if a.title == "" {
			a.title = state(ctx, string(g.Latest.Outcome)).Word
		}
		if g.Letters.N > 1 {
			a.more, a.moreHref = g.Letters.letters(ctx), LetterQuery{Task: g.Task.Code}.Path()
		}
		list = append(list, a)
	}
	if p.More.Errors > 0 {
		list = append(list, attention{
			rank: rankFailed, kind: "letters", state: letterState(ctx, string(sched.LetterOpen)), href: "/dead-letters",
			title: tn(ctx, "%d more errors", p.More.Errors), words: p.More.Letters.letters(ctx),
		})
	}
	return list
}

// unplannable are tasks whose next run can't be told.
func (p DashboardPage) unplannable(ctx context.Context) []attention {
	var list []attention
	for i, task := range p.Figures.Troubled {
		a := attention{
			rank: rankHeld, kind: "troubled", id: task.Code, state: state(ctx, "broken"), title: t(ctx, "%s can’t be planned", task.Name),
			href: taskURL(task.Code), code: task.Code, words: task.PlanError,
		}
		if rest := len(p.Figures.Troubled) - mostOfAKind; i == mostOfAKind && rest > 1 {
			a = attention{rank: rankHeld, kind: "troubled", state: a.state, href: TasksFilter{Troubled: true}.URL(), title: t(ctx, "More tasks can’t be planned")}
			return append(list, a)
		}
		list = append(list, a)
	}
	return list
}

// overlong are runs past their deadline.
func (p DashboardPage) overlong(ctx context.Context) []attention {
	var list []attention
	for i, in := range p.Figures.Overlong {
		look := ui.State{Icon: "clock-exclamation", Class: "late", Word: t(ctx, "Past its deadline")}
		if rest := len(p.Figures.Overlong) - mostOfAKind; i == mostOfAKind && rest > 1 {
			return append(list, attention{rank: rankHeld, kind: "overlong", state: look, href: InstanceQuery{State: sched.Running}.Path(), title: t(ctx, "More runs are past their deadline")})
		}
		task := p.Figures.Tasks[in.TaskID]
		list = append(list, attention{
			rank: rankHeld, kind: "overlong", id: in.ID, state: look, title: t(ctx, "%s runs past its deadline", task.Name),
			href: "/instances/" + in.ID, code: task.Code, since: in.DeadlineAt, words: in.BizID,
		})
	}
	return list
}

// offline are the nodes that are gone without having been stopped.
func (p DashboardPage) offline(ctx context.Context) []attention {
	var list []attention
	for _, n := range p.Figures.Nodes {
		if n.ClosedAt.IsZero() && !lives(n, viewer(ctx).Now, p.Beats) {
			list = append(list, attention{
				rank: rankHeld, kind: "node", id: n.ID, state: nodeState(ctx, "dead"), href: "/nodes",
				title: t(ctx, "Node %s is offline", n.Name()), since: n.BeatAt,
				words: t(ctx, "last beat %s", clock(ctx, n.BeatAt)),
			})
		}
	}
	if len(list) > mostOfAKind {
		list[0].title, list[0].since, list[0].words = tn(ctx, "%d nodes are offline", len(list)), time.Time{}, t(ctx, "each stopped beating within the last hour")
		list = list[:1]
	}
	return list
}

// firstLine is as much of an error as a title takes.
func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
