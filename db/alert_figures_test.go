package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/alert"
	"ax/db"
	"ax/db/dbtest"
)

func TestFiguresOfAlertsAreWhatFiresAndWhatWaits(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		now := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
		got, err := d.AlertFigures(t.Context(), now)
		require.NoError(t, err)
		require.Equal(t, alert.Figures{Firing: map[alert.Level]int{}}, got)

		for i, state := range []string{"firing", "firing", "over", "pending"} {
			exec(t, d, "INSERT INTO incidents (id, rule_id, rule_name, metric, team_id, fingerprint, state, level, threshold, value, worst, since_at) VALUES (?,1,'r','m',1,?,?,?,0,0,0,0)",
				dbtest.ID(), dbtest.ID(), state, []string{"P1", "P2"}[i%2])
		}
		for i, r := range []struct {
			state        string
			created, due time.Duration
		}{
			{"waiting", -10 * time.Minute, time.Minute}, {"waiting", -time.Minute, 0}, {"delivered", -time.Hour, -time.Minute},
			{"refused", -2 * time.Hour, -time.Minute}, {"refused", -3 * time.Hour, -2 * time.Hour},
		} {
			exec(t, d, "INSERT INTO deliveries (id, team_id, channel_id, dedupe, kind, message, state, created_at, due_at) VALUES (?,1,'c',?,'opened','{}',?,?,?)",
				dbtest.ID(), string(rune('a'+i)), r.state, db.At(now.Add(r.created)), db.At(now.Add(r.due)))
		}
		got, err = d.AlertFigures(t.Context(), now)
		require.NoError(t, err)
		require.Equal(t, alert.Figures{Firing: map[alert.Level]int{"P1": 1, "P2": 1}, Waiting: 2, Oldest: now.Add(-10 * time.Minute), Refused: 1}, got)
	})
}
