package app

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/cron"
	"ax/app/fault"
	"ax/app/sched"
	"ax/views"
)

// showNewTask shows the form of a new task.
func (a *App) showNewTask(c *gin.Context) (reply, error) {
	team := ""
	if teams := a.editableTeams(c); len(teams) > 0 {
		team = teams[0].Code
	}
	v := a.viewer(c)
	return show(views.TaskForm(a.taskForm(c, sched.Task{}, v.NewTaskValues(a.tasks.Defaults(), team), nil))), nil
}

// createTask makes a task of what the form says.
func (a *App) createTask(c *gin.Context) (reply, error) {
	f, err := a.taskFields(c)
	if err != nil {
		return reply{}, err
	}
	typed := f.typedTask()
	spec := f.taskSpec(a.viewer(c), typed, sched.Task{})
	t, err := a.create(c, f, spec)
	if err != nil {
		return show(views.TaskForm(a.taskForm(c, sched.Task{}, typed, err))), err
	}
	a.saySaved(c, t, "")
	return goTo("/tasks/%s", t.Code), nil
}

func (a *App) create(c *gin.Context, f *form, spec sched.TaskSpec) (sched.Task, error) {
	if f.err() == nil && !ownAddress(spec.Code) {
		return a.tasks.Create(c.Request.Context(), actor(c), spec)
	}
	if ownAddress(spec.Code) {
		f.refuse("code", "%q is an address of ax itself; choose another code", spec.Code)
	}
	_, err := spec.Resolve(sched.Task{}, a.tasks.Defaults(), a.now())
	return sched.Task{}, f.with(err)
}

// ownAddress tells whether /tasks/<code> is a page of another meaning.
func ownAddress(code string) bool { return code == "new" || code == "preview" }

// saySaved says what was saved and when it runs next.
func (a *App) saySaved(c *gin.Context, t sched.Task, detail string) {
	said := a.say(c, "Saved as version %d.", t.Version)
	if next := t.NextStart(); !next.IsZero() {
		said = a.say(c, "Saved as version %d. Next run %s.", t.Version, a.viewer(c).Clock(next))
	}
	a.flashWith(c, views.Flash{Text: said, Detail: detail})
}

// showEditTask shows the form of a stored task.
func (a *App) showEditTask(c *gin.Context) (reply, error) {
	t, err := a.editable(c)
	if err != nil {
		return reply{}, err
	}
	typed := a.viewer(c).TaskValues(t, teamCode(c, t.TeamID))
	return show(views.TaskForm(a.taskForm(c, t, typed, nil))), nil
}

// editable is the task of the address if the person may change it.
func (a *App) editable(c *gin.Context) (sched.Task, error) {
	t, err := a.taskOf(c)
	if err != nil {
		return sched.Task{}, err
	}
	if err := actor(c).Check(access.EditTask, t.TeamID); err != nil {
		return sched.Task{}, err
	}
	if !t.ArchivedAt.IsZero() {
		return sched.Task{}, fault.Conflict("The task is archived and can't be changed")
	}
	return t, nil
}

// updateTask changes a task. When somebody saved meanwhile, the form comes
// back with what was typed, who it was, and in what theirs differs.
func (a *App) updateTask(c *gin.Context) (reply, error) {
	old, err := a.editable(c)
	if err != nil {
		return reply{}, err
	}
	f, err := a.taskFields(c)
	if err != nil {
		return reply{}, err
	}
	typed := f.typedTask()
	spec := f.taskSpec(a.viewer(c), typed, old)
	t, err := a.update(c, f, old, spec)
	switch {
	case fault.KindOf(err) == fault.KindConflict && err != nil:
		return a.changedMeanwhile(c, typed, spec, err)
	case err != nil:
		return show(views.TaskForm(a.taskForm(c, old, typed, err))), err
	}
	a.saySaved(c, t, a.changedFields(c, old, t))
	return goTo("/tasks/%s", t.Code), nil
}

