package app_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
)

func TestATokenThatCallsTooOftenIsToldToWait(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	c := h.api(access.Operator)
	for range 200 {
		require.Equal(t, 200, c.get(v1+"/teams").status)
	}
	got := c.json("POST", v1+"/tasks/orders.send/disable", "")
	require.Equal(t, 429, got.status)
	require.Equal(t, "1", got.header.Get("Retry-After"))
	require.Equal(t, "Too many requests: try again in 1 s", got.problem().Detail)
	task, err := h.ledger.Task(t.Context(), "orders.send")
	require.NoError(t, err)
	require.True(t, task.Enabled, "nothing was done")

	c.wants(v1+"/tasks/orders.send/trigger", "", 202)
	require.Equal(t, 200, h.api(access.Viewer).get(v1+"/teams").status, "another token has its own")
	h.forward(time.Second)
	for range 100 {
		require.Equal(t, 200, c.get(v1+"/teams").status)
	}
	require.Equal(t, 429, c.get(v1+"/teams").status)
}

func TestTriggersMayComeInCrowds(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	c := h.api(access.Operator)
	for range 1000 { // one biz_id, so that it costs little
		got := c.json("POST", v1+"/tasks/orders.send/trigger", `{"biz_id": "o-1"}`)
		require.Less(t, got.status, 203, got.body)
	}
	require.Equal(t, 429, c.json("POST", v1+"/tasks/orders.send/trigger", `{"biz_id": "o-2"}`).status)
	h.forward(100 * time.Millisecond)
	for range 50 {
		c.wants(v1+"/tasks/orders.send/trigger", `{"biz_id": "o-1"}`, 200)
	}
	require.Equal(t, 429, c.json("POST", v1+"/tasks/orders.send/trigger", "").status)
}
