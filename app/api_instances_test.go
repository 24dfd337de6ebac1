package app_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
)

// DUP-11: the same biz_id three times, the first of them late.
func TestTheSameBizIDGivesTheSameInstance(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	c := h.api(access.Operator)
	path := v1 + "/tasks/orders.send/trigger"
	var first, second, third instanceJSON
	got := c.wants(path, `{"biz_id": "SO-1", "payload": {"n": 1}}`, 202)
	got.into(&first)
	require.Equal(t, v1+"/instances/"+first.ID, got.header.Get("Location"))
	h.forward(10 * time.Second)
	c.wants(path, `{"biz_id": "SO-1", "payload": {"n": 1}}`, 200).into(&second)
	got = c.wants(path, `{"biz_id": "SO-1", "delay_seconds": 1800}`, 200)
	got.into(&third)
	require.Equal(t, v1+"/instances/"+first.ID, got.header.Get("Location"))
	require.False(t, first.Duplicate)
	require.True(t, second.Duplicate)
	require.True(t, third.Duplicate)
	require.Equal(t, []string{first.ID, first.ID}, []string{second.ID, third.ID})
	require.Equal(t, first.DueAt, third.DueAt)
	require.Equal(t, "orders.send/SO-1", first.Key)
	require.Equal(t, "api", first.Origin)
	require.Equal(t, "test-operator", first.RequestedBy)
	require.Len(t, h.instances("orders.send"), 1)
	require.Equal(t, map[string]any{"n": float64(1)}, c.instance(first.ID).Payload)

	var made instanceJSON
	c.wants(path, "", 202).into(&made)
	require.Len(t, made.BizID, 36, "a caller that gives none gets one")
}

func TestATriggerRunsNowLaterOrAtAMoment(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	h.task("orders.late", func(s *sched.TaskSpec) { s.Schedule = sched.ScheduleSpec{Kind: sched.KindDelay, DelaySeconds: 1800} })
	for body, due := range map[string]string{
		`orders.send {}`:                                      "2026-12-02T06:32:07.000Z",
		`orders.send {"delay_seconds": 60}`:                   "2026-12-02T06:33:07.000Z",
		`orders.send {"run_at": "2026-12-03T08:00:00+08:00"}`: "2026-12-03T00:00:00.000Z",
		`orders.late {}`:                                      "2026-12-02T07:02:07.000Z",
	} {
		code, body, _ := strings.Cut(body, " ")
		var in instanceJSON
		h.api(access.Operator).wants(v1+"/tasks/"+code+"/trigger", body, 202).into(&in)
		require.Equal(t, due, in.DueAt, "%s %s", code, body)
		require.Equal(t, due, in.WantedAt)
	}
	for body, fields := range map[string][]string{
		`{"biz_id": "@2026-12-01T00:00:00Z"}`:                              {"biz_id"},
		`{"biz_id": "` + strings.Repeat("a", 65) + `"}`:                    {"biz_id"},
		`{"biz_id": "订单"}`:                                                 {"biz_id"},
		`{"biz_id": "a b"}`:                                                {"biz_id"},
		`{"biz_id": 7}`:                                                    {"biz_id"},
		`{"bizid": "a"}`:                                                   {"bizid"},
		`{"delay_seconds": -1}`:                                            {"delay_seconds"},
		`{"delay_seconds": 40000000}`:                                      {"delay_seconds"},
		`{"run_at": "2020-01-01T00:00:00Z"}`:                               {"run_at"},
		`{"run_at": "tomorrow"}`:                                           {"run_at"},
		`{"delay_seconds": 5, "run_at": "2026-12-03T00:00:00Z"}`:           {"run_at"},
		`{"payload": "` + strings.Repeat("x", 66_000) + `"}`:               {"payload"},
		`{"state": "succeeded", "replay": 3, "id": "x", "origin": "slot"}`: {"state", "replay", "id", "origin"},
	} {
		require.ElementsMatch(t, fields, h.api(access.Operator).wants(v1+"/tasks/orders.send/trigger", body, 422).fields(), body)
	}
	require.Len(t, h.instances("orders.send"), 3)
}

