package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// reschedule is what the use cases do when a definition changes.
func reschedule(t *testing.T, task *sched.Task, now time.Time) {
	t.Helper()
	task.NextFireAt = time.Time{}
	if !task.Enabled {
		return
	}
	times, err := task.Times()
	require.NoError(t, err)
	task.NextFireAt, _ = times.Next(now.Add(-time.Millisecond))
}

// edit changes a definition at now as the use case does.
func edit(t *testing.T, d *db.DB, task sched.Task, now time.Time, set func(*sched.Task)) (sched.Task, []sched.Message) {
	t.Helper()
	next, due, err := d.ChangeTask(t.Context(), sched.TaskChange{
		Code: task.Code, Now: now, By: person, Note: "why", Version: true, Owed: true,
		Apply: func(old sched.Task) (sched.Task, access.Entry, error) {
			set(&old)
			reschedule(t, &old, now)
			return old, ask("task.update"), nil
		},
	})
	require.NoError(t, err)
	return next, due
}

func TestATaskIsStoredWithItsGateVersionAndAudit(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, dbtest.Cron("*/5 * * * *"), func(task *sched.Task) {
			task.Code, task.Group, task.Owner, task.Tags = "order.close", "orders", "林 ops", []string{"night", "a_b"}
			task.Spec.Payload = []byte(`{"a":"🧾"}`)
		})
		got := reload(t, d, task)
		require.Equal(t, task, got)
		byID, err := d.TaskByID(t.Context(), task.ID)
		require.NoError(t, err)
		require.Equal(t, task, byID)
		versions, err := d.TaskVersions(t.Context(), task.ID, 10)
		require.NoError(t, err)
		heading := task.Heading()
		require.Equal(t, []string{"night", "a_b"}, heading.Tags)
		require.Equal(t, []sched.TaskVersion{{TaskID: task.ID, Version: 1, Spec: task.Spec, Heading: &heading, Author: "maker", Note: "made", CreatedAt: t0}}, versions)
		require.Equal(t, 1, count(t, d, "task_gates"))
		e := lastAudit(t, d)
		require.Equal(t, "task.create", e.Action)
		require.Equal(t, rowOf(t, d, "SELECT id FROM tasks"), e.Object.ID)
	})
}

func TestACodeIsTakenOnce(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, dbtest.Code("order.close"))
		before := dump(t, d, "tasks", "task_gates", "task_versions", "audit_log")
		task.ID = 0
		_, err := d.CreateTask(t.Context(), task, "", ask("task.create"))
		require.Equal(t, fault.KindInvalid, fault.KindOf(err))
		require.Equal(t, "code", fault.Fields(err)[0].Name)
		require.Equal(t, before, dump(t, d, "tasks", "task_gates", "task_versions", "audit_log"))
		for _, missing := range []string{"Order.close", "nothing", "订单"} {
			_, err = d.Task(t.Context(), missing)
			require.Equal(t, fault.KindNotFound, fault.KindOf(err), missing)
		}
		_, err = d.TaskByID(t.Context(), 999)
		require.Equal(t, fault.KindNotFound, fault.KindOf(err))
	})
}

// DB-01: false, zero and empty are stored.
func TestDB01ZeroValuesAreStored(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, dbtest.Every(time.Minute), func(task *sched.Task) { task.Owner, task.Group, task.Tags = "lin", "g", []string{"x"} })
		next, _ := edit(t, d, task, later(-10), func(task *sched.Task) {
			task.Enabled, task.Owner, task.Group, task.Tags = false, "", "", nil
			task.Spec.Policy.Retry.Max, task.Spec.Policy.MaxConcurrent = 0, 0
		})
		got := reload(t, d, task)
		require.Equal(t, next, got)
		require.False(t, got.Enabled)
		require.True(t, got.NextFireAt.IsZero())
		require.Empty(t, got.Owner+got.Group)
		require.Nil(t, got.Tags)
		require.Zero(t, got.Spec.Policy.Retry.Max)
		require.Equal(t, 2, got.Version)
		require.Equal(t, "lin", got.UpdatedBy)
		require.Equal(t, later(-10), got.UpdatedAt)
		require.Equal(t, task.CreatedAt, got.CreatedAt)
		versions, err := d.TaskVersions(t.Context(), task.ID, 1)
		require.NoError(t, err)
		require.Equal(t, 2, versions[0].Version)
		require.Equal(t, "why", versions[0].Note)
	})
}

func TestAChangeThatIsRefusedChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, dbtest.Every(time.Minute))
		before := dump(t, d, "tasks", "task_versions", "instances", "missed_ranges", "audit_log")
		stale := fault.Conflict("stale")
		_, _, err := d.ChangeTask(t.Context(), sched.TaskChange{Code: task.Code, Now: later(600), By: person, Version: true, Owed: true,
			Apply: func(old sched.Task) (sched.Task, access.Entry, error) { return old, access.Entry{}, stale }})
		require.ErrorIs(t, err, stale)
		_, _, err = d.ChangeTask(t.Context(), sched.TaskChange{Code: "nothing", Apply: nil})
		require.Equal(t, fault.KindNotFound, fault.KindOf(err))
		require.Equal(t, before, dump(t, d, "tasks", "task_versions", "instances", "missed_ranges", "audit_log"))
	})
}

// Of two edits of one version the second sees what the first wrote.
func TestEditsOfOneTaskTakeTurns(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, dbtest.Every(time.Minute))
		var g errgroup.Group
		for range 8 {
			g.Go(func() error {
				_, _, err := d.ChangeTask(t.Context(), sched.TaskChange{Code: task.Code, Now: later(-10), By: person, Version: true, Owed: true,
					Apply: func(old sched.Task) (sched.Task, access.Entry, error) {
						old.Spec.Policy.TimeoutSeconds++
						return old, ask("task.update"), nil
					}})
				return err
			})
		}
		require.NoError(t, g.Wait())
		got := reload(t, d, task)
		require.Equal(t, 9, got.Version)
		require.Equal(t, 38, got.Spec.Policy.TimeoutSeconds)
		require.Equal(t, 9, count(t, d, "task_versions"))
	})
}

// protocol.md (flaw 18): the planner is late, somebody edits, and the slot of
// the old schedule must not vanish.
func TestAnEditPlansWhatTheOldScheduleOwed(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, dbtest.Every(time.Minute))
		next, due := edit(t, d, task, later(90), func(task *sched.Task) { task.Spec.Schedule.Anchor = later(7) })
		require.Len(t, due, 2, "12:00 and 12:01 of the old schedule")
		require.Equal(t, []time.Time{t0, later(60)}, slotsOf(t, d, task))
		require.Equal(t, later(127), next.NextFireAt)
		require.Equal(t, 1, next.Version-task.Version)
		plan(t, d, later(127))
		require.Equal(t, []time.Time{t0, later(60), later(127)}, slotsOf(t, d, task))
		got := claim(t, d, due[0].InstanceID, dbtest.MakeNode(t, d), later(127))
		require.Equal(t, sched.ClaimSkip, got.Verdict.Kind, "the claim decides")
	})
}

func TestAnEditAfterALongOutageAccountsForEverySlot(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, dbtest.Every(time.Second))
		edit(t, d, task, later(25_000.5), func(task *sched.Task) { task.Enabled = false })
		ranges := missed(t, d, task)
		require.Len(t, ranges, 1)
		require.Equal(t, 24_940, ranges[0].Slots, "more than the budget of a tick")
		accounted(t, d, task, t0, later(25_000), time.Second)
	})
}

