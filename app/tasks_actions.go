package app

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
	"ax/views"
)

// taskAction is a discrete change of a task, never a toggle: of two open
// pages, one must not undo what the other did.
type taskAction struct {
	name   string
	verb   access.Verb
	reason bool // must be given
	do     func(*App, context.Context, access.Actor, string, *form) (sched.Task, error)
	said   string // the result; %s is the task's code
}

func taskActions() []taskAction {
	return []taskAction{
		{name: "enable", verb: access.PauseTask, do: (*App).enableTask, said: "%s is enabled"},
		{name: "disable", verb: access.PauseTask, reason: true, do: (*App).disableTask, said: "%s is disabled"},
		{name: "pause", verb: access.PauseTask, reason: true, do: (*App).pauseTask, said: "%s is paused"},
		{name: "resume", verb: access.PauseTask, do: (*App).resumeTask, said: "%s goes on"},
		{name: "move", verb: access.EditTask, reason: true, do: (*App).moveTask, said: "%s is moved to another team"},
		{name: "archive", verb: access.EditTask, reason: true, do: (*App).archiveTask, said: "%s is archived"},
	}
}

func (a *App) enableTask(ctx context.Context, by access.Actor, code string, f *form) (sched.Task, error) {
	return a.tasks.SetEnabled(ctx, by, code, true, f.text("reason"))
}

func (a *App) disableTask(ctx context.Context, by access.Actor, code string, f *form) (sched.Task, error) {
	return a.tasks.SetEnabled(ctx, by, code, false, f.text("reason"))
}

func (a *App) pauseTask(ctx context.Context, by access.Actor, code string, f *form) (sched.Task, error) {
	return a.tasks.Pause(ctx, by, code, f.pauseEnd(a.now()), f.text("reason"))
}

func (a *App) resumeTask(ctx context.Context, by access.Actor, code string, f *form) (sched.Task, error) {
	return a.tasks.Resume(ctx, by, code, f.text("reason"))
}

func (a *App) moveTask(ctx context.Context, by access.Actor, code string, f *form) (sched.Task, error) {
	read, _ := strconv.Atoi(f.text("read_version")) // without one, whatever it is
	return a.tasks.Move(ctx, by, code, sched.TeamMove{Team: f.text("team"), Read: read, Reason: f.text("reason")})
}

// otherTeams are those that the person may move the task to.
func (a *App) otherTeams(c *gin.Context, t sched.Task) []views.Team {
	var out []views.Team
	if !actor(c).Can(access.EditTask, t.TeamID) {
		return nil
	}
	for _, team := range a.editableTeams(c) {
		if team.ID != t.TeamID {
			out = append(out, views.Team{Code: team.Code, Name: team.Name})
		}
	}
	return out
}

func (a *App) archiveTask(ctx context.Context, by access.Actor, code string, f *form) (sched.Task, error) {
	return a.tasks.Archive(ctx, by, code, f.text("reason"))
}

// handler carries the action out and comes back with its result; what is
// missing is asked for again.
func (d taskAction) handler() func(*App, *gin.Context) (reply, error) {
	return func(a *App, c *gin.Context) (reply, error) {
		t, err := a.taskOf(c)
		if err != nil {
			return reply{}, err
		}
		if err := actor(c).Check(d.verb, t.TeamID); err != nil {
			return reply{}, err
		}
		f, err := a.form(c)
		if err != nil {
			return reply{}, err
		}
		now := t
		if err = d.asked(f, a.now()); err == nil {
			now, err = d.do(a, c.Request.Context(), actor(c), t.Code, f)
		}
		if err != nil {
			return a.askAgain(c, t, d.name, f, err)
		}
		a.flashWith(c, views.Flash{Text: a.say(c, d.said, t.Code), Detail: a.resultOf(c, d.name, t, now)})
		return goBack(c, goTo("/tasks/%s", t.Code).to), nil
	}
}

// asked checks what every action asks for.
func (d taskAction) asked(f *form, now time.Time) error {
	if d.reason && f.text("reason") == "" {
		f.refuse("reason", "A reason is needed: the audit keeps it")
	} else if err := checkReason(f.text("reason")); err != nil {
		f.bad = append(f.bad, fault.Fields(err)...)
	}
	if d.name == "pause" && f.pauseEnd(now).IsZero() && !f.broken("until") {
		f.refuse("until", "A moment is needed")
	}
	return f.err()
}

