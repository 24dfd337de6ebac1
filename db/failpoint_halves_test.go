//go:build failpoint

package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// half prepares a ledger and gives the change that is to fail in its middle.
// It may be made twice.
type half func(t *testing.T, d *db.DB) (change func() error)

// halves are the changes by the place where they fail, and a remark.
func halves() map[string]half {
	return map[string]half{
		"plan.locked":                        planning(sched.FireOnce, 1),
		"plan.inserted":                      planning(sched.FireAll, 90),
		"plan.inserted, with a missed range": planning(sched.FireOnce, 600),
		"plan.missed":                        planning(sched.SkipAll, 600),

		"claim.gated":                claiming(),
		"claim.gated, with a limit":  claiming(dbtest.Limit(1)),
		"claim.taken":                claiming(),
		"claim.taken, with a limit":  claiming(dbtest.Limit(1)),
		"mark.row":                   marking,
		"probe.row":                  asking,
		"end.row, retrying":          settling(failure()),
		"end.row, failed":            settling(failure(), dbtest.NonIdempotent()),
		"end.row, succeeded":         settling(success()),
		"end.attempt":                settling(failure(), dbtest.NonIdempotent()),
		"end.letter":                 settling(failure(), dbtest.NonIdempotent()),
		"end.row, a dead node's":     losing(false),
		"end.letter, a dead node's":  losing(true),
		"end.attempt, no receipt":    missing,
		"end.row, overdue":           overdue,
		"end.letter, a replay's end": replayEnding,
		"handback.row":               handingBack,
		"receipt.ended":              receiving(sched.OutcomeSucceeded),
		"receipt.ended, a failure":   receiving(sched.OutcomeFailed),

		"cancel.asked":              giving(false),
		"cancel.asked, by a person": giving(true),

		"raise.row":      raising,
		"declare.judged": declaring,

		"alert.incident": opening,

		"create.row":                creating,
		"edit.planned":              editing,
		"edit.written":              editing,
		"audit.row, of an edit":     editing,
		"move.task":                 moving,
		"audit.row, of a move":      moving,
		"move.followed":             following,
		"audit.row, of a request":   requesting,
		"audit.row, of a cancel":    canceling(false),
		"cancel.row":                canceling(false),
		"cancel.row, while it runs": canceling(true),
		"replay.inserted":           replaying,
		"audit.row, of a replay":    replaying,
		"replan.unnoted":            replanning,
		"prune.calls":               pruning,
		"rollup.deleted":            rolling,
		"rollup.hour":               rollingHours,
		"sketch.minute":             sketching(180),
		"sketch.hour":               sketching(3600 + 180),
	}
}

// giving gives up accepted work whose target can be told.
func giving(person bool) half {
	return func(t *testing.T, d *db.DB) func() error {
		c := running(t, d, dbtest.MakeTask(t, d, dbtest.Retries(0), tells), dbtest.MakeNode(t, d))
		settle(t, d, c, accepted(), later(1))
		return func() error {
			if !person {
				return d.EndAwaiting(t.Context(), held(c), later(90_000))
			}
			_, err := d.Cancel(t.Context(), c.Instance.ID, later(5), ask("instance.cancel"))
			return err
		}
	}
}

func planning(m sched.Misfire, after float64) half {
	return func(t *testing.T, d *db.DB) func() error {
		for range 2 {
			dbtest.MakeTask(t, d, dbtest.Every(time.Minute), func(task *sched.Task) { task.Spec.Schedule.Misfire = m })
		}
		now := later(after)
		return func() error {
			_, err := d.Plan(t.Context(), sched.PlanRequest{Now: now, Until: now.Add(sched.PlanHorizon), Limit: 500, Budget: sched.PlanBudget, NodeID: "planner"})
			return err
		}
	}
}

func claiming(opts ...dbtest.TaskOption) half {
	return func(t *testing.T, d *db.DB) func() error {
		in, node := dbtest.MakeInstance(t, d, dbtest.MakeTask(t, d, opts...)), dbtest.MakeNode(t, d)
		r := sched.ClaimRequest{InstanceID: in.ID, NodeID: node.ID, ClaimID: dbtest.ID(), Now: t0}
		return func() error {
			got, err := d.Claim(t.Context(), r)
			if err == nil {
				require.Equal(t, sched.ClaimTake, got.Verdict.Kind)
				require.Equal(t, 1, got.Instance.Attempt)
			}
			return err
		}
	}
}

func marking(t *testing.T, d *db.DB) func() error {
	c := running(t, d, dbtest.MakeTask(t, d, dbtest.NonIdempotent()), dbtest.MakeNode(t, d))
	return func() error {
		_, err := d.MarkSent(t.Context(), dbtest.Settlement(c, sched.Result{}, later(1)))
		return err
	}
}

