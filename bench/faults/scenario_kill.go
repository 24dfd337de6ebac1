package main

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"time"
)

func killing() []scenario {
	return []scenario{
		{name: "F01", says: "killed at each failpoint, at its 1st, 2nd or 5th pass", smoke: true, alerts: true, prepare: shortLeases(2), run: killAtEachPoint, quiet: 90 * time.Second},
		{name: "F01/stop", says: "stopped for 3 s at each failpoint of a run and of the sweep", run: stopAtPoints, quiet: 90 * time.Second},
		{name: "F01/error", says: "an error at each failpoint inside a transaction", run: errorAtPoints},
		{name: "F01/panic", says: "a panic of the handler after its claim, and after its answer", run: panicAtPoints},
		{name: "F02", says: "kill -9 of a random process every 1 to 3 s for 25 s", smoke: true, run: killAtRandom, quiet: 90 * time.Second},
		{name: "F21", says: "the schedulers killed in turn every 2 s for 20 s", run: flapSchedulers},
		{name: "F24", says: "workers told to stop while work of 0 to 6 s runs", run: stopWorkers, works: longWork},
		{name: "F35", says: "a task that kills its worker", works: poisonWork, run: poison, after: poisonEnds, quiet: 90 * time.Second},
		{name: "F39", says: "holders of limited places killed 12 times", works: limitedWork, run: killHolders, quiet: 90 * time.Second},
	}
}

// point is a failpoint, the role of the process that passes it under the load,
// and the actions that mean something there.
type point struct {
	name, role string
	inTx       bool
}

// points that the load passes; the others have scenarios or tests of their own,
// such as those of the rules' turns, one each five seconds: F41/kill.
var points = []point{
	{"plan.locked", "scheduler", true}, {"plan.inserted", "scheduler", true}, {"plan.committed", "scheduler", false},
	{"send.sent", "scheduler", false}, {"trigger.committed", "web", false}, {"run.taken", "worker", false},
	{"claim.gated", "worker", true}, {"claim.taken", "worker", true}, {"run.claimed", "worker", false}, {"mark.row", "worker", true},
	{"run.marked", "worker", false}, {"http.sent", "worker", false}, {"run.answered", "worker", false}, {"run.settled", "worker", false},
	{"end.row", "worker", true}, {"end.attempt", "worker", true}, {"end.letter", "worker", true}, {"wake.committed", "worker", false},
	{"receipt.ended", "web", true}, {"receipt.stored", "web", false},
	{"sweep.declared", "scheduler", false}, {"sweep.orphans", "scheduler", false}, {"sweep.lost", "scheduler", false}, {"declare.judged", "scheduler", false},
	{"events.found", "scheduler", false}, {"deliver.taken", "scheduler", false}, {"deliver.sent", "scheduler", false}, {"deliver.settled", "scheduler", false},
	{"edit.written", "web", true}, {"edit.planned", "web", true}, {"cancel.row", "web", true}, {"replay.inserted", "web", true}, {"audit.row", "web", true},
}