func TestAnInstanceIsShownWithItsAttempts(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send", func(s *sched.TaskSpec) { s.Policy.Retry.Max = new(1) })
	in := h.trigger("orders.send", "o-1")
	r := bad("no luck")
	r.Request = "POST https://target.example.com/orders.send HTTP/1.1\n\n{}"
	h.run(in.ID, r)
	c := h.api(access.Viewer)
	got := c.instance(in.ID)
	require.Equal(t, "retrying", got.State)
	require.Nil(t, got.DeadLetter)
	require.Nil(t, got.FinishedAt)
	h.forward(time.Minute)
	h.run(in.ID, r)
	got = c.instance(in.ID)
	require.Equal(t, "failed", got.State)
	require.NotNil(t, got.DeadLetter)
	require.Len(t, got.Attempts, 2)
	require.Equal(t, "failed", got.Attempts[0].Outcome)
	require.Equal(t, 500, got.Attempts[1].StatusCode)
	require.Equal(t, "no luck", got.Attempts[1].Error)
	require.Contains(t, got.Attempts[1].Request, "POST https://target")
	require.Contains(t, got.Attempts[1].Response, "HTTP/1.1 500")
	require.Equal(t, "2026-12-02T06:33:07.000Z", *got.FinishedAt)

	all := c.get(v1 + "/instances/" + in.ID).fieldsOf()
	for _, name := range []string{"slot_at", "wanted_at", "due_at", "look_at", "sent_at", "cancel_wanted", "receipt_deadline", "deadline_at", "created_at", "queued_at", "started_at", "finished_at"} {
		require.Contains(t, all, name)
	}
	require.NotContains(t, all, "claim_id", "it would let anybody speak for the worker")
}

func TestListsOfInstancesAreFilteredAndPaged(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	h.task("stock.count")
	var ids []string
	for i := range 5 {
		ids = append([]string{h.trigger([]string{"orders.send", "stock.count"}[i%2], fmt.Sprintf("o-%d", i)).ID}, ids...)
	}
	h.run(ids[0], ok())
	h.run(ids[2], bad("no luck"))
	c := h.api(access.Viewer)
	list := func(query string) (got []string) {
		t.Helper()
		for cursor := ""; ; {
			var page struct {
				Items      []instanceJSON
				NextCursor *string `json:"next_cursor"`
			}
			a := c.get(v1 + "/instances?limit=2" + query + cursor)
			require.Equal(t, 200, a.status, a.body)
			a.into(&page)
			for _, it := range page.Items {
				got = append(got, it.ID)
			}
			if page.NextCursor == nil {
				return got
			}
			require.LessOrEqual(t, len(got), 5)
			cursor = "&cursor=" + *page.NextCursor
		}
	}
	require.Equal(t, ids, list(""))
	require.Equal(t, []string{ids[1], ids[3]}, list("&task=stock.count"))
	require.Equal(t, []string{ids[0], ids[2]}, list("&state=succeeded,failed"))
	require.Equal(t, []string{ids[2]}, list("&state=failed&task=orders.send"))
	require.Equal(t, []string{ids[4]}, list("&biz_id=o-0"))
	require.Equal(t, ids, list("&biz_id=o-"))
	require.Empty(t, list("&biz_id=%25"))
	require.Equal(t, ids, list("&since=2020-01-01T00:00:00Z&until=9999-01-01T00:00:00Z"))
	require.Empty(t, list("&since=2020-01-01T00:00:00Z&until=2020-01-02T00:00:00%2B08:00"))
	require.NotContains(t, c.get(v1+"/instances").body, `"attempts"`)
}

