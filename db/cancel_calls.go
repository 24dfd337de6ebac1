package db

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"ax/app/fail"
	"ax/app/sched"
)

// cancelRow is a row of cancel_calls.
type cancelRow struct {
	InstanceID  string
	Attempt     int
	TaskID      int64
	TaskVersion int
	URL         maybe `gorm:"column:url"`
	NotedAt     Millis
	Reason      string
	ByWhom      string
	AskedAt     Millis
	DueAt       Millis
	Tries       int
	StatusCode  int
	Error       string
	EndedAt     Millis
}

// TableName is read by GORM.
func (cancelRow) TableName() string { return "cancel_calls" }

func (r cancelRow) call() sched.CancelCall {
	return sched.CancelCall{
		InstanceID: r.InstanceID, Attempt: r.Attempt, Reason: sched.CancelReason(r.Reason), By: r.ByWhom, AskedAt: r.AskedAt.Time,
		DueAt: r.DueAt.Time, Tries: r.Tries, StatusCode: r.StatusCode, Error: r.Error, EndedAt: r.EndedAt.Time,
	}
}

// telling is an instance whose target is to be told to stop.
type telling struct {
	in     sched.Instance // as it was read under its lock, with its present attempt
	url    string         // of the executor that was called; empty: not known, or none
	reason sched.CancelReason
	by     string
	now    time.Time
}

// tellTargets stores what targets are to be told by the ends of their
// instances, and where accepted work can be told.
func (d *DB) tellTargets(tx *gorm.DB, ends []ended) error {
	for _, x := range ends {
		s := telling{in: x.in, url: x.r.CancelURL, now: x.now}
		if x.e.To == sched.Awaiting {
			if err := d.noteTaker(tx, s); err != nil {
				return err
			}
			continue
		}
		if s.reason = x.in.Tells(x.e, x.r); s.reason == "" {
			continue
		}
		if s.reason == sched.BecauseCanceled {
			err := tx.Raw("SELECT actor FROM instance_events WHERE instance_id=? AND kind=? ORDER BY id DESC LIMIT 1", x.in.ID, string(sched.EvCancelWanted)).Scan(&s.by).Error
			if err != nil {
				return err
			}
			if s.by == sched.ByOverlap {
				s.by = ""
			}
		}
		if err := d.tellTarget(tx, s); err != nil {
			return err
		}
	}
	return nil
}

// noteTaker remembers who took an attempt, if it can be told to stop.
func (d *DB) noteTaker(tx *gorm.DB, s telling) error {
	if s.url == "" {
		return nil
	}
	version, err := versionOf(tx, s.in)
	if err != nil {
		return err
	}
	up := d.dialect.upsert("instance_id", "attempt", "task_version", "url", "noted_at")
	return tx.Exec("INSERT INTO cancel_calls (instance_id, attempt, task_id, task_version, url, noted_at) VALUES (?,?,?,?,?,?) "+up,
		s.in.ID, s.in.Attempt, s.in.TaskID, version, s.url, at(s.now)).Error
}

// tellTarget stores that the target is to be told to stop, if there is a way.
func (d *DB) tellTarget(tx *gorm.DB, s telling) error {
	if err := fail.At("cancel.asked"); err != nil {
		return err
	}
	version, err := versionOf(tx, s.in)
	if err != nil {
		return err
	}
	spec, err := specAt(tx, s.in.TaskID, version)
	if err != nil {
		return err
	}
	if s.url == "" && !spec.Target.TakesCancel() {
		if spec.Target.Executor == "" {
			return nil
		}
		return tx.Exec("UPDATE cancel_calls SET reason=?, by_whom=?, noted_at=?, asked_at=?, due_at=? WHERE instance_id=? AND attempt=? AND asked_at IS NULL",
			string(s.reason), clip(s.by, 100), at(s.now), at(s.now), at(s.now), s.in.ID, s.in.Attempt).Error
	}
	up := d.dialect.upsert("instance_id", "attempt", "task_version", "url", "noted_at", "reason", "by_whom", "asked_at", "due_at")
	return tx.Exec("INSERT INTO cancel_calls (instance_id, attempt, task_id, task_version, url, noted_at, reason, by_whom, asked_at, due_at) VALUES (?,?,?,?,?,?,?,?,?,?) "+up,
		s.in.ID, s.in.Attempt, s.in.TaskID, version, maybe(s.url), at(s.now), string(s.reason), clip(s.by, 100), at(s.now), at(s.now)).Error
}

// versionOf is the definition that the present attempt began with.
func versionOf(tx *gorm.DB, in sched.Instance) (version int, err error) {
	err = tx.Raw("SELECT task_version FROM attempts WHERE instance_id=? AND no=?", in.ID, in.Attempt).Row().Scan(&version)
	return version, err
}

