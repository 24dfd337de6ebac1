package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// in makes the task go by a zone.
func in(zone string) dbtest.TaskOption {
	return func(t *sched.Task) { t.Spec.Schedule.Timezone = zone }
}

// Zone data changed between restarts (F38): the one before had the zone an
// hour further east. What is to come is found anew, what is past stays.
func TestOtherZoneDataFindsNextSlotsAnewAndKeepsWhatIsPast(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		daily := func(zone string) sched.Task {
			return dbtest.MakeTask(t, d, dbtest.Cron("0 22 * * *"), in(zone)) // 14:00 in UTC, t0 is noon
		}
		two := t0.Add(2 * time.Hour)
		moved, right, utc, broken := daily("Asia/Shanghai"), daily("Asia/Shanghai"), daily("UTC"), daily("Asia/Shanghai")
		early, due := daily("Asia/Shanghai"), daily("Asia/Shanghai")
		past := dbtest.MakeInstance(t, d, moved, dbtest.Slot(t0.Add(-23*time.Hour)))
		set := func(task sched.Task, next time.Time) {
			exec(t, d, "UPDATE tasks SET next_fire_at=? WHERE id=?", next.UnixMilli(), task.ID)
		}
		set(moved, two.Add(23*time.Hour)) // today's has passed by the old rule
		set(early, two.Add(-time.Hour))
		set(right, two)
		set(utc, two) // no zone, and so none of its business
		set(due, t0.Add(sched.PlanHorizon))
		exec(t, d, "UPDATE tasks SET next_fire_at=NULL, plan_error='zone is not known' WHERE id=?", broken.ID)

		more, err := replanner(d, t0).Tick(t.Context())
		require.NoError(t, err)
		require.False(t, more)
		for name, task := range map[string]sched.Task{"moved": moved, "early": early, "right": right, "unknown before": broken, "utc": utc} {
			got := reload(t, d, task)
			require.Equal(t, two, got.NextFireAt, name)
			require.Empty(t, got.PlanError)
			require.Equal(t, task.Version, got.Version, "nobody edited it")
		}
		require.Equal(t, t0.Add(sched.PlanHorizon), reload(t, d, due).NextFireAt, "the planner is about to look itself")
		require.Equal(t, past.SlotAt, read(t, d, past.ID).SlotAt)
		require.Equal(t, sched.Pending, read(t, d, past.ID).State)
		require.Empty(t, replans(t, d))
	})
}

// A slot that was planned ahead by the old data is skipped, and says why; one
// that both have runs.
func TestASlotOfOlderZoneDataIsSkippedAndSaysSo(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d, dbtest.Cron("0 20 * * *"), in("Asia/Shanghai"), dbtest.Limit(0)), dbtest.MakeNode(t, d)
		hour := t0.Add(time.Hour)
		gone := dbtest.MakeInstance(t, d, task, dbtest.Slot(hour))
		stays := dbtest.MakeInstance(t, d, task, dbtest.Slot(t0))
		require.Equal(t, sched.ClaimTake, claim(t, d, stays.ID, node, t0).Verdict.Kind)
		require.Equal(t, sched.ClaimSkip, claim(t, d, gone.ID, node, hour).Verdict.Kind)
		require.Equal(t, sched.ReasonZone, read(t, d, gone.ID).Reason)
	})
}

// An edit since is the nearer reason.
func TestASlotOfAnEditedTaskIsNotBlamedOnZoneData(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d, dbtest.Cron("0 20 * * *"), in("Asia/Shanghai"), dbtest.Limit(0)), dbtest.MakeNode(t, d)
		slot := dbtest.MakeInstance(t, d, task, dbtest.Slot(t0))
		change(t, d, sched.TaskChange{Code: task.Code, Now: later(1), Version: true}, func(task *sched.Task) {
			task.Spec.Schedule.Cron = "0 21 * * *"
		})
		require.Equal(t, sched.ClaimSkip, claim(t, d, slot.ID, node, later(2)).Verdict.Kind)
		require.Equal(t, sched.ReasonEdited, read(t, d, slot.ID).Reason)
	})
}

func TestTasksWithAZoneAreListedInPages(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		var want []int64
		for range 5 {
			want = append(want, dbtest.MakeTask(t, d, dbtest.Cron("0 20 * * *"), in("Asia/Shanghai")).ID)
		}
		bad := dbtest.MakeTask(t, d, dbtest.Cron("0 20 * * *"), in("Asia/Shanghai"))
		exec(t, d, "UPDATE tasks SET spec='{' WHERE id=?", bad.ID)
		dbtest.MakeTask(t, d, dbtest.Cron("0 20 * * *"), in("Asia/Shanghai"), dbtest.Disabled())
		dbtest.MakeTask(t, d, dbtest.Every(time.Minute))
		var got []int64
		for last, first := int64(0), true; first || last != 0; first = false {
			tasks, to, err := d.ZonedTasks(t.Context(), last, 2)
			require.NoError(t, err)
			for _, task := range tasks {
				got = append(got, task.ID)
			}
			last = to
		}
		require.Equal(t, want, got)
		require.NoError(t, d.NoteReplans(t.Context(), nil))
		require.NoError(t, d.NoteReplans(t.Context(), want))
		require.NoError(t, d.NoteReplans(t.Context(), want[:1]), "twice is once")
		require.Equal(t, want, replans(t, d))
	})
}
