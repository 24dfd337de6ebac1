package db

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/sched"
)

// taskRow is a row of tasks.
type taskRow struct {
	ID          int64
	TeamID      int64
	Code        string
	Name        string
	GroupName   string
	Owner       string
	Tags        string // ",a,b,": a tag is found by LIKE '%,a,%'
	Enabled     bool
	ArchivedAt  Millis
	Version     int
	Kind        string
	Queue       string
	Timezone    string
	Spec        string
	AnchorAt    Millis
	NextFireAt  Millis
	PausedFrom  Millis
	PausedUntil Millis
	PlanError   string
	CreatedAt   Millis
	CreatedBy   string
	UpdatedAt   Millis
	UpdatedBy   string
}

// TableName is read by GORM.
func (taskRow) TableName() string { return "tasks" }

func taskRowOf(t sched.Task) (taskRow, error) {
	spec, err := json.Marshal(t.Spec)
	if err != nil {
		return taskRow{}, fmt.Errorf("write the spec of task %s: %w", t.Code, err)
	}
	tags := ""
	if len(t.Tags) > 0 {
		tags = "," + strings.Join(t.Tags, ",") + ","
	}
	return taskRow{
		ID: t.ID, TeamID: t.TeamID, Code: t.Code, Name: t.Name, GroupName: t.Group, Owner: t.Owner, Tags: tags,
		Enabled: t.Enabled, ArchivedAt: at(t.ArchivedAt), Version: t.Version, Kind: string(t.Spec.Schedule.Kind),
		Queue: t.Queue, Timezone: t.Spec.Schedule.Timezone, Spec: string(spec), AnchorAt: at(t.Spec.Schedule.Anchor),
		NextFireAt: at(t.NextFireAt), PausedFrom: at(t.PausedFrom), PausedUntil: at(t.PausedUntil),
		PlanError: clip(t.PlanError, 500), CreatedAt: at(t.CreatedAt), CreatedBy: clip(t.CreatedBy, 100),
		UpdatedAt: at(t.UpdatedAt), UpdatedBy: clip(t.UpdatedBy, 100),
	}, nil
}

func (r taskRow) task() (sched.Task, error) {
	t := sched.Task{
		ID: r.ID, TeamID: r.TeamID, Code: r.Code, Name: r.Name, Group: r.GroupName, Owner: r.Owner,
		Enabled: r.Enabled, Queue: r.Queue, Version: r.Version, ArchivedAt: r.ArchivedAt.Time,
		NextFireAt: r.NextFireAt.Time, PausedFrom: r.PausedFrom.Time, PausedUntil: r.PausedUntil.Time,
		PlanError: r.PlanError, CreatedAt: r.CreatedAt.Time, CreatedBy: r.CreatedBy,
		UpdatedAt: r.UpdatedAt.Time, UpdatedBy: r.UpdatedBy,
	}
	if tags := strings.Trim(r.Tags, ","); tags != "" {
		t.Tags = strings.Split(tags, ",")
	}
	if err := json.Unmarshal([]byte(r.Spec), &t.Spec); err != nil {
		return t, fmt.Errorf("read the spec of task %s: %w", r.Code, err)
	}
	return t, nil
}

// shown is the task as lists and pages show it: one that can't be read carries
// the reason and hides no other.
func (r taskRow) shown() sched.Task {
	t, err := r.task()
	if err != nil {
		t.Spec = sched.Spec{Schedule: sched.Schedule{Kind: sched.ScheduleKind(r.Kind)}}
		t.PlanError = clip(err.Error(), 500)
	}
	return t
}

// takeTask reads one task by a condition; NotFound when there is none.
func takeTask(tx *gorm.DB, lock, cond string, arg any) (sched.Task, error) {
	r, err := takeTaskRow(tx, lock, cond, arg)
	if err != nil {
		return sched.Task{}, err
	}
	t, err := r.task()
	if err != nil {
		return t, err
	}
	return t, calendarsIn(tx).give(&t)
}

