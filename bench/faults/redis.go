package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// redisServer is a redis-server with its own folder.
type redisServer struct {
	*process
	dir    string
	port   int
	args   []string
	direct *redis.Client // past all links
}

// The profiles of faults.md 2.1.
var (
	redisPlain = []string{"--save", "", "--appendonly", "no"}
	redisAOF   = []string{"--save", "", "--appendonly", "yes", "--appendfsync", "everysec"}
	redisSmall = []string{"--save", "", "--appendonly", "no", "--maxmemory", "8mb", "--maxmemory-policy", "allkeys-lru"}
)

func newRedis(dir string, profile []string) (*redisServer, error) {
	r := &redisServer{dir: filepath.Join(dir, "redis"), port: freePort(), args: profile}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return nil, err
	}
	r.direct = redis.NewClient(&redis.Options{Addr: r.addr(), DialTimeout: time.Second, MaxRetries: -1})
	return r, r.start()
}

func (r *redisServer) addr() string { return "127.0.0.1:" + strconv.Itoa(r.port) }

// start runs it, on what it wrote before if its profile keeps anything.
func (r *redisServer) start() error {
	args := append([]string{"--bind", "127.0.0.1", "--port", strconv.Itoa(r.port), "--dir", r.dir, "--enable-debug-command", "local"}, r.args...)
	var err error
	if r.process, err = launch(r.dir, "redis", nil, "redis-server", args...); err != nil {
		return err
	}
	return within(10*time.Second, "Redis answers", func() bool { return r.direct.Ping(context.Background()).Err() == nil })
}

func (r *redisServer) flush() error { return r.direct.FlushAll(context.Background()).Err() }

// left counts the messages that Asynq still holds in a queue, by its lists.
func (r *redisServer) left(queue string) (map[string]int64, error) {
	ctx, out := context.Background(), map[string]int64{}
	base := "asynq:{" + queue + "}:"
	for _, list := range []string{"pending", "active"} {
		n, err := r.direct.LLen(ctx, base+list).Result()
		if err != nil {
			return nil, err
		}
		out[list] = n
	}
	for _, set := range []string{"scheduled", "retry", "archived"} {
		n, err := r.direct.ZCard(ctx, base+set).Result()
		if err != nil {
			return nil, err
		}
		out[set] = n
	}
	return out, nil
}
