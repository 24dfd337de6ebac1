package db

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"ax/app/sched"
)

// EndedByTeam counts by team and state what ended in the minutes from one
// moment to before another, of which minutes are still kept (eight days). A
// team of which nothing ended has one row without a state. By the team's
// number.
func (d *DB) EndedByTeam(ctx context.Context, from, to time.Time) ([]sched.TeamEnds, error) {
	var rows []struct {
		ID    int64
		Code  string
		State *string
		N     int
	}
	err := d.view(ctx).Raw("SELECT t.id, t.code, s.state, COALESCE(SUM(s.n),0) AS n FROM teams t"+
		" LEFT JOIN stats_minute s ON s.team_id=t.id AND s.minute_at>=? AND s.minute_at<? GROUP BY t.id, t.code, s.state ORDER BY t.id",
		at(from), at(to)).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("count what ended by team: %w", away(err))
	}
	out := make([]sched.TeamEnds, len(rows))
	for i, r := range rows {
		out[i] = sched.TeamEnds{TeamID: r.ID, Team: r.Code, N: r.N}
		if r.State != nil {
			out[i].State = sched.State(*r.State)
		}
		if out[i].State == retried {
			out[i].State = sched.Succeeded
		}
	}
	return out, nil
}

// RolledUp tells up to when ends are in the figures; the zero time: nothing was
// ever rolled up.
func (d *DB) RolledUp(ctx context.Context) (time.Time, error) {
	t, err := momentOf(d.view(ctx), "", rollName)
	if err != nil {
		return t, fmt.Errorf("read how far figures are: %w", away(err))
	}
	return t, nil
}

// Pools tells how the connections of each pool are used.
func (d *DB) Pools() map[string]sql.DBStats {
	out := make(map[string]sql.DBStats, len(d.pools))
	for i, p := range d.pools {
		out[d.dialect.pools[i]] = p.Stats()
	}
	return out
}
