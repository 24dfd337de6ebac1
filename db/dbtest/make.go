package dbtest

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
	"ax/db"
)

// Start is the instant at which made rows begin their life: a whole minute,
// so that slots of simple schedules fall on it.
func Start() time.Time { return time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC) }

// Maker is the actor that made rows name.
func Maker() access.Actor { return access.Actor{Kind: access.System, Name: "maker"} }

// ID makes an id that sorts by the time of its making.
func ID() string { return uuid.Must(uuid.NewV7()).String() }

// IDAt makes an id as it would be made at an instant: lists are ordered by it.
// Ids of one millisecond are in the order of their making.
func IDAt(at time.Time) string {
	var u uuid.UUID
	for i, ms := 5, at.UnixMilli(); i >= 0; i, ms = i-1, ms>>8 {
		u[i] = byte(ms)
	}
	binary.BigEndian.PutUint64(u[8:], uint64(serial.Add(1))|1<<63) // the variant's bits on top
	u[6] = 0x70                                                    // version 7
	return u.String()
}

// serial tells rows apart that must not share a code or name.
var serial atomic.Int64

// entry is the audit row of a made change.
func entry(now time.Time, action, kind, name string, team int64) access.Entry {
	return access.Entry{At: now, Actor: Maker(), Action: action, TeamID: team, Object: access.Object{Kind: kind, Name: name}}
}

// MakeTeam stores a team with a code of its own.
func MakeTeam(t testing.TB, d *db.DB) access.Team {
	t.Helper()
	team := access.Team{Code: fmt.Sprintf("team-%d", serial.Add(1)), Name: "团队 & Co", CreatedAt: Start()}
	id, err := d.InsertTeam(t.Context(), team, entry(Start(), "team.create", "team", team.Code, 0))
	require.NoError(t, err, "make a team")
	team.ID = id
	return team
}

// TaskOption changes a task before it is stored.
type TaskOption func(*sched.Task)

// Every makes the task run at a fixed rate from Start.
func Every(d time.Duration) TaskOption {
	return func(t *sched.Task) {
		t.Spec.Schedule = sched.Schedule{Kind: sched.KindInterval, EverySeconds: int(d / time.Second), Anchor: Start(), Misfire: sched.FireOnce}
		t.NextFireAt = Start()
	}
}

// Cron makes the task run by an expression in UTC; its first slot is planned
// from Start.
func Cron(expr string) TaskOption {
	return func(t *sched.Task) {
		t.Spec.Schedule = sched.Schedule{Kind: sched.KindCron, Cron: expr, Timezone: "UTC", Anchor: Start(), Misfire: sched.FireOnce}
		if times, err := t.Times(); err == nil {
			t.NextFireAt, _ = times.Next(Start().Add(-time.Millisecond))
		}
	}
}

// Limit sets max_concurrent.
func Limit(n int) TaskOption { return func(t *sched.Task) { t.Spec.Policy.MaxConcurrent = n } }

// NonIdempotent makes the task's work such that it is never repeated once it
// was sent.
func NonIdempotent() TaskOption {
	return func(t *sched.Task) {
		t.Spec.Policy.Idempotent, t.Spec.Policy.Retry.Max = false, 0
	}
}

// Unsafe allows retries of non-idempotent work after a definite end.
func Unsafe(retries int) TaskOption {
	return func(t *sched.Task) {
		t.Spec.Policy.Idempotent = false
		t.Spec.Policy.Retry.Max, t.Spec.Policy.Retry.Unsafe = retries, true
	}
}

// Retries sets how often a failed attempt is repeated.
func Retries(n int) TaskOption { return func(t *sched.Task) { t.Spec.Policy.Retry.Max = n } }

// Code sets the task's code.
func Code(code string) TaskOption { return func(t *sched.Task) { t.Code = code } }

// Of puts the task into a team.
func Of(team access.Team) TaskOption { return func(t *sched.Task) { t.TeamID = team.ID } }

// Disabled makes the task without slots to come.
func Disabled() TaskOption {
	return func(t *sched.Task) { t.Enabled, t.NextFireAt = false, time.Time{} }
}

// MakeTask stores a task: enabled, run on request, HTTP, idempotent, without a
// limit, three retries after 10, 30 and 120 s, 30 s per attempt. Without Of it
// gets a team of its own.
func MakeTask(t testing.TB, d *db.DB, opts ...TaskOption) sched.Task {
	t.Helper()
	n := serial.Add(1)
	task := sched.Task{
		Code: "task-" + strconv.FormatInt(n, 10), Name: "任务 " + strconv.FormatInt(n, 10), Queue: "default", Enabled: true, Version: 1,
		Spec: sched.Spec{
			Schedule: sched.Schedule{Kind: sched.KindManual},
			Target:   sched.Target{Kind: sched.TargetHTTP, URL: "http://127.0.0.1:9/run"},
			Policy: sched.Policy{
				TimeoutSeconds: 30, Idempotent: true, Overlap: sched.OverlapSkip, AlertLevel: sched.AlertP2,
				Retry: sched.Retry{Kind: sched.RetrySteps, Max: 3, DelaysSeconds: []int{10, 30, 120}},
			},
		},
		CreatedAt: Start(), CreatedBy: "maker", UpdatedAt: Start(), UpdatedBy: "maker",
	}
	for _, o := range opts {
		o(&task)
	}
	if task.TeamID == 0 {
		task.TeamID = MakeTeam(t, d).ID
	}
	task, err := d.CreateTask(t.Context(), task, "made", entry(Start(), "task.create", "task", task.Code, task.TeamID))
	require.NoError(t, err, "make a task")
	return task
}

