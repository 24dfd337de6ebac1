package db_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// slotsOf lists the slots of a task that became instances, in order.
func slotsOf(t *testing.T, d *db.DB, task sched.Task) []time.Time {
	t.Helper()
	var rows []struct{ SlotAt db.Millis }
	require.NoError(t, d.View(t.Context()).Raw("SELECT slot_at FROM instances WHERE task_id=? AND origin='schedule' ORDER BY slot_at", task.ID).Scan(&rows).Error)
	out := make([]time.Time, len(rows))
	for i, r := range rows {
		out[i] = r.SlotAt.Time
	}
	return out
}

func missed(t *testing.T, d *db.DB, task sched.Task) []sched.MissedRange {
	t.Helper()
	m, err := d.Missed(t.Context(), task.ID, 100)
	require.NoError(t, err)
	slices.Reverse(m) // oldest first
	return m
}

// accounted requires that every slot from the first up to the last is an
// instance or in exactly one missed range, and that the ranges count right.
func accounted(t *testing.T, d *db.DB, task sched.Task, first, last time.Time, every time.Duration) {
	t.Helper()
	seen := map[time.Time]int{}
	for _, s := range slotsOf(t, d, task) {
		seen[s]++
	}
	for _, m := range missed(t, d, task) {
		n := 0
		for s := m.From; !s.After(m.To); s = s.Add(every) {
			seen[s]++
			n++
		}
		require.Equal(t, n, m.Slots, "the count of %s – %s", m.From, m.To)
	}
	for s := first; !s.After(last); s = s.Add(every) {
		require.Equal(t, 1, seen[s], "slot %s", s)
		delete(seen, s)
	}
	require.Empty(t, seen, "slots that nobody asked for")
}

func reload(t *testing.T, d *db.DB, task sched.Task) sched.Task {
	t.Helper()
	task, err := d.Task(t.Context(), task.Code)
	require.NoError(t, err)
	return task
}

func TestASlotBecomesOneInstance(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, dbtest.Every(time.Minute))
		r := plan(t, d, later(-2))
		require.Equal(t, 1, r.Tasks)
		require.Equal(t, 1, r.Instances)
		require.Zero(t, r.Missed+r.Failed)
		in := read(t, d, r.Messages[0].InstanceID)
		require.Equal(t, sched.Instance{
			ID: in.ID, TaskID: task.ID, TeamID: task.TeamID, Queue: "default", BizID: "@2026-12-01T12:00:00Z",
			Origin: sched.FromSchedule, SlotAt: t0, WantedAt: t0, DueAt: t0, State: sched.Pending, PlannedBy: "planner", CreatedAt: later(-2),
		}, in)
		require.Equal(t, []sched.Message{{InstanceID: in.ID, Queue: "default", DueAt: t0}}, r.Messages)
		require.Equal(t, later(60), reload(t, d, task).NextFireAt)
		for _, now := range []float64{-1, 0, 30, 57.999} {
			require.Zero(t, plan(t, d, later(now)).Tasks, "nothing is due at %v", now)
		}
		require.Equal(t, 1, plan(t, d, later(58)).Instances)
		require.Equal(t, []time.Time{t0, later(60)}, slotsOf(t, d, task))
	})
}

func TestOnlyWhatIsEnabledAndDueIsPlanned(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		dbtest.MakeTask(t, d, dbtest.Every(time.Minute), dbtest.Disabled())
		off := dbtest.MakeTask(t, d, dbtest.Every(time.Minute))
		exec(t, d, "UPDATE tasks SET enabled=0 WHERE id=?", off.ID)
		dbtest.MakeTask(t, d)                                     // on request
		later := dbtest.MakeTask(t, d, dbtest.Cron("0 13 * * *")) // in an hour
		r := plan(t, d, t0)
		require.Zero(t, r.Tasks+r.Instances)
		require.Zero(t, count(t, d, "plan_log"), "a tick without work leaves no row")
		require.Equal(t, t0.Add(time.Hour), reload(t, d, later).NextFireAt)
	})
}

func TestATickThatPlannedLeavesItsCounts(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		dbtest.MakeTask(t, d, dbtest.Every(time.Minute))
		r := plan(t, d, later(600))
		require.Equal(t, 3, r.Instances, "the latest missed one and what is in its grace")
		require.Equal(t, 8, r.Missed)
		var row struct {
			NodeID                    string
			At, FromAt, ToAt          db.Millis
			Tasks, Instances, Skipped int
		}
		require.NoError(t, d.View(t.Context()).Raw("SELECT * FROM plan_log").Take(&row).Error)
		require.Equal(t, "planner", row.NodeID)
		require.Equal(t, later(602), row.ToAt.Time)
		require.Equal(t, []int{1, 3, 8}, []int{row.Tasks, row.Instances, row.Skipped})
	})
}

