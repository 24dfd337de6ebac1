package app_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"ax/app"
	"ax/app/fault"
	"ax/app/sched"
)

// figure is the number of the strip with this label, and what stands below.
func figure(a *answer, label string) (value, sub string) {
	a.doc().Find(".strip > *").Each(func(_ int, s *goquery.Selection) {
		if s.Find(".k").Text() == label {
			value, sub = folded(s.Find(".v").Text()), folded(s.Find(".d").Text())
		}
	})
	return value, sub
}

func folded(s string) string { return strings.Join(strings.Fields(s), " ") }

// rolled brings the counts of what ended up to now.
func (h *house) rolled() {
	for {
		more, err := h.ledger.RollUp(h.t.Context(), h.local())
		require.NoError(h.t, err)
		if !more {
			return
		}
	}
}

// nowadays sets the clock to the present. The lag is taken from the latest
// instances by their ids, and those carry the real time.
func (h *house) nowadays() { h.forward(time.Since(h.local())) }

// onceAt runs once, then.
func onceAt(then time.Time) func(*sched.TaskSpec) {
	return func(s *sched.TaskSpec) { s.Schedule = sched.ScheduleSpec{Kind: sched.KindOnce, RunAt: then} }
}

// everySeconds runs each n seconds, from the moment it is made.
func everySeconds(n int) func(*sched.TaskSpec) {
	return func(s *sched.TaskSpec) {
		s.Schedule = sched.ScheduleSpec{Kind: sched.KindInterval, EverySeconds: n}
	}
}

func TestTheDashboardCountsWhatTheLedgerHolds(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.nowadays()
	h.task("orders.send")
	h.task("fx.rates", onceAt(h.local().Add(time.Minute)))
	h.task("stock.count", onceAt(h.local().Add(2*time.Hour)))
	for _, biz := range []string{"o-1", "o-2", "o-3"} {
		h.run(h.trigger("orders.send", biz).ID, ok())
	}
	h.letter("orders.send", "o-4", "no luck")
	h.trigger("orders.send", "o-5")
	h.forward(41 * time.Second)
	h.rolled()
	page := h.as("viewer").get("/")
	require.Equal(t, http.StatusOK, page.status)

	for label, want := range map[string][2]string{
		"Due in the next hour": {"1", "first in 19 s"},
		"Running":              {"0", "0 of 10 places"},
		"Retrying":             {"0", "of 1 waiting"},
		"Open dead letters":    {"1", "1 in 1 h"},
		"Late, over 5 s":       {"1", "worst 41 s"},
		"Success, 1 h":         {"75.00 %", "under 95 %"},
		"Lag P50 · P99":        {"0 · 0 ms", "alarm over 5 s"},
		"Nodes":                {"1 / 1", "all beat"},
	} {
		value, sub := figure(page, label)
		require.Equal(t, want[0], value, label)
		require.Equal(t, want[1], sub, label)
	}
	for group, want := range map[string]string{"waiting": "1", "running": "0", "succeeded": "3", "failed": "1", "not_run": "0"} {
		require.Equal(t, want, page.text("[data-test=group-"+group+"] b"), group)
	}
	require.Equal(t, []string{"Task fx.rates", "Task stock.count"}, page.texts("[data-test=next] a.nm"))
	require.Contains(t, page.attr("[data-test=outcomes] [role=img]", "aria-label"), "3 succeeded, 1 failed")
	require.False(t, page.has("[data-test=teams]"), "one team alone is compared with nothing")
}

func TestTheDashboardSaysWhatNeedsAPersonTheWorstFirst(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	h.task("orders.bill")
	h.queues = []app.QueueInfo{{Name: "default", Due: 10_000}, {Name: "slow", Due: 2}}
	first := h.letter("orders.send", "o-1", "no luck")
	h.forward(time.Minute)
	h.letter("orders.bill", "b-1", "no money")
	h.forward(time.Minute)
	again := h.letter("orders.send", "o-2", "no luck")
	page := h.as("operator").get("/")

	list := page.doc().Find("[data-test=attention] li")
	var kinds []string
	list.Each(func(_ int, s *goquery.Selection) { kinds = append(kinds, s.AttrOr("data-test", "")) })
	require.Equal(t, []string{"scheduler", "backlog", "unserved", "letter", "letter"}, kinds)
	send := list.Eq(3)
	require.Contains(t, send.Find("a.nm").Text(), "no luck")
	require.Equal(t, "/dead-letters/"+strconv.FormatInt(again.ID, 10), send.Find("a.nm").AttrOr("href", ""), "the latest of them")
	require.Equal(t, "2 dead letters", send.Find(".sub a").Text())
	require.NotEqual(t, first.ID, again.ID)
	require.Equal(t, "1 min ago", folded(list.Eq(4).Find(".at").Text()))
	require.Equal(t, "3", page.text(".side .count.hot")[:1])
}

