package app

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/sched"
	"ax/views"
)

func (a *App) executorRoutes() []route {
	return []route{{http.MethodGet, "/executors/:team/:name", (*App).showExecutor, access.Read, false}}
}

// executorRate is how far back the success of an executor's tasks is counted.
const executorRate = time.Hour

// executorGroups are the services of a scope, with the tasks that name them.
func (a *App) executorGroups(c *gin.Context, scope access.Scope) ([]views.ExecutorGroup, map[int64]sched.Rate, error) {
	ctx, by := c.Request.Context(), actor(c)
	if !scope.All && len(scope.Teams) == 0 {
		return nil, nil, nil
	}
	rows, err := a.executors.List(ctx, by, scope)
	if err != nil {
		return nil, nil, err
	}
	tasks, err := a.executors.Tasks(ctx, by, scope)
	if err != nil {
		return nil, nil, err
	}
	teams := map[int64]views.Team{}
	for _, t := range teamsOf(c) {
		teams[t.ID] = views.Team{Code: t.Code, Name: t.Name}
	}
	groups := views.GroupExecutors(teams, rows, tasks)
	rates, err := a.executorRates(ctx, tasks)
	for i, g := range groups {
		for _, t := range g.Tasks {
			groups[i].Hour.Succeeded += rates[t.ID].Succeeded
			groups[i].Hour.Bad += rates[t.ID].Bad
		}
	}
	return groups, rates, err
}

func (a *App) executorRates(ctx context.Context, tasks []sched.ExecutorTask) (map[int64]sched.Rate, error) {
	if len(tasks) == 0 {
		return nil, nil
	}
	ids := make([]int64, len(tasks))
	for i, t := range tasks {
		ids[i] = t.ID
	}
	return a.reports.Rates(ctx, ids, a.now().Add(-executorRate))
}

// showExecutor shows one service: its addresses, types of work and tasks.
func (a *App) showExecutor(c *gin.Context) (reply, error) {
	i := slices.IndexFunc(teamsOf(c), func(t access.Team) bool { return t.Code == c.Param("team") })
	if i < 0 {
		return reply{}, access.NoObject()
	}
	groups, rates, err := a.executorGroups(c, access.Scope{Teams: []int64{teamsOf(c)[i].ID}})
	if err != nil {
		return reply{}, err
	}
	at := slices.IndexFunc(groups, func(g views.ExecutorGroup) bool { return g.Name == c.Param("name") })
	if at < 0 {
		return reply{}, access.NoObject()
	}
	p := views.ExecutorPage{ExecutorGroup: groups[at], Rates: rates}
	return show(views.Executor(p)).piecewise(views.ExecutorBody(p)), nil
}

// executorOptions are what a task of the team may name; all that the person
// sees while the team may still be chosen. Without them the form still works.
func (a *App) executorOptions(c *gin.Context, team int64) []views.ExecutorOption {
	asked := scopeOf(c)
	if team != 0 {
		asked = access.Scope{Teams: []int64{team}}
	}
	all, err := a.executors.List(c.Request.Context(), actor(c), asked)
	if err != nil {
		return nil
	}
	return views.ExecutorOptions(all)
}

// withExecutor is the target with the executor that the form names. Its route
// is left out where there is none: the form always says one.
func withExecutor(to sched.TargetSpec, typed views.TaskValues) sched.TargetSpec {
	if typed.Executor != "" {
		to.Executor, to.Type = views.ReadExecutor(typed.Executor)
		to.Route = sched.Route(typed.Route)
	}
	return to
}

// shardsOf gives the page what became of the parts of a broadcast.
func (a *App) shardsOf(c *gin.Context, v sched.InstanceView, page *views.InstancePage) (err error) {
	broadcast := func(x sched.Attempt) bool { return strings.HasPrefix(x.Request, "broadcast of ") }
	if v.Task.Spec.Target.Executor == "" && !slices.ContainsFunc(v.Attempts, broadcast) {
		return nil
	}
	page.Shards, err = a.executors.Shards(c.Request.Context(), actor(c), v.Instance)
	slices.SortStableFunc(page.Shards, func(x, y sched.ShardRun) int { return y.Attempt - x.Attempt })
	return err
}