func TestBadParametersAreNamed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.api(access.Owner)
	for query, fields := range map[string][]string{
		"/instances?limit=0": {"limit"}, "/instances?limit=201": {"limit"}, "/instances?limit=-1": {"limit"}, "/instances?limit=ten": {"limit"},
		"/instances?limit=99999999999999999999": {"limit"}, "/instances?state=done": {"state"}, "/instances?state=failed,": {"state"},
		"/instances?since=yesterday": {"since"}, "/instances?since=2026-12-01": {"since"}, "/instances?until=1969-12-31T00:00:00Z": {"until"},
		"/instances?since=2026-12-01T08:00:00+08:00": {"since"}, // + is a blank in an address
		"/instances?cursor=nonesuch":                 {"cursor"}, "/instances?cursor=%27%20OR%201=1": {"cursor"}, "/dead-letters?cursor=x": {"cursor"},
		"/tasks?cursor=%C3%A9": {"cursor"}, "/instances?biz_id=%C3%A9": {"biz_id"}, "/instances?sort=password": {"sort"}, "/instances?order=id%3Bdrop": {"order"},
		"/instances?limit=1&limit=2": {"limit"}, "/instances?task=" + strings.Repeat("a", 65): {"task"}, "/tasks?enabled=maybe": {"enabled"},
		"/tasks?archived=2": {"archived"}, "/tasks?kind=weekly": {"kind"}, "/dead-letters?status=closed": {"status"}, "/queues?limit=5": {"limit"},
		"/stats?window=1h": {"window"}, "/instances?limit=x&state=y&a=b": {"a"}, "/instances?limit=x&state=y": {"limit", "state"},
	} {
		got := c.get(v1 + query)
		require.Equal(t, 422, got.status, "%s: %s", query, got.body)
		require.Equal(t, fields, got.fields(), query)
	}
	require.Equal(t, 400, c.get(v1+"/instances?biz_id=%00").status)
	require.Equal(t, 400, c.get(v1+"/instances?biz_id=%ff").status)
	require.Equal(t, []string{"biz_id"}, c.json("POST", v1+"/tasks/x/trigger?biz_id=1", "").fields())
	require.Equal(t, 200, c.get(v1+"/instances?state=&since=&cursor=&limit=").status, "an empty parameter is none")
}

func TestACancelEndsAnInstanceOrNotesTheWish(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	c := h.api(access.Operator)
	path := func(id string) string { return v1 + "/instances/" + id + "/cancel" }

	waiting := h.trigger("orders.send", "o-1")
	var got instanceJSON
	c.wants(path(waiting.ID), `{"reason": "ordered twice"}`, 200).into(&got)
	require.Equal(t, "canceled", got.State)
	require.Equal(t, "canceled by test-operator: ordered twice", got.Reason)
	require.Equal(t, "canceled", got.Events[0].Kind)
	require.Equal(t, "The instance has ended already: canceled", c.wants(path(waiting.ID), "", 409).problem().Detail)
	require.Equal(t, "ordered twice", h.audited("instance.cancel").Reason)

	running := h.running("orders.send", "o-2")
	c.wants(path(running.ID), "", 202).into(&got)
	require.Equal(t, "running", got.State)
	require.NotNil(t, got.CancelWanted)
	require.Equal(t, []string{running.ID}, h.queue.hints)

	ended := h.run(h.trigger("orders.send", "o-3").ID, ok())
	c.wants(path(ended.ID), "", 409)
	require.Equal(t, []string{"reason"}, c.wants(path(running.ID), `{"reason": 7}`, 422).fields())
	require.Equal(t, []string{"reason"}, c.wants(path(running.ID), `{"reason": "`+strings.Repeat("长", 501)+`"}`, 422).fields())
	c.wants(path(running.ID), `{"reason": "`+strings.Repeat("长", 500)+`"}`, 202)
}

func TestAReplayOfAnInstanceIsOneOfItsDeadLetter(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	c := h.api(access.Operator)
	l := h.letter("orders.send", "o-1", "no luck")
	var again instanceJSON
	got := c.wants(v1+"/instances/"+l.InstanceID+"/replay", `{"reason": "fixed"}`, 202)
	got.into(&again)
	require.Equal(t, v1+"/instances/"+again.ID, got.header.Get("Location"))
	require.Equal(t, "orders.send/o-1", again.Key)
	require.Equal(t, 1, again.Replay)
	require.Equal(t, l.InstanceID, again.ReplayOf)
	c.wants(v1+"/instances/"+l.InstanceID+"/replay", "", 409)
	good := h.run(h.trigger("orders.send", "o-2").ID, ok())
	require.Equal(t, "Only what ended failed, timed_out or lost can be replayed; this is succeeded",
		c.wants(v1+"/instances/"+good.ID+"/replay", "", 409).problem().Detail)
}
