package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

func ledgerMore() []scenario {
	return []scenario{
		{name: "F12/web", says: "MariaDB read-only for 5 s, with a caller who wants to know: 503, and nothing is accepted", own: true, run: askReadOnly, works: fewSlots},
		{name: "F13", says: "MariaDB's disk full for 8 s, then freed", own: true, maria: smallFiles, run: fillDisk, works: fewSlots, quiet: 120 * time.Second},
		{name: "F47", says: "ledger back to an earlier copy while Redis is newer; what ran since runs again", own: true, maria: smallFiles, run: restoreLedger, after: nothingStuck, quiet: 120 * time.Second,
			// What was accepted, called and changed after the copy is not in it.
			except: []string{"I4", "I4b", "I8", "I8b", "I14", "I14b", "I17b", "I22", "I25"}},
	}
}

// smallFiles keep a copy of MariaDB's folder small.
var smallFiles = []string{"--innodb-log-file-size=8M"}

// askReadOnly: callers are told that it can't be done now (503, not that ax is
// broken), and nothing of what was refused is there afterwards.
func askReadOnly(ctx context.Context, h *house) error {
	if _, err := h.maria.root.Exec("SET GLOBAL read_only=1"); err != nil {
		return err
	}
	asked, wrong := h.askAll(ctx, 5*time.Second)
	if _, err := h.maria.root.Exec("SET GLOBAL read_only=0"); err != nil {
		return err
	}
	if err := h.noneStored(); err != nil {
		return err
	}
	h.facts["refused with 503"] = float64(asked)
	rest(ctx, time.Second)
	return wrong
}

// askAll makes changes of several kinds for a time; wrong is an answer other
// than 503.
func (h *house) askAll(ctx context.Context, d time.Duration) (asked int, wrong error) {
	c := newClient(func() string { return h.api }, h.token)
	for i, end := 0, time.Now().Add(d); time.Now().Before(end) && ctx.Err() == nil; i++ {
		for _, ask := range []struct {
			path string
			body any
		}{
			{"/tasks/order/trigger", map[string]any{"biz_id": fmt.Sprintf("refused-%d", i)}},
			{"/tasks", work{code: fmt.Sprintf("refused-%d", i), path: "/ok", schedule: manual}.definition(h.sink.url)},
			{"/tasks/order/pause", map[string]any{"until": time.Now().Add(time.Hour).UTC().Format(time.RFC3339)}},
		} {
			r, err := c.call("POST", ask.path, ask.body)
			if asked++; err != nil || r.status != http.StatusServiceUnavailable {
				wrong = errors.Join(wrong, fmt.Errorf("POST %s: %d %v %w", ask.path, r.status, r.body, err))
			}
		}
		if r, err := c.call("GET", "/tasks/order", nil); err != nil || r.status != http.StatusOK {
			wrong = errors.Join(wrong, fmt.Errorf("GET /tasks/order: %d %w", r.status, err))
		}
		rest(ctx, 300*time.Millisecond)
		if wrong != nil && i > 2 {
			return asked, wrong
		}
	}
	return asked, wrong
}

// noneStored: nothing of what was refused was kept.
func (h *house) noneStored() error {
	var kept int
	err := h.ledger.QueryRow("SELECT (SELECT COUNT(*) FROM instances WHERE biz_id LIKE 'refused-%')+(SELECT COUNT(*) FROM tasks WHERE code LIKE 'refused-%')").Scan(&kept)
	if err == nil && kept > 0 {
		return fmt.Errorf("%d changes were made that were refused", kept)
	}
	return err
}

