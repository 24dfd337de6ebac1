package shell

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
)

// Shell runs commands. It is safe for concurrent use.
type Shell struct {
	s       Settings
	allowed allowed
	as      *syscall.Credential // nil: ax's own user
	memory  int64
	cgroups cgroups
	spawn   *spawner
	// engines starts the clients of containers, which may do what ax may.
	engines    *spawner
	containers containers

	mu    sync.Mutex // held while a command is started, and while orphans are looked at
	runs  map[*run]struct{}
	kin   []int // children of this process from before: not ours to reap
	limit string
}

// New prepares the node: the user, what is allowed, the cgroups; and it ends
// what a killed process left running. The error says in plain words what is
// wrong with the machine or the configuration.
func New(s Settings) (*Shell, error) {
	sh := &Shell{s: s, runs: map[*run]struct{}{}}
	var err error
	if sh.as, err = userOf(s.Options.User); err != nil {
		return nil, err
	}
	sh.allowed = allowed{commands: s.Options.Commands, folders: s.Options.Folders}
	if sh.as != nil {
		sh.allowed.runsAs = sh.as.Uid
	}
	sh.containers = containers{engine: s.Options.Engine, allowed: s.Options.Containers}
	if err := errors.Join(sh.allowed.start(), sh.containers.start()); err != nil {
		return nil, err
	}
	if sh.memory, err = bytesOf(s.Options.Memory); err != nil {
		return nil, err
	}
	s.Folder, err = filepath.Abs(s.Folder)
	if err == nil {
		err = os.MkdirAll(s.Folder, folderMode)
	}
	if err != nil {
		return nil, fmt.Errorf("make the folder of running commands: %w", err)
	}
	sh.s = s
	sh.sweep()
	sh.cgroups = findCgroups()
	sh.limit = sh.limits()
	if err := sh.harden(); err != nil {
		return nil, err
	}
	s.Log.Info("commands of this machine can be run", "commands", s.Options.Commands, "folders", s.Options.Folders, "containers", s.Options.Containers, "user", s.Options.User, "limits", sh.limit)
	return sh, nil
}

// harden keeps what ax knows from its commands, and lets their orphans come to
// ax, which ends them.
func (s *Shell) harden() error {
	if err := prctl(prSetDumpable, 0); err != nil { // else a command of the same user could read ax's memory and environment
		return fmt.Errorf("close this process to its commands: %w", err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}); err != nil {
		return fmt.Errorf("switch core dumps off: %w", err)
	}
	if err := prctl(prSetChildSubreaper, 1); err != nil {
		return fmt.Errorf("become the parent of orphans: %w", err)
	}
	if err := keepOpenFiles(); err != nil {
		return fmt.Errorf("keep what ax has open from its commands: %w", err)
	}
	all, err := procs()
	if err != nil {
		return fmt.Errorf("read /proc, which tells what a command started: %w", err)
	}
	for pid, p := range all {
		if p.parent == os.Getpid() {
			s.kin = append(s.kin, pid)
		}
	}
	if s.spawn, err = newSpawner(prSetNoNewPrivs); err != nil {
		return err
	}
	s.engines, err = newSpawner(0)
	return err
}

// keepOpenFiles closes to commands what ax itself was started with.
func keepOpenFiles() error {
	open, err := os.ReadDir("/proc/self/fd")
	for _, f := range open {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
	return err
}

// userOf finds the separate user that commands run as; nil: none is named.
func userOf(name string) (*syscall.Credential, error) {
	if name == "" {
		return nil, nil //nolint:nilnil // none is named
	}
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("shell.user is %q, but only root can run commands as somebody else: start ax as root, or leave shell.user empty", name)
	}
	u, err := user.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("shell.user: there is no user %q on this machine", name)
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("shell.user: %w", err)
	}
	if uid == 0 {
		return nil, errors.New("shell.user is root itself: name a user that may do little, or leave it empty")
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// limits says by what runs are limited, for the log.
func (s *Shell) limits() string {
	o := s.s.Options
	switch {
	case o.Memory == "" && o.Pids == 0:
		return "none set"
	case s.cgroups.limits:
		return "cgroup v2"
	case o.Pids > 0 && s.as == nil:
		return "rlimits: memory of each process; shell.pids needs cgroup v2 or shell.user"
	}
	return "rlimits: memory of each process, processes of the user"
}

// Allowed says why a command may not run here, or in the container when one is
// named; nil: it may.
func (s *Shell) Allowed(container, command string) error {
	if container != "" {
		return s.containers.check(container, command)
	}
	return s.allowed.check(command)
}

// Close ends at once whatever still runs.
func (s *Shell) Close() {
	s.mu.Lock()
	var all sync.WaitGroup
	for r := range s.runs {
		all.Go(r.kill)
	}
	s.mu.Unlock()
	all.Wait()
	s.spawn.close()
	s.engines.close()
}

// begun notes a run, so that its leader is not taken for an orphan.
func (s *Shell) begun(r *run) {
	s.runs[r] = struct{}{}
}

// over forgets a run and looks after the orphans that came to ax meanwhile:
// dead ones are reaped. What lives and hid all that it could be told by (its
// environment, session and group) is ended once no run is left that could have
// started it.
func (s *Shell) over(r *run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.runs, r)
	all, err := procs()
	if err != nil {
		return
	}
	for pid, p := range all {
		if p.parent != os.Getpid() || slices.Contains(s.kin, pid) || s.owned(all, p) {
			continue
		}
		if !p.zombie {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		var status syscall.WaitStatus
		_, _ = syscall.Wait4(pid, &status, syscall.WNOHANG, nil)
	}
}

// owned tells whether a child of ax may belong to a run that goes on.
func (s *Shell) owned(all map[int]proc, p proc) bool {
	for r := range s.runs {
		if p.pid == r.pid || p.session == r.pid || p.group == r.pid || !p.zombie && (p.began >= r.began || marked(p.pid, r.job.Mark)) {
			return true
		}
	}
	return false
}
