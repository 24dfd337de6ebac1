// Package mqtest gives tests a RabbitMQ of their own, which runs from the
// installed program as the current user, on ports and in a folder of its own.
//
// A package whose tests use the shared one calls Main from its TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(mqtest.Main(m)) }
//
// Without an installed RabbitMQ those tests are skipped, unless AX_TEST_REQUIRE
// is 1. It is for tests only and must not be imported by other code.
package mqtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Broker is a RabbitMQ. Guest has all rights, with the password guest.
type Broker struct {
	Addr string

	scripts string // folder of its programs
	dir     string
	port    int
	names   *process // epmd, by which nodes find each other
	node    *process // nil: not running
}

var errNotInstalled = errors.New("RabbitMQ is not installed")

// shared is the one of this test process, started at first use.
type sharedBroker struct {
	once   sync.Once
	broker *Broker
	err    error
}

var shared sharedBroker

// Main runs the tests and stops the shared broker if they started it. It
// returns the exit code.
func Main(m *testing.M) int {
	defer func() {
		if shared.broker != nil {
			shared.broker.Close()
		}
	}()
	return m.Run()
}

// Shared gives the broker of this test process. Tests make exchanges and
// queues under names of their own there, and leave the broker alone.
func Shared(t *testing.T) *Broker {
	t.Helper()
	shared.once.Do(func() { shared.broker, shared.err = New() })
	return usable(t, shared.broker, shared.err)
}

// Start gives a broker that the test may harm, until the test ends.
func Start(t *testing.T) *Broker {
	t.Helper()
	b, err := New()
	if err == nil {
		t.Cleanup(b.Close)
	}
	return usable(t, b, err)
}

func usable(t *testing.T, b *Broker, err error) *Broker {
	t.Helper()
	switch {
	case err == nil:
		return b
	case errors.Is(err, errNotInstalled) && os.Getenv("AX_TEST_REQUIRE") != "1":
		t.Skip(err)
	default:
		t.Fatalf("start RabbitMQ: %v", err)
	}
	return nil
}

// New starts a broker outside of a test, for a bench. Close stops it.
func New() (*Broker, error) {
	scripts, err := find()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "ax-rabbitmq-")
	if err != nil {
		return nil, err
	}
	b := &Broker{scripts: scripts, dir: dir}
	for try := 1; ; try++ { // somebody may take a free port before the broker does
		if err = b.prepare(); err == nil {
			err = b.Run()
		}
		if err == nil {
			return b, nil
		}
		if try == 3 {
			b.Close()
			return nil, err
		}
		b.Kill()
		b.names.kill()
	}
}

// find gives the folder of the programs themselves: what Debian puts into the
// path changes to a user of its own.
func find() (string, error) {
	for _, pattern := range []string{"/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin", "/opt/rabbitmq/sbin"} {
		found, _ := filepath.Glob(pattern)
		for _, dir := range found {
			if _, err := os.Stat(filepath.Join(dir, "rabbitmq-server")); err == nil {
				return dir, nil
			}
		}
	}
	return "", errNotInstalled
}

// prepare takes free ports, writes what the node reads, and starts the server
// of names.
func (b *Broker) prepare() error {
	ports, err := freePorts(3)
	if err != nil {
		return err
	}
	b.port = ports[0]
	b.Addr = "127.0.0.1:" + strconv.Itoa(b.port)
	files := map[string]string{
		".erlang.cookie": "axtest",
		"plugins":        "[].\n",
		"none":           "",
		"rabbitmq.conf":  "disk_free_limit.absolute = 1MB\nvm_memory_high_watermark.relative = 0.8\n",
		"env": strings.Join([]string{
			"ERL_EPMD_PORT=" + strconv.Itoa(ports[1]), "RABBITMQ_DIST_PORT=" + strconv.Itoa(ports[2]),
			"RABBITMQ_NODE_PORT=" + strconv.Itoa(b.port),
		}, "\n"),
	}
	for name, text := range files {
		_ = os.Remove(b.file(name)) // the cookie may only be read
		if err := os.WriteFile(b.file(name), []byte(text), 0o400); err != nil {
			return err
		}
	}
	epmd, err := exec.LookPath("epmd")
	if err != nil {
		return fmt.Errorf("%w: %w", errNotInstalled, err)
	}
	b.names, err = launch(b.file("epmd.log"), b.env(), epmd, "-port", strconv.Itoa(ports[1]), "-address", "127.0.0.1")
	return err
}

func (b *Broker) file(name string) string { return filepath.Join(b.dir, name) }

func (b *Broker) env() []string {
	own, _ := os.ReadFile(b.file("env"))
	return append(strings.Split(string(own), "\n"),
		"PATH="+os.Getenv("PATH"), "HOME="+b.dir, "LANG=C.UTF-8", "ERL_EPMD_ADDRESS=127.0.0.1",
		"RABBITMQ_NODENAME="+b.name(), "RABBITMQ_NODE_IP_ADDRESS=127.0.0.1",
		"RABBITMQ_MNESIA_BASE="+b.file("data"), "RABBITMQ_LOG_BASE="+b.file("log"), "RABBITMQ_LOGS=-",
		"RABBITMQ_ENABLED_PLUGINS_FILE="+b.file("plugins"), "RABBITMQ_CONFIG_FILE="+b.file("rabbitmq.conf"),
		"RABBITMQ_CONF_ENV_FILE="+b.file("none"), "RABBITMQ_GENERATED_CONFIG_DIR="+b.file("cfg"), "RABBITMQ_PID_FILE="+b.file("pid"),
	)
}

func (b *Broker) name() string { return "ax" + strconv.Itoa(b.port) + "@localhost" }

// startLimit is long for a machine that is busy with other tests.
const startLimit = 2 * time.Minute

// Run starts the node, on what it wrote before, and waits until it listens.
func (b *Broker) Run() error {
	var err error
	if b.node, err = launch(b.file("node.log"), b.env(), filepath.Join(b.scripts, "rabbitmq-server")); err != nil {
		return err
	}
	return b.node.await(startLimit, b.Addr)
}

// Kill ends the node as kill -9 does. What it confirmed is kept.
func (b *Broker) Kill() {
	b.node.kill()
	b.node = nil
}

// Close ends everything, and throws away what was kept.
func (b *Broker) Close() {
	b.node.kill()
	b.names.kill()
	_ = os.RemoveAll(b.dir)
}

// Ctl runs rabbitmqctl and gives what it printed.
func (b *Broker) Ctl(args ...string) (string, error) {
	cmd := exec.Command(filepath.Join(b.scripts, "rabbitmqctl"), append([]string{"--silent", "-n", b.name()}, args...)...)
	cmd.Env, cmd.Dir = b.env(), b.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("rabbitmqctl %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}
