package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/libtnb/sqlite"
)

// side is one way to run ax.
type side struct {
	name  string
	mysql bool
}

func splitSides(s string) []side {
	var out []side
	for name := range strings.SplitSeq(s, ",") {
		out = append(out, side{name: name, mysql: name == "mariadb"})
	}
	return out
}

// run measures the side once: throughput on a fresh installation, then the lag
// on the same one.
func (s side) run(ctx context.Context, o options, dir string) (r result, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return r, err
	}
	p := &processes{dir: dir}
	defer p.stop()
	target, err := p.startTarget()
	if err != nil {
		return r, err
	}
	env := []string{"AX_HTTP_ADDR=127.0.0.1:" + freePort(), "AX_DATA_DIR=" + dir, "AX_LOG_LEVEL=warn", "AX_WORKER_ALLOW_NETWORKS=127.0.0.0/8"}
	dsn := "file:" + filepath.Join(dir, "ax.db") + "?_pragma=busy_timeout(20000)&_txlock=immediate"
	driver := "sqlite"
	if s.mysql {
		driver = "mysql"
		var redis string
		if dsn, redis, err = p.startServers(); err != nil {
			return r, err
		}
		env = append(env, "AX_DATABASE_DSN="+dsn, "AX_REDIS_ADDR="+redis, "AX_SECRET="+strings.Repeat("b", 32))
	}
	if err := p.startAx(o.ax, env); err != nil {
		return r, err
	}
	ledger, err := sql.Open(driver, dsn)
	if err != nil {
		return r, err
	}
	defer ledger.Close()
	b := bench{ledger: ledger, p: p, target: fmt.Sprintf(`{"kind":"http","url":%q}`, target+"/ok")}
	if r.perSecond, r.cpu, err = b.throughput(ctx, o.n); err != nil {
		return r, err
	}
	// All of them were due in one second.
	if r.burstP50, r.burstP99, _, err = b.lags(0); err != nil {
		return r, err
	}
	if r.memory, err = p.peak("ax"); err != nil {
		return r, err
	}
	r.lagP50, r.lagP99, r.early, err = b.lag(ctx, o.rate, o.secs)
	return r, err
}

// bench drives one installation through its ledger.
type bench struct {
	ledger *sql.DB
	p      *processes
	target string // JSON of what is called
	base   int64  // ids of tasks made so far
}

// spec is the definition of every task of a measurement.
const spec = `{"schedule":{"kind":"once","run_at":%q,"timezone":"UTC","misfire":"fire_once"},"target":%s,"policy":{"timeout_seconds":30,"retry":{"kind":"steps","max":3,"delays_seconds":[10,30,120]},"overlap":"skip","max_concurrent":1,"idempotent":true,"alert_level":"p2"}}`

// addTasks makes n tasks whose one slot is due at at(i).
func (b *bench) addTasks(n int, at func(i int) time.Time) error {
	tx, err := b.ledger.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	now := time.Now().UnixMilli()
	for i := range n {
		id, due := b.base+int64(i)+1, at(i)
		def := fmt.Sprintf(spec, due.UTC().Format(time.RFC3339), b.target)
		_, e1 := tx.Exec("INSERT INTO tasks (id, team_id, code, name, enabled, version, kind, queue, timezone, spec, next_fire_at, created_at, updated_at) VALUES (?,1,?,?,1,1,'once','default','UTC',?,?,?,?)",
			id, fmt.Sprintf("bench.%d", id), "bench", def, due.UnixMilli(), now, now)
		_, e2 := tx.Exec("INSERT INTO task_gates (task_id) VALUES (?)", id)
		_, e3 := tx.Exec("INSERT INTO task_versions (task_id, version, spec, author, note, created_at) VALUES (?,1,?,'bench','',?)", id, def, now)
		if err := errors.Join(e1, e2, e3); err != nil {
			return err
		}
	}
	b.base += int64(n)
	return tx.Commit()
}

// throughput makes n tasks due at once and tells how fast and at what cost
// their instances ended. The processor time is read when the first instance is
// planned and when the last has ended.
func (b *bench) throughput(ctx context.Context, n int) (float64, map[string]time.Duration, error) {
	due := time.Now().Add(time.Duration(5+n/2000) * time.Second).Truncate(time.Second)
	if err := b.addTasks(n, func(int) time.Time { return due }); err != nil {
		return 0, nil, err
	}
	time.Sleep(time.Until(due.Add(-2500 * time.Millisecond)))
	before := b.p.cpu()
	if err := b.await(ctx, n, 5*time.Minute); err != nil {
		return 0, nil, err
	}
	spent := b.p.cpu()
	for name := range spent {
		spent[name] = (spent[name] - before[name]) / time.Duration(n)
	}
	var first, last int64
	err := b.ledger.QueryRow("SELECT MIN(created_at), MAX(finished_at) FROM instances WHERE task_id<=?", n).Scan(&first, &last)
	return float64(n) / (float64(last-first) / 1000), spent, err
}

// await waits until the ledger holds n instances that succeeded.
func (b *bench) await(ctx context.Context, n int, limit time.Duration) error {
	end := time.Now().Add(limit)
	for time.Now().Before(end) {
		var done int
		if err := b.ledger.QueryRow("SELECT COUNT(*) FROM instances WHERE state='succeeded'").Scan(&done); err != nil {
			return err
		}
		if done >= n {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(250 * time.Millisecond):
		}
	}
	return fmt.Errorf("%d instances did not end within %s", n, limit)
}

// lag makes rate tasks due in each of secs seconds, all on the whole second,
// and measures from the due time to the start in the ledger.
func (b *bench) lag(ctx context.Context, rate, secs int) (p50, p99 time.Duration, early int, err error) {
	before := b.base
	start := time.Now().Add(5 * time.Second).Truncate(time.Second)
	if err := b.addTasks(rate*secs, func(i int) time.Time { return start.Add(time.Duration(i/rate) * time.Second) }); err != nil {
		return 0, 0, 0, err
	}
	time.Sleep(time.Until(start.Add(time.Duration(secs) * time.Second)))
	if err := b.await(ctx, int(b.base), time.Minute); err != nil {
		return 0, 0, 0, err
	}
	return b.lags(before)
}

// lags of the instances of tasks after the given id, from the due time to the
// start in the ledger.
func (b *bench) lags(after int64) (p50, p99 time.Duration, early int, err error) {
	rows, err := b.ledger.Query("SELECT started_at-wanted_at FROM instances WHERE task_id>? ORDER BY 1", after)
	if err != nil {
		return 0, 0, 0, err
	}
	defer rows.Close()
	var lags []int64
	for rows.Next() {
		var ms int64
		if err := rows.Scan(&ms); err != nil {
			return 0, 0, 0, err
		}
		if ms < 0 {
			early++
		}
		lags = append(lags, ms)
	}
	at := func(p int) time.Duration { return time.Duration(lags[len(lags)*p/100]) * time.Millisecond }
	return at(50), at(99), early, rows.Err()
}
