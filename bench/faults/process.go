package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// process is a program that the bench started. It dies with the bench.
type process struct {
	name  string
	log   string // file with all that it printed, over all its starts
	cmd   *exec.Cmd
	ended chan struct{}
}

// launch starts a program whose words are added to dir/name.log.
func launch(dir, name string, env []string, program string, args ...string) (*process, error) {
	p := &process{name: name, log: filepath.Join(dir, name+".log"), ended: make(chan struct{})}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close() // the process has its own
	p.cmd = exec.Command(program, args...)
	p.cmd.Env = append(cleanEnv(), env...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, out, out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() { _ = p.cmd.Wait(); close(p.ended) }()
	return p, nil
}

// cleanEnv is the environment without settings of ax.
func cleanEnv() []string {
	var out []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "AX_") {
			out = append(out, kv)
		}
	}
	return out
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// alive tells whether it runs; a frozen process does.
func (p *process) alive() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// kill ends it as kill -9 does, frozen or not.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.ended
}

// freeze and thaw stop and go on with all of its threads.
func (p *process) freeze() { p.signal(syscall.SIGSTOP) }
func (p *process) thaw()   { p.signal(syscall.SIGCONT) }

// stop asks it to end and tells whether it did within the limit; what did not
// is killed.
func (p *process) stop(limit time.Duration) bool {
	p.thaw()
	p.signal(syscall.SIGTERM)
	if p.ends(limit) {
		return true
	}
	p.kill()
	return false
}

// ends waits until it has ended by itself.
func (p *process) ends(limit time.Duration) bool {
	select {
	case <-p.ended:
		return true
	case <-time.After(limit):
		return false
	}
}

// tail is the end of what it printed.
func (p *process) tail(bytes int) string {
	raw, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(raw[max(0, len(raw)-bytes):])
}
