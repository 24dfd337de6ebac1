package db

import (
	"context"
	"time"

	"ax/app/sched"
)

// QueueDepths gives, by queue, the deepest samples of each step since a moment,
// the oldest first. Steps lie on the grid that the moment is on; one without a
// sample is missing.
func (d *DB) QueueDepths(ctx context.Context, from time.Time, step time.Duration) (map[string][]sched.QueueSample, error) {
	var rows []struct {
		Queue   string
		Moment  Millis
		Due     int
		Pending *int
	}
	const moment = "at - (at - ?) % ?"
	begin, width := from.UnixMilli(), step.Milliseconds()
	err := d.view(ctx).Raw("SELECT queue, "+moment+" AS moment, MAX(due) AS due, MAX(pending) AS pending FROM queue_samples WHERE at>=?"+
		" GROUP BY queue, "+moment+" ORDER BY queue, moment", begin, width, at(from), begin, width).Scan(&rows).Error
	if err != nil {
		return nil, reading("samples of queues", err)
	}
	out := map[string][]sched.QueueSample{}
	for _, r := range rows {
		s := sched.QueueSample{At: r.Moment.Time, Due: r.Due, Known: r.Pending != nil}
		if s.Known {
			s.Pending = *r.Pending
		}
		out[r.Queue] = append(out[r.Queue], s)
	}
	return out, nil
}

// QueueRates counts what ended from a moment until another (the zero time: until
// now), by the queue that the task has now.
func (d *DB) QueueRates(ctx context.Context, from, to time.Time) (map[string]sched.QueueRate, error) {
	w := &where{}
	w.and("s.minute_at>=?", at(from))
	if !to.IsZero() {
		w.and("s.minute_at<?", at(to))
	}
	var rows []struct {
		Queue string
		State string
		N     int
	}
	err := d.view(ctx).Raw("SELECT t.queue, s.state, SUM(s.n) AS n FROM stats_minute s JOIN tasks t ON t.id=s.task_id"+w.sql()+
		" GROUP BY t.queue, s.state", w.args...).Scan(&rows).Error
	if err != nil {
		return nil, reading("rates of queues", err)
	}
	states := map[string][]statRow{}
	out := map[string]sched.QueueRate{}
	for _, r := range rows {
		states[r.Queue] = append(states[r.Queue], statRow{State: r.State, N: r.N})
		rate := out[r.Queue]
		rate.All += r.N
		out[r.Queue] = rate
	}
	for queue, rows := range states {
		rate := out[queue]
		rate.Rate = rateOf(rows)
		out[queue] = rate
	}
	return out, nil
}
