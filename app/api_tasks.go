package app

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
)

// taskIn names a task.
type taskIn struct {
	Code string `path:"code" doc:"The task's code" example:"order.close-unpaid"`
}

// taskOut is a task.
type taskOut struct {
	Body taskBody
}

// taskMade is a new task and where it is.
type taskMade struct {
	Location string `header:"Location" doc:"Path of the new task"`
	Body     taskBody
}

// taskBody is a task as the API shows it. The parts that make its definition
// may be sent back in a PUT as they are.
type taskBody struct {
	ID       int64            `json:"id"`
	Code     string           `json:"code" example:"order.close-unpaid"`
	Name     string           `json:"name" example:"Close unpaid orders"`
	Team     string           `json:"team" doc:"Code of the owning team" example:"payments"`
	Group    string           `json:"group"`
	Tags     []string         `json:"tags" nullable:"false"`
	Owner    string           `json:"owner" doc:"Who to ask"`
	Schedule scheduleBody     `json:"schedule"`
	Target   sched.TargetSpec `json:"target"`
	Policy   sched.PolicySpec `json:"policy"`
	Hooks    *sched.Hooks     `json:"hooks,omitempty" doc:"What is asked before a run and who is told after it"`
	Queue    string           `json:"queue" example:"default"`
	Labels   []string         `json:"labels,omitempty" doc:"Labels that a node must have to run it, all of them; left out when it needs none" example:"[\"gpu\"]"`
	Payload  json.RawMessage  `json:"payload,omitempty" doc:"JSON that the target gets; left out when there is none"`
	Enabled  bool             `json:"enabled"`
	Version  int              `json:"version" doc:"Raised by every change; send it back with a PUT"`

	NextFireAt  instant `json:"next_fire_at" doc:"Next slot to be planned; null: none, or disabled"`
	NextRunAt   instant `json:"next_run_at" doc:"When the next slot that isn't on a day off begins, with the task's share of the jitter"`
	PausedUntil instant `json:"paused_until" doc:"Nothing of the task starts before; null: not paused"`
	PlanError   string  `json:"plan_error" doc:"Why its slots can't be planned; empty when they can"`
	ArchivedAt  instant `json:"archived_at"`
	CreatedAt   instant `json:"created_at"`
	CreatedBy   string  `json:"created_by"`
	UpdatedAt   instant `json:"updated_at"`
	UpdatedBy   string  `json:"updated_by"`
}

// scheduleBody is a schedule; fields that its kind doesn't use are left out.
type scheduleBody struct {
	Kind         sched.ScheduleKind `json:"kind" enum:"cron,interval,once,delay,manual"`
	Cron         string             `json:"cron,omitempty" example:"30 2 * * 1-5"`
	EverySeconds int                `json:"every_seconds,omitempty"`
	Anchor       instant            `json:"anchor,omitzero"`
	RunAt        instant            `json:"run_at,omitzero"`
	DelaySeconds int                `json:"delay_seconds,omitempty"`
	Timezone     string             `json:"timezone,omitempty" example:"Asia/Shanghai"`
	Misfire      sched.Misfire      `json:"misfire,omitempty" enum:"fire_once,skip,fire_all"`

	MisfireGraceSeconds int                `json:"misfire_grace_seconds,omitempty"`
	MisfireCap          int                `json:"misfire_cap,omitempty"`
	FixedDelay          bool               `json:"fixed_delay,omitempty" doc:"interval: every_seconds after the end of the last run"`
	Calendar            string             `json:"calendar,omitempty" doc:"Code of a calendar"`
	CalendarMode        sched.CalendarMode `json:"calendar_mode,omitempty" enum:"workdays,skip_days_off"`
	CalendarMove        sched.CalendarMove `json:"calendar_move,omitempty" enum:"drop,next_workday,previous_workday"`
	StartAt             instant            `json:"start_at,omitzero" doc:"No slot before"`
	EndAt               instant            `json:"end_at,omitzero" doc:"No slot after"`
	JitterSeconds       int                `json:"jitter_seconds,omitempty"`
}

