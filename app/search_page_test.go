package app_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
)

func TestSearchGoesStraightToWhatIsNamedExactly(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	h.task("orders.send-again")
	in := h.trigger("orders.send", "o-1")
	v := h.as("viewer")
	require.Equal(t, "/tasks/orders.send", v.get("/search?q=+orders.send+").location())
	require.Equal(t, "/instances/"+in.ID, v.get("/search?q="+in.ID).location())
	require.Equal(t, http.StatusSeeOther, h.as("").get("/search?q=orders.send").status)
}

func TestSearchListsWhatElseMayBeMeant(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send", func(s *sched.TaskSpec) { s.Name = "Send orders" })
	h.task("orders.bill")
	l := h.letter("orders.send", "order-77", "no luck")
	v := h.as("viewer")
	got := v.get("/search?q=orders")
	require.Equal(t, 200, got.status)
	require.ElementsMatch(t, []string{"orders.send", "orders.bill"}, got.texts("[data-ax-list] .mono"))
	got = v.get("/search?q=order-77")
	require.ElementsMatch(t, []string{"Send orders", "Send orders"}, got.texts("[data-ax-list] a.nm"))
	require.Contains(t, got.body, `href="/instances/`+l.InstanceID+`"`)
	require.Equal(t, "order-77", got.attr("main [name=q]", "value"))

	for _, q := range []string{"/search", "/search?q=", "/search?q=nonesuch", "/search?q=%25", "/search?q=%27%3B--"} {
		got := v.get(q)
		require.Equal(t, 200, got.status, q)
		require.Empty(t, got.texts("[data-ax-list] a.nm"), q)
	}
}

func TestSearchShowsNothingOfOtherTeams(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	l := h.letter("orders.send", "order-77", "no luck")
	for _, who := range []string{"stranger", "nobody"} {
		for _, q := range []string{"orders.send", "orders", "order-77", l.InstanceID} {
			got := h.as(who).get("/search?q=" + q)
			require.Equal(t, 200, got.status, "%s %s", who, q)
			require.Empty(t, got.texts("[data-ax-list] a.nm"))
		}
	}
	require.Equal(t, "/tasks/orders.send", h.as("auditor").get("/search?q=orders.send").location())
}
