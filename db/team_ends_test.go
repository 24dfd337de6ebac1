package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

func TestEndsAreCountedByTeamInTheMinutesAskedFor(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		alpha, beta := dbtest.MakeTeam(t, d), dbtest.MakeTeam(t, d)
		base := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
		for i, r := range []struct {
			at    time.Time
			team  int64
			state string
			n     int
		}{
			{base.Add(-time.Minute), alpha.ID, "succeeded", 100},
			{base, alpha.ID, "succeeded", 3},
			{base, alpha.ID, "retried", 2},
			{base.Add(time.Minute), alpha.ID, "failed", 1},
			{base.Add(2 * time.Minute), alpha.ID, "succeeded", 100},
		} {
			exec(t, d, "INSERT INTO stats_minute (task_id, minute_at, state, team_id, n, run_sum_ms, run_max_ms, lag_sum_ms, lag_max_ms) VALUES (?,?,?,?,?,0,0,0,0)",
				int64(i+1), db.At(r.at), r.state, r.team, r.n)
		}
		got, err := d.EndedByTeam(t.Context(), base, base.Add(2*time.Minute))
		require.NoError(t, err)
		sums := map[string]int{}
		for _, e := range got {
			sums[e.Team+" "+string(e.State)] += e.N
		}
		require.Equal(t, 5, sums[alpha.Code+" "+string(sched.Succeeded)], "with what succeeded after a retry")
		require.Equal(t, 1, sums[alpha.Code+" "+string(sched.Failed)])
		require.Contains(t, sums, beta.Code+" ", "a team of which nothing ended is told of too")
	})
}

func TestTheLedgerSaysHowFarFiguresAre(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		at, err := d.RolledUp(t.Context())
		require.NoError(t, err)
		require.Zero(t, at)
		now := time.Date(2026, 12, 1, 8, 0, 30, 0, time.UTC)
		for more := true; more; {
			more, err = d.RollUp(t.Context(), now)
			require.NoError(t, err)
		}
		at, err = d.RolledUp(t.Context())
		require.NoError(t, err)
		require.Equal(t, now.Truncate(time.Minute), at)
		require.Len(t, d.Pools(), 2)
	})
}
