package shell

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

const (
	// tidy is how long what a command left behind may take to end by TERM.
	tidy = 2 * time.Second
	// look is how often it is looked whether a run is gone.
	look = 20 * time.Millisecond
	// drained is how long the output is read after everything is gone: a pipe
	// that somebody else holds must not hold ax.
	drained = time.Second
	// killTries bounds the killing of what starts faster than it dies.
	killTries = 500
)

// run is a command on its way.
type run struct {
	sh     *Shell
	job    Job
	note   note
	folder string
	cgroup string
	cgfd   *os.File // nil: no cgroup
	cmd    *exec.Cmd
	pid    int    // leader of its session and group; 0: not started
	began  uint64 // of the leader
	out    *os.File
	in     *os.File // nil: nothing to read
	read   chan struct{}
}

// Run runs the command to its end, or ends it when ctx does: TERM to all of
// it, KILL after the grace. When it returns nothing of the run is alive.
func (s *Shell) Run(ctx context.Context, job Job) Exit {
	if err := s.Allowed(job.Container, job.Command); err != nil {
		return Exit{Err: err, Code: -1}
	}
	start := s.s.Now()
	r := &run{sh: s, job: job, read: make(chan struct{})}
	if err := r.start(ctx); err != nil {
		r.end()
		return Exit{Err: err, Code: -1, Cut: ctx.Err() != nil}
	}
	exit := r.follow(ctx)
	r.end()
	exit.Took = s.s.Now().Sub(start)
	return exit
}

// start makes all that the run needs and starts it.
func (r *run) start(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("not started: %w", err)
	}
	if err := r.prepare(); err != nil {
		return err
	}
	outW, inR, err := r.pipes()
	if err != nil {
		return err
	}
	defer func() { _ = outW.Close() }()
	go r.copyOut()
	if inR != nil {
		defer func() { _ = inR.Close() }()
	}
	path, args := r.argv()
	as := r.sh.as
	if r.job.Container != "" {
		as = nil // the engine's client is ax's own; who runs inside is the container's choice
	}
	r.cmd = &exec.Cmd{
		Path: path, Args: args, Env: environment(r.job, r.folder), Dir: r.folder,
		Stdout: outW, Stderr: outW,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL, Credential: as},
	}
	if inR != nil {
		r.cmd.Stdin = inR // nil: /dev/null
	}
	if r.cgfd != nil {
		r.cmd.SysProcAttr.UseCgroupFD, r.cmd.SysProcAttr.CgroupFD = true, int(r.cgfd.Fd())
	}
	if err := r.spawn(); err != nil {
		return fmt.Errorf("start %s: %w", r.job.Command, err)
	}
	if r.in != nil {
		go r.feed()
	}
	return nil
}

// prepare makes the folder, the note and the cgroup of a run.
func (r *run) prepare() error {
	var err error
	if r.folder, err = os.MkdirTemp("", "ax-run-"); err != nil {
		return fmt.Errorf("make the folder of a run: %w", err)
	}
	if as := r.sh.as; as != nil {
		if err := os.Chown(r.folder, int(as.Uid), int(as.Gid)); err != nil {
			return fmt.Errorf("give the folder of a run to its user: %w", err)
		}
	}
	if r.cgroup, err = r.sh.cgroups.open(r.folder[len(r.folder)-10:], r.sh.memory, r.sh.s.Options.Pids); err != nil {
		return err
	}
	if r.cgroup != "" {
		if r.cgfd, err = os.Open(r.cgroup); err != nil {
			return fmt.Errorf("open the cgroup of a run: %w", err)
		}
	}
	r.note, err = r.sh.write(note{Mark: r.job.Mark, Container: r.job.Container, Folder: r.folder, Cgroup: r.cgroup})
	return err
}

func (r *run) pipes() (outW, inR *os.File, err error) {
	if r.out, outW, err = os.Pipe(); err != nil {
		r.out = nil
		return nil, nil, fmt.Errorf("make the pipe of the output: %w", err)
	}
	if r.job.Stdin == nil {
		return outW, nil, nil
	}
	if inR, r.in, err = os.Pipe(); err != nil {
		_ = outW.Close()
		_ = r.out.Close()
		r.out = nil
		return nil, nil, fmt.Errorf("make the pipe of the input: %w", err)
	}
	return outW, inR, nil
}

// spawn starts the command and notes it. The lock keeps it from being taken
// for an orphan before it is known.
func (r *run) spawn() error {
	r.sh.mu.Lock()
	defer r.sh.mu.Unlock()
	by := r.sh.spawn
	if r.job.Container != "" {
		by = r.sh.engines
	}
	if err := by.start(r.cmd); err != nil {
		return err
	}
	r.pid = r.cmd.Process.Pid
	if p, ok := procOf(r.pid); ok {
		r.began = p.began
	}
	r.sh.begun(r)
	r.note.PID, r.note.Began = r.pid, r.began
	_, err := r.sh.write(r.note)
	if err != nil { // it runs, but may not
		r.kill()
		_ = r.cmd.Wait()
	}
	return err
}

