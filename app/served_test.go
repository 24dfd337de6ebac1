package app_test

import (
	"net/http"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app"
	"ax/app/access"
)

func TestWhoeverTracesRequestsIsToldWhatTheyBroughtAbout(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var told []app.Served
	h := newHouse(t, func(o *app.Options) {
		o.Served = func(s app.Served) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, s)
		}
	})
	last := func() app.Served {
		mu.Lock()
		defer mu.Unlock()
		return told[len(told)-1]
	}
	h.task("orders.send")
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	program := h.api(access.Operator).with("Traceparent", parent)

	for _, made := range []int{1, 0} { // the second is there already
		program.json(http.MethodPost, v1+"/tasks/orders.send/trigger", `{"biz_id": "o-1"}`)
		got := last()
		require.Len(t, got.Made, made)
		require.Equal(t, parent, got.TraceParent)
		require.Equal(t, "/api/v1/tasks/:code/trigger", got.Route)
		require.False(t, got.To.Before(got.From))
	}
	require.Equal(t, http.StatusSeeOther, h.as("operator").post("/tasks/orders.send/run", "biz_id", "o-2").status)
	require.Len(t, last().Made, 1)
	require.Equal(t, "o-2", last().Made[0].BizID)

	for i, replay := range []func(letter int64){
		func(id int64) {
			h.as("operator").post("/dead-letters/"+strconv.FormatInt(id, 10)+"/replay", "reason", "mended")
		},
		func(id int64) {
			program.json(http.MethodPost, v1+"/dead-letters/"+strconv.FormatInt(id, 10)+"/replay", `{"reason": "mended"}`)
		},
	} {
		replay(h.letter("orders.send", "bad-"+strconv.Itoa(i), "no luck").ID)
		require.Len(t, last().Made, 1)
		require.Equal(t, 1, last().Made[0].Replay)
	}

	in := h.accepted("orders.send", "o-3")
	h.browser().wants(receiptPath(in.ID), `{"token": "`+h.signer.ReceiptToken(in.ID, 1)+`", "outcome": "succeeded"}`, 200)
	require.Equal(t, in.ID, last().Reported)
	require.Empty(t, last().Made)

	h.browser().get("/nowhere")
	require.Equal(t, http.StatusNotFound, last().Status)
	require.Empty(t, last().Route, "what somebody typed is no label")
}