// resultOf is the second line of what an action did.
func (a *App) resultOf(c *gin.Context, action string, was, t sched.Task) string {
	v := a.viewer(c)
	switch {
	case action == "move":
		return a.say(c, "from %s to %s", teamCode(c, was.TeamID), teamCode(c, t.TeamID))
	case action == "pause":
		return a.say(c, "until %s", v.Clock(t.PausedUntil))
	case t.NextStart().IsZero():
		return ""
	}
	return a.say(c, "Next run %s", v.Clock(t.NextStart()))
}

// askAgain shows the question with what was typed and what is wrong.
func (a *App) askAgain(c *gin.Context, t sched.Task, action string, f *form, err error) (reply, error) {
	page, failed := a.taskQuestion(c, t, action)
	if failed != nil {
		return reply{}, failed
	}
	page.Back = localPath(f.text("back"), "")
	page.Values = views.TaskActionValues{
		Team: f.text("team"), Reason: f.text("reason"), For: f.text("for"), Until: f.text("until"), BizID: f.text("biz_id"), Delay: f.text("delay_seconds"), Payload: f.raw("payload"),
	}
	page.Errors = errorsOf(err)
	return show(views.TaskConfirm(page)), err
}

// confirmTaskAction asks before an action: in a dialog to htmx, else as a page.
func (a *App) confirmTaskAction(c *gin.Context) (reply, error) {
	t, err := a.taskOf(c)
	if err != nil {
		return reply{}, err
	}
	action := c.Param("action")
	verb := access.RunTask
	if i := slices.IndexFunc(taskActions(), func(d taskAction) bool { return d.name == action }); i >= 0 {
		verb = taskActions()[i].verb
	} else if action != "run" {
		return a.nowhere(c)
	}
	if err := actor(c).Check(verb, t.TeamID); err != nil {
		return reply{}, err
	}
	page, err := a.taskQuestion(c, t, action)
	if err != nil {
		return reply{}, err
	}
	page.Back = localPath(c.Query("back"), "")
	if action == "pause" {
		page.Values.For = pauseTomorrow
		page.Values.Until = pauseUntil(pauseTomorrow, a.now().In(a.zoneOf(c))).Format(views.LocalTime[:len("2006-01-02T15:04")])
	}
	return show(views.TaskConfirm(page)).piecewise(views.TaskConfirmDialog(page)), nil
}

func (a *App) taskQuestion(c *gin.Context, t sched.Task, action string) (views.TaskConfirmPage, error) {
	page := views.TaskConfirmPage{Task: t, Action: action}
	if action == "move" {
		page.Teams, page.Team = a.otherTeams(c, t), teamCode(c, t.TeamID)
	}
	if action != "disable" && action != "archive" {
		return page, nil
	}
	counts, err := a.reports.StateCounts(c.Request.Context(), access.Scope{All: true}, t.ID, a.now())
	for _, s := range sched.GroupWaiting.States() {
		page.Waiting += counts[s]
	}
	return page, err
}

// runTask accepts a request for a run and goes to its instance.
func (a *App) runTask(c *gin.Context) (reply, error) {
	t, err := a.taskOf(c)
	if err != nil {
		return reply{}, err
	}
	if err := actor(c).Check(access.RunTask, t.TeamID); err != nil {
		return reply{}, err
	}
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	delay, _ := f.seconds("delay_seconds", f.text("delay_seconds"))
	if err := f.err(); err != nil {
		return a.askAgain(c, t, "run", f, err)
	}
	in, created, err := a.tasks.Trigger(c.Request.Context(), actor(c), t.Code, sched.TriggerRequest{
		BizID: f.text("biz_id"), DelaySeconds: delay, Payload: json.RawMessage(f.raw("payload")),
	})
	if err != nil {
		return a.askAgain(c, t, "run", f, err)
	}
	if created {
		made(c, in)
		a.flashWith(c, views.Flash{Text: a.say(c, "A run of %s is accepted", t.Code), Detail: a.say(c, "due %s", a.viewer(c).Clock(in.DueAt))})
	} else {
		a.flash(c, "This biz_id was there already: here is its instance")
	}
	return goTo("/instances/%s", in.ID), nil
}
