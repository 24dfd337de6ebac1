package shell

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// cgroups makes a cgroup (v2) for each run below ax's own.
type cgroups struct {
	base   string // empty: there are none here
	limits bool   // memory and pids can be limited by them
}

// findCgroups looks where ax's own cgroup is and whether it may make others.
func findCgroups() cgroups {
	base, err := ownCgroup()
	if err != nil {
		return cgroups{}
	}
	probe := filepath.Join(base, "ax-probe-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(probe, 0o755); err != nil {
		return cgroups{}
	}
	defer func() { _ = os.Remove(probe) }()
	if _, err := os.Stat(filepath.Join(probe, "cgroup.kill")); err != nil {
		return cgroups{} // before Linux 5.14
	}
	return cgroups{base: base, limits: delegate(base) == nil}
}

// ownCgroup is the folder of the cgroup that this process is in.
func ownCgroup() (string, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	var mount, root, path string
	for line := range strings.Lines(string(mounts)) {
		before, after, _ := strings.Cut(line, " - ")
		if f := strings.Fields(before); len(f) > 4 && strings.HasPrefix(after, "cgroup2 ") {
			root, mount = f[3], f[4]
		}
	}
	for line := range strings.Lines(string(own)) {
		if rest, ok := strings.CutPrefix(line, "0::"); ok {
			path = strings.TrimSpace(rest)
		}
	}
	if mount == "" || path == "" || strings.Contains(path, "..") {
		return "", errors.New("no cgroup v2")
	}
	if rest, ok := strings.CutPrefix(path, root); ok && root != "/" {
		path = rest
	}
	return filepath.Join(mount, path), nil
}

// delegate lets cgroups below base limit memory and processes. A cgroup that
// does so holds no process itself, so ax moves to one beside the runs.
func delegate(base string) error {
	have, err := os.ReadFile(filepath.Join(base, "cgroup.controllers"))
	if err != nil {
		return err
	}
	names := strings.Fields(string(have))
	for _, want := range []string{"memory", "pids"} {
		if !contains(names, want) {
			return fmt.Errorf("the controller %s is not there", want)
		}
	}
	if on, err := os.ReadFile(filepath.Join(base, "cgroup.subtree_control")); err == nil {
		if f := strings.Fields(string(on)); contains(f, "memory") && contains(f, "pids") {
			return nil
		}
	}
	enable := func() error { return write(base, "cgroup.subtree_control", "+memory +pids") }
	if err := enable(); !errors.Is(err, syscall.EBUSY) {
		return err
	}
	own := filepath.Join(base, "ax-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(own, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if err := write(own, "cgroup.procs", strconv.Itoa(os.Getpid())); err != nil {
		return err
	}
	return enable()
}

func contains(words []string, word string) bool {
	for _, w := range words {
		if w == word {
			return true
		}
	}
	return false
}

func write(dir, file, text string) error {
	return os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644)
}

// open makes the cgroup of a run; "" when there are none here.
func (c cgroups) open(id string, memory int64, pids int) (string, error) {
	if c.base == "" {
		return "", nil
	}
	dir := filepath.Join(c.base, "ax-run-"+id)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the cgroup of a run: %w", err)
	}
	if !c.limits {
		return dir, nil
	}
	var bad []error
	if memory > 0 {
		bad = append(bad, write(dir, "memory.max", strconv.FormatInt(memory, 10)))
		_ = write(dir, "memory.swap.max", "0") // not there without swap
		_ = write(dir, "memory.oom.group", "1")
	}
	if pids > 0 {
		bad = append(bad, write(dir, "pids.max", strconv.Itoa(pids)))
	}
	if err := errors.Join(bad...); err != nil {
		closeCgroup(dir)
		return "", fmt.Errorf("limit a run by its cgroup: %w", err)
	}
	return dir, nil
}

// cgroupMembers are the processes of a run's cgroup, zombies aside.
func cgroupMembers(dir string) []int {
	if dir == "" {
		return nil
	}
	raw, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	var out []int
	for _, f := range strings.Fields(string(raw)) {
		if pid, err := strconv.Atoi(f); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

// killCgroup kills all that is in it, at once.
func killCgroup(dir string) {
	if dir != "" {
		_ = write(dir, "cgroup.kill", "1")
	}
}

// closeCgroup removes it; it must be empty.
func closeCgroup(dir string) {
	if dir != "" {
		_ = syscall.Rmdir(dir)
	}
}
