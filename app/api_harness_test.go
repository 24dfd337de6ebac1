package app_test

import (
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
)

const v1 = "/api/v1"

// problem is an error of the API.
type problem struct {
	Type, Title, Detail, Instance string
	Status                        int
	RequestID                     string `json:"request_id"`
	Errors                        []struct{ Field, Message string }
}

// problem decodes the answer as one, and holds what every one has.
func (a *answer) problem() problem {
	a.h.t.Helper()
	require.Equal(a.h.t, "application/problem+json", a.header.Get("Content-Type"), "%d %s", a.status, a.body)
	require.Equal(a.h.t, "no-store", a.header.Get("Cache-Control"))
	var p problem
	a.into(&p)
	require.Equal(a.h.t, a.status, p.Status)
	require.Equal(a.h.t, a.header.Get("X-Request-Id"), p.RequestID)
	require.NotEmpty(a.h.t, p.Title)
	return p
}

// fields are the names of the fields that a 422 names, in its order.
func (a *answer) fields() []string {
	a.h.t.Helper()
	var out []string
	for _, e := range a.problem().Errors {
		require.NotEmpty(a.h.t, e.Message, "field %s", e.Field)
		out = append(out, e.Field)
	}
	return out
}

// api is a program of the team payments with a role.
func (h *house) api(role access.Role) *client {
	h.t.Helper()
	key := "token " + string(role)
	if c, ok := h.people[key]; ok {
		return c
	}
	c := h.bearer(h.token(role))
	h.people[key] = c
	return c
}

// otherAPI is a program that owns the team store.
func (h *house) otherAPI() *client {
	h.t.Helper()
	h.found()
	secret, _, err := h.opt.Tokens.Create(h.t.Context(), root, access.NewToken{TeamID: h.other.ID, Name: "other", Role: access.Owner})
	require.NoError(h.t, err)
	return h.bearer(secret)
}

// wants posts JSON and wants a status.
func (c *client) wants(path, body string, status int) *answer {
	c.h.t.Helper()
	got := c.json("POST", path, body)
	require.Equal(c.h.t, status, got.status, "%s: %s", path, got.body)
	return got
}

// instanceJSON is what tests read of an instance.
type instanceJSON struct {
	ID, Task, State, Key, Reason, Origin string
	BizID                                string `json:"biz_id"`
	RequestedBy                          string `json:"requested_by"`
	Replay, Attempt                      int
	ReplayOf                             string `json:"replay_of"`
	Duplicate                            bool
	DueAt                                string  `json:"due_at"`
	WantedAt                             string  `json:"wanted_at"`
	FinishedAt                           *string `json:"finished_at"`
	CancelWanted                         *string `json:"cancel_wanted"`
	DeadLetter                           *int64  `json:"dead_letter"`
	Payload                              any
	Attempts                             []struct {
		No                         int
		Outcome, Request, Response string
		StatusCode                 int `json:"status_code"`
		Error                      string
		EndedAt                    *string `json:"ended_at"`
	}
	Events []struct{ Kind, Actor, Detail, At string }
}

func (c *client) instance(id string) instanceJSON {
	c.h.t.Helper()
	got := c.get(v1 + "/instances/" + id)
	require.Equal(c.h.t, 200, got.status, got.body)
	var in instanceJSON
	got.into(&in)
	return in
}

// running makes an instance that a worker has taken and not ended.
func (h *house) running(code, bizID string) sched.Instance {
	h.t.Helper()
	h.work()
	in := h.trigger(code, bizID)
	_, err := h.ledger.Claim(h.t.Context(), sched.ClaimRequest{InstanceID: in.ID, NodeID: h.node.ID(), ClaimID: newID(), Now: h.clock.Now()})
	require.NoError(h.t, err)
	got, err := h.ledger.Instance(h.t.Context(), in.ID)
	require.NoError(h.t, err)
	require.Equal(h.t, sched.Running, got.State)
	return got
}

func letterPath(l sched.Letter) string {
	return v1 + "/dead-letters/" + strconv.FormatInt(l.ID, 10)
}

// order is a task as a caller writes it.
func order(code string) string {
	return strings.ReplaceAll(`{"code": "CODE", "name": "Close unpaid orders", "team": "payments", "tags": ["money"],
		"schedule": {"kind": "cron", "cron": "30 2 * * 1-5", "timezone": "Asia/Shanghai"},
		"target": {"kind": "http", "url": "https://orders.example.com/close"},
		"policy": {"idempotent": true}, "payload": {"shop": 17}}`, "CODE", code)
}
