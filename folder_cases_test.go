//go:build slow

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// F45: whoever reads the log hangs up. Scheduling goes on, in the same process.
func TestF45ALogWhoseReaderHangsUpStopsNothing(t *testing.T) {
	a := newAx(t, plainAx.build(t), "AX_LOG_LEVEL=debug")
	s := newSink(t, nil)
	a.prepare()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	cmd := a.command("serve")
	cmd.Stdout, cmd.Stderr = write, write
	require.NoError(t, cmd.Start())
	require.NoError(t, write.Close())
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	a.cmd, a.ended = cmd, ended
	_, err = read.Read(make([]byte, 1)) // it has begun to speak
	require.NoError(t, err)
	require.NoError(t, read.Close())
	require.Eventually(t, func() bool {
		status, _, err := a.tryCall("GET", "/tasks", nil)
		return err == nil && status == 200
	}, 30*time.Second, 50*time.Millisecond)
	a.task("tick", s.URL, everySecond)
	require.Eventually(t, func() bool { return len(s.got()) >= 3 }, 30*time.Second, 50*time.Millisecond)
	select {
	case <-ended:
		t.Fatalf("ax ended: %s", cmd.ProcessState)
	default:
	}
	a.verify()
}

// F46: a second server on the folder is refused, names it, and does the first
// one no harm.
func TestF46ASecondServerOnAFolderIsRefused(t *testing.T) {
	a := newAx(t, plainAx.build(t))
	s := newSink(t, nil)
	a.prepare()
	a.start()
	a.task("tick", s.URL, everySecond)
	cmd := a.command("serve")
	cmd.Env = append(cmd.Env, "AX_HTTP_ADDR="+freeAddr(t))
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), a.folder())
	require.Contains(t, string(out), "another ax")
	before := len(s.got())
	require.Eventually(t, func() bool { return len(s.got()) >= before+2 }, 30*time.Second, 50*time.Millisecond)
	a.verify()
}

// F46: on a file that can't be written the start is refused and says why.
func TestF46AReadOnlyFolderIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64m"); err != nil {
		t.Skip("a file system can't be mounted here: ", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, 0)) })
	a := newAx(t, plainAx.build(t), "AX_DATA_DIR="+filepath.Join(dir, "data"))
	a.prepare()
	a.start()
	a.stop()
	require.NoError(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	began := time.Now()
	out, err := a.command("serve").CombinedOutput()
	require.Error(t, err)
	require.Less(t, time.Since(began), 20*time.Second)
	require.Contains(t, string(out), "read-only")
}

// folder is where the embedded default keeps its things.
func (a *ax) folder() string {
	dir := ""
	for _, kv := range a.env {
		if name, value, _ := strings.Cut(kv, "="); name == "AX_DATA_DIR" {
			dir = value
		}
	}
	return dir
}
