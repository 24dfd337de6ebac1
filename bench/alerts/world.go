package main

import (
	"context"
	"fmt"
	"time"

	"ax/app/alert"
)

const (
	teams     = 20
	firstTask = 1000
	nodes     = 4
	waiting   = 2000 // instances that are due
	running   = 500
	step      = 5 * time.Second
)

// world is an installation and its clock.
type world struct {
	*ledger
	o      options
	now    time.Time
	broken int // tasks that fail at each run, each with a host of its own
	gone   bool
	made   int // instances
	bench  *bench
}

func newWorld(l *ledger, o options) *world {
	w := &world{ledger: l, o: o, now: time.Date(2026, 12, 1, 12, 30, 0, 0, time.UTC)}
	w.bench = newBench(w)
	return w
}

// team of the i-th task: those of the storm are of the first one.
func (w *world) team(i int) int {
	if i < w.o.storm {
		return 1
	}
	return 2 + i%(teams-1)
}

// host of the i-th task.
func (w *world) host(i int) string {
	if i < w.o.storm {
		return "gone.internal:8080"
	}
	return fmt.Sprintf("host-%d.internal", i)
}

// spec is a definition with the given target.
const spec = `{"schedule":{"kind":"cron","cron":"* * * * *","timezone":"Asia/Shanghai","misfire":"skip"},"target":{"kind":"http","url":"http://%s/run"},"policy":{"timeout_seconds":30,"retry":{"kind":"none"},"overlap":"skip","max_concurrent":1,"idempotent":true,"alert_level":"p2"}}`

// fill makes what there is before the first turn.
func (w *world) fill(ctx context.Context) error {
	past, later := w.now.Add(-48*time.Hour).UnixMilli(), w.now.Add(24*time.Hour).UnixMilli()
	err := w.insert(ctx, "teams", "id, code, name, created_at", teams, func(i int) []any { return []any{i + 1, fmt.Sprintf("team-%d", i+1), "Team", past} })
	if err != nil {
		return err
	}
	if _, err := w.ax.SeedHouseRules(ctx, w.now); err != nil {
		return err
	}
	err = w.insert(ctx, "tasks", "id, team_id, code, name, group_name, tags, enabled, version, kind, queue, timezone, spec, next_fire_at, created_at, updated_at", w.o.tasks, func(i int) []any {
		return []any{firstTask + i, w.team(i), fmt.Sprintf("task-%d", i), "Task", fmt.Sprintf("group-%d", i%7), fmt.Sprintf(",tag-%d,", i%11), 1, 1, "cron", "default",
			"Asia/Shanghai", fmt.Sprintf(spec, w.host(i)), later, past, past}
	})
	for _, more := range []func(context.Context) error{w.fillNodes, w.fillQueue, w.fillLetters, w.fillRules, w.fillChannels, w.fillRuns} {
		if err == nil {
			err = more(ctx)
		}
	}
	return err
}

func (w *world) fillNodes(ctx context.Context) error {
	return w.insert(ctx, "nodes", "id, host, roles, started_at, beat_at, steady_at", nodes, func(i int) []any {
		return []any{w.id(), fmt.Sprintf("node-%d", i), "worker", w.now.Add(-time.Hour).UnixMilli(), w.now.UnixMilli(), w.now.Add(-time.Hour).UnixMilli()}
	})
}

// fillQueue makes what waits and what runs; live keeps both young.
func (w *world) fillQueue(ctx context.Context) error {
	at := w.now.UnixMilli()
	ids := make([]string, running)
	err := w.insert(ctx, "instances", "id, task_id, team_id, queue, biz_id, origin, state, attempt, wanted_at, due_at, created_at, started_at, deadline_at", waiting+running, func(i int) []any {
		id, k := w.id(), i*3%w.o.tasks
		if i < running {
			ids[i] = id
			return []any{id, firstTask + k, w.team(k), "default", id, "schedule", "running", 1, at, at, at, at, at + 3_600_000}
		}
		return []any{id, firstTask + k, w.team(k), "default", id, "schedule", "queued", 0, at, at, at, nil, nil}
	})
	if err != nil {
		return err
	}
	return w.insert(ctx, "attempts", "instance_id, no, task_id, team_id, task_version, started_at", running, func(i int) []any {
		k := i * 3 % w.o.tasks
		return []any{ids[i], 1, firstTask + k, w.team(k), 1, at}
	})
}

func (w *world) fillLetters(ctx context.Context) error {
	return w.insert(ctx, "dead_letters", "task_id, team_id, biz_id, instance_id, status, outcome, opened_at", 20_000, func(i int) []any {
		k, status := i%w.o.tasks, "solved"
		if i < 60 {
			k, status = w.o.storm+i, "open"
		}
		return []any{firstTask + k, w.team(k), w.id(), w.id(), status, "failed", w.now.Add(-time.Hour).UnixMilli()}
	})
}

