package main

import (
	"context"
	"time"
)

func network() []scenario {
	return []scenario{
		{name: "F16", says: "ways cut for 4 s each: scheduler–Redis, worker–Redis, worker–ledger", smoke: true, run: cutWays},
		{name: "F17", says: "200 ms ± 100 ms on all ways to ledger and Redis, then 1 s", run: slowWays, quiet: 120 * time.Second},
		{name: "F18", says: "half-open ways: a worker speaks and hears nothing, and the reverse", run: halfOpen, quiet: 120 * time.Second},
		{name: "F19", says: "workers reach Redis, but not the ledger", run: noLedger},
		{name: "F19/reverse", says: "workers reach the ledger, but not Redis", run: noRedis},
	}
}

func cutWays(ctx context.Context, h *house) error {
	h.zombies = true // a worker without ledger goes on with its calls
	for _, way := range []struct{ role, to string }{{"scheduler", "redis"}, {"worker", "redis"}, {"worker", "db"}} {
		n := h.one(way.role)
		l := choose(way.to == "db", n.db, n.redis)
		h.tell("cut %s", l.name)
		l.cut()
		h.orphans = true // what ended meanwhile could not be acknowledged
		if way.to == "db" {
			n.doomed()
		}
		rest(ctx, 4*time.Second)
		if err := l.heal(); err != nil {
			return err
		}
		rest(ctx, 500*time.Millisecond)
	}
	return nil
}

func (h *house) eachLink(do func(*link) error) error {
	for _, n := range h.nodes {
		for _, l := range []*link{n.db, n.redis} {
			if err := do(l); err != nil {
				return err
			}
		}
	}
	return nil
}

// slowWays makes each statement slow: a beat of three statements still comes
// in time with 200 ms, and no longer with a second, which looks like an outage
// and may not be taken for a death by anybody whose own beats are late.
func slowWays(ctx context.Context, h *house) error {
	h.zombies = true
	for _, by := range []time.Duration{200 * time.Millisecond, time.Second} {
		h.tell("%s on all ways", by)
		if err := h.eachLink(func(l *link) error { return l.slow(down, by, by/2) }); err != nil {
			return err
		}
		if by == time.Second {
			for _, n := range h.nodes {
				n.doomed()
			}
		}
		rest(ctx, 6*time.Second)
		if err := h.eachLink((*link).heal); err != nil {
			return err
		}
	}
	return nil
}

func halfOpen(ctx context.Context, h *house) error {
	h.zombies = true
	for _, s := range []side{down, up} {
		n := h.one("worker")
		n.doomed()
		h.tell("%s: %s is silent", n.name, s)
		for _, l := range []*link{n.db, n.redis} {
			if err := l.silent(s); err != nil {
				return err
			}
		}
		rest(ctx, 6*time.Second)
		for _, l := range []*link{n.db, n.redis} {
			l.cut() // what was swallowed can't come back
			if err := l.heal(); err != nil {
				return err
			}
		}
		rest(ctx, time.Second)
	}
	return nil
}

func noLedger(ctx context.Context, h *house) error { return h.without(ctx, "worker", true) }
func noRedis(ctx context.Context, h *house) error  { return h.without(ctx, "worker", false) }

func (h *house) without(ctx context.Context, role string, ledger bool) error {
	h.zombies, h.orphans = h.zombies || ledger, true
	for _, n := range h.with(role) {
		if ledger {
			n.doomed()
			n.db.cut()
		} else {
			n.redis.cut()
		}
	}
	rest(ctx, 5*time.Second)
	for _, n := range h.with(role) {
		if err := n.db.heal(); err != nil {
			return err
		}
		if err := n.redis.heal(); err != nil {
			return err
		}
	}
	rest(ctx, time.Second)
	return nil
}