func TestABatchTakesWhatIsAskedFor(t *testing.T) {
	for name, c := range map[string]struct {
		newest bool
		late   [4]int // seconds that each task is overdue
		want   [4]bool
	}{
		"the longest due first":                   {false, [4]int{1, 2, 3, 3600}, [4]bool{false, false, true, true}},
		"of what is new the last due first (F34)": {true, [4]int{1, 2, 3, 3600}, [4]bool{true, true, false, false}},
		"nothing that is old (F34)":               {true, [4]int{1, 11, 12, 3600}, [4]bool{true, false, false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				var tasks []sched.Task
				for _, late := range c.late {
					task := dbtest.MakeTask(t, d, dbtest.Every(time.Hour))
					exec(t, d, "UPDATE tasks SET next_fire_at=? WHERE id=?", t0.Add(-time.Duration(late)*time.Second).UnixMilli(), task.ID)
					tasks = append(tasks, task)
				}
				r := sched.PlanRequest{Now: t0, Until: t0, Limit: 2, Budget: 100, NodeID: "planner"}
				if c.newest {
					r.Since = t0.Add(-10 * time.Second)
				}
				_, err := d.Plan(t.Context(), r)
				require.NoError(t, err)
				for i, task := range tasks {
					require.Equal(t, c.want[i], reload(t, d, task).NextFireAt.After(t0), "task %d", i)
				}
			})
		})
	}
}

// DUP-03: planners share the work by their row locks: no task is planned twice,
// and none waits for the other.
func TestDUP03SeveralPlannersShareTheWork(t *testing.T) {
	t.Parallel()
	d := dbtest.MariaDB(t)
	team := dbtest.MakeTeam(t, d)
	for range 60 {
		dbtest.MakeTask(t, d, dbtest.Every(time.Minute), dbtest.Of(team))
	}
	var g errgroup.Group
	made := make([]int, 4)
	for i := range made {
		g.Go(func() error {
			for {
				r, err := d.Plan(t.Context(), sched.PlanRequest{Now: t0, Until: later(2), Limit: 7, Budget: 1000, NodeID: fmt.Sprint(i)})
				if err != nil || r.Tasks == 0 {
					return err
				}
				made[i] += r.Instances
			}
		})
	}
	require.NoError(t, g.Wait())
	require.Equal(t, 60, made[0]+made[1]+made[2]+made[3])
	require.Equal(t, 60, count(t, d, "instances"))
	clean(t, d)
}

func TestAPlannerPassesOverWhatAnotherHolds(t *testing.T) {
	t.Parallel()
	d := dbtest.MariaDB(t)
	held, free := dbtest.MakeTask(t, d, dbtest.Every(time.Minute)), dbtest.MakeTask(t, d, dbtest.Every(time.Minute))
	change(t, d, sched.TaskChange{Code: held.Code, Now: t0, Version: true}, func(*sched.Task) {
		require.Equal(t, 1, plan(t, d, t0).Tasks, "SKIP LOCKED")
	})
	require.Equal(t, []time.Time{t0}, slotsOf(t, d, free))
	require.Equal(t, 1, plan(t, d, t0).Tasks)
	clean(t, d)
}

// DUP-01: whatever was planned before, the unique key decides.
func TestDUP01ASlotThatIsThereIsNotMadeAgain(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, dbtest.Every(time.Second))
		other := dbtest.MakeTask(t, d, dbtest.Every(time.Second))
		require.Equal(t, 6, plan(t, d, t0).Instances)
		exec(t, d, "UPDATE tasks SET next_fire_at=? WHERE id=?", db.At(t0), task.ID)
		r := plan(t, d, later(1))
		require.Equal(t, 2, r.Instances, "3 of 5 slots were there, each task has a new one")
		require.Empty(t, r.Messages, "which ones are new is for the dispatcher to read")
		for _, task := range []sched.Task{task, other} {
			accounted(t, d, task, t0, later(3), time.Second)
		}
		var logged int
		require.NoError(t, d.View(t.Context()).Raw("SELECT SUM(instances) FROM plan_log").Scan(&logged).Error)
		require.Equal(t, count(t, d, "instances"), logged, "the log counts what was made")
	})
}