// cancelCall is what the instance's target is told; nil: nothing.
func (d *DB) cancelCall(ctx context.Context, instanceID string) (*sched.CancelCall, error) {
	var rows []cancelRow
	err := d.view(ctx).Raw("SELECT * FROM cancel_calls WHERE instance_id=? AND asked_at IS NOT NULL", instanceID).Scan(&rows).Error
	if err != nil || len(rows) == 0 {
		return nil, away(err)
	}
	return new(rows[0].call()), nil
}

// DueCancels lists the cancel calls that are due, the longest waiting first.
func (d *DB) DueCancels(ctx context.Context, now time.Time, limit int) ([]sched.CancelDue, error) {
	var rows []cancelRow
	err := d.view(ctx).Raw("SELECT instance_id, task_id, tries FROM cancel_calls WHERE due_at<=? ORDER BY due_at, instance_id LIMIT ?", at(now), limit).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("look for targets to be told to stop: %w", away(err))
	}
	out := make([]sched.CancelDue, len(rows))
	for i, r := range rows {
		out[i] = sched.CancelDue{InstanceID: r.InstanceID, TaskID: r.TaskID, Tries: r.Tries}
	}
	return out, nil
}

// TakeCancel counts a try of a cancel call and puts the next one off, if nobody
// else has.
func (d *DB) TakeCancel(ctx context.Context, due sched.CancelDue, now, until time.Time) (sched.CancelOrder, bool, error) {
	var out sched.CancelOrder
	var ok bool
	err := d.tx(ctx, "take the cancel call of "+due.InstanceID, func(tx *gorm.DB) error {
		res := tx.Exec("UPDATE cancel_calls SET tries=tries+1, due_at=? WHERE instance_id=? AND tries=? AND due_at<=?", at(until), due.InstanceID, due.Tries, at(now))
		if ok = res.Error == nil && res.RowsAffected == 1; !ok {
			return res.Error
		}
		var err error
		out, err = cancelOrder(tx, due.InstanceID)
		return err
	})
	return out, ok && err == nil, err
}

// cancelOrder reads a cancel call with what is to be sent.
func cancelOrder(tx *gorm.DB, id string) (sched.CancelOrder, error) {
	var r cancelRow
	if err := tx.Raw("SELECT * FROM cancel_calls WHERE instance_id=?", id).Take(&r).Error; err != nil {
		return sched.CancelOrder{}, err
	}
	in, err := takeInstance(tx, "", id)
	if err != nil {
		return sched.CancelOrder{}, err
	}
	var task struct {
		Code   string
		TeamID int64
	}
	if err := tx.Raw("SELECT code, team_id FROM tasks WHERE id=?", r.TaskID).Take(&task).Error; err != nil {
		return sched.CancelOrder{}, err
	}
	spec, err := specAt(tx, r.TaskID, r.TaskVersion)
	if err != nil {
		return sched.CancelOrder{}, err
	}
	return sched.CancelOrder{CancelCall: r.call(), URL: string(r.URL), Call: sched.Call{
		InstanceID: id, TeamID: task.TeamID, TaskCode: task.Code, BizID: in.BizID, Key: in.Key(task.Code), Attempt: r.Attempt, Replay: in.Replay,
		ScheduledAt: in.WantedAt, Target: spec.Target,
	}}, nil
}

// SettleCancel stores what became of a try of a cancel call, unless another one
// has begun meanwhile.
func (d *DB) SettleCancel(ctx context.Context, c sched.CancelCall) error {
	return d.tx(ctx, "settle the cancel call of "+c.InstanceID, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE cancel_calls SET due_at=?, status_code=?, error=?, ended_at=? WHERE instance_id=? AND tries=? AND ended_at IS NULL",
			at(c.DueAt), c.StatusCode, clip(c.Error, 500), at(c.EndedAt), c.InstanceID, c.Tries).Error
	})
}

// cancelLife is how long cancel calls are kept: as outputs, and a day longer,
// for accepted work may wait for as long and be told then.
const cancelLife = outputLife + 24*time.Hour

// PruneCancels removes cancel calls that nothing was written to for cancelLife.
func (d *DB) PruneCancels(ctx context.Context, now time.Time) error {
	old := at(now.Add(-cancelLife))
	for {
		var n int
		err := d.tx(ctx, "prune cancel calls", func(tx *gorm.DB) error {
			var ids []string
			err := tx.Raw("SELECT instance_id FROM cancel_calls WHERE noted_at<? ORDER BY noted_at LIMIT ?", old, pruneOutputs).Scan(&ids).Error
			if n = len(ids); err != nil || n == 0 {
				return err
			}
			return tx.Exec("DELETE FROM cancel_calls WHERE instance_id IN ?", ids).Error
		})
		if err != nil || n == 0 {
			return err
		}
	}
}
