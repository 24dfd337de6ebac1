package main

import (
	"context"
	"fmt"
	"time"
)

// run is an end of a task's run.
type run struct {
	task int
	end  time.Time
	bad  bool
}

// id makes one that sorts by its making.
func (w *world) id() string {
	w.made++
	return fmt.Sprintf("0193868e-%04x-7000-8000-%012x", w.made>>16, w.made)
}

// run ends what of each task ends between two moments: one run a minute.
func (w *world) run(ctx context.Context, from, to time.Time) error {
	var all []run
	for i := range w.o.tasks {
		end := from.Truncate(time.Minute).Add(time.Duration(i*7919%60_000) * time.Millisecond)
		if end.Before(from) {
			end = end.Add(time.Minute)
		}
		if !end.Before(to) {
			continue
		}
		bad := i >= w.o.storm && (i < w.o.storm+w.broken || (i+end.Minute())%97 == 0)
		if i < w.o.storm && w.gone {
			continue // blow says when
		}
		all = append(all, run{i, end, bad})
	}
	return w.end(ctx, all)
}

// end makes instances that ended, with one attempt each; what ended badly is a
// dead letter of the tasks that the storm is of.
func (w *world) end(ctx context.Context, all []run) error {
	ids := make([]string, len(all))
	state := func(r run) (state, text string) {
		if r.bad {
			return "failed", "dial tcp 10.0.0.9:8080: connect: connection refused"
		}
		return "succeeded", ""
	}
	err := w.insert(ctx, "instances", "id, task_id, team_id, queue, biz_id, origin, state, attempt, wanted_at, due_at, created_at, started_at, finished_at, error", len(all), func(i int) []any {
		ids[i] = w.id()
		r, ms := all[i], all[i].end.UnixMilli()
		s, text := state(r)
		return []any{ids[i], firstTask + r.task, w.team(r.task), "default", ids[i], "schedule", s, 1, ms - 2000, ms - 2000, ms - 2000, ms - 1900, ms, text}
	})
	if err != nil {
		return err
	}
	err = w.insert(ctx, "attempts", "instance_id, no, task_id, team_id, task_version, started_at, ended_at, outcome, error", len(all), func(i int) []any {
		r, ms := all[i], all[i].end.UnixMilli()
		s, text := state(r)
		return []any{ids[i], 1, firstTask + r.task, w.team(r.task), 1, ms - 1900, ms, s, text}
	})
	if err != nil || !w.gone {
		return err
	}
	return w.insert(ctx, "dead_letters", "task_id, team_id, biz_id, instance_id, status, outcome, error, opened_at", len(all), func(i int) []any {
		r, status := all[i], "solved"
		if r.bad && r.task < w.o.storm {
			status = "open"
		}
		return []any{firstTask + r.task, w.team(r.task), ids[i], ids[i], status, "failed", "connection refused", r.end.UnixMilli()}
	})
}

// live lets the world go on by one step: runs end, nodes beat, the queue moves.
func (w *world) live(ctx context.Context, more ...run) error {
	from := w.now
	w.now = w.now.Add(step)
	if err := w.run(ctx, from, w.now); err != nil {
		return err
	}
	if len(more) > 0 {
		if err := w.end(ctx, more); err != nil {
			return err
		}
	}
	at := w.now.UnixMilli()
	for statement, args := range map[string][]any{
		"UPDATE nodes SET beat_at=?":                                                                     {at - 500},
		"UPDATE instances SET wanted_at=?, due_at=? WHERE state='queued'":                                {at - 300, at - 300},
		"UPDATE instances SET started_at=?, wanted_at=? WHERE state='running'":                           {at - 3000, at - 3100},
		"UPDATE attempts SET started_at=? WHERE ended_at IS NULL AND task_version=1 AND node_id IS NULL": {at - 3000},
	} {
		if _, err := w.sql.ExecContext(ctx, statement, args...); err != nil {
			return fmt.Errorf("go on: %w", err)
		}
	}
	return w.count(ctx)
}

// count does what other loops do: the pulse of tasks, and every other step the
// roll-up.
func (w *world) count(ctx context.Context) error {
	for more := true; more; {
		var err error
		if more, err = w.ax.Pulse(ctx, w.now); err != nil {
			return err
		}
	}
	for more := w.now.Second()%10 == 0; more; {
		var err error
		if more, err = w.ax.RollUp(ctx, w.now); err != nil {
			return err
		}
	}
	return nil
}
