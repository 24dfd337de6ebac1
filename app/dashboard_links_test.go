package app_test

import (
	"net/http"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"
)

func TestEveryLinkOfTheDashboardLeadsSomewhere(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send", everySeconds(60))
	h.letter("orders.send", "o-1", "no luck")
	h.letter("orders.send", "o-2", "no luck")
	h.rolled()
	c := h.as("admin")
	for _, from := range []string{"/", "/queues", "/nodes", "/nodes?node=" + h.node.ID()} {
		leadsSomewhere(t, c, from)
	}
}

// leadsSomewhere follows the links in the main part of a page.
func leadsSomewhere(t *testing.T, c *client, from string) {
	t.Helper()
	page := c.get(from)
	require.Equal(t, http.StatusOK, page.status, from)
	page.doc().Find("main a[href^='/']").Each(func(_ int, s *goquery.Selection) {
		to := s.AttrOr("href", "")
		got := c.get(to)
		require.Equal(t, http.StatusOK, got.status, "from %s to %s", from, to)
	})
}
