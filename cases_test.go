//go:build slow

package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// beside prepares another process on the same servers.
func (a *ax) beside(t *testing.T, extra ...string) *ax {
	t.Helper()
	b := &ax{t: t, bin: a.bin, addr: freeAddr(t), token: a.token}
	for _, e := range a.env {
		if !strings.HasPrefix(e, "AX_HTTP_ADDR=") {
			b.env = append(b.env, e)
		}
	}
	b.env = append(b.env, append([]string{"AX_HTTP_ADDR=" + b.addr}, extra...)...)
	t.Cleanup(b.kill)
	return b
}

// everySecond makes a task with a slot each second.
func everySecond(w map[string]any) {
	w["schedule"] = map[string]any{"kind": "cron", "cron": "* * * * * ?", "timezone": "UTC"}
	w["policy"].(map[string]any)["max_concurrent"] = 0
}

// DUP-03: three identical processes make one instance a slot, and no noise.
func TestDUP03ThreeProcessesMakeOneInstanceASlot(t *testing.T) {
	t.Parallel()
	a, _ := onServers(t, plainAx.build(t))
	s := newSink(t, nil)
	a.prepare()
	others := []*ax{a.beside(t), a.beside(t)}
	a.start()
	for _, o := range others {
		o.start()
	}
	a.task("tick", s.URL, everySecond)
	require.Eventually(t, func() bool { return len(s.got()) >= 10 }, time.Minute, 100*time.Millisecond)
	for key, n := range s.perKey() {
		require.Equal(t, 1, n, key)
	}
	for _, p := range append(others, a) {
		require.NotContains(t, p.log.String(), "level=ERROR")
	}
	a.verify()
}

// LOST-06: when one of two schedulers is killed, the other plans on: no slot is
// missing, and none is late by more than a scan and the way of a message.
func TestLOST06AnotherSchedulerPlansOn(t *testing.T) {
	t.Parallel()
	a, _ := onServers(t, plainAx.build(t))
	s := newSink(t, nil)
	a.prepare()
	b := a.beside(t)
	a.start()
	b.start()
	a.task("tick", s.URL, everySecond)
	require.Eventually(t, func() bool { return len(s.got()) >= 3 }, time.Minute, 50*time.Millisecond)
	a.kill()
	seen := len(s.got())
	require.Eventually(t, func() bool { return len(s.got()) >= seen+8 }, time.Minute, 50*time.Millisecond)
	b.call("POST", "/tasks/tick/disable", map[string]any{}, http.StatusOK)
	var slots []time.Time
	for key := range s.perKey() {
		at, err := time.Parse(time.RFC3339, strings.TrimPrefix(key, "tick/@"))
		require.NoError(t, err)
		slots = append(slots, at)
	}
	first, last := slots[0], slots[0]
	for _, at := range slots {
		if at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	require.Len(t, slots, int(last.Sub(first).Seconds())+1, "each second from %s to %s", first, last)
	b.verify()
}

// STUCK-01: Asynq's lease entries are gone and the worker dies: ax's own
// ledger brings all twenty to an end.
func TestSTUCK01RunsWithoutALeaseComeToAnEnd(t *testing.T) {
	a, redisServer := onServers(t, plainAx.build(t))
	hold := make(chan struct{})
	s := newSink(t, func(c sinkCall, _ http.ResponseWriter) {
		if c.Header.Get("Ax-Attempt") == "1" {
			<-hold
		}
	})
	t.Cleanup(func() { close(hold) })
	a.prepare()
	a.start()
	a.task("held", s.URL)
	for i := range 20 {
		require.NoError(t, a.trigger("held", fmt.Sprintf("b%d", i), nil))
	}
	require.Eventually(t, func() bool { return len(s.got()) == 20 }, 30*time.Second, 50*time.Millisecond)
	c := redis.NewClient(&redis.Options{Addr: redisServer.Addr})
	defer c.Close()
	removed, err := c.Del(t.Context(), "asynq:{default}:lease").Result()
	require.NoError(t, err)
	require.EqualValues(t, 1, removed, "the leases were there")
	a.kill()
	a.start()
	a.settles("held", map[string]int{"succeeded": 20}, 90*time.Second)
	a.verify()
}

// DUP-10: several processes start at once while work begins: nobody is taken
// for dead, nothing is run again.
func TestDUP10NobodyIsTakenForDeadAtTheStart(t *testing.T) {
	a, _ := onServers(t, plainAx.build(t), "AX_NODE_BEAT=2s")
	s := newSink(t, func(sinkCall, http.ResponseWriter) { time.Sleep(500 * time.Millisecond) })
	a.prepare()
	a.start()
	a.task("start", s.URL)
	started := make(chan *ax, 5)
	for range 5 {
		b := a.beside(t, "AX_ROLES=web,worker", "AX_NODE_BEAT=2s")
		go func() { b.start(); started <- b }()
	}
	for i := range 100 {
		require.NoError(t, a.trigger("start", fmt.Sprintf("b%d", i), nil))
	}
	for range 5 {
		<-started
	}
	a.settles("start", map[string]int{"succeeded": 100}, time.Minute)
	for key, n := range s.perKey() {
		require.Equal(t, 1, n, key)
	}
	a.verify()
}

// A database and a Redis that are not there at the start are waited for, and
// /readyz says which is missing.
func TestTheStartWaitsForDatabaseAndRedis(t *testing.T) {
	a, redisServer := onServers(t, plainAx.build(t))
	redisServer.Kill()
	cmd := a.command("serve")
	cmd.Stdout, cmd.Stderr = &a.log, &a.log
	require.NoError(t, cmd.Start())
	a.ended = make(chan struct{})
	go func() { _ = cmd.Wait(); close(a.ended) }()
	a.cmd = cmd
	says := func(want string, status int) func() bool {
		return func() bool {
			resp, err := http.Get("http://" + a.addr + "/readyz")
			if err != nil {
				return false
			}
			defer resp.Body.Close()
			var body strings.Builder
			_, _ = fmt.Fprint(&body, readAll(resp))
			return resp.StatusCode == status && strings.Contains(body.String(), want)
		}
	}
	require.Eventually(t, says(`{"name":"redis","ok":false`, http.StatusServiceUnavailable), 20*time.Second, 50*time.Millisecond, &a.log)
	require.Eventually(t, func() bool { return strings.Contains(a.log.String(), "Redis can't be reached") }, 20*time.Second, 50*time.Millisecond)
	redisServer.Restart()
	require.Eventually(t, says(`"ready":true`, http.StatusOK), 20*time.Second, 50*time.Millisecond, &a.log)
}
