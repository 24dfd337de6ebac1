package views

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"ax/app/fault"
	"ax/app/sched"
	"ax/views/ui"
)

// Periods of the list of instances, as its address has them.
const (
	PeriodDefault = "24h" // of what has ended; what is open is shown whenever it was made
	PeriodAll     = "all"
)

// InstanceQuery is what narrows the list of instances, as its address has it.
// The app reads it; the page writes it into its links.
type InstanceQuery struct {
	State  sched.State
	Group  sched.Group
	Task   string // code
	BizID  string // its beginning
	Node   string // id
	Origin sched.Origin
	Since  string // a period ("24h"), PeriodAll, or a moment as it was typed; "" is the usual
	Until  string // a moment as it was typed
	After  string // key of the page
	Before string
}

// Open tells whether only states are asked for that are no end.
func (q InstanceQuery) Open() bool {
	switch {
	case q.State != "":
		return !q.State.Final()
	case q.Group != "":
		return q.Group == sched.GroupWaiting || q.Group == sched.GroupRunning
	}
	return false
}

// Period is the bound in time that is in force.
func (q InstanceQuery) Period() string {
	switch {
	case q.Since != "":
		return q.Since
	case q.Open() || q.Until != "":
		return PeriodAll
	}
	return PeriodDefault
}

// Narrowed tells whether more than states and time narrows the list: what the
// counts beside the states know nothing of.
func (q InstanceQuery) Narrowed() bool {
	return q.BizID != "" || q.Node != "" || q.Origin != "" || q.Until != ""
}

// Path is the list's address.
func (q InstanceQuery) Path() string {
	values := url.Values{}
	for _, p := range [...]struct{ key, value string }{
		{"state", string(q.State)}, {"group", string(q.Group)}, {"task", q.Task}, {"biz", q.BizID}, {"node", q.Node},
		{"origin", string(q.Origin)}, {"since", q.Since}, {"until", q.Until}, {"after", q.After}, {"before", q.Before},
	} {
		if p.value != "" {
			values.Set(p.key, p.value)
		}
	}
	if len(values) == 0 {
		return "/instances"
	}
	return "/instances?" + values.Encode()
}

// first is the query without the place in the list.
func (q InstanceQuery) first() InstanceQuery {
	q.After, q.Before = "", ""
	return q
}

// of is the same list in another state. What is open is shown whenever it was
// made, so that the list has what its count says.
func (q InstanceQuery) of(g sched.Group, s sched.State) InstanceQuery {
	q = q.first()
	q.Group, q.State = g, s
	if q.Open() {
		q.Since, q.Until = "", ""
	}
	return q
}

