package app_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app"
)

// A loop in somebody's browser is told to wait; nothing is done meanwhile, and
// others go on.
func TestAPersonWhoActsInALoopIsToldToWait(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	operator := h.as("operator")
	var got *answer
	for range 301 {
		got = operator.post("/tasks/orders.send/pause", "for", "nonsense")
	}
	require.Equal(t, http.StatusTooManyRequests, got.status)
	require.NotEmpty(t, got.header.Get("Retry-After"))
	require.Equal(t, http.StatusTooManyRequests, operator.get("/tasks/preview?schedule.kind=cron").status, "what costs counts, too")
	require.Equal(t, http.StatusTooManyRequests, operator.post("/tasks/orders.send/disable", "version", "1").status)
	task, err := h.ledger.Task(t.Context(), "orders.send")
	require.NoError(t, err)
	require.True(t, task.Enabled)

	require.Equal(t, http.StatusOK, operator.get("/tasks").status, "looking is free")
	require.NotEqual(t, http.StatusTooManyRequests, h.as("editor").post("/tasks/orders.send/pause").status)
	h.forward(time.Second)
	require.NotEqual(t, http.StatusTooManyRequests, operator.post("/tasks/orders.send/pause", "for", "nonsense").status)
}

func TestWhatCostsIsARoute(t *testing.T) {
	t.Parallel()
	there := map[string]bool{}
	for _, r := range newHouse(t).app.Rows() {
		there[r.Path] = true
	}
	for path := range app.Costly() {
		require.True(t, there[path], path)
	}
}
