package db

import (
	"context"
	"fmt"
	"strings"
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

// openAttempts begins the attempts of claims.
func openAttempts(tx *gorm.DB, claims []*claiming) error {
	if len(claims) == 0 {
		return nil
	}
	const marks = "(?,?,?,?,?,?,?,?,?)"
	args := make([]any, 0, 9*len(claims))
	for _, c := range claims {
		in, t := c.got.Instance, c.got.Task
		args = append(args, in.ID, in.Attempt, in.TaskID, in.TeamID, t.Version, in.NodeID, in.ClaimID, string(t.Spec.Target.Kind), at(c.request.Now))
	}
	return tx.Exec("INSERT INTO attempts (instance_id, no, task_id, team_id, task_version, node_id, claim_id, executor, started_at) VALUES "+
		marks+strings.Repeat(","+marks, len(claims)-1), args...).Error
}

// closing is what an attempt's end writes.
type closing struct {
	instanceID string
	no         int
	outcome    sched.Outcome // empty: the target accepted the work, the attempt stays open
	result     sched.Result
	now        time.Time
}

// answered tells whether the end brings an answer to store. One without an
// answer of its own keeps the one that an accepted call got.
func (c closing) answered() bool {
	r := c.result
	return c.outcome == "" || r.StatusCode != 0 || r.Request != "" || r.Response != ""
}

// maxStatement bounds the texts of targets in one statement, in bytes: servers
// refuse long ones (MariaDB: 16 MiB), and escaping may double a text.
const maxStatement = 1 << 20

// closeAttempts ends open attempts, or notes what came back on those that stay
// open.
func (d *DB) closeAttempts(tx *gorm.DB, ends []closing) error {
	type kind struct {
		no       int
		outcome  sched.Outcome
		answered bool
		chunk    int
	}
	size := 0
	parts := alike(ends, func(c closing) kind {
		size += len(c.result.Request) + len(c.result.Response)
		return kind{c.no, c.outcome, c.answered(), size / maxStatement}
	})
	for _, same := range parts {
		u := updateOf("instance_id", same, func(c closing) string { return c.instanceID })
		if same[0].outcome != "" {
			u.all("outcome=?", string(same[0].outcome))
			u.each("ended_at", func(i int) any { return at(same[i].now) })
			u.each("error", func(i int) any { return clip(same[i].result.Error, 2000) })
		}
		if same[0].answered() {
			u.each("status_code", func(i int) any { return same[i].result.StatusCode })
			u.each("request", func(i int) any { return body(same[i].result.Request) })
			u.each("response", func(i int) any { return body(same[i].result.Response) })
			u.each("response_bytes", func(i int) any { return same[i].result.ResponseBytes })
		}
		if _, err := u.exec(tx, d.dialect.forcePrimary("attempts"), "no=? AND ended_at IS NULL", same[0].no); err != nil {
			return err
		}
	}
	return nil
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