// taskShape shows a task as now sees it.
func taskShape(t sched.Task, team string, now time.Time) taskBody {
	w := t.Written(team)
	out := taskBody{
		ID: t.ID, Code: t.Code, Name: t.Name, Team: team, Group: t.Group, Tags: list(t.Tags), Owner: t.Owner,
		Schedule: scheduleBody{
			Kind: w.Schedule.Kind, Cron: w.Schedule.Cron, EverySeconds: w.Schedule.EverySeconds,
			Anchor: instant(w.Schedule.Anchor), RunAt: instant(w.Schedule.RunAt), DelaySeconds: w.Schedule.DelaySeconds,
			Timezone: w.Schedule.Timezone, Misfire: w.Schedule.Misfire,
			MisfireGraceSeconds: w.Schedule.MisfireGraceSeconds, MisfireCap: w.Schedule.MisfireCap, FixedDelay: w.Schedule.FixedDelay,
			Calendar: w.Schedule.Calendar, CalendarMode: w.Schedule.CalendarMode, CalendarMove: w.Schedule.CalendarMove,
			StartAt: instant(w.Schedule.StartAt), EndAt: instant(w.Schedule.EndAt), JitterSeconds: w.Schedule.JitterSeconds,
		},
		Target: w.Target, Policy: w.Policy, Hooks: w.Hooks, Queue: t.Queue, Labels: w.Labels, Payload: t.Spec.Payload, Enabled: t.Enabled, Version: t.Version,
		NextFireAt: instant(t.NextFireAt), NextRunAt: instant(t.NextStart()), PlanError: t.PlanError, ArchivedAt: instant(t.ArchivedAt),
		CreatedAt: instant(t.CreatedAt), CreatedBy: t.CreatedBy, UpdatedAt: instant(t.UpdatedAt), UpdatedBy: t.UpdatedBy,
	}
	if t.Paused(now) {
		out.PausedUntil = instant(t.PausedUntil)
	}
	return out
}

// taskObject finds the task of the path.
func taskObject(ctx context.Context, s *api, by access.Actor, c *gin.Context) error {
	_, err := s.findTask(ctx, by, c.Param("code"))
	return err
}

// findTask reads a task.
func (s *api) findTask(ctx context.Context, by access.Actor, code string) (sched.Task, error) {
	if err := checkCode(code); err != nil {
		return sched.Task{}, err
	}
	return s.tasks.Get(ctx, by, code)
}

// checkCode keeps what can't be a code from the database, which may refuse to
// compare it: codes are ASCII.
func checkCode(code string) error {
	if !isCode(code) {
		return access.NoObject()
	}
	return nil
}

