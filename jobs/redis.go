package jobs

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// defaultPool holds the dequeue of some Asynq servers and the answers of a
// hundred handlers at once; with fewer connections they wait for each other.
const defaultPool = 100

// RedisOptions says which Redis to use: one server (Addr), Sentinel
// (MasterName and Addrs), a cluster (Addrs, Cluster), or one inside the
// process (Embedded; nothing else counts then).
type RedisOptions struct {
	Addr     string `yaml:"addr"` // host:port
	Username string `yaml:"username"`
	Password string `yaml:"password" mask:"whole"`
	DB       int    `yaml:"db"`
	TLS      bool   `yaml:"tls"`
	PoolSize int    `yaml:"-"` // connections; 0: 100

	MasterName       string   `yaml:"master_name"` // Sentinel: name of the master
	Addrs            []string `yaml:"addrs"`       // Sentinels, or seeds of a cluster
	SentinelUsername string   `yaml:"-"`
	SentinelPassword string   `yaml:"-"`
	Cluster          bool     `yaml:"cluster"`

	Embedded bool `yaml:"-"`
}

// Check says what is wrong, by the key of the configuration.
func (o RedisOptions) Check(check func(key string, ok bool, format string, args ...any)) {
	check("redis.db", o.DB >= 0 && o.DB < 1000, "between 0 and 999; this is %d", o.DB)
}

// Redis is the connection that all parts of the carrier share.
type Redis struct {
	client redis.UniversalClient
	mini   *miniredis.Miniredis // nil: a real server
	done   chan struct{}
	ended  sync.WaitGroup
}

// OpenRedis makes the connection pool, or starts the embedded server. It does
// not ask whether a real server answers: Ping does, and the caller may wait.
func OpenRedis(_ context.Context, o RedisOptions) (*Redis, error) {
	if o.Embedded {
		r, _, err := openEmbedded()
		return r, err
	}
	addrs := o.Addrs
	if len(addrs) == 0 && o.Addr != "" {
		addrs = []string{o.Addr}
	}
	if len(addrs) == 0 {
		return nil, errors.New("open Redis: no address is configured")
	}
	if o.MasterName == "" && !o.Cluster && len(addrs) > 1 {
		return nil, errors.New("open Redis: several addresses need a Sentinel master name or cluster mode")
	}
	u := universal(addrs, o.Username, o.Password, cmp.Or(o.PoolSize, defaultPool))
	u.DB = o.DB
	u.MasterName = o.MasterName
	u.SentinelUsername, u.SentinelPassword = o.SentinelUsername, o.SentinelPassword
	u.IsClusterMode = o.Cluster
	if o.TLS {
		u.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return &Redis{client: redis.NewUniversalClient(u), done: make(chan struct{})}, nil
}

func universal(addrs []string, user, password string, pool int) *redis.UniversalOptions {
	return &redis.UniversalOptions{
		Addrs: addrs, Username: user, Password: password,
		PoolSize: pool, ContextTimeoutEnabled: true,
		// Who calls tries again itself; long tries inside hide that Redis is
		// away.
		MaxRetries: 1, DialerRetries: 1,
		// Not known by miniredis and Redis 6; each costs a round trip and a
		// line in the log per connection.
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
}

// openEmbedded starts miniredis on a loopback port of its own. The password
// keeps other users of the machine out. (Its in-memory connections would need
// no port, but a pipeline longer than their buffer locks both ends.)
func openEmbedded() (r *Redis, password string, err error) {
	m := miniredis.NewMiniRedis()
	password = rand.Text()
	m.RequireAuth(password)
	if err := m.Start(); err != nil {
		return nil, "", fmt.Errorf("start the embedded Redis: %w", err)
	}
	r = &Redis{
		client: redis.NewUniversalClient(universal([]string{m.Addr()}, "", password, defaultPool)),
		mini:   m,
		done:   make(chan struct{}),
	}
	r.ended.Go(r.driveClock)
	return r, password, nil
}

// driveClock makes keys expire: miniredis has no clock of its own. Elapsed
// time is monotonic, so a set wall clock neither expires all nor stops it.
func (r *Redis) driveClock() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-r.done:
			return
		case now := <-tick.C:
			r.mini.FastForward(now.Sub(last))
			last = now
		}
	}
}

// Client is the shared pool; Close belongs to Redis.
func (r *Redis) Client() redis.UniversalClient { return r.client }

// Embedded tells whether Redis runs inside this process and starts empty.
func (r *Redis) Embedded() bool { return r.mini != nil }

// Ping asks whether Redis answers.
func (r *Redis) Ping(ctx context.Context) error {
	if err := r.client.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("ping Redis: %w", err)
	}
	return nil
}

// Warning tells what is wrong with the server's settings; empty when nothing
// is. A policy other than noeviction throws messages away when memory is
// short: the ledger sends them again, late.
func (r *Redis) Warning(ctx context.Context) (string, error) {
	if r.Embedded() {
		return "", nil
	}
	info, err := r.info(ctx, "memory")
	if err != nil {
		return "", err
	}
	if policy := info["maxmemory_policy"]; policy != "" && policy != "noeviction" {
		return fmt.Sprintf("Redis may drop messages when memory is short: maxmemory-policy is %s, advised is noeviction", policy), nil
	}
	return "", nil
}

// Server names the product, its version and how it keeps its keys, such as
// "Redis 7.0.15, noeviction"; "" is the embedded one.
func (r *Redis) Server(ctx context.Context) (string, error) {
	if r.Embedded() {
		return "", nil
	}
	info, err := r.info(ctx, "server")
	if err != nil {
		return "", err
	}
	name := "Redis " + info["redis_version"]
	if v := info["valkey_version"]; v != "" {
		name = "Valkey " + v
	}
	memory, err := r.info(ctx, "memory")
	if policy := memory["maxmemory_policy"]; policy != "" {
		name += ", " + policy
	}
	return name, err
}

// info reads a section of INFO, which needs no right to CONFIG. The embedded
// server has none of them: empty.
func (r *Redis) info(ctx context.Context, section string) (map[string]string, error) {
	if r.Embedded() {
		return nil, nil
	}
	text, err := r.client.Info(ctx, section).Result()
	if err != nil {
		return nil, fmt.Errorf("read what Redis tells of its %s: %w", section, err)
	}
	info := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			info[name] = value
		}
	}
	return info, nil
}

// Close ends the pool and the embedded server with all that it holds.
func (r *Redis) Close() error {
	close(r.done)
	r.ended.Wait()
	err := r.client.Close()
	if r.mini != nil {
		r.mini.Close()
	}
	if err != nil {
		return fmt.Errorf("close Redis: %w", err)
	}
	return nil
}
