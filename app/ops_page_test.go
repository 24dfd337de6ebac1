package app_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"ax/app"
	"ax/app/sched"
)

// cells are those of the row with the attribute.
func cells(a *answer, row string) []string { return a.texts(row + " > td") }

func TestTheQueuesShowTheLedgersCountBesideTheCarriers(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.work()
	h.queues = []app.QueueInfo{
		{Name: "default", Weight: 3, Due: 412, Pending: 410, Active: 8, Scheduled: 18204, Retry: 6, Latency: 400 * time.Millisecond},
		{Name: "slow", Weight: 1, Due: 31, Pending: 30, Latency: 23 * time.Minute},
		{Name: "import", Weight: 1, Pending: 2118, Latency: 72 * time.Hour, Paused: true},
	}
	page := h.as("viewer").get("/queues")
	require.Equal(t, http.StatusOK, page.status)
	row := cells(page, "[data-queue=default]")
	require.Equal(t, []string{"Open", "412 / 10,000", "410", "8", "18,204", "6", "0", "400 ms", "–", "–"}, row[1:])
	require.Contains(t, row[0], "weight 3 · 1 node")
	require.Equal(t, "23 min", cells(page, "[data-queue=slow]")[8])
	require.Equal(t, "Not served", cells(page, "[data-queue=slow]")[1])
	require.Equal(t, "Paused", cells(page, "[data-queue=import]")[1])
	require.Equal(t, []string{"No node serves slow. 31 runs wait. Start a worker that has the queue under worker.queues."}, page.texts(".note"))
	value, sub := figure(page, "Oldest wait, open queues")
	require.Equal(t, "23 min slow", value+" "+sub, "nobody waits for a paused one")
}

func TestTheQueuesAreShownWhileRedisIsAway(t *testing.T) {
	t.Parallel()
	h := newHouse(t, redisAway)
	h.work()
	page := h.as("viewer").get("/queues")
	require.Equal(t, http.StatusOK, page.status)
	require.Contains(t, page.text(".note"), "Redis does not answer.")
	require.Equal(t, []string{"Stands still", "7 / 10,000", "–", "–", "–", "–", "–", "–", "–", "–"}, cells(page, "[data-queue=default]")[1:])
	value, _ := figure(page, "Due and not begun")
	require.Equal(t, "7", value)
}

func TestTheNodesShowHowEachOfThemDoes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send") // else the dashboard shows how to make one
	h.work()
	at := h.local()
	ended := sched.NodeInfo{ID: "11111111-0000-7000-8000-000000000003", Host: "dead", PID: 4, BeatAt: at.Add(-20 * time.Minute), StartedAt: at.Add(-time.Hour), SteadyAt: at.Add(-time.Hour)}
	require.NoError(t, h.ledger.Register(t.Context(), ended))
	require.NoError(t, h.ledger.CloseEarlier(t.Context(), h.node.ID(), at.Add(-19*time.Minute)))
	for _, n := range []sched.NodeInfo{
		{ID: "11111111-0000-7000-8000-000000000001", Host: "late", PID: 2, BeatAt: at.Add(-9 * time.Second), ClockOffset: 6 * time.Second},
		{ID: "11111111-0000-7000-8000-000000000002", Host: "silent", PID: 3, BeatAt: at.Add(-16 * time.Second), ClockOffset: -31 * time.Second},
		{ID: "11111111-0000-7000-8000-000000000004", Host: "closed", PID: 5, BeatAt: at.Add(-20 * time.Minute)},
	} {
		n.Version, n.Roles, n.StartedAt, n.SteadyAt = "1.2.3", []string{"worker"}, at.Add(-time.Hour), at.Add(-time.Hour)
		require.NoError(t, h.ledger.Register(t.Context(), n))
	}
	require.NoError(t, h.ledger.CloseNode(t.Context(), "11111111-0000-7000-8000-000000000004", at.Add(-20*time.Minute)))

	page := h.as("viewer").get("/nodes")
	require.Equal(t, http.StatusOK, page.status)
	states := map[string]string{}
	page.doc().Find("[data-test=node]").Each(func(_ int, s *goquery.Selection) {
		states[s.Find(".nm").Text()] = folded(s.Find("td").Eq(1).Find(".st").Text())
	})
	require.Equal(t, map[string]string{
		"node-1": "Alive", "late": "Beat is late", "silent": "No beat", "dead": "Dead", "closed": "Stopped",
	}, states)
	require.Equal(t, "dead", page.doc().Find("[data-test=node] .nm").Eq(3).Text(), "those that ended come last")
	require.Contains(t, page.body, "declared by node-1:1")
	require.True(t, page.has(`[data-node$="01"] .st.retry`), "6 s off is worth a look")
	require.True(t, page.has(`[data-node$="02"] td.num .st.fail`), "31 s off is an alarm")

	first := h.as("viewer").get("/")
	value, sub := figure(first, "Nodes")
	require.Equal(t, "2 / 4 2 offline", value+" "+sub, "a node that was stopped in order is missed by nobody")
}

func TestANodeUnfoldsWhatItRunsOfMyTeams(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	n := sched.NodeInfo{ID: newID(), Host: "wk-2", PID: 2, Roles: []string{"worker"}, Slots: 4, StartedAt: h.local(), BeatAt: h.local(), SteadyAt: h.local()}
	require.NoError(t, h.ledger.Register(t.Context(), n))
	_, err := h.ledger.Claim(t.Context(), sched.ClaimRequest{
		InstanceID: h.trigger("orders.send", "o-1").ID, NodeID: n.ID, ClaimID: newID(), Now: h.local(),
	})
	require.NoError(t, err)
	h.forward(4 * time.Second)
	path := "/nodes?node=" + n.ID
	require.False(t, h.as("viewer").get("/nodes").has("[data-test=node-runs]"))
	page := h.as("viewer").get(path)
	require.Equal(t, "Task orders.send", page.text("[data-test=node-runs] a.nm"))
	require.Equal(t, "4 s", page.text("[data-test=node-runs] .at"))
	require.Equal(t, "/nodes", page.attr("[data-test=node] a.nm", "href"), "the same link folds it again")

	page = h.as("stranger").get(path)
	require.NotContains(t, page.body, "orders.send")
	require.Equal(t, "Nothing that you can see.", page.text("[data-test=node-runs] p"))
	require.Equal(t, http.StatusOK, h.as("viewer").get("/nodes?node=nonesuch").status)
}
