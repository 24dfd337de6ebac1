package app

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
	"ax/views"
)

// opsSwitch stops or starts what all teams share; never a toggle, as with
// tasks.
type opsSwitch struct {
	kind, name string // what it is of, and the action in the address
	reason     bool   // must be given
	do         func(s *sched.Switches, ctx context.Context, by access.Actor, id, reason string) error
	said       string // the result; %s is the name
}

func opsSwitches() []opsSwitch {
	return []opsSwitch{
		{kind: views.OfQueue, name: "pause", reason: true, do: (*sched.Switches).PauseQueue, said: "The queue %s is paused"},
		{kind: views.OfQueue, name: "resume", do: (*sched.Switches).ResumeQueue, said: "The queue %s goes on"},
		{kind: views.OfNode, name: "drain", reason: true, do: (*sched.Switches).Drain, said: "%s takes no new work from its next beat on"},
		{kind: views.OfNode, name: "resume", do: (*sched.Switches).StopDraining, said: "%s takes work again from its next beat on"},
	}
}

func switchRoutes() []route {
	var rows []route
	for _, kind := range []string{views.OfQueue, views.OfNode} {
		rows = append(rows, route{http.MethodGet, "/" + kind + "/:id/confirm/:action", askSwitch(kind), access.PauseTask, false})
	}
	for _, s := range opsSwitches() {
		rows = append(rows, route{http.MethodPost, "/" + s.kind + "/:id/" + s.name, s.handler(), access.PauseTask, false})
	}
	return rows
}

// askSwitch asks before the action: in a dialog to htmx, else as a page.
func askSwitch(kind string) func(*App, *gin.Context) (reply, error) {
	return func(a *App, c *gin.Context) (reply, error) {
		all := opsSwitches()
		i := slices.IndexFunc(all, func(s opsSwitch) bool { return s.kind == kind && s.name == c.Param("action") })
		if i < 0 {
			return a.nowhere(c)
		}
		p, err := a.question(c, all[i])
		if err != nil {
			return reply{}, err
		}
		return show(views.SwitchConfirm(p)).piecewise(views.SwitchConfirmDialog(p)), nil
	}
}

// question is asked of what there is, and of who may answer.
func (a *App) question(c *gin.Context, s opsSwitch) (views.SwitchConfirmPage, error) {
	p := views.SwitchConfirmPage{Of: s.kind, Action: s.name, ID: c.Param("id"), Reasoned: s.reason}
	if err := a.switches.Check(c.Request.Context(), actor(c)); err != nil {
		return p, err
	}
	if s.kind == views.OfQueue {
		p.Name = p.ID
		list, err := a.queues.List(c.Request.Context())
		if fault.KindOf(err) == fault.KindUnavailable { // its list is the ledger's
			err = nil
		}
		if err == nil && !slices.ContainsFunc(list, func(q QueueInfo) bool { return q.Name == p.ID }) {
			err = fault.NotFound("There is no queue %s", clip(p.ID, maxFilterText))
		}
		return p, err
	}
	nodes, err := a.nodes.Nodes(c.Request.Context(), a.now())
	if err != nil {
		return p, err
	}
	i := slices.IndexFunc(nodes, func(n sched.NodeInfo) bool { return n.ID == p.ID && !n.Gone() })
	if i < 0 {
		return p, fault.NotFound("There is no such node, or its life is over")
	}
	p.Name, p.Busy = nodes[i].Name(), nodes[i].Busy
	return p, nil
}

// handler carries the action out and comes back to the list; what is missing
// is asked for again.
func (s opsSwitch) handler() func(*App, *gin.Context) (reply, error) {
	return func(a *App, c *gin.Context) (reply, error) {
		f, err := a.form(c)
		if err != nil {
			return reply{}, err
		}
		p, err := a.question(c, s)
		if err != nil {
			return reply{}, err
		}
		if err = checkReason(f.text("reason")); err == nil {
			err = s.do(a.switches, c.Request.Context(), actor(c), p.ID, f.text("reason"))
		}
		if kind := fault.KindOf(err); kind == fault.KindInvalid || kind == fault.KindUnavailable {
			p.Reason, p.Errors = f.text("reason"), errorsOf(err)
			return show(views.SwitchConfirm(p)), err
		}
		if err != nil {
			return reply{}, err
		}
		a.carriers.forget()
		a.flash(c, s.said, p.Name)
		return goTo("/" + s.kind), nil
	}
}

// trendsFor is how long what is drawn of the queues is shown before it is read
// anew: there are samples each ten seconds.
const trendsFor = 10 * time.Second

// depths are how deep queues were over a span.
func (a *App) depths(ctx context.Context, span sched.Span, now time.Time) (sched.Depths, error) {
	keep := trendsFor
	if span == sched.SpanWeek {
		keep = time.Minute
	}
	return a.deep.get(string(span), now, keep, func() (sched.Depths, error) { return a.reports.QueueDepths(ctx, span) })
}

// spanOf is the span that the address asks for.
func spanOf(c *gin.Context, otherwise sched.Span) sched.Span {
	if s := sched.Span(c.Query("span")); slices.Contains(sched.Spans(), s) {
		return s
	}
	return otherwise
}
