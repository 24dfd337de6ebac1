package db_test

import (
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// tick runs the holder until it has nothing more to do.
func (h *desk) tick() {
	h.t.Helper()
	for {
		more, err := h.Holder.Tick(h.t.Context())
		require.NoError(h.t, err)
		if !more {
			return
		}
	}
}

// pausedUntil is the end of the task's pause; zero when nothing holds it now.
func (h *desk) pausedUntil(code string) time.Time {
	h.t.Helper()
	task, err := h.Task(h.t.Context(), code)
	require.NoError(h.t, err)
	if !task.Paused(h.now) {
		return time.Time{}
	}
	return task.PausedUntil
}

// personPauses is a pause by a person, as their use case stores it.
func (h *desk) personPauses(code string, until time.Time) {
	h.t.Helper()
	_, _, err := h.ChangeTask(h.t.Context(), sched.TaskChange{Code: code, Now: h.now, By: cli, Apply: func(t sched.Task) (sched.Task, access.Entry, error) {
		if !t.Paused(h.now) {
			t.PausedFrom = h.now
		}
		t.PausedUntil = until
		return t, access.Entry{At: h.now, Actor: cli, Action: "task.pause"}, nil
	}})
	require.NoError(h.t, err)
}

func TestASilenceHoldsItsTasksAndLetsThemGo(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h, ctx := newDesk(t, d), t.Context()
		tagged := func(t *sched.Task) { t.Tags = []string{"money"} }
		task := dbtest.MakeTask(t, d, dbtest.Of(h.team), tagged)
		free := dbtest.MakeTask(t, d, dbtest.Of(h.team))
		theirs := dbtest.MakeTask(t, d, tagged)
		s := h.silence(alert.SilenceSpec{Scope: alert.Scope{Kind: alert.OfTag, Value: "money"}, Lasts: 1200, Hold: true, Reason: "release 7"})
		h.silence(alert.SilenceSpec{Lasts: 1200})
		h.tick()
		require.Equal(t, later(1200), h.pausedUntil(task.Code))
		require.Zero(t, h.pausedUntil(free.Code))
		require.Zero(t, h.pausedUntil(theirs.Code))
		rows, err := d.Audit(ctx, access.Scope{All: true}, access.AuditFilter{Action: "task.pause"}, 0, 10)
		require.NoError(t, err)
		require.Len(t, rows, 1)
		require.Equal(t, "ax", rows[0].Actor.Name)
		require.Equal(t, "Silence 1: release 7", rows[0].Reason)
		h.now = later(60)
		h.tick()
		require.Equal(t, 1, auditOf(t, d, "task.pause"), "once")

		late := dbtest.MakeTask(t, d, dbtest.Of(h.team), tagged)
		h.tick()
		require.Equal(t, later(1200), h.pausedUntil(late.Code), "made meanwhile")
		_, err = h.Silences.EndNow(ctx, h.as(access.Operator), s.ID, "")
		require.NoError(t, err)
		h.tick()
		require.Zero(t, h.pausedUntil(task.Code))
		require.Zero(t, h.pausedUntil(late.Code))
		require.Equal(t, 2, auditOf(t, d, "task.resume"))
		require.Zero(t, count(t, d, "held_tasks"))
	})
}

// What waits for a held task is due as soon as the silence is ended.
func TestWhatWaitedIsDueWhenASilenceIsEnded(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h := newDesk(t, d)
		task := dbtest.MakeTask(t, d, dbtest.Of(h.team))
		s := h.silence(alert.SilenceSpec{Lasts: 1200, Hold: true})
		h.tick()
		in := dbtest.MakeInstance(t, d, task)
		exec(t, d, "UPDATE instances SET defers=1, due_at=?, look_at=? WHERE id=?", later(1200).UnixMilli(), later(1200).UnixMilli(), in.ID)
		h.now = later(60)
		_, err := h.Silences.EndNow(t.Context(), h.as(access.Operator), s.ID, "")
		require.NoError(t, err)
		h.tick()
		var due int64
		require.NoError(t, d.View(t.Context()).Raw("SELECT due_at FROM instances WHERE id=?", in.ID).Scan(&due).Error)
		require.Equal(t, later(60).UnixMilli(), due)
	})
}

