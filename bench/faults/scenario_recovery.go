package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// realPulse is what config.yaml has; the figures of recovery are taken with it.
var realPulse = []string{"AX_NODE_BEAT=5s", "AX_SCHEDULER_SCAN=1s", "AX_SCHEDULER_SWEEP=1s", "AX_WORKER_SHUTDOWN_GRACE=30s"}

// recovery measures how long things take with the intervals of config.yaml.
func recovery() []scenario {
	return []scenario{
		{name: "R1", says: "a worker killed while it runs 2.5 s calls, intervals of config.yaml", env: realPulse, works: longWork, run: measureTakeover, after: takenOver, quiet: 120 * time.Second},
		{name: "R2", alone: true, says: "a scheduler killed, intervals of config.yaml", env: realPulse, run: measureScheduler, after: slotsAfterKill, quiet: 120 * time.Second},
		{name: "R3", alone: true, says: "Redis wiped while 300 requests wait, intervals of config.yaml", env: realPulse, works: waitingWork, run: measureWipe, quiet: 120 * time.Second},
		{name: "R5", says: "a worker frozen for 45 s, three times the limit, intervals of config.yaml", env: realPulse, works: longWork, run: measureFreeze, after: lateWritesRefused, quiet: 120 * time.Second},
	}
}

// measureTakeover kills a worker that has settled in, so that the others may
// judge it.
func measureTakeover(ctx context.Context, h *house) error {
	rest(ctx, 16*time.Second) // who declares a death has beaten steadily for 15 s
	n := h.with("worker")[0]
	n.kill()
	h.mark = time.Now()
	h.tell("%s is killed", n.name)
	rest(ctx, 25*time.Second)
	return n.start()
}

// takenOver says when what ran on the killed worker began again.
func takenOver(ctx context.Context, h *house) error {
	rows, err := h.ledger.QueryContext(ctx, `SELECT n.started_at-? FROM attempts a JOIN attempts n ON n.instance_id=a.instance_id AND n.no=a.no+1
		WHERE a.outcome='lost' AND a.started_at<?`, h.mark.UnixMilli(), h.mark.UnixMilli())
	if err != nil {
		return err
	}
	defer rows.Close()
	var after []float64
	for rows.Next() {
		var ms float64
		if err := rows.Scan(&ms); err != nil {
			return err
		}
		after = append(after, ms/1000)
	}
	if len(after) == 0 {
		return fmt.Errorf("nothing ran on the killed worker")
	}
	h.facts["taken over after, s, median"], h.facts["most"] = percentile(after, 50), slices.Max(after)
	return rows.Err()
}

func measureScheduler(ctx context.Context, h *house) error {
	rest(ctx, 3*time.Second)
	h.with("scheduler")[0].kill()
	h.mark = time.Now()
	rest(ctx, 5*time.Second)
	return h.with("scheduler")[0].start()
}

// slotsAfterKill: there is no failover, the other scheduler plans all along.
func slotsAfterKill(ctx context.Context, h *house) error {
	var worst, n float64
	err := h.ledger.QueryRowContext(ctx, `SELECT COALESCE(MAX(a.started_at-i.wanted_at),0), COUNT(*) FROM attempts a JOIN instances i ON i.id=a.instance_id JOIN tasks t ON t.id=i.task_id
		WHERE a.no=1 AND i.origin='schedule' AND t.code IN ('tick','careful') AND i.wanted_at BETWEEN ? AND ?`, h.mark.UnixMilli(), h.mark.Add(5*time.Second).UnixMilli()).Scan(&worst, &n)
	h.facts["worst lag of the next 5 s, ms"] = worst
	if err == nil && n == 0 {
		err = fmt.Errorf("no slot began in the 5 s after the kill")
	}
	return err
}

func waitingWork() []work {
	return append(usualWork(), work{code: "waiting", path: "/ok", schedule: manual, idempotent: true, retries: 2})
}

func measureWipe(ctx context.Context, h *house) error {
	for i := range 300 {
		if _, err := h.load.trigger(h.load.stop, "waiting", fmt.Sprintf("w-%d", i), map[string]any{"delay_seconds": 8}); err != nil {
			return err
		}
	}
	h.tell("300 wait")
	if err := h.redis.flush(); err != nil {
		return err
	}
	wiped := time.Now()
	err := within(60*time.Second, "all 300 ran", func() bool {
		var left int
		err := h.ledger.QueryRow("SELECT COUNT(*) FROM instances i JOIN tasks t ON t.id=i.task_id WHERE t.code='waiting' AND i.state<>'succeeded'").Scan(&left)
		return err == nil && left == 0
	})
	var late float64
	if err := h.ledger.QueryRowContext(ctx, "SELECT MAX(i.finished_at-i.wanted_at) FROM instances i JOIN tasks t ON t.id=i.task_id WHERE t.code='waiting'").Scan(&late); err != nil {
		return err
	}
	h.facts["all ran after, s"], h.facts["latest, s"] = time.Since(wiped).Seconds(), late/1000
	return err
}

func measureFreeze(ctx context.Context, h *house) error {
	h.zombies = true
	rest(ctx, 16*time.Second)
	n := h.with("worker")[0]
	n.freeze()
	rest(ctx, 45*time.Second)
	n.thaw()
	rest(ctx, 3*time.Second)
	return nil
}
