package db

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"gorm.io/gorm"

	"ax/app/sched"
)

// Due lists pending instances due at or before until, the longest due first.
func (d *DB) Due(ctx context.Context, until time.Time, limit int) ([]sched.Message, error) {
	var rows []instanceRow
	err := d.view(ctx).Raw("SELECT id, task_id, dispatch, queue, due_at FROM instances WHERE state='pending' AND due_at<=? ORDER BY due_at LIMIT ?",
		at(until), limit).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("list due instances: %w", err)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	tasks := make([]int64, len(rows))
	for i, r := range rows {
		tasks[i] = r.TaskID
	}
	lanes, err := lanesOf(d.view(ctx), tasks)
	if err != nil {
		return nil, err
	}
	out := make([]sched.Message, len(rows))
	for i, r := range rows {
		out[i] = sched.Message{InstanceID: r.ID, Dispatch: r.Dispatch, Queue: r.Queue, DueAt: r.DueAt.Time}
		if lane, ok := lanes[r.TaskID]; ok {
			out[i].Queue, out[i].Labels = lane.Queue, lane.Labels
		}
	}
	return out, nil
}

// MarkQueued moves what was sent from pending to queued, unless somebody moved
// it meanwhile. The sweep looks at it 10 s after it is due or was sent.
func (d *DB) MarkQueued(ctx context.Context, messages []sched.Message, now time.Time) error {
	sent := map[int][]string{} // by message number; nearly all have the same
	for _, m := range messages {
		sent[m.Dispatch] = append(sent[m.Dispatch], m.InstanceID)
	}
	for _, number := range slices.Sorted(maps.Keys(sent)) {
		err := d.tx(ctx, "mark as queued", func(tx *gorm.DB) error {
			return tx.Exec("UPDATE "+d.dialect.forcePrimary("instances")+
				" SET state='queued', queued_at=?, look_at=CASE WHEN due_at>? THEN due_at ELSE ? END + ? WHERE id IN ? AND state='pending' AND dispatch=?",
				at(now), at(now), at(now), sched.LookAgain.Milliseconds(), sent[number], number).Error
		})
		if err != nil {
			return err
		}
	}
	return nil
}
