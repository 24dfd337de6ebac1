package app

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
	"ax/views"
)

func (a *App) instanceRoutes() []route {
	return []route{
		{http.MethodGet, "/instances", (*App).listInstances, access.Read, false},
		{http.MethodGet, "/instances/:id", (*App).showInstance, access.Read, false},
		{http.MethodGet, "/instances/:id/output", (*App).showOutput, access.Read, false},
		{http.MethodGet, "/instances/:id/log", (*App).showLog, access.Read, false},
		{http.MethodPost, "/instances/:id/cancel", (*App).cancelInstance, access.Cancel, false},
	}
}

const (
	listedInstances = 50
	// watchEvery is how often the page of an open instance asks what became
	// of it, in seconds.
	watchEvery = 2
	// longestCount is the longest time that ended instances are counted over
	// for the list: the roll-up has a row per task and minute.
	longestCount = 7 * 24 * time.Hour
)

// listInstances shows the instances, narrowed by the address.
func (a *App) listInstances(c *gin.Context) (reply, error) {
	if typed := c.Query("q"); typed != "" {
		return a.typedInstances(c, typed)
	}
	q := instanceQuery(c)
	ask, err := a.readInstanceQuery(c, q)
	if err != nil {
		return show(views.Instances(views.InstancesPage{Query: q, Errors: fault.Fields(err)})), err
	}
	page, err := a.instancesPage(c, q, ask)
	if err != nil {
		return reply{}, err
	}
	return show(views.Instances(page)).piecewise(views.InstancesLive(page)), nil
}

func (a *App) instancesPage(c *gin.Context, q views.InstanceQuery, ask instanceAsk) (views.InstancesPage, error) {
	ctx, by := c.Request.Context(), actor(c)
	page := views.InstancesPage{Query: q, Since: ask.filter.Since}
	var err error
	if page.Counts, err = a.instanceCounts(ctx, scopeOf(c), q, ask); err != nil {
		return page, err
	}
	if !ask.none {
		list, err := a.instances.List(ctx, by, ask.filter, sched.PageRequest{After: q.After, Before: q.Before, Limit: listedInstances})
		if err != nil {
			return page, err
		}
		page.Rows, page.Newer, page.Older = list.Items, list.Prev, list.Next
	}
	if page.Tasks, err = a.namesOf(ctx, nil, page.Rows); err != nil {
		return page, err
	}
	page.Nodes, err = a.nodesOf(ctx, q.Node, page.Rows)
	return page, err
}

// instanceCounts counts what is beside the states; nil when that isn't known
// for the query, or would be dear.
func (a *App) instanceCounts(ctx context.Context, scope access.Scope, q views.InstanceQuery, ask instanceAsk) (map[sched.State]int, error) {
	since := a.now().Add(-longestCount / 7)
	if q.Since != "" {
		since = ask.filter.Since
	}
	if q.Narrowed() || since.IsZero() || a.now().Sub(since) > longestCount {
		return nil, nil // the page shows none then
	}
	if ask.none || !scope.All && len(scope.Teams) == 0 {
		return map[sched.State]int{}, nil
	}
	key := fmt.Sprint(scope, ask.filter.TaskID, q.Since)
	return a.counts.get(key, a.now(), recentFor, func() (map[sched.State]int, error) {
		return a.reports.StateCounts(ctx, scope, ask.filter.TaskID, since)
	})
}

// nodesOf gives the nodes that the rows, or the filter, name.
func (a *App) nodesOf(ctx context.Context, filtered string, rows []sched.Instance) (map[string]sched.NodeInfo, error) {
	since := a.now()
	named := filtered != ""
	for _, in := range rows {
		named = named || in.NodeID != ""
		if in.CreatedAt.Before(since) {
			since = in.CreatedAt
		}
	}
	if !named {
		return map[string]sched.NodeInfo{}, nil
	}
	return a.nodesSince(ctx, since)
}

// nodesSince gives the nodes that lived at some time since, by id.
func (a *App) nodesSince(ctx context.Context, since time.Time) (map[string]sched.NodeInfo, error) {
	list, err := a.nodes.Nodes(ctx, since)
	if err != nil {
		return nil, err
	}
	out := make(map[string]sched.NodeInfo, len(list))
	for _, n := range list {
		out[n.ID] = n
	}
	return out, nil
}

// instanceOf gives the instance of the address.
func (a *App) instanceOf(c *gin.Context) (sched.InstanceView, error) {
	id := c.Param("id")
	if !isID(id) {
		return sched.InstanceView{}, access.NoObject()
	}
	return a.instances.Get(c.Request.Context(), actor(c), id)
}

// showInstance shows one instance. As long as it is open its page asks again;
// once it has ended, the whole page is loaded anew and rests.
func (a *App) showInstance(c *gin.Context) (reply, error) {
	v, err := a.instanceOf(c)
	if err != nil {
		return reply{}, err
	}
	page, err := a.instancePage(c, v)
	if err != nil {
		return reply{}, err
	}
	if wantsPiece(c) && v.State.Final() {
		c.Header("HX-Refresh", "true")
	}
	return show(views.Instance(page)).piecewise(views.InstanceLive(page)), nil
}