// NodeOption changes a node before it is registered.
type NodeOption func(*sched.NodeInfo)

// Beaten sets when the node began and beat last, by the ledger's clock.
func Beaten(steady, beat time.Time) NodeOption {
	return func(n *sched.NodeInfo) { n.StartedAt, n.SteadyAt, n.BeatAt = steady, steady, beat }
}

// MakeNode registers a node with all roles; it began at Start and beat then.
func MakeNode(t testing.TB, d *db.DB, opts ...NodeOption) sched.NodeInfo {
	t.Helper()
	n := sched.NodeInfo{
		ID: ID(), Host: "host-" + strconv.FormatInt(serial.Add(1), 10), Address: "127.0.0.1:8080", PID: 4711, Version: "test",
		Roles: []string{"web", "scheduler", "worker"}, Queues: []string{"default"}, Slots: 10,
		StartedAt: Start(), BeatAt: Start(), SteadyAt: Start(),
	}
	for _, o := range opts {
		o(&n)
	}
	require.NoError(t, d.Register(t.Context(), n), "make a node")
	return n
}

// InstanceOption changes an instance before it is stored.
type InstanceOption func(*sched.Instance)

// Due sets when the instance is due and wanted.
func Due(at time.Time) InstanceOption {
	return func(in *sched.Instance) { in.WantedAt, in.DueAt, in.CreatedAt = at, at, at }
}

// Biz sets the instance's biz_id.
func Biz(id string) InstanceOption { return func(in *sched.Instance) { in.BizID = id } }

// Slot makes the instance one of the task's schedule.
func Slot(at time.Time) InstanceOption {
	return func(in *sched.Instance) {
		in.Origin, in.BizID, in.RequestedBy = sched.FromSchedule, sched.SlotBizID(at), ""
		in.SlotAt, in.WantedAt, in.DueAt, in.CreatedAt = at, at, at, at
	}
}

// MakeInstance stores a pending instance of the task, asked for over the API
// and due at Start.
func MakeInstance(t testing.TB, d *db.DB, task sched.Task, opts ...InstanceOption) sched.Instance {
	t.Helper()
	in := sched.Instance{
		TaskID: task.ID, TeamID: task.TeamID, Queue: task.Queue, BizID: "order-" + strconv.FormatInt(serial.Add(1), 10),
		Origin: sched.FromAPI, RequestedBy: "maker", Payload: []byte(`{"order":1}`), State: sched.Pending,
		WantedAt: Start(), DueAt: Start(), CreatedAt: Start(),
	}
	for _, o := range opts {
		o(&in)
	}
	in.ID = IDAt(in.CreatedAt)
	in, created, err := d.Trigger(t.Context(), in, entry(in.CreatedAt, "task.trigger", "instance", in.BizID, in.TeamID))
	require.NoError(t, err, "make an instance")
	require.True(t, created, "the biz_id is taken")
	return in
}

// MakeRunning lets a node claim the instance when it is due.
func MakeRunning(t testing.TB, d *db.DB, in sched.Instance, node sched.NodeInfo) sched.Claimed {
	t.Helper()
	in, err := d.Instance(t.Context(), in.ID)
	require.NoError(t, err)
	got, err := d.Claim(t.Context(), sched.ClaimRequest{InstanceID: in.ID, NodeID: node.ID, ClaimID: ID(), Now: in.DueAt})
	require.NoError(t, err, "claim an instance")
	require.Equal(t, sched.ClaimTake, got.Verdict.Kind, "the claim was not taken")
	return got
}

// Settlement is what a worker that holds the claim sends to Settle, MarkSent
// and HandBack.
func Settlement(c sched.Claimed, r sched.Result, now time.Time) sched.Settlement {
	in := c.Instance
	return sched.Settlement{
		InstanceID: in.ID, Attempt: in.Attempt, NodeID: in.NodeID, ClaimID: in.ClaimID,
		Policy: c.Task.Spec.Policy, Result: r, Now: now,
	}
}

// MakeLetter runs a new instance of the task until it fails for good and gives
// its dead letter.
func MakeLetter(t testing.TB, d *db.DB, task sched.Task, opts ...InstanceOption) (sched.Letter, sched.Instance) {
	t.Helper()
	in := MakeInstance(t, d, task, opts...)
	c := MakeRunning(t, d, in, MakeNode(t, d))
	s := Settlement(c, sched.Result{Outcome: sched.OutcomeFailed, Definite: true, StatusCode: 500, Error: "HTTP 500"}, in.DueAt.Add(time.Second))
	s.Policy.Retry.Max = 0
	_, err := d.Settle(t.Context(), s)
	require.NoError(t, err, "settle an instance")
	v, err := d.InstanceView(t.Context(), in.ID)
	require.NoError(t, err)
	l, err := d.Letter(t.Context(), v.Letter)
	require.NoError(t, err, "read the dead letter")
	return l, v.Instance
}
