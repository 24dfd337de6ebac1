package main

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/libtnb/sqlite"

	"ax/db"
)

// ledger is a database with ax's own access and plain SQL beside it.
type ledger struct {
	ax         *db.DB
	sql        *sql.DB
	analyze    string // begins the statement that counts a table for its queries
	statements *atomic.Int64
	server     int // process of the database; 0: it is within this one
}

func open(ctx context.Context, side, dir string) (*ledger, func(), error) {
	l := &ledger{analyze: "ANALYZE ", statements: &atomic.Int64{}}
	dialect, driver, dsn, stop := db.SQLite, "sqlite", filepath.Join(dir, "ax.db"), func() {}
	plain := "file:" + dsn + "?_pragma=busy_timeout(20000)&_txlock=immediate"
	if side == "mariadb" {
		var err error
		if dsn, l.server, stop, err = startMariaDB(dir); err != nil {
			return nil, nil, err
		}
		dialect, driver, plain, l.analyze = db.MySQL, "mysql", dsn, "ANALYZE TABLE "
	}
	var err error
	l.ax, err = db.Open(ctx, db.Options{Dialect: dialect, DSN: dsn, Log: slog.New(slog.DiscardHandler), Watch: func(string) { l.statements.Add(1) }})
	if err == nil {
		err = l.ax.Migrate(ctx)
	}
	if err == nil {
		l.sql, err = sql.Open(driver, plain)
	}
	if err != nil {
		if l.ax != nil {
			_ = l.ax.Close()
		}
		stop()
		return nil, nil, err
	}
	return l, func() { _ = l.sql.Close(); _ = l.ax.Close(); stop() }, nil
}

// startMariaDB runs a server with what a production would choose: every commit
// flushed.
func startMariaDB(dir string) (dsn string, pid int, stop func(), err error) {
	data, sock := filepath.Join(dir, "data"), filepath.Join(dir, "m.sock")
	out, err := exec.Command("mariadb-install-db", "--datadir="+data, "--user=root", "--auth-root-authentication-method=normal", "--skip-test-db").CombinedOutput()
	if err != nil {
		return "", 0, nil, fmt.Errorf("install MariaDB's tables: %w\n%s", err, out)
	}
	cmd := exec.Command("mariadbd", "--no-defaults", "--datadir="+data, "--user=root", "--skip-networking", "--socket="+sock,
		"--innodb-buffer-pool-size=512M", "--innodb-flush-log-at-trx-commit=1", "--skip-log-bin")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return "", 0, nil, err
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
		return "", 0, nil, err
	}
	defer root.Close()
	for range 300 {
		if _, err = root.Exec("CREATE DATABASE ax CHARACTER SET utf8mb4"); err == nil {
			return "root@unix(" + sock + ")/ax", cmd.Process.Pid, stop, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	stop()
	return "", 0, nil, fmt.Errorf("MariaDB did not start: %w", err)
}

// cost is what was spent until now.
type cost struct {
	at         time.Time
	own, base  time.Duration // processor time of this process and of the database's
	statements int64
}

func (l *ledger) spent() cost {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	c := cost{at: time.Now(), own: time.Duration(u.Utime.Nano() + u.Stime.Nano()), statements: l.statements.Load()}
	if l.server == 0 {
		return c
	}
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(l.server) + "/stat")
	if err != nil {
		return c
	}
	_, after, _ := strings.Cut(string(raw), ") ")
	cells := strings.Fields(after)
	for _, cell := range cells[11:13] { // in ticks of 10 ms
		n, _ := strconv.Atoi(cell)
		c.base += time.Duration(n) * 10 * time.Millisecond
	}
	return c
}

// insert makes many rows, a statement for some hundred of them.
func (l *ledger) insert(ctx context.Context, table, columns string, n int, values func(i int) []any) error {
	tx, err := l.sql.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("fill %s: %w", table, err)
	}
	defer func() { _ = tx.Rollback() }()
	const some = 500
	row := "(?" + strings.Repeat(",?", strings.Count(columns, ",")) + ")"
	for from := 0; from < n; from += some {
		m := min(some, n-from)
		var args []any
		for i := range m {
			args = append(args, values(from+i)...)
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO "+table+" ("+columns+") VALUES "+row+strings.Repeat(","+row, m-1), args...); err != nil {
			return fmt.Errorf("fill %s: %w", table, err)
		}
	}
	return tx.Commit()
}
