package app_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app"
	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
)

func TestTheStateOfAxIsTold(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.queues = []app.QueueInfo{{Name: "default", Pending: 3, Active: 2, Latency: 1500 * time.Millisecond, Due: 7}, {Name: "slow", Paused: true}}
	h.task("orders.send")
	h.run(h.trigger("orders.send", "o-1").ID, ok())
	h.letter("orders.send", "o-2", "no luck")
	h.trigger("orders.send", "o-3")
	for more := true; more; {
		var err error
		more, err = h.ledger.RollUp(t.Context(), h.clock.Now())
		require.NoError(t, err)
	}
	c := h.api(access.Viewer)

	require.Contains(t, c.get(v1+"/queues").body, `{"name":"default","pending":3,"active":2,"scheduled":0,"retry":0,"archived":0,"paused":false,"latency_ms":1500,"due":7`)
	require.Contains(t, c.get(v1+"/queues").body, `"name":"slow"`)
	nodes := c.get(v1 + "/nodes")
	require.Contains(t, nodes.body, `"state":"alive","roles":["worker"],"queues":["default"],"labels":[],"slots":10`)
	require.Contains(t, c.get(v1+"/teams").body, `{"items":[{"code":"payments","name":"Payments","created_at":"2026-12-02T06:32:07.000Z"}],"next_cursor":null}`)

	var stats struct {
		Open     map[string]int `json:"open"`
		Ended    map[string]int `json:"ended_24h"`
		Hour     struct{ Succeeded, Bad int }
		Letters  int `json:"open_dead_letters"`
		Late     int
		HourRate struct {
			Rate *float64 `json:"success_rate"`
		} `json:"hour"`
	}
	c.get(v1 + "/stats").into(&stats)
	require.Equal(t, map[string]int{"pending": 0, "queued": 1, "running": 0, "awaiting": 0, "retrying": 0}, stats.Open)
	require.Equal(t, map[string]int{"succeeded": 1, "failed": 1, "timed_out": 0, "lost": 0, "skipped": 0, "canceled": 0}, stats.Ended)
	require.InDelta(t, 0.5, *stats.HourRate.Rate, 0.001)
	require.Equal(t, 1, stats.Letters)

	h.otherAPI().get(v1 + "/stats").into(&stats)
	require.Zero(t, stats.Open["queued"], "figures are of the token's team")
	require.Zero(t, stats.Ended["failed"])
}

type noQueues struct{ err error }

func (q noQueues) List(context.Context) ([]app.QueueInfo, error) { return nil, q.err }

func (q noQueues) Carrier(context.Context) (sched.CarrierFigures, error) {
	return sched.CarrierFigures{}, q.err
}

type noNodes struct{}

func (noNodes) Nodes(context.Context, time.Time) ([]sched.NodeInfo, error) {
	panic("a secret went wrong")
}

// Security 20: a caller gets the id of the request, never the cause.
func TestTheCauseOfAFailureStaysInTheLog(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(o *app.Options) {
		o.Queues = noQueues{errors.New("dial tcp 10.0.0.7:6379: secret refused")}
		o.Nodes = noNodes{}
	})
	c := h.api(access.Viewer)
	for _, path := range []string{"/queues", "/nodes"} {
		got := c.get(v1 + path)
		require.Equal(t, 500, got.status)
		require.Empty(t, got.problem().Detail)
		require.NotContains(t, got.body, "secret")
		require.Contains(t, h.log.String(), got.problem().RequestID)
	}
	require.Contains(t, h.log.String(), "secret refused")
	require.Contains(t, h.log.String(), "a secret went wrong")

	h = newHouse(t, func(o *app.Options) {
		o.Queues = noQueues{fault.Unavailable(errors.New("dial tcp: secret refused"), "Redis can’t be reached")}
	})
	got := h.api(access.Viewer).get(v1 + "/queues")
	require.Equal(t, 503, got.status)
	require.Equal(t, "5", got.header.Get("Retry-After"))
	require.Equal(t, "Redis can’t be reached", got.problem().Detail)
}
