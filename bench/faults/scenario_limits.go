package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

// ownQueue gives the crowd a queue of its own with the smaller weight; a node
// is taken for dead as late as it is by default, for here all of them share two
// processors with everything else.
var ownQueue = []string{"AX_WORKER_QUEUES=default:6,bulk:1", "AX_NODE_BEAT=5s"}

func limits() []scenario {
	return []scenario{
		{name: "F34", alone: true, says: "10,000 tasks due in one second, in a queue of their own", run: burst("bulk"), after: burstEnds, works: besideBurst, env: ownQueue, quiet: 120 * time.Second},
		{name: "F34/overdue", alone: true, says: "10,000 tasks ten minutes overdue when the schedulers start, in a queue of their own", run: overdue, after: burstEnds, works: besideBurst, env: ownQueue, quiet: 120 * time.Second},
		{name: "F34/one-queue", alone: true, says: "10,000 tasks due in one second, in the queue of all others", run: burst("default"), after: crowdFirst, works: besideBurst, env: ownQueue, quiet: 120 * time.Second},
		{name: "DUP-05", alone: true, says: "1,000 tasks due in one second, 30 ms on the schedulers' way to the ledger", run: slowBurst, after: slowBurstEnds, works: fewSlots},
	}
}

// bulkFirst is the id of the first of many tasks that are made by SQL.
const bulkFirst = 1_000_000

// bulkSpec is the definition of each of them.
const bulkSpec = `{"schedule":{"kind":"once","run_at":%q,"timezone":"UTC","misfire":"fire_once"},"target":{"kind":"http","url":%q},"policy":{"timeout_seconds":30,"retry":{"kind":"steps","max":3,"delays_seconds":[10,30,120]},"overlap":"skip","max_concurrent":1,"idempotent":true,"alert_level":"p2"}}`

// addBulk makes n tasks of a queue with one slot each, at due: over the API it would take
// longer than their second.
func (h *house) addBulk(queue string, n int, due time.Time) error {
	now, at := time.Now().UnixMilli(), due.UnixMilli()
	spec := strings.ReplaceAll(fmt.Sprintf(bulkSpec, due.UTC().Format(time.RFC3339), h.sink.url+"/ok"), "'", "''")
	tx, err := h.ledger.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for from := 0; from < n; from += 1000 {
		var tasks, gates, versions []string
		for id := bulkFirst + from; id < bulkFirst+min(n, from+1000); id++ {
			tasks = append(tasks, fmt.Sprintf("(%d,1,'bulk.%d','bulk',1,1,'once','%s','UTC','%s',%d,%d,%d)", id, id, queue, spec, at, now, now))
			gates = append(gates, fmt.Sprintf("(%d)", id))
			versions = append(versions, fmt.Sprintf("(%d,1,'%s','bench','',%d)", id, spec, now))
			h.frames = append(h.frames, []any{id, 1000, at, at})
		}
		for _, q := range []string{
			"INSERT INTO tasks (id, team_id, code, name, enabled, version, kind, queue, timezone, spec, next_fire_at, created_at, updated_at) VALUES " + strings.Join(tasks, ","),
			"INSERT INTO task_gates (task_id) VALUES " + strings.Join(gates, ","),
			"INSERT INTO task_versions (task_id, version, spec, author, note, created_at) VALUES " + strings.Join(versions, ","),
		} {
			if _, err := tx.Exec(q); err != nil {
				return err
			}
		}
	}
	return tx.Commit()
}

// bulkEnded waits until each of n has come to an end.
func (h *house) bulkEnded(n int, limit time.Duration) error {
	return within(limit, "the crowd has ended", func() bool {
		var ended int
		err := h.ledger.QueryRow("SELECT COUNT(*) FROM instances WHERE task_id>=? AND state IN "+finals, bulkFirst).Scan(&ended)
		time.Sleep(200 * time.Millisecond) // the count is not free for the ledger
		return err == nil && ended == n
	})
}

func besideBurst() []work {
	return []work{
		{code: "tick", path: "/ok", schedule: interval(1), every: 1, idempotent: true, retries: 2},
		{code: "two", path: "/slow/50", schedule: cronLine("0/2 * * * * ?"), every: 2, idempotent: true, retries: 2},
		{code: "order", path: "/slow/30", schedule: manual, idempotent: true, retries: 2, rate: 2},
	}
}

const burstSize = 10_000

func burst(queue string) func(context.Context, *house) error {
	return func(ctx context.Context, h *house) error {
		due := time.Now().Add(6 * time.Second).Truncate(time.Second)
		if err := h.addBulk(queue, burstSize, due); err != nil {
			return err
		}
		stop := h.sampleMemory(ctx, "scheduler", "schedulers grown, MiB")
		rest(ctx, time.Until(due))
		if err := h.bulkEnded(burstSize, 100*time.Second); err != nil {
			return err
		}
		h.facts["crowd served in, s"] = time.Since(due).Seconds()
		return stop()
	}
}

