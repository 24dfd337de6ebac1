package mqtest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// process is a group of processes that ends with this one: the shell in front
// waits for the end of its input and then ends the whole group, itself too.
type process struct {
	cmd   *exec.Cmd
	input io.Closer
	log   string
	gone  chan struct{}
}

// leash runs a program beside a shell that reads.
const leash = `"$@" </dev/null & read _; kill -9 0`

func launch(log string, env []string, program string, args ...string) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close() // the process has its own
	p := &process{log: log, gone: make(chan struct{})}
	p.cmd = exec.Command("/bin/sh", append([]string{"-c", leash, "sh", program}, args...)...)
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr, p.cmd.SysProcAttr = env, out, out, &syscall.SysProcAttr{Setpgid: true}
	if p.input, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	go func() { _ = p.cmd.Wait(); close(p.gone) }()
	return p, nil
}

// kill ends the group.
func (p *process) kill() {
	if p == nil {
		return
	}
	_ = p.input.Close()
	<-p.gone
}

// await waits until somebody listens.
func (p *process) await(limit time.Duration, addr string) error {
	over := time.After(limit)
	for {
		c, err := net.DialTimeout("tcp", addr, time.Second)
		if err == nil {
			_ = c.Close()
			return nil
		}
		select {
		case <-p.gone:
			return errors.New("RabbitMQ ended at its start\n" + p.tail())
		case <-over:
			return errors.New("RabbitMQ doesn't answer\n" + p.tail())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (p *process) tail() string {
	raw, _ := os.ReadFile(p.log)
	return string(raw[max(0, len(raw)-2000):])
}

func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