// argv is the command with its arguments. Limits that no cgroup keeps are those
// of each process: a shell sets them on itself and becomes the command. What it
// reads holds nothing but numbers of the configuration. Of memory it is what can
// be written (RLIMIT_DATA): programs of Go, Java and Node reserve more addresses
// at their start than a limit of the address space would let them.
func (r *run) argv() (path string, args []string) {
	if r.job.Container != "" {
		args = r.sh.containers.argv(r.job)
		return args[0], args
	}
	args = append([]string{r.job.Command}, r.job.Args...)
	memory, pids := r.sh.memory, r.sh.s.Options.Pids
	if r.sh.as == nil {
		pids = 0 // it would count all that ax's user runs
	}
	if r.sh.cgroups.limits || memory == 0 && pids == 0 {
		return r.job.Command, args
	}
	var set string
	if memory > 0 {
		set = fmt.Sprintf("ulimit -d %d && ", memory>>10)
	}
	if pids > 0 {
		set += fmt.Sprintf("{ ulimit -p %d 2>/dev/null || ulimit -u %d; } && ", pids, pids)
	}
	return "/bin/sh", append([]string{"sh", "-c", set + `exec "$@"`, "sh"}, args...)
}

func (r *run) copyOut() {
	defer close(r.read)
	_, _ = io.Copy(onlyWriter{r.job.Output}, r.out)
}

// onlyWriter keeps io.Copy from splicing past the writer.
type onlyWriter struct{ io.Writer }

// feed gives the command its input and then the end of it.
func (r *run) feed() {
	_, _ = r.in.Write(r.job.Stdin) // it needn't read it
	_ = r.in.Close()
}

// follow waits for the command, or for ctx, and ends what is left of it.
func (r *run) follow(ctx context.Context) Exit {
	waited := make(chan error, 1)
	go func() { waited <- r.cmd.Wait() }()
	exit := Exit{Started: true}
	var err error
	select {
	case err = <-waited:
		exit.Cut = ctx.Err() != nil
		exit.Behind = r.stop(min(r.sh.s.Options.KillGrace, tidy))
	case <-ctx.Done():
		exit.Cut = true
		r.stop(r.sh.s.Options.KillGrace)
		err = <-waited
	}
	exit.read(r.cmd.ProcessState, err)
	return exit
}

func (e *Exit) read(state *os.ProcessState, err error) {
	e.Code = -1
	if state == nil {
		e.Err = err
		return
	}
	e.Code = state.ExitCode()
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		e.Signal, e.Dumped = ws.Signal(), ws.CoreDump()
	}
}

// stop asks everything of the run to end, and kills it after the grace. It
// gives how much there was.
func (r *run) stop(grace time.Duration) int {
	n := r.left()
	if n == 0 {
		return 0
	}
	if grace > 0 {
		r.signal(syscall.SIGTERM) // first: it sees whose child is whose
		r.inside(syscall.SIGTERM)
		if r.gone(grace) {
			return n
		}
	}
	r.kill()
	return n
}

// left is how many processes of the run live. What a container has may be
// hidden from this machine, so it is asked itself.
func (r *run) left() int { return max(len(r.members()), r.inside(0)) }

// gone waits until nothing of the run is alive, or d is over.
func (r *run) gone(d time.Duration) bool {
	end := time.NewTimer(d)
	defer end.Stop()
	every := time.NewTicker(look)
	defer every.Stop()
	for len(r.members()) > 0 {
		select {
		case <-end.C:
			return false
		case <-every.C:
		}
	}
	return r.inside(0) == 0
}

// kill kills everything of the run, until nothing is left.
func (r *run) kill() {
	every := time.NewTicker(look)
	defer every.Stop()
	for range killTries {
		killCgroup(r.cgroup)
		r.signal(syscall.SIGKILL)
		if r.inside(syscall.SIGKILL) == 0 && len(r.members()) == 0 {
			return
		}
		<-every.C
	}
	r.sh.s.Log.Error("some of a command can't be killed", "command", r.job.Command, "pid", r.pid, "left", r.members())
}

// members are the processes of the run that live.
func (r *run) members() map[int]proc {
	if r.pid == 0 {
		return nil
	}
	all, err := procs()
	if err != nil {
		return nil
	}
	out := family(all, r.pid, r.began, r.job.Mark)
	for _, pid := range cgroupMembers(r.cgroup) {
		if p, ok := all[pid]; ok {
			out[pid] = p
		}
	}
	for pid, p := range out {
		if p.zombie {
			delete(out, pid)
		}
	}
	return out
}

// signal reaches the group at once, so that what forks meanwhile gets it too,
// and then whatever left the group.
func (r *run) signal(sig syscall.Signal) {
	left := r.members()
	for _, p := range left {
		if p.group == r.pid {
			_ = syscall.Kill(-r.pid, sig)
			break
		}
	}
	for pid, p := range left {
		if p.group != r.pid {
			_ = syscall.Kill(pid, sig)
		}
	}
}

// end closes and removes what the run had.
func (r *run) end() {
	if r.in != nil {
		_ = r.in.Close()
	}
	if r.out != nil {
		_ = r.out.SetReadDeadline(deadlineIn(drained))
		<-r.read
		_ = r.out.Close()
	}
	if r.cgfd != nil {
		_ = r.cgfd.Close()
	}
	if r.pid > 0 {
		r.sh.over(r)
	}
	closeCgroup(r.cgroup)
	if r.folder != "" {
		if err := os.RemoveAll(r.folder); err != nil {
			r.sh.s.Log.Warn("the folder of a run stays", "folder", r.folder, "error", err)
		}
	}
	r.sh.forget(r.note)
}
