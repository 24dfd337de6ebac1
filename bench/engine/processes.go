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
	"strconv"
	"strings"
	"syscall"
	"time"
)

// processes are what one run started, in the order of their start.
type processes struct {
	dir     string
	counted []*exec.Cmd // their processor time is ax's cost
	other   []*exec.Cmd
}

// start runs a program that dies with this one.
func (p *processes) start(name string, env []string, args ...string) (*exec.Cmd, error) {
	log, err := os.Create(filepath.Join(p.dir, filepath.Base(name)+".log"))
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd, cmd.Start()
}

// stop ends everything, the latest first.
func (p *processes) stop() {
	all := append(p.other, p.counted...)
	for i := len(all) - 1; i >= 0; i-- {
		_ = all[i].Process.Signal(syscall.SIGTERM)
	}
	for _, cmd := range all {
		timer := time.AfterFunc(15*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		timer.Stop()
	}
}

// cpu is the processor time of the counted processes until now, by program.
func (p *processes) cpu() map[string]time.Duration {
	sum := map[string]time.Duration{}
	for _, cmd := range p.counted {
		raw, err := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/stat")
		if err != nil {
			continue
		}
		// After the name in parentheses: utime and stime are fields 12 and 13,
		// in ticks of 10 ms.
		f := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
		for _, s := range f[11:13] {
			ticks, err := strconv.ParseInt(s, 10, 64)
			if err == nil {
				sum[filepath.Base(cmd.Path)] += time.Duration(ticks) * 10 * time.Millisecond
			}
		}
	}
	return sum
}

// peak is the most memory that a counted program had resident, in MiB.
func (p *processes) peak(program string) (int, error) {
	for _, cmd := range p.counted {
		if filepath.Base(cmd.Path) != program {
			continue
		}
		raw, err := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/status")
		if err != nil {
			return 0, err
		}
		_, rest, _ := strings.Cut(string(raw), "VmHWM:")
		kib, err := strconv.Atoi(strings.Fields(rest + " ?")[0])
		return kib / 1024, err
	}
	return 0, fmt.Errorf("%s doesn't run", program)
}

func build(ctx context.Context, to string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", to, "ax")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("build ax: %w\n%s", err, out)
	}
	return nil
}

func freePort() string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err) // no port is left on this machine
	}
	defer ln.Close()
	return strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)
}

// startServers runs MariaDB and redis-server with what a production would
// choose: every commit flushed, READ COMMITTED.
func (p *processes) startServers() (dsn, redis string, err error) {
	data := filepath.Join(p.dir, "mariadb")
	out, err := exec.Command("mariadb-install-db", "--datadir="+data, "--user=root", "--auth-root-authentication-method=normal", "--skip-test-db").CombinedOutput()
	if err != nil {
		return "", "", fmt.Errorf("install MariaDB's tables: %w\n%s", err, out)
	}
	sock := filepath.Join(p.dir, "m.sock")
	maria, err := p.start("mariadbd", nil, "--no-defaults", "--datadir="+data, "--user=root", "--skip-networking", "--socket="+sock,
		"--innodb-buffer-pool-size=512M", "--innodb-flush-log-at-trx-commit=1", "--skip-log-bin")
	if err != nil {
		return "", "", err
	}
	p.counted = append(p.counted, maria)
	port := freePort()
	r, err := p.start("redis-server", nil, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
	if err != nil {
		return "", "", err
	}
	p.counted = append(p.counted, r)
	root, err := sql.Open("mysql", "root@unix("+sock+")/")
	if err != nil {
		return "", "", err
	}
	defer root.Close()
	for range 100 {
		if _, err = root.Exec("CREATE DATABASE ax CHARACTER SET utf8mb4"); err == nil {
			return "root@unix(" + sock + ")/ax", "127.0.0.1:" + port, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return "", "", fmt.Errorf("MariaDB did not start: %w", err)
}

// startAx runs ax with all roles and waits until it is ready.
func (p *processes) startAx(program string, env []string) error {
	cmd, err := p.start(program, env, "serve")
	if err != nil {
		return err
	}
	p.counted = append(p.counted, cmd)
	addr := strings.TrimPrefix(env[0], "AX_HTTP_ADDR=")
	for range 150 {
		resp, err := http.Get("http://" + addr + "/readyz")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("ax did not become ready: see " + p.dir)
}

// startTarget runs this program as the callback target.
func (p *processes) startTarget() (string, error) {
	port := freePort()
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd, err := p.start(self, []string{"PORT=" + port}, "-target")
	if err != nil {
		return "", err
	}
	p.other = append(p.other, cmd)
	return "http://127.0.0.1:" + port, nil
}

// serveTarget answers every call with 200, and those of /later with 202.
func serveTarget() {
	err := http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/later" {
			later(w, r)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, "ok")
	}))
	fmt.Fprintln(os.Stderr, err)
}
