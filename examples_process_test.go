package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/db/dbtest"
	"ax/jobs"
)

// script is an example in Python that runs beside ax.
type script struct {
	t     *testing.T
	log   lockedBuffer
	cmd   *exec.Cmd
	ended chan struct{}
}

// python starts an example. Without Python the test is skipped, unless the
// programs are required.
func python(t *testing.T, env []string, name string, args ...string) *script {
	t.Helper()
	bin, err := exec.LookPath("python3")
	if err != nil && !dbtest.Require() {
		t.Skip("python3 isn't installed")
	}
	require.NoError(t, err)
	path, err := filepath.Abs(filepath.Join("docs", "examples", name))
	require.NoError(t, err)
	s := &script{t: t, cmd: exec.Command(bin, append([]string{path}, args...)...), ended: make(chan struct{})} //nolint:gosec // our own example
	s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = append(os.Environ(), env...), &s.log, &s.log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, s.cmd.Start())
	go func() { _ = s.cmd.Wait(); close(s.ended) }()
	t.Cleanup(s.kill)
	return s
}

// kill ends it as kill -9 does.
func (s *script) kill() {
	_ = s.cmd.Process.Kill()
	<-s.ended
}

// says waits until it has printed the words.
func (s *script) says(words string) {
	s.t.Helper()
	require.Eventually(s.t, func() bool { return strings.Contains(s.log.String(), words) }, 20*time.Second, 20*time.Millisecond, "%s", &s.log)
}

// executor starts the example executor with a token of the team that is bound
// to its name.
func (a *ax) executor(team, name string) *script {
	a.t.Helper()
	token := a.say("", "token", "create", "--team", team, "--role", "operator", "--name", name, "--executors", name)
	s := python(a.t, []string{"AX_URL=http://" + a.addr, "AX_TOKEN=" + token, "AX_SIGNING_KEY=" + a.say("", "signing-key")}, "executor.py", "--name", name)
	s.says("registered ")
	return s
}

// calls is a task that calls work of the executor.
func calls(name, kind, route string) func(map[string]any) {
	return func(w map[string]any) {
		w["target"] = map[string]any{"kind": "http", "executor": name, "type": kind, "route": route}
	}
}

// A service in another language registers, answers 202, reports, and sends its
// receipt; at SIGTERM it leaves, and a task says that nobody is there.
func TestAServiceInPythonIsAnExecutor(t *testing.T) {
	t.Parallel()
	a := newAx(t, plainAx.build(t))
	a.start()
	a.prepare()
	s := a.executor("default", "billing")
	a.task("close", "", calls("billing", "close-day", "round_robin"))
	require.NoError(t, a.trigger("close", "day-1", nil))
	a.settles("close", map[string]int{"succeeded": 1}, 30*time.Second)
	s.says("call close-day close/day-1\n")
	s.says(" 200\n") // the receipt

	require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
	<-s.ended
	require.Contains(t, s.log.String(), "left\n")
	require.Zero(t, s.cmd.ProcessState.ExitCode())
	a.task("again", "", calls("billing", "close-day", "hash"), func(w map[string]any) {
		w["policy"] = map[string]any{"idempotent": true, "retry": map[string]any{"max": 0}}
	})
	require.NoError(t, a.trigger("again", "day-2", nil))
	a.settles("again", map[string]int{"failed": 1}, 30*time.Second)
	items := a.call("GET", "/instances?task=again", nil, http.StatusOK)["items"].([]any)
	require.Contains(t, items[0].(map[string]any)["error"], "no executor of billing is online; last seen ")
	a.verify()
}

