package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// F33, C18: a worker that is told to stop, or killed, while a command runs that
// must not be repeated: nothing of it is alive afterwards, and nobody runs it
// again.
func TestF33ACommandThatMustNotRepeatRunsOnceWhateverBecomesOfItsWorker(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*ax){"told to stop": (*ax).stop, "killed": (*ax).kill} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			require.NoError(t, os.Chmod(folder, 0o755))
			count, script := filepath.Join(t.TempDir(), "count"), filepath.Join(folder, "once.sh")
			require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\necho $AX_INSTANCE >> "+count+"\ntrap '' TERM\nsetsid sleep 60 &\nsleep 60\nsleep 60\n"), 0o755))
			ran := func() []string { raw, _ := os.ReadFile(count); return strings.Fields(string(raw)) }
			a := newAx(t, plainAx.build(t), "AX_SHELL_ENABLED=true", "AX_SHELL_FOLDERS="+folder, "AX_SHELL_KILL_GRACE=300ms", "AX_WORKER_SHUTDOWN_GRACE=500ms")
			a.start()
			a.prepare()
			a.say("", "team", "commands", "default", "on")
			a.task("once", "", func(w map[string]any) {
				w["target"] = map[string]any{"kind": "shell", "command": script}
				w["policy"] = map[string]any{"idempotent": false, "timeout_seconds": 120}
			})
			require.NoError(t, a.trigger("once", "day-7", nil))
			require.Eventually(t, func() bool { return len(ran()) == 1 }, 20*time.Second, 50*time.Millisecond, "%s", &a.log)
			end(a)
			if name == "told to stop" {
				require.Empty(t, commandsOf(ran()[0]), "it takes its command along")
			}
			a.start()
			require.Empty(t, commandsOf(ran()[0]), "the next start ends what a killed worker left")
			a.settles("once", map[string]int{"lost": 1}, 30*time.Second)
			require.Len(t, ran(), 1)
			a.verify()
		})
	}
}

// An ax that is told to run commands as it can't says so and doesn't start.
func TestCommandsThatTheMachineCannotRunStopTheStart(t *testing.T) {
	open := t.TempDir()
	require.NoError(t, os.Chmod(open, 0o777))
	a := newAx(t, plainAx.build(t), "AX_SHELL_ENABLED=true", "AX_SHELL_FOLDERS="+open)
	out, err := a.command("serve").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "shell.folders: "+open+" can be written by others than its owner")
}

// A node without commands takes none, and the API says who may make them.
func TestANodeWithoutCommandsLeavesThemWaiting(t *testing.T) {
	a := newAx(t, plainAx.build(t))
	a.start()
	a.prepare()
	a.say("", "team", "commands", "default", "on")
	a.task("close", "", func(w map[string]any) {
		w["target"] = map[string]any{"kind": "shell", "command": "/opt/jobs/close.sh"}
	})
	require.NoError(t, a.trigger("close", "day-7", nil))
	require.Never(t, func() bool { s := a.states("close"); return s["failed"]+s["running"] > 0 }, 3*time.Second, 100*time.Millisecond)
	a.token = a.say("", "token", "create", "--team", "default", "--role", "editor")
	a.call("POST", "/tasks", map[string]any{
		"code": "other", "name": "Other", "team": "default", "schedule": map[string]any{"kind": "manual"},
		"target": map[string]any{"kind": "shell", "command": "/opt/jobs/close.sh"}, "policy": map[string]any{"idempotent": true, "timeout_seconds": 10},
	}, http.StatusForbidden)
}

// commandsOf are the processes of a run of the instance.
func commandsOf(id string) []string {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	var out []string
	for _, d := range dirs {
		env, _ := os.ReadFile(d + "/environ")
		if strings.Contains(string(env), fmt.Sprintf("AX_INSTANCE=%s\x00", id)) {
			out = append(out, d)
		}
	}
	return out
}
