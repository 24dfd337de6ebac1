package shell

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// note is what is written down of a run before it begins, so that whoever comes
// after a killed process can end it.
type note struct {
	Name      string `json:"-"`
	Mark      string `json:"mark"`
	Container string `json:"container,omitempty"`
	Folder    string `json:"folder"`
	Cgroup    string `json:"cgroup,omitempty"`
	PID       int    `json:"pid,omitempty"`   // 0: the process died before it was known
	Began     uint64 `json:"began,omitempty"` // of PID, in ticks
	Owner     int    `json:"owner"`           // the process of ax
	Since     uint64 `json:"since"`           // when that began, in ticks
	Boot      string `json:"boot"`            // ticks are counted from it
}

// write stores the note whole.
func (s *Shell) write(n note) (note, error) {
	if n.Name == "" {
		n.Name = filepath.Base(n.Folder) + ".json"
		n.Owner, n.Boot = os.Getpid(), boot()
		me, _ := procOf(n.Owner)
		n.Since = me.began
	}
	raw, err := json.Marshal(n)
	if err != nil {
		return n, fmt.Errorf("note a run: %w", err)
	}
	path := filepath.Join(s.s.Folder, n.Name)
	if err := os.WriteFile(path+".new", raw, 0o600); err != nil {
		return n, fmt.Errorf("note a run: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return n, fmt.Errorf("note a run: %w", err)
	}
	return n, nil
}

func (s *Shell) forget(n note) {
	if n.Name != "" {
		_ = os.Remove(filepath.Join(s.s.Folder, n.Name))
	}
}

// boot names this start of the machine.
func boot() string {
	raw, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(raw))
}

// sweep ends what processes of ax left that are gone.
func (s *Shell) sweep() {
	names, _ := filepath.Glob(filepath.Join(s.s.Folder, "*.json"))
	for _, name := range names {
		raw, err := os.ReadFile(name)
		var n note
		if err == nil {
			err = json.Unmarshal(raw, &n)
		}
		if err != nil {
			s.s.Log.Warn("the note of a run can't be read", "file", name, "error", err)
			continue
		}
		n.Name = filepath.Base(name)
		if p, ok := procOf(n.Owner); ok && p.began == n.Since && n.Boot == boot() && n.Owner != os.Getpid() {
			continue // another ax of this folder, which looks after its own
		}
		s.endLeft(n)
	}
}

// endLeft kills what is left of a run and removes what it had.
func (s *Shell) endLeft(n note) {
	if n.Boot == boot() {
		r := &run{sh: s, job: Job{Mark: n.Mark, Command: n.Mark, Container: n.Container}, cgroup: n.Cgroup, pid: n.PID, began: n.Began}
		if r.pid == 0 {
			r.pid = -1 // found by its mark alone
		}
		if left := r.left(); left > 0 {
			s.s.Log.Warn("ending a command that a killed process left", "run", n.Mark, "processes", left)
			r.kill()
		}
		closeCgroup(n.Cgroup)
	}
	if strings.HasPrefix(filepath.Base(n.Folder), "ax-run-") {
		_ = os.RemoveAll(n.Folder)
	}
	s.forget(n)
}

// deadlineIn is a moment for files, which know no other clock.
func deadlineIn(d time.Duration) time.Time {
	return time.Now().Add(d)
}

// Limits says by what runs are limited.
func (s *Shell) Limits() string { return s.limit }
