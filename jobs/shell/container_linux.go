package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// insideWait bounds one look into a container.
const insideWait = 10 * time.Second

// insideScript sends a signal to all processes of the container that carry the
// mark of a run, and prints their pids; signal 0 only looks. Its words come as
// arguments.
const insideScript = `for d in /proc/[0-9]*; do
p=${d#/proc/}
[ "$p" = "$$" ] && continue
tr '\0' '\n' <"$d/environ" 2>/dev/null | grep -qxF -e "$1" && kill -s "$2" "$p" 2>/dev/null && echo "$p"
done
:`

// containers are where commands may run besides this machine itself.
type containers struct {
	engine  []string // podman or docker, with its options
	allowed []string // name:/path/of/file or name:/folder/
}

// start checks the engine, so that a mistake shows before the first run.
func (c containers) start() error {
	if len(c.allowed) == 0 {
		return nil
	}
	if _, err := exec.LookPath(c.engine[0]); err != nil {
		return fmt.Errorf("shell.engine: %w", err)
	}
	return nil
}

// check says why the command may not run in the container; nil: it may. What
// the file is there is the container's own affair.
func (c containers) check(container, command string) error {
	if strings.ContainsRune(command, 0) || !filepath.IsAbs(command) || filepath.Clean(command) != command {
		return fmt.Errorf("%q is no absolute path of a command", command)
	}
	if slices.ContainsFunc(c.allowed, func(a string) bool {
		name, path, _ := strings.Cut(a, ":")
		return name == container && (path == command || strings.HasSuffix(path, "/") && strings.HasPrefix(command, path))
	}) {
		return nil
	}
	return fmt.Errorf("%s in the container %s is not among the commands of this node (shell.containers)", command, container)
}

// argv runs the job's command in its container. The values of the environment
// are the engine's own, so they don't stand on its command line.
func (c containers) argv(job Job) []string {
	args := append(slices.Clone(c.engine), "exec")
	if job.Stdin != nil {
		args = append(args, "--interactive")
	}
	for _, word := range job.Env {
		name, _, _ := strings.Cut(word, "=")
		args = append(args, "--env", name)
	}
	return append(append(args, job.Container, job.Command), job.Args...)
}

// inside sends a signal to what the run has in its container, and gives how
// many processes got it; 0 only looks. A container that is gone, or has no
// shell, has none.
func (r *run) inside(sig syscall.Signal) int {
	engine := r.sh.containers.engine
	if r.job.Container == "" || len(engine) == 0 {
		return 0
	}
	name := map[syscall.Signal]string{syscall.SIGTERM: "TERM", syscall.SIGKILL: "KILL"}[sig]
	if name == "" {
		name = "0"
	}
	ctx, cancel := context.WithTimeout(context.Background(), insideWait)
	defer cancel()
	argv := append(slices.Clone(engine), "exec", r.job.Container, "/bin/sh", "-c", insideScript, "sh", r.job.Mark, name)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = []string{"PATH=" + path, "LANG=C.UTF-8"}
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			r.sh.s.Log.Warn("looking into a container failed", "container", r.job.Container, "error", err, "said", firstLine(exit.Stderr))
		}
		return 0
	}
	return bytes.Count(out, []byte("\n"))
}

func firstLine(b []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(b), []byte("\n"))
	return string(line)
}
