//go:build linux

package shell_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/jobs/shell"
)

// output is what a command printed, readable meanwhile.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
	n  int64
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.n += int64(len(p))
	if o.b.Len() < 1<<20 {
		o.b.Write(p)
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

func newShell(t *testing.T, change ...func(*shell.Settings)) *shell.Shell {
	t.Helper()
	s := shell.Settings{
		Options: shell.Options{Enabled: true, Commands: []string{"/bin/sh"}, KillGrace: 300 * time.Millisecond, Output: "512KB"},
		Folder:  t.TempDir(), Log: slog.New(slog.DiscardHandler), Now: time.Now,
	}
	for _, c := range change {
		c(&s)
	}
	sh, err := shell.New(s)
	require.NoError(t, err)
	t.Cleanup(sh.Close)
	return sh
}

// script runs a text by /bin/sh.
func script(t *testing.T, sh *shell.Shell, limit time.Duration, text string, stdin []byte) (shell.Exit, string, string) {
	t.Helper()
	mark := "AX_RUN=" + t.Name()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	var out output
	e := sh.Run(ctx, shell.Job{Command: "/bin/sh", Args: []string{"-c", text}, Env: []string{mark}, Mark: mark, Stdin: stdin, Output: &out})
	return e, out.String(), mark
}

// alive lists what carries the mark, or has the words on its command line.
func alive(t *testing.T, words string) []string {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	var out []string
	for _, d := range dirs {
		env, _ := os.ReadFile(d + "/environ")
		line, _ := os.ReadFile(d + "/cmdline")
		if strings.Contains(string(env), words) || strings.Contains(string(line), words) {
			out = append(out, d+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return out
}

func TestF33WhateverACommandDoesNothingOfItIsAliveAfterwards(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		limit  time.Duration
		cut    bool
		code   int
		out    string
	}{
		"a background child, and success": {"sleep 301.%d & echo hi", 20 * time.Second, false, 0, "hi\n"},
		"a background child, and failure": {"sleep 301.%d & exit 3", 20 * time.Second, false, 3, ""},
		"sleeps past its limit":           {"echo before; sleep 301.%d", 300 * time.Millisecond, true, -1, "before\n"},
		"ignores TERM":                    {"trap '' TERM; echo on; while :; do sleep 301.%d; done", 300 * time.Millisecond, true, -1, "on\n"},
		"exits 0 when told to end":        {"trap 'exit 0' TERM; sleep 301.%d & wait", 300 * time.Millisecond, true, 0, ""},
		"a session of its own":            {"setsid sleep 301.%d & echo hi", 20 * time.Second, false, 0, "hi\n"},
		"forks twice":                     {"(setsid sh -c 'setsid sleep 301.%d & exit' &) ; sleep 0.2; echo hi", 20 * time.Second, false, 0, "hi\n"},
		"forks twice without environment": {"(setsid env -i sh -c 'sleep 301.%d & exit' &) ; sleep 0.3; echo hi", 20 * time.Second, false, 0, "hi\n"},
		"holds the pipe from elsewhere":   {"setsid env -i sleep 301.%d & echo hi", 20 * time.Second, false, 0, "hi\n"},
		"closes its output and goes on":   {"exec >&- 2>&-; sleep 301.%d", 300 * time.Millisecond, true, -1, ""},
		"closes its output and ends":      {"exec >&- 2>&-; sleep 0.1", 20 * time.Second, false, 0, ""},
		"reads input that ends":           {"cat; cat", 20 * time.Second, false, 0, "{}"},
		"ends by a signal":                {"kill -SEGV $$", 20 * time.Second, false, -1, ""},
		"leaves a zombie":                 {"sh -c 'exit 0' & sleep 0.1; echo hi", 20 * time.Second, false, 0, "hi\n"},
		"exits with a number":             {"exit 42", 20 * time.Second, false, 42, ""},
	} {
		t.Run(name, func(t *testing.T) {
			sh := newShell(t)
			text := c.script
			sign := "sleep 301"
			if strings.Contains(text, "%d") {
				n := time.Now().UnixNano()
				text, sign = fmt.Sprintf(text, n), fmt.Sprintf("301.%d", n)
			}
			began := time.Now()
			e, out, mark := script(t, sh, c.limit, text, []byte("{}"))
			require.NoError(t, e.Err)
			require.Equal(t, c.cut, e.Cut, "%+v", e)
			require.Equal(t, c.code, e.Code, "%+v", e)
			require.Equal(t, c.out, out)
			require.Less(t, time.Since(began), 6*time.Second, "neither a pipe nor a child holds it")
			require.Empty(t, alive(t, mark))
			require.Empty(t, alive(t, sign))
			require.Empty(t, zombies(t), "the dead are buried")
		})
	}
}

// zombies are children of this process that nobody waited for.
func zombies(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	var out []string
	for _, d := range dirs {
		raw, _ := os.ReadFile(d)
		if strings.Contains(string(raw), fmt.Sprintf(") Z %d ", os.Getpid())) {
			out = append(out, string(raw))
		}
	}
	return out
}

func TestASignalIsToldApartFromAnExit(t *testing.T) {
	e, _, _ := script(t, newShell(t), 10*time.Second, "kill -9 $$", nil)
	require.Equal(t, syscall.SIGKILL, e.Signal)
	require.Equal(t, -1, e.Code)
	require.False(t, e.Cut)
}

func TestTheEnvironmentIsCleanAndNothingOfAxIsInherited(t *testing.T) {
	t.Setenv("AX_SECRET", "canary-of-the-environment")
	held, err := os.CreateTemp(t.TempDir(), "held")
	require.NoError(t, err)
	defer held.Close()
	e, out, mark := script(t, newShell(t), 10*time.Second, "env | sort; pwd; umask; ls /proc/self/fd | wc -l; grep NoNewPrivs /proc/self/status", nil)
	require.NoError(t, e.Err)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var names []string
	for _, l := range lines[:len(lines)-4] {
		name, _, _ := strings.Cut(l, "=")
		names = append(names, name)
	}
	require.Equal(t, []string{"AX_RUN", "HOME", "LANG", "PATH", "PWD", "TMPDIR", "TZ"}, names)
	require.Contains(t, out, mark)
	require.NotContains(t, out, "canary")
	require.Contains(t, lines[len(lines)-4], "/ax-run-")
	require.Equal(t, "0077", lines[len(lines)-3])
	require.Equal(t, "4", strings.TrimSpace(lines[len(lines)-2]), "0, 1, 2, and ls's own")
	require.Equal(t, "1", strings.Fields(lines[len(lines)-1])[1], "no new privileges")
	_, err = os.Stat(lines[len(lines)-4])
	require.ErrorIs(t, err, os.ErrNotExist, "its folder goes with it")
}

func TestArgumentsReachTheCommandAsTheyAre(t *testing.T) {
	sh := newShell(t)
	args := []string{"; touch x", "$(id)", "a\nb", "-rf", "", "*", "`id`", "中文"}
	var out output
	e := sh.Run(t.Context(), shell.Job{Command: "/bin/sh", Args: append([]string{"-c", `for a; do printf '<%s>' "$a"; done`, "sh"}, args...), Mark: "AX_RUN=x", Output: &out})
	require.NoError(t, e.Err)
	require.Equal(t, "<"+strings.Join(args, "><")+">", out.String())
}

func TestACommandThatPrintsAGigabyteIsReadToItsEnd(t *testing.T) {
	sh := newShell(t)
	var out output
	e := sh.Run(t.Context(), shell.Job{Command: "/bin/sh", Args: []string{"-c", "head -c 1073741824 /dev/zero"}, Mark: "AX_RUN=gb", Output: &out})
	require.NoError(t, e.Err)
	require.Zero(t, e.Code)
	require.EqualValues(t, 1<<30, out.n)
}

func TestOnlyWhatIsAllowedRuns(t *testing.T) {
	dir := t.TempDir()
	folder, elsewhere := filepath.Join(dir, "jobs"), filepath.Join(dir, "elsewhere")
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "open"), 0o755))
	require.NoError(t, os.Mkdir(elsewhere, 0o755))
	put := func(mode os.FileMode, name string) string {
		require.NoError(t, os.WriteFile(name, []byte("#!/bin/sh\necho ran\n"), 0o755))
		require.NoError(t, os.Chmod(name, mode))
		return name
	}
	good := put(0o755, filepath.Join(folder, "good.sh"))
	out := put(0o755, filepath.Join(elsewhere, "out.sh"))
	require.NoError(t, os.Symlink(out, filepath.Join(folder, "link.sh")))
	require.NoError(t, os.Symlink(good, filepath.Join(folder, "inside.sh")))
	put(0o777, filepath.Join(folder, "loose.sh"))
	put(0o644, filepath.Join(folder, "plain.sh"))
	put(0o755, filepath.Join(folder, "open", "in.sh"))
	require.NoError(t, os.Chmod(filepath.Join(folder, "open"), 0o777))
	sh := newShell(t, func(s *shell.Settings) { s.Options.Folders = []string{folder} })

	for name, c := range map[string]struct{ command, why string }{
		"a file of the folder":          {good, ""},
		"a link that stays inside":      {filepath.Join(folder, "inside.sh"), ""},
		"a listed command":              {"/bin/sh", ""},
		"not listed":                    {"/bin/ls", "is not among the commands"},
		"a link that leads out":         {filepath.Join(folder, "link.sh"), "is not among the commands"},
		"dots that lead out":            {folder + "/../elsewhere/out.sh", "no absolute path"},
		"dots that come back":           {folder + "/open/../good.sh", "no absolute path"},
		"relative":                      {"good.sh", "no absolute path"},
		"empty":                         {"", "no absolute path"},
		"NUL":                           {good + "\x00.sh", "no absolute path"},
		"a folder":                      {filepath.Join(folder, "open"), "is not a file"},
		"a file that others can write":  {filepath.Join(folder, "loose.sh"), "can be written by others"},
		"in a folder that others write": {filepath.Join(folder, "open", "in.sh"), "can be written by others"},
		"not executable":                {filepath.Join(folder, "plain.sh"), "is not executable"},
		"not there":                     {filepath.Join(folder, "gone.sh"), "no such file"},
		"a name that begins like it":    {folder + "x/good.sh", "is not among the commands"},
	} {
		t.Run(name, func(t *testing.T) {
			var out output
			e := sh.Run(t.Context(), shell.Job{Command: c.command, Mark: "AX_RUN=allow", Output: &out})
			if c.why == "" {
				require.NoError(t, e.Err)
				return
			}
			require.ErrorContains(t, e.Err, c.why)
			require.False(t, e.Started)
			require.Empty(t, out.String())
		})
	}
}

