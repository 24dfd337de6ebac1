package db_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// endedSince asks the ledger itself what ended since a moment, by the team
// that a task has now.
func endedSince(t *testing.T, d *db.DB, where string, since time.Time, args ...any) map[sched.State]int {
	t.Helper()
	var rows []struct {
		State string
		N     int
	}
	require.NoError(t, d.View(t.Context()).Raw("SELECT i.state AS state, COUNT(*) AS n FROM instances i JOIN tasks t ON t.id=i.task_id"+
		" WHERE i.finished_at>=? AND "+where+" GROUP BY i.state", append([]any{db.At(since)}, args...)...).Scan(&rows).Error)
	out := map[sched.State]int{}
	for _, r := range rows {
		out[sched.State(r.State)] = r.N
	}
	return out
}

// The figures of every window are those of the ledger, whatever ended late and
// whichever task was moved: of all, of a team and of a task.
func TestFiguresOfAnyWindowAreTheLedgers(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		r := rand.New(rand.NewPCG(7, 8))
		tasks, teams := teamTasks(t, d), []access.Team{dbtest.MakeTeam(t, d), dbtest.MakeTeam(t, d)}
		now, byHours := later(0), 0
		for turn := range 40 {
			now = now.Add(time.Duration(1+r.IntN(9*3600)) * time.Second)
			for _, e := range anyEnded(r, tasks, 20, now.Add(-170*time.Second), now) {
				e.put(t, d)
			}
			if i := r.IntN(len(tasks)); turn%4 == 1 {
				tasks[i] = move(t, d, tasks[i], teams[r.IntN(2)], now)
			}
			if turn%2 == 1 {
				_, err := d.FollowMoves(t.Context(), now)
				require.NoError(t, err)
			}
			rollUp(t, d, now)
			for range 3 {
				since := now.Add(-time.Duration(r.IntN(7*24*60)) * time.Minute).Truncate(time.Minute)
				task, team := tasks[r.IntN(len(tasks))], teams[r.IntN(2)].ID
				what := fmt.Sprintf("turn %d, %s since %s", turn, now, since)
				got, err := d.StateCounts(t.Context(), all, 0, since)
				require.NoError(t, err)
				require.Equal(t, endedSince(t, d, "1=1", since), got, what)
				got, err = d.StateCounts(t.Context(), access.Scope{Teams: []int64{team}}, 0, since)
				require.NoError(t, err)
				require.Equal(t, endedSince(t, d, "t.team_id=?", since, team), got, what)
				want := endedSince(t, d, "t.id=?", since, task.ID)
				got, err = d.StateCounts(t.Context(), all, task.ID, since)
				require.NoError(t, err)
				require.Equal(t, want, got, what)
				rate, err := d.TaskRate(t.Context(), task.ID, since)
				require.NoError(t, err)
				require.Equal(t, sched.Rate{Succeeded: want[sched.Succeeded], Bad: want[sched.Failed] + want[sched.TimedOut] + want[sched.Lost]}, rate, what)
				if now.Sub(since) > 26*time.Hour {
					byHours++
				}
			}
		}
		require.Greater(t, byHours, 20, "hardly any window was read by hours")
		follow(t, d, now.Add(3*time.Minute))
		var stale int
		require.NoError(t, d.View(t.Context()).Raw("SELECT COUNT(*) FROM stats_hour h JOIN tasks t ON t.id=h.task_id WHERE h.team_id<>t.team_id").Scan(&stale).Error)
		require.Zero(t, stale, "hours of a team that the task left")
	})
}

// An end that was committed later than the minutes look back is counted when
// its hour is over.
func TestAnHourTakesWhatItsMinutesMissed(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d)
		rollUp(t, d, later(4000))
		ended{task, "failed", 1, later(3580), later(3581), later(3590)}.put(t, d)
		rollUp(t, d, later(4190))
		require.Empty(t, rolled(t, d), "too late for its minute")
		rollUp(t, d, later(4200))
		require.Len(t, rolled(t, d), 1)
		require.Equal(t, 1, count(t, d, "stats_hour"))
		exec(t, d, "UPDATE settings SET value=? WHERE name='stats.hours'", t0.Format(time.RFC3339))
		rollUp(t, d, later(4201))
		require.Equal(t, 1, count(t, d, "stats_hour"), "doing it again changes nothing")
	})
}

// Figures from before there were hours become hours, and the ledger isn't asked
// for what may have been pruned.
func TestOldMinutesBecomeHours(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d)
		for i := range 3 {
			exec(t, d, "INSERT INTO stats_minute (task_id, minute_at, state, team_id, n) VALUES (?,?,'failed',1,2)", task.ID, db.At(t0.Add(time.Duration(-20*24*60+i*59)*time.Minute)))
		}
		rollAll(t, d, t0)
		require.Equal(t, 2, count(t, d, "stats_hour"))
		rate, err := d.TaskRate(t.Context(), task.ID, t0.AddDate(0, 0, -21))
		require.NoError(t, err)
		require.Equal(t, sched.Rate{Bad: 6}, rate)

		require.NoError(t, d.PruneStats(t.Context(), t0))
		require.Zero(t, count(t, d, "stats_minute"))
		rate, err = d.TaskRate(t.Context(), task.ID, t0.Add(-20*24*time.Hour).Add(59*time.Minute))
		require.NoError(t, err)
		require.Equal(t, sched.Rate{Bad: 6}, rate, "the window begins with its whole first hour")
		require.NoError(t, d.PruneStats(t.Context(), t0.AddDate(0, 0, 379)))
		require.Equal(t, 2, count(t, d, "stats_hour"))
		require.NoError(t, d.PruneStats(t.Context(), t0.AddDate(0, 0, 381)))
		require.Zero(t, count(t, d, "stats_hour"))
	})
}

func rollAll(t *testing.T, d *db.DB, now time.Time) {
	t.Helper()
	for more := true; more; {
		var err error
		more, err = d.RollUp(t.Context(), now)
		require.NoError(t, err)
	}
}

// A minute whose hour doesn't stand is kept, however old.
func TestNoMinuteIsPrunedBeforeItsHourStands(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d)
		for _, days := range []int{-9, 0} {
			exec(t, d, "INSERT INTO stats_minute (task_id, minute_at, state, team_id, n) VALUES (?,?,'failed',1,2)", task.ID, db.At(t0.AddDate(0, 0, days)))
		}
		require.NoError(t, d.PruneStats(t.Context(), t0.AddDate(1, 0, 0)))
		require.Equal(t, 2, count(t, d, "stats_minute"), "no hour stands")
		exec(t, d, "INSERT INTO settings (name, value) VALUES ('stats.hours', ?)", t0.Format(time.RFC3339))
		require.NoError(t, d.PruneStats(t.Context(), t0.AddDate(1, 0, 0)))
		require.Equal(t, 1, count(t, d, "stats_minute"))
	})
}