func (a *App) instancePage(c *gin.Context, v sched.InstanceView) (views.InstancePage, error) {
	ctx, by := c.Request.Context(), actor(c)
	a.seenAt(c, "/instances/"+v.ID, watchEvery)
	page := views.InstancePage{View: v, Again: []sched.Instance{v.Instance}, MayCancel: by.Can(access.Cancel, v.TeamID)}
	var err error
	if page.Nodes, err = a.nodesSince(ctx, v.CreatedAt); err != nil {
		return page, err
	}
	page.Waits = a.waitsFor(v, page.Nodes)
	if err := a.logOf(c, v, &page); err != nil {
		return page, err
	}
	if page.Progress, err = a.instances.Progress(ctx, by, v.Instance); err != nil {
		return page, err
	}
	if err := a.shardsOf(c, v, &page); err != nil {
		return page, err
	}
	facts, err := a.reports.Facts(ctx, []sched.Task{v.Task}, stripRuns)
	if err != nil {
		return page, err
	}
	page.Runs = facts[v.TaskID].Runs
	if v.State.Bad() {
		if page.Open, err = a.incidentOf(c, v.Task, v.Instance); err != nil {
			return page, err
		}
	}
	if v.Letter == 0 {
		return page, nil
	}
	if page.Letter, err = a.letters.Get(ctx, by, v.Letter); err != nil {
		return page, err
	}
	if page.Letter.Replay > 0 {
		page.Again, _, err = a.runsOf(ctx, by, page.Letter)
	}
	return page, err
}

// seenAt says which page a request belongs to whose own address is none, such
// as that of a form that is shown again, and how often the page refreshes.
func (a *App) seenAt(c *gin.Context, path string, every int) {
	if v, ok := visited(c); ok {
		v.viewer.Refresh = every
		if c.Request.Method == http.MethodPost {
			v.viewer.Path = path
		}
	}
}

// runPages bounds the search for the runs of one business action among those
// whose biz_id begins alike.
const runPages = 5

// runsOf gives the runs of a letter's business action, by number; all is
// false when some were not found.
func (a *App) runsOf(ctx context.Context, by access.Actor, l sched.Letter) (runs []sched.Instance, all bool, err error) {
	p := sched.PageRequest{Limit: sched.MaxPage}
	for range runPages {
		list, err := a.instances.List(ctx, by, sched.InstanceFilter{TaskID: l.TaskID, BizID: l.BizID}, p)
		if err != nil {
			return nil, false, err
		}
		for _, in := range list.Items {
			if in.BizID == l.BizID { // the filter knows beginnings only
				runs = append(runs, in)
			}
		}
		if p.After = list.Next; p.After == "" || len(runs) > l.Replay {
			break
		}
	}
	slices.SortFunc(runs, func(x, y sched.Instance) int { return x.Replay - y.Replay })
	return runs, len(runs) > l.Replay, nil
}

// cancelInstance ends an instance, or asks its node to.
func (a *App) cancelInstance(c *gin.Context) (reply, error) {
	v, err := a.instanceOf(c)
	if err != nil {
		return reply{}, err
	}
	ctx, by := c.Request.Context(), actor(c)
	if err := by.Check(access.Cancel, v.TeamID); err != nil {
		return reply{}, err
	}
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	if err := reasonOf(f); err != nil {
		return a.cancelAgain(c, v.ID, f, err)
	}
	got, err := a.instances.Cancel(ctx, by, v.ID, f.text("reason"))
	switch {
	case err != nil:
		return a.cancelAgain(c, v.ID, f, err)
	case got.Wish:
		a.flash(c, "Its node is asked to stop the call")
	default:
		a.flash(c, "The instance is canceled")
	}
	return goTo("/instances/%s", v.ID), nil
}

// cancelAgain shows the instance as it is now, with what was typed and why it
// was refused.
func (a *App) cancelAgain(c *gin.Context, id string, f *form, why error) (reply, error) {
	if k := fault.KindOf(why); k != fault.KindInvalid && k != fault.KindConflict {
		return reply{}, why
	}
	v, err := a.instances.Get(c.Request.Context(), actor(c), id)
	if err != nil {
		return reply{}, err
	}
	page, err := a.instancePage(c, v)
	if err != nil {
		return reply{}, err
	}
	page.Reason, page.Errors, page.Refused = f.text("reason"), fault.Fields(why), a.refusal(c, why)
	return show(views.Instance(page)), why
}

// refusal is what a conflict says, in the person's language; "" for any other
// error.
func (a *App) refusal(c *gin.Context, err error) string {
	text, ok := fault.TextOf(err)
	if !ok || fault.KindOf(err) != fault.KindConflict {
		return ""
	}
	return views.TranslateText(a.viewer(c).Lang, text)
}

// reasonOf checks the reason that a dangerous action asks for.
func reasonOf(f *form) error {
	if f.text("reason") == "" {
		return fault.Invalid(fault.Field("reason", "A reason is needed: the audit keeps it"))
	}
	return checkReason(f.text("reason"))
}
