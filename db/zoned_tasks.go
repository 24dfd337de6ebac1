package db

import (
	"context"
	"fmt"
	"strings"

	"ax/app/sched"
)

// ZonedTasks gives enabled tasks that go by a time zone, with ids above after
// and in order, and the last id looked at; 0 when no others follow. A task that
// can't be read is passed over: planning it says so.
func (d *DB) ZonedTasks(ctx context.Context, after int64, limit int) (tasks []sched.Task, last int64, err error) {
	var rows []taskRow
	err = d.view(ctx).Raw("SELECT id, code, spec, next_fire_at, plan_error FROM tasks"+
		" WHERE id>? AND enabled=1 AND archived_at IS NULL AND timezone NOT IN ('', 'UTC') ORDER BY id LIMIT ?", after, limit).Scan(&rows).Error
	if err != nil {
		return nil, 0, fmt.Errorf("list tasks with a zone: %w", away(err))
	}
	cals := calendarsIn(d.view(ctx))
	for _, r := range rows {
		t, err := r.task()
		if err != nil {
			continue
		}
		if err := cals.give(&t); err != nil {
			return nil, 0, fmt.Errorf("read the calendar of task %s: %w", t.Code, away(err))
		}
		tasks = append(tasks, t)
	}
	if len(rows) == limit {
		last = rows[limit-1].ID
	}
	return tasks, last, nil
}

// NoteReplans notes tasks as to be planned anew, for no calendar's sake.
func (d *DB) NoteReplans(ctx context.Context, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = id
	}
	err := d.write.WithContext(ctx).Exec("INSERT INTO calendar_replans (task_id, code) VALUES (?,'')"+strings.Repeat(",(?,'')", len(ids)-1)+
		" "+d.dialect.upsert("task_id", "task_id"), args...).Error
	if err != nil {
		return fmt.Errorf("note tasks to plan anew: %w", away(err))
	}
	return nil
}
