package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func commands() []scenario {
	return []scenario{
		{name: "F33", says: "commands that leave children behind, ignore TERM, flood, close their output, exit 0 after the limit, while their workers are killed, stopped and frozen",
			worksAt: commandWork, run: harmCommandWorkers, still: nothingLeft, after: commandsEnd, quiet: 90 * time.Second},
	}
}

// reports is the first thing that each command does: this program tells the
// sink of the run as ax tells a target, so that the same judges look at it.
const reports = `set -e
%[1]s -command %[2]s%[3]s
`

// scripts of the commands; what they leave behind sleeps longer than the run.
var scripts = map[string]struct{ path, rest string }{
	"cmd-ok":       {"/ok", ""},
	"cmd-pay":      {"/slow/400", ""},
	"cmd-fail":     {"/ok", "exit 3\n"},
	"cmd-children": {"/slow/50", "sleep 900 &\nsetsid sleep 900 &\n(setsid sh -c 'sleep 900 & sleep 900' &) &\n"},
	"cmd-stubborn": {"/ok", "trap '' TERM\nsleep 900\nsleep 900\n"},
	"cmd-flood":    {"/ok", "head -c 30000000 /dev/zero | tr '\\0' 'x'\n"},
	"cmd-mute":     {"/ok", "exec >&- 2>&- <&-\nsleep 0.2\n"},
	"cmd-late":     {"/ok", "trap 'exit 0' TERM\nsleep 900 &\nwait\n"},
}

// commandWork writes the scripts, starts the workers anew with their folder,
// and opens commands to the team.
func commandWork(h *house) ([]work, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(h.dir, "commands")
	if err := os.Mkdir(folder, 0o755); err != nil {
		return nil, err
	}
	for name, s := range scripts {
		text := "#!/bin/sh\n" + fmt.Sprintf(reports, self, h.sink.url, s.path) + s.rest
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o755); err != nil {
			return nil, err
		}
	}
	if _, err := h.command("team", "commands", "default", "on", "--reason", "the bench"); err != nil {
		return nil, err
	}
	for _, n := range h.with("worker") {
		n.env = append(n.env, "AX_SHELL_ENABLED=true", "AX_SHELL_FOLDERS="+folder, "AX_SHELL_KILL_GRACE=500ms", "AX_SHELL_OUTPUT=64KB")
		if err := n.restart(); err != nil {
			return nil, err
		}
	}
	command := func(name string) map[string]any {
		return map[string]any{"kind": "shell", "command": filepath.Join(folder, name)}
	}
	return append(fewSlots(),
		work{code: "cmd-ok", target: command("cmd-ok"), schedule: manual, idempotent: true, retries: 4, rate: 2},
		work{code: "cmd-pay", target: command("cmd-pay"), schedule: manual, rate: 2},
		work{code: "cmd-fail", target: command("cmd-fail"), schedule: manual, idempotent: true, retries: 1, rate: 0.5},
		work{code: "cmd-children", target: command("cmd-children"), schedule: manual, idempotent: true, retries: 4, rate: 1},
		work{code: "cmd-stubborn", target: command("cmd-stubborn"), schedule: manual, timeout: 1, rate: 0.5},
		work{code: "cmd-flood", target: command("cmd-flood"), schedule: manual, idempotent: true, retries: 4, rate: 0.5},
		work{code: "cmd-mute", target: command("cmd-mute"), schedule: manual, idempotent: true, retries: 4, rate: 0.5},
		work{code: "cmd-late", target: command("cmd-late"), schedule: manual, timeout: 1, rate: 0.5},
	), nil
}

// harmCommandWorkers kills, stops and freezes the workers in turn.
func harmCommandWorkers(ctx context.Context, h *house) error {
	h.zombies = true // a frozen worker's commands go on
	for i, w := range append(h.with("worker"), h.with("worker")...) {
		rest(ctx, h.between(1500*time.Millisecond, 3*time.Second))
		switch (i + h.random.IntN(2)) % 3 {
		case 0:
			h.tell("kill -9 %s", w.name)
			w.kill()
			rest(ctx, h.between(0, time.Second))
		case 1:
			h.tell("stop %s", w.name)
			w.doomed()
			if !w.p.stop(15 * time.Second) {
				return errors.New(w.name + " doesn't stop")
			}
		default:
			h.tell("freeze %s", w.name)
			w.freeze()
			rest(ctx, 2*deadAfter)
			w.thaw()
			continue
		}
		if err := w.start(); err != nil {
			return err
		}
	}
	rest(ctx, 2*time.Second)
	return nil
}

// nothingLeft waits until no process of the installation's runs is alive.
func nothingLeft(_ context.Context, h *house) error {
	var left []string
	err := within(30*time.Second, "all that commands started has ended", func() bool {
		left = h.ofCommands()
		return len(left) == 0
	})
	if err != nil {
		return fmt.Errorf("%w: %s", err, strings.Join(left, ", "))
	}
	return nil
}

// ofCommands are the processes that commands of this installation started.
func (h *house) ofCommands() (out []string) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		env, _ := os.ReadFile(p + "/environ")
		_, after, ours := strings.Cut(string(env), "\x00AX_INSTANCE=")
		if !ours {
			continue
		}
		id, _, _ := strings.Cut(after, "\x00")
		var n int
		if err := h.ledger.QueryRow("SELECT COUNT(*) FROM instances WHERE id=?", id).Scan(&n); err != nil || n > 0 {
			line, _ := os.ReadFile(p + "/cmdline")
			out = append(out, p+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return out
}

// commandsEnd: what may be repeated, and nobody canceled, is lost only with its
// third worker.
func commandsEnd(ctx context.Context, h *house) error {
	var early int
	err := h.ledger.QueryRowContext(ctx, "SELECT COUNT(*) FROM instances WHERE state='lost' AND deaths<3 AND cancel_wanted IS NULL AND task_id IN (?,?,?,?)",
		h.taskID("cmd-ok"), h.taskID("cmd-children"), h.taskID("cmd-flood"), h.taskID("cmd-mute")).Scan(&early)
	if err != nil {
		return err
	}
	if early > 0 {
		return fmt.Errorf("%d instances that may be repeated are lost before their third worker died", early)
	}
	limit := time.Second + 2*deadAfter + overLimit // its worker may be frozen meanwhile
	return h.endAs(map[string]ends{
		"cmd-ok": {"succeeded lost", 0}, "cmd-pay": {"succeeded lost", 0}, "cmd-fail": {"failed lost", 0}, "cmd-children": {"succeeded lost", 0},
		"cmd-stubborn": {"timed_out lost", limit}, "cmd-flood": {"succeeded lost", 0}, "cmd-mute": {"succeeded lost", 0},
		"cmd-late": {"timed_out lost", limit},
	})
}

// tellSink is this program as the first step of a command: it tells the sink of
// the run, by what ax put into its environment.
func tellSink(url string) error {
	body, err := json.Marshal(map[string]string{"task": os.Getenv("AX_TASK")})
	if err != nil {
		return err
	}
	req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for header, name := range map[string]string{"Idempotency-Key": "AX_KEY", "Ax-Instance": "AX_INSTANCE", "Ax-Attempt": "AX_ATTEMPT"} {
		req.Header.Set(header, os.Getenv(name))
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("the sink said %s", resp.Status)
	}
	return nil
}