// DST-09: a task that can't be planned is marked and doesn't stop the others.
func TestDST09ATaskThatCantBePlannedIsMarkedAndTheOthersGoOn(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]string{
		"a zone that is gone":    `{"schedule":{"kind":"cron","cron":"* * * * *","timezone":"Mars/Base"}}`,
		"a cron of other rules":  `{"schedule":{"kind":"cron","cron":"61 * * * *","timezone":"UTC"}}`,
		"a spec in tatters":      `{"schedule"`,
		"an interval of nothing": `{"schedule":{"kind":"interval"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				a := dbtest.MakeTask(t, d, dbtest.Every(time.Minute))
				bad := dbtest.MakeTask(t, d, dbtest.Every(time.Minute))
				b := dbtest.MakeTask(t, d, dbtest.Every(time.Minute))
				exec(t, d, "UPDATE tasks SET spec=? WHERE id=?", spec, bad.ID)
				r := plan(t, d, t0)
				require.Equal(t, 1, r.Failed)
				require.Equal(t, 2, r.Instances)
				require.Equal(t, []time.Time{t0}, slotsOf(t, d, a))
				require.Equal(t, []time.Time{t0}, slotsOf(t, d, b))
				var row struct {
					PlanError  string
					NextFireAt *int64
					Enabled    bool
				}
				require.NoError(t, d.View(t.Context()).Raw("SELECT * FROM tasks WHERE id=?", bad.ID).Take(&row).Error)
				require.NotEmpty(t, row.PlanError)
				require.Nil(t, row.NextFireAt, "it is not tried at each tick")
				require.True(t, row.Enabled)
				require.Zero(t, plan(t, d, later(1)).Tasks)
			})
		})
	}
}

func TestTheLastSlotLeavesNoNextOne(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		once := dbtest.MakeTask(t, d, func(task *sched.Task) {
			task.Spec.Schedule = sched.Schedule{Kind: sched.KindOnce, RunAt: later(10)}
			task.NextFireAt = later(10)
		})
		require.Zero(t, plan(t, d, later(7)).Tasks)
		require.Equal(t, 1, plan(t, d, later(8)).Instances)
		require.True(t, reload(t, d, once).NextFireAt.IsZero())
		require.Equal(t, []time.Time{later(10)}, slotsOf(t, d, once))
	})
}

// MISF-01: an outage of 130 minutes of a minutely task.
func TestMISF01AfterAnOutageOneLateRunAndAnHonestRange(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, dbtest.Cron("* * * * *"))
		now := later(130*60 - 30)
		r := plan(t, d, now)
		require.Equal(t, 2, r.Instances, "the latest missed one, and 30 s late is not missed")
		ranges := missed(t, d, task)
		require.Len(t, ranges, 1)
		m := ranges[0]
		require.Equal(t, 128, m.Slots)
		require.Equal(t, sched.MissedMisfire, m.Reason)
		require.Equal(t, string(sched.FireOnce), m.Policy)
		require.Equal(t, later(128*60), read(t, d, m.InstanceID).SlotAt, "the run that makes up for it")
		require.Equal(t, "planner", m.PlannedBy)
		require.Equal(t, later(130*60), reload(t, d, task).NextFireAt)
		accounted(t, d, task, t0, later(129*60), time.Minute)
		plan(t, d, later(130*60))
		accounted(t, d, task, t0, later(130*60), time.Minute)
	})
}

// MISF-03: ten missed, one made, nine recorded; log, report and rows agree.
func TestMISF03ReportLogAndRowsAgree(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, dbtest.Every(time.Hour))
		r := plan(t, d, later(9*3600+1800))
		require.Equal(t, 1, r.Instances)
		require.Equal(t, 9, r.Missed)
		require.Equal(t, 9, missed(t, d, task)[0].Slots)
		require.Len(t, slotsOf(t, d, task), 1)
		accounted(t, d, task, t0, later(9*3600), time.Hour)
	})
}

// An outage longer than the budget of a tick: the open range grows, and one
// run makes up for all of it.
func TestARangeGrowsOverSeveralTicks(t *testing.T) {
	t.Parallel()
	for name, slots := range map[string]int{"a rest": 47, "no rest": 40, "one slot left": 41, "one tick only": 5} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				task := dbtest.MakeTask(t, d, dbtest.Every(time.Minute))
				now := later(float64(60*(slots-1)) + 61) // all of them misfired, the next one is just due
				ticks := 0
				for plannedTo := reload(t, d, task).NextFireAt; !plannedTo.After(now); plannedTo = reload(t, d, task).NextFireAt {
					r := planUpTo(t, d, now, 10)
					require.LessOrEqual(t, r.Spent, 10)
					ticks++
				}
				require.Equal(t, (slots+1+9)/10, ticks)
				ranges := missed(t, d, task)
				require.Len(t, ranges, 1)
				require.Equal(t, slots-1, ranges[0].Slots)
				require.Equal(t, []time.Time{later(float64(60 * (slots - 1))), later(float64(60 * slots))}, slotsOf(t, d, task))
				require.NotEmpty(t, ranges[0].InstanceID, "the run that makes up for it")
				accounted(t, d, task, t0, later(float64(60*slots)), time.Minute)
			})
		})
	}
}

func TestTwoOutagesLeaveTwoRanges(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, dbtest.Every(time.Minute))
		plan(t, d, later(600))
		plan(t, d, later(1800))
		ranges := missed(t, d, task)
		require.Len(t, ranges, 2)
		require.NotEqual(t, ranges[0].InstanceID, ranges[1].InstanceID)
		accounted(t, d, task, t0, later(1800), time.Minute)
	})
}

func TestSlotsInAPauseAreOneRange(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, dbtest.Every(time.Minute))
		plan(t, d, t0)
		pause(t, d, task, later(30), later(600))
		for s := 60.0; s <= 720; s += 15 {
			plan(t, d, later(s))
		}
		ranges := missed(t, d, task)
		require.Len(t, ranges, 1)
		require.Equal(t, sched.MissedPaused, ranges[0].Reason)
		require.Equal(t, 9, ranges[0].Slots)
		require.Empty(t, ranges[0].InstanceID, "nothing makes up for a pause")
		require.Equal(t, []time.Time{t0, later(600), later(660), later(720)}, slotsOf(t, d, task))
		accounted(t, d, task, t0, later(720), time.Minute)
	})
}

func TestManyTasksMissTheirSlotsInOneTick(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		const n = 230
		team := dbtest.MakeTeam(t, d)
		var last sched.Task
		for range n {
			last = dbtest.MakeTask(t, d, dbtest.Of(team), dbtest.Every(time.Minute))
		}
		r := plan(t, d, later(600))
		require.Equal(t, 8*n, r.Missed)
		require.Equal(t, 3*n, r.Instances)
		require.Equal(t, n, count(t, d, "missed_ranges"))
		accounted(t, d, last, t0, later(600), time.Minute)
	})
}

// MISF-10: restarts don't move the slots of an interval.
func TestMISF10AnIntervalKeepsItsAnchor(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, dbtest.Every(6*time.Hour))
		for h := 0.0; h <= 18; h += 4 { // a scheduler that starts anew every four hours
			for m := 0.0; m < 240; m++ {
				plan(t, d, later(h*3600+m*60))
				m += 29
			}
		}
		plan(t, d, later(18*3600))
		require.Equal(t, []time.Time{t0, later(6 * 3600), later(12 * 3600), later(18 * 3600)}, slotsOf(t, d, task))
	})
}

// MISF-13: a next slot in the past, put there by hand, is planned as missed.
func TestMISF13ANextSlotOfYesterdayIsPlanned(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, dbtest.Cron("0 * * * *"))
		exec(t, d, "UPDATE tasks SET next_fire_at=? WHERE id=?", db.At(later(-24*3600)), task.ID)
		plan(t, d, later(1800))
		require.Equal(t, []time.Time{t0}, slotsOf(t, d, task))
		accounted(t, d, task, later(-24*3600), t0, time.Hour)
		require.Equal(t, later(3600), reload(t, d, task).NextFireAt)
	})
}

func TestMISF13WhatRanOrWasRecordedIsNotMissedAgain(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, dbtest.Every(time.Minute))
		plan(t, d, later(300)) // 12:00 – 12:02 are recorded, 12:03 – 12:05 run
		plan(t, d, later(360))
		exec(t, d, "UPDATE tasks SET next_fire_at=? WHERE id=?", db.At(t0), task.ID)
		r := plan(t, d, later(480))
		require.Zero(t, r.Missed)
		require.Equal(t, 2, r.Instances, "12:07 and 12:08")
		require.Len(t, missed(t, d, task), 1)
		accounted(t, d, task, t0, later(480), time.Minute)
	})
}
