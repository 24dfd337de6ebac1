package dbtest

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// mariadb is a server in a folder of its own, which ends with this process.
type mariadb struct {
	once   sync.Once
	err    error
	dir    string
	port   int
	proc   *os.Process
	exited chan struct{}
	admin  *sql.DB
	serial atomic.Int64
	// tables returns the statements that build a migrated schema.
	tables func() (string, error)
}

const startLimit = 60 * time.Second

var errNotInstalled = errors.New("program not found")

// start starts the server at the first call; later calls return what came of it.
func (m *mariadb) start() error {
	m.once.Do(func() {
		m.tables = sync.OnceValues(m.template)
		m.err = m.launch()
	})
	return m.err
}

func (m *mariadb) launch() error {
	server, err := find("mariadbd", "/usr/sbin/mariadbd")
	if err != nil {
		return err
	}
	install, err := find("mariadb-install-db", "/usr/bin/mariadb-install-db")
	if err != nil {
		return err
	}
	if m.dir, err = makeDir(); err != nil {
		return err
	}
	out, err := exec.Command(install, append([]string{"--no-defaults", "--auth-root-authentication-method=normal",
		"--skip-test-db", "--datadir=" + m.data()}, asRoot()...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("install MariaDB in %s: %w\n%s", m.dir, err, out)
	}
	for try := 1; ; try++ { // somebody may take the free port before the server does
		if err = m.run(server); err == nil || try == 3 {
			return err
		}
	}
}

func find(name, fallback string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	path, err := exec.LookPath(fallback)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errNotInstalled, err)
	}
	return path, nil
}

// makeDir prefers memory: what is written here is thrown away.
func makeDir() (string, error) {
	base := os.TempDir()
	if f, err := os.CreateTemp("/dev/shm", "ax-"); err == nil {
		base = "/dev/shm"
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
	sweep(base)
	return os.MkdirTemp(base, fmt.Sprintf("ax-mariadb-%d-", os.Getpid()))
}

// sweep removes folders that killed test processes left behind.
func sweep(base string) {
	dirs, _ := filepath.Glob(filepath.Join(base, "ax-mariadb-*-*"))
	for _, dir := range dirs {
		pid, err := strconv.Atoi(strings.Split(filepath.Base(dir), "-")[2])
		if err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			_ = os.RemoveAll(dir)
		}
	}
}

func (m *mariadb) data() string { return filepath.Join(m.dir, "data") }

func asRoot() []string {
	if os.Getuid() == 0 {
		return []string{"--user=root"}
	}
	return nil
}

func (m *mariadb) run(server string) error {
	var err error
	if m.port, err = freePort(); err != nil {
		return err
	}
	log := &bytes.Buffer{}
	cmd := exec.Command(server, append([]string{"--no-defaults",
		"--datadir=" + m.data(), "--tmpdir=" + m.dir, "--socket=" + filepath.Join(m.dir, "s"), "--pid-file=" + filepath.Join(m.dir, "pid"),
		"--bind-address=127.0.0.1", "--port=" + strconv.Itoa(m.port), "--skip-name-resolve", "--max-connections=1000",
		"--innodb-buffer-pool-size=64M", "--innodb-log-file-size=64M", "--innodb-flush-log-at-trx-commit=0",
		"--innodb-doublewrite=0", "--innodb-use-native-aio=0", "--skip-log-bin", "--performance-schema=off",
		"--default-time-zone=+08:00", "--character-set-server=latin1"}, append(recordOptions(), asRoot()...)...)...)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = log, log, dieWithParent()
	m.exited = make(chan struct{})
	started := make(chan error, 1)
	go func() {
		// The death signal comes when the starting thread ends, so it must not;
		// nor afterwards: before, it may have started what a test still needs.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
		close(m.exited)
	}()
	if err := <-started; err != nil {
		return err
	}
	m.proc = cmd.Process
	if err := m.await(); err != nil {
		_ = m.proc.Kill()
		<-m.exited
		return fmt.Errorf("%w\n%s", err, log)
	}
	return nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// await waits until the server answers.
func (m *mariadb) await() error {
	var err error
	if m.admin, err = sql.Open("mysql", m.dsn("")); err != nil {
		return err
	}
	limit := time.After(startLimit)
	for {
		if err = m.admin.Ping(); err == nil {
			return nil
		}
		select {
		case <-m.exited:
			return errors.New("MariaDB ended at its start")
		case <-limit:
			return fmt.Errorf("MariaDB doesn't answer: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (m *mariadb) dsn(name string) string {
	return fmt.Sprintf("root@tcp(127.0.0.1:%d)/%s", m.port, name)
}

// create makes an empty database and returns its name.
func (m *mariadb) create() (string, error) {
	name := fmt.Sprintf("ax_%d", m.serial.Add(1))
	_, err := m.admin.Exec("CREATE DATABASE " + name)
	return name, err
}

func (m *mariadb) drop(name string) { _, _ = m.admin.Exec("DROP DATABASE IF EXISTS " + name) }

// stop kills the server, whose data nobody wants, and removes its folder.
func (m *mariadb) stop() {
	if m.proc != nil {
		if err := m.record(); err != nil {
			fmt.Fprintln(os.Stderr, "record the statements:", err)
		}
		_ = m.proc.Kill()
		<-m.exited
	}
	if m.dir != "" {
		_ = os.RemoveAll(m.dir)
	}
}
