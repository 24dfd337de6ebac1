package jobs_test

import (
	"testing"
	"time"

	"ax/app/alert"
	"ax/app/fault"
	"ax/jobs"
	"ax/jobs/redistest"

	"github.com/stretchr/testify/require"
)

func TestRulesReadTheMemoryOfRedisAndWhetherItEvicts(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, r *jobs.Redis) {
		ask := func(m alert.Metric) []alert.Reading {
			got, err := jobs.NewInspector(r, queues, noLanes, time.Now).Readings(t.Context(), alert.Question{Metric: m}, time.Now())
			require.NoError(t, err)
			return got
		}
		if r.Embedded() {
			require.Empty(t, ask(alert.RedisMemory))
			require.Empty(t, ask(alert.RedisEvicts))
			return
		}
		set := func(name, value string) {
			require.NoError(t, r.Client().ConfigSet(t.Context(), name, value).Err())
		}
		set("maxmemory", "0")
		require.Empty(t, ask(alert.RedisMemory), "there is no limit")
		set("maxmemory-policy", "noeviction")
		require.Zero(t, ask(alert.RedisEvicts)[0].Value)
		set("maxmemory-policy", "allkeys-lru")
		require.Equal(t, []alert.Reading{{Subject: alert.Subject{Kind: alert.HouseSubject, Key: "redis", Name: "Redis"}, Value: 1, Detail: "allkeys-lru"}}, ask(alert.RedisEvicts))
		set("maxmemory-policy", "noeviction")
		set("maxmemory", "100000000")
		defer set("maxmemory", "0")
		got := ask(alert.RedisMemory)
		require.Positive(t, got[0].Value)
		require.Less(t, got[0].Value, 50.0)
		_, err := jobs.NewInspector(r, queues, noLanes, time.Now).Readings(t.Context(), alert.Question{Metric: alert.InARow}, time.Now())
		require.ErrorIs(t, err, alert.ErrNotMine)
	})
}

func TestWithoutRedisItsReadingsAreUnavailable(t *testing.T) {
	t.Parallel()
	r, err := jobs.OpenRedis(t.Context(), jobs.RedisOptions{Addr: "127.0.0.1:1"})
	require.NoError(t, err)
	defer r.Close()
	_, err = jobs.NewInspector(r, queues, noLanes, time.Now).Readings(t.Context(), alert.Question{Metric: alert.RedisEvicts}, time.Now())
	require.Equal(t, fault.KindUnavailable, fault.KindOf(err))
}
