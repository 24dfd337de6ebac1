package app_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
)

type letterJSON struct {
	ID                                                 int64
	Task, Key, Status, Outcome, Error, Cause, Solution string
	Assignee                                           string
	BizID                                              string `json:"biz_id"`
	InstanceID                                         string `json:"instance_id"`
	Replaying                                          string
	Opens, Version, Replay                             int
	OpenedAt                                           string  `json:"opened_at"`
	ClosedAt                                           *string `json:"closed_at"`
	ClosedBy                                           string  `json:"closed_by"`
}

func TestADeadLetterIsWorkedOnAndReplayed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	h.as("operator")
	l := h.letter("orders.send", "o-1", "no luck")
	c := h.api(access.Operator)

	var page struct{ Items []letterJSON }
	c.get(v1 + "/dead-letters?status=open,taken").into(&page)
	require.Len(t, page.Items, 1)
	require.Equal(t, letterJSON{
		ID: l.ID, Task: "orders.send", Key: "orders.send/o-1", BizID: "o-1", InstanceID: l.InstanceID, Status: "open", Outcome: "failed",
		Error: "no luck", Opens: 1, Version: 1, OpenedAt: "2026-12-02T06:32:07.000Z",
	}, page.Items[0])

	var one letterJSON
	patch := func(body string, status int) *answer {
		t.Helper()
		got := c.json("PATCH", letterPath(l), body)
		require.Equal(t, status, got.status, got.body)
		return got
	}
	patch(`{"status": "taken", "assignee": "operator", "version": 1}`, 200).into(&one)
	require.Equal(t, []any{"taken", "operator", 2}, []any{one.Status, one.Assignee, one.Version})
	patch(`{"solution": "Paid out by hand\n手工付款 <a href=javascript:alert(1)>x</a>", "cause": "bank offline"}`, 200).into(&one)
	require.Equal(t, "Paid out by hand\n手工付款 <a href=javascript:alert(1)>x</a>", one.Solution)
	require.Equal(t, "operator", one.Assignee, "what is left out stays")
	patch(`{"assignee": ""}`, 200).into(&one)
	require.Empty(t, one.Assignee)
	patch(`{"status": "taken", "version": 1}`, 409)
	for body, fields := range map[string][]string{
		`{"status": "closed"}`: {"status"}, `{"assignee": "nonesuch"}`: {"assignee"}, `{"assignee": null}`: {"assignee"}, `{"cause": "a\u0007b"}`: {"cause"},
		`{"solution": "` + strings.Repeat("x", 20_001) + `"}`: {"solution"}, `{"assignee_id": 1}`: {"assignee_id"}, `{"opens": 0, "closed_by": "x"}`: {"opens", "closed_by"},
		`{"status": "nope", "cause": 7, "version": "1"}`: {"cause", "version"},
	} {
		require.Equal(t, fields, patch(body, 422).fields(), body)
	}
	patch("", 400)

	// The replay has the same key, and its success closes the letter.
	var again instanceJSON
	got := c.wants(letterPath(l)+"/replay", `{"reason": "bank is back"}`, 202)
	got.into(&again)
	require.Equal(t, v1+"/instances/"+again.ID, got.header.Get("Location"))
	require.Equal(t, []any{"orders.send/o-1", "o-1", 1, l.InstanceID, "replay"}, []any{again.Key, again.BizID, again.Replay, again.ReplayOf, again.Origin})
	c.wants(letterPath(l)+"/replay", "", 409)
	c.get(letterPath(l)).into(&one)
	require.Equal(t, again.ID, one.Replaying)
	h.forward(time.Minute)
	h.run(again.ID, ok())
	c.get(letterPath(l)).into(&one)
	require.Equal(t, "solved", one.Status)
	require.NotNil(t, one.ClosedAt)
	require.Empty(t, one.Replaying)
	c.wants(letterPath(l)+"/replay", "", 409)
	require.Equal(t, "bank is back", h.audited("letter.replay").Reason)
}

func TestListsOfDeadLettersAreFilteredAndPaged(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	h.task("stock.count")
	h.letter("orders.send", "o-1", "a")
	h.letter("stock.count", "s-1", "b")
	third := h.letter("orders.send", "o-2", "c")
	require.Equal(t, 200, h.api(access.Operator).json("PATCH", letterPath(third), `{"status": "wont_fix"}`).status)
	c := h.api(access.Viewer)
	list := func(query string) (got []string) {
		t.Helper()
		for cursor := ""; ; {
			var page struct {
				Items      []letterJSON
				NextCursor *string `json:"next_cursor"`
			}
			a := c.get(v1 + "/dead-letters?limit=1" + query + cursor)
			require.Equal(t, 200, a.status, a.body)
			a.into(&page)
			for _, it := range page.Items {
				got = append(got, it.BizID)
			}
			if page.NextCursor == nil {
				return got
			}
			require.LessOrEqual(t, len(got), 3)
			cursor = "&cursor=" + *page.NextCursor
		}
	}
	require.Equal(t, []string{"o-2", "s-1", "o-1"}, list(""))
	require.Equal(t, []string{"s-1", "o-1"}, list("&status=open"))
	require.Equal(t, []string{"o-2", "o-1"}, list("&task=orders.send"))
	require.Equal(t, []string{"s-1"}, list("&biz_id=s"))
	require.Empty(t, list("&since=2026-12-03T00:00:00Z"))
	require.Empty(t, list("&status=solved"))
}
