package shell

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// proc is a process as /proc tells of it.
type proc struct {
	pid, parent, group, session int
	zombie                      bool
	began                       uint64 // in ticks since the machine's start
}

// procs are all processes that there are, by pid.
func procs() (map[int]proc, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	out := make(map[int]proc, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := procOf(pid); ok {
				out[pid] = p
			}
		}
	}
	return out, nil
}

// procOf reads one process; false: it is gone.
func procOf(pid int) (proc, bool) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return proc{}, false
	}
	// The name stands in parentheses and may hold anything.
	at := bytes.LastIndexByte(raw, ')')
	if at < 0 {
		return proc{}, false
	}
	f := strings.Fields(string(raw[at+1:]))
	if len(f) < 20 {
		return proc{}, false
	}
	p := proc{pid: pid, zombie: f[0] == "Z" || f[0] == "X"}
	p.parent, _ = strconv.Atoi(f[1])
	p.group, _ = strconv.Atoi(f[2])
	p.session, _ = strconv.Atoi(f[3])
	p.began, _ = strconv.ParseUint(f[19], 10, 64)
	return p, true
}

// marked tells whether the process has the words in its environment.
func marked(pid int, mark string) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return false
	}
	for word := range bytes.SplitSeq(raw, []byte{0}) {
		if string(word) == mark {
			return true
		}
	}
	return false
}

// family picks what belongs to a run: its session and group, whatever carries
// its mark, and what those started. since is when its first process began.
func family(all map[int]proc, leader int, since uint64, mark string) map[int]proc {
	out := map[int]proc{}
	me := os.Getpid()
	if p, ok := all[leader]; ok && p.began != since {
		leader = 0 // somebody else's by now, and nothing of the session is left
	}
	for pid, p := range all {
		if pid == me || p.began < since {
			continue
		}
		if leader > 0 && (p.session == leader || p.group == leader || pid == leader) || marked(pid, mark) {
			out[pid] = p
		}
	}
	for grown := true; grown; {
		grown = false
		for pid, p := range all {
			if _, in := out[pid]; in || pid == me {
				continue
			}
			if _, in := out[p.parent]; in {
				out[pid], grown = p, true
			}
		}
	}
	return out
}
