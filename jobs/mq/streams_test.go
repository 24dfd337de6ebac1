package mq_test

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"ax/jobs/mq"
	"ax/jobs/redistest"
)

func streams(t *testing.T, addr string) (mq.Publisher, *redis.Client) {
	t.Helper()
	o := open(addr)
	o.User, o.Password = "", ""
	c := redis.NewClient(&redis.Options{Addr: addr, Protocol: 2, DisableIdentity: true, MaxRetries: -1})
	t.Cleanup(func() { _ = c.Close() })
	return publisher(t, mq.Redis, o), c
}

func entry(stream, id string) mq.Message {
	m := message("", "", id)
	m.Place = mq.Place{Stream: stream}
	return m
}

func entries(t *testing.T, c *redis.Client, stream string) []redis.XMessage {
	t.Helper()
	all, err := c.XRange(t.Context(), stream, "-", "+").Result()
	require.NoError(t, err)
	return all
}

func TestAnEntryOfAStreamHasTheMessage(t *testing.T) {
	p, c := streams(t, redistest.Start(t).Addr)
	require.NoError(t, p.Publish(within(t, 20*time.Second), entry("orders", "a")))
	got := entries(t, c, "orders")
	require.Len(t, got, 1)
	require.Equal(t, map[string]any{
		"message-id": "a", "correlation-id": "c-a", "type": "ax.run", "content-type": "application/json",
		"ax-instance": "i-a", "shop": "门店 17", "body": `{"n":1}`,
	}, got[0].Values)
	long := entry("short", "b")
	long.Most = 10
	for range 1000 {
		require.NoError(t, p.Publish(within(t, 20*time.Second), long))
	}
	require.Less(t, len(entries(t, c, "short")), 300, "whole nodes of about a hundred are cut")
}

func TestWhatRedisRefusesIsDefinite(t *testing.T) {
	s := redistest.Start(t)
	p, c := streams(t, s.Addr)
	ctx := within(t, 20*time.Second)
	require.NoError(t, c.Set(ctx, "text", "x", 0).Err())
	f := failure(t, p.Publish(ctx, entry("text", "a")))
	require.True(t, f.Definite)
	require.ErrorContains(t, f, "WRONGTYPE")
	require.ErrorContains(t, p.Check(ctx, []mq.Place{{Stream: "text"}, {Stream: "free"}}), "text is no stream but a string")
	require.NoError(t, p.Check(ctx, []mq.Place{{Stream: "free"}}))

	require.NoError(t, c.ConfigSet(ctx, "maxmemory", "1").Err())
	f = failure(t, p.Publish(ctx, entry("orders", "b")))
	require.True(t, f.Definite)
	require.ErrorContains(t, f, "OOM")
	require.NoError(t, c.ConfigSet(ctx, "maxmemory", "0").Err())

	require.NoError(t, c.Do(ctx, "ACL", "SETUSER", "narrow", "on", ">narrow-pass", "~allowed", "+xadd").Err())
	o := open(s.Addr)
	o.User, o.Password = "narrow", "narrow-pass"
	narrow := publisher(t, mq.Redis, o)
	require.NoError(t, narrow.Publish(ctx, entry("allowed", "c")))
	f = failure(t, narrow.Publish(ctx, entry("orders", "d")))
	require.True(t, f.Definite)
	require.ErrorContains(t, f, "NOPERM")
	o.Password = "another-pass"
	f = failure(t, publisher(t, mq.Redis, o).Publish(ctx, entry("allowed", "e")))
	require.True(t, f.Definite)
	require.ErrorContains(t, f, "WRONGPASS")
	require.Empty(t, entries(t, c, "orders"))
}

// F32 for streams: paused, its connections killed, and gone.
func TestWhatRedisSaidHoldsThroughItsFaults(t *testing.T) {
	s := redistest.Start(t)
	p, c := streams(t, s.Addr)
	ctx, stop := within(t, time.Minute), make(chan struct{})
	all := flood(t, p, mq.Place{Stream: "orders"}, stop)
	goesOn := func() {
		before := all.confirmed()
		require.Eventually(t, func() bool { return all.confirmed() > before+50 }, time.Minute, 5*time.Millisecond)
	}
	goesOn()
	for range 5 {
		require.NoError(t, c.Do(ctx, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes").Err())
		goesOn()
	}
	require.NoError(t, c.Do(ctx, "CLIENT", "PAUSE", "500", "WRITE").Err())
	goesOn()
	for _, limit := range []string{"1", "0"} {
		require.NoError(t, c.ConfigSet(ctx, "maxmemory", limit).Err())
	}
	goesOn()
	close(stop)
	all.sides.Wait()
	var ids []string
	for _, e := range entries(t, c, "orders") {
		ids = append(ids, e.Values["message-id"].(string))
	}
	all.judge(t, ids)

	s.Kill()
	f := failure(t, p.Publish(ctx, entry("orders", "z")))
	require.True(t, f.Definite)
	s.Restart()
	require.NoError(t, p.Publish(ctx, entry("orders", "z")))
}

func TestAStreamsConnectionThatIsCutAnywhereIsNeverSuccess(t *testing.T) {
	s := redistest.Start(t)
	_, c := streams(t, s.Addr)
	random, all := rand.New(rand.NewPCG(3, 4)), newTries()
	for i := range 300 {
		o := open(s.Addr)
		o.User, o.Password = "", ""
		o.Dial = cutAfter(random.IntN(1200), random.IntN(400))
		p := publisher(t, mq.Redis, o)
		m := entry("orders", strconv.Itoa(i))
		all.note(m.ID, p.Publish(within(t, 5*time.Second), m))
		require.NoError(t, p.Close())
	}
	var ids []string
	for _, e := range entries(t, c, "orders") {
		ids = append(ids, e.Values["message-id"].(string))
	}
	all.judge(t, ids)
	require.NotEmpty(t, all.had)
	require.NotEmpty(t, all.unclear)
}