// killAtEachPoint goes through all points at once by role: each process of the
// role is started with its next point, and again when it has died there. A
// point of the sweep needs a dead worker, which the other points see to.
func killAtEachPoint(ctx context.Context, h *house) error {
	if err := h.listen(listening{"good", "webhook", "", nil}, listening{"events", "webhook", "", ofSingle}); err != nil {
		return err
	}
	todo := map[string][]point{}
	for _, i := range h.random.Perm(len(points)) {
		todo[points[i].role] = append(todo[points[i].role], points[i])
	}
	errs := make(chan error, len(todo))
	for role, list := range todo {
		n, passes := h.with(role)[0], make([]int, len(list))
		for i := range passes {
			passes[i] = []int{1, 2, 5}[h.random.IntN(3)]
		}
		go func() { errs <- h.walkPoints(ctx, n, list, passes) }()
	}
	for range todo {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}

func (h *house) walkPoints(ctx context.Context, n *node, list []point, passes []int) error {
	for i, p := range list {
		if err := n.restart(fmt.Sprintf("AX_FAILPOINT=%s:%d=kill", p.name, passes[i])); err != nil {
			return err
		}
		n.doomed()
		died := n.p.ends(4 * time.Second)
		h.tell("%s dies at %s:%d: %v", n.name, p.name, passes[i], died)
		h.met(p.name, died)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return n.restart()
}

// met counts the points at which a process really died.
func (h *house) met(name string, died bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if died {
		h.facts["deaths at points"]++
	}
}

func stopAtPoints(ctx context.Context, h *house) error {
	for _, i := range h.random.Perm(len(points))[:6] {
		p := points[i]
		if p.role == "web" {
			p = point{"run.claimed", "worker", false}
		}
		n := h.one(p.role)
		h.zombies = true
		if err := n.restart(fmt.Sprintf("AX_FAILPOINT=%s:2=stop", p.name)); err != nil {
			return err
		}
		n.doomed()
		rest(ctx, 4*time.Second)
		h.tell("%s wakes up after %s", n.name, p.name)
		n.thaw()
	}
	return h.heal()
}

// heal brings every process back to life, without failpoints.
func (h *house) heal() error {
	for _, n := range h.nodes {
		if err := n.db.heal(); err != nil {
			return err
		}
		if err := n.redis.heal(); err != nil {
			return err
		}
		if !n.p.alive() {
			n.doomed()
			if err := n.start(); err != nil {
				return err
			}
			continue
		}
		n.thaw()
	}
	for _, n := range h.nodes {
		if err := n.ready(30 * time.Second); err != nil {
			return err
		}
	}
	return nil
}

func errorAtPoints(ctx context.Context, h *house) error {
	for _, i := range h.random.Perm(len(points)) {
		p := points[i]
		if !p.inTx {
			continue
		}
		n := h.with(p.role)[0]
		if err := n.restart(fmt.Sprintf("AX_FAILPOINT=%s:1=error,%s:3=error,%s:7=error", p.name, p.name, p.name)); err != nil {
			return err
		}
		rest(ctx, 1200*time.Millisecond)
	}
	for _, n := range h.nodes { // one whose start met the error has ended
		if err := n.restart(); err != nil {
			return err
		}
	}
	return h.heal()
}

// panicAtPoints: a claim whose handler is gone belongs to nobody. Only the
// audit at each beat of its node finds it (flaw 4 of protocol.md).
func panicAtPoints(ctx context.Context, h *house) error {
	for _, n := range h.with("worker") {
		if err := n.restart("AX_FAILPOINT=run.claimed:3=panic,run.claimed:9=panic,run.answered:5=panic,run.settled:4=panic"); err != nil {
			return err
		}
		rest(ctx, 2*time.Second)
	}
	rest(ctx, 2*time.Second)
	return nil
}

func killAtRandom(ctx context.Context, h *house) error {
	for end := time.Now().Add(25 * time.Second); time.Now().Before(end) && ctx.Err() == nil; {
		n := h.nodes[h.random.IntN(len(h.nodes))]
		h.tell("kill -9 %s", n.name)
		n.kill()
		rest(ctx, h.between(0, 800*time.Millisecond))
		if err := n.start(); err != nil {
			return err
		}
		rest(ctx, h.between(time.Second, 3*time.Second))
	}
	return nil
}

func flapSchedulers(ctx context.Context, h *house) error {
	all := h.with("scheduler")
	for i := range 10 {
		n := all[i%len(all)]
		h.tell("kill -9 %s", n.name)
		if err := n.restart(); err != nil {
			return err
		}
		rest(ctx, 2*time.Second)
	}
	return nil
}

func longWork() []work {
	return append(slices.Clip(usualWork()), work{code: "long", path: "/slow/2500", schedule: manual, idempotent: true, retries: 2, rate: 3},
		work{code: "longer", path: "/slow/6000", schedule: manual, idempotent: true, retries: 2, rate: 1},
		work{code: "longpay", path: "/slow/2500", schedule: manual, rate: 2})
}

// stopWorkers tells each worker to stop; its grace is 3 s. What hasn't begun
// is handed back, and a stop counts as no death.
func stopWorkers(ctx context.Context, h *house) error {
	for range 3 {
		for _, n := range h.with("worker") {
			rest(ctx, h.between(500*time.Millisecond, 1500*time.Millisecond))
			n.doomed()
			began := time.Now()
			n.p.signal(syscall.SIGTERM)
			if !n.p.ends(14 * time.Second) {
				return fmt.Errorf("%s did not stop within its limit", n.name)
			}
			h.tell("%s stopped after %.1f s", n.name, time.Since(began).Seconds())
			if err := n.start(); err != nil {
				return err
			}
		}
	}
	return nil
}

func limitedWork() []work {
	return []work{
		{code: "skip", path: "/slow/700", schedule: interval(1), every: 1, idempotent: true, retries: 2, limit: 1, overlap: "skip"},
		{code: "queue", path: "/slow/300", schedule: interval(1), every: 1, idempotent: true, retries: 2, limit: 1, overlap: "queue"},
		{code: "pair", path: "/slow/150", schedule: manual, idempotent: true, retries: 2, limit: 2, rate: 8},
		{code: "five", path: "/slow/300", schedule: manual, limit: 5, rate: 8},
		{code: "ask", path: "/accept/300", schedule: manual, idempotent: true, retries: 2, limit: 2, rate: 3},
	}
}

func killHolders(ctx context.Context, h *house) error {
	for range 12 {
		n := h.one("worker")
		rest(ctx, h.between(200*time.Millisecond, 1500*time.Millisecond))
		if err := n.restart(); err != nil {
			return err
		}
	}
	return nil
}