func asking(t *testing.T, d *db.DB) func() error {
	in := dbtest.MakeInstance(t, d, dbtest.MakeTask(t, d, hookedBy(waitHook())))
	return func() error {
		_, err := d.Probed(t.Context(), sched.Probed{InstanceID: in.ID, Hook: waitHook(), Now: later(1), Answer: sched.ProbeAnswer{At: later(1)}})
		return err
	}
}

func settling(r sched.Result, opts ...dbtest.TaskOption) half {
	return func(t *testing.T, d *db.DB) func() error {
		c := running(t, d, dbtest.MakeTask(t, d, opts...), dbtest.MakeNode(t, d))
		return func() error {
			got, err := d.Settle(t.Context(), dbtest.Settlement(c, r, later(1)))
			require.False(t, got.Refused)
			return err
		}
	}
}

// losing takes what a dead node held: queued again, or lost when it was sent.
func losing(sent bool) half {
	return func(t *testing.T, d *db.DB) func() error {
		c := running(t, d, dbtest.MakeTask(t, d, dbtest.NonIdempotent()), dbtest.MakeNode(t, d))
		if sent {
			_, err := d.MarkSent(t.Context(), dbtest.Settlement(c, sched.Result{}, later(1)))
			require.NoError(t, err)
		}
		return func() error {
			_, _, err := d.Lose(t.Context(), held(c), later(20))
			return err
		}
	}
}

// waiting is an instance whose target has accepted the work.
func waiting(t *testing.T, d *db.DB) sched.Claimed {
	t.Helper()
	c := running(t, d, dbtest.MakeTask(t, d, dbtest.NonIdempotent()), dbtest.MakeNode(t, d))
	settle(t, d, c, accepted(), later(1))
	return c
}

func missing(t *testing.T, d *db.DB) func() error {
	c := waiting(t, d)
	return func() error { return d.EndAwaiting(t.Context(), held(c), later(7200)) }
}

func overdue(t *testing.T, d *db.DB) func() error {
	c := running(t, d, dbtest.MakeTask(t, d), dbtest.MakeNode(t, d))
	return func() error { return d.EndOverdue(t.Context(), held(c), later(120)) }
}

func replayEnding(t *testing.T, d *db.DB) func() error {
	l, _ := dbtest.MakeLetter(t, d, dbtest.MakeTask(t, d))
	c := take(t, d, replay(t, d, l.ID, later(60)).ID, dbtest.MakeNode(t, d), later(60))
	return func() error {
		_, err := d.Settle(t.Context(), dbtest.Settlement(c, success(), later(61)))
		return err
	}
}

func handingBack(t *testing.T, d *db.DB) func() error {
	c := running(t, d, dbtest.MakeTask(t, d), dbtest.MakeNode(t, d))
	return func() error {
		_, err := d.HandBack(t.Context(), dbtest.Settlement(c, sched.Result{}, later(1)))
		return err
	}
}

func receiving(o sched.Outcome) half {
	return func(t *testing.T, d *db.DB) func() error {
		c := waiting(t, d)
		return func() error {
			got, err := d.Receive(t.Context(), sched.Report{InstanceID: c.Instance.ID, Attempt: 1, Outcome: o, Message: "完成", Address: "127.0.0.1"}, later(5))
			require.False(t, got.Already)
			return err
		}
	}
}

func raising(t *testing.T, d *db.DB) func() error {
	in := dbtest.MakeInstance(t, d, dbtest.MakeTask(t, d))
	require.NoError(t, d.MarkQueued(t.Context(), []sched.Message{{InstanceID: in.ID}}, t0))
	return func() error {
		_, _, err := d.Raise(t.Context(), sched.Stale{InstanceID: in.ID, State: sched.Queued}, later(30))
		return err
	}
}

func declaring(t *testing.T, d *db.DB) func() error {
	dbtest.MakeNode(t, d)
	me := dbtest.MakeNode(t, d, dbtest.Beaten(t0, later(60)))
	return func() error {
		_, err := d.DeclareDead(t.Context(), me.ID, sched.Pulse{Dead: 15 * time.Second}, later(60))
		return err
	}
}

func creating(t *testing.T, d *db.DB) func() error {
	task := dbtest.MakeTask(t, d)
	task.Code = "another"
	return func() error {
		_, err := d.CreateTask(t.Context(), task, "made", ask("task.create"))
		return err
	}
}

// editing makes a new version of a task whose old one owes slots.
func editing(t *testing.T, d *db.DB) func() error {
	task := dbtest.MakeTask(t, d, dbtest.Every(time.Minute))
	return func() error {
		_, _, err := d.ChangeTask(t.Context(), sched.TaskChange{
			Code: task.Code, Now: later(90), By: person, Version: true, Owed: true,
			Apply: func(old sched.Task) (sched.Task, access.Entry, error) {
				old.Spec.Policy.TimeoutSeconds, old.NextFireAt = 60, later(120)
				return old, ask("task.update"), nil
			},
		})
		return err
	}
}