// hidden are the filters that a search from the box carries along.
func (q InstanceQuery) hidden() []ui.Hidden {
	u, err := url.Parse(q.first().Path())
	if err != nil {
		return nil
	}
	var out []ui.Hidden
	for key, values := range u.Query() {
		out = append(out, ui.Hidden{Name: key, Value: values[0]})
	}
	slices.SortFunc(out, func(a, b ui.Hidden) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// InstancesPage is the list of instances.
type InstancesPage struct {
	Query  InstanceQuery
	Since  time.Time // of what is shown; zero: no bound
	Rows   []sched.Instance
	Tasks  map[int64]sched.Task
	Nodes  map[string]sched.NodeInfo // those that the rows name
	Counts map[sched.State]int       // nil: not known for this query
	Newer  string                    // keys of the pages beside this one
	Older  string
	Errors []fault.FieldError // of the query
}

// tokens are the filters in force, each with the way out.
func (p InstancesPage) tokens(ctx context.Context) []ui.Token {
	q := p.Query.first()
	var out []ui.Token
	add := func(key, value string, without InstanceQuery) {
		out = append(out, ui.Token{Key: key, Value: value, Remove: without.Path(), Label: t(ctx, "Remove the filter %s", key)})
	}
	if q.Task != "" {
		rest := q
		rest.Task = ""
		add("task", q.Task, rest)
	}
	if q.BizID != "" {
		rest := q
		rest.BizID = ""
		add("biz", q.BizID+"…", rest)
	}
	if q.Node != "" {
		rest := q
		rest.Node = ""
		add("node", nodeName(p.Nodes, q.Node), rest)
	}
	if q.Origin != "" {
		rest := q
		rest.Origin = ""
		add("origin", originWord(ctx, q.Origin), rest)
	}
	if q.Since != "" && !slices.Contains(periods, q.Since) {
		rest := q
		rest.Since = ""
		add("since", q.Since, rest)
	}
	if q.Until != "" {
		rest := q
		rest.Until = ""
		add("until", q.Until, rest)
	}
	return out
}

// periods to choose from, shortest first.
var periods = []string{"1h", PeriodDefault, "7d", "30d", PeriodAll}

func (p InstancesPage) periods(ctx context.Context) []ui.Tab {
	words := map[string]string{"1h": t(ctx, "1 h"), PeriodDefault: t(ctx, "24 h"), "7d": t(ctx, "7 d"), "30d": t(ctx, "30 d"), PeriodAll: t(ctx, "All|period")}
	tabs := make([]ui.Tab, len(periods))
	for i, period := range periods {
		q := p.Query.first()
		q.Since, q.Until = period, ""
		tabs[i] = ui.Tab{Label: words[period], Href: q.Path(), On: p.Query.Period() == period && p.Query.Until == ""}
	}
	return tabs
}

// pager is the foot of the list.
func (p InstancesPage) pager(ctx context.Context) ui.Pager {
	out := ui.Pager{NewerWord: t(ctx, "Newer"), OldWord: t(ctx, "Older"), Shown: tn(ctx, "%d shown, newest first", len(p.Rows))}
	if !p.Since.IsZero() {
		out.Shown = tn(ctx, "%d shown, newest first, made since %s", len(p.Rows), clock(ctx, p.Since))
	}
	if p.Newer != "" {
		q := p.Query.first()
		q.Before = p.Newer
		out.Newer = q.Path()
	}
	if p.Older != "" {
		q := p.Query.first()
		q.After = p.Older
		out.Older = q.Path()
	}
	return out
}

// stateLink is a line of the rail.
type stateLink struct {
	look  ui.State
	count string
	href  string
	on    bool
	sub   []stateLink
}

// rail is the five groups with their states.
func (p InstancesPage) rail(ctx context.Context) []stateLink {
	out := make([]stateLink, 0, 5)
	for _, g := range sched.Groups() {
		link := stateLink{look: group(ctx, string(g)), href: p.Query.of(g, "").Path(), on: p.Query.Group == g && p.Query.State == "", count: p.count(g.States()...)}
		if states := g.States(); len(states) > 1 {
			for _, s := range states {
				link.sub = append(link.sub, stateLink{look: state(ctx, string(s)), href: p.Query.of("", s).Path(), on: p.Query.State == s, count: p.count(s)})
			}
		} else if p.Query.State == states[0] {
			link.on = true
		}
		out = append(out, link)
	}
	return out
}

// count of what is in the states; "" when it is not known.
func (p InstancesPage) count(states ...sched.State) string {
	if p.Counts == nil {
		return ""
	}
	n := 0
	for _, s := range states {
		n += p.Counts[s]
	}
	return number(n)
}

// refreshing are the attributes of a part that refreshes itself.
func refreshing(path string) templ.Attributes {
	return templ.Attributes{"hx-get": path, "hx-trigger": "ax-refresh from:body", "hx-swap": "outerMorph"}
}

// nodeName is what people call a node: its host and process, or the beginning
// of its id when its row is gone.
func nodeName(nodes map[string]sched.NodeInfo, id string) string {
	n, ok := nodes[id]
	switch {
	case ok && n.PID != 0:
		return n.Host + ":" + strconv.Itoa(n.PID)
	case ok:
		return n.Host
	case len(id) > 8:
		return id[len(id)-8:] // the end: ids begin with the time, which is alike for all
	}
	return id
}

// lastWord is what stands below an instance's name: its error, or why it
// waits. Loud is an error, as it came.
type lastWord struct {
	text string
	loud bool
}

func lastWordOf(ctx context.Context, in sched.Instance) lastWord {
	switch {
	case in.State == sched.Skipped || in.State == sched.Canceled:
		return lastWord{text: reasonText(ctx, in.Reason)}
	case in.State == sched.Awaiting:
		return lastWord{text: t(ctx, "Accepted; a receipt is due by %s", clock(ctx, in.ReceiptDeadline))}
	case !in.CancelWanted.IsZero() && in.State == sched.Running:
		return lastWord{text: t(ctx, "Somebody asked to cancel it")}
	case in.Error != "" && in.State != sched.Succeeded:
		return lastWord{text: errorText(ctx, in.Error), loud: true}
	case in.Defers > 0 && !in.State.Final() && in.State != sched.Running:
		return lastWord{text: t(ctx, "No free place yet; asked %s times", number(in.Defers))}
	}
	return lastWord{}
}

// took is how long an instance ran, with what stands below it.
func took(ctx context.Context, in sched.Instance) (value, sub string) {
	switch {
	case in.StartedAt.IsZero():
		return dash, ""
	case in.State.Final():
		return duration(ctx, in.FinishedAt.Sub(in.StartedAt)), ""
	}
	return duration(ctx, viewer(ctx).Now.Sub(in.StartedAt)), t(ctx, "so far")
}

// lag is how late the first attempt began, or how late it is by now; 0 unless
// that is worth a word.
func lag(ctx context.Context, in sched.Instance) time.Duration {
	begun := in.StartedAt
	if begun.IsZero() {
		if in.State.Final() {
			return 0
		}
		begun = viewer(ctx).Now
	}
	if late := begun.Sub(in.WantedAt); late >= sched.LateAfter {
		return late
	}
	return 0
}

// dueAgain is when an instance that was put off is due next; zero otherwise.
func dueAgain(in sched.Instance) time.Time {
	if in.State.Final() || in.State == sched.Running || in.State == sched.Awaiting || !in.DueAt.After(in.WantedAt) {
		return time.Time{}
	}
	return in.DueAt
}

// tries is the number of the attempt and how many there may be.
func tries(ctx context.Context, in sched.Instance, task sched.Task) string {
	most := 1 + task.Spec.Policy.Retry.Max
	switch {
	case in.Attempt == 0:
		return dash
	case in.Attempt == 1 || in.Attempt > most: // deaths of nodes don't count
		return number(in.Attempt)
	}
	return t(ctx, "%s of %s", number(in.Attempt), number(most))
}

// emptiness says why the list has no rows.
func (p InstancesPage) emptiness() string {
	q := p.Query
	switch {
	case q.After != "" || q.Before != "":
		return "end"
	case q.State != "" || q.Group != "" || q.Task != "" || q.Narrowed():
		return "filtered"
	case q.Period() != PeriodAll:
		return "period"
	}
	return "new"
}

// wider is the same list without a bound in time.
func (p InstancesPage) wider() string {
	q := p.Query.first()
	q.Since, q.Until = PeriodAll, ""
	return q.Path()
}
