//go:build slow

package db_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/alert"
	"ax/db"
	"ax/db/dbtest"
)

// big is a house of 10,000 tasks that each run every minute: an hour of
// minutes, eleven minutes of instances with their attempts, 60 hours of
// sketches of some.
type big struct {
	d          *db.DB
	statements atomic.Int64
	tasks      []int64
	now        time.Time
}

const bigTasks, bigMinutes = 10_000, 10

func openBig(t *testing.T, dialect, dsn string) *big {
	b := &big{now: t0.Add(30 * time.Second)}
	d, err := db.Open(t.Context(), db.Options{Dialect: dialect, DSN: dsn, Watch: func(string) { b.statements.Add(1) }})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	require.NoError(t, d.Migrate(t.Context()))
	b.d = d
	return b
}

// rows inserts many rows, each by its values.
func (b *big) rows(t *testing.T, table, columns string, n int, values func(i int) []any) {
	t.Helper()
	marks := "(?" + strings.Repeat(",?", strings.Count(columns, ",")) + ")"
	const chunk = 1000
	require.NoError(t, b.d.Tx(t.Context(), "fill "+table, func(tx *gormDB) error {
		for i := 0; i < n; i += chunk {
			m := min(chunk, n-i)
			var args []any
			for k := range m {
				args = append(args, values(i+k)...)
			}
			if err := tx.Exec("INSERT INTO "+table+" ("+columns+") VALUES "+marks+strings.Repeat(","+marks, m-1), args...).Error; err != nil {
				return err
			}
		}
		return nil
	}))
}

func (b *big) fill(t *testing.T) {
	team := dbtest.MakeTeam(t, b.d)
	sample := dbtest.MakeTask(t, b.d, dbtest.Of(team), dbtest.Every(time.Minute))
	var row struct{ Spec string }
	require.NoError(t, b.d.View(t.Context()).Raw("SELECT spec FROM tasks WHERE id=?", sample.ID).Scan(&row).Error)
	ms := func(t time.Time) int64 { return t.UnixMilli() }
	b.rows(t, "tasks", "id, team_id, code, enabled, version, kind, queue, spec, next_fire_at, created_at, updated_at", bigTasks, func(i int) []any {
		return []any{1000 + i, team.ID + int64(i%50), fmt.Sprintf("big-%d", i), 1, 1, "interval", "default", row.Spec, ms(t0.Add(time.Minute)), ms(t0.Add(-48 * time.Hour)), ms(t0.Add(-48 * time.Hour))}
	})
	b.rows(t, "teams", "code, name, created_at", 49, func(i int) []any { return []any{fmt.Sprintf("big-%d", i), "x", 1} })
	b.rows(t, "stats_minute", "task_id, minute_at, state, team_id, n", bigTasks*60, func(i int) []any {
		state := "succeeded"
		if i%97 == 0 {
			state = "failed"
		}
		return []any{1000 + i%bigTasks, ms(t0.Add(-time.Duration(i/bigTasks) * time.Minute)), state, team.ID, 1}
	})
	b.rows(t, "stats_hour", "task_id, hour_at, state, team_id, n", bigTasks*24, func(i int) []any {
		return []any{1000 + i%bigTasks, ms(t0.Add(-time.Duration(i/bigTasks) * time.Hour)), "succeeded", team.ID, 60}
	})
	r := rand.New(rand.NewPCG(1, 2))
	ids := make([]string, bigTasks*bigMinutes)
	ends := make([]time.Time, len(ids))
	bad := func(i int) bool { return i%97 == 0 || i%bigTasks < 500 } // 500 tasks always fail
	for i := range ids {
		ends[i] = b.now.Add(-time.Duration(i/bigTasks)*time.Minute - time.Duration(r.IntN(50_000))*time.Millisecond - 5*time.Second)
		ids[i] = dbtest.IDAt(ends[i].Add(-time.Minute))
	}
	b.rows(t, "instances", "id, task_id, team_id, queue, biz_id, origin, state, attempt, wanted_at, due_at, created_at, started_at, finished_at", len(ids), func(i int) []any {
		state := "succeeded"
		if bad(i) {
			state = "failed"
		}
		end := ms(ends[i])
		return []any{ids[i], 1000 + i%bigTasks, team.ID, "default", ids[i], "schedule", state, 1, end - 2000, end - 2000, end - 2000, end - 1900, end}
	})
	b.rows(t, "attempts", "instance_id, no, task_id, team_id, task_version, started_at, ended_at, outcome, error", len(ids), func(i int) []any {
		outcome, text := "succeeded", ""
		if bad(i) {
			outcome, text = "failed", "dial tcp 127.0.0.1:9: connect: connection refused"
		}
		return []any{ids[i], 1, 1000 + i%bigTasks, team.ID, 1, ms(ends[i]) - 1900, ms(ends[i]), outcome, text}
	})
	b.rows(t, "instances", "id, task_id, team_id, queue, biz_id, origin, state, attempt, wanted_at, due_at, created_at, started_at, deadline_at", 6000, func(i int) []any {
		at := b.now.Add(-time.Duration(i%40) * time.Second)
		if i < 1000 {
			return []any{dbtest.IDAt(at), 1000 + i, team.ID, "default", dbtest.ID(), "schedule", "running", 1, ms(at), ms(at), ms(at), ms(at), ms(at.Add(time.Minute))}
		}
		return []any{dbtest.IDAt(at), 1000 + i, team.ID, "default", dbtest.ID(), "schedule", "queued", 0, ms(at), ms(at), ms(at), nil, nil}
	})
	b.rows(t, "dead_letters", "task_id, team_id, biz_id, instance_id, status, outcome, opened_at", 20_000, func(i int) []any {
		return []any{1000 + i%500, team.ID + int64(i%50), dbtest.ID(), dbtest.ID(), []string{"solved", "solved", "solved", "open"}[i%4], "failed", ms(t0)}
	})
	exec(t, b.d, "INSERT INTO settings (name, value) VALUES ('stats.hours', ?), ('stats.rolled', ?)", t0.Add(-time.Hour).Format(time.RFC3339), t0.Format(time.RFC3339))
}

