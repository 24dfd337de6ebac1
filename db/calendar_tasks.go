package db

import (
	"context"
	"fmt"

	"ax/app/access"
	"ax/app/sched"
)

// CalendarTasks gives tasks of the scope that go by a calendar and are planned,
// those with the next slots first, with their calendars; of one calendar when it
// is named.
func (d *DB) CalendarTasks(ctx context.Context, s access.Scope, calendar string, limit int) ([]sched.Task, error) {
	w := &where{}
	w.and("t.enabled=1 AND t.next_fire_at IS NOT NULL")
	w.scope("t.team_id", s)
	if calendar != "" {
		w.and("c.code=?", calendar)
	}
	var rows []taskRow
	err := d.view(ctx).Raw("SELECT t.* FROM calendar_tasks c JOIN tasks t ON t.id=c.task_id"+w.sql()+" ORDER BY t.next_fire_at, t.id LIMIT ?",
		append(w.args, limit)...).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("list tasks with calendars: %w", away(err))
	}
	out := make([]sched.Task, len(rows))
	cals := calendarsIn(d.view(ctx))
	for i, r := range rows {
		out[i] = r.shown()
		if err := cals.give(&out[i]); err != nil {
			return nil, fmt.Errorf("list tasks with calendars: %w", away(err))
		}
	}
	return out, nil
}
