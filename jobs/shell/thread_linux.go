package shell

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// Of prctl(2).
const (
	prSetDumpable       = 4
	prSetChildSubreaper = 36
	prSetNoNewPrivs     = 38
)

func prctl(option, value uintptr) error {
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, option, value, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// spawner starts all commands on one thread of its own. They die with that
// thread (Pdeathsig), which is the process's end or Close; and what the thread
// gave up, they can't have: new privileges, and a mask that lets others read.
type spawner struct {
	asks chan spawnAsk
	over chan struct{}
	end  sync.Once
}

type spawnAsk struct {
	cmd *exec.Cmd
	got chan error
}

// newSpawner begins the thread; giveUp is what it gives up (prctl), 0 nothing.
func newSpawner(giveUp uintptr) (*spawner, error) {
	s := &spawner{asks: make(chan spawnAsk), over: make(chan struct{})}
	ready := make(chan error, 1)
	go s.serve(giveUp, ready)
	return s, <-ready
}

func (s *spawner) serve(giveUp uintptr, ready chan<- error) {
	runtime.LockOSThread() // never unlocked: the thread ends with this function
	err := syscall.Unshare(syscall.CLONE_FS)
	if err == nil {
		syscall.Umask(0o077) // of this thread only, from here on
		if giveUp != 0 {
			err = prctl(giveUp, 1)
		}
	}
	if err != nil {
		ready <- fmt.Errorf("prepare the thread that starts commands: %w", err)
		return
	}
	ready <- nil
	for {
		select {
		case ask := <-s.asks:
			ask.got <- ask.cmd.Start()
		case <-s.over:
			return
		}
	}
}

// start starts a command; an error after close.
func (s *spawner) start(cmd *exec.Cmd) error {
	ask := spawnAsk{cmd, make(chan error, 1)}
	select {
	case s.asks <- ask:
		return <-ask.got
	case <-s.over:
		return errors.New("this process is stopping")
	}
}

// close ends the thread and with it what it started.
func (s *spawner) close() { s.end.Do(func() { close(s.over) }) }
