//go:build failpoint

package fail

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// armed is what is to happen, by place.
var armed = fromEnvironment()

func fromEnvironment() *atomic.Pointer[rules] {
	rs, err := parse(os.Getenv("AX_FAILPOINT"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "AX_FAILPOINT:", err)
		os.Exit(2)
	}
	p := new(atomic.Pointer[rules])
	p.Store(&rs)
	return p
}

// Set replaces what is armed, for tests inside a process; restore puts back
// what was. It is for one test at a time.
func Set(spec string) (restore func(), err error) {
	rs, err := parse(spec)
	if err != nil {
		return nil, err
	}
	old := armed.Swap(&rs)
	return func() { armed.Store(old) }, nil
}

// At is a place: it does what is armed for it, and returns an error only if
// that is the action.
func At(name string) error {
	var err error
	for _, r := range (*armed.Load())[name] {
		if pass := r.passes.Add(1); r.nth == 0 || pass == r.nth {
			err = errors.Join(err, r.act(name, pass))
		}
	}
	return err
}

func (r *rule) act(name string, pass int64) error {
	fmt.Fprintf(os.Stderr, "failpoint %s: %s at pass %d\n", name, r.action, pass)
	switch r.action {
	case actError:
		return fmt.Errorf("failpoint %s", name)
	case actPanic:
		panic("failpoint " + name)
	case actDelay:
		time.Sleep(r.delay)
	case actStop:
		stop()
	default:
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	return nil
}

// stop stands still until SIGCONT. The signal reaches the threads one after
// another, so this one waits instead of running on for a moment.
func stop() {
	on := make(chan os.Signal, 1)
	signal.Notify(on, syscall.SIGCONT)
	defer signal.Stop(on)
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	<-on
}
