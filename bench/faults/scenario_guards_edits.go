package main

import (
	"context"
	"time"
)

// editWhilePlanned changes a schedule from every 4 s to every second in the
// moment in which a planner has read the old one: that planner must not move
// the task's next time past slots of the new one.
func editWhilePlanned(ctx context.Context, h *house) error {
	for _, q := range []string{"CREATE TABLE bench_wanted (slot_at BIGINT)", "CREATE TABLE bench_coarse (from_ms BIGINT, to_ms BIGINT)"} {
		if _, err := h.ledger.Exec(q); err != nil {
			return err
		}
	}
	asked := time.Now().UnixMilli()
	w := work{code: "edited", path: "/ok", schedule: interval(4), idempotent: true, retries: 2}
	if _, err := h.load.insist(20*time.Second, "task.create", w.code, "POST", "/tasks", w.definition(h.sink.url)); err != nil {
		return err
	}
	coarse := int64(0) // since when every 4 s only, surely
	for range 3 {
		// A slot is planned from two seconds before it; the next one is at 4 s.
		rest(ctx, untilPhase(4*time.Second, 2300*time.Millisecond))
		if _, err := h.ledger.Exec("INSERT INTO bench_coarse VALUES (?,?)", coarse, choose(coarse > 0, time.Now().UnixMilli(), 0)); err != nil {
			return err
		}
		if err := h.reschedule(w, interval(1)); err != nil {
			return err
		}
		now := time.Now().UnixMilli()
		for slot := (now/1000 + 2) * 1000; slot <= now+5000; slot += 1000 {
			if _, err := h.ledger.Exec("INSERT INTO bench_wanted VALUES (?)", slot); err != nil {
				return err
			}
		}
		rest(ctx, 5500*time.Millisecond)
		if err := h.reschedule(w, interval(4)); err != nil {
			return err
		}
		coarse = time.Now().UnixMilli() + 300
	}
	_, err := h.load.insist(20*time.Second, "task.disable", w.code, "POST", "/tasks/"+w.code+"/disable", nil)
	h.frames = append(h.frames, []any{h.taskID(w.code), 1000, asked - clockSlack, time.Now().UnixMilli() + clockSlack + 2000})
	return err
}

// untilPhase is the time until the clock is so far past a multiple of every.
func untilPhase(every, phase time.Duration) time.Duration {
	past := time.Duration(time.Now().UnixNano()) % every
	return (phase - past + every) % every
}

func (h *house) reschedule(w work, schedule map[string]any) error {
	r, err := h.load.call("GET", "/tasks/"+w.code, nil)
	if err != nil {
		return err
	}
	w.schedule = schedule
	def := w.definition(h.sink.url)
	def["version"] = r.body["version"]
	_, err = h.load.insist(20*time.Second, "task.update", w.code, "PUT", "/tasks/"+w.code, def)
	return err
}

// editsHold: slots of the new schedule are there, and those that were planned
// by the old one alone do not start any more.
func editsHold(ctx context.Context, h *house) error {
	id := h.taskID("edited")
	err := h.none("slots that started although an edit had taken them away", `SELECT COUNT(*) FROM instances i JOIN attempts a ON a.instance_id=i.id AND a.no=1
		JOIN bench_coarse c ON a.started_at BETWEEN c.from_ms AND c.to_ms WHERE i.task_id=? AND i.slot_at%4000<>0`, id)
	if err != nil {
		return err
	}
	return h.none("slots of the new schedule without a trace", `SELECT COUNT(*) FROM bench_wanted w
		WHERE NOT EXISTS (SELECT 1 FROM instances i WHERE i.task_id=? AND i.slot_at=w.slot_at)
		AND NOT EXISTS (SELECT 1 FROM missed_ranges m WHERE m.task_id=? AND w.slot_at BETWEEN m.from_slot AND m.to_slot)`, id, id)
}
