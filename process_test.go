package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/db/dbtest"
	"ax/jobs/redistest"
)

// program is ax built for this test run, with or without failpoints.
type program struct {
	once sync.Once
	path string
	err  error
}

var plainAx, failingAx program

func (p *program) build(t *testing.T, args ...string) string {
	t.Helper()
	p.once.Do(func() {
		if p.err = lookAtSources(); p.err != nil {
			return
		}
		dir, err := os.MkdirTemp("", "ax-test-")
		if err != nil {
			p.err = err
			return
		}
		p.path = filepath.Join(dir, "ax")
		cmd := exec.Command("go", append(append([]string{"build"}, args...), "-o", p.path, ".")...)
		if out, err := cmd.CombinedOutput(); err != nil {
			p.err = fmt.Errorf("build ax: %w\n%s", err, out)
		}
	})
	require.NoError(t, p.err)
	return p.path
}

// lookAtSources makes the tests' cached results depend on what ax is built of.
// Nothing of it is linked into the tests, so the go command can't know.
func lookAtSources() error {
	return filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == ".git" || d.Name() == "bench") {
			return filepath.SkipDir
		}
		if err == nil {
			_, err = os.Stat(path)
		}
		return err
	})
}

func TestMain(m *testing.M) {
	code := dbtest.Main(m)
	for _, p := range []*program{&plainAx, &failingAx} {
		if p.path != "" {
			os.RemoveAll(filepath.Dir(p.path))
		}
	}
	os.Exit(code)
}

// ax is a running process of ax, and how to start it again.
type ax struct {
	t     *testing.T
	bin   string
	addr  string
	env   []string
	cmd   *exec.Cmd
	log   lockedBuffer
	ended chan struct{}
	token string
	root  string // bin is ax in this folder, which is all that it sees; empty: none
}

// lockedBuffer is what a process printed, readable while it runs.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// quick makes a death known within about a second.
var quick = []string{"AX_NODE_BEAT=300ms", "AX_SCHEDULER_SCAN=200ms", "AX_SCHEDULER_SWEEP=200ms", "AX_WORKER_SHUTDOWN_GRACE=3s"}

// loopback opens this machine, where targets of the tests are, to every team.
const loopback = "AX_WORKER_ALLOW_NETWORKS=127.0.0.0/8"

func freeAddr(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	return ln.Addr().String()
}

// newAx prepares ax on the embedded default in a folder of its own.
func newAx(t *testing.T, bin string, env ...string) *ax {
	t.Helper()
	a := &ax{t: t, bin: bin, addr: freeAddr(t)}
	a.env = append([]string{"AX_HTTP_ADDR=" + a.addr, "AX_DATA_DIR=" + t.TempDir()}, append(quick, env...)...)
	t.Cleanup(a.kill)
	return a
}

// onServers prepares ax on MariaDB and redis-server of its own.
func onServers(t *testing.T, bin string, env ...string) (*ax, *redistest.Server) {
	t.Helper()
	dsn, redis := dbtest.MariaDSN(t), redistest.Start(t)
	return newAx(t, bin, append([]string{"AX_DATABASE_DSN=" + dsn, "AX_REDIS_ADDR=" + redis.Addr, "AX_SECRET=" + strings.Repeat("s", 32), loopback}, env...)...), redis
}

func (a *ax) command(args ...string) *exec.Cmd {
	cmd := exec.Command(a.bin, args...)
	notOurs := func(v string) bool { return strings.HasPrefix(v, "AX_") } // those are of the tests
	cmd.Env = append(slices.DeleteFunc(os.Environ(), notOurs), a.env...)
	cmd.Dir = a.t.TempDir() // no config.yaml: the embedded copy
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if a.root != "" {
		cmd.Dir, cmd.SysProcAttr.Chroot = "/", a.root
	}
	return cmd
}

// say runs a command beside the server and gives what it printed.
func (a *ax) say(stdin string, args ...string) string {
	a.t.Helper()
	cmd := a.command(args...)
	cmd.Stdin = strings.NewReader(stdin)
	var errText bytes.Buffer
	cmd.Stderr = &errText
	out, err := cmd.Output()
	require.NoError(a.t, err, "ax %v: %s%s", args, out, errText.String())
	return strings.TrimSpace(string(out))
}

// start serves and waits until it is ready; extra environment for this start.
func (a *ax) start(extra ...string) {
	a.t.Helper()
	cmd := a.command("serve")
	cmd.Env = append(cmd.Env, extra...)
	cmd.Stdout, cmd.Stderr = &a.log, &a.log
	require.NoError(a.t, cmd.Start())
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	a.cmd, a.ended = cmd, ended
	require.Eventually(a.t, func() bool {
		select {
		case <-ended:
			return true // a failpoint may hit at once
		default:
		}
		resp, err := http.Get("http://" + a.addr + "/readyz")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	}, 30*time.Second, 30*time.Millisecond, "ax is not ready: %s", &a.log)
}

// kill ends the process as kill -9 does.
func (a *ax) kill() {
	if a.cmd == nil {
		return
	}
	_ = a.cmd.Process.Kill()
	<-a.ended
	a.cmd = nil
}

