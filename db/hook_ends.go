package db

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ax/app/alert"
	"ax/app/sched"
)

// Hooked tells whether a task names channels that are told of its ends.
func (d *DB) Hooked(ctx context.Context) (bool, error) {
	var n int
	err := d.view(ctx).Raw("SELECT COUNT(*) FROM (SELECT task_id FROM task_hooks LIMIT 1) AS one").Scan(&n).Error
	if err != nil {
		return false, fmt.Errorf("look whether tasks have hooks: %w", away(err))
	}
	return n > 0, nil
}

// hookRow is a hook that tells a channel, as task_hooks has it.
type hookRow struct {
	TaskID    int64
	ChannelID string
	ToldOn    sched.HookOn
	Since     Millis
}

// hookEnd is an end of a task with hooks.
type hookEnd struct {
	ID         string
	TaskID     int64
	TeamID     int64
	BizID      string
	State      sched.State
	Error      string
	Attempt    int
	StartedAt  Millis
	FinishedAt Millis
	Task       string
	Label      string
	Team       maybe
}

// UntoldEnds are the ends since the moment that hooks name channels for which
// have no message of them; the first to end first. A channel that is gone, or of
// another team than the task is by now, is told nothing.
func (d *DB) UntoldEnds(ctx context.Context, since time.Time, most int) ([]alert.HookEnd, error) {
	hooks, first, err := d.tellingHooks(ctx)
	if err != nil || len(hooks) == 0 {
		return nil, err
	}
	if first.After(since) {
		since = first
	}
	out, err := d.untoldEnds(ctx, hooks, since, most)
	if err != nil {
		return nil, fmt.Errorf("read which ends hooks tell of: %w", away(err))
	}
	return out, nil
}

// tellingHooks gives by task the hooks that reach a channel, and the moment of
// the first.
func (d *DB) tellingHooks(ctx context.Context) (of map[int64][]hookRow, first time.Time, err error) {
	var rows []hookRow
	err = d.view(ctx).Raw("SELECT h.task_id, h.channel_id, h.told_on, h.since FROM task_hooks h JOIN tasks t ON t.id=h.task_id" +
		" JOIN channels c ON c.id=h.channel_id AND c.team_id=t.team_id ORDER BY h.task_id, h.channel_id, h.told_on").Scan(&rows).Error
	if err != nil {
		return nil, first, fmt.Errorf("read the hooks of tasks: %w", away(err))
	}
	of = map[int64][]hookRow{}
	for _, r := range rows {
		of[r.TaskID] = append(of[r.TaskID], r)
		if first.IsZero() || r.Since.Before(first) {
			first = r.Since.Time
		}
	}
	return of, first, nil
}

// untoldEnds goes through the ends by their moment, a page at a time.
func (d *DB) untoldEnds(ctx context.Context, hooks map[int64][]hookRow, since time.Time, most int) ([]alert.HookEnd, error) {
	const page = 1000
	last := hookEnd{FinishedAt: at(since)}
	before := map[int64]sched.State{} // by task, the end before the one that is looked at
	var out []alert.HookEnd
	for {
		var rows []hookEnd
		err := d.view(ctx).Raw("SELECT i.id, i.task_id, t.team_id, i.biz_id, i.state, i.error, i.attempt, i.started_at, i.finished_at, t.code AS task, t.name AS label, m.name AS team"+
			" FROM "+d.dialect.byIndex("instances i", "instances_finished")+" JOIN tasks t ON t.id=i.task_id LEFT JOIN teams m ON m.id=t.team_id"+
			" WHERE i.finished_at>=? AND (i.finished_at>? OR i.id>?) AND i.state IN ('succeeded','failed','timed_out','lost')"+
			" AND EXISTS (SELECT 1 FROM task_hooks h WHERE h.task_id=i.task_id) ORDER BY i.finished_at, i.id LIMIT ?",
			last.FinishedAt, last.FinishedAt, last.ID, page).Scan(&rows).Error
		if err != nil {
			return nil, err
		}
		var found []alert.HookEnd
		for _, r := range rows {
			ends, err := d.endsOf(ctx, r, hooks[r.TaskID], before)
			if err != nil {
				return nil, err
			}
			found = append(found, ends...)
		}
		found, err = d.hooksUntold(ctx, found)
		if err != nil {
			return nil, err
		}
		if out = append(out, found...); len(out) >= most {
			return out[:most], nil
		}
		if len(rows) < page {
			return out, nil
		}
		last = rows[len(rows)-1]
	}
}

