package main

import (
	"context"
	"time"
)

func freezing() []scenario {
	return []scenario{
		{name: "F03", says: "a worker frozen for 3 times its limit, then awake", smoke: true, run: freezeWorker, works: longWork, after: lateWritesRefused},
		{name: "F04", says: "a scheduler frozen while the other plans, then awake", run: freezeScheduler},
		{name: "F05", says: "Redis frozen for 5 s, then MariaDB for 5 s", run: freezeServers},
		{name: "F05/60s", says: "MariaDB away for 60 s with every process alive, intervals of config.yaml", env: realPulse, run: ledgerAway, quiet: 120 * time.Second, after: nothingLost},
	}
}

func freezeWorker(ctx context.Context, h *house) error {
	h.zombies = true
	for _, n := range h.with("worker") {
		h.tell("freeze %s", n.name)
		n.freeze()
		rest(ctx, 3*deadAfter)
		n.thaw()
		h.tell("thaw %s", n.name)
		rest(ctx, 1500*time.Millisecond)
	}
	return nil
}

// lateWritesRefused counts what the woken workers were told.
func lateWritesRefused(ctx context.Context, h *house) error {
	var refused, lost float64
	err := h.ledger.QueryRow("SELECT COALESCE(SUM(kind='refused_result'),0), COALESCE(SUM(kind='lost'),0) FROM instance_events").Scan(&refused, &lost)
	h.facts["late results refused"], h.facts["attempts taken over"] = refused, lost
	return err
}

func freezeScheduler(ctx context.Context, h *house) error {
	h.zombies = true
	for _, n := range h.with("scheduler") {
		n.freeze()
		rest(ctx, 3*deadAfter)
		n.thaw()
		rest(ctx, time.Second)
	}
	return nil
}

func freezeServers(ctx context.Context, h *house) error {
	h.orphans = true // what ended while Redis was frozen could not be acknowledged
	h.redis.freeze()
	rest(ctx, 5*time.Second)
	h.redis.thaw()
	rest(ctx, time.Second)
	h.tell("MariaDB freezes")
	h.maria.freeze()
	rest(ctx, 5*time.Second)
	h.maria.thaw()
	rest(ctx, time.Second)
	return nil
}

func ledgerAway(ctx context.Context, h *house) error {
	h.maria.freeze()
	rest(ctx, 60*time.Second)
	h.maria.thaw()
	rest(ctx, 2*time.Second)
	return nil
}

// nothingLost: no process died, so nothing may be lost.
func nothingLost(ctx context.Context, h *house) error {
	var lost float64
	err := h.ledger.QueryRow("SELECT COUNT(*) FROM instances WHERE state='lost' OR deaths>0").Scan(&lost)
	h.facts["lost"] = lost
	return err
}
