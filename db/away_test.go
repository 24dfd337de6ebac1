package db_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// A database that is away is never taken for a fault of ax, nor for an object
// that isn't there: callers answer 503 and try again.
func TestWithoutTheDatabaseEveryMethodSaysSo(t *testing.T) {
	t.Parallel()
	d, w := through(t)
	task := dbtest.MakeTask(t, d, dbtest.Limit(1))
	run := running(t, d, task, dbtest.MakeNode(t, d))
	in := run.Instance
	s := dbtest.Settlement(run, success(), later(1))
	w.before.Store(" ") // every statement is cut
	for name, call := range map[string]func(ctx context.Context) error{
		"Task":      func(ctx context.Context) error { _, err := d.Task(ctx, task.Code); return err },
		"TaskByID":  func(ctx context.Context) error { _, err := d.TaskByID(ctx, task.ID); return err },
		"TasksByID": func(ctx context.Context) error { _, err := d.TasksByID(ctx, []int64{task.ID}); return err },
		"Tasks": func(ctx context.Context) error {
			_, err := d.Tasks(ctx, sched.TaskFilter{Scope: all}, sched.PageRequest{})
			return err
		},
		"TaskVersions": func(ctx context.Context) error { _, err := d.TaskVersions(ctx, task.ID, 1); return err },
		"CreateTask":   func(ctx context.Context) error { _, err := d.CreateTask(ctx, task, "", ask("x")); return err },
		"ChangeTask": func(ctx context.Context) error {
			_, _, err := d.ChangeTask(ctx, sched.TaskChange{Code: task.Code})
			return err
		},
		"Instance":     func(ctx context.Context) error { _, err := d.Instance(ctx, in.ID); return err },
		"InstanceView": func(ctx context.Context) error { _, err := d.InstanceView(ctx, in.ID); return err },
		"Instances": func(ctx context.Context) error {
			_, err := d.Instances(ctx, sched.InstanceFilter{Scope: all}, sched.PageRequest{})
			return err
		},
		"Letter": func(ctx context.Context) error { _, err := d.Letter(ctx, 1); return err },
		"Letters": func(ctx context.Context) error {
			_, err := d.Letters(ctx, sched.LetterFilter{Scope: all}, sched.PageRequest{})
			return err
		},
		"Member": func(ctx context.Context) error { _, err := d.Member(ctx, "lin", 1); return err },
		"EditLetter": func(ctx context.Context) error {
			_, err := d.EditLetter(ctx, 1, func(l sched.Letter) (sched.Letter, access.Entry, error) { return l, access.Entry{}, nil })
			return err
		},
		"Replay":  func(ctx context.Context) error { _, err := d.Replay(ctx, 1, dbtest.ID(), t0, person, ""); return err },
		"Trigger": func(ctx context.Context) error { _, _, err := d.Trigger(ctx, request(task, "x"), ask("x")); return err },
		"Plan": func(ctx context.Context) error {
			_, err := d.Plan(ctx, sched.PlanRequest{Now: t0, Until: t0, Limit: 1})
			return err
		},
		"Missed":       func(ctx context.Context) error { _, err := d.Missed(ctx, task.ID, 1); return err },
		"MissedTotals": func(ctx context.Context) error { _, err := d.MissedTotals(ctx, task.ID); return err },
		"Calendar":     func(ctx context.Context) error { _, err := d.Calendar(ctx, "cn"); return err },
		"CancelOthers": func(ctx context.Context) error { _, err := d.CancelOthers(ctx, task.ID, 1, in.ID, t0); return err },
		"Due":          func(ctx context.Context) error { _, err := d.Due(ctx, t0, 1); return err },
		"MarkQueued":   func(ctx context.Context) error { return d.MarkQueued(ctx, []sched.Message{{InstanceID: in.ID}}, t0) },
		"Claim": func(ctx context.Context) error {
			_, err := d.Claim(ctx, sched.ClaimRequest{InstanceID: in.ID})
			return err
		},
		"ReadClaim": func(ctx context.Context) error {
			_, _, err := d.ReadClaim(ctx, sched.ClaimRequest{InstanceID: in.ID})
			return err
		},
		"MarkSent": func(ctx context.Context) error { _, err := d.MarkSent(ctx, s); return err },
		"Settle":   func(ctx context.Context) error { _, err := d.Settle(ctx, s); return err },
		"HandBack": func(ctx context.Context) error { _, err := d.HandBack(ctx, s); return err },
		"Wake":     func(ctx context.Context) error { _, _, err := d.Wake(ctx, task.ID, t0); return err },
		"WakeHost": func(ctx context.Context) error { _, _, err := d.WakeHost(ctx, task.ID, t0); return err },
		"Cancel":   func(ctx context.Context) error { _, err := d.Cancel(ctx, in.ID, t0, ask("x")); return err },
		"Receive": func(ctx context.Context) error {
			_, err := d.Receive(ctx, sched.Report{InstanceID: in.ID}, t0)
			return err
		},
		"Stale": func(ctx context.Context) error { _, err := d.Stale(ctx, t0, 1); return err },
		"Raise": func(ctx context.Context) error {
			_, _, err := d.Raise(ctx, sched.Stale{InstanceID: in.ID}, t0)
			return err
		},
		"LookNow":      func(ctx context.Context) error { _, err := d.LookNow(ctx, t0); return err },
		"Orphans":      func(ctx context.Context) error { _, err := d.Orphans(ctx, 1); return err },
		"Holding":      func(ctx context.Context) error { _, err := d.Holding(ctx, "n"); return err },
		"Overdue":      func(ctx context.Context) error { _, err := d.Overdue(ctx, t0, 1); return err },
		"Lose":         func(ctx context.Context) error { _, _, err := d.Lose(ctx, held(run), t0); return err },
		"EndOverdue":   func(ctx context.Context) error { return d.EndOverdue(ctx, held(run), t0) },
		"EndAwaiting":  func(ctx context.Context) error { return d.EndAwaiting(ctx, held(run), t0) },
		"Register":     func(ctx context.Context) error { return d.Register(ctx, sched.NodeInfo{ID: dbtest.ID()}) },
		"Beat":         func(ctx context.Context) error { _, err := d.Beat(ctx, sched.Beat{NodeID: "n", Now: t0}); return err },
		"CloseNode":    func(ctx context.Context) error { return d.CloseNode(ctx, "n", t0) },
		"CloseEarlier": func(ctx context.Context) error { return d.CloseEarlier(ctx, "n", t0) },
		"Wishes":       func(ctx context.Context) error { _, err := d.Wishes(ctx, "n"); return err },
		"DeclareDead":  func(ctx context.Context) error { _, err := d.DeclareDead(ctx, "n", pulse, t0); return err },
		"Nodes":        func(ctx context.Context) error { _, err := d.Nodes(ctx, t0); return err },
		"RollUp":       func(ctx context.Context) error { _, err := d.RollUp(ctx, t0); return err },
		"SampleQueues": func(ctx context.Context) error { return d.SampleQueues(ctx, t0, nil, carries(nil)) },
		"QueueSamples": func(ctx context.Context) error { _, err := d.QueueSamples(ctx, "default", t0); return err },
		"Spread":       func(ctx context.Context) error { _, err := d.Spread(ctx, all, 0, t0, sched.Lag); return err },
		"Spreads":      func(ctx context.Context) error { _, err := d.Spreads(ctx, []int64{1}, t0, sched.Lag); return err },
		"Rates":        func(ctx context.Context) error { _, err := d.Rates(ctx, []int64{1}, t0); return err },
		"Outcomes":     func(ctx context.Context) error { _, err := d.Outcomes(ctx, all, t0, time.Hour, 1); return err },
		"QueueDepths":  func(ctx context.Context) error { _, err := d.QueueDepths(ctx, t0, time.Minute); return err },
		"QueueRates":   func(ctx context.Context) error { _, err := d.QueueRates(ctx, t0, t0); return err },
		"SetDraining": func(ctx context.Context) error {
			return d.SetDraining(ctx, "n", true, func(sched.NodeInfo) access.Entry { return access.Entry{} })
		},
		"Draining": func(ctx context.Context) error { _, err := d.Draining(ctx, "n"); return err },
		"Lane":     func(ctx context.Context) error { _, err := d.Lane(ctx, sched.Instance{TaskID: 1}); return err },
		"Lanes":    func(ctx context.Context) error { _, err := d.Lanes(ctx); return err },
		"SetQueuePaused": func(ctx context.Context) error {
			return d.SetQueuePaused(ctx, "q", true, access.Entry{}, func() error { return nil })
		},
		"PausedQueues": func(ctx context.Context) error { _, err := d.PausedQueues(ctx); return err },
		"WhilePaused":  func(ctx context.Context) error { return d.WhilePaused(ctx, "q", func() error { return nil }) },
		"PutExecutor": func(ctx context.Context) error {
			return d.PutExecutor(ctx, sched.ExecutorInfo{ID: dbtest.ID(), TeamID: 1}, 1, access.Entry{})
		},
		"Executor":       func(ctx context.Context) error { _, err := d.Executor(ctx, "e"); return err },
		"BeatExecutor":   func(ctx context.Context) error { _, err := d.BeatExecutor(ctx, "e", 0, t0); return err },
		"CloseExecutor":  func(ctx context.Context) error { return d.CloseExecutor(ctx, "e", t0, access.Entry{}) },
		"Executors":      func(ctx context.Context) error { _, err := d.Executors(ctx, 1, "billing"); return err },
		"ExecutorsOf":    func(ctx context.Context) error { _, err := d.ExecutorsOf(ctx, all); return err },
		"ExecutorTasks":  func(ctx context.Context) error { _, err := d.ExecutorTasks(ctx, all); return err },
		"PruneExecutors": func(ctx context.Context) error { return d.PruneExecutors(ctx, t0) },
		"BeginShards": func(ctx context.Context) error {
			return d.BeginShards(ctx, in.ID, []sched.ShardRun{{Attempt: 1}})
		},
		"EndShard": func(ctx context.Context) error { return d.EndShard(ctx, in.ID, sched.ShardRun{Attempt: 1}) },
		"Shards":   func(ctx context.Context) error { _, err := d.Shards(ctx, in.ID); return err },
		"WriteOutput": func(ctx context.Context) error {
			return d.WriteOutput(ctx, in.ID, 1, 1, []sched.Stretch{{Seq: 1, At: t0}})
		},
		"Output":       func(ctx context.Context) error { _, err := d.Output(ctx, in.ID, 1, 1); return err },
		"PruneOutputs": func(ctx context.Context) error { return d.PruneOutputs(ctx, t0) },
		"Stretches":    func(ctx context.Context) error { _, err := d.Stretches(ctx, in.ID, 1, 0, 1); return err },
		"LogMark":      func(ctx context.Context) error { _, err := d.LogMark(ctx, in.ID, 1); return err },
		"LogParts":     func(ctx context.Context) error { _, err := d.LogParts(ctx, in.ID, 1, 0, 1); return err },
		"NoteRefused":  func(ctx context.Context) error { return d.NoteRefused(ctx, sched.Report{InstanceID: in.ID}, "", t0) },
		"PruneNotes":   func(ctx context.Context) error { return d.PruneNotes(ctx, t0) },
		"Sign": func(ctx context.Context) error {
			_, err := d.Sign(ctx, sched.Sign{InstanceID: in.ID, Attempt: 1}, t0)
			return err
		},
		"Progress":      func(ctx context.Context) error { _, err := d.Progress(ctx, in.ID); return err },
		"PruneProgress": func(ctx context.Context) error { return d.PruneProgress(ctx, t0) },
		"PruneStats":    func(ctx context.Context) error { return d.PruneStats(ctx, t0) },
		"Runs":          func(ctx context.Context) error { _, err := d.Runs(ctx, []int64{1}, 1); return err },
		"TaskRate":      func(ctx context.Context) error { _, err := d.TaskRate(ctx, 1, t0); return err },
		"StateCounts":   func(ctx context.Context) error { _, err := d.StateCounts(ctx, all, 0, t0); return err },
		"QueueDepth":    func(ctx context.Context) error { _, err := d.QueueDepth(ctx, t0); return err },
		"Dashboard":     func(ctx context.Context) error { _, err := d.Dashboard(ctx, all, t0); return err },
		"Verify":        func(ctx context.Context) error { _, err := d.Verify(ctx); return err },
		"Now":           func(ctx context.Context) error { _, err := d.Now(ctx); return err },
	} {
		err := call(t.Context())
		require.Error(t, err, name)
		if fault.KindOf(err) != fault.KindUnavailable {
			t.Errorf("%s: %v: %v", name, fault.KindOf(err), err)
		}
		require.NotErrorIs(t, err, db.ErrCommitUnknown, name)
	}
}