func TestAFolderThatOthersCanWriteIsRefusedAtTheStart(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o775))
	_, err := shell.New(shell.Settings{Options: shell.Options{Folders: []string{dir}}, Folder: t.TempDir(), Log: slog.New(slog.DiscardHandler), Now: time.Now})
	require.ErrorContains(t, err, "shell.folders: "+dir+" can be written by others")
	for _, name := range []string{"root", "no-such-user-of-ax"} {
		_, err = shell.New(shell.Settings{Options: shell.Options{User: name}, Folder: t.TempDir(), Log: slog.New(slog.DiscardHandler), Now: time.Now})
		require.ErrorContains(t, err, "shell.user")
	}
}

// asNobody needs root.
func asNobody(t *testing.T) func(*shell.Settings) {
	t.Helper()
	if _, err := user.Lookup("nobody"); err != nil || os.Geteuid() != 0 {
		t.Skip("needs root and a user nobody")
	}
	return func(s *shell.Settings) { s.Options.User, s.Options.Pids, s.Options.Memory = "nobody", 40, "256MB" }
}

func TestCommandsRunAsTheSeparateUserAndWithinItsLimits(t *testing.T) {
	sh := newShell(t, asNobody(t))
	e, out, _ := script(t, sh, 20*time.Second, "id -un; echo x > own; cat own; cat /proc/$PPID/environ", nil)
	require.NoError(t, e.Err)
	require.True(t, strings.HasPrefix(out, "nobody\nx\n"), out)
	require.Contains(t, out, "ermission denied", "the environment of ax is closed")

	e, _, mark := script(t, sh, 2*time.Second, "b() { b | b & }; b; sleep 300", nil)
	require.NoError(t, e.Err)
	require.Empty(t, alive(t, mark), "a fork bomb is limited, and gone")
}