func moving(t *testing.T, d *db.DB) func() error {
	task, to := dbtest.MakeTask(t, d), dbtest.MakeTeam(t, d)
	return func() error { _, err := moveAs(t.Context(), d, task.Code, to, later(1)); return err }
}

func following(t *testing.T, d *db.DB) func() error {
	task := dbtest.MakeTask(t, d)
	dbtest.MakeLetter(t, d, task)
	move(t, d, task, dbtest.MakeTeam(t, d), later(1))
	return func() error { _, err := d.FollowMoves(t.Context(), later(2)); return err }
}

func requesting(t *testing.T, d *db.DB) func() error {
	in := dbtest.MakeInstance(t, d, dbtest.MakeTask(t, d))
	in.ID, in.BizID = dbtest.ID(), "another"
	return func() error {
		_, _, err := d.Trigger(t.Context(), in, ask("task.trigger"))
		return err
	}
}

func canceling(runs bool) half {
	return func(t *testing.T, d *db.DB) func() error {
		task := dbtest.MakeTask(t, d)
		in := dbtest.MakeInstance(t, d, task)
		if runs {
			take(t, d, in.ID, dbtest.MakeNode(t, d), t0)
		}
		return func() error {
			_, err := d.Cancel(t.Context(), in.ID, later(1), ask("instance.cancel"))
			return err
		}
	}
}

func replaying(t *testing.T, d *db.DB) func() error {
	l, _ := dbtest.MakeLetter(t, d, dbtest.MakeTask(t, d))
	id := dbtest.IDAt(later(60))
	return func() error {
		_, err := d.Replay(t.Context(), l.ID, id, later(60), person, "")
		return err
	}
}

func replanning(t *testing.T, d *db.DB) func() error {
	task := dbtest.MakeTask(t, d, dbtest.Every(time.Minute))
	exec(t, d, "INSERT INTO calendar_replans (task_id, code) VALUES (?,'cn')", task.ID)
	return func() error {
		_, err := d.ReplanTask(t.Context(), task.ID, later(90), func(task sched.Task) sched.Task {
			task.NextFireAt = later(120)
			return task
		})
		return err
	}
}

func pruning(t *testing.T, d *db.DB) func() error {
	for _, key := range []string{"k-1", "k-2"} {
		c := call
		c.Key = key
		_, _, err := d.BeginCall(t.Context(), c, t0)
		require.NoError(t, err)
	}
	return func() error {
		_, err := d.PruneCalls(t.Context(), t0.Add(access.CallLife+time.Minute), 10)
		return err
	}
}

// rolling counts an end anew into a minute that was counted before.
func rolling(t *testing.T, d *db.DB) func() error {
	task, node := dbtest.MakeTask(t, d), dbtest.MakeNode(t, d)
	settle(t, d, running(t, d, task, node), success(), later(1))
	_, err := d.RollUp(t.Context(), later(2))
	require.NoError(t, err)
	settle(t, d, running(t, d, task, node), success(), later(3))
	return func() error {
		_, err := d.RollUp(t.Context(), later(61))
		return err
	}
}

// rollingHours sums an hour that is over.
func rollingHours(t *testing.T, d *db.DB) func() error {
	settle(t, d, running(t, d, dbtest.MakeTask(t, d), dbtest.MakeNode(t, d)), success(), later(1))
	rollUp(t, d, later(4199))
	exec(t, d, "UPDATE settings SET value=? WHERE name='stats.rolled'", later(4200).Format(time.RFC3339))
	return func() error { return d.RollHour(t.Context()) }
}

// sketching makes the sketches that are to be made at a moment, of what ended
// in the minute before it closed.
func sketching(after float64) half {
	return func(t *testing.T, d *db.DB) func() error {
		settle(t, d, running(t, d, dbtest.MakeTask(t, d), dbtest.MakeNode(t, d)), success(), later(1))
		rollUp(t, d, t0)
		exec(t, d, "UPDATE settings SET value=? WHERE name='stats.sketched'", t0.Format(time.RFC3339))
		exec(t, d, "UPDATE settings SET value=? WHERE name='stats.rolled'", later(after+60).Format(time.RFC3339))
		if after > 3600 {
			require.NoError(t, d.Sketch(t.Context(), false))
		}
		return func() error { return d.Sketch(t.Context(), after > 3600) }
	}
}

func opening(t *testing.T, d *db.DB) func() error {
	ch := makeChannel(t, d, alert.Feishu)
	return func() error {
		_, err := d.RecordIncident(t.Context(), alert.IncidentChange{Is: anIncident("f", "a"), Members: true, Deliveries: []alert.Delivery{aDelivery(ch, "opened")}}, t0)
		return err
	}
}
