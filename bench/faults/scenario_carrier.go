package main

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

func carrier() []scenario {
	return []scenario{
		{name: "F06", says: "FLUSHALL three times under load, with calls of 2.5 s out", smoke: true, run: flushUnderLoad, works: longWork},
		{name: "F07", says: "Redis killed and back empty, twice", smoke: true, run: killRedis},
		{name: "F08", says: "Redis back with what it held 4 s ago", run: restoreRedis},
		{name: "F09", says: "Redis with 8 MB that evicts any key", redis: redisSmall, run: evict},
		{name: "F10", says: "Redis full, paused, and stuck", run: refuseRedis},
	}
}

func flushUnderLoad(ctx context.Context, h *house) error {
	for range 3 {
		rest(ctx, h.between(800*time.Millisecond, 2*time.Second))
		h.tell("FLUSHALL")
		if err := h.redis.flush(); err != nil {
			return err
		}
	}
	return nil
}

func killRedis(ctx context.Context, h *house) error {
	for range 2 {
		rest(ctx, h.between(500*time.Millisecond, 1500*time.Millisecond))
		h.tell("kill -9 redis")
		h.redis.kill()
		rest(ctx, h.between(0, 3*time.Second))
		if err := h.redis.start(); err != nil {
			return err
		}
	}
	return nil
}

// restoreRedis takes a dump, goes on, and comes back with it: messages of
// ended work are there again.
func restoreRedis(ctx context.Context, h *house) error {
	h.orphans = true
	if err := h.redis.direct.Save(ctx).Err(); err != nil {
		return err
	}
	dump := filepath.Join(h.redis.dir, "dump.rdb")
	old, err := os.ReadFile(dump)
	if err != nil {
		return err
	}
	rest(ctx, 4*time.Second)
	h.redis.kill()
	if err := os.WriteFile(dump, old, 0o600); err != nil {
		return err
	}
	h.tell("Redis comes back from its dump")
	if err := h.redis.start(); err != nil {
		return err
	}
	rest(ctx, 3*time.Second)
	return nil
}

// evict fills Redis with junk, so that it throws keys of Asynq away.
func evict(ctx context.Context, h *house) error {
	h.orphans = true
	junk := string(make([]byte, 64<<10))
	for i := range 300 {
		_ = h.redis.direct.Set(ctx, "junk:"+time.Now().String(), junk, 0).Err() // refused when it is full: as it should be
		if i%50 == 0 {
			rest(ctx, 300*time.Millisecond)
		}
	}
	rest(ctx, 2*time.Second)
	return h.redis.direct.ConfigSet(ctx, "maxmemory", "0").Err()
}

func refuseRedis(ctx context.Context, h *house) error {
	c := h.redis.direct
	for _, set := range [][2]string{{"maxmemory-policy", "noeviction"}, {"maxmemory", "1"}} {
		if err := c.ConfigSet(ctx, set[0], set[1]).Err(); err != nil {
			return err
		}
	}
	h.tell("Redis refuses writes")
	rest(ctx, 3*time.Second)
	if err := c.ConfigSet(ctx, "maxmemory", "0").Err(); err != nil {
		return err
	}
	rest(ctx, time.Second)
	if err := c.Do(ctx, "CLIENT", "PAUSE", "2000").Err(); err != nil {
		return err
	}
	rest(ctx, 3*time.Second)
	h.tell("Redis sleeps")
	go c.Do(context.Background(), "DEBUG", "SLEEP", "3")
	rest(ctx, 4*time.Second)
	h.redis.signal(syscall.SIGCONT)
	return nil
}
