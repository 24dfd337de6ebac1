package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// guarding are the scenarios that were made because nothing noticed the loss
// of a guard (guards_table.go), or only by luck.
func guarding() []scenario {
	return []scenario{
		{name: "F00/slow", says: "each hand-over is noted 80 ms after it was sent", run: restFor(5 * time.Second), env: []string{"AX_FAILPOINT=send.sent:*=delay=80ms"}},
		{name: "F01/unanswered", says: "the console dies three times between a request's commit and its answer", run: killUnanswered},
		{name: "F01/letters", says: "a worker dies four times between a bad end and its letter", run: killBeforeLetters, works: failingWork},
		{name: "F03/claim", says: "each worker stopped before a claim until it is declared dead, then awake", run: stopBeforeClaim, after: deadTakeNothing},
		{name: "F03/locked", says: "a worker stopped within the transaction of a claim, for as long as it takes to declare it dead", run: stopWithinClaim, after: deathKnown},
		{name: "F03/race", says: "frozen workers wake up while the sweep takes their work", run: wakeDuringSweep, works: longWork, env: []string{"AX_FAILPOINT=sweep.orphans:*=delay=1500ms"}},
		{name: "F03/wish", says: "what runs on a frozen worker is canceled by people, then taken over", run: wishOnDead, works: longWork, after: wishesHold},
		{name: "F05/thrice", says: "MariaDB frozen three times for 2.5 s", run: freezeThrice},
		{name: "F08/early", says: "Redis delivers everything that is due later at once, again and again", run: deliverEarly, works: delayedWork},
		{name: "F15/marked", says: "the answer to a sent mark is lost three times in each process", run: restFor(5 * time.Second), env: []string{"AX_FAILPOINT=run.marked:2=error,run.marked:4=error,run.marked:7=error"}},
		{name: "F26/silent", says: "a target that hangs, with retries allowed for work that can't be repeated", run: allowRetries, works: silentWork},
		{name: "F26/stuck", says: "a handler of each worker stuck for a minute, with a limit of 10 s; the audit looks without its own minute of patience", run: stickHandlers,
			env: []string{"AX_FAILPOINT=run.marked:3=delay=60s"}, prepare: hastyLedger("running", "deadline_at", "NEW.deadline_at-60000")},
		{name: "F31/mute", says: "targets that accept and never report; a receipt has 1.5 s instead of a day", run: restFor(4 * time.Second), works: muteWork,
			prepare: hastyLedger("awaiting", "receipt_deadline", "FLOOR(UNIX_TIMESTAMP(NOW(3))*1000)+1500")},
		{name: "F31/late", says: "receipts after the end, and failures of earlier attempts", run: lateWords, after: wordsJudged},
		{name: "F39/slow", says: "each claim takes 60 ms more before its commit", run: restFor(6 * time.Second), works: limitedWork, after: requestsRun, env: []string{"AX_FAILPOINT=claim.taken:*=delay=60ms"}},
		{name: "F40/twice", says: "every open letter replayed twice at once", run: replayTwice, works: hangingWork, after: lettersFree},
		{name: "F42/disable", says: "tasks disabled with slots planned ahead", run: restFor(4 * time.Second), after: disabledRest},
		{name: "F42/edit", says: "a schedule edited while planners, who take 600 ms, plan the old one", run: editWhilePlanned, after: editsHold,
			env: []string{"AX_FAILPOINT=plan.locked:*=delay=600ms"}},
		{name: "F42/pause", says: "a task paused and resumed three times with slots planned ahead", run: pauseThrice, after: pausedRest},
	}
}

