package app

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/sched"
	"ax/views"
)

func (a *App) dashboardRoutes() []route {
	return []route{{http.MethodGet, "/", (*App).showDashboard, access.Read, false}}
}

const (
	// errorsShown is how many errors of open dead letters have a line.
	errorsShown = 5
	// teamsShown is how many teams are compared.
	teamsShown = 12
)

// showDashboard is the first page: the figures of the teams chosen and what
// needs a person.
func (a *App) showDashboard(c *gin.Context) (reply, error) {
	p, err := a.dashboard(c)
	if err != nil {
		return reply{}, err
	}
	p.MayCreate = mayAnywhere(actor(c), access.EditTask)
	return show(views.Dashboard(p)).piecewise(views.DashboardBody(p)), nil
}

func (a *App) dashboard(c *gin.Context) (views.DashboardPage, error) {
	ctx, by, scope := c.Request.Context(), actor(c), scopeOf(c)
	if !scope.All && len(scope.Teams) == 0 {
		return views.DashboardPage{NoTeam: true}, nil
	}
	now := a.viewer(c).Now
	p, err := a.dashboards.get(fmt.Sprint(scope), now, recentFor, func() (views.DashboardPage, error) {
		return a.readDashboard(ctx, by, scope, now)
	})
	if err != nil {
		return p, err
	}
	if p.Firing, err = a.firingRows(c); err != nil {
		return p, err
	}
	if p.Queues, err = a.queuesPage(ctx, now); err != nil {
		return p, err
	}
	if p.Queues.Depths, err = a.depths(ctx, sched.SpanDay, now); err != nil {
		return p, err
	}
	if err := a.addOutcomes(ctx, &p, scope, spanOf(c, sched.SpanDay), now); err != nil {
		return p, err
	}
	if teams := teamsOf(c); len(teams) > 1 && a.viewer(c).Team == "" {
		p.Teams = teamRates(teams, p.Figures.Teams)
	}
	if blank(p.Figures) {
		p.FirstRun, err = a.noTask(ctx, by)
	}
	return p, err
}

// addOutcomes adds what ended in the span; that of a day is there already.
func (a *App) addOutcomes(ctx context.Context, p *views.DashboardPage, scope access.Scope, span sched.Span, now time.Time) (err error) {
	p.Span, p.Outcomes = span, p.Figures.Buckets
	if span == sched.SpanDay {
		return nil
	}
	keep := recentFor
	if span == sched.SpanWeek {
		keep = time.Minute
	}
	p.Outcomes, err = a.outcomes.get(fmt.Sprint(scope, span), now, keep, func() ([]sched.Bucket, error) { return a.reports.Outcomes(ctx, scope, span) })
	return err
}

// readDashboard reads what all viewers of the scope share.
func (a *App) readDashboard(ctx context.Context, by access.Actor, scope access.Scope, now time.Time) (views.DashboardPage, error) {
	p := views.DashboardPage{Alarms: a.alarms.shown(), Beats: a.beats}
	var err error
	if p.Figures, err = a.reports.Dashboard(ctx, scope); err != nil || p.Figures.OpenLetters == 0 {
		return p, err
	}
	open, err := a.letters.List(ctx, by, sched.LetterFilter{
		Scope: scope, Statuses: []sched.LetterStatus{sched.LetterOpen},
	}, sched.PageRequest{Limit: sched.MaxPage})
	if err != nil {
		return p, err
	}
	fresh, err := a.letters.List(ctx, by, sched.LetterFilter{
		Scope: scope, Statuses: []sched.LetterStatus{sched.LetterOpen, sched.LetterTaken}, Since: now.Add(-time.Hour),
	}, sched.PageRequest{Limit: sched.MaxPage})
	if err != nil {
		return p, err
	}
	p.New = views.Counted{N: len(fresh.Items), More: fresh.Next != ""}
	p.Errors, p.More = groupLetters(open)
	return p, a.nameTasks(ctx, p.Errors)
}

func (a *App) nameTasks(ctx context.Context, groups []views.LetterGroup) error {
	var ids []int64
	for _, g := range groups {
		ids = append(ids, g.Latest.TaskID)
	}
	named, err := a.reports.TasksByID(ctx, ids)
	for i := range groups {
		groups[i].Task = named[groups[i].Latest.TaskID]
	}
	return err
}

// groupLetters puts together what is one error of one task, the latest first.
// When there are more letters than the page holds, each count is a lower
// bound.
func groupLetters(page sched.PageOf[sched.Letter]) ([]views.LetterGroup, views.ErrorsMore) {
	type key struct {
		task  int64
		error string
	}
	var all []views.LetterGroup
	place := map[key]int{}
	for _, l := range page.Items {
		k := key{l.TaskID, cmp.Or(l.Fingerprint, l.Error, string(l.Outcome))}
		i, known := place[k]
		if !known {
			i, place[k] = len(all), len(all)
			all = append(all, views.LetterGroup{Latest: l, First: l.ID})
		}
		if l.OpenedAt.After(all[i].Latest.OpenedAt) { // an older letter that was opened again
			all[i].Latest = l
		}
		all[i].First = min(all[i].First, l.ID)
		all[i].Letters.N++
		all[i].Letters.More = page.Next != ""
	}
	slices.SortStableFunc(all, func(x, y views.LetterGroup) int { return y.Latest.OpenedAt.Compare(x.Latest.OpenedAt) })
	if len(all) <= errorsShown+1 { // a line that says "1 more" takes as much room
		return all, views.ErrorsMore{}
	}
	more := views.ErrorsMore{Errors: len(all) - errorsShown, Letters: views.Counted{More: page.Next != ""}}
	for _, g := range all[errorsShown:] {
		more.Letters.N += g.Letters.N
	}
	return all[:errorsShown], more
}

// teamRates compare the teams, the busiest first.
func teamRates(teams []access.Team, rates map[int64]sched.Rate) []views.TeamRate {
	out := make([]views.TeamRate, 0, len(teams))
	for _, t := range teams {
		out = append(out, views.TeamRate{Code: t.Code, Name: t.Name, Rate: rates[t.ID]})
	}
	slices.SortStableFunc(out, func(x, y views.TeamRate) int {
		return cmp.Or(cmp.Compare(y.Rate.Ended(), x.Rate.Ended()), strings.Compare(x.Name, y.Name))
	})
	return out[:min(len(out), teamsShown)]
}

// blank tells whether there is nothing to show, so that it may be that there
// is no task at all.
func blank(d sched.Dashboard) bool {
	for _, b := range d.Buckets {
		if len(b.Counts) > 0 {
			return false
		}
	}
	return len(d.Next) == 0 && len(d.Open) == 0 && d.OpenLetters == 0 && len(d.Troubled) == 0
}

// noTask tells whether the teams of the actor have no task, and had none.
func (a *App) noTask(ctx context.Context, by access.Actor) (bool, error) {
	for _, archived := range []bool{false, true} {
		found, err := a.tasks.List(ctx, by, sched.TaskFilter{Scope: by.Scope(), Archived: archived}, sched.PageRequest{Limit: 1})
		if err != nil || len(found.Items) > 0 {
			return false, err
		}
	}
	return true, nil
}
