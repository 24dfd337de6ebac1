package db

import (
	"context"
	"fmt"
	"math"
	"time"

	"ax/app/alert"
	"ax/app/calendar"
)

// readDepth counts by queue and team what is due and has not begun; the oldest
// of it is since when.
func (d *DB) readDepth(ctx context.Context, _ alert.Question, now time.Time) ([]alert.Reading, error) {
	var rows []struct {
		Queue  string
		TeamID int64
		N      int
		Oldest Millis
	}
	err := d.view(ctx).Raw("SELECT queue, team_id, COUNT(*) AS n, MIN(due_at) AS oldest FROM instances WHERE state IN ? AND due_at<=? GROUP BY queue, team_id",
		claimableStates, at(now)).Scan(&rows).Error
	out := make([]alert.Reading, len(rows))
	for i, r := range rows {
		out[i] = alert.Reading{TeamID: r.TeamID, Subject: alert.Subject{Kind: alert.QueueSubject, Key: r.Queue, Name: r.Queue}, Value: float64(r.N), N: r.N, Since: r.Oldest.Time}
	}
	return out, err
}

// readNodes tells how long each node that did not stop in order has been
// silent. Silence counts from when the others have beaten without a gap: while
// the ledger was away nobody could. A node whose host has begun anew is over.
func (d *DB) readNodes(ctx context.Context, _ alert.Question, now time.Time) ([]alert.Reading, error) {
	var rows []nodeRow
	err := d.view(ctx).Raw("SELECT n.* FROM nodes n WHERE n.closed_at IS NULL AND n.beat_at>=?"+
		" AND NOT EXISTS (SELECT 1 FROM nodes m WHERE m.host=n.host AND m.roles=n.roles AND m.id<>n.id AND m.started_at>n.beat_at) ORDER BY n.id", at(now.Add(-offlineFor))).Scan(&rows).Error
	if err != nil {
		return nil, err
	}
	steady := steadySince(rows, now)
	if steady.IsZero() {
		return nil, nil
	}
	out := make([]alert.Reading, len(rows))
	for i, r := range rows {
		since := r.BeatAt.Time
		if steady.After(since) {
			since = steady
		}
		out[i] = alert.Reading{Subject: nodeSubject(r), Value: max(now.Sub(since).Seconds(), 0), Since: r.BeatAt.Time}
	}
	return out, nil
}

// steadySince is since when some node has beaten without a gap; zero: none does.
func steadySince(rows []nodeRow, now time.Time) (steady time.Time) {
	for _, r := range rows {
		if r.DeadAt.IsZero() && now.Sub(r.BeatAt.Time) < sampleEvery && (steady.IsZero() || r.SteadyAt.Before(steady)) {
			steady = r.SteadyAt.Time
		}
	}
	return steady
}

func nodeSubject(r nodeRow) alert.Subject {
	return alert.Subject{Kind: alert.NodeSubject, Key: r.ID, Name: r.Host}
}

// readOffsets tells how far the clock of each live node is from the ledger's,
// in either direction.
func (d *DB) readOffsets(ctx context.Context, _ alert.Question, _ time.Time) ([]alert.Reading, error) {
	var rows []nodeRow
	err := d.view(ctx).Raw("SELECT * FROM nodes WHERE closed_at IS NULL AND dead_at IS NULL ORDER BY id").Scan(&rows).Error
	out := make([]alert.Reading, len(rows))
	for i, r := range rows {
		offset := float64(r.ClockOffsetMs) / 1000
		out[i] = alert.Reading{Subject: nodeSubject(r), Value: math.Abs(offset), Detail: fmt.Sprintf("%+.1f s", offset)}
	}
	return out, err
}

// readPlanning tells how long the earliest due slot waits to be planned; tasks
// that can't be planned say so themselves.
func (d *DB) readPlanning(ctx context.Context, _ alert.Question, now time.Time) ([]alert.Reading, error) {
	var rows []taskRow
	err := d.view(ctx).Raw("SELECT code, next_fire_at FROM tasks WHERE enabled=1 AND next_fire_at<=? AND plan_error='' ORDER BY next_fire_at LIMIT 1", at(now)).Scan(&rows).Error
	out := alert.Reading{Subject: alert.Subject{Kind: alert.HouseSubject, Key: "planning"}}
	if len(rows) > 0 {
		out.Value, out.Since, out.Detail = now.Sub(rows[0].NextFireAt.Time).Seconds(), rows[0].NextFireAt.Time, rows[0].Code
	}
	return []alert.Reading{out}, err
}

// readCalendars tells how many days of data each calendar has left that enabled
// tasks go by, once for each of their teams.
func (d *DB) readCalendars(ctx context.Context, _ alert.Question, now time.Time) ([]alert.Reading, error) {
	var rows []struct {
		ID, TeamID int64
		Code, Name string
	}
	err := d.view(ctx).Raw("SELECT DISTINCT c.id, c.code, c.name, t.team_id FROM calendars c JOIN calendar_tasks n ON n.code=c.code JOIN tasks t ON t.id=n.task_id" +
		" WHERE t.enabled=1 AND t.archived_at IS NULL ORDER BY c.code, t.team_id").Scan(&rows).Error
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	used := map[int64]*calendar.Calendar{}
	ids := make([]int64, 0, len(rows))
	for _, r := range rows {
		used[r.ID] = &calendar.Calendar{Listed: map[calendar.Day]calendar.Entry{}}
		ids = append(ids, r.ID)
	}
	var days []dayRow
	if err := d.view(ctx).Raw("SELECT calendar_id, day FROM calendar_days WHERE calendar_id IN ?", ids).Scan(&days).Error; err != nil {
		return nil, err
	}
	for _, day := range days {
		used[day.CalendarID].Listed[calendar.Day(day.Day)] = calendar.Entry{}
	}
	out := make([]alert.Reading, len(rows))
	for i, r := range rows {
		out[i] = alert.Reading{TeamID: r.TeamID, Subject: alert.Subject{Kind: alert.CalendarSubject, Key: r.Code, Name: r.Name}, Value: float64(used[r.ID].DaysLeft(now))}
	}
	return out, nil
}
