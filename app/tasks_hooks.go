package app

import (
	"fmt"
	"strings"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/sched"
	"ax/views"
)

// typedHooks are the hooks as they were typed.
func (f *form) typedHooks() views.HookValues {
	v := views.HookValues{
		URL: f.text("hooks.before.url"), Method: f.text("hooks.before.method"), Headers: f.raw("hooks.before.headers"), Statuses: f.text("hooks.before.statuses"),
		Timeout: f.text("hooks.before.timeout_seconds"), NotReady: f.text("hooks.before.not_ready"), Every: f.text("hooks.before.every_seconds"),
		Limit: f.text("hooks.before.limit_seconds"), Then: f.text("hooks.before.then"),
	}
	for i := range sched.MaxAfterHooks {
		name := fmt.Sprintf("hooks.after.%d.", i)
		if on, channel := f.text(name+"on"), f.text(name+"channel"); channel != "" {
			v.After = append(v.After, sched.AfterHook{On: sched.HookOn(on), Channel: channel})
		}
	}
	return v
}

// hooks are those that the form describes; what can't be read is gathered in f.
// A hook without an address is none, and what only one that waits has is left
// out of one that skips: the form keeps it, out of sight.
func (f *form) hooks(v views.HookValues) *sched.Hooks {
	out := sched.Hooks{After: v.After}
	if v.URL != "" || strings.TrimSpace(v.Headers) != "" || v.Statuses != "" {
		h := sched.BeforeHook{
			URL: v.URL, Method: v.Method, Headers: f.headers("hooks.before.headers", v.Headers), Statuses: v.Statuses, NotReady: sched.NotReady(v.NotReady),
		}
		h.TimeoutSeconds, _ = f.seconds("hooks.before.timeout_seconds", v.Timeout)
		if h.Waits() {
			h.EverySeconds, _ = f.seconds("hooks.before.every_seconds", v.Every)
			h.LimitSeconds, _ = f.seconds("hooks.before.limit_seconds", v.Limit)
			h.Then = sched.LimitThen(v.Then)
		}
		out.Before = &h
	}
	if out.Before == nil && len(out.After) == 0 {
		return nil
	}
	return &out
}

// hookChannels are the channels that hooks of the task can name; those of all
// teams that the person may make tasks in while the team may still be chosen.
// Without them the page still works.
func (a *App) hookChannels(c *gin.Context, stored sched.Task) []views.HookChannel {
	teams := a.editableTeams(c)
	if stored.ID != 0 {
		teams = []access.Team{{ID: stored.TeamID}}
	}
	var out []views.HookChannel
	for _, t := range teams {
		list, err := a.tasks.Channels(c.Request.Context(), actor(c), t.ID)
		if err != nil {
			return nil
		}
		for _, ch := range list {
			choice := views.HookChannel{HookChannel: ch}
			if len(teams) > 1 {
				choice.Team = t.Name
			}
			out = append(out, choice)
		}
	}
	return out
}