func killUnanswered(ctx context.Context, h *house) error {
	n := h.with("web")[0]
	for range 3 {
		if err := n.restart(fmt.Sprintf("AX_FAILPOINT=trigger.committed:%d=kill", 2+h.random.IntN(6))); err != nil {
			return err
		}
		n.doomed()
		h.tell("%s dies with a request committed: %v", n.name, n.p.ends(8*time.Second))
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return n.restart()
}

func failingWork() []work {
	return append(usualWork(), work{code: "fails", path: "/fail", schedule: manual, rate: 5})
}

func killBeforeLetters(ctx context.Context, h *house) error {
	n := h.with("worker")[0]
	for range 4 {
		if err := n.restart(fmt.Sprintf("AX_FAILPOINT=end.attempt:%d=kill", 1+h.random.IntN(3))); err != nil {
			return err
		}
		n.doomed()
		h.tell("%s dies before a letter: %v", n.name, n.p.ends(8*time.Second))
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return n.restart()
}

// stopBeforeClaim: the worker has taken a message, and claims with the name of
// a node that is dead by then.
func stopBeforeClaim(ctx context.Context, h *house) error {
	h.zombies = true
	for _, n := range h.with("worker") {
		if err := n.restart("AX_FAILPOINT=run.taken:6=stop"); err != nil {
			return err
		}
		n.doomed()
		if err := h.declared(n); err != nil {
			return err
		}
		rest(ctx, 500*time.Millisecond)
		h.tell("%s wakes up before its claim", n.name)
		n.thaw()
		rest(ctx, 2*time.Second)
	}
	return nil
}

// stopWithinClaim: the worker holds the locks of its claim, the one on its own
// node's row too, which whoever declares it dead has to write.
func stopWithinClaim(ctx context.Context, h *house) error {
	h.zombies = true
	n := h.with("worker")[0]
	if err := n.restart("AX_FAILPOINT=claim.taken:6=stop"); err != nil {
		return err
	}
	n.doomed()
	began := time.Now()
	err := h.declared(n)
	h.facts[deathAfter] = time.Since(began).Seconds()
	h.tell("%s is known to be dead after %.1f s: %v", n.name, h.facts[deathAfter], err)
	n.thaw()
	rest(ctx, time.Second)
	return nil
}

const deathAfter = "s until the death was known"

func deathKnown(ctx context.Context, h *house) error {
	if h.facts[deathAfter] > 30 {
		return fmt.Errorf("a worker that stood still with locks was not declared dead for %.0f s", h.facts[deathAfter])
	}
	return nil
}

// declared waits until the node's present process is declared dead. On a busy
// machine that takes long: whoever declares needs whole beats itself.
func (h *house) declared(n *node) error {
	return within(time.Minute, n.name+" is declared dead", func() bool {
		var rows int
		err := h.ledger.QueryRow("SELECT COUNT(*) FROM nodes WHERE pid=? AND dead_at IS NOT NULL", n.p.pid()).Scan(&rows)
		return err == nil && rows > 0
	})
}

// none is an error when the query counts anything.
func (h *house) none(what, query string, args ...any) error {
	var n int
	if err := h.ledger.QueryRow(query, args...).Scan(&n); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if n > 0 {
		return fmt.Errorf("%s: %d", what, n)
	}
	return nil
}

func deadTakeNothing(ctx context.Context, h *house) error {
	return h.none("claims by nodes that were dead", `SELECT COUNT(*) FROM bench_moves m JOIN nodes n ON n.id=m.node_id
		WHERE m.to_state='running' AND m.from_state<>'running' AND n.dead_at IS NOT NULL AND m.at>FROM_UNIXTIME(n.dead_at/1000)+INTERVAL 300000 MICROSECOND`)
}

// wakeDuringSweep: the sweep has listed what it takes over, and the worker
// brings its results before it does.
func wakeDuringSweep(ctx context.Context, h *house) error {
	h.zombies = true
	for _, n := range h.with("worker") {
		rest(ctx, time.Second)
		n.freeze()
		if err := h.declared(n); err != nil {
			return err
		}
		rest(ctx, 300*time.Millisecond)
		h.tell("%s wakes up while the sweep looks at its work", n.name)
		n.thaw()
		rest(ctx, 3*time.Second)
	}
	return nil
}

func wishOnDead(ctx context.Context, h *house) error {
	h.zombies = true
	for _, n := range h.with("worker") {
		rest(ctx, time.Second)
		n.freeze()
		ids, err := h.runningOn(n)
		if err != nil {
			return err
		}
		h.tell("%d instances run on %s and are to be canceled", len(ids), n.name)
		for _, id := range ids {
			_, _ = h.load.change("instance.cancel", id, "POST", "/instances/"+id+"/cancel", nil)
		}
		if err := h.declared(n); err != nil {
			return err
		}
		rest(ctx, time.Second)
		n.thaw()
		rest(ctx, time.Second)
	}
	return nil
}

func (h *house) runningOn(n *node) ([]string, error) {
	rows, err := h.ledger.Query("SELECT i.id FROM instances i JOIN nodes n ON n.id=i.node_id WHERE n.pid=? AND i.state='running'", n.p.pid())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

func wishesHold(ctx context.Context, h *house) error {
	return h.none("attempts begun after somebody wanted the instance canceled",
		"SELECT COUNT(*) FROM instances i JOIN attempts a ON a.instance_id=i.id WHERE a.started_at>i.cancel_wanted+200")
}

// freezeThrice: each freeze is longer than the age of a beat that makes a
// death, and the pause after it long enough for steady beats.
func freezeThrice(ctx context.Context, h *house) error {
	for range 3 {
		h.tell("MariaDB freezes")
		h.maria.freeze()
		rest(ctx, deadAfter+time.Second)
		h.maria.thaw()
		rest(ctx, 4*time.Second)
	}
	return nil
}

func delayedWork() []work {
	return append(usualWork(), work{code: "later", path: "/ok", schedule: manual, idempotent: true, retries: 2, rate: 5, more: map[string]any{"delay_seconds": 4}})
}

// deliverEarly makes everything that Asynq keeps for later due now, as a wrong
// clock of Redis or of its client would.
func deliverEarly(ctx context.Context, h *house) error {
	for range 20 {
		for _, set := range []string{"scheduled", "retry"} {
			key := "asynq:{default}:" + set
			members, err := h.redis.direct.ZRange(ctx, key, 0, -1).Result()
			if err != nil {
				return err
			}
			for _, m := range members {
				err := h.redis.direct.ZAddXX(ctx, key, redis.Z{Score: float64(time.Now().Unix() - 1), Member: m}).Err()
				if err != nil {
					return err
				}
			}
		}
		rest(ctx, 300*time.Millisecond)
	}
	return nil
}

func silentWork() []work {
	return append(usualWork(), work{code: "silent", path: "/hang", schedule: manual, timeout: 1, rate: 3})
}

// allowRetries: an owner allows retries, which are for definite failures only.
func allowRetries(ctx context.Context, h *house) error {
	r, err := h.load.call("GET", "/tasks/silent", nil)
	if err != nil {
		return err
	}
	works := h.load.works
	i := slices.IndexFunc(works, func(w work) bool { return w.code == "silent" })
	def := works[i].definition(h.sink.url)
	def["version"] = r.body["version"]
	def["policy"].(map[string]any)["retry"] = map[string]any{"kind": "steps", "max": 2, "delays_seconds": []int{retryDelay}, "unsafe": true}
	if _, err := h.load.insist(10*time.Second, "task.update", "silent", "PUT", "/tasks/silent", def); err != nil {
		return err
	}
	rest(ctx, 5*time.Second)
	return nil
}

// hastyLedger brings a date forward that is a minute or a day away, when a row
// gets into a state.
func hastyLedger(state, column, value string) []string {
	return []string{"CREATE TRIGGER bench_haste BEFORE UPDATE ON instances FOR EACH ROW IF NEW.state='" + state + "' AND OLD.state<>NEW.state THEN SET NEW." + column + "=" + value + "; END IF"}
}

// stickHandlers: a stuck handler keeps its message, as a dead one does.
func stickHandlers(ctx context.Context, h *house) error {
	for _, n := range h.with("worker") {
		n.doomed()
	}
	rest(ctx, 4*time.Second)
	return nil
}

func muteWork() []work {
	return append(usualWork(), work{code: "mute", path: "/mute", schedule: manual, idempotent: true, retries: 1, rate: 2}, work{code: "mutepay", path: "/mute", schedule: manual, rate: 2})
}

func hangingWork() []work {
	return append(usualWork(), work{code: "stuck", path: "/hang", schedule: manual, idempotent: true, timeout: 1, rate: 2})
}

func replayTwice(ctx context.Context, h *house) error {
	for range 12 {
		r, err := h.load.call("GET", "/dead-letters?status=open&limit=20", nil)
		if err != nil {
			return err
		}
		for _, letter := range r.items() {
			for range 2 {
				id := fmt.Sprint(letter["id"])
				_, _ = h.load.change("letter.replay", id, "POST", "/dead-letters/"+id+"/replay", map[string]any{"reason": "twice"})
			}
		}
		rest(ctx, 400*time.Millisecond)
	}
	return nil
}

// requestsRun: somebody waits for each request; only slots are left out.
func requestsRun(ctx context.Context, h *house) error {
	return h.none("requests that were skipped", "SELECT COUNT(*) FROM instances WHERE origin<>'schedule' AND state='skipped'")
}

// lettersFree: whatever its end, a replay that is over lets go of its letter.
func lettersFree(ctx context.Context, h *house) error {
	return h.none("letters that wait for a replay that has ended", "SELECT COUNT(*) FROM dead_letters l JOIN instances i ON i.id=l.replaying WHERE i.state IN "+finals)
}

// disabledRest: the load has disabled what has slots; nothing of it may have
// started since, though up to two seconds of slots were planned.
func disabledRest(ctx context.Context, h *house) error {
	for _, s := range h.load.spans {
		if s.off == 0 {
			continue
		}
		err := h.none(s.task.code+": slots that started although the task was disabled",
			"SELECT COUNT(*) FROM attempts a JOIN instances i ON i.id=a.instance_id WHERE i.task_id=? AND i.origin='schedule' AND a.no=1 AND a.started_at>?", h.taskID(s.task.code), s.off+300)
		if err != nil {
			return err
		}
	}
	return nil
}

func pauseThrice(ctx context.Context, h *house) error {
	if _, err := h.ledger.Exec("CREATE TABLE bench_pauses (from_ms BIGINT, to_ms BIGINT)"); err != nil {
		return err
	}
	for range 3 {
		until := time.Now().Add(30 * time.Second).UTC().Format(time.RFC3339)
		if _, err := h.load.insist(10*time.Second, "task.pause", "tick", "POST", "/tasks/tick/pause", map[string]any{"until": until}); err != nil {
			return err
		}
		paused := time.Now().UnixMilli()
		rest(ctx, 2500*time.Millisecond)
		if _, err := h.ledger.Exec("INSERT INTO bench_pauses VALUES (?,?)", paused+300, time.Now().UnixMilli()); err != nil {
			return err
		}
		if _, err := h.load.insist(10*time.Second, "task.resume", "tick", "POST", "/tasks/tick/resume", nil); err != nil {
			return err
		}
		rest(ctx, time.Second)
	}
	return nil
}

func pausedRest(ctx context.Context, h *house) error {
	return h.none("starts while the task was paused",
		"SELECT COUNT(*) FROM attempts a JOIN bench_pauses p ON a.started_at BETWEEN p.from_ms AND p.to_ms WHERE a.task_id=?", h.taskID("tick"))
}
