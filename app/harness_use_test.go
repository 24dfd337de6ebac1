package app_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
)

func TestTheHouseWorks(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	require.Equal(t, 200, h.as("viewer").get("/help").status)
	h.task("orders.send")
	v := h.run(h.trigger("orders.send", "o-1").ID, ok())
	require.Equal(t, sched.Succeeded, v.State)
	h.forward(time.Minute)
	l := h.letter("orders.send", "o-2", "no luck")
	require.Equal(t, sched.LetterOpen, l.Status)
	require.Equal(t, "1", h.as("operator").get("/help").text(".side .count.hot")[:1])
}
