package db

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/sched"
)

// claimableStates is the guard of every change of an instance that waits.
var claimableStates = sched.Claimable()

// instanceRow is a row of instances.
type instanceRow struct {
	ID              string
	TaskID          int64
	TeamID          int64
	Queue           string
	BizID           string
	Replay          int
	ReplayOf        maybe
	Origin          string
	RequestedBy     string
	Payload         maybe
	SlotAt          Millis
	WantedAt        Millis
	DueAt           Millis
	LookAt          Millis
	Resends         int
	Defers          int
	State           string
	Dispatch        int
	Attempt         int
	Retries         int
	Deaths          int
	NodeID          maybe
	ClaimID         maybe
	SentAt          Millis
	CancelWanted    Millis
	ReceiptDeadline Millis
	DeadlineAt      Millis
	PlannedBy       string
	Error           string
	Reason          string
	CreatedAt       Millis
	QueuedAt        Millis
	StartedAt       Millis
	FinishedAt      Millis
}

func instanceRowOf(in sched.Instance) instanceRow {
	return instanceRow{
		ID: in.ID, TaskID: in.TaskID, TeamID: in.TeamID, Queue: in.Queue, BizID: in.BizID, Replay: in.Replay,
		ReplayOf: maybe(in.ReplayOf), Origin: string(in.Origin), RequestedBy: clip(in.RequestedBy, 100), Payload: maybe(in.Payload),
		SlotAt: at(in.SlotAt), WantedAt: at(in.WantedAt), DueAt: at(in.DueAt), State: string(in.State),
		Dispatch: in.Dispatch, PlannedBy: in.PlannedBy, CreatedAt: at(in.CreatedAt),
	}
}

func (r instanceRow) instance() sched.Instance {
	in := sched.Instance{
		ID: r.ID, TaskID: r.TaskID, TeamID: r.TeamID, Queue: r.Queue, BizID: r.BizID, Replay: r.Replay,
		ReplayOf: string(r.ReplayOf), Origin: sched.Origin(r.Origin), RequestedBy: r.RequestedBy,
		SlotAt: r.SlotAt.Time, WantedAt: r.WantedAt.Time, DueAt: r.DueAt.Time, LookAt: r.LookAt.Time,
		Resends: r.Resends, Defers: r.Defers, State: sched.State(r.State), Dispatch: r.Dispatch, Attempt: r.Attempt,
		Retries: r.Retries, Deaths: r.Deaths, NodeID: string(r.NodeID), ClaimID: string(r.ClaimID), SentAt: r.SentAt.Time,
		CancelWanted: r.CancelWanted.Time, ReceiptDeadline: r.ReceiptDeadline.Time, DeadlineAt: r.DeadlineAt.Time,
		PlannedBy: r.PlannedBy, Error: r.Error, Reason: r.Reason, CreatedAt: r.CreatedAt.Time,
		QueuedAt: r.QueuedAt.Time, StartedAt: r.StartedAt.Time, FinishedAt: r.FinishedAt.Time,
	}
	if r.Payload != "" {
		in.Payload = json.RawMessage(r.Payload)
	}
	return in
}

// asked tells whether a column is set that a slot leaves at its default.
func (r instanceRow) asked() bool {
	return r.Replay != 0 || r.ReplayOf != "" || r.RequestedBy != "" || r.Payload != "" || r.Dispatch != 0
}

// insertInstances inserts rows whose (task, biz_id, replay) is not taken and
// tells how many those were.
func (d *DB) insertInstances(tx *gorm.DB, rows []instanceRow) (int, error) {
	cols, marks := "id, task_id, team_id, queue, biz_id, origin, slot_at, wanted_at, due_at, state, planned_by, created_at", "(?,?,?,?,?,?,?,?,?,?,?,?)"
	asked := slices.ContainsFunc(rows, instanceRow.asked)
	if asked {
		cols, marks = cols+", replay, replay_of, requested_by, payload, dispatch", "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
	}
	inserted := 0
	for len(rows) > 0 {
		n := min(len(rows), 500)
		args := make([]any, 0, n*17)
		for _, r := range rows[:n] {
			args = append(args, r.ID, r.TaskID, r.TeamID, r.Queue, r.BizID, r.Origin, r.SlotAt, r.WantedAt, r.DueAt, r.State, r.PlannedBy, r.CreatedAt)
			if asked {
				args = append(args, r.Replay, r.ReplayOf, r.RequestedBy, r.Payload, r.Dispatch)
			}
		}
		res := tx.Exec("INSERT INTO instances ("+cols+") VALUES "+marks+strings.Repeat(","+marks, n-1)+" "+d.dialect.doNothing("instances"), args...)
		if res.Error != nil {
			return inserted, res.Error
		}
		inserted += int(res.RowsAffected)
		rows = rows[n:]
	}
	return inserted, nil
}