func overdue(ctx context.Context, h *house) error {
	for _, n := range h.with("scheduler") {
		n.kill()
	}
	if err := h.addBulk("bulk", burstSize, time.Now().Add(-10*time.Minute).Truncate(time.Second)); err != nil {
		return err
	}
	began := time.Now()
	for _, n := range h.with("scheduler") {
		if err := n.start(); err != nil {
			return err
		}
	}
	for _, n := range h.with("scheduler") {
		if err := n.ready(30 * time.Second); err != nil {
			return err
		}
	}
	h.tell("the schedulers are there after %.1f s", time.Since(began).Seconds())
	h.facts["away until, ms"] = float64(time.Now().UnixMilli())
	stop := h.sampleMemory(ctx, "scheduler", "schedulers grown, MiB")
	if err := h.bulkEnded(burstSize, 100*time.Second); err != nil {
		return err
	}
	h.facts["crowd served in, s"] = time.Since(began).Seconds()
	return stop()
}

// othersMost is how late other tasks may be while a crowd is served.
const othersMost = 5 * time.Second

// burstEnds: all of the crowd is there, once and done, the others did not wait
// for it, and the schedulers did not grow with it.
func burstEnds(_ context.Context, h *house) error { return h.crowdServed(othersMost) }

// crowdFirst: in one queue everybody stands in line. What is due after the
// crowd waits until that is served, and no longer.
func crowdFirst(_ context.Context, h *house) error {
	return h.crowdServed(othersMost + time.Duration(h.facts["crowd served in, s"]*float64(time.Second)))
}

func (h *house) crowdServed(othersMost time.Duration) error {
	since := int64(h.facts["away until, ms"])
	delete(h.facts, "away until, ms")
	if err := h.bulkDone(burstSize); err != nil {
		return err
	}
	var late int64
	err := h.ledger.QueryRow("SELECT COALESCE(MAX(a.started_at-i.wanted_at),0) FROM attempts a JOIN instances i ON i.id=a.instance_id WHERE a.no=1 AND i.task_id<? AND i.wanted_at>?", bulkFirst, since).Scan(&late)
	if err != nil {
		return err
	}
	h.facts["others late at most, s"] = float64(late) / 1000
	if late > othersMost.Milliseconds() {
		return fmt.Errorf("other tasks began %d ms late while the crowd was served", late)
	}
	if grown := h.facts["schedulers grown, MiB"]; grown > memoryGrowth {
		return fmt.Errorf("a scheduler grew by %.0f MiB, not at most %d", grown, memoryGrowth)
	}
	return nil
}

// bulkDone: each task of the crowd has one instance, which succeeded in one
// attempt.
func (h *house) bulkDone(n int) error {
	var instances, good, attempts int
	var last int64
	err := h.ledger.QueryRow("SELECT COUNT(*), COALESCE(SUM(state='succeeded'),0), COALESCE(SUM(attempt),0), COALESCE(MAX(started_at-wanted_at),0) FROM instances WHERE task_id>=?", bulkFirst).Scan(&instances, &good, &attempts, &last)
	if err != nil {
		return err
	}
	if instances != n || good != n || attempts != n {
		return fmt.Errorf("%d tasks have %d instances, %d succeeded, %d attempts", n, instances, good, attempts)
	}
	return nil
}

func slowBurst(ctx context.Context, h *house) error {
	for _, n := range h.with("scheduler") {
		if err := n.db.slow(up, 30*time.Millisecond, 0); err != nil {
			return err
		}
	}
	due := time.Now().Add(4 * time.Second).Truncate(time.Second)
	if err := h.addBulk("default", 1000, due); err != nil {
		return err
	}
	rest(ctx, time.Until(due))
	if err := h.bulkEnded(1000, 60*time.Second); err != nil {
		return err
	}
	h.facts["crowd served in, s"] = time.Since(due).Seconds()
	return h.eachLink((*link).heal)
}

// slowBurstEnds: one instance each, and no noise about what is usual.
func slowBurstEnds(_ context.Context, h *house) error {
	if err := h.bulkDone(1000); err != nil {
		return err
	}
	for _, n := range h.with("scheduler") {
		raw, err := os.ReadFile(n.p.log)
		if err != nil {
			return err
		}
		if strings.Contains(string(raw), `"level":"ERROR"`) {
			return fmt.Errorf("%s tells of errors", n.name)
		}
	}
	return nil
}
