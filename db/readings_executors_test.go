package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/alert"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

func TestExecutorsThatFellSilentAndThatTasksMissAreRead(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		now := later(3600)
		ask := func(now time.Time) map[string]float64 {
			t.Helper()
			out := map[string]float64{}
			for _, r := range readings(t, d, alert.Question{Metric: alert.NoExecutor}, now) {
				require.Equal(t, alert.ExecutorSubject, r.Subject.Kind)
				out[r.Subject.Name] = r.Value
			}
			return out
		}
		team := dbtest.MakeTeam(t, d)
		add := func(name, address string, came, beat, closed float64) {
			e, entry := registered(team.ID, name, address, later(came))
			e.BeatAt = later(beat)
			if closed > 0 {
				e.ClosedAt = later(closed)
			}
			putExecutor(t, d, e, entry)
		}
		add("billing", "http://live", 0, 3599, 0)
		add("billing", "http://silent", 0, 3560, 0)
		add("billing", "http://left", 0, 3500, 3501)
		add("mail", "http://old-pod", 0, 3000, 0)
		add("mail", "http://new-pod", 3005, 3598, 0)
		add("labels", "http://gone", 0, 3400, 3400)
		target := func(name, kind string) func(*sched.Task) {
			return func(task *sched.Task) {
				task.TeamID, task.UpdatedAt = team.ID, t0
				task.Spec.Target = sched.Target{Kind: sched.TargetHTTP, Executor: name, Type: kind}
			}
		}
		dbtest.MakeTask(t, d, target("billing", "close-day"))
		dbtest.MakeTask(t, d, target("labels", "close-day"))
		dbtest.MakeTask(t, d, target("labels", "close-day"))
		dbtest.MakeTask(t, d, target("mail", "send"), func(task *sched.Task) { task.UpdatedAt = later(3590) })
		dbtest.MakeTask(t, d, target("never", "x"), func(task *sched.Task) { task.Enabled = false })
		require.Empty(t, ask(now), "no node beats: nothing can be said")

		dbtest.MakeNode(t, d, dbtest.Beaten(t0, later(3599)))
		require.Equal(t, map[string]float64{
			"billing http://live": 1, "billing http://silent": 40, "mail http://new-pod": 2,
			"labels/close-day": 200, "mail/send": 10,
		}, ask(now))
		exec(t, d, "UPDATE nodes SET steady_at=?", db.At(later(3595)))
		require.Equal(t, 5.0, ask(now)["billing http://silent"], "the ledger was away")
	})
}
