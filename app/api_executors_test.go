package app_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
)

const registration = `{"name": "billing", "address": "http://127.0.0.1:9001/svc", "task_types": [{"type": "close-day"}], "weight": 40, "version": "3.8.0"}`

func TestAServiceRegistersBeatsAndLeaves(t *testing.T) {
	h := newHouse(t)
	h.found()
	svc := h.bearer(h.service(h.team, "billing-svc", access.Operator))
	got := svc.json("POST", "/api/v1/executors", registration)
	require.Equal(t, 201, got.status, got.body)
	var made struct {
		ID   string
		Beat int `json:"heartbeat_seconds"`
		Out  int `json:"out_after_seconds"`
	}
	got.into(&made)
	require.Equal(t, []int{5, 15}, []int{made.Beat, made.Out})
	id := made.ID

	h.forward(10 * time.Second)
	require.Equal(t, 200, svc.json("PUT", "/api/v1/executors/"+id+"/heartbeat", `{"running": 3}`).status)
	var list struct {
		Items []struct {
			Address, Token  string
			Running, Weight int
			Online          bool
		}
	}
	h.api(access.Viewer).get("/api/v1/executors").into(&list)
	require.Len(t, list.Items, 1)
	row := list.Items[0]
	require.Equal(t, "http://127.0.0.1:9001/svc", row.Address)
	require.Equal(t, []int{3, 40}, []int{row.Running, row.Weight})
	require.True(t, row.Online)
	require.Equal(t, "billing-svc", row.Token)

	h.forward(15 * time.Second)
	late := svc.json("PUT", "/api/v1/executors/"+id+"/heartbeat", `{}`)
	require.Equal(t, 410, late.status)
	require.Contains(t, late.body, "register again")
	svc.json("POST", "/api/v1/executors", registration).into(&made)
	again := made.ID
	require.NotEqual(t, id, again)
	require.Equal(t, 404, svc.json("PUT", "/api/v1/executors/"+id+"/heartbeat", `{}`).status)
	require.Equal(t, 204, svc.json("DELETE", "/api/v1/executors/"+again, "").status)
	require.Equal(t, 410, svc.json("PUT", "/api/v1/executors/"+again+"/heartbeat", "").status)
}

func TestOneServiceCantPoseAsAnother(t *testing.T) {
	h := newHouse(t)
	h.found()
	mail := h.executor("mail", "http://127.0.0.1:9009")
	svc := h.bearer(h.service(h.team, "billing-svc", access.Owner))
	got := svc.json("POST", "/api/v1/executors", `{"name": "mail", "address": "http://127.0.0.1:9001", "task_types": [{"type": "send"}]}`)
	require.Equal(t, 403, got.status)
	require.Contains(t, got.body, "not bound to the executor mail")
	require.Equal(t, 403, svc.json("PUT", "/api/v1/executors/"+mail.ID+"/heartbeat", `{}`).status)
	require.Equal(t, 403, svc.json("DELETE", "/api/v1/executors/"+mail.ID, "").status)
	for body, field := range map[string]string{
		`{"name": "billing", "address": "http://10.9.9.9", "task_types": [{"type": "send"}]}`:                 "address",
		`{"name": "billing", "address": "http://127.0.0.1", "task_types": []}`:                                "task_types",
		`{"name": "billing", "address": "http://127.0.0.1", "task_types": [{"type": "send"}], "weight": 999}`: "weight",
	} {
		got := svc.json("POST", "/api/v1/executors", body)
		require.Equal(t, 422, got.status, body)
		require.Equal(t, []string{field}, got.fields())
	}
}
