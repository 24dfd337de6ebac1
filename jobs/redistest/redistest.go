// Package redistest gives tests a Redis of their own: the embedded one, and
// a real redis-server that the test starts from its program and stops.
//
// Every test gets its own server: flushing, publishing and killing one
// disturbs nobody.
package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
	"time"

	"ax/jobs"
)

// Each runs the test on the embedded Redis and on a real redis-server. The
// real one is skipped when the program is not installed; with
// AX_TEST_REQUIRE=1 that fails the test.
func Each(t *testing.T, test func(t *testing.T, r *jobs.Redis)) {
	t.Helper()
	t.Run("miniredis", func(t *testing.T) { test(t, open(t, jobs.RedisOptions{Embedded: true})) })
	t.Run("redis-server", func(t *testing.T) { test(t, open(t, jobs.RedisOptions{Addr: Start(t).Addr})) })
}

// Embedded gives an embedded Redis that is closed with the test.
func Embedded(t *testing.T) *jobs.Redis {
	t.Helper()
	return open(t, jobs.RedisOptions{Embedded: true})
}

func open(t *testing.T, o jobs.RedisOptions) *jobs.Redis {
	t.Helper()
	r, err := jobs.OpenRedis(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// Server is a running redis-server without persistence.
type Server struct {
	Addr string
	t    *testing.T
	dir  string
	proc *os.Process // nil: not running
	gone chan struct{}
}

// Start runs a redis-server on a loopback port of its own until the test
// ends. It dies with the test's process.
func Start(t *testing.T) *Server {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("AX_TEST_REQUIRE") == "1" {
			t.Fatal("redis-server is not installed, but AX_TEST_REQUIRE=1 wants it")
		}
		t.Skip("redis-server is not installed")
	}
	s := &Server{t: t, dir: t.TempDir()}
	t.Cleanup(s.Kill)
	for try := range 5 {
		s.Addr = freeAddr(t)
		if err = s.run(program); err == nil {
			return s
		}
		t.Logf("start of redis-server, try %d: %v", try, err)
	}
	t.Fatal(err)
	return nil
}

// freeAddr is free now; somebody else may take it before the server does.
func freeAddr(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// Kill ends the server as kill -9 does. All data is lost.
func (s *Server) Kill() {
	if s.proc == nil {
		return
	}
	_ = s.proc.Kill()
	<-s.gone
	s.proc = nil
}

// Restart runs the server again on its address, empty.
func (s *Server) Restart() {
	s.t.Helper()
	s.Kill()
	program, err := exec.LookPath("redis-server")
	if err == nil {
		err = s.run(program)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *Server) run(program string) error {
	_, port, _ := net.SplitHostPort(s.Addr)
	cmd := exec.Command(program, "--bind", "127.0.0.1", "--port", port, "--dir", s.dir,
		"--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction", "--loglevel", "warning")
	cmd.SysProcAttr = dieWithParent()
	started := make(chan error, 1)
	gone := make(chan struct{})
	go func() {
		// The signal comes when the starting thread ends, so it is kept; and given
		// back, not ended: before, it may have started what a test still needs.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(gone)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start redis-server: %w", err)
	}
	s.proc, s.gone = cmd.Process, gone
	if err := s.await(); err != nil {
		s.Kill()
		return err
	}
	return nil
}

// await waits until the server takes connections and is the one that was
// started.
func (s *Server) await() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for {
		pid, err := s.answers(ctx)
		if err == nil && pid == strconv.Itoa(s.proc.Pid) {
			return nil
		}
		select {
		case <-s.gone:
			return errors.New("redis-server ended at once")
		case <-ctx.Done():
			return fmt.Errorf("redis-server does not answer: %w", errors.Join(ctx.Err(), err))
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// answers gives the process id of the server at the address. It tries the
// bare connection first: the Redis library logs each that fails.
func (s *Server) answers(ctx context.Context) (pid string, err error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.Addr)
	if err != nil {
		return "", err
	}
	_ = c.Close()
	r, err := jobs.OpenRedis(ctx, jobs.RedisOptions{Addr: s.Addr})
	if err != nil {
		return "", err
	}
	defer func() { _ = r.Close() }()
	info, err := r.Client().InfoMap(ctx, "server").Result()
	return info["Server"]["process_id"], err
}
