package jobs_test

import (
	"testing"
	"time"

	"ax/jobs"
	"ax/jobs/redistest"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

func TestKeysOfTheEmbeddedRedisExpire(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, r *jobs.Redis) {
		require.NoError(t, r.Client().Set(t.Context(), "k", "v", 2*time.Second).Err())
		require.Eventually(t, func() bool {
			return r.Client().Exists(t.Context(), "k").Val() == 0
		}, 8*time.Second, 50*time.Millisecond)
	})
}

func TestTheEmbeddedRedisAsksForItsPassword(t *testing.T) {
	t.Parallel()
	r := redistest.Embedded(t)
	require.NoError(t, r.Ping(t.Context()))
	addr := r.Client().(*redis.Client).Options().Addr
	stranger := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { _ = stranger.Close() })
	require.ErrorContains(t, stranger.FlushAll(t.Context()).Err(), "NOAUTH")
}

func TestAnEvictingRedisIsWarnedOf(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, r *jobs.Redis) {
		text, err := r.Warning(t.Context())
		require.NoError(t, err)
		require.Empty(t, text)
		if r.Embedded() {
			return
		}
		require.NoError(t, r.Client().ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err())
		text, err = r.Warning(t.Context())
		require.NoError(t, err)
		require.Contains(t, text, "allkeys-lru")
	})
}

func TestRedisSaysWhatItIs(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, r *jobs.Redis) {
		name, err := r.Server(t.Context())
		require.NoError(t, err)
		if r.Embedded() {
			require.Empty(t, name)
			return
		}
		require.Regexp(t, `^(Redis|Valkey) \d+\.\d+\.\d+, noeviction$`, name)
	})
}

func TestOptionsThatMeanNothingAreRefused(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]jobs.RedisOptions{
		"no address":               {},
		"two addresses, no master": {Addrs: []string{"a:1", "b:1"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := jobs.OpenRedis(t.Context(), o)
			require.Error(t, err)
		})
	}
}
