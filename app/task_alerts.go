package app

import (
	"context"
	"slices"
	"strconv"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/sched"
	"ax/views"
)

// taskIncidents bounds the open incidents that the page of a task, or of one of
// its runs, looks at.
const taskIncidents = 10

// markOf is the task as rules see it.
func markOf(t sched.Task) alert.TaskMark {
	return alert.TaskMark{
		ID: t.ID, TeamID: t.TeamID, Code: t.Code, Name: t.Name, Group: t.Group, Tags: t.Tags, Owner: t.Owner, Queue: t.Queue, Level: t.Spec.Policy.AlertLevel,
	}
}

// taskAlerts is what fires of a task, what keeps quiet about it and what
// watches it.
func (a *App) taskAlerts(c *gin.Context, t sched.Task) (views.TaskAlerts, error) {
	ctx, by, mark := c.Request.Context(), actor(c), markOf(t)
	out := views.TaskAlerts{MaySilence: by.Can(access.Silence, t.TeamID), MayRule: by.Can(access.EditRule, t.TeamID)}
	scope := access.Scope{Teams: []int64{t.TeamID}}
	rules, err := a.alerts.Rules.List(ctx, by, scope)
	if err != nil {
		return out, err
	}
	channels, err := a.alerts.Channels.List(ctx, by, scope)
	if err != nil {
		return out, err
	}
	silences, err := a.alerts.Silences.Open(ctx, by, scope)
	if err != nil {
		return out, err
	}
	silences = slices.DeleteFunc(silences, func(s alert.Silence) bool { return !s.Holds(s.RuleID, t.TeamID, mark) })
	for _, s := range a.silenceRows(c, silences, rules) {
		if !s.Until.IsZero() {
			out.Silences = append(out.Silences, s)
		}
	}
	open, err := a.alerts.Incidents.List(ctx, by, alert.IncidentFilter{Scope: scope, Task: t.Code, Open: true, Limit: taskIncidents})
	if err != nil {
		return out, err
	}
	if out.Open, err = a.incidentRows(c, open, channels); err != nil {
		return out, err
	}
	out.Rules, err = a.taskRules(ctx, rules, channels, mark)
	return out, err
}

// watchesTask leaves out the rules that look at nodes, at Redis or at queues
// of other work: they watch every task, which says nothing of this one.
func watchesTask(r alert.Rule, t alert.TaskMark) bool {
	switch r.Meter().Per {
	case alert.PerTask, alert.PerScope:
		return r.Watches(t)
	case alert.PerQueue:
		return r.Scope.Kind == alert.OfQueue && r.Watches(t)
	}
	return false
}

// taskRules are the rules that watch the task, with who is told.
func (a *App) taskRules(ctx context.Context, rules []alert.Rule, channels []alert.Channel, t alert.TaskMark) ([]views.TaskRule, error) {
	var out []views.TaskRule
	var probes []alert.Incident
	for _, r := range rules {
		if watchesTask(r, t) {
			out = append(out, views.TaskRule{Rule: r})
			probes = append(probes, alert.Incident{ID: strconv.FormatInt(r.ID, 10), RuleID: r.ID, TeamID: t.TeamID, Level: r.LevelOf(t)})
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	heard, err := a.alerts.Live.Listening(ctx, probes)
	for i, p := range probes {
		out[i].Level = p.Level
		for _, id := range heard[p.ID] {
			if at := slices.IndexFunc(channels, func(ch alert.Channel) bool { return ch.ID == id }); at >= 0 {
				out[i].To = append(out[i].To, channels[at])
			} else {
				out[i].Others++
			}
		}
	}
	return out, err
}

// incidentOf is the open incident that a run of a task belongs to, nil for none:
// the one that names it, or one of the task's failures that began before it
// ended.
func (a *App) incidentOf(c *gin.Context, t sched.Task, run sched.Instance) (*alert.Incident, error) {
	scope := access.Scope{Teams: []int64{t.TeamID}}
	open, err := a.alerts.Incidents.List(c.Request.Context(), actor(c), alert.IncidentFilter{Scope: scope, Task: t.Code, Open: true, Limit: taskIncidents})
	var found *alert.Incident
	for i, x := range open {
		for _, m := range x.Members {
			switch {
			case m.Subject.Kind != alert.TaskSubject || m.Subject.Key != t.Code:
			case m.Instance == run.ID:
				return &open[i], err
			case found == nil && x.Metric == alert.InARow && !run.FinishedAt.Before(m.Since):
				found = &open[i]
			}
		}
	}
	return found, err
}
