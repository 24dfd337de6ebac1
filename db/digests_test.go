package db_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/alert"
	"ax/db"
	"ax/db/dbtest"
)

// endAt stores instances that ended in a state at a moment.
func endAt(t *testing.T, d *db.DB, makeOne func() string, state string, n int, moment time.Time) {
	t.Helper()
	for range n {
		exec(t, d, "UPDATE instances SET state=?, attempt=1, finished_at=? WHERE id=?", state, db.At(moment), makeOne())
	}
}

func TestADigestsFiguresAreOfItsDayAndTeam(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		team := dbtest.MakeTeam(t, d)
		a, b, foreign := dbtest.MakeTask(t, d, dbtest.Of(team)), dbtest.MakeTask(t, d, dbtest.Of(team)), dbtest.MakeTask(t, d)
		of := func(n int) func() string {
			return func() string {
				switch n {
				case 0:
					return dbtest.MakeInstance(t, d, a).ID
				case 1:
					return dbtest.MakeInstance(t, d, b).ID
				}
				return dbtest.MakeInstance(t, d, foreign).ID
			}
		}
		// A day of 23 hours that begins a quarter past the hour.
		from := t0.Truncate(time.Hour).Add(-23*time.Hour - 45*time.Minute)
		to := from.Add(23 * time.Hour)
		endAt(t, d, of(0), "succeeded", 3, from)
		endAt(t, d, of(0), "failed", 1, from.Add(10*time.Hour))
		endAt(t, d, of(1), "lost", 1, from.Add(time.Minute))
		endAt(t, d, of(1), "timed_out", 1, to.Add(-time.Minute))
		endAt(t, d, of(1), "skipped", 2, from.Add(5*time.Hour))
		endAt(t, d, of(0), "failed", 4, from.Add(-time.Minute))
		endAt(t, d, of(0), "failed", 5, to)
		endAt(t, d, of(2), "failed", 6, from.Add(time.Hour))
		exec(t, d, "INSERT INTO settings (name, value) VALUES ('stats.rolled', ?)", from.Add(-time.Hour).UTC().Format(time.RFC3339))
		check := func(when string) {
			s, name, err := d.DigestFigures(t.Context(), team.ID, from, to)
			require.NoError(t, err)
			require.Equal(t, team.Name, name)
			require.Equal(t, []int{3, 3, 2}, []int{s.Good, s.Bad, s.NotRun}, when)
			require.Equal(t, []alert.SummaryLine{{Name: b.Name, N: 2, More: b.Code}, {Name: a.Name, N: 1, More: a.Code}}, s.Worst, when)
			all, name, err := d.DigestFigures(t.Context(), 0, from, to)
			require.NoError(t, err)
			require.Empty(t, name)
			require.Equal(t, 9, all.Bad, "of the installation: everybody’s")
		}
		for _, now := range []time.Time{to.Add(9 * time.Minute), to.Add(9 * time.Hour)} {
			for more := true; more; {
				var err error
				more, err = d.RollUp(t.Context(), now)
				require.NoError(t, err)
			}
			check(now.Sub(to).String())
		}
		exec(t, d, "DELETE FROM stats_minute WHERE minute_at>=? AND minute_at<?", db.At(from.Truncate(time.Hour).Add(time.Hour)), db.At(to.Truncate(time.Hour)))
		check("the hours are read")
	})
}

func TestADigestsLettersAndAlertsAreOfItsDay(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		team := dbtest.MakeTeam(t, d)
		task, second := dbtest.MakeTask(t, d, dbtest.Of(team)), dbtest.MakeTask(t, d, dbtest.Of(team))
		from, to := t0.Add(-24*time.Hour), t0
		id := 0
		letter := func(of int64, team int64, print string, opened time.Time, closed time.Time) {
			id++
			status := "open"
			if !closed.IsZero() {
				status = "solved"
			}
			exec(t, d, "INSERT INTO dead_letters (id, task_id, team_id, biz_id, instance_id, status, outcome, error, fingerprint, opened_at, closed_at)"+
				" VALUES (?,?,?,?,'i',?,'failed',?,?,?,?)", id, of, team, fmt.Sprint(id), status, fmt.Sprintf("%s %d", print, id), print, db.At(opened), db.At(closed))
		}
		long, in := from.Add(-100*time.Hour), from.Add(time.Hour)
		letter(task.ID, team.ID, "one", long, time.Time{})
		letter(second.ID, team.ID, "one", in, time.Time{})
		letter(task.ID, team.ID, "two", in, time.Time{})
		letter(task.ID, team.ID, "two", in, in)                          // closed on the day
		letter(task.ID, team.ID, "three", long, in)                      // closed on the day
		letter(task.ID, team.ID, "four", in, to)                         // closed later: open at the end
		letter(task.ID, team.ID, "five", to, time.Time{})                // later
		letter(task.ID, team.ID+1, "six", in, time.Time{})               // of others
		letter(task.ID, team.ID, "seven", long, from.Add(-99*time.Hour)) // long ago

		incident := func(rule string, team int64, opened time.Time) {
			i := anIncident(dbtest.ID(), "a")
			i.ID, i.RuleName, i.TeamID, i.OpenedAt = dbtest.IDAt(opened.Add(-alert.MaxFor)), rule, team, opened
			require.True(t, record(t, d, alert.IncidentChange{Is: i}))
		}
		incident("A", team.ID, from)
		incident("B", team.ID, in)
		incident("B", team.ID, to.Add(-time.Second))
		incident("B", team.ID, to)
		incident("C", team.ID, from.Add(-time.Second))
		incident("D", team.ID+1, in)

		s, _, err := d.DigestFigures(t.Context(), team.ID, from, to)
		require.NoError(t, err)
		require.Equal(t, []int{4, 2, 4}, []int{s.Opened, s.Closed, s.Open})
		require.Equal(t, long, s.Oldest.UTC())
		require.Equal(t, []alert.SummaryLine{
			{Name: "one 2", N: 2}, {Name: "four 6", N: 1, More: task.Code}, {Name: "two 3", N: 1, More: task.Code},
		}, s.Letters)
		require.Equal(t, []alert.SummaryLine{{Name: "B", N: 2}, {Name: "A", N: 1}}, s.Alerts)
	})
}

func TestWhetherAChannelWasTold(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ch := makeChannel(t, d, alert.Slack)
		require.NoError(t, d.InsertDeliveries(t.Context(), []alert.Delivery{aDelivery(ch, "digest.daily/2026-12-01")}))
		for dedupe, want := range map[string]bool{"digest.daily/2026-12-01": true, "digest.daily/2026-12-02": false} {
			told, err := d.Told(t.Context(), ch, dedupe)
			require.NoError(t, err)
			require.Equal(t, want, told)
		}
	})
}