func TestAHoldEndsByItselfAndComesAgain(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h := newDesk(t, d)
		task := dbtest.MakeTask(t, d, dbtest.Of(h.team))
		h.silence(alert.SilenceSpec{Scope: alert.Scope{Kind: alert.OfTask, Value: task.Code}, Cron: "0 2 * * *", Zone: "Asia/Shanghai", Lasts: 1800, Hold: true})
		two := time.Date(2026, 12, 1, 18, 0, 0, 0, time.UTC) // 02:00 in Shanghai
		for range 3 {
			h.now = two.Add(-time.Minute)
			h.tick()
			require.Zero(t, count(t, d, "held_tasks"))
			h.now = two.Add(-20 * time.Second)
			h.tick()
			require.Zero(t, h.pausedUntil(task.Code), "not before it begins")
			h.now = two
			require.Equal(t, two.Add(30*time.Minute), h.pausedUntil(task.Code), "with the very second, before any tick")
			h.tick()
			h.now = two.Add(30 * time.Minute)
			require.Zero(t, h.pausedUntil(task.Code))
			h.tick()
			require.Zero(t, count(t, d, "held_tasks"))
			two = two.AddDate(0, 0, 1)
		}
		require.Equal(t, 3, auditOf(t, d, "task.pause"))
		require.Zero(t, auditOf(t, d, "task.resume"))
	})
}

// Whatever a person decides of the task's pause stands.
func TestAPersonHasTheLastWordOverAHold(t *testing.T) {
	for name, c := range map[string]struct {
		before  time.Duration // pause of a person before the silence; 0: none
		during  time.Duration // and while it holds, from now; -1: they resume
		held    time.Duration // until when it is paused while held, 0: not at all
		endedAt time.Duration // and after the silence was ended early
	}{
		"a longer pause stays":                {before: 2 * time.Hour, held: 2 * time.Hour, endedAt: 2 * time.Hour},
		"a shorter one comes back":            {before: 10 * time.Minute, held: 20 * time.Minute, endedAt: 10 * time.Minute},
		"a pause made longer meanwhile stays": {during: 2 * time.Hour, held: 2 * time.Hour, endedAt: 2 * time.Hour},
		"who resumes it is not overruled":     {during: -1, held: 0, endedAt: 0},
		"nobody else":                         {held: 20 * time.Minute, endedAt: 0},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				h := newDesk(t, d)
				task := dbtest.MakeTask(t, d, dbtest.Of(h.team))
				until := func(d time.Duration) time.Time {
					if d == 0 {
						return time.Time{}
					}
					return t0.Add(d)
				}
				if c.before != 0 {
					h.personPauses(task.Code, t0.Add(c.before))
				}
				s := h.silence(alert.SilenceSpec{Lasts: 1200, Hold: true})
				h.tick()
				h.now = later(30)
				switch {
				case c.during > 0:
					h.personPauses(task.Code, t0.Add(c.during))
				case c.during < 0:
					h.personPauses(task.Code, h.now)
				}
				h.tick()
				require.Equal(t, until(c.held), h.pausedUntil(task.Code))
				h.now = later(60)
				_, err := h.Silences.EndNow(t.Context(), h.as(access.Operator), s.ID, "")
				require.NoError(t, err)
				h.tick()
				require.Equal(t, until(c.endedAt), h.pausedUntil(task.Code))
				require.Zero(t, count(t, d, "held_tasks"))
			})
		})
	}
}

// Of two silences that hold a task, the one that is left keeps it.
func TestTwoSilencesHoldOneTask(t *testing.T) {
	for name, c := range map[string]struct {
		lasts [2]int // seconds
		first int    // which is ended first
		left  float64
	}{
		"the short one first": {[2]int{600, 1200}, 0, 1200},
		"the long one first":  {[2]int{600, 1200}, 1, 600},
		"made the other way":  {[2]int{1200, 600}, 0, 600},
		"both alike":          {[2]int{600, 600}, 0, 600},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				h := newDesk(t, d)
				task := dbtest.MakeTask(t, d, dbtest.Of(h.team))
				var both [2]alert.Silence
				for i, lasts := range c.lasts {
					both[i] = h.silence(alert.SilenceSpec{Lasts: lasts, Hold: true})
					h.tick()
				}
				require.Equal(t, later(float64(max(c.lasts[0], c.lasts[1]))), h.pausedUntil(task.Code))
				h.now = later(60)
				for i, left := range []time.Time{later(c.left), {}} {
					_, err := h.Silences.EndNow(t.Context(), h.as(access.Operator), both[(c.first+i)%2].ID, "")
					require.NoError(t, err)
					h.tick()
					require.Equal(t, left, h.pausedUntil(task.Code), i)
				}
			})
		})
	}
}

