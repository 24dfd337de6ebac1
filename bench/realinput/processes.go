package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	_ "github.com/go-sql-driver/mysql"
)

// house is everything that a run starts. Each process is known by its id.
type house struct {
	dir, tools string
	ax         string   // program
	env        []string // of every ax
	api        string   // address of the console
	target     string   // address of the target
	ledger     *sql.DB
	running    []*process
}

// process is one that was started.
type process struct {
	name string
	cmd  *exec.Cmd
}

// start runs a program that dies with this one; its words go to a file.
func (h *house) start(name, program string, env []string, args ...string) error {
	log, err := os.Create(filepath.Join(h.dir, name+".log"))
	if err != nil {
		return err
	}
	defer log.Close() // the process has its own
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = h.dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	h.running = append(h.running, &process{name, cmd})
	return nil
}

// end stops the named processes in this order, each by SIGTERM and with time
// to end. It tells which did not end well.
func (h *house) end(names ...string) []string {
	var faults []string
	for _, name := range names {
		i := slices.IndexFunc(h.running, func(p *process) bool { return p.name == name })
		if i < 0 {
			continue
		}
		cmd := h.running[i].cmd
		h.running = slices.Delete(h.running, i, i+1)
		_ = cmd.Process.Signal(syscall.SIGTERM)
		timer := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		if err := cmd.Wait(); err != nil && strings.HasPrefix(name, "ax-") {
			faults = append(faults, name+" ended with "+err.Error())
		}
		timer.Stop()
	}
	return faults
}

// stop ends ax, then all the rest but the ledger's server; it is called again
// at the very end for that.
func (h *house) stop() []string {
	if h.ledger == nil { // nothing is left to be read
		var rest []string
		for i := len(h.running) - 1; i >= 0; i-- {
			rest = append(rest, h.running[i].name)
		}
		return h.end(rest...)
	}
	return h.end("ax-web", "ax-worker", "ax-scheduler", "target", "redis")
}

// close ends the ledger's server too.
func (h *house) close() {
	if h.ledger != nil {
		_ = h.ledger.Close()
		h.ledger = nil
	}
	h.stop()
}

// open starts everything and waits until ax's three nodes live.
func (h *house) open(ctx context.Context, program string) error {
	if h.ax = program; h.ax == "" {
		h.ax = filepath.Join(h.dir, "ax")
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", h.ax, "ax").CombinedOutput(); err != nil {
			return fmt.Errorf("build ax: %w\n%s", err, out)
		}
	}
	dsn, err := h.startMariaDB(ctx)
	if err != nil {
		return err
	}
	redis, web := freePort(), freePort()
	err = h.start("redis", "redis-server", nil, "--port", redis, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
	if err != nil {
		return err
	}
	h.api = "http://127.0.0.1:" + web
	h.env = []string{
		"AX_HTTP_ADDR=127.0.0.1:" + web, "AX_HTTP_EXTERNAL_URL=" + h.api, "AX_DATA_DIR=" + h.dir, "AX_DATABASE_DSN=" + dsn,
		"AX_REDIS_ADDR=127.0.0.1:" + redis, "AX_SECRET=" + strings.Repeat("real-input-", 4), "AX_LOG_FORMAT=json",
		"AX_WORKER_ALLOW_NETWORKS=127.0.0.0/8", // the target is here
	}
	// All at once: they share the migration of the empty database.
	for _, role := range []string{"web", "scheduler", "worker"} {
		if err := h.start("ax-"+role, h.ax, append(slices.Clone(h.env), "AX_ROLES="+role), "serve"); err != nil {
			return err
		}
	}
	if err := h.awaitNodes(ctx); err != nil {
		return err
	}
	return h.startTarget(ctx)
}

func (h *house) startMariaDB(ctx context.Context) (dsn string, err error) {
	data, sock := filepath.Join(h.dir, "mariadb"), filepath.Join(h.dir, "m.sock")
	out, err := exec.CommandContext(ctx, "mariadb-install-db", "--datadir="+data, "--user=root", "--auth-root-authentication-method=normal", "--skip-test-db").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("install MariaDB's tables: %w\n%s", err, out)
	}
	err = h.start("mariadbd", "mariadbd", nil, "--no-defaults", "--datadir="+data, "--user=root", "--skip-networking", "--socket="+sock,
		"--innodb-buffer-pool-size=256M", "--innodb-flush-log-at-trx-commit=1", "--skip-log-bin")
	if err != nil {
		return "", err
	}
	if h.ledger, err = sql.Open("mysql", "root@unix("+sock+")/ax"); err != nil {
		return "", err
	}
	root, err := sql.Open("mysql", "root@unix("+sock+")/")
	if err != nil {
		return "", err
	}
	defer root.Close()
	err = await(ctx, time.Minute, "MariaDB", func() error {
		_, err := root.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS ax CHARACTER SET utf8mb4")
		return err
	})
	return "root@unix(" + sock + ")/ax", err
}

// awaitNodes waits for the console and for a living node of each role.
func (h *house) awaitNodes(ctx context.Context) error {
	return await(ctx, 2*time.Minute, "ax", func() error {
		resp, err := http.Get(h.api + "/readyz")
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return errors.New("/readyz: " + resp.Status)
		}
		var n int
		err = h.ledger.QueryRowContext(ctx, "SELECT COUNT(*) FROM nodes WHERE dead_at IS NULL AND closed_at IS NULL").Scan(&n)
		if err == nil && n != 3 {
			err = fmt.Errorf("%d nodes live, not 3", n)
		}
		return err
	})
}

func (h *house) startTarget(ctx context.Context) error {
	key, err := h.command(ctx, "signing-key")
	if err != nil {
		return err
	}
	script, err := filepath.Abs(filepath.Join(h.tools, "target.mjs"))
	if err != nil {
		return err
	}
	port := freePort()
	h.target = "http://127.0.0.1:" + port
	if err := h.start("target", "node", []string{"PORT=" + port, "AX_KEY=" + key, "LOG=" + h.dir}, script); err != nil {
		return err
	}
	return await(ctx, time.Minute, "the target", func() error {
		resp, err := http.Get(h.target + "/")
		if err != nil {
			return err
		}
		return resp.Body.Close()
	})
}

// command runs a command of ax beside the servers and gives what it prints.
func (h *house) command(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, h.ax, args...)
	cmd.Dir, cmd.Env = h.dir, append(os.Environ(), h.env...)
	var words strings.Builder
	cmd.Stderr = &words
	out, err := cmd.Output()
	text := strings.TrimSpace(string(out))
	if err != nil {
		return text, fmt.Errorf("ax %s: %w\n%s%s", strings.Join(args, " "), err, text, words.String())
	}
	return text, nil
}

// await tries four times a second until it works or the limit is over.
func await(ctx context.Context, limit time.Duration, what string, try func() error) error {
	for end := time.Now().Add(limit); ; {
		err := try()
		if err == nil {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s did not get there within %s: %w", what, limit, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(250 * time.Millisecond):
		}
	}
}

func freePort() string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err) // no port is left on this machine
	}
	defer ln.Close()
	return strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)
}

// readAll is the start of an answer's body, for messages.
func readAll(r io.Reader) string {
	raw, _ := io.ReadAll(io.LimitReader(r, 4<<10))
	return strings.TrimSpace(string(raw))
}