// TestWhatReadingsCost prints milliseconds and statements of each metric.
func TestWhatReadingsCost(t *testing.T) {
	for _, dialect := range []string{db.SQLite, db.MySQL} {
		t.Run(dialect, func(t *testing.T) {
			dsn := filepath.Join(t.TempDir(), "ax.db")
			if dialect == db.MySQL {
				dsn = dbtest.MariaDSN(t)
			}
			b := openBig(t, dialect, dsn)
			b.fill(t)
			measure := func(what string, times int, do func() int) {
				var n int
				before, begin := b.statements.Load(), time.Now()
				for range times {
					n = do()
				}
				t.Logf("%-34s %8.1f ms %4d statements %6d readings", what, float64(time.Since(begin).Microseconds())/1000/float64(times), (b.statements.Load()-before)/int64(times), n)
			}
			measure("pulse, from nothing", 1, func() int {
				countEnds(t, b.d, b.now)
				return 0
			})
			measure("pulse, idle", 5, func() int { b.now = b.now.Add(2 * time.Second); countEnds(t, b.d, b.now); return 0 })
			total := time.Now()
			statements := b.statements.Load()
			for _, q := range []alert.Question{
				{Metric: alert.SuccessRate, Window: time.Hour}, {Metric: alert.SuccessRate, Window: 5 * time.Minute}, {Metric: alert.SuccessRate, Window: 24 * time.Hour},
				{Metric: alert.Failures, Window: time.Hour}, {Metric: alert.Failures, Window: 10 * time.Minute, EachTry: true},
				{Metric: alert.TriggerLag, Window: 5 * time.Minute, Steps: []float64{1, 5, 30}}, {Metric: alert.InARow}, {Metric: alert.InARow, EachTry: true},
				{Metric: alert.MissedRun}, {Metric: alert.RunTooLong}, {Metric: alert.RunTooShort}, {Metric: alert.OpenLetters}, {Metric: alert.LetterAge},
				{Metric: alert.QueueDepth}, {Metric: alert.NodeOffline}, {Metric: alert.ClockOffset}, {Metric: alert.PlanningLate}, {Metric: alert.CalendarEnds},
			} {
				what := fmt.Sprintf("%s %s", q.Metric, q.Window)
				measure(what, 1, func() int { return len(readings(t, b.d, q, b.now)) })
			}
			t.Logf("all: %v, %d statements", time.Since(total).Round(time.Millisecond), b.statements.Load()-statements)
		})
	}
}
