package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// poisonWork has one instance that takes its worker with it each time it runs.
func poisonWork() []work {
	return append(usualWork(), work{code: "poison", path: "/slow/1200", schedule: manual, idempotent: true, retries: 2})
}

// poison kills whichever process runs the poisoned instance, three times.
func poison(ctx context.Context, h *house) error {
	id, err := h.load.trigger(h.load.stop, "poison", "poison-1", nil)
	if err != nil {
		return err
	}
	for deaths := 0; deaths < 3 && ctx.Err() == nil; {
		var state string
		var pid int
		err := h.ledger.QueryRow("SELECT i.state, COALESCE(n.pid,0) FROM instances i LEFT JOIN nodes n ON n.id=i.node_id WHERE i.id=?", id).Scan(&state, &pid)
		if err != nil {
			return err
		}
		if state != "running" {
			if strings.Contains(finals, "'"+state+"'") {
				return fmt.Errorf("the poisoned instance is %s after %d deaths", state, deaths)
			}
			rest(ctx, 20*time.Millisecond)
			continue
		}
		for _, n := range h.with("worker") {
			if n.p.pid() == pid {
				deaths++
				h.tell("the poison kills %s", n.name)
				if err := n.restart(); err != nil {
					return err
				}
			}
		}
		rest(ctx, 20*time.Millisecond)
	}
	return nil
}

// poisonEnds: the third death ended it, with a letter, and the others did not
// wait for it.
func poisonEnds(ctx context.Context, h *house) error {
	var state, cause string
	var deaths int
	err := h.ledger.QueryRow("SELECT i.state, i.deaths, l.error FROM instances i JOIN dead_letters l ON l.instance_id=i.id WHERE i.biz_id='poison-1'").Scan(&state, &deaths, &cause)
	if err != nil {
		return fmt.Errorf("no dead letter of the poison: %w", err)
	}
	if state != "lost" || deaths != 3 {
		return fmt.Errorf("the poison is %s after %d deaths (%s)", state, deaths, cause)
	}
	var late int64
	err = h.ledger.QueryRowContext(ctx, "SELECT MAX(a.started_at-i.wanted_at) FROM attempts a JOIN instances i ON i.id=a.instance_id WHERE a.no=1 AND i.task_id=?", h.taskID("tick")).Scan(&late)
	if err != nil {
		return err
	}
	h.facts["others late at most, s"] = float64(late) / 1000
	if late > othersMost.Milliseconds() {
		return fmt.Errorf("other work began %d ms late beside the poison", late)
	}
	return nil
}
