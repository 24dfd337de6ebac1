package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// Each act is one transaction: cut off before any of its statements it has
// changed nothing, and done again it is done once (faults.md C02, C06, C12,
// C13, C24, C25).
func TestAnActThatIsCutOffHasChangedNothing(t *testing.T) {
	t.Parallel()
	failing := func(t *testing.T, d *db.DB) func() error {
		s := dbtest.Settlement(running(t, d, dbtest.MakeTask(t, d, dbtest.Retries(0)), dbtest.MakeNode(t, d)), failure(), later(1))
		return func() error { _, err := d.Settle(t.Context(), s); return err }
	}
	for name, c := range map[string]struct {
		prepare    func(t *testing.T, d *db.DB) func() error
		statements []string
	}{
		"plan": {func(t *testing.T, d *db.DB) func() error {
			dbtest.MakeTask(t, d, dbtest.Every(time.Minute))
			return func() error {
				_, err := d.Plan(t.Context(), sched.PlanRequest{Now: later(600), Until: later(602), Limit: 10, Budget: 100})
				return err
			}
		}, []string{"INSERT INTO instances", "INSERT INTO missed_ranges", "UPDATE missed_ranges", "UPDATE tasks", "INSERT INTO plan_log"}},
		"create a task": {func(t *testing.T, d *db.DB) func() error {
			task := dbtest.MakeTask(t, d)
			task.ID, task.Code = 0, "other"
			return func() error { _, err := d.CreateTask(t.Context(), task, "", ask("task.create")); return err }
		}, []string{"INSERT INTO `tasks`", "INSERT INTO task_gates", "INSERT INTO `task_versions`", "INSERT INTO `audit_log`"}},
		"edit": {func(t *testing.T, d *db.DB) func() error {
			task := dbtest.MakeTask(t, d, dbtest.Every(time.Minute))
			return func() error {
				_, _, err := d.ChangeTask(t.Context(), sched.TaskChange{Code: task.Code, Now: later(90), By: person, Version: true, Owed: true,
					Apply: func(old sched.Task) (sched.Task, access.Entry, error) {
						old.NextFireAt = later(120)
						return old, ask("task.update"), nil
					}})
				return err
			}
		}, []string{"INSERT INTO instances", "UPDATE `tasks`", "INSERT INTO `task_versions`", "INSERT INTO `audit_log`"}},
		"trigger": {func(t *testing.T, d *db.DB) func() error {
			in := request(dbtest.MakeTask(t, d), "order-1")
			return func() error { _, _, err := d.Trigger(t.Context(), in, ask("task.trigger")); return err }
		}, []string{"INSERT INTO instances", "INSERT INTO `audit_log`"}},
		"claim": {func(t *testing.T, d *db.DB) func() error {
			r := sched.ClaimRequest{InstanceID: dbtest.MakeInstance(t, d, dbtest.MakeTask(t, d)).ID, NodeID: dbtest.MakeNode(t, d).ID, ClaimID: dbtest.ID(), Now: t0}
			return func() error { _, err := d.Claim(t.Context(), r); return err }
		}, []string{"UPDATE instances", "INSERT INTO attempts"}},
		"settle": {failing, []string{"UPDATE instances", "UPDATE attempts", "INSERT INTO dead_letters"}},
		"lose": {func(t *testing.T, d *db.DB) func() error {
			run := running(t, d, dbtest.MakeTask(t, d, dbtest.NonIdempotent()), dbtest.MakeNode(t, d))
			mark(t, d, run, later(1))
			return func() error { _, _, err := d.Lose(t.Context(), held(run), later(30)); return err }
		}, []string{"UPDATE instances", "UPDATE attempts", "INSERT INTO dead_letters", "INSERT INTO `instance_events`"}},
		"hand back": {func(t *testing.T, d *db.DB) func() error {
			s := dbtest.Settlement(running(t, d, dbtest.MakeTask(t, d), dbtest.MakeNode(t, d)), sched.Result{}, later(1))
			return func() error { _, err := d.HandBack(t.Context(), s); return err }
		}, []string{"UPDATE instances", "UPDATE attempts", "INSERT INTO `instance_events`"}},
		"cancel": {func(t *testing.T, d *db.DB) func() error {
			run := running(t, d, dbtest.MakeTask(t, d), dbtest.MakeNode(t, d))
			settle(t, d, run, accepted(), later(1))
			return func() error {
				_, err := d.Cancel(t.Context(), run.Instance.ID, later(2), ask("instance.cancel"))
				return err
			}
		}, []string{"UPDATE instances", "UPDATE attempts", "INSERT INTO `instance_events`", "INSERT INTO `audit_log`"}},
		"receipt": {func(t *testing.T, d *db.DB) func() error {
			run := running(t, d, dbtest.MakeTask(t, d), dbtest.MakeNode(t, d))
			return func() error {
				_, err := d.Receive(t.Context(), sched.Report{InstanceID: run.Instance.ID, Attempt: 1, Outcome: sched.OutcomeFailed}, later(2))
				return err
			}
		}, []string{"UPDATE instances", "UPDATE attempts", "INSERT INTO dead_letters", "INSERT INTO receipts", "INSERT INTO `instance_events`"}},
		"replay": {func(t *testing.T, d *db.DB) func() error {
			l, _ := dbtest.MakeLetter(t, d, dbtest.MakeTask(t, d))
			return func() error { _, err := d.Replay(t.Context(), l.ID, dbtest.ID(), later(60), person, ""); return err }
		}, []string{"INSERT INTO instances", "UPDATE dead_letters", "INSERT INTO `audit_log`"}},
		"roll up": {func(t *testing.T, d *db.DB) func() error {
			require.NoError(t, failing(t, d)())
			return func() error {
				for more := true; more; {
					var err error
					if more, err = d.RollUp(t.Context(), later(60)); err != nil {
						return err
					}
				}
				return nil
			}
		}, []string{"DELETE FROM stats_minute", "INSERT INTO stats_minute", "UPDATE settings"}},
		"roll up an hour": {func(t *testing.T, d *db.DB) func() error {
			require.NoError(t, failing(t, d)())
			rollUp(t, d, later(4199))
			return func() error { _, err := d.RollUp(t.Context(), later(4200)); return err }
		}, []string{"DELETE FROM stats_hour", "INSERT INTO stats_hour"}},
	} {
		for _, statement := range append(c.statements, "COMMIT") {
			t.Run(name+" before "+statement, func(t *testing.T) {
				t.Parallel()
				d, w := through(t)
				act := c.prepare(t, d)
				before := dump(t, d, ledgerTables()...)
				w.before.Store(statement)
				err := act()
				require.Error(t, err)
				require.EqualValues(t, 1, w.cuts.Load())
				w.before.Store("")
				require.Equal(t, before, dump(t, d, ledgerTables()...))
				clean(t, d)
				// The server may hold the locks of the cut connection for a
				// moment, and a planner skips what is locked.
				require.Eventually(t, func() bool {
					require.NoError(t, act())
					return dump(t, d, ledgerTables()...) != before
				}, 20*time.Second, 20*time.Millisecond)
				clean(t, d)
			})
		}
	}
}

// ledgerTables are those that the engine writes.
func ledgerTables() []string {
	return []string{"tasks", "task_gates", "task_versions", "instances", "attempts", "instance_events", "missed_ranges", "plan_log",
		"dead_letters", "receipts", "audit_log", "stats_minute", "stats_hour"}
}
