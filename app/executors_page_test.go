package app_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
)

func TestATaskNamesAnExecutorInTheForm(t *testing.T) {
	h := newHouse(t)
	h.found()
	editor := h.as("editor")
	require.Contains(t, editor.get("/tasks/new").body, "None has registered yet")
	h.executor("billing", "http://127.0.0.1:9001")
	require.Contains(t, editor.get("/tasks/new").text("#f-target-executor"), "billing · close-day · Closes the books")

	fields := []string{
		"code", "close.books", "name", "Close", "team", "payments", "schedule.kind", "manual", "target.kind", "http", "target.url", "",
		"target.executor", "billing/close-day", "target.route", "hash", "policy.idempotent", "true", "enabled", "true",
	}
	got := editor.post("/tasks/new", fields...)
	require.Equal(t, "/tasks/close.books", got.location(), got.body)
	task, err := h.opt.Tasks.Get(t.Context(), root, "close.books")
	require.NoError(t, err)
	require.Equal(t, sched.Target{Kind: sched.TargetHTTP, Executor: "billing", Type: "close-day", Route: sched.Hash}, task.Spec.Target)
	page := editor.get("/tasks/close.books")
	require.Equal(t, "billing", page.text("[data-test=executor]"))
	require.Contains(t, page.body, "The same biz_id to the same one")
	require.Contains(t, page.body, `href="/executors/payments/billing"`)
	require.Contains(t, editor.get("/tasks/close.books/edit").body, `value="billing/close-day" selected`)

	fields[1], fields[11] = "close.more", "https://target.example.com/"
	require.Equal(t, "The executor gives the address; leave it out", editor.post("/tasks/new", fields...).text("#f-target-url-error"))
	fields[11], fields[13] = "", "billing"
	require.Equal(t, "A name is needed, such as billing", editor.post("/tasks/new", fields...).text("#f-target-executor-error"))
}

func TestThePageOfNodesListsExecutorsOfOnesTeams(t *testing.T) {
	h := newHouse(t)
	h.found()
	e := h.executor("billing", "http://127.0.0.1:9001")
	viewer := h.as("viewer")
	require.Contains(t, viewer.get("/nodes").text("[data-test=executor]"), "billing")
	require.NotContains(t, h.as("stranger").get("/nodes").body, "billing")
	page := viewer.get("/executors/payments/billing")
	require.Equal(t, 200, page.status)
	require.Contains(t, page.text("[data-test=address]"), "http://127.0.0.1:9001")
	require.Contains(t, page.text("[data-test=address]"), "Online")
	require.Contains(t, page.text("[data-test=type]"), "close-day")
	require.Equal(t, 404, viewer.get("/executors/payments/mail").status)

	h.forward(10 * time.Second)
	require.Contains(t, viewer.get("/executors/payments/billing").text("[data-test=address]"), "Beat is late")
	h.forward(5 * time.Second)
	require.Contains(t, viewer.get("/executors/payments/billing").text("[data-test=address]"), "Offline")
	require.Contains(t, viewer.get("/nodes").text("[data-test=executor]"), "None is online")
	by := access.Actor{Kind: access.Token, ID: e.TokenID, Name: "billing-svc", Roles: map[int64]access.Role{h.team.ID: access.Operator}}
	require.NoError(t, h.opt.Executors.Leave(t.Context(), by, e.ID))
	require.Contains(t, viewer.get("/executors/payments/billing").text("[data-test=address]"), "Left")
}

func TestATokenIsBoundToExecutorsOnTheTeamsPage(t *testing.T) {
	h := newHouse(t)
	owner := h.as("owner")
	made := owner.post("/teams/payments/tokens", "token_name", "billing-svc", "token_role", "operator", "token_end", "30", "token_executors", "billing, mail")
	require.Equal(t, 200, made.status)
	require.Contains(t, made.text("[data-test=token]"), "may register billing, mail")
	for typed, says := range map[string]string{"Billing!": `"Billing!" is not a name of an executor: up to 64 lower-case letters, digits, dots, hyphens and underscores`} {
		got := owner.post("/teams/payments/tokens", "token_name", "x", "token_role", "operator", "token_end", "30", "token_executors", typed)
		require.Equal(t, says, got.text("#f-token-executors-error"))
	}
	got := owner.post("/teams/payments/tokens", "token_name", "x", "token_role", "viewer", "token_end", "30", "token_executors", "billing")
	require.Equal(t, "A token that registers executors needs the role operator", got.text("#f-token-executors-error"))
}

func TestTheInstanceShowsThePartsOfABroadcast(t *testing.T) {
	h := newHouse(t)
	h.task("close.books", func(w *sched.TaskSpec) {
		w.Target = sched.TargetSpec{Kind: sched.TargetHTTP, Executor: "billing", Type: "close-day", Route: sched.Broadcast}
	})
	in := h.trigger("close.books", "day-1")
	now := h.clock.Now()
	one := sched.ShardRun{Attempt: 1, Shard: sched.Shard{Index: 0, Total: 2}, Executor: "billing", Address: "http://one", StartedAt: now}
	two := one
	two.Index, two.Address = 1, "http://two"
	require.NoError(t, h.ledger.BeginShards(t.Context(), in.ID, []sched.ShardRun{one, two}))
	two.Outcome, two.StatusCode, two.Error, two.EndedAt = sched.OutcomeFailed, 500, "answered 500 <b>", now.Add(184*time.Millisecond)
	require.NoError(t, h.ledger.EndShard(t.Context(), in.ID, two))
	page := h.as("viewer").get("/instances/" + in.ID)
	require.Equal(t, 200, page.status)
	require.Contains(t, page.text("#shards"), "0 of 2 succeeded")
	require.Contains(t, page.text("#shards"), "http://two")
	require.Contains(t, page.text("#shards"), "184 ms")
	require.Contains(t, page.body, "answered 500 &lt;b&gt;")
}