func isCode(s string) bool {
	for _, r := range s {
		if r <= ' ' || r > '~' {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

func (s *api) taskOperations() {
	add(s, operation{
		method: http.MethodGet, path: "/tasks", id: "list-tasks", tag: tagTasks, verb: access.Read,
		summary: "List tasks", about: "By code. Archived tasks are shown only when asked for.",
	}, (*api).listTasks)
	add(s, operation{
		method: http.MethodPost, path: "/tasks", id: "create-task", tag: tagTasks, verb: access.EditTask, status: http.StatusCreated,
		summary: "Create a task", body: sched.TaskSpec{}, example: exampleTask,
		about: "Fields left out get the defaults of the installation. A field that ax doesn't know or doesn't do yet is refused.",
	}, (*api).createTask)
	add(s, operation{
		method: http.MethodGet, path: "/tasks/{code}", id: "get-task", tag: tagTasks, verb: access.Read, object: taskObject,
		summary: "Get a task", about: "With its next slot, its pause, and why it can't be planned.",
	}, (*api).getTask)
	add(s, operation{
		method: http.MethodPut, path: "/tasks/{code}", id: "update-task", tag: tagTasks, verb: access.EditTask, object: taskObject,
		summary: "Replace a task's definition", body: sched.TaskSpec{}, example: exampleChange, conflicts: true,
		about: "The version that was read goes along: if somebody changed the task meanwhile, the answer is 409, names them, and tells the fields in which the two definitions differ. " +
			"What the old schedule owed until now is planned first.",
	}, (*api).updateTask)
	add(s, operation{
		method: http.MethodDelete, path: "/tasks/{code}", id: "archive-task", tag: tagTasks, verb: access.EditTask, object: taskObject,
		status: http.StatusNoContent, conflicts: true,
		summary: "Archive a task", about: "It takes no more slots and requests; its history stays.",
	}, (*api).archiveTask)
}

type taskListIn struct {
	ListIn
	Q        string             `query:"q" maxLength:"100" doc:"Part of the code or name"`
	Tag      string             `query:"tag" maxLength:"32"`
	Group    string             `query:"group" maxLength:"64"`
	Owner    string             `query:"owner" maxLength:"64"`
	Kind     sched.ScheduleKind `query:"kind" enum:"cron,interval,once,delay,manual" doc:"Kind of schedule"`
	Calendar string             `query:"calendar" maxLength:"100" doc:"Code or name of the calendar that they go by"`
	Enabled  string             `query:"enabled" enum:"true,false"`
	Troubled bool               `query:"troubled" doc:"Only tasks that can't be planned"`
	Paused   bool               `query:"paused" doc:"Only tasks that are paused now"`
	Archived bool               `query:"archived" doc:"Archived tasks instead of the others"`
}

func (in *taskListIn) filter(now time.Time) sched.TaskFilter {
	f := sched.TaskFilter{
		Text: in.Q, Tag: in.Tag, Group: in.Group, Owner: in.Owner, Kind: in.Kind, Calendar: in.Calendar,
		Troubled: in.Troubled, Archived: in.Archived,
	}
	if in.Enabled != "" {
		f.Enabled = new(in.Enabled == "true")
	}
	if in.Paused {
		f.PausedAt = now
	}
	return f
}

type taskListOut struct {
	Body listOf[taskBody]
}

func (s *api) listTasks(ctx context.Context, k *call, in *taskListIn) (*taskListOut, error) {
	if err := checkCursor(in.Cursor, isCode); err != nil {
		return nil, err
	}
	page, err := s.tasks.List(ctx, k.actor, in.filter(s.now()), in.page())
	if err != nil {
		return nil, err
	}
	teams, err := s.teamCodes(ctx, k.actor)
	if err != nil {
		return nil, err
	}
	var items []taskBody
	for _, t := range page.Items {
		items = append(items, taskShape(t, teams[t.TeamID], s.now()))
	}
	return &taskListOut{Body: listPage(items, page.Next)}, nil
}

func (s *api) createTask(ctx context.Context, k *call, _ *struct{}) (*taskMade, error) {
	var spec sched.TaskSpec
	if err := decode(k.body, &spec); err != nil {
		return nil, err
	}
	t, err := s.tasks.Create(ctx, k.actor, spec)
	if err != nil {
		return nil, err
	}
	out, err := s.taskOut(ctx, k, t)
	if err != nil {
		return nil, err
	}
	return &taskMade{Location: apiPrefix + "/tasks/" + url.PathEscape(t.Code), Body: out.Body}, nil
}

func (s *api) getTask(ctx context.Context, k *call, in *taskIn) (*taskOut, error) {
	t, err := s.findTask(ctx, k.actor, in.Code)
	if err != nil {
		return nil, err
	}
	return s.taskOut(ctx, k, t)
}

func (s *api) updateTask(ctx context.Context, k *call, in *taskIn) (*taskOut, error) {
	if err := checkCode(in.Code); err != nil {
		return nil, err
	}
	var spec sched.TaskSpec
	if err := decode(k.body, &spec); err != nil {
		return nil, err
	}
	t, err := s.tasks.Update(ctx, k.actor, in.Code, spec)
	if err != nil && fault.KindOf(err) == fault.KindConflict {
		err = s.staleTask(ctx, k.actor, in.Code, spec, err)
	}
	if err != nil {
		return nil, err
	}
	return s.taskOut(ctx, k, t)
}

func (s *api) archiveTask(ctx context.Context, k *call, in *taskIn) (*struct{}, error) {
	if err := checkCode(in.Code); err != nil {
		return nil, err
	}
	_, err := s.tasks.Archive(ctx, k.actor, in.Code, "")
	return nil, err
}

// taskOut shows a task that the actor may see.
func (s *api) taskOut(ctx context.Context, k *call, t sched.Task) (*taskOut, error) {
	teams, err := s.teamCodes(ctx, k.actor)
	if err != nil {
		return nil, err
	}
	return &taskOut{Body: taskShape(t, teams[t.TeamID], s.now())}, nil
}

// teamCodes gives the codes of the teams that the actor may read, by id.
func (s *api) teamCodes(ctx context.Context, by access.Actor) (map[int64]string, error) {
	teams, err := s.teams.List(ctx, by)
	out := make(map[int64]string, len(teams))
	for _, t := range teams {
		out[t.ID] = t.Code
	}
	return out, err
}