func (a *App) changedFields(c *gin.Context, old, t sched.Task) string {
	fields := a.viewer(c).ChangedFields(old, t)
	if fields == "" {
		return a.say(c, "No field was changed.")
	}
	return a.say(c, "Changed: %s", fields)
}

func (a *App) update(c *gin.Context, f *form, old sched.Task, spec sched.TaskSpec) (sched.Task, error) {
	if f.err() == nil {
		return a.tasks.Update(c.Request.Context(), actor(c), old.Code, spec)
	}
	_, err := spec.Resolve(old, a.tasks.Defaults(), a.now())
	return sched.Task{}, f.with(err)
}

func (a *App) changedMeanwhile(c *gin.Context, typed views.TaskValues, spec sched.TaskSpec, conflict error) (reply, error) {
	stored, err := a.editable(c)
	if err != nil {
		return reply{}, err // archived meanwhile, or taken away
	}
	page := a.taskForm(c, stored, typed, conflict)
	page.Changed, page.Began = true, typed.Version
	page.Theirs, page.Mine = a.viewer(c).TaskValues(stored, ""), typed
	if mine, err := spec.Resolve(stored, a.tasks.Defaults(), a.now()); err == nil {
		page.Mine = a.viewer(c).TaskValues(mine, "") // "45" and "45 s" are no difference
	}
	page.Since = a.changesSince(c, stored, typed.Version)
	page.Values.Version = stored.Version // having seen it, one may save over it
	return show(views.TaskForm(page)), conflict
}

// changesSince tells who changed which field since the version that the form
// began from. Without it the difference still shows.
func (a *App) changesSince(c *gin.Context, stored sched.Task, began int) views.FieldHistory {
	versions, err := a.tasks.Versions(c.Request.Context(), actor(c), stored.Code, shownVersions)
	if err != nil {
		return views.FieldHistory{}
	}
	since := historySince(began, versions)
	out := views.FieldHistory{Last: map[string]views.FieldChange{}, Spec: since.spec, Heading: since.heading}
	for field, v := range since.last {
		out.Last[field] = views.FieldChange{By: v.Author, At: v.CreatedAt, Version: v.Version}
	}
	return out
}

// previewTask says what the schedule means that is being typed.
func (a *App) previewTask(c *gin.Context) (reply, error) {
	f := &form{values: c.Request.URL.Query(), zone: a.zoneOf(c)}
	for _, values := range f.values {
		for _, v := range values {
			if len(v) > maxPreviewed {
				return reply{status: http.StatusRequestEntityTooLarge}, tooLarge()
			}
		}
	}
	return fragment(views.TaskPreviewPart(a.preview(c, f.typedTask(), sched.Task{}))), nil
}

const (
	// maxPreviewed bounds a field that is explained while it is typed.
	maxPreviewed = 1000
	previewRuns  = 5
)

// preview explains the schedule typed. old is the stored task, if there is one.
func (a *App) preview(c *gin.Context, typed views.TaskValues, old sched.Task) views.TaskPreview {
	f := &form{zone: a.zoneOf(c)}
	spec := f.scheduleSpec(a.viewer(c), typed, old)
	timeout, _ := f.seconds("policy.timeout_seconds", typed.Timeout)
	out := views.TaskPreview{
		Schedule: sched.Schedule{
			Kind: spec.Kind, Cron: spec.Cron, EverySeconds: spec.EverySeconds, RunAt: spec.RunAt,
			DelaySeconds: spec.DelaySeconds, Timezone: spec.Timezone,
		},
		Timeout: asSeconds(timeout), Empty: !typed.Scheduled(), Overlap: sched.Overlap(typed.Overlap), MaxConcurrent: 1,
	}
	if out.Empty {
		return out
	}
	if n := f.numberOf("policy.max_concurrent", typed.MaxConcurrent); n > 0 {
		out.MaxConcurrent = n
	}
	meaning, err := a.tasks.Preview(c.Request.Context(), actor(c), spec, a.now(), previewRuns)
	out.Errors = scheduleErrors(f.with(err))
	if len(out.Errors) == 0 {
		out.Schedule, out.Calendar = meaning.Schedule, meaning.Calendar
		out.PerYear = meaning.PerYear
		out.Warnings, out.Next, out.Zone, out.Off, out.Shift = meaning.Warnings, meaning.Next, meaning.Zone, meaning.Off, meaning.Shift
	}
	return out
}

