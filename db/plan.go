package db

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"ax/app/fail"
	"ax/app/sched"
)

// newID makes an id that sorts by the time of its making.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// plannedTask is a due task with what its slots become.
type plannedTask struct {
	task sched.Task
	plan sched.TaskPlan
}

// Plan is one planning transaction: it takes due tasks that no other planner
// holds, makes instances of their slots, records what is not to run, and moves
// next_fire_at. A task that can't be planned gets plan_error and is left alone;
// the others go on.
func (d *DB) Plan(ctx context.Context, r sched.PlanRequest) (sched.PlanReport, error) {
	var report sched.PlanReport
	err := d.tx(ctx, "plan", func(tx *gorm.DB) error {
		report = sched.PlanReport{}
		due, err := d.dueTasks(tx, r)
		if err != nil || len(due) == 0 {
			return err
		}
		if err := fail.At("plan.locked"); err != nil {
			return err
		}
		report.Tasks = len(due)
		var plans []plannedTask
		cals := calendarsIn(tx)
		for _, row := range due {
			if report.Spent >= r.Budget && row.NextFireAt.Before(r.Now.Add(-sched.MisfireGrace)) {
				continue // its turn comes; what is due now doesn't wait for what is late
			}
			t, plan, why, err := planRow(cals, row, r, r.Budget-report.Spent)
			if err != nil {
				return err
			}
			if why != "" {
				report.Failed++
				if err := d.failPlan(tx, row.ID, why); err != nil {
					return err
				}
				continue
			}
			plans = append(plans, plannedTask{t, plan})
			report.Spent += plan.Spent
		}
		if err := d.storePlan(tx, plans, r.Now, r.NodeID, &report); err != nil {
			return err
		}
		if err := fail.At("plan.inserted"); err != nil {
			return err
		}
		if err := d.advance(tx, plans); err != nil {
			return err
		}
		return d.logPlan(tx, r, report)
	})
	return report, err
}

// dueTasks locks due tasks and reads what planning asks of them. It goes past
// GORM's scan, whose reflection took as long as the statement.
func (d *DB) dueTasks(tx *gorm.DB, r sched.PlanRequest) ([]taskRow, error) {
	since, order := time.UnixMilli(0), "next_fire_at, id"
	if !r.Since.IsZero() {
		since, order = r.Since, "next_fire_at DESC, id DESC"
	}
	rows, err := tx.Raw("SELECT id, team_id, code, queue, spec, next_fire_at, paused_from, paused_until FROM tasks"+
		" WHERE enabled=1 AND next_fire_at>=? AND next_fire_at<=? ORDER BY "+order+" LIMIT ?"+d.dialect.forUpdateSkipLocked, at(since), at(r.Until), r.Limit).Rows()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var due []taskRow
	for rows.Next() {
		var t taskRow
		if err := rows.Scan(&t.ID, &t.TeamID, &t.Code, &t.Queue, &t.Spec, &t.NextFireAt, &t.PausedFrom, &t.PausedUntil); err != nil {
			return nil, err
		}
		due = append(due, t)
	}
	return due, rows.Err()
}

// planRow plans one task; why is not empty when it can't be planned.
func planRow(cals *calendars, row taskRow, r sched.PlanRequest, budget int) (t sched.Task, plan sched.TaskPlan, why string, err error) {
	t, err = row.task()
	if err != nil {
		return t, plan, err.Error(), nil
	}
	if err := cals.give(&t); err != nil {
		return t, plan, "", err
	}
	plan, why, err = planTask(cals.tx, t, r.Now, r.Until, max(budget, 1))
	return t, plan, why, err
}

// planTask decides about a task's slots until the given instant; why is not
// empty when its schedule can't be computed.
func planTask(tx *gorm.DB, t sched.Task, now, until time.Time, budget int) (plan sched.TaskPlan, why string, err error) {
	times, err := t.Times()
	if err != nil {
		return plan, err.Error(), nil
	}
	if !t.Spec.Schedule.FixedDelay {
		return sched.PlanTask(t, times, now, until, budget), "", nil
	}
	last, err := lastSlot(tx, t.ID)
	return sched.PlanDelayed(t, last, now, until), "", err
}

// lastSlot reads the latest slot of a task. Its ids rise with time.
func lastSlot(tx *gorm.DB, taskID int64) (sched.LastSlot, error) {
	var r instanceRow
	err := tx.Raw("SELECT state, finished_at FROM instances WHERE task_id=? AND origin='schedule' ORDER BY id DESC LIMIT 1", taskID).Take(&r).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return sched.LastSlot{}, nil
	}
	return sched.LastSlot{State: sched.State(r.State), EndedAt: r.FinishedAt.Time}, err
}

func (d *DB) failPlan(tx *gorm.DB, id int64, why string) error {
	return tx.Exec("UPDATE "+d.dialect.forcePrimary("tasks")+" SET plan_error=?, next_fire_at=NULL WHERE id=?", clip(why, 500), id).Error
}

// storePlan inserts the instances and missed ranges of the plans and adds them
// to the report. A slot that is there already is left alone: an edit may come
// back to a planned slot.
func (d *DB) storePlan(tx *gorm.DB, plans []plannedTask, now time.Time, node string, report *sched.PlanReport) error {
	var rows []instanceRow
	var messages []sched.Message
	for _, p := range plans {
		offset := p.task.Offset()
		for _, slot := range p.plan.Run {
			in := sched.Instance{
				ID: newID(), TaskID: p.task.ID, TeamID: p.task.TeamID, Queue: p.task.Queue,
				BizID: sched.SlotBizID(slot), Origin: sched.FromSchedule, SlotAt: slot, WantedAt: slot.Add(offset), DueAt: slot.Add(offset),
				State: sched.Pending, PlannedBy: node, CreatedAt: now,
			}
			rows = append(rows, instanceRowOf(in))
			messages = append(messages, p.task.Message(in))
		}
	}
	inserted, err := d.insertInstances(tx, rows)
	if err != nil {
		return err
	}
	report.Instances += inserted
	if inserted == len(rows) { // else which ones are new is for the dispatcher to read
		report.Messages = append(report.Messages, messages...)
	}
	missed, err := d.storeMissed(tx, plans, now, node)
	report.Missed += missed
	return err
}

// advance moves next_fire_at of all planned tasks in one statement.
func (d *DB) advance(tx *gorm.DB, plans []plannedTask) error {
	if len(plans) == 0 {
		return nil
	}
	var set strings.Builder
	args := make([]any, 0, 2*len(plans)+1)
	ids := make([]int64, len(plans))
	for i, p := range plans {
		set.WriteString(" WHEN ? THEN ?")
		args = append(args, p.task.ID, at(p.plan.Next))
		ids[i] = p.task.ID
	}
	return tx.Exec("UPDATE "+d.dialect.forcePrimary("tasks")+" SET plan_error='', next_fire_at=CASE id"+set.String()+" END WHERE id IN ?",
		append(args, ids)...).Error
}

func (d *DB) logPlan(tx *gorm.DB, r sched.PlanRequest, report sched.PlanReport) error {
	return tx.Exec("INSERT INTO plan_log (node_id, at, from_at, to_at, tasks, instances, skipped) VALUES (?,?,?,?,?,?,?)",
		r.NodeID, at(r.Now), at(r.Now), at(r.Until), report.Tasks, report.Instances, report.Missed).Error
}
