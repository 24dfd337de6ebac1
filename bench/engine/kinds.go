package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// commands of a measurement that run at once.
const manyCommands = 500

// kind is a way to be called, and what an instance of it costs.
type kind struct {
	name   string
	target func(base string) string // JSON of the target
}

// kinds that are measured, the plain call first.
func kinds() []kind {
	return []kind{
		{"HTTP, 200", func(base string) string { return fmt.Sprintf(`{"kind":"http","url":%q}`, base+"/ok") }},
		{"HTTP, 202 and a receipt", func(base string) string { return fmt.Sprintf(`{"kind":"http","url":%q}`, base+"/later") }},
		{"command (`/bin/true`)", func(string) string {
			return `{"kind":"shell","command":"/bin/true","input":"stdin","success_codes":[0]}`
		}},
	}
}

// cost of one kind.
type cost struct {
	name      string
	perSecond float64
	cpu       map[string]time.Duration // per instance
}

// measureKinds tells what an instance costs by its kind of target, each on a
// fresh installation with MariaDB, and what 500 commands at once need.
func measureKinds(ctx context.Context, o options, dir string) error {
	var all []cost
	for i, k := range kinds() {
		c, err := k.measure(ctx, o, filepath.Join(dir, strconv.Itoa(i)))
		if err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		fmt.Printf("%-26s %6.0f/s  %v\n", c.name, c.perSecond, c.cpu)
		all = append(all, c)
	}
	idle, busy, err := commandsAtOnce(ctx, o, filepath.Join(dir, "many"))
	if err != nil {
		return fmt.Errorf("%d commands: %w", manyCommands, err)
	}
	return reportKinds(o, all, idle, busy)
}

// world is an installation with MariaDB and Redis; stop ends it.
func world(o options, dir string, env ...string) (p *processes, b *bench, base string, stop func(), err error) {
	p = &processes{dir: dir}
	if err = os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, "", nil, err
	}
	if base, err = p.startTarget(); err != nil {
		return nil, nil, "", p.stop, err
	}
	dsn, redis, err := p.startServers()
	if err != nil {
		return nil, nil, "", p.stop, err
	}
	env = append([]string{
		"AX_HTTP_ADDR=127.0.0.1:" + freePort(), "AX_DATA_DIR=" + dir, "AX_LOG_LEVEL=warn", "AX_WORKER_ALLOW_NETWORKS=127.0.0.0/8",
		"AX_DATABASE_DSN=" + dsn, "AX_REDIS_ADDR=" + redis, "AX_SECRET=" + strings.Repeat("b", 32),
		"AX_SHELL_ENABLED=true", "AX_SHELL_COMMANDS=/bin/true,/bin/sleep",
	}, env...)
	if err = p.startAx(o.ax, env); err != nil {
		return nil, nil, "", p.stop, err
	}
	ledger, err := sql.Open("mysql", dsn)
	if err != nil {
		return nil, nil, "", p.stop, err
	}
	_, err = ledger.Exec("INSERT INTO command_teams (team_id) VALUES (1)")
	if err != nil {
		return nil, nil, "", p.stop, err
	}
	return p, &bench{ledger: ledger, p: p}, base, func() { _ = ledger.Close(); p.stop() }, nil
}

func (k kind) measure(ctx context.Context, o options, dir string) (cost, error) {
	c := cost{name: k.name}
	_, b, base, stop, err := world(o, dir)
	if stop != nil {
		defer stop()
	}
	if err != nil {
		return c, err
	}
	b.target = k.target(base)
	c.perSecond, c.cpu, err = b.throughput(ctx, o.n)
	return c, err
}

// commandsAtOnce gives the memory that ax has resident before and while 500
// commands run, in MiB. The commands' own is theirs.
func commandsAtOnce(ctx context.Context, o options, dir string) (idle, busy int, err error) {
	p, b, _, stop, err := world(o, dir, "AX_WORKER_SLOTS="+strconv.Itoa(manyCommands))
	if stop != nil {
		defer stop()
	}
	if err != nil {
		return 0, 0, err
	}
	if idle, err = p.peak("ax"); err != nil {
		return 0, 0, err
	}
	b.target = `{"kind":"shell","command":"/bin/sleep","args":["20"],"input":"stdin","success_codes":[0]}`
	due := time.Now().Add(5 * time.Second).Truncate(time.Second)
	if err := b.addTasks(manyCommands, func(int) time.Time { return due }); err != nil {
		return 0, 0, err
	}
	most := 0
	for range 120 {
		var running int
		if err := b.ledger.QueryRowContext(ctx, "SELECT COUNT(*) FROM instances WHERE state='running'").Scan(&running); err != nil {
			return 0, 0, err
		}
		most = max(most, running)
		if running == manyCommands {
			busy, err = p.peak("ax")
			return idle, busy, err
		}
		time.Sleep(250 * time.Millisecond)
	}
	return 0, 0, fmt.Errorf("only %d ran at once", most)
}

func reportKinds(o options, all []cost, idle, busy int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## Kinds of targets\n\nWritten by `make bench` on %s.\n\n%d instances due in the same second, each kind on a fresh installation with MariaDB and redis-server; processor time of an instance, without target and commands themselves.\n\n", time.Now().UTC().Format("2006-01-02"), o.n)
	fmt.Fprintf(&b, "| kind | instances/s | processor time | ax | database | Redis |\n|---|---|---|---|---|---|\n")
	for _, c := range all {
		var sum time.Duration
		for _, d := range c.cpu {
			sum += d
		}
		fmt.Fprintf(&b, "| %s | %.0f | %d µs | %d µs | %d µs | %d µs |\n", c.name, c.perSecond, sum.Microseconds(),
			c.cpu["ax"].Microseconds(), c.cpu["mariadbd"].Microseconds(), c.cpu["redis-server"].Microseconds())
	}
	fmt.Fprintf(&b, "\n%d commands running at once on one node: ax has %d MiB resident at its most, %d MiB before the first.\n", manyCommands, busy, idle)
	fmt.Print(b.String())
	if o.add == "" {
		return nil
	}
	f, err := os.OpenFile(o.add, os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(b.String())
	return errors.Join(err, f.Close())
}

// later answers 202 and sends the receipt at once.
func later(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.WriteHeader(http.StatusAccepted)
	url, token := r.Header.Get("Ax-Receipt-Url"), r.Header.Get("Ax-Receipt-Token")
	go func() {
		resp, err := http.Post(url, "application/json", bytes.NewReader(fmt.Appendf(nil, `{"token":%q,"outcome":"succeeded"}`, token)))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode >= 300 {
			fmt.Fprintln(os.Stderr, "receipt:", resp.Status)
		}
	}()
}
