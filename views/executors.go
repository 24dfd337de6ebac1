package views

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"ax/app/sched"
	"ax/views/ui"
)

// ExecutorGroup is a business service of a team: its addresses, and the tasks
// that name it. A service that only tasks name has no rows.
type ExecutorGroup struct {
	Team  Team
	Name  string
	Rows  []sched.ExecutorInfo
	Tasks []sched.ExecutorTask
	Hour  sched.Rate // of its tasks
}

// ExecutorPage shows one service.
type ExecutorPage struct {
	ExecutorGroup
	Rates map[int64]sched.Rate // of its tasks, within the hour
}

// GroupExecutors puts addresses and tasks together by team and name. rows and
// tasks of teams that are not among teams are left out.
func GroupExecutors(teams map[int64]Team, rows []sched.ExecutorInfo, tasks []sched.ExecutorTask) []ExecutorGroup {
	var out []ExecutorGroup
	at := func(team int64, name string) *ExecutorGroup {
		known, ok := teams[team]
		if !ok {
			return nil
		}
		i := slices.IndexFunc(out, func(g ExecutorGroup) bool { return g.Team.Code == known.Code && g.Name == name })
		if i < 0 {
			out, i = append(out, ExecutorGroup{Team: known, Name: name}), len(out)
		}
		return &out[i]
	}
	for _, e := range rows {
		if g := at(e.TeamID, e.Name); g != nil {
			g.Rows = append(g.Rows, e)
		}
	}
	for _, task := range tasks {
		if g := at(task.TeamID, task.Executor); g != nil {
			g.Tasks = append(g.Tasks, task)
		}
	}
	slices.SortStableFunc(out, func(a, b ExecutorGroup) int {
		return strings.Compare(a.Team.Code+"\x00"+a.Name, b.Team.Code+"\x00"+b.Name)
	})
	return out
}

func (g ExecutorGroup) path() string { return "/executors/" + g.Team.Code + "/" + g.Name }

// executorLook is the state of one address; a beat is late when one was missed.
func executorLook(ctx context.Context, e sched.ExecutorInfo) ui.State {
	age := viewer(ctx).Now.Sub(e.BeatAt)
	switch {
	case !e.ClosedAt.IsZero():
		return ui.State{Icon: "circle-off", Class: "idle", Word: t(ctx, "Left|executor")}
	case age >= sched.ExecutorDead:
		return failLook(ctx, "circle-x", t(ctx, "Offline|executor"))
	case age >= sched.ExecutorBeat+sched.DefaultPulse().Retry:
		return nodeState(ctx, "late")
	}
	return ui.State{Icon: "circle-check", Class: "ok", Word: t(ctx, "Online|executor")}
}

// online counts the addresses that take calls.
func (g ExecutorGroup) online(ctx context.Context) int {
	n := 0
	for _, e := range g.Rows {
		if e.Online(viewer(ctx).Now) {
			n++
		}
	}
	return n
}

// look is the state of the whole service.
func (g ExecutorGroup) look(ctx context.Context) ui.State {
	n, missing := g.online(ctx), 0
	for _, e := range g.Rows {
		if e.ClosedAt.IsZero() && !e.Online(viewer(ctx).Now) {
			missing++
		}
	}
	switch {
	case n == 0:
		return failLook(ctx, "circle-x", t(ctx, "None is online|executor"))
	case missing > 0:
		return ui.State{Icon: "clock-exclamation", Class: "late", Word: t(ctx, "%s of %s online|executor", number(n), number(n+missing))}
	}
	return ui.State{Icon: "circle-check", Class: "ok", Word: t(ctx, "Online|executor")}
}

// executorSign says when it was heard of last, or left.
func executorSign(ctx context.Context, e sched.ExecutorInfo) string {
	if !e.ClosedAt.IsZero() {
		return relative(ctx, e.ClosedAt)
	}
	return t(ctx, "%s ago", duration(ctx, viewer(ctx).Now.Sub(e.BeatAt)))
}

// latest is when any address was heard of last.
func (g ExecutorGroup) latest(ctx context.Context) string {
	if len(g.Rows) == 0 {
		return t(ctx, "none has registered")
	}
	return executorSign(ctx, slices.MaxFunc(g.Rows, func(a, b sched.ExecutorInfo) int { return a.LastSign().Compare(b.LastSign()) }))
}

// types are all that an address of the service offers, or a task asks for.
func (g ExecutorGroup) types() []sched.TaskType {
	var out []sched.TaskType
	add := func(x sched.TaskType) {
		if !slices.ContainsFunc(out, func(have sched.TaskType) bool { return have.Type == x.Type }) {
			out = append(out, x)
		}
	}
	for _, e := range g.Rows {
		for _, x := range e.Types {
			add(x)
		}
	}
	for _, task := range g.Tasks {
		add(sched.TaskType{Type: task.Type})
	}
	return out
}

func (g ExecutorGroup) typeNames() string {
	var names []string
	for _, x := range g.types() {
		names = append(names, x.Type)
	}
	return strings.Join(names, ", ")
}

// weights of the addresses that take calls.
func (g ExecutorGroup) weights(ctx context.Context) string {
	var out []string
	for _, e := range g.Rows {
		if e.Online(viewer(ctx).Now) {
			out = append(out, strconv.Itoa(e.Weight))
		}
	}
	if len(out) == 0 {
		return dash
	}
	return strings.Join(out, " · ")
}

// naming are the tasks that ask for a type.
func (g ExecutorGroup) naming(kind string) (out []sched.ExecutorTask) {
	for _, task := range g.Tasks {
		if task.Type == kind {
			out = append(out, task)
		}
	}
	return out
}

// offered tells whether an address that is online offers the type.
func (g ExecutorGroup) offered(ctx context.Context, kind string) bool {
	return slices.ContainsFunc(g.Rows, func(e sched.ExecutorInfo) bool { return e.Online(viewer(ctx).Now) && e.Offers(kind) })
}

// success is the part of what ended that went well.
func success(r sched.Rate) string {
	if r.Ended() == 0 {
		return dash
	}
	return percent(int64(r.Succeeded), int64(r.Ended()))
}

// routeText names a route for people.
func routeText(ctx context.Context, r sched.Route) string {
	for _, o := range routeOptions(ctx) {
		if o.Value == string(r) {
			return o.Label
		}
	}
	return string(r)
}

func routeOptions(ctx context.Context) []ui.Option {
	return []ui.Option{
		{Value: string(sched.RoundRobin), Label: t(ctx, "In turn, by weight")},
		{Value: string(sched.LeastBusy), Label: t(ctx, "Who runs least for its weight")},
		{Value: string(sched.Random), Label: t(ctx, "At random, by weight")},
		{Value: string(sched.Hash), Label: t(ctx, "The same biz_id to the same one")},
		{Value: string(sched.Failover), Label: t(ctx, "The heaviest; the next when it can’t be reached")},
		{Value: string(sched.Broadcast), Label: t(ctx, "All of them at once, each with its part")},
	}
}

// rate is that of some tasks together.
func (p ExecutorPage) rate(tasks []sched.ExecutorTask) (sum sched.Rate) {
	for _, task := range tasks {
		r := p.Rates[task.ID]
		sum.Succeeded, sum.Bad = sum.Succeeded+r.Succeeded, sum.Bad+r.Bad
	}
	return sum
}