func TestManyNodesHoldATaskOnce(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h := newDesk(t, d)
		for range 5 {
			dbtest.MakeTask(t, d, dbtest.Of(h.team))
		}
		gone := dbtest.MakeTask(t, d, dbtest.Of(h.team))
		s := h.silence(alert.SilenceSpec{Lasts: 1200, Hold: true})
		together := func() {
			var done sync.WaitGroup
			for range 4 {
				done.Go(func() {
					_, err := h.Holder.Tick(t.Context())
					require.NoError(t, err)
				})
			}
			done.Wait()
		}
		together()
		require.Equal(t, 6, auditOf(t, d, "task.pause"))
		require.Equal(t, 6, count(t, d, "held_tasks"))
		exec(t, d, "UPDATE tasks SET archived_at=1, enabled=0 WHERE id=?", gone.ID)
		_, err := h.Silences.EndNow(t.Context(), h.as(access.Operator), s.ID, "")
		require.NoError(t, err)
		together()
		require.Equal(t, 5, auditOf(t, d, "task.resume"), "an archived task is left alone")
		require.Zero(t, count(t, d, "held_tasks"))
	})
}

// The alert level of a task is read without its whole definition, whatever
// stands in that.
func TestMarksOfTasksTellTheirLevel(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h, ctx := newDesk(t, d), t.Context()
		lies := json.RawMessage(`{"alert_level":"none","policy":{"alert_level":"none"}}`)
		level := func(l sched.AlertLevel) dbtest.TaskOption {
			return func(t *sched.Task) { t.Spec.Policy.AlertLevel, t.Spec.Payload = l, lies }
		}
		want := map[string]sched.AlertLevel{}
		for _, l := range []sched.AlertLevel{sched.AlertP1, sched.AlertP2, sched.AlertNone} {
			want[dbtest.MakeTask(t, d, dbtest.Of(h.team), level(l)).Code] = l
		}
		headers := dbtest.MakeTask(t, d, dbtest.Of(h.team), level(sched.AlertP1), func(t *sched.Task) {
			t.Spec.Target.URL = `http://127.0.0.1/?"alert_level":"none"`
			t.Spec.Target.Headers = map[string]string{"Alert_level": "none", "X": `"alert_level":"none"`}
		})
		want[headers.Code] = sched.AlertP1
		whole := dbtest.MakeTask(t, d, dbtest.Of(h.team), func(t *sched.Task) {
			t.Name, t.Group, t.Owner, t.Tags, t.Queue = "名", "g", "ada", []string{"a", "b"}, "bulk"
		})
		want[whole.Code] = sched.AlertP2
		tatters := dbtest.MakeTask(t, d, dbtest.Of(h.team))
		want[tatters.Code] = sched.AlertP2
		exec(t, d, "UPDATE tasks SET spec='{' WHERE id=?", tatters.ID)
		archived := dbtest.MakeTask(t, d, dbtest.Of(h.team))
		exec(t, d, "UPDATE tasks SET archived_at=1, enabled=0 WHERE id=?", archived.ID)
		marks, err := d.TaskMarks(ctx)
		require.NoError(t, err)
		got := map[string]sched.AlertLevel{}
		for _, m := range marks {
			got[m.Code] = m.Level
			if m.ID == whole.ID {
				require.Equal(t, alert.TaskMark{
					ID: whole.ID, TeamID: h.team.ID, Code: whole.Code, Name: "名", Group: "g", Tags: []string{"a", "b"}, Owner: "ada", Queue: "bulk", Level: sched.AlertP2,
				}, m)
			}
		}
		require.Equal(t, want, got)
		exec(t, d, "DELETE FROM tasks WHERE id=?", tatters.ID)
	})
}