func TestWhatSomebodyHasTakenNeedsNobodyElse(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	l := h.letter("orders.send", "o-1", "no luck")
	taken := sched.LetterTaken
	_, err := h.opt.Letters.Edit(t.Context(), root, l.ID, sched.LetterEdit{Status: &taken})
	require.NoError(t, err)
	page := h.as("operator").get("/")
	require.False(t, page.has("[data-test=letter]"))
	value, _ := figure(page, "Open dead letters")
	require.Equal(t, "1", value)
}

func TestTheDashboardShowsNothingOfOtherTeams(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send", everySeconds(60))
	h.task("store.count", func(s *sched.TaskSpec) { s.Team = h.other.Code })
	h.letter("orders.send", "o-1", "no luck")
	h.rolled()

	page := h.as("stranger").get("/")
	require.NotContains(t, page.body, "no luck")
	require.NotContains(t, page.body, "orders.send")
	value, _ := figure(page, "Open dead letters")
	require.Equal(t, "0", value)
	require.Equal(t, "0", page.text("[data-test=group-failed] b"))

	for _, who := range []string{"auditor", "admin"} {
		page := h.as(who).get("/")
		require.Contains(t, page.body, "no luck", who)
		require.Equal(t, []string{"Payments", "Store"}, page.texts("[data-test=teams] a"), who)
		require.Equal(t, []string{"1", "1", "0.00 %"}, page.texts("[data-test=teams] tbody tr:first-child td.num"), who)
		page = h.as(who).get("/?team=store")
		require.NotContains(t, page.body, "no luck", who)
		require.False(t, page.has("[data-test=teams]"), who)
	}
}

func TestWithoutATaskTheDashboardSaysHowToMakeOne(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	page := h.as("editor").get("/")
	require.True(t, page.has("[data-test=first-run] a[href='/tasks/new']"))
	require.False(t, page.has(".strip"))
	require.False(t, h.as("viewer").get("/").has("a[href='/tasks/new']"), "a viewer makes none")
	page = h.as("nobody").get("/")
	require.Equal(t, http.StatusOK, page.status)
	require.Equal(t, "You are in no team yet", page.text("main h2"))

	h.task("orders.send")
	h.forward(time.Minute)
	page = h.as("editor").get("/")
	require.False(t, page.has("[data-test=first-run]"))
	require.True(t, page.has("[data-test=new-task]"))
	require.False(t, h.as("operator").get("/").has("[data-test=new-task]"))
	require.Equal(t, "Nothing is planned: no enabled task has a schedule with a next run.", page.text("[data-test=next] p"))
}

func TestTheDashboardWorksWhileRedisIsAway(t *testing.T) {
	t.Parallel()
	h := newHouse(t, redisAway)
	h.task("orders.send", everySeconds(60))
	page := h.as("viewer").get("/")
	require.Equal(t, http.StatusOK, page.status)
	require.Equal(t, "Redis does not answer", page.text("[data-test=redis] a"))
}

// redisAway is an installation whose Redis does not answer.
func redisAway(o *app.Options) { o.Queues = noRedis{} }

type noRedis struct{}

func (noRedis) List(context.Context) ([]app.QueueInfo, error) {
	return []app.QueueInfo{{Name: "default", Weight: 3, Due: 7}}, fault.Unavailable(context.DeadlineExceeded, "Redis does not answer")
}

func (noRedis) Carrier(context.Context) (sched.CarrierFigures, error) {
	return sched.CarrierFigures{}, fault.Unavailable(context.DeadlineExceeded, "Redis does not answer")
}

func TestTheDashboardRefreshesItself(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	c := h.as("viewer")
	require.Equal(t, "/?team=payments", c.get("/?team=payments").attr("#dashboard", "hx-get"))
	c.headers = map[string]string{"HX-Request": "true", "HX-Request-Type": "partial", "HX-Current-URL": "https://ax.example.com/?team=payments"}
	part := c.get("/?team=payments")
	require.Equal(t, http.StatusOK, part.status)
	require.False(t, part.has(".side"))
	require.Equal(t, "/?team=payments", part.attr("#dashboard", "hx-get"), "the next one asks for the same")
	require.Equal(t, "Dashboard", part.text("h1"))

	h.letter("orders.send", "o-1", "no luck")
	require.NotContains(t, c.get("/?team=payments").body, "no luck", "what was just read is shown to everybody")
	h.forward(3 * time.Second)
	require.Contains(t, c.get("/?team=payments").body, "no luck")
}

func TestAPersonWithoutSessionIsSentToTheLogin(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.found()
	for _, path := range []string{"/", "/queues", "/nodes"} {
		got := h.as("").get(path)
		require.Equal(t, http.StatusSeeOther, got.status, path)
		require.True(t, strings.HasPrefix(got.location(), "/login"), path)
	}
}