// A broadcast calls each of two services with its part, and keeps what became
// of both; one that is killed costs its own part, and a retry finishes it.
func TestABroadcastOutlivesAServiceThatIsKilled(t *testing.T) {
	t.Parallel()
	a := newAx(t, plainAx.build(t))
	a.start()
	a.prepare()
	one, two := a.executor("default", "billing"), a.executor("default", "billing")
	a.task("refresh", "", calls("billing", "refresh", "broadcast"), func(w map[string]any) {
		w["policy"] = map[string]any{"idempotent": true, "retry": map[string]any{"kind": "steps", "max": 1, "delays_seconds": []int{16}}}
	})
	require.NoError(t, a.trigger("refresh", "r-1", nil))
	a.settles("refresh", map[string]int{"succeeded": 1}, 30*time.Second)
	keys := one.log.String() + two.log.String()
	require.Contains(t, keys, "call refresh refresh/r-1 shard 0/2\n")
	require.Contains(t, keys, "call refresh refresh/r-1 shard 1/2\n")

	one.kill() // ax takes it for online for fifteen seconds more
	require.NoError(t, a.trigger("refresh", "r-2", nil))
	a.task("turns", "", calls("billing", "refresh", "failover"))
	for i := range 4 {
		require.NoError(t, a.trigger("turns", "t-"+strconv.Itoa(i), nil))
	}
	a.settles("turns", map[string]int{"succeeded": 4}, 30*time.Second)
	a.task("rounds", "", calls("billing", "refresh", "round_robin"), func(w map[string]any) {
		w["policy"] = map[string]any{"idempotent": true, "retry": map[string]any{"kind": "steps", "max": 8, "delays_seconds": []int{1}}}
	})
	for i := range 10 { // half of them meet the dead one first
		require.NoError(t, a.trigger("rounds", "n-"+strconv.Itoa(i), nil))
	}
	a.settles("rounds", map[string]int{"succeeded": 10}, 40*time.Second)
	a.settles("refresh", map[string]int{"succeeded": 2}, 40*time.Second)
	require.Equal(t, 4, strings.Count(one.log.String()+two.log.String(), "call refresh refresh/"), "each part once")
	require.Contains(t, two.log.String(), "call refresh refresh/r-2 shard 0/2\n")
	require.Contains(t, two.log.String(), "call refresh refresh/r-2 shard 1/2\n")
	a.verify()
}

// The example that verifies signatures takes ax's own calls, and no others.
func TestATargetInPythonBelievesSignedCallsOnly(t *testing.T) {
	t.Parallel()
	a := newAx(t, plainAx.build(t))
	a.start()
	a.prepare()
	key, addr := a.say("", "signing-key"), freeAddr(t)
	s := python(t, []string{"AX_SIGNING_KEY=" + key}, "verify_signature.py", "--port", addr[strings.LastIndex(addr, ":")+1:])
	s.says("listening on ")
	a.task("signed", "http://"+addr+"/work")
	require.NoError(t, a.trigger("signed", "s-1", nil))
	a.settles("signed", map[string]int{"succeeded": 1}, 30*time.Second)

	foreign, err := jobs.NewSigner(bytes.Repeat([]byte("x"), 32))
	require.NoError(t, err)
	sign := func(at time.Time, body string) string {
		h := hmac.New(sha256.New, []byte(key))
		fmt.Fprintf(h, "%d.i-1.%s", at.Unix(), body)
		return "v1=" + hex.EncodeToString(h.Sum(nil))
	}
	post := func(at time.Time, body, signature string) int {
		req, err := http.NewRequest(http.MethodPost, "http://"+addr+"/work", strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Ax-Instance", "i-1")
		req.Header.Set("Ax-Timestamp", strconv.FormatInt(at.Unix(), 10))
		req.Header.Set("Ax-Signature", signature)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode
	}
	now := time.Now()
	require.Equal(t, 401, post(now, "{}", ""))
	require.Equal(t, 401, post(now, "{}", foreign.Sign(now, "i-1", []byte("{}"))), "of another installation")
	require.Equal(t, 401, post(now, `{"more":1}`, sign(now, "{}")), "another body")
	require.Equal(t, 200, post(now, "{}", sign(now, "{}")))
	require.Equal(t, 409, post(now, "{}", sign(now, "{}")), "sent again")
	old := now.Add(-6 * time.Minute)
	require.Equal(t, 408, post(old, "{}", sign(old, "{}")), "too old")
}
