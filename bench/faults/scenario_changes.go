package main

import (
	"context"
	"fmt"
	"time"
)

// changing is F42: tasks of its own (the usual load's are changed too, but not
// at chosen moments), and the rules of design.md section 4 for each change.
func changing() []scenario {
	return []scenario{
		{name: "F42", says: "tasks edited, disabled, enabled and archived while slots are due, running and retrying", works: fewSlots, run: changeTasks},
	}
}

// retouched is a task of this scenario and when each change was confirmed.
type retouched struct {
	h    *house
	code string
	id   int64
}

func (h *house) makeChanged(w work) (retouched, error) {
	from := time.Now().UnixMilli()
	_, err := h.load.insist(20*time.Second, "task.create", w.code, "POST", "/tasks", w.definition(h.sink.url))
	c := retouched{h, w.code, h.taskID(w.code)}
	if w.every > 0 {
		h.frames = append(h.frames, []any{c.id, w.every * 1000, from - clockSlack, from + 3_600_000})
	}
	return c, err
}

// do changes the task and gives when that was confirmed.
func (c retouched) do(action, method, tail string, body any) (int64, error) {
	_, err := c.h.load.insist(20*time.Second, "task."+action, c.code, method, "/tasks/"+c.code+tail, body)
	c.h.tell("%s: %s", c.code, action)
	return time.Now().UnixMilli(), err
}

func changeTasks(ctx context.Context, h *house) error {
	for _, try := range []func(context.Context, *house) error{editSlots, disableAndEnable, archiveRunning, disableRetrying} {
		if err := try(ctx, h); err != nil {
			return err
		}
	}
	return h.noOrphans()
}

// expect runs a query for a count that must be zero.
func (h *house) expect(what, query string, args ...any) error {
	var n int
	if err := h.ledger.QueryRow(query, args...).Scan(&n); err != nil {
		return fmt.Errorf("look for %s: %w", what, err)
	}
	if n > 0 {
		return fmt.Errorf("%d %s", n, what)
	}
	return nil
}

// lenient is how far the bench's idea of when a change was confirmed may be
// off from that of a node that reads the ledger's clock at each beat, in ms.
const lenient = 300

// editSlots: the old schedule's slots until the edit are all there, and of the
// new schedule's no unwanted one starts after it.
func editSlots(ctx context.Context, h *house) error {
	w := work{code: "edited", path: "/slow/300", schedule: interval(1), every: 1, idempotent: true, retries: 1}
	c, err := h.makeChanged(w)
	if err != nil {
		return err
	}
	from := time.Now().UnixMilli()
	rest(ctx, h.between(2*time.Second, 3*time.Second))
	w.schedule = interval(3)
	def := w.definition(h.sink.url)
	r, err := h.load.call("GET", "/tasks/edited", nil)
	if err != nil {
		return err
	}
	def["version"] = r.body["version"]
	asked := time.Now().UnixMilli()
	at, err := c.do("update", "PUT", "", def)
	if err != nil {
		return err
	}
	rest(ctx, 4*time.Second)
	var there int64
	first := (from+clockSlack)/1000 + 1
	if err := h.ledger.QueryRow("SELECT COUNT(*) FROM instances WHERE task_id=? AND slot_at>=? AND slot_at<?", c.id, first*1000, asked-clockSlack).Scan(&there); err != nil {
		return err
	}
	if want := (asked-clockSlack-1)/1000 - first + 1; there != max(0, want) {
		return fmt.Errorf("the old schedule had %d slots before the edit, and %d are there", want, there)
	}
	return h.expect("slots that only the old schedule wants began after the edit",
		"SELECT COUNT(*) FROM attempts a JOIN instances i ON i.id=a.instance_id WHERE i.task_id=? AND a.no=1 AND a.started_at>? AND i.slot_at>? AND MOD(i.slot_at,3000)<>0", c.id, at+lenient, at)
}

// disableAndEnable: no slot begins after the disabling, what was accepted runs,
// a new request is a conflict, and enabling plans from then on.
func disableAndEnable(ctx context.Context, h *house) error {
	c, err := h.makeChanged(work{code: "switched", path: "/slow/700", schedule: interval(1), every: 1, idempotent: true, retries: 1})
	if err != nil {
		return err
	}
	rest(ctx, h.between(1500*time.Millisecond, 2500*time.Millisecond))
	if _, err := h.load.trigger(h.load.stop, c.code, "accepted", map[string]any{"delay_seconds": 2}); err != nil {
		return err
	}
	off, err := c.do("disable", "POST", "/disable", nil)
	if err != nil {
		return err
	}
	if r, err := h.load.call("POST", "/tasks/switched/trigger", map[string]any{"biz_id": "refused"}); err != nil || r.status != 409 {
		return fmt.Errorf("a request for a disabled task: %d %v %w", r.status, r.body, err)
	}
	rest(ctx, 4*time.Second)
	wanted := time.Now().UnixMilli()
	if _, err := c.do("enable", "POST", "/enable", nil); err != nil {
		return err
	}
	rest(ctx, 3*time.Second)
	if err := h.expect("slots began while the task was disabled",
		"SELECT COUNT(*) FROM attempts a JOIN instances i ON i.id=a.instance_id WHERE i.task_id=? AND i.origin='schedule' AND a.no=1 AND a.started_at BETWEEN ? AND ?", c.id, off+lenient, wanted-lenient); err != nil {
		return err
	}
	if err := h.expect("slots of the time when the task was disabled were planned afterwards",
		"SELECT COUNT(*) FROM instances WHERE task_id=? AND slot_at>? AND slot_at<? AND created_at>?", c.id, off+2000+clockSlack, wanted-clockSlack, off+lenient); err != nil {
		return err
	}
	if err := h.expect("accepted requests did not run",
		"SELECT COUNT(*) FROM instances WHERE task_id=? AND biz_id='accepted' AND state<>'succeeded' AND state<>'canceled'", c.id); err != nil {
		return err
	}
	_, err = c.do("disable", "POST", "/disable", nil)
	return err
}

