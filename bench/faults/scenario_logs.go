package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// logs is F45: the place that ax writes its log to goes away under it.
func logs() []scenario {
	return []scenario{
		{name: "F45", says: "the reader of every process's log hangs up after one line", run: hangUpLogs, works: fewSlots, after: sameProcesses},
		{name: "F45/full", says: "every process's log on a disk that is full", run: fillLogs, works: fewSlots, after: sameProcesses},
	}
}

func hangUpLogs(ctx context.Context, h *house) error {
	return h.logTo(ctx, "> >(head -n 1 >/dev/null) 2>&1")
}

func fillLogs(ctx context.Context, h *house) error {
	dir := filepath.Join(h.dir, "full")
	if err := h.tmpfs(dir, 1); err != nil {
		return err
	}
	if err := fill(filepath.Join(dir, "filler")); err != nil {
		return err
	}
	return h.logTo(ctx, ">>"+dir+"/ax.log 2>&1")
}

// logTo starts every process anew with its words sent elsewhere, and lets the
// load go on. A shell that becomes ax sends them there.
func (h *house) logTo(ctx context.Context, where string) error {
	for _, n := range h.nodes {
		script := filepath.Join(h.dir, n.name+".sh")
		if err := os.WriteFile(script, []byte("#!/bin/bash\nexec "+n.bin+` "$@" `+where+"\n"), 0o700); err != nil {
			return err
		}
		n.bin = script
		if err := n.restart(); err != nil {
			return err
		}
	}
	for _, n := range h.nodes {
		if err := n.ready(20 * time.Second); err != nil {
			return err
		}
	}
	h.tell("all log elsewhere")
	rest(ctx, 6*time.Second)
	return sameProcesses(ctx, h)
}

// sameProcesses: nobody died of what happened to its log.
func sameProcesses(_ context.Context, h *house) error {
	for _, n := range h.nodes {
		if !n.p.alive() {
			return fmt.Errorf("%s has ended: %s", n.name, n.p.cmd.ProcessState)
		}
	}
	return nil
}
