package db

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"ax/app/alert"
)

// start is the first start of an instance that ended. All in ms.
type start struct {
	task, began, ended int64
	lag                int64 // below 0 where a clock was set
}

// lateness is how late the starts of a task were.
type lateness struct {
	n     int
	worst int64
	late  []int // by step: those that were at least so late
}

// lags are those of tasks, counted by steps in ms.
type lags struct {
	steps  []int64
	lowest int64
	of     map[int64]*lateness
}

func newLags(seconds []float64) lags {
	l := lags{of: map[int64]*lateness{}}
	for _, s := range seconds {
		l.steps = append(l.steps, int64(s*1000))
	}
	if len(l.steps) > 0 {
		l.lowest = slices.Min(l.steps)
	}
	return l
}

func (l lags) add(task, lag int64) {
	x := l.of[task]
	if x == nil {
		x = &lateness{worst: lag, late: make([]int, len(l.steps))}
		l.of[task] = x
	}
	x.n++
	x.worst = max(x.worst, lag)
	if lag < l.lowest {
		return // as nearly all
	}
	for i, s := range l.steps {
		if lag >= s {
			x.late[i]++
		}
	}
}

// readLags counts by task the first starts of the window, and what still waits:
// it is late by now already.
func (d *reader) readLags(ctx context.Context, q alert.Question, now time.Time) ([]alert.Reading, error) {
	teams, err := d.teamsOf(ctx)
	if err != nil {
		return nil, err
	}
	sum, since := newLags(q.Steps), at(now.Add(-min(q.Window, MaxLagWindow)))
	ended, err := d.starts(ctx, since.Time)
	if err != nil {
		return nil, err
	}
	from := since.UnixMilli()
	for _, s := range ended {
		if s.ended >= from && s.began >= from {
			sum.add(s.task, s.lag)
		}
	}
	if err := d.addOpen(ctx, sum, since, at(now)); err != nil {
		return nil, err
	}
	out := make([]alert.Reading, 0, len(sum.of))
	for id, x := range sum.of {
		out = append(out, alert.Reading{TaskID: id, TeamID: teams[id], N: x.n, Late: x.late, Value: max(float64(x.worst)/1000, 0)})
	}
	return out, nil
}

// startsOf lists the starts of what ended since a moment.
func (d *DB) startsOf(ctx context.Context, since time.Time) ([]start, error) {
	rows, err := d.view(ctx).Raw("SELECT task_id, started_at, finished_at, started_at-wanted_at FROM "+d.dialect.byIndex("instances", "instances_finished")+
		" WHERE finished_at>=? AND started_at IS NOT NULL", at(since)).Rows()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []start
	for rows.Next() {
		var s start
		if err := rows.Scan(&s.task, &s.began, &s.ended, &s.lag); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// addOpen adds what has begun since a moment and has not ended, and what waits.
func (d *DB) addOpen(ctx context.Context, to lags, since, now Millis) error {
	rows, err := d.view(ctx).Raw("SELECT task_id, started_at-wanted_at FROM instances WHERE state IN ('running','awaiting','retrying') AND started_at>=?"+
		" UNION ALL SELECT task_id, ?-wanted_at FROM "+d.dialect.byIndex("instances", "instances_state_due")+" WHERE state IN ('pending','queued') AND due_at<=? AND attempt=0",
		since, now, now).Rows()
	if err != nil {
		return err
	}
	return eachPair(rows, to.add)
}

// eachPair gives two numbers of each row, and closes the rows.
func eachPair(rows *sql.Rows, do func(a, b int64)) error {
	defer rows.Close()
	for rows.Next() {
		var a, b int64
		if err := rows.Scan(&a, &b); err != nil {
			return err
		}
		do(a, b)
	}
	return rows.Err()
}
