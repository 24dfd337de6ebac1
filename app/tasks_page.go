package app

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
	"ax/views"
)

func (a *App) taskRoutes() []route {
	rows := []route{
		{http.MethodGet, "/tasks", (*App).listTasks, access.Read, false},
		{http.MethodGet, "/tasks/new", (*App).showNewTask, access.EditTask, false},
		{http.MethodPost, "/tasks/new", (*App).createTask, access.EditTask, false},
		{http.MethodPost, "/tasks/new/test-call", (*App).testNewTask, access.EditTask, false},
		{http.MethodPost, "/tasks/:code/test-call", (*App).testTask, access.EditTask, false},
		{http.MethodGet, "/tasks/preview", (*App).previewTask, access.Read, false},
		{http.MethodGet, "/tasks/:code", (*App).showTask, access.Read, false},
		{http.MethodPost, "/tasks/:code", (*App).updateTask, access.EditTask, false},
		{http.MethodGet, "/tasks/:code/edit", (*App).showEditTask, access.EditTask, false},
		{http.MethodGet, "/tasks/:code/versions/:version", (*App).showTaskVersion, access.Read, false},
		{http.MethodPost, "/tasks/:code/versions/:version", (*App).rollBackTask, access.EditTask, false},
		{http.MethodGet, "/tasks/:code/confirm/:action", (*App).confirmTaskAction, access.RunTask, false},
		{http.MethodPost, "/tasks/:code/run", (*App).runTask, access.RunTask, false},
	}
	for _, action := range taskActions() {
		rows = append(rows, route{http.MethodPost, "/tasks/:code/" + action.name, action.handler(), action.verb, false})
	}
	return rows
}

const (
	listedTasks   = 50
	stripRuns     = 60
	shownLast     = 20
	shownComing   = 5
	maxFilterText = 100
)

// listTasks shows the tasks, narrowed by the address.
func (a *App) listTasks(c *gin.Context) (reply, error) {
	f, moved := tasksFilter(c)
	if moved { // tokens typed into the box get their own place in the address
		return reply{to: f.URL()}, nil
	}
	ctx, by := c.Request.Context(), actor(c)
	list, err := a.tasks.List(ctx, by, f.domain(scopeOf(c), a.now()), sched.PageRequest{After: f.After, Before: f.Before, Limit: listedTasks})
	if err != nil {
		return reply{}, err
	}
	facts, err := a.reports.Facts(ctx, list.Items, stripRuns)
	if err != nil {
		return reply{}, err
	}
	page := views.TasksPage{Filter: f.TasksFilter, Next: list.Next, Prev: list.Prev, MayCreate: mayAnywhere(by, access.EditTask)}
	for _, t := range list.Items {
		page.Rows = append(page.Rows, views.TaskRow{Task: t, Facts: facts[t.ID], MayPause: by.Can(access.PauseTask, t.TeamID)})
	}
	return show(views.Tasks(page)).piecewise(views.TaskTable(page)), nil
}

// taskQuery is the filter as the address has it.
type taskQuery struct{ views.TasksFilter }

// tasksFilter reads the filter. moved is true when the box held tokens such as
// "tag:bank", which stand in fields of their own now.
func tasksFilter(c *gin.Context) (f taskQuery, moved bool) {
	q := func(name string) string { return clip(strings.TrimSpace(c.Query(name)), maxFilterText) }
	f.TasksFilter = views.TasksFilter{
		Tag: strings.ToLower(q("tag")), Group: q("group"), Owner: q("owner"), Kind: q("kind"), Calendar: q("calendar"),
		Troubled: q("troubled") == "true", Paused: q("paused") == "true", Archived: q("archived") == "true" || q("archived") == "1",
	}
	if !slices.Contains(sched.ScheduleKinds(), sched.ScheduleKind(f.Kind)) {
		f.Kind = ""
	}
	if e := q("enabled"); e == "true" || e == "false" {
		f.Enabled = e
	}
	if after := q("after"); isCode(after) {
		f.After = after
	} else if before := q("before"); isCode(before) {
		f.Before = before
	}
	return f, f.takeTokens(q("q"))
}

