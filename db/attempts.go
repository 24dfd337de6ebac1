package db

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"ax/app/sched"
)

// attemptRow is a row of attempts.
type attemptRow struct {
	InstanceID    string
	No            int
	TaskID        int64
	TeamID        int64
	TaskVersion   int
	NodeID        maybe
	ClaimID       maybe
	Executor      string
	StartedAt     Millis
	SentAt        Millis
	EndedAt       Millis
	Outcome       maybe
	StatusCode    int
	Error         string
	Fingerprint   string
	Request       maybe
	Response      maybe
	ResponseBytes int64
}

// TableName is read by GORM.
func (attemptRow) TableName() string { return "attempts" }

func (r attemptRow) attempt() sched.Attempt {
	return sched.Attempt{
		InstanceID: r.InstanceID, No: r.No, TaskID: r.TaskID, TeamID: r.TeamID, TaskVersion: r.TaskVersion,
		NodeID: string(r.NodeID), ClaimID: string(r.ClaimID), Executor: r.Executor,
		StartedAt: r.StartedAt.Time, SentAt: r.SentAt.Time, EndedAt: r.EndedAt.Time, Outcome: sched.Outcome(r.Outcome),
		StatusCode: r.StatusCode, Error: r.Error, Fingerprint: r.Fingerprint,
		Request: string(r.Request), Response: string(r.Response), ResponseBytes: r.ResponseBytes,
	}
}

func (d *DB) attempts(ctx context.Context, instanceID string) ([]sched.Attempt, error) {
	var rows []attemptRow
	err := d.view(ctx).Raw("SELECT * FROM attempts WHERE instance_id=? ORDER BY no", instanceID).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("list attempts of %s: %w", instanceID, err)
	}
	out := make([]sched.Attempt, len(rows))
	for i, r := range rows {
		out[i] = r.attempt()
	}
	return out, nil
}

// openAttempt begins the attempt of a claim.
func openAttempt(tx *gorm.DB, in sched.Instance, t sched.Task, now time.Time) error {
	return tx.Exec("INSERT INTO attempts (instance_id, no, task_id, team_id, task_version, node_id, claim_id, executor, started_at) VALUES (?,?,?,?,?,?,?,?,?)",
		in.ID, in.Attempt, in.TaskID, in.TeamID, t.Version, in.NodeID, in.ClaimID, string(t.Spec.Target.Kind), at(now)).Error
}

// closing is what an attempt's end writes.
type closing struct {
	outcome sched.Outcome
	result  sched.Result
	now     time.Time
}

// closeAttempt ends an open attempt. An end without an answer of its own keeps
// the one that an accepted call got.
func (d *DB) closeAttempt(tx *gorm.DB, id string, no int, c closing) error {
	set := " SET ended_at=?, outcome=?, error=?"
	args := []any{at(c.now), string(c.outcome), clip(c.result.Error, 2000)}
	if r := c.result; r.StatusCode != 0 || r.Request != "" || r.Response != "" {
		set += ", status_code=?, request=?, response=?, response_bytes=?"
		args = append(args, r.StatusCode, body(r.Request), body(r.Response), r.ResponseBytes)
	}
	return tx.Exec("UPDATE "+d.dialect.forcePrimary("attempts")+set+" WHERE instance_id=? AND no=? AND ended_at IS NULL",
		append(args, id, no)...).Error
}

// eventRow is a row of instance_events.
type eventRow struct {
	ID         int64
	InstanceID string
	At         Millis
	Kind       string
	NodeID     maybe
	Actor      string
	Detail     string
}

// TableName is read by GORM.
func (eventRow) TableName() string { return "instance_events" }

func addEvent(tx *gorm.DB, e sched.InstanceEvent) error {
	return tx.Create(&eventRow{
		InstanceID: e.InstanceID, At: at(e.At), Kind: string(e.Kind), NodeID: maybe(e.NodeID), Actor: clip(e.Actor, 100), Detail: clip(e.Detail, 1000),
	}).Error
}

func (d *DB) events(ctx context.Context, instanceID string) ([]sched.InstanceEvent, error) {
	var rows []eventRow
	err := d.view(ctx).Raw("SELECT * FROM instance_events WHERE instance_id=? ORDER BY id LIMIT 200", instanceID).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("list events of %s: %w", instanceID, err)
	}
	out := make([]sched.InstanceEvent, len(rows))
	for i, r := range rows {
		out[i] = sched.InstanceEvent{InstanceID: r.InstanceID, At: r.At.Time, Kind: sched.EventKind(r.Kind), NodeID: string(r.NodeID), Actor: r.Actor, Detail: r.Detail}
	}
	return out, nil
}