// takeInstance reads an instance; NotFound when there is none.
func takeInstance(tx *gorm.DB, lock, id string) (sched.Instance, error) {
	var r instanceRow
	err := tx.Raw("SELECT * FROM instances WHERE id=?"+lock, id).Take(&r).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return sched.Instance{}, access.NoObject()
	}
	return r.instance(), err
}

// lockInstances reads instances under their locks, which are taken by ascending
// id; what isn't there is left out.
func lockInstances(tx *gorm.DB, d dialect, columns string, ids []string) (map[string]sched.Instance, error) {
	var rows []instanceRow
	err := tx.Raw("SELECT "+columns+" FROM "+d.forcePrimary("instances")+" WHERE id IN ? ORDER BY id"+d.forUpdate, ids).Scan(&rows).Error
	out := make(map[string]sched.Instance, len(rows))
	for _, r := range rows {
		out[r.ID] = r.instance()
	}
	return out, err
}

// Instance gives an instance with its task's team; NotFound when there is none.
func (d *DB) Instance(ctx context.Context, id string) (sched.Instance, error) {
	in, err := takeInstance(d.view(ctx), "", id)
	if err == nil {
		in.TeamID, err = teamOf(d.view(ctx), in.TaskID)
	}
	return in, err
}

// Instances gives a page of instances, newest first: ids are in the order of
// their making.
func (d *DB) Instances(ctx context.Context, f sched.InstanceFilter, p sched.PageRequest) (sched.PageOf[sched.Instance], error) {
	m, err := d.moving(ctx, f.Scope)
	if err != nil {
		return sched.PageOf[sched.Instance]{}, err
	}
	rows, page, err := keyset(p, instanceWhere(f, m), "id", false, func(q string, args []any) ([]instanceRow, error) {
		var rows []instanceRow
		err := d.view(ctx).Raw("SELECT * FROM instances"+q, args...).Scan(&rows).Error
		return rows, err
	}, func(r instanceRow) string { return r.ID })
	if err != nil {
		return sched.PageOf[sched.Instance]{}, fmt.Errorf("list instances: %w", err)
	}
	out := sched.PageOf[sched.Instance]{Next: page.Next, Prev: page.Prev, Items: make([]sched.Instance, len(rows))}
	for i, r := range rows {
		out.Items[i] = r.instance()
	}
	return out, nil
}

func instanceWhere(f sched.InstanceFilter, m moves) *where {
	w := &where{}
	m.scope(w, "", f.Scope)
	if f.TaskID != 0 {
		w.and("task_id=?", f.TaskID)
	}
	if len(f.States) > 0 {
		w.and("state IN ?", f.States)
	}
	if f.BizID != "" {
		w.begins("biz_id", f.BizID)
	}
	if f.NodeID != "" {
		w.and("node_id=?", f.NodeID)
	}
	if f.Origin != "" {
		w.and("origin=?", string(f.Origin))
	}
	if !f.Since.IsZero() {
		w.and("id>=?", firstID(f.Since))
	}
	if !f.Until.IsZero() {
		w.and("id<?", firstID(f.Until))
	}
	return w
}

// firstID is the smallest UUIDv7 of a millisecond: a bound in time that the
// primary key serves.
func firstID(t time.Time) string {
	var u uuid.UUID
	ms := t.UnixMilli()
	for i := range 6 {
		u[i] = byte(ms >> (8 * (5 - i)))
	}
	u[6] = 0x70
	return u.String()
}

// InstanceView reads an instance with its task, attempts, events and letter.
func (d *DB) InstanceView(ctx context.Context, id string) (sched.InstanceView, error) {
	in, err := d.Instance(ctx, id)
	if err != nil {
		return sched.InstanceView{}, err
	}
	v := sched.InstanceView{Instance: in}
	if v.Task, err = d.TaskByID(ctx, in.TaskID); err != nil {
		return v, err
	}
	if v.Attempts, err = d.attempts(ctx, id); err != nil {
		return v, err
	}
	if v.Events, err = d.events(ctx, id); err != nil {
		return v, err
	}
	if v.Probing, err = d.Probing(ctx, id); err != nil {
		return v, err
	}
	if v.Told, err = d.cancelCall(ctx, id); err != nil {
		return v, err
	}
	err = d.view(ctx).Raw("SELECT id FROM dead_letters WHERE task_id=? AND biz_id=?", in.TaskID, in.BizID).Scan(&v.Letter).Error
	return v, err
}