// archiveRunning: what runs ends well, no slot begins, a new request finds no
// task or a conflict, and the history stays.
func archiveRunning(ctx context.Context, h *house) error {
	c, err := h.makeChanged(work{code: "archived", path: "/slow/1500", schedule: interval(1), every: 1, idempotent: true, retries: 1})
	if err != nil {
		return err
	}
	rest(ctx, 3500*time.Millisecond)
	var running int
	off, err := c.do("archive", "DELETE", "", nil)
	if err != nil {
		return err
	}
	if err := h.ledger.QueryRow("SELECT COUNT(*) FROM instances WHERE task_id=? AND state='running'", c.id).Scan(&running); err != nil {
		return err
	}
	h.tell("%d run when their task is archived", running)
	for tail, body := range map[string]any{"/trigger": map[string]any{"biz_id": "refused"}, "/enable": nil} {
		if r, err := h.load.call("POST", "/tasks/archived"+tail, body); err != nil || (r.status != 409 && r.status != 404) {
			return fmt.Errorf("POST /tasks/archived%s: %d %v %w", tail, r.status, r.body, err)
		}
	}
	rest(ctx, 3*time.Second)
	if err := h.expect("slots began after their task was archived",
		"SELECT COUNT(*) FROM attempts a JOIN instances i ON i.id=a.instance_id WHERE i.task_id=? AND a.no=1 AND a.started_at>?", c.id, off+lenient); err != nil {
		return err
	}
	if err := h.expect("instances of an archived task are open or ended badly",
		"SELECT COUNT(*) FROM instances WHERE task_id=? AND state NOT IN ('succeeded','skipped','canceled')", c.id); err != nil {
		return err
	}
	return h.expect("archived tasks still have a next run", "SELECT COUNT(*) FROM tasks WHERE archived_at IS NOT NULL AND (enabled=1 OR next_fire_at IS NOT NULL)")
}

// disableRetrying: what has begun goes on with its retries.
func disableRetrying(ctx context.Context, h *house) error {
	c, err := h.makeChanged(work{code: "retried", path: "/flaky/2", schedule: manual, idempotent: true, retries: 3})
	if err != nil {
		return err
	}
	for i := range 5 {
		if _, err := h.load.trigger(h.load.stop, c.code, fmt.Sprintf("retried-%d", i), nil); err != nil {
			return err
		}
	}
	rest(ctx, 500*time.Millisecond)
	if _, err := c.do("disable", "POST", "/disable", nil); err != nil {
		return err
	}
	rest(ctx, 5*time.Second)
	return h.expect("instances that had begun were not ended by their retries",
		"SELECT COUNT(*) FROM instances WHERE task_id=? AND NOT (state='succeeded' AND attempt=3) AND state<>'canceled'", c.id)
}

// noOrphans: no row belongs to something that isn't there.
func (h *house) noOrphans() error {
	for what, query := range map[string]string{
		"instances have no task":      "SELECT COUNT(*) FROM instances i LEFT JOIN tasks t ON t.id=i.task_id WHERE t.id IS NULL",
		"attempts have no instance":   "SELECT COUNT(*) FROM attempts a LEFT JOIN instances i ON i.id=a.instance_id WHERE i.id IS NULL",
		"letters have no instance":    "SELECT COUNT(*) FROM dead_letters l LEFT JOIN instances i ON i.id=l.instance_id WHERE i.id IS NULL",
		"tasks have no gate":          "SELECT COUNT(*) FROM tasks t LEFT JOIN task_gates g ON g.task_id=t.id WHERE g.task_id IS NULL",
		"tasks lack their version":    "SELECT COUNT(*) FROM tasks t LEFT JOIN task_versions v ON v.task_id=t.id AND v.version=t.version WHERE v.task_id IS NULL",
		"attempts lack their version": "SELECT COUNT(*) FROM attempts a LEFT JOIN task_versions v ON v.task_id=a.task_id AND v.version=a.task_version WHERE v.task_id IS NULL",
	} {
		if err := h.expect(what, query); err != nil {
			return err
		}
	}
	return nil
}