// stop asks the process to end and waits for it.
func (a *ax) stop() {
	a.t.Helper()
	require.NoError(a.t, a.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-a.ended:
	case <-time.After(20 * time.Second):
		a.t.Fatalf("ax did not stop: %s", &a.log)
	}
	a.cmd = nil
}

// dies waits until the process has ended by itself.
func (a *ax) dies() {
	a.t.Helper()
	select {
	case <-a.ended:
		a.cmd = nil
	case <-time.After(30 * time.Second):
		a.t.Fatalf("ax is still alive: %s", &a.log)
	}
}

// prepare makes the token that the test's calls carry.
func (a *ax) prepare() {
	a.token = a.say("", "token", "create", "--team", "default", "--role", "owner")
}

// tryCall calls the API. An error means that no answer came.
func (a *ax) tryCall(method, path string, body any) (int, map[string]any, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	req, err := http.NewRequestWithContext(context.Background(), method, "http://"+a.addr+"/api/v1"+path, bytes.NewReader(raw))
	if err != nil {
		return 0, nil, err
	}
	if body == nil {
		req.Body, req.ContentLength = nil, 0
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil, err
	}
	var out map[string]any
	_ = json.Unmarshal(data, &out) // an answer without JSON has only its status
	return resp.StatusCode, out, nil
}

// call is tryCall that must be answered with the status.
func (a *ax) call(method, path string, body any, status int) map[string]any {
	a.t.Helper()
	got, out, err := a.tryCall(method, path, body)
	require.NoError(a.t, err)
	require.Equal(a.t, status, got, "%s %s: %v", method, path, out)
	return out
}

// verify runs `ax verify`, which must find nothing.
func (a *ax) verify() {
	a.t.Helper()
	a.say("", "verify")
}

// task makes a manual task that calls url.
func (a *ax) task(code, url string, change ...func(map[string]any)) {
	a.t.Helper()
	w := map[string]any{
		"code": code, "name": code, "team": "default",
		"schedule": map[string]any{"kind": "manual"},
		"target":   map[string]any{"kind": "http", "url": url},
		"policy": map[string]any{
			"idempotent": true, "timeout_seconds": 10,
			"retry": map[string]any{"kind": "steps", "max": 2, "delays_seconds": []int{1}},
		},
	}
	for _, c := range change {
		c(w)
	}
	a.call("POST", "/tasks", w, http.StatusCreated)
}

// sink is the callback target: it keeps what came.
type sink struct {
	*httptest.Server
	mu    sync.Mutex
	calls []sinkCall
	serve func(c sinkCall, w http.ResponseWriter)
}

type sinkCall struct {
	Header http.Header
	Body   map[string]any
	At     time.Time
}

func (c sinkCall) key() string { return c.Header.Get("Idempotency-Key") }

func newSink(t *testing.T, serve func(c sinkCall, w http.ResponseWriter)) *sink {
	s := &sink{serve: serve}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := sinkCall{Header: r.Header.Clone(), At: time.Now()}
		_ = json.NewDecoder(r.Body).Decode(&c.Body) // checked by the tests that look at it
		s.mu.Lock()
		s.calls = append(s.calls, c)
		s.mu.Unlock()
		if s.serve != nil {
			s.serve(c, w)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *sink) got() []sinkCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]sinkCall(nil), s.calls...)
}

// perKey counts the calls of each Idempotency-Key.
func (s *sink) perKey() map[string]int {
	out := map[string]int{}
	for _, c := range s.got() {
		out[c.key()]++
	}
	return out
}

// trigger asks for a run until it is accepted: a call that got no answer, or
// 5xx, is repeated with the same biz_id, as a caller would.
func (a *ax) trigger(code, biz string, body map[string]any) error {
	if body == nil {
		body = map[string]any{}
	}
	body["biz_id"] = biz
	for range 300 {
		status, _, err := a.tryCall("POST", "/tasks/"+code+"/trigger", body)
		if err == nil && (status == http.StatusAccepted || status == http.StatusOK) {
			return nil
		}
		if err == nil && status < 500 && status != http.StatusTooManyRequests {
			return fmt.Errorf("trigger %s: status %d", biz, status)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return errors.New("trigger " + biz + " was never accepted")
}

// states counts the instances of a task by state, page by page.
func (a *ax) states(code string) map[string]int {
	a.t.Helper()
	out := map[string]int{}
	cursor := ""
	for {
		status, page, err := a.tryCall("GET", "/instances?task="+code+"&limit=200&cursor="+cursor, nil)
		if err != nil || status != http.StatusOK {
			return map[string]int{"unreachable: " + strconv.Itoa(status): 1}
		}
		for _, it := range page["items"].([]any) {
			out[it.(map[string]any)["state"].(string)]++
		}
		next, _ := page["next_cursor"].(string)
		if next == "" {
			return out
		}
		cursor = next
	}
}

// settles waits until the task has exactly these instances.
func (a *ax) settles(code string, want map[string]int, limit time.Duration) {
	a.t.Helper()
	var last map[string]int
	end := time.Now().Add(limit)
	for time.Now().Before(end) {
		if last = a.states(code); fmt.Sprint(last) == fmt.Sprint(want) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	tail := a.log.String()
	a.t.Fatalf("instances of %s are %v, want %v\n%s", code, last, want, tail[max(0, len(tail)-4000):])
}