// Disabling and enabling: what was owed is planned, what lies between isn't
// wanted, what was accepted stays.
func TestATaskIsDisabledAndEnabledAgain(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, dbtest.Every(time.Minute))
		plan(t, d, t0)
		off, due := edit(t, d, task, later(70), func(task *sched.Task) { task.Enabled = false })
		require.Len(t, due, 1)
		require.True(t, off.NextFireAt.IsZero())
		for s := 70.0; s < 400; s += 30 {
			require.Zero(t, plan(t, d, later(s)).Tasks)
		}
		on, due := edit(t, d, task, later(400), func(task *sched.Task) { task.Enabled = true })
		require.Empty(t, due)
		require.Equal(t, later(420), on.NextFireAt)
		plan(t, d, later(420))
		require.Equal(t, []time.Time{t0, later(60), later(420)}, slotsOf(t, d, task))
		require.Empty(t, missed(t, d, task))
	})
}

// protocol.md (flaw 19), (flaw 21): a slot planned ahead stays, and an edit that
// comes back to it meets the unique key.
func TestAnEditThatComesBackToAPlannedSlotKeepsOne(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, dbtest.Every(time.Minute))
		plan(t, d, later(58.5))
		edit(t, d, task, later(59), func(task *sched.Task) { task.Spec.Schedule.Anchor = later(7) })
		edit(t, d, task, later(59.2), func(task *sched.Task) { task.Spec.Schedule.Anchor = t0 })
		require.Equal(t, later(60), reload(t, d, task).NextFireAt)
		plan(t, d, later(59.5))
		require.Equal(t, []time.Time{t0, later(60)}, slotsOf(t, d, task))
		accounted(t, d, task, t0, later(60), time.Minute)
	})
}

// A slot of a pause is recorded up to two seconds ahead. An edit within them
// plans from now again: the slot must not be counted twice, nor run and count
// as missed.
func TestAnEditRightAfterAPausedSlotCountsItOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		resume bool
		every  int
		ran    []time.Time
	}{
		"still paused":        {false, 60, []time.Time{t0}},
		"resumed meanwhile":   {true, 60, []time.Time{t0, later(120)}},
		"to another schedule": {true, 40, []time.Time{t0, later(120)}},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				task := dbtest.MakeTask(t, d, dbtest.Every(time.Minute))
				plan(t, d, t0)
				pause(t, d, task, later(30), later(600))
				plan(t, d, later(58))
				plan(t, d, later(118.5)) // 12:02 is recorded as missed in the pause
				if c.resume {
					resume(t, d, task, later(119))
				}
				edit(t, d, task, later(119.5), func(task *sched.Task) { task.Spec.Schedule.EverySeconds = c.every })
				plan(t, d, later(119.8))
				require.Equal(t, c.ran, slotsOf(t, d, task))
				ranges := missed(t, d, task)
				require.Len(t, ranges, 1)
				require.Equal(t, map[bool]int{false: 2, true: 1}[c.resume], ranges[0].Slots)
			})
		})
	}
}

// The slot was an instance before the pause began: it waits, and is not missed.
func TestASlotPlannedBeforeThePauseIsNotMissed(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, dbtest.Every(time.Minute))
		plan(t, d, later(58.5)) // 12:00 and, ahead of its time, 12:01
		pause(t, d, task, later(59), later(600))
		edit(t, d, task, later(59.5), func(task *sched.Task) { task.Name = "other" })
		plan(t, d, later(59.8))
		plan(t, d, later(180))
		ranges := missed(t, d, task)
		require.Len(t, ranges, 1)
		require.Equal(t, 2, ranges[0].Slots, "12:02 and 12:03")
		accounted(t, d, task, t0, later(180), time.Minute)
	})
}

// After an edit the slot before a missed one may be long ago: the range that
// ended there must not reach over what ran or was missed between.
func TestARangeDoesNotReachOverAnEdit(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, dbtest.Every(time.Minute))
		set := func(now float64, every int) {
			edit(t, d, task, later(now), func(task *sched.Task) { task.Spec.Schedule.EverySeconds = every })
		}
		pause(t, d, task, later(-10), later(30))
		plan(t, d, t0) // 12:00 is missed
		set(40, 20)
		plan(t, d, later(60)) // 12:00:40 and 12:01:00 run
		set(70, 300)          // the slot before 12:05 is 12:00
		pause(t, d, task, later(80), later(400))
		plan(t, d, later(300))
		require.Len(t, missed(t, d, task), 2, "12:00 and 12:05")
		set(310, 40) // 12:05:20 is missed
		plan(t, d, later(320))
		set(330, 60) // the slot before 12:06 is 12:05
		plan(t, d, later(360))
		require.Len(t, missed(t, d, task), 4)
		require.Equal(t, []time.Time{later(40), later(60)}, slotsOf(t, d, task))
	})
}