func takeTaskRow(tx *gorm.DB, lock, cond string, arg any) (taskRow, error) {
	var r taskRow
	err := tx.Raw("SELECT * FROM tasks WHERE "+cond+lock, arg).Take(&r).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return r, access.NoObject()
	}
	return r, err
}

func (d *DB) showTask(ctx context.Context, cond string, arg any) (sched.Task, error) {
	r, err := takeTaskRow(d.view(ctx), "", cond, arg)
	if err != nil {
		return sched.Task{}, err
	}
	t := r.shown()
	return t, calendarsIn(d.view(ctx)).give(&t)
}

// Task gives the task of a code; NotFound when there is none.
func (d *DB) Task(ctx context.Context, code string) (sched.Task, error) {
	return d.showTask(ctx, "code=?", code)
}

// TaskByID gives the task of an id; NotFound when there is none.
func (d *DB) TaskByID(ctx context.Context, id int64) (sched.Task, error) {
	return d.showTask(ctx, "id=?", id)
}

// TasksByID gives the tasks of the ids, by id. It knows no scope: the ids come
// from rows that the caller may see.
func (d *DB) TasksByID(ctx context.Context, ids []int64) (map[int64]sched.Task, error) {
	out := make(map[int64]sched.Task, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	var rows []taskRow
	if err := d.view(ctx).Raw("SELECT * FROM tasks WHERE id IN ?", ids).Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("read tasks: %w", err)
	}
	for _, r := range rows {
		out[r.ID] = r.shown()
	}
	return out, nil
}

// Tasks gives a page of tasks by code.
func (d *DB) Tasks(ctx context.Context, f sched.TaskFilter, p sched.PageRequest) (sched.PageOf[sched.Task], error) {
	w := taskWhere(f)
	rows, page, err := keyset(p, w, "code", true, func(q string, args []any) ([]taskRow, error) {
		var rows []taskRow
		err := d.view(ctx).Raw("SELECT * FROM tasks"+q, args...).Scan(&rows).Error
		return rows, err
	}, func(r taskRow) string { return r.Code })
	if err != nil {
		return sched.PageOf[sched.Task]{}, fmt.Errorf("list tasks: %w", err)
	}
	out := sched.PageOf[sched.Task]{Next: page.Next, Prev: page.Prev}
	for _, r := range rows {
		out.Items = append(out.Items, r.shown())
	}
	return out, nil
}

func taskWhere(f sched.TaskFilter) *where {
	w := &where{}
	w.scope("team_id", f.Scope)
	if f.Archived {
		w.and("archived_at IS NOT NULL")
	} else {
		w.and("archived_at IS NULL")
	}
	if f.Text != "" {
		w.and("(code LIKE ? ESCAPE '!' OR name LIKE ? ESCAPE '!')", likePart(strings.ToLower(f.Text)), likePart(f.Text)) // codes are in lower case
	}
	if f.Tag != "" {
		w.and("tags LIKE ? ESCAPE '!'", likePart(","+f.Tag+","))
	}
	if f.Group != "" {
		w.and("group_name=?", f.Group)
	}
	if f.Owner != "" {
		w.and("owner=?", f.Owner)
	}
	if f.Kind != "" {
		w.and("kind=?", string(f.Kind))
	}
	if f.Calendar != "" {
		w.and("id IN (SELECT task_id FROM calendar_tasks WHERE code IN (SELECT code FROM calendars WHERE code=? OR name=?))", f.Calendar, f.Calendar)
	}
	if f.Enabled != nil {
		w.and("enabled=?", *f.Enabled)
	}
	if f.Troubled {
		w.and("plan_error<>''")
	}
	if !f.PausedAt.IsZero() {
		w.and("paused_from<=? AND paused_until>?", at(f.PausedAt), at(f.PausedAt))
	}
	return w
}