// scheduleErrors leaves out what the form says at other fields.
func scheduleErrors(err error) []fault.FieldError {
	var out []fault.FieldError
	for _, e := range fault.Fields(err) {
		if !strings.HasPrefix(e.Name, "policy.") {
			out = append(out, e)
		}
	}
	return out
}

// taskForm is the form with what stands around it.
func (a *App) taskForm(c *gin.Context, stored sched.Task, typed views.TaskValues, err error) views.TaskFormPage {
	if typed.Message() {
		err = renamed(err, "target.headers", "target.message_headers")
	}
	page := views.TaskFormPage{
		Stored: stored, Values: typed, Errors: errorsOf(err), Zones: cron.Zones(), Defaults: a.tasks.Defaults(),
		Preview: a.preview(c, typed, stored),
	}
	team := stored.TeamID
	for _, t := range a.editableTeams(c) {
		page.Teams = append(page.Teams, views.Team{Code: t.Code, Name: t.Name})
		if team == 0 && t.Code == typed.Team {
			team = t.ID
		}
	}
	page.Calendars = a.calendarsOf(c, stored.TeamID)
	page.MayUnsafe = actor(c).Can(access.RetryUnsafe, team)
	if stored.ID == 0 {
		page.MayUnsafe = mayAnywhere(actor(c), access.RetryUnsafe) // the team may still be chosen
	}
	page.Shell = a.shellChoice(c, team)
	a.nodesAround(c, &page)
	page.Executors = a.executorOptions(c, team)
	page.People = a.peopleOf(c, team)
	page.Brokers = a.brokerChoices(c, stored)
	page.Channels = a.hookChannels(c, stored)
	return page
}

// shellChoice tells whether a task of the team may run commands. Without the
// nodes the form still works.
func (a *App) shellChoice(c *gin.Context, team int64) views.ShellChoice {
	out := views.ShellChoice{Owner: actor(c).Can(access.EditShell, team)}
	out.Team = team == 0
	for _, t := range teamsOf(c) {
		out.Team = out.Team || t.ID == team && t.Commands
	}
	if team == 0 {
		out.Owner = mayAnywhere(actor(c), access.EditShell) // the team may still be chosen
	}
	return out
}

// calendarsOf are those that the team's tasks may follow; all that the person
// sees while the team may still be chosen. Without them the form still works.
func (a *App) calendarsOf(c *gin.Context, team int64) []views.CalendarChoice {
	list, err := a.calendars.List(c.Request.Context(), actor(c))
	if err != nil {
		return nil
	}
	var out []views.CalendarChoice
	for _, l := range list {
		if team == 0 || l.For(team) {
			out = append(out, views.CalendarChoice{Code: l.Code, Name: l.Name})
		}
	}
	return out
}

// peopleOf are the logins of a team, to choose an owner from. Without them the
// form still works.
func (a *App) peopleOf(c *gin.Context, team int64) []string {
	if team == 0 {
		return nil
	}
	members, err := a.teams.Members(c.Request.Context(), actor(c), team)
	if err != nil {
		return nil
	}
	var logins []string
	for _, m := range members {
		if !m.Person.Disabled {
			logins = append(logins, m.Person.Login)
		}
	}
	return logins
}

// editableTeams are those in which the person may make tasks, the one that
// the lists show first.
func (a *App) editableTeams(c *gin.Context) []access.Team {
	var out []access.Team
	v, _ := visited(c)
	for _, t := range teamsOf(c) {
		switch {
		case !actor(c).Can(access.EditTask, t.ID):
		case v != nil && t.ID == v.team:
			out = append([]access.Team{t}, out...)
		default:
			out = append(out, t)
		}
	}
	return out
}
