package db

import (
	"context"
	"time"

	"ax/app/access"
	"ax/app/sched"
)

// Spreads is Spread of each of the tasks, in one query per part of the window;
// a task of which nothing was measured is not in it.
func (d *DB) Spreads(ctx context.Context, taskIDs []int64, since time.Time, of ...sched.Measure) (map[int64]sched.Spread, error) {
	out := make(map[int64]sched.Spread, len(taskIDs))
	if len(taskIDs) == 0 {
		return out, nil
	}
	done, err := momentOf(d.view(ctx), "", sketchHoursName)
	if err != nil {
		return nil, err
	}
	merged := map[int64]sketch{}
	for _, p := range partsOf("sketch", done, since) {
		w := p.where(nil, access.Scope{All: true}, 0)
		w.and("task_id IN ? AND kind IN ?", taskIDs, of)
		if err := d.mergeByTask(ctx, merged, "SELECT task_id, sketch FROM "+p.table+w.sql(), w.args...); err != nil {
			return nil, reading(p.table, err)
		}
	}
	for id, all := range merged {
		if out[id], err = all.spread(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (d *DB) mergeByTask(ctx context.Context, into map[int64]sketch, query string, args ...any) error {
	rows, err := d.view(ctx).Raw(query, args...).Rows()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var task int64
		var one []byte
		if err := rows.Scan(&task, &one); err != nil {
			return err
		}
		all, ok := into[task]
		if !ok {
			if all, err = newSketch(); err != nil {
				return err
			}
			into[task] = all
		}
		if err := all.merge(one); err != nil {
			return err
		}
	}
	return rows.Err()
}