// endsOf is what the hooks of its task tell of an end.
func (d *DB) endsOf(ctx context.Context, r hookEnd, hooks []hookRow, before map[int64]sched.State) ([]alert.HookEnd, error) {
	was, known := before[r.TaskID]
	if !known && len(hooks) > 0 {
		var err error
		if was, err = d.endBefore(ctx, r); err != nil {
			return nil, err
		}
	}
	before[r.TaskID] = r.State
	changed := was != "" && was.Bad() != r.State.Bad()
	var out []alert.HookEnd
	for _, h := range hooks {
		tells := h.ToldOn == sched.OnSuccess && r.State == sched.Succeeded || h.ToldOn == sched.OnFailure && r.State.Bad() || h.ToldOn == sched.OnChange && changed
		if !tells || r.FinishedAt.Before(h.Since.Time) {
			continue
		}
		out = append(out, alert.HookEnd{ChannelID: h.ChannelID, TaskID: r.TaskID, TeamID: r.TeamID, Team: string(r.Team), Run: alert.RunFacts{
			On: h.ToldOn, InstanceID: r.ID, Task: r.Task, Name: r.Label, BizID: r.BizID, State: r.State, Changed: changed,
			Error: r.Error, Attempt: r.Attempt, StartedAt: r.StartedAt.Time, FinishedAt: r.FinishedAt.Time,
		}})
	}
	return out, nil
}

// endBefore is how the task's run that ended before this one ended; empty: none
// did. Of those that a hook ended, which have no attempt, the latest are looked
// at.
func (d *DB) endBefore(ctx context.Context, r hookEnd) (sched.State, error) {
	const few = 50
	var rows []struct {
		State      sched.State
		FinishedAt Millis
	}
	tried := "SELECT * FROM (SELECT i.state, i.finished_at, i.id FROM " + d.dialect.byAlias("attempts", "a", "attempts_task_ended") + " JOIN instances i ON i.id=a.instance_id AND i.attempt=a.no" +
		" WHERE a.task_id=? AND a.ended_at<=? AND i.state IN ('succeeded','failed','timed_out','lost') AND i.id<>? ORDER BY a.ended_at DESC LIMIT ?) AS tried"
	unready := "SELECT * FROM (SELECT i.state, i.finished_at, i.id FROM instances i WHERE i.task_id=? AND i.state='failed' AND i.attempt=0 AND i.id<>? ORDER BY i.wanted_at DESC LIMIT ?) AS unready"
	err := d.view(ctx).Raw("SELECT e.state, e.finished_at FROM ("+tried+" UNION ALL "+unready+") AS e WHERE e.finished_at<? OR (e.finished_at=? AND e.id<?) ORDER BY e.finished_at DESC, e.id DESC LIMIT 1",
		r.TaskID, r.FinishedAt, r.ID, few, r.TaskID, r.ID, few, r.FinishedAt, r.FinishedAt, r.ID).Scan(&rows).Error
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return rows[0].State, nil
}

// hooksUntold leaves out what the channels have messages of.
func (d *DB) hooksUntold(ctx context.Context, ends []alert.HookEnd) ([]alert.HookEnd, error) {
	keys := map[string][]string{}
	for _, h := range ends {
		keys[h.ChannelID] = append(keys[h.ChannelID], h.Dedupe())
	}
	told := map[string]bool{}
	for channel, all := range keys {
		var have []string
		if err := d.view(ctx).Raw("SELECT dedupe FROM deliveries WHERE channel_id=? AND dedupe IN ?", channel, all).Scan(&have).Error; err != nil {
			return nil, err
		}
		for _, k := range have {
			told[channel+k] = true
		}
	}
	return slices.DeleteFunc(ends, func(h alert.HookEnd) bool { return told[h.ChannelID+h.Dedupe()] }), nil
}
