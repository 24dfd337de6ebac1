package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// rabbit is a RabbitMQ of its own, run from the installed program as the
// current user. Its processes end with the bench: the shell in front of each
// waits for the end of its input and then ends the whole group.
type rabbit struct {
	dir, scripts string
	ports        []int // of AMQP, of the names, of the node
	names, node  *leashed
}

type leashed struct {
	cmd   *exec.Cmd
	input io.Closer
	gone  chan struct{}
}

const leash = `"$@" </dev/null & read _; kill -9 0`

// newRabbit starts one, or says by errSkip that there is none.
func newRabbit(dir string) (*rabbit, error) {
	found, _ := filepath.Glob("/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin")
	if len(found) == 0 {
		return nil, errSkip{"RabbitMQ is not installed"}
	}
	r := &rabbit{dir: filepath.Join(dir, "rabbitmq"), scripts: found[0], ports: []int{freePort(), freePort(), freePort()}}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return nil, err
	}
	for name, text := range map[string]string{".erlang.cookie": "axbench", "plugins": "[].\n", "none": "", "rabbitmq.conf": "disk_free_limit.absolute = 1MB\nvm_memory_high_watermark.relative = 0.8\n"} {
		if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o400); err != nil {
			return nil, err
		}
	}
	var err error
	if r.names, err = r.launch("epmd", "epmd", "-port", strconv.Itoa(r.ports[1]), "-address", "127.0.0.1"); err != nil {
		return nil, err
	}
	return r, r.start()
}

func (r *rabbit) addr() string { return "127.0.0.1:" + strconv.Itoa(r.ports[0]) }
func (r *rabbit) name() string { return "ax" + strconv.Itoa(r.ports[0]) + "@localhost" }

func (r *rabbit) launch(name, program string, args ...string) (*leashed, error) {
	out, err := os.OpenFile(filepath.Join(r.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	l := &leashed{cmd: exec.Command("/bin/sh", append([]string{"-c", leash, "sh", program}, args...)...), gone: make(chan struct{})}
	l.cmd.Env, l.cmd.Dir, l.cmd.Stdout, l.cmd.Stderr = r.env(), r.dir, out, out
	l.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if l.input, err = l.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := l.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() { _ = l.cmd.Wait(); close(l.gone) }()
	return l, nil
}

func (l *leashed) kill() {
	if l != nil {
		_ = l.input.Close()
		<-l.gone
	}
}

func (r *rabbit) env() []string {
	file := func(name string) string { return filepath.Join(r.dir, name) }
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + r.dir, "LANG=C.UTF-8", "ERL_EPMD_ADDRESS=127.0.0.1",
		"ERL_EPMD_PORT=" + strconv.Itoa(r.ports[1]), "RABBITMQ_DIST_PORT=" + strconv.Itoa(r.ports[2]), "RABBITMQ_NODE_PORT=" + strconv.Itoa(r.ports[0]),
		"RABBITMQ_NODENAME=" + r.name(), "RABBITMQ_NODE_IP_ADDRESS=127.0.0.1", "RABBITMQ_LOGS=-",
		"RABBITMQ_MNESIA_BASE=" + file("data"), "RABBITMQ_LOG_BASE=" + file("log"), "RABBITMQ_ENABLED_PLUGINS_FILE=" + file("plugins"),
		"RABBITMQ_CONFIG_FILE=" + file("rabbitmq.conf"), "RABBITMQ_CONF_ENV_FILE=" + file("none"), "RABBITMQ_GENERATED_CONFIG_DIR=" + file("cfg"), "RABBITMQ_PID_FILE=" + file("pid"),
	}
}

// start runs the node on what it wrote before.
func (r *rabbit) start() error {
	var err error
	if r.node, err = r.launch("rabbitmq", filepath.Join(r.scripts, "rabbitmq-server")); err != nil {
		return err
	}
	return within(90*time.Second, "RabbitMQ answers", func() bool {
		c, err := net.DialTimeout("tcp", r.addr(), time.Second)
		if err != nil {
			return false
		}
		return c.Close() == nil
	})
}

// kill ends the node as kill -9 does; what it confirmed is kept.
func (r *rabbit) kill() { r.node.kill() }

func (r *rabbit) close() {
	r.node.kill()
	r.names.kill()
}

// ctl runs rabbitmqctl.
func (r *rabbit) ctl(args ...string) error {
	cmd := exec.Command(filepath.Join(r.scripts, "rabbitmqctl"), append([]string{"--silent", "-n", r.name()}, args...)...)
	cmd.Env, cmd.Dir = r.env(), r.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return errors.Join(fmt.Errorf("rabbitmqctl %s", strings.Join(args, " ")), err, errors.New(string(out)))
	}
	return nil
}
