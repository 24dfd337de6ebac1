package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/libtnb/sqlite"

	"ax/app/sched"
	"ax/db"
)

// ledger is a database with ax's own access and plain SQL beside it.
type ledger struct {
	ax      *db.DB
	sql     *sql.DB
	analyze string // begins the statement that counts a table for its queries
}

func open(ctx context.Context, side, dir string) (*ledger, func(), error) {
	dialect, driver, dsn, stop := db.SQLite, "sqlite", filepath.Join(dir, "ax.db"), func() {}
	plain := "file:" + dsn + "?_pragma=busy_timeout(20000)&_txlock=immediate"
	if side == "mariadb" {
		var err error
		if dsn, stop, err = startMariaDB(dir); err != nil {
			return nil, nil, err
		}
		dialect, driver, plain = db.MySQL, "mysql", dsn
	}
	d, err := openLedger(ctx, dialect, dsn)
	if err != nil {
		stop()
		return nil, nil, err
	}
	pool, err := sql.Open(driver, plain)
	if err != nil {
		_ = d.Close()
		stop()
		return nil, nil, err
	}
	analyze := "ANALYZE "
	if side == "mariadb" {
		analyze = "ANALYZE TABLE "
	}
	return &ledger{d, pool, analyze}, func() { _ = pool.Close(); _ = d.Close(); stop() }, nil
}

// startMariaDB runs a server with what a production would choose: every commit
// flushed.
func startMariaDB(dir string) (dsn string, stop func(), err error) {
	data, sock := filepath.Join(dir, "data"), filepath.Join(dir, "m.sock")
	out, err := exec.Command("mariadb-install-db", "--datadir="+data, "--user=root", "--auth-root-authentication-method=normal", "--skip-test-db").CombinedOutput()
	if err != nil {
		return "", nil, fmt.Errorf("install MariaDB's tables: %w\n%s", err, out)
	}
	log, err := os.Create(filepath.Join(dir, "mariadb.log"))
	if err != nil {
		return "", nil, err
	}
	defer log.Close() // the server has its own
	cmd := exec.Command("mariadbd", "--no-defaults", "--datadir="+data, "--user=root", "--skip-networking", "--socket="+sock,
		"--innodb-buffer-pool-size=512M", "--innodb-flush-log-at-trx-commit=1", "--skip-log-bin")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		timer := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		timer.Stop()
	}
	root, err := sql.Open("mysql", "root@unix("+sock+")/")
	if err != nil {
		stop()
		return "", nil, err
	}
	defer root.Close()
	for range 200 {
		if _, err = root.Exec("CREATE DATABASE ax CHARACTER SET utf8mb4"); err == nil {
			return "root@unix(" + sock + ")/ax", stop, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	stop()
	return "", nil, fmt.Errorf("MariaDB did not start: %w", err)
}

// noon is when everything is due, by the ledger's clock of the measurement.
func noon() time.Time { return time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC) }

// spec is a definition with the given cron line and misfire policy.
const spec = `{"schedule":{"kind":"cron","cron":%q,"timezone":"Asia/Shanghai","misfire":%q},"target":{"kind":"http","url":"http://127.0.0.1:9/run"},"policy":{"timeout_seconds":30,"retry":{"kind":"steps","max":3,"delays_seconds":[10,30,120]},"overlap":"skip","max_concurrent":1,"idempotent":true,"alert_level":"p2"}}`

// chunk is how many tasks one statement makes.
const chunk = 100_000

const digits = "(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)"