func TestTheLimitOfMemoryIsOfWhatIsUsedNotOfWhatIsReserved(t *testing.T) {
	sh := newShell(t, func(s *shell.Settings) { s.Options.Memory = "128MB" })
	e, out, _ := script(t, sh, 20*time.Second, os.Args[0]+" -test.list '^TestC18'", nil)
	require.NoError(t, e.Err)
	require.Zero(t, e.Code, "a program of Go starts: %s", out)
	require.Contains(t, out, "TestC18")
	e, out, _ = script(t, sh, 20*time.Second, `awk 'BEGIN { s = "1234567890abcdef"; for (i = 0; i < 25; i++) s = s s; print length(s) }'`, nil)
	require.NoError(t, e.Err)
	require.False(t, e.Code == 0 && e.Signal == 0, "512 MB are too much: %s", out)
}

// TestC18 runs itself as the process that is killed.
func TestC18ProcessesOfAKilledAxAreGoneAndEndedAtTheNextStart(t *testing.T) {
	folder := os.Getenv("SHELL_TEST_FOLDER")
	if folder != "" {
		sh := newShell(t, func(s *shell.Settings) { s.Folder = folder })
		mark := "AX_RUN=" + os.Getenv("SHELL_TEST_MARK")
		var out output
		_ = sh.Run(t.Context(), shell.Job{Command: "/bin/sh", Args: []string{"-c", "setsid sleep 302 & sleep 302; :"}, Env: []string{mark}, Mark: mark, Output: &out})
		return
	}
	folder = filepath.Join(t.TempDir(), "runs")
	name := fmt.Sprintf("c18-%d", time.Now().UnixNano())
	mark := "AX_RUN=" + name
	cmd := exec.Command(os.Args[0], "-test.run=^TestC18", "-test.timeout=60s")
	cmd.Env = append(os.Environ(), "SHELL_TEST_FOLDER="+folder, "SHELL_TEST_MARK="+name)
	require.NoError(t, cmd.Start())
	defer func() { _ = cmd.Process.Kill() }()
	require.Eventually(t, func() bool { return len(alive(t, mark)) == 3 }, 20*time.Second, 20*time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	require.Eventually(t, func() bool { return len(alive(t, mark)) <= 2 }, 10*time.Second, 20*time.Millisecond, "the command dies with its ax")

	newShell(t, func(s *shell.Settings) { s.Folder = folder })
	require.Empty(t, alive(t, mark), "what it had started is ended by the next start")
	for pid := 1; pid > 0; { // this process became the parent of what was left
		pid, _ = syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
	}
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestCloseEndsWhatRuns(t *testing.T) {
	sh := newShell(t)
	var out output
	ended := make(chan shell.Exit, 1)
	mark := "AX_RUN=" + t.Name()
	go func() {
		ended <- sh.Run(context.Background(), shell.Job{Command: "/bin/sh", Args: []string{"-c", "trap '' TERM; echo on; sleep 303"}, Env: []string{mark}, Mark: mark, Output: &out})
	}()
	require.Eventually(t, func() bool { return out.String() == "on\n" }, 10*time.Second, 10*time.Millisecond)
	sh.Close()
	e := <-ended
	require.Equal(t, syscall.SIGKILL, e.Signal)
	require.Empty(t, alive(t, mark))
}

func TestManyRunsAtOnceEndEachOnlyTheirOwn(t *testing.T) {
	sh := newShell(t)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			mark := fmt.Sprintf("AX_RUN=many-%d", i)
			var out output
			e := sh.Run(t.Context(), shell.Job{Command: "/bin/sh", Args: []string{"-c", fmt.Sprintf("(setsid sleep 304 &); sleep 0.%d; echo %d", i%7, i)}, Env: []string{mark}, Mark: mark, Output: &out})
			if e.Err != nil || e.Code != 0 || out.String() != fmt.Sprintf("%d\n", i) {
				t.Errorf("run %d: %+v %q", i, e, out.String())
			}
		})
	}
	all.Wait()
	require.Empty(t, alive(t, "AX_RUN=many-"))
	require.Empty(t, zombies(t))
}