// takeTokens moves key:value words into their fields and keeps the rest as the
// text. A key that isn't known is text.
func (f *taskQuery) takeTokens(typed string) (moved bool) {
	var words []string
	for w := range strings.FieldsSeq(typed) {
		key, value, _ := strings.Cut(w, ":")
		if value == "" || !f.take(strings.ToLower(key), value) {
			words = append(words, w)
			continue
		}
		moved = true
	}
	f.Text = strings.Join(words, " ")
	return moved
}

func (f *taskQuery) take(key, value string) bool {
	switch key {
	case "tag":
		f.Tag = strings.ToLower(value)
	case "group":
		f.Group = value
	case "owner":
		f.Owner = value
	case "calendar":
		f.Calendar = value
	case "kind":
		if !slices.Contains(sched.ScheduleKinds(), sched.ScheduleKind(value)) {
			return false
		}
		f.Kind = value
	default:
		return false
	}
	return true
}

// domain is the filter that the use case takes.
func (f taskQuery) domain(scope access.Scope, now time.Time) sched.TaskFilter {
	out := sched.TaskFilter{
		Scope: scope, Text: f.Text, Tag: f.Tag, Group: f.Group, Owner: f.Owner, Kind: sched.ScheduleKind(f.Kind),
		Calendar: f.Calendar, Troubled: f.Troubled, Archived: f.Archived,
	}
	if f.Enabled != "" {
		out.Enabled = new(f.Enabled == "true")
	}
	if f.Paused {
		out.PausedAt = now
	}
	return out
}

// taskOf reads the task that the address names; NotFound when there is none
// that the person may know of.
func (a *App) taskOf(c *gin.Context) (sched.Task, error) {
	code := c.Param("code")
	if err := checkCode(code); err != nil {
		return sched.Task{}, err
	}
	return a.tasks.Get(c.Request.Context(), actor(c), code)
}

// showTask shows one task.
func (a *App) showTask(c *gin.Context) (reply, error) {
	t, err := a.taskOf(c)
	if err != nil {
		return reply{}, err
	}
	ctx, by := c.Request.Context(), actor(c)
	report, err := a.reports.Task(ctx, t)
	if err != nil {
		return reply{}, err
	}
	last, err := a.instances.List(ctx, by, sched.InstanceFilter{Scope: by.Scope(), TaskID: t.ID}, sched.PageRequest{Limit: shownLast})
	if err != nil {
		return reply{}, err
	}
	page := views.TaskPage{Task: t, Team: teamCode(c, t.TeamID), Report: report, Last: last.Items, Coming: t.Coming(a.now(), shownComing), May: views.TaskRights{
		Run: by.Can(access.RunTask, t.TeamID), Pause: by.Can(access.PauseTask, t.TeamID), Edit: by.Can(access.EditTask, t.TeamID), Move: len(a.otherTeams(c, t)) > 0,
	}, Audit: a.auditLink(c, t.TeamID, "task", t.ID), AllVersions: c.Query("versions") == "all", Unserved: a.unserved(ctx, t)}
	if page.AllVersions {
		if page.Report.Versions, err = a.tasks.Versions(ctx, by, t.Code, sched.MaxPage); err != nil {
			return reply{}, err
		}
	}
	if len(t.Spec.AfterHooks()) > 0 {
		page.Channels = a.hookChannels(c, t)
	}
	if page.Alerts, err = a.taskAlerts(c, t); err != nil {
		return reply{}, err
	}
	return show(views.Task(page)).piecewise(views.TaskLive(page)), nil
}

// errorsOf are what a form shows of an error: the broken fields, else its text
// at the form as a whole. Faults of ours are not for the form.
func errorsOf(err error) []fault.FieldError {
	if fields := fault.Fields(err); len(fields) > 0 {
		return fields
	}
	if text, ok := fault.TextOf(err); ok && fault.KindOf(err) != fault.KindInternal {
		return []fault.FieldError{{Text: text}}
	}
	return nil
}
