package app_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app"
	"ax/app/access"
)

func TestAQueueIsPausedAndResumedWithAReasonInTheAudit(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.work()
	c := h.as("admin")
	require.True(t, c.get("/queues").has(`[data-queue=default] [data-test=do-pause]`))
	require.Equal(t, "Pause the queue default?", c.get("/queues/default/confirm/pause").text("h1"))
	again := c.post("/queues/default/pause", "reason", " ")
	require.Equal(t, http.StatusUnprocessableEntity, again.status)
	require.Contains(t, again.body, "A reason is needed")
	require.Empty(t, h.queue.held)

	require.Equal(t, "/queues", c.post("/queues/default/pause", "reason", "release").header.Get("Location"))
	require.Equal(t, map[string]bool{"default": true}, h.queue.held)
	h.queues = []app.QueueInfo{{Name: "default", Paused: true}}
	page := c.get("/queues")
	require.Equal(t, "Paused", cells(page, "[data-queue=default]")[1], "at once")
	require.True(t, page.has(`[data-queue=default] [data-test=do-resume]`))
	require.Equal(t, http.StatusSeeOther, c.post("/queues/default/resume").status)
	require.Empty(t, h.queue.held)
	require.Contains(t, c.get("/audit").body, "Paused the queue")

	for _, path := range []string{"/queues/nonesuch/confirm/pause", "/queues/default/confirm/drain", "/nodes/nonesuch/confirm/drain"} {
		require.Equal(t, http.StatusNotFound, c.get(path).status, path)
	}
	require.Equal(t, http.StatusNotFound, c.post("/queues/nonesuch/pause", "reason", "x").status)
}

// What all teams share is nobody's who is an operator of some of them only.
func TestAnOperatorOfAllTeamsMayPauseAQueue(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.work()
	c := h.as("operator")
	require.False(t, c.get("/queues").has("[data-test=do-pause]"))
	require.Equal(t, http.StatusForbidden, c.post("/queues/default/pause", "reason", "x").status)
	require.NoError(t, h.opt.Teams.SetMember(t.Context(), root, h.other, "operator", access.Operator))
	require.True(t, c.get("/queues").has("[data-test=do-pause]"))
	require.Equal(t, http.StatusSeeOther, c.post("/queues/default/pause", "reason", "x").status)
}

func TestANodeIsDrainedAndPutToWorkAgain(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.work()
	var said []bool
	h.node.OnDrain(func(on bool) error { said = append(said, on); return nil })
	c, path := h.as("admin"), "/nodes/"+h.node.ID()
	require.Equal(t, "Drain node-1:1?", c.get(path+"/confirm/drain").text("h1"))
	require.Equal(t, "/nodes", c.post(path+"/drain", "reason", "a new kernel").header.Get("Location"))
	h.forward(5 * time.Second)
	require.Equal(t, []bool{true}, said, "at its next beat")
	page := c.get("/nodes")
	require.Equal(t, "Draining", page.text("[data-test=node] td:nth-child(2) .st"))
	require.True(t, page.has("[data-test=node] [data-test=do-resume]"))
	require.Equal(t, "Not served", cells(c.get("/queues"), "[data-queue=default]")[1])
	require.Equal(t, http.StatusSeeOther, c.post(path+"/resume").status)
	h.forward(5 * time.Second)
	require.Equal(t, []bool{true, false}, said)
	require.Contains(t, c.get("/audit").body, "Drained the node")
	require.False(t, h.as("viewer").get("/nodes").has("[data-test=do-drain]"))
}

func TestDepthsAreDrawnOverTheSpanThatIsChosen(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	var waiting []string
	for _, biz := range []string{"o-1", "o-2", "o-3"} {
		waiting = append(waiting, h.trigger("orders.send", biz).ID)
	}
	sample := func() {
		nothing := func(context.Context) (map[string]int, error) { return nil, nil }
		require.NoError(t, h.ledger.SampleQueues(t.Context(), h.local(), []string{"default"}, nothing))
	}
	for _, pause := range []time.Duration{93 * time.Hour, 6*time.Hour + 30*time.Minute, 29 * time.Minute} {
		sample()
		h.forward(pause)
		if len(waiting) > 1 {
			h.run(waiting[0], ok())
			waiting = waiting[1:]
		}
	}
	sample()
	h.forward(time.Minute)
	h.rolled()
	for span, most := range map[string]string{"1h": "at most 1 ", "24h": "at most 2 ", "7d": "at most 3 "} {
		page := h.as("viewer").get("/queues?span=" + span)
		require.Equal(t, http.StatusOK, page.status)
		require.Contains(t, page.attr("[data-test=depth] [role=img]", "aria-label"), most, span)
		require.Equal(t, "/queues?span="+span, page.attr(".seg [aria-current]", "href"))
		require.True(t, page.has("[data-queue=default] .spk"))
	}
	page := h.as("viewer").get("/queues?span=nonesuch")
	require.Equal(t, "/queues?span=24h", page.attr(".seg [aria-current]", "href"))
	value, sub := figure(page, "Redis memory")
	require.Equal(t, "412 MB of 4 GB · noeviction", value+" "+sub)
	value, sub = figure(page, "Redis round trip")
	require.Equal(t, "0.31 ms 214 connections", value+" "+sub)
	require.Contains(t, h.as("viewer").get("/").attr("[data-test=depths] [role=img]", "aria-label"), "at most 2 ")
}

func TestTheDashboardShowsOutcomesOfTheSpan(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	h.run(h.trigger("orders.send", "o-1").ID, ok())
	h.rolled()
	h.forward(26 * time.Hour)
	h.run(h.trigger("orders.send", "o-2").ID, ok())
	h.rolled()
	h.forward(2 * time.Hour)
	h.run(h.trigger("orders.send", "o-3").ID, ok())
	h.rolled()
	for span, want := range map[string]string{"1h": "1", "24h": "2", "7d": "3"} {
		page := h.as("viewer").get("/?span=" + span)
		require.Equal(t, want, page.text("[data-test=group-succeeded] b"), span)
		require.Contains(t, page.attr("[data-test=outcomes] [role=img]", "aria-label"), want+" succeeded", span)
	}
}

func TestATasksFiguresAreThoseOfTheWeek(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	for _, biz := range []string{"o-1", "o-2", "o-3"} {
		h.run(h.trigger("orders.send", biz).ID, ok())
	}
	h.letter("orders.send", "o-4", "no luck")
	h.forward(5 * time.Minute)
	h.rolled()
	page := h.as("viewer").get("/tasks/orders.send")
	for label, want := range map[string]string{
		"Success, 7 d": "75.00 % 1 of 4 failed", "P50": "0 ms 3 good attempts in 7 d", "Lag P50 · P99, 7 d": "0 · 0 ms of 4 runs",
	} {
		value, sub := figure(page, label)
		require.Equal(t, want, value+" "+sub, label)
	}
	row := h.as("viewer").get("/tasks").texts("[data-code='orders.send'] > td")
	require.Contains(t, row, "75.00 %0 ms · 0 ms")
}