// fillDisk moves MariaDB's folder to a small file system and fills that.
func fillDisk(ctx context.Context, h *house) error {
	if err := h.smallDisk(256); err != nil {
		return err
	}
	rest(ctx, 2*time.Second)
	filler := filepath.Join(h.maria.data(), "filler")
	if err := fill(filler); err != nil {
		return err
	}
	h.tell("the disk is full")
	// Tables have room of their own; what the load writes uses it up.
	var refused error
	_, _ = h.ledger.Exec("CREATE TABLE bench_grow (id BIGINT AUTO_INCREMENT PRIMARY KEY, pad LONGBLOB)")
	for end := time.Now().Add(8 * time.Second); time.Now().Before(end); rest(ctx, 300*time.Millisecond) {
		if _, err := h.ledger.Exec("INSERT INTO bench_grow (pad) VALUES (REPEAT('x', 200000))"); err != nil && refused == nil {
			refused = err
			h.tell("MariaDB refuses: %v", err)
		}
	}
	if refused == nil {
		return errors.New("the disk never was full")
	}
	if err := os.Remove(filler); err != nil {
		return err
	}
	h.tell("the disk has room again")
	if !h.maria.alive() {
		h.tell("MariaDB had died of it")
		if err := h.maria.start(); err != nil {
			return err
		}
	}
	rest(ctx, 2*time.Second)
	return nil
}

// fill writes a file until its file system is full.
func fill(file string) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	for piece := make([]byte, 1<<20); len(piece) > 512; {
		if _, err := out.Write(piece); errors.Is(err, syscall.ENOSPC) {
			piece = piece[:len(piece)/2]
		} else if err != nil {
			return err
		}
	}
	return nil
}

// smallDisk puts MariaDB's folder on a file system of its own of that size.
func (h *house) smallDisk(mib int) error {
	m := h.maria
	m.kill()
	old := m.data() + ".old"
	if err := os.Rename(m.data(), old); err != nil {
		return err
	}
	if err := h.tmpfs(m.data(), mib); err != nil {
		return err
	}
	if out, err := exec.Command("cp", "-a", old+"/.", m.data()).CombinedOutput(); err != nil {
		return fmt.Errorf("move MariaDB's folder: %w\n%s", err, out)
	}
	if err := os.RemoveAll(old); err != nil {
		return err
	}
	return m.start()
}

// tmpfs mounts a small file system until the installation is closed.
func (h *house) tmpfs(dir string, mib int) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", mib)); err != nil {
		return errSkip{"a file system can't be mounted here: " + err.Error()}
	}
	h.undo = append(h.undo, func() { _ = syscall.Unmount(dir, 2) }) // 2: when nobody uses it any more
	return nil
}

// restoreLedger brings MariaDB back with what it held some seconds ago: the
// messages of Redis, and the memories of the workers, are newer.
func restoreLedger(ctx context.Context, h *house) error {
	h.zombies, h.orphans = true, true
	for _, n := range h.nodes {
		n.doomed() // what it holds may not be known to the copy
	}
	m := h.maria
	saved := filepath.Join(h.dir, "saved")
	m.kill()
	if out, err := exec.Command("cp", "-a", m.data(), saved).CombinedOutput(); err != nil {
		return fmt.Errorf("copy MariaDB's folder: %w\n%s", err, out)
	}
	defer os.RemoveAll(saved)
	if err := m.start(); err != nil {
		return err
	}
	h.tell("saved")
	rest(ctx, 4*time.Second)
	m.kill()
	if err := errors.Join(os.RemoveAll(m.data()), os.Rename(saved, m.data())); err != nil {
		return err
	}
	h.tell("MariaDB comes back with the copy")
	if err := m.start(); err != nil {
		return err
	}
	rest(ctx, 3*time.Second)
	// What waited for a receipt that had come after the copy waits for its
	// deadline: a day, which the bench cuts short.
	_, err := h.ledger.ExecContext(ctx, "UPDATE instances SET receipt_deadline=1 WHERE state='awaiting'")
	return err
}

// nothingStuck counts what was called again, with the same key, for the ledger
// had forgotten that it was.
func nothingStuck(_ context.Context, h *house) error {
	calls, _, err := readCalls(h.sink.record)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	again := map[string]bool{}
	for _, c := range calls {
		id := fmt.Sprintf("%s#%d#%d", c.Key, c.Replay, c.Attempt)
		if seen[id] {
			again[id] = true
		}
		seen[id] = true
	}
	h.facts["attempts made again"] = float64(len(again))
	return nil
}
