package db

import (
	"context"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"ax/app/sched"
)

// laneRow is a row of task_lanes: a task that needs labels.
type laneRow struct {
	TaskID int64
	Queue  string
	Labels string
}

func (r laneRow) lane() sched.Lane {
	return sched.Lane{Queue: r.Queue, Labels: sched.Labels(r.Labels)}
}

// noteLane keeps the list of tasks that need labels in step with a task's
// definition. What waits of a task whose lane changed is sent anew along its new
// one: by the sweep what is handed over, by the dispatcher what isn't.
func (d *DB) noteLane(tx *gorm.DB, old, next sched.Task) error {
	var from, to sched.Lane
	if len(old.Spec.Labels) > 0 {
		from = old.Lane(sched.Instance{})
	}
	if len(next.Spec.Labels) > 0 {
		to = next.Lane(sched.Instance{})
	}
	if from == to {
		return nil
	}
	if err := tx.Exec("DELETE FROM task_lanes WHERE task_id=?", next.ID).Error; err != nil {
		return err
	}
	if to.Labels != "" {
		err := tx.Exec("INSERT INTO task_lanes (task_id, queue, labels) VALUES (?,?,?)", next.ID, to.Queue, string(to.Labels)).Error
		if err != nil {
			return err
		}
	}
	if old.ID == 0 {
		return nil
	}
	return d.sendAnew(tx, next)
}

// sendAnew makes the sweep send what of a task is handed over and waits, in the
// queue that the task is in now: a message goes along one lane only.
func (d *DB) sendAnew(tx *gorm.DB, t sched.Task) error {
	var ids []string
	err := tx.Raw("SELECT id FROM "+d.dialect.byIndex("instances", "instances_task_state")+" WHERE task_id=? AND state IN ? ORDER BY id", t.ID, claimableStates).Scan(&ids).Error
	if err != nil {
		return err
	}
	for chunk := range slices.Chunk(ids, 500) {
		err := tx.Exec("UPDATE "+d.dialect.forcePrimary("instances")+
			" SET queue=?, resends=0, look_at=CASE WHEN state='pending' THEN look_at ELSE ? END WHERE id IN ? AND state IN ?",
			t.Queue, at(t.UpdatedAt), chunk, claimableStates).Error
		if err != nil {
			return err
		}
	}
	return nil
}

// lanesOf gives the lanes of those of the tasks that need labels.
func lanesOf(tx *gorm.DB, tasks []int64) (map[int64]sched.Lane, error) {
	slices.Sort(tasks)
	var rows []laneRow
	if err := tx.Raw("SELECT task_id, queue, labels FROM task_lanes WHERE task_id IN ?", slices.Compact(tasks)).Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("read lanes of tasks: %w", err)
	}
	out := make(map[int64]sched.Lane, len(rows))
	for _, r := range rows {
		out[r.TaskID] = r.lane()
	}
	return out, nil
}

// laneOf is the lane that an instance's messages take.
func laneOf(tx *gorm.DB, in sched.Instance) (sched.Lane, error) {
	lanes, err := lanesOf(tx, []int64{in.TaskID})
	if lane, ok := lanes[in.TaskID]; ok {
		return lane, err
	}
	return sched.Lane{Queue: in.Queue}, err
}

// messageOf asks to look at an instance, along its lane.
func messageOf(tx *gorm.DB, in sched.Instance) (sched.Message, error) {
	lane, err := laneOf(tx, in)
	return lane.Message(in), err
}

// Lane that an instance's messages take.
func (d *DB) Lane(ctx context.Context, in sched.Instance) (sched.Lane, error) {
	lane, err := laneOf(d.view(ctx), in)
	return lane, away(err)
}

// Lanes lists the lanes with labels of tasks that are in use: those that are not
// archived, and of archived ones those of which something is open.
func (d *DB) Lanes(ctx context.Context) ([]sched.Lane, error) {
	var rows []laneRow
	err := d.view(ctx).Raw("SELECT DISTINCT l.queue AS queue, l.labels AS labels FROM task_lanes l JOIN tasks t ON t.id=l.task_id WHERE t.archived_at IS NULL"+
		" OR EXISTS (SELECT 1 FROM instances i WHERE i.task_id=l.task_id AND i.state IN ?) ORDER BY l.queue, l.labels", openStates).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("list the lanes of tasks: %w", away(err))
	}
	out := make([]sched.Lane, len(rows))
	for i, r := range rows {
		out[i] = r.lane()
	}
	return out, nil
}
