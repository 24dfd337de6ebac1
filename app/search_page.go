package app

import (
	"context"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
	"ax/views"
)

// Searching stops at these numbers of each kind.
const (
	tasksFound   = 20
	othersFound  = 10
	longestQuery = 200
)

// search goes straight to what is named exactly, a task's code or an
// instance's id, and lists what else may be meant.
func (a *App) search(c *gin.Context) (reply, error) {
	q := strings.TrimSpace(c.Query("q"))
	if q == "" || len(q) > longestQuery {
		return show(views.Search(views.SearchPage{Query: clip(q, longestQuery)})), nil
	}
	ctx, by := c.Request.Context(), actor(c)
	if id, err := uuid.Parse(q); err == nil {
		if _, err := a.instances.Get(ctx, by, id.String()); fault.KindOf(err) != fault.KindNotFound {
			return goTo("/instances/%s", id.String()), err
		}
	}
	if t, err := a.tasks.Get(ctx, by, q); fault.KindOf(err) != fault.KindNotFound {
		return goTo("/tasks/%s", t.Code), err
	}
	hits, err := a.hits(ctx, by, scopeOf(c), q)
	return show(views.Search(views.SearchPage{Query: q, Hits: hits})), err
}

func (a *App) hits(ctx context.Context, by access.Actor, scope access.Scope, q string) ([]views.Hit, error) {
	if !scope.All && len(scope.Teams) == 0 {
		return nil, nil
	}
	tasks, err := a.tasks.List(ctx, by, sched.TaskFilter{Scope: scope, Text: q}, sched.PageRequest{Limit: tasksFound})
	if err != nil {
		return nil, err
	}
	letters, err := a.letters.List(ctx, by, sched.LetterFilter{Scope: scope, BizID: q}, sched.PageRequest{Limit: othersFound})
	if err != nil {
		return nil, err
	}
	instances, err := a.instances.List(ctx, by, sched.InstanceFilter{Scope: scope, BizID: q}, sched.PageRequest{Limit: othersFound})
	if err != nil {
		return nil, err
	}
	named, err := a.namesOf(ctx, letters.Items, instances.Items)
	if err != nil {
		return nil, err
	}
	var out []views.Hit
	for _, t := range tasks.Items {
		out = append(out, views.Hit{Kind: "task", Title: t.Name, Code: t.Code, Href: "/tasks/" + t.Code})
	}
	for _, l := range letters.Items {
		out = append(out, views.Hit{Kind: "letter", Title: named[l.TaskID].Name, Code: l.BizID,
			Href: "/dead-letters/" + strconv.FormatInt(l.ID, 10), State: string(l.Status)})
	}
	for _, in := range instances.Items {
		out = append(out, views.Hit{Kind: "instance", Title: named[in.TaskID].Name, Code: in.BizID,
			Href: "/instances/" + in.ID, State: string(in.State)})
	}
	return out, nil
}

func (a *App) namesOf(ctx context.Context, letters []sched.Letter, instances []sched.Instance) (map[int64]sched.Task, error) {
	var ids []int64
	for _, l := range letters {
		ids = append(ids, l.TaskID)
	}
	for _, in := range instances {
		ids = append(ids, in.TaskID)
	}
	return a.reports.TasksByID(ctx, ids)
}