func TestAResumeMakesWhatWasDeferredDueNow(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d), dbtest.MakeNode(t, d)
		a, b := dbtest.MakeInstance(t, d, task), dbtest.MakeInstance(t, d, task)
		future := dbtest.MakeInstance(t, d, task, dbtest.Due(later(3600)))
		queue(t, d, a, t0)
		pause(t, d, task, later(1), later(600))
		for _, in := range []sched.Instance{a, b} {
			require.Equal(t, sched.ClaimDefer, claim(t, d, in.ID, node, later(2)).Verdict.Kind)
		}
		pause(t, d, task, later(2), later(900))
		require.NotEqual(t, later(3), read(t, d, a.ID).DueAt, "a longer pause frees nothing")
		resume(t, d, task, later(3))
		for _, in := range []sched.Instance{a, b} {
			got := read(t, d, in.ID)
			require.Equal(t, later(3), got.DueAt)
			require.Equal(t, later(3), got.LookAt)
			require.Equal(t, t0, got.WantedAt)
		}
		require.Equal(t, later(3600), read(t, d, future.ID).DueAt, "what is due later stays so")
		require.Len(t, stale(t, d, later(3)), 1, "the sweep sends what was queued")
		take(t, d, a.ID, node, later(3))
		require.Equal(t, 1, reload(t, d, task).Version, "a pause is no new definition")
	})
}

// Nothing starts once a pause is confirmed: pause and claims take turns at the
// gate.
func TestNothingStartsOnceAPauseIsConfirmed(t *testing.T) {
	t.Parallel()
	d := dbtest.MariaDB(t)
	task, node := dbtest.MakeTask(t, d), dbtest.MakeNode(t, d)
	in := dbtest.MakeInstance(t, d, task)
	var got sched.Claimed
	var g errgroup.Group
	change(t, d, sched.TaskChange{Code: task.Code, Now: t0}, func(next *sched.Task) {
		g.Go(func() (err error) {
			got, err = d.Claim(t.Context(), sched.ClaimRequest{InstanceID: in.ID, NodeID: node.ID, ClaimID: dbtest.ID(), Now: later(1)})
			return err
		})
		awaitLockWait(t, d)
		next.PausedFrom, next.PausedUntil = t0, later(600)
	})
	require.NoError(t, g.Wait())
	require.Equal(t, sched.ClaimDefer, got.Verdict.Kind)
	clean(t, d)
}

// A version of an older release holds the definition only.
func TestAVersionWithoutAHeadingIsRead(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, dbtest.Cron("*/5 * * * *"))
		changed, _, err := d.ChangeTask(t.Context(), sched.TaskChange{
			Code: task.Code, Now: t0, By: access.Actor{Name: "lin"}, Version: true,
			Apply: func(old sched.Task) (sched.Task, access.Entry, error) {
				old.Name, old.Owner, old.Queue, old.Enabled = "Renamed", "wang", "slow", false
				return old, access.Entry{At: t0, Action: "task.update"}, nil
			},
		})
		require.NoError(t, err)
		exec(t, d, "UPDATE task_versions SET spec=(SELECT spec FROM tasks WHERE id=?) WHERE task_id=? AND version=1", task.ID, task.ID)
		got, err := d.TaskVersions(t.Context(), task.ID, 10)
		require.NoError(t, err)
		require.Len(t, got, 2)
		require.Equal(t, changed.Heading(), *got[0].Heading)
		require.Equal(t, "lin", got[0].Author)
		require.Nil(t, got[1].Heading)
		require.Equal(t, task.Spec, got[1].Spec)
	})
}