// kinds are the rules beside those that teams begin with: none of them breaks.
func kinds() []alert.Rule {
	const minute = time.Minute
	return []alert.Rule{
		{Metric: alert.SuccessRate, Threshold: 1, Window: 5 * minute, Least: 20}, {Metric: alert.InARow, Threshold: 100},
		{Metric: alert.Failures, Threshold: 1000, Window: 10 * minute}, {Metric: alert.MissedRun, Threshold: 600},
		{Metric: alert.RunTooLong, Threshold: 500, Least: 20}, {Metric: alert.TriggerLag, Threshold: 600, Window: 15 * minute, Least: 20},
		{Metric: alert.SuccessRate, Threshold: 1, Window: 15 * minute, Least: 20}, {Metric: alert.RunTooShort, Threshold: 0.001, Least: 20},
		{Metric: alert.Failures, Threshold: 1000, Window: time.Hour}, {Metric: alert.OpenLetters, Threshold: 100_000},
		{Metric: alert.InARow, Threshold: 100, EachTry: true}, {Metric: alert.SuccessRate, Threshold: 1, Window: 6 * time.Hour, Least: 20},
		{Metric: alert.Failures, Threshold: 1000, Window: 10 * minute, EachTry: true}, {Metric: alert.LetterAge, Threshold: 100_000},
		{Metric: alert.SuccessRate, Threshold: 1, Window: 30 * minute, Least: 20}, {Metric: alert.Failures, Threshold: 1000, Window: 24 * time.Hour},
	}
}

// fillRules adds rules of tags, groups and tasks to those that teams and the
// installation begin with. The team of the storm has no others.
func (w *world) fillRules(ctx context.Context) error {
	var have int
	if err := w.sql.QueryRowContext(ctx, "SELECT COUNT(*) FROM alert_rules").Scan(&have); err != nil {
		return err
	}
	all := kinds()
	return w.insert(ctx, "alert_rules", "team_id, name, metric, scope_kind, scope_value, threshold, window_ms, least, for_ms, level, each_try, repeat_ms, created_by, created_at, changed_by, changed_at", w.o.rules-have, func(i int) []any {
		team, r := 2+i%(teams-1), all[i/(teams-1)%len(all)]
		kind, value := "tag", fmt.Sprintf("tag-%d", i%11)
		switch i % 4 {
		case 1:
			kind, value = "group", fmt.Sprintf("group-%d", i%7)
		case 2:
			k := w.o.storm + i%(w.o.tasks-w.o.storm)
			team, kind, value = w.team(k), "task", fmt.Sprintf("task-%d", k)
		}
		return []any{team, fmt.Sprintf("Rule %d", i), string(r.Metric), kind, value, r.Threshold, r.Window.Milliseconds(), r.Least, 60_000, "p2", r.EachTry, 1_800_000, "bench", 0, "bench", 0}
	})
}

// fillChannels gives each team five channels, each with a subscription to all of
// the team's rules; a webhook is told of the incidents' begin and end instead.
func (w *world) fillChannels(ctx context.Context) error {
	kind := []alert.ChannelKind{alert.Feishu, alert.Email, alert.Webhook, alert.Slack, alert.WeCom}
	ids := make([]string, teams*len(kind))
	err := w.insert(ctx, "channels", "id, team_id, kind, name, language, mention, recipients, sealed, created_by, created_at, changed_by, changed_at", len(ids), func(i int) []any {
		ids[i] = fmt.Sprintf("%032x", i+1)
		if i < len(kind) {
			w.bench.kinds[ids[i]] = kind[i]
		}
		return []any{ids[i], 1 + i/len(kind), string(kind[i%len(kind)]), fmt.Sprintf("channel-%d", i), "en", "owner", "ops@example.org", "x", "bench", 0, "bench", 0}
	})
	if err != nil {
		return err
	}
	return w.insert(ctx, "subscriptions", "team_id, channel_id, events, level, after_ms, created_by, created_at", len(ids), func(i int) []any {
		row := []any{1 + i/len(kind), ids[i], "", "", 0, "bench", 0}
		switch i % len(kind) {
		case 2:
			row[2] = "incident.opened,incident.closed"
		case 3:
			row[3] = "p1"
		case 4:
			row[4] = int64(600_000)
		}
		return row
	})
}

// fillRuns makes an hour of counts, and runs of its last minutes.
func (w *world) fillRuns(ctx context.Context) error {
	begin := w.now.Add(-time.Duration(w.o.minutes) * time.Minute)
	for m := w.now.Add(-time.Hour); m.Before(begin); m = m.Add(time.Minute) {
		if _, err := w.sql.ExecContext(ctx, "INSERT INTO stats_minute (task_id, minute_at, state, team_id, n) SELECT id, ?, 'succeeded', team_id, 1 FROM tasks", m.UnixMilli()); err != nil {
			return err
		}
	}
	// The roll-up counts again what is less than three minutes older than this.
	for name, at := range map[string]time.Time{"stats.rolled": begin.Add(3 * time.Minute), "stats.hours": w.now.Add(-time.Hour).Truncate(time.Hour), "stats.sketched": w.now, "stats.sketched_hours": w.now.Truncate(time.Hour)} {
		if _, err := w.sql.ExecContext(ctx, "INSERT INTO settings (name, value) VALUES (?,?)", name, at.Format(time.RFC3339)); err != nil {
			return err
		}
	}
	for m := begin; m.Before(w.now); m = m.Add(time.Minute) {
		if err := w.run(ctx, m, m.Add(time.Minute)); err != nil {
			return err
		}
	}
	for _, table := range []string{"instances", "attempts", "stats_minute", "tasks", "dead_letters"} {
		if _, err := w.sql.ExecContext(ctx, w.analyze+table); err != nil {
			return fmt.Errorf("analyze what was made: %w", err)
		}
	}
	if err := w.count(ctx); err != nil {
		return err
	}
	_, err := w.sql.ExecContext(ctx, "UPDATE task_pulse SET norm_n=500, norm_p50_ms=2000, norm_p95_ms=4000, norm_at=?, norm_due=NULL", w.now.UnixMilli())
	return err
}
