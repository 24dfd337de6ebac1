package db_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// Helpers of the engine's tests. Every test names its instants from t0.

var t0 = dbtest.Start()

// later is an instant n seconds after t0.
func later(seconds float64) time.Time {
	return t0.Add(time.Duration(math.Round(seconds*1000)) * time.Millisecond)
}

// each runs f on both dialects; the ledger must verify when f is done.
func each(t *testing.T, f func(t *testing.T, d *db.DB)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f(t, d)
		if !t.Failed() {
			clean(t, d)
		}
	})
}

func clean(t *testing.T, d *db.DB) {
	t.Helper()
	problems, err := d.VerifyAt(t.Context(), later(3600))
	require.NoError(t, err)
	require.Empty(t, problems)
}

func read(t *testing.T, d *db.DB, id string) sched.Instance {
	t.Helper()
	in, err := d.Instance(t.Context(), id)
	require.NoError(t, err)
	return in
}

func look(t *testing.T, d *db.DB, id string) sched.InstanceView {
	t.Helper()
	v, err := d.InstanceView(t.Context(), id)
	require.NoError(t, err)
	return v
}

// kinds of the events of an instance, in order.
func kinds(v sched.InstanceView) []sched.EventKind {
	out := []sched.EventKind{}
	for _, e := range v.Events {
		out = append(out, e.Kind)
	}
	return out
}

// outcomes of the attempts of an instance, in order.
func outcomes(v sched.InstanceView) []sched.Outcome {
	out := []sched.Outcome{}
	for _, a := range v.Attempts {
		out = append(out, a.Outcome)
	}
	return out
}

// claim lets the node claim the instance at now.
func claim(t *testing.T, d *db.DB, id string, node sched.NodeInfo, now time.Time) sched.Claimed {
	t.Helper()
	got, err := d.Claim(t.Context(), sched.ClaimRequest{InstanceID: id, NodeID: node.ID, ClaimID: dbtest.ID(), Now: now})
	require.NoError(t, err)
	return got
}

// take is a claim that must be taken.
func take(t *testing.T, d *db.DB, id string, node sched.NodeInfo, now time.Time) sched.Claimed {
	t.Helper()
	got := claim(t, d, id, node, now)
	require.Equal(t, sched.ClaimTake, got.Verdict.Kind, "%+v", got.Verdict)
	return got
}

// running makes an instance of the task that the node runs since t0.
func running(t *testing.T, d *db.DB, task sched.Task, node sched.NodeInfo, opts ...dbtest.InstanceOption) sched.Claimed {
	t.Helper()
	return take(t, d, dbtest.MakeInstance(t, d, task, opts...).ID, node, t0)
}

func settle(t *testing.T, d *db.DB, c sched.Claimed, r sched.Result, now time.Time) sched.Settled {
	t.Helper()
	got, err := d.Settle(t.Context(), dbtest.Settlement(c, r, now))
	require.NoError(t, err)
	return got
}

// Results of calls.

func success() sched.Result {
	return sched.Result{Outcome: sched.OutcomeSucceeded, Definite: true, StatusCode: 200, Request: "POST /run", Response: "HTTP 200\n\nok", ResponseBytes: 2}
}

func failure() sched.Result {
	return sched.Result{Outcome: sched.OutcomeFailed, Definite: true, StatusCode: 500, Error: "HTTP 500", Response: "HTTP 500"}
}

func silence() sched.Result {
	return sched.Result{Outcome: sched.OutcomeTimedOut, Error: "no answer within 30 s"}
}

func accepted() sched.Result {
	return sched.Result{Outcome: sched.OutcomeAccepted, Definite: true, StatusCode: 202, Response: "HTTP 202"}
}

func cutOff() sched.Result { return sched.Result{Outcome: sched.OutcomeCanceled, Error: "canceled"} }

func handBack(t *testing.T, d *db.DB, c sched.Claimed, now time.Time) bool {
	t.Helper()
	done, err := d.HandBack(t.Context(), dbtest.Settlement(c, sched.Result{}, now))
	require.NoError(t, err)
	return done
}

// held is what a sweep or an audit lists of a claim.
func held(c sched.Claimed) sched.Held {
	in := c.Instance
	return sched.Held{InstanceID: in.ID, Attempt: in.Attempt, NodeID: in.NodeID, ClaimID: in.ClaimID, DeadlineAt: in.DeadlineAt}
}

func lose(t *testing.T, d *db.DB, h sched.Held, now time.Time) (sched.Message, bool) {
	t.Helper()
	m, again, err := d.Lose(t.Context(), h, now)
	require.NoError(t, err)
	return m, again
}

// ask is the audit row of a person's change.
func ask(action string) access.Entry {
	return access.Entry{At: t0, Actor: person, Action: action, Reason: "测试", Object: access.Object{Kind: "instance"}}
}

var person = access.Actor{Kind: access.User, ID: 7, Name: "lin", Admin: true}

func cancel(t *testing.T, d *db.DB, id string, now time.Time) sched.CancelResult {
	t.Helper()
	got, err := d.Cancel(t.Context(), id, now, ask("instance.cancel"))
	require.NoError(t, err)
	return got
}

func letter(t *testing.T, d *db.DB, instance string) sched.Letter {
	t.Helper()
	l, err := d.Letter(t.Context(), look(t, d, instance).Letter)
	require.NoError(t, err)
	return l
}

func replay(t *testing.T, d *db.DB, id int64, now time.Time) sched.Instance {
	t.Helper()
	in, err := d.Replay(t.Context(), id, dbtest.IDAt(now), now, person, "")
	require.NoError(t, err)
	return in
}

// plan is one planning transaction at now with the usual horizon.
func plan(t *testing.T, d *db.DB, now time.Time) sched.PlanReport {
	t.Helper()
	return planUpTo(t, d, now, sched.PlanBudget)
}

func planUpTo(t *testing.T, d *db.DB, now time.Time, budget int) sched.PlanReport {
	t.Helper()
	r, err := d.Plan(t.Context(), sched.PlanRequest{Now: now, Until: now.Add(sched.PlanHorizon), Limit: 500, Budget: budget, NodeID: "planner"})
	require.NoError(t, err)
	return r
}

// change changes a task as the use cases do.
func change(t *testing.T, d *db.DB, c sched.TaskChange, set func(*sched.Task)) sched.Task {
	t.Helper()
	c.By = person
	c.Apply = func(old sched.Task) (sched.Task, access.Entry, error) {
		set(&old)
		return old, ask("task.update"), nil
	}
	task, _, err := d.ChangeTask(t.Context(), c)
	require.NoError(t, err)
	return task
}

// pause pauses a task as the use case does.
func pause(t *testing.T, d *db.DB, task sched.Task, now, until time.Time) {
	t.Helper()
	change(t, d, sched.TaskChange{Code: task.Code, Now: now}, func(next *sched.Task) { next.PausedFrom, next.PausedUntil = now, until })
}

func resume(t *testing.T, d *db.DB, task sched.Task, now time.Time) {
	t.Helper()
	change(t, d, sched.TaskChange{Code: task.Code, Now: now}, func(next *sched.Task) { next.PausedUntil = now })
}

var all = access.Scope{All: true}

// holdGate runs f while another transaction holds the task's gate.
func holdGate(t *testing.T, d *db.DB, task sched.Task, f func()) {
	t.Helper()
	require.NoError(t, d.Tx(t.Context(), "hold the gate", func(tx *gorm.DB) error {
		var id int64
		err := tx.Raw("SELECT task_id FROM task_gates WHERE task_id=?"+d.ForUpdate(), task.ID).Scan(&id).Error
		f()
		return err
	}))
}