// addTasks makes tasks with the ids first … first+n-1, the i-th of them next
// due at next plus i × apart.
func (l *ledger) addTasks(ctx context.Context, first, n int, definition string, next time.Time, apart time.Duration) error {
	for from := 0; from < n; from += chunk {
		_, err := l.sql.ExecContext(ctx, "INSERT INTO tasks (id, team_id, code, name, enabled, version, kind, queue, timezone, spec, next_fire_at, created_at, updated_at)"+
			" SELECT ?+n, 1, CONCAT('bench.', ?+n), 'bench', 1, 1, 'cron', 'default', 'Asia/Shanghai', ?, ?+n*?, 0, 0"+
			" FROM (SELECT a.d+10*b.d+100*c.d+1000*e.d+10000*f.d AS n FROM "+digits+" a, "+digits+" b, "+digits+" c, "+digits+" e, "+digits+" f) AS numbers WHERE n<?",
			first+from, first+from, definition, next.Add(time.Duration(from)*apart).UnixMilli(), apart.Milliseconds(), min(n-from, chunk))
		if err != nil {
			return fmt.Errorf("make tasks: %w", err)
		}
	}
	return nil
}

// planAmongMany times planning transactions that each find o.due tasks.
func (l *ledger) planAmongMany(ctx context.Context, o options) ([]time.Duration, error) {
	began := time.Now()
	daily := fmt.Sprintf(spec, "0 20 * * *", "fire_once") // noon in UTC
	if err := l.addTasks(ctx, 1, o.tasks, daily, noon().AddDate(0, 0, 1), time.Millisecond); err != nil {
		return nil, err
	}
	fmt.Printf("%d tasks made in %s\n", o.tasks, time.Since(began).Round(time.Millisecond))
	var took []time.Duration
	for round := range o.rounds {
		// Spread over all tasks, as they are when they fall due.
		stride := max(1, o.tasks/o.due)
		ids := make([]string, o.due)
		for i := range ids {
			ids[i] = strconv.Itoa(1 + round%stride + i*stride)
		}
		_, err := l.sql.ExecContext(ctx, "UPDATE tasks SET next_fire_at=? WHERE id IN ("+strings.Join(ids, ",")+")", noon().UnixMilli())
		if err != nil {
			return nil, fmt.Errorf("make tasks due: %w", err)
		}
		began := time.Now()
		report, err := l.ax.Plan(ctx, sched.PlanRequest{
			Now: noon(), Until: noon().Add(sched.PlanHorizon), Limit: o.due, Budget: sched.PlanBudget, NodeID: "bench",
		})
		if err != nil {
			return nil, err
		}
		took = append(took, time.Since(began))
		if report.Instances != o.due {
			return nil, fmt.Errorf("round %d made %d instances of %d tasks, not %d", round, report.Instances, report.Tasks, o.due)
		}
	}
	return took, nil
}

// outage is what catching up after a day cost.
type outage struct {
	policy                      string
	tasks, slots, transactions  int
	instances, ranges, recorded int
	took                        time.Duration
}

// catchUp lets a planner come back after 24 hours.
func (l *ledger) catchUp(ctx context.Context, tasks int, policy string) (outage, error) {
	g := outage{policy: policy, tasks: tasks}
	if _, err := l.sql.ExecContext(ctx, "DELETE FROM tasks"); err != nil {
		return g, err
	}
	const first = 10_000_000
	ids := first
	if policy == "fire_all" { // those of fire_once have their rows
		ids += tasks
	}
	for i, line := range []string{"* * * * *", "0 * * * *"} {
		if err := l.addTasks(ctx, ids+i*(tasks/2), tasks/2, fmt.Sprintf(spec, line, policy), noon(), 0); err != nil {
			return g, err
		}
	}
	now := noon().Add(24*time.Hour + 30*time.Second)
	began := time.Now()
	for {
		r, err := l.ax.Plan(ctx, sched.PlanRequest{Now: now, Until: now.Add(sched.PlanHorizon), Limit: 500, Budget: sched.PlanBudget, NodeID: "bench"})
		if err != nil {
			return g, err
		}
		if r.Tasks == 0 {
			break
		}
		g.transactions++
		g.instances += r.Instances
		g.recorded += r.Missed
		g.slots += r.Spent
	}
	g.took = time.Since(began)
	err := l.sql.QueryRowContext(ctx, "SELECT COUNT(*) FROM missed_ranges WHERE task_id>=?", ids).Scan(&g.ranges)
	return g, err
}
