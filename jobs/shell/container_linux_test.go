//go:build linux && slow

package shell_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/jobs/shell"
)

// box is a running container of a real podman with storage of its own.
type box struct{ engine []string }

// newBox starts a container with nothing but busybox in it. It needs podman,
// runc, busybox and a kernel that lets this user run containers; without one of
// them the test is skipped, but where the programs are required only for the
// kernel.
func newBox(t *testing.T) box {
	t.Helper()
	for _, name := range []string{"podman", "runc", "busybox"} {
		if _, err := exec.LookPath(name); err != nil {
			require.Empty(t, os.Getenv("AX_TEST_REQUIRE"), "%s isn't installed", name)
			t.Skip(name + " isn't installed")
		}
	}
	dir, err := os.MkdirTemp("/tmp", "axbox") // podman takes 50 characters
	require.NoError(t, err)
	t.Cleanup(func() { // what watched the container writes a last file
		require.Eventually(t, func() bool { return os.RemoveAll(dir) == nil }, 5*time.Second, 50*time.Millisecond)
	})
	podman, err := exec.LookPath("podman")
	require.NoError(t, err)
	b := box{[]string{podman, "--runtime=runc", "--storage-driver=vfs", "--cgroup-manager=cgroupfs", "--root=" + dir + "/root", "--runroot=" + dir + "/run"}}
	fs := filepath.Join(dir, "fs")
	require.NoError(t, os.MkdirAll(fs+"/bin", 0o755))
	busybox, err := exec.LookPath("busybox")
	require.NoError(t, err)
	raw, err := os.ReadFile(busybox)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(fs+"/bin/busybox", raw, 0o755))
	for _, name := range []string{"sh", "sleep", "tr", "grep", "kill", "cat", "setsid", "env"} {
		require.NoError(t, os.Symlink("busybox", fs+"/bin/"+name))
	}
	require.NoError(t, exec.Command("tar", "-C", fs, "-cf", dir+"/fs.tar", ".").Run())
	if out, err := b.do("import", dir+"/fs.tar", "ax-box"); err != nil {
		t.Skip("podman can't import here: " + out)
	}
	out, err := b.do("run", "--detach", "--name=box", "--network=none", "--ulimit=nofile=1024:1024", "--ulimit=nproc=1000:1000", "ax-box", "/bin/sleep", "600")
	t.Cleanup(func() {
		_, err := b.do("rm", "--force", "--time=0", "box")
		require.NoError(t, err)
		bury(t)
	})
	if err != nil {
		t.Skip("no container can run here: " + out)
	}
	return b
}

// bury waits for what podman left to this process, which is the parent of
// orphans: the other tests look for the dead.
func bury(t *testing.T) {
	require.Eventually(t, func() bool {
		var status syscall.WaitStatus
		for pid := 1; pid > 0; {
			pid, _ = syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		}
		return len(zombies(t)) == 0
	}, 5*time.Second, 50*time.Millisecond)
}

func (b box) do(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, b.engine[0], append(b.engine[1:len(b.engine):len(b.engine)], args...)...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// inside lists what runs in the container besides its first process.
func (b box) inside(t *testing.T) string {
	t.Helper()
	out, err := b.do("exec", "box", "/bin/sh", "-c", `for d in /proc/[0-9]*; do [ "$d" = /proc/1 ] || [ "$d" = "/proc/$$" ] || tr '\0' ' ' <$d/cmdline 2>/dev/null; done; :`)
	require.NoError(t, err, out)
	return out
}

func TestACommandInAContainerIsEndedAsAWhole(t *testing.T) {
	b := newBox(t)
	sh := newShell(t, func(s *shell.Settings) {
		s.Options.Engine, s.Options.Containers, s.Options.Memory = b.engine, []string{"box:/bin/sh"}, "512MB"
	})
	for name, c := range map[string]struct {
		script string
		limit  time.Duration
		cut    bool
		code   int
		out    string // podman 4.3 may lose what is printed when input ended before
	}{
		"ends by itself":         {`echo "AX_RUN=$AX_RUN"; exit 3`, time.Minute, false, 3, "AX_RUN=ends"},
		"reads its input":        {`[ "$(cat)" = "{}" ] && exit 7`, time.Minute, false, 7, ""},
		"past its limit":         {"echo on; sleep 301", 2 * time.Second, true, 0, "on"},
		"ignores TERM":           {"trap '' TERM; echo on; while :; do sleep 301; done", 2 * time.Second, true, 0, "on"},
		"leaves a session":       {"setsid sleep 301 & echo hi", time.Minute, false, 0, "hi"},
		"a child without a word": {"setsid env -i /bin/sleep 301 & echo hi; sleep 301", 2 * time.Second, true, 0, "hi"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), c.limit)
			defer cancel()
			mark := "AX_RUN=" + strings.ReplaceAll(name, " ", "-")
			job := shell.Job{Command: "/bin/sh", Args: []string{"-c", c.script}, Container: "box", Env: []string{mark}, Mark: mark}
			if c.out == "" {
				job.Stdin = []byte("{}")
			}
			var out output
			job.Output = &out
			e := sh.Run(ctx, job)
			require.NoError(t, e.Err, out.String())
			require.Equal(t, c.cut, e.Cut, "%+v %s", e, out.String())
			if !c.cut {
				require.Equal(t, c.code, e.Code, out.String())
			}
			require.Contains(t, out.String(), c.out)
			require.NotContains(t, b.inside(t), "sleep 301")
		})
	}
	t.Run("another one or another file", func(t *testing.T) {
		require.ErrorContains(t, sh.Allowed("other", "/bin/sh"), "shell.containers")
		require.ErrorContains(t, sh.Allowed("box", "/bin/cat"), "shell.containers")
		require.ErrorContains(t, sh.Allowed("box", "/bin/../bin/sh"), "absolute")
		e := sh.Run(t.Context(), shell.Job{Command: "/bin/cat", Container: "box", Mark: "AX_RUN=x", Output: &output{}})
		require.False(t, e.Started)
	})
	t.Run("the values stand on no command line", func(t *testing.T) {
		mark := "AX_RUN=lines"
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		done := make(chan struct{})
		var out output
		go func() {
			defer close(done)
			sh.Run(ctx, shell.Job{Command: "/bin/sh", Args: []string{"-c", "echo on; sleep 301"}, Container: "box", Env: []string{mark, "AX_PAYLOAD=hush-hush"}, Mark: mark, Output: &out})
		}()
		require.Eventually(t, func() bool { return strings.Contains(out.String(), "on") }, 10*time.Second, 20*time.Millisecond)
		lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
		require.NoError(t, err)
		for _, l := range lines {
			raw, _ := os.ReadFile(l)
			require.NotContains(t, string(raw), "hush-hush")
		}
		<-done
	})
}
