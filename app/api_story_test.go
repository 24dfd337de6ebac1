package app_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
)

// The main job by API alone: a task, one instance of two triggers, a failure
// after all its tries, its dead letter, and a replay that closes it.
func TestTheMainJobByAPIAlone(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.api(access.Owner)
	c.wants(v1+"/tasks", `{"code": "order.close", "name": "Close", "team": "payments", "schedule": {"kind": "manual"},
		"target": {"kind": "http", "url": "https://orders.example.com/close"},
		"policy": {"idempotent": true, "retry": {"kind": "steps", "max": 2, "delays_seconds": [5, 20]}}}`, 201)
	var first, second instanceJSON
	c.wants(v1+"/tasks/order.close/trigger", `{"biz_id": "SO-1"}`, 202).into(&first)
	c.wants(v1+"/tasks/order.close/trigger", `{"biz_id": "SO-1"}`, 200).into(&second)
	require.Equal(t, first.ID, second.ID)

	for i, due := range []string{"2026-12-02T06:32:12.000Z", "2026-12-02T06:32:32.000Z"} {
		h.run(first.ID, bad("no luck"))
		in := c.instance(first.ID)
		require.Equal(t, []any{"retrying", i + 1, due}, []any{in.State, in.Attempt, in.DueAt})
		h.forward([]time.Duration{5 * time.Second, 20 * time.Second}[i])
	}
	h.run(first.ID, bad("no luck"))
	in := c.instance(first.ID)
	require.Equal(t, "failed", in.State)
	require.Len(t, in.Attempts, 3, "1 + max")

	var page struct{ Items []letterJSON }
	c.get(v1 + "/dead-letters?status=open").into(&page)
	require.Len(t, page.Items, 1)
	require.Equal(t, []any{*in.DeadLetter, "order.close/SO-1", first.ID}, []any{page.Items[0].ID, page.Items[0].Key, page.Items[0].InstanceID})

	var again instanceJSON
	c.wants(v1+"/dead-letters/1/replay", "", 202).into(&again)
	require.Equal(t, first.Key, again.Key)
	h.run(again.ID, ok())
	require.Equal(t, "succeeded", c.instance(again.ID).State)
	require.Equal(t, "failed", c.instance(first.ID).State, "final states are final")
	c.get(v1 + "/dead-letters?status=open").into(&page)
	require.Empty(t, page.Items)
	require.Equal(t, 404, c.get(v1+"/dead-letters/2").status)
	c.wants(v1+"/tasks/order.close/trigger", `{"biz_id": "SO-1"}`, 200)
}
