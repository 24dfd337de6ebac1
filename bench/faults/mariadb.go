package main

import (
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
)

// mariadb is a database server with its own data folder. ax reaches it over
// TCP as a user without special rights, the bench over the socket as root.
type mariadb struct {
	*process
	dir  string
	port int
	args []string
	env  []string // more, for its next start
	root *sql.DB
}

// newMaria installs and starts a server in dir; more arguments go to mariadbd.
func newMaria(dir string, more ...string) (*mariadb, error) {
	m := &mariadb{dir: dir, port: freePort(), args: more}
	_ = mysql.SetLogger(&mysql.NopLogger{}) // connections break here all the time
	if err := os.MkdirAll(m.tmp(), 0o700); err != nil {
		return nil, err
	}
	// Two that install at once would take each other's temporary tables away.
	out, err := exec.Command("mariadb-install-db", "--no-defaults", "--datadir="+m.data(), "--tmpdir="+m.tmp(), "--user=root", "--auth-root-authentication-method=normal", "--skip-test-db").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("install MariaDB's tables: %w\n%s", err, out)
	}
	if m.root, err = sql.Open("mysql", "root@unix("+m.socket()+")/?multiStatements=true"); err != nil {
		return nil, err
	}
	if err := m.start(); err != nil {
		return nil, err
	}
	_, err = m.root.Exec("CREATE USER ax@'%'")
	return m, err
}

func (m *mariadb) data() string   { return filepath.Join(m.dir, "maria") }
func (m *mariadb) tmp() string    { return filepath.Join(m.dir, "mtmp") }
func (m *mariadb) socket() string { return filepath.Join(m.dir, "m.sock") }
func (m *mariadb) addr() string   { return "127.0.0.1:" + strconv.Itoa(m.port) }

// start runs the server on its data and waits until it answers.
func (m *mariadb) start() error {
	// What is lost with a crash of the whole machine is not what the bench is
	// about: only the process is killed, and the page cache survives that.
	args := append([]string{
		"--no-defaults", "--datadir=" + m.data(), "--tmpdir=" + m.tmp(), "--user=root", "--socket=" + m.socket(), "--bind-address=127.0.0.1", "--port=" + strconv.Itoa(m.port),
		"--innodb-buffer-pool-size=64M", "--innodb-flush-log-at-trx-commit=2", "--skip-log-bin", "--skip-name-resolve", "--pid-file=" + filepath.Join(m.dir, "m.pid"),
	}, m.args...)
	var err error
	if m.process, err = launch(m.dir, "mariadb", m.env, "mariadbd", args...); err != nil {
		return err
	}
	return within(30*time.Second, "MariaDB answers", func() bool { return m.root.Ping() == nil })
}

// create makes an empty database that the user ax may use.
func (m *mariadb) create(name string) error {
	_, err := m.root.Exec("CREATE DATABASE " + name + " CHARACTER SET utf8mb4; GRANT ALL ON " + name + ".* TO ax@'%'")
	return err
}

// open reads and writes a database as root, past all links.
func (m *mariadb) open(name string) (*sql.DB, error) {
	return sql.Open("mysql", "root@unix("+m.socket()+")/"+name+"?interpolateParams=true")
}

// lastPort is the port that was given last. Ports are taken below those that
// the kernel gives to connections (32768 and up on Linux), each once in a run
// of the bench: one that was free for a moment and then belongs to a connection
// of another installation makes a node talk to the wrong database.
var lastPort atomic.Int64

// freePort gives a port that nobody listens on.
func freePort() int {
	const low, high = 10000, 32000
	lastPort.CompareAndSwap(0, low+int64(os.Getpid())*37%(high-low)) // benches side by side begin apart
	for range high - low {
		port := low + int(lastPort.Add(1))%(high-low)
		if canListen(port) {
			return port
		}
	}
	panic("no port is left on this machine")
}

// canListen tries the port. Nothing is forked meanwhile: a child would keep the
// listener open until its exec, and the port taken.
func canListen(port int) bool {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	ln, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
	if err != nil {
		return false
	}
	return ln.Close() == nil
}

// within waits until ok holds.
func within(limit time.Duration, what string, ok func() bool) error {
	end := time.Now().Add(limit)
	for !ok() {
		if time.Now().After(end) {
			return fmt.Errorf("not within %s: %s", limit, what)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}
