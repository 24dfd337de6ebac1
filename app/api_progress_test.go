package app_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
)

// byReceiptToken tells whether a route is for targets, whose credential is the
// token of their call.
func byReceiptToken(path string) bool {
	return strings.HasSuffix(path, "/receipt") || strings.HasSuffix(path, "/progress")
}

func progressPath(id string) string { return v1 + "/instances/" + id + "/progress" }

func TestATargetSaysHowFarItIsAndThePageShowsIt(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	in := h.accepted("orders.send", "o-1")
	token := h.signer.ReceiptToken(in.ID, 1)
	target := h.browser()
	got := target.wants(progressPath(in.ID), `{"token": "`+token+`", "percent": 40, "message": "<b>481</b> of 1,204"}`, 200)
	require.JSONEq(t, `{"state": "awaiting", "already": false, "cancel": false, "stored": true}`, got.body)
	page := h.as("viewer").get("/instances/" + in.ID)
	require.Equal(t, "40 %", page.text("[data-test=percent]"))
	require.Equal(t, "<b>481</b> of 1,204", page.text("[data-test=message]"))

	for body, field := range map[string]string{`"percent": 101`: "percent", `"percent": "40"`: "percent", `"done": 1`: "done"} {
		bad := target.wants(progressPath(in.ID), `{"token": "`+token+`", `+body+`}`, 422).problem()
		require.Equal(t, field, bad.Errors[0].Field)
	}
	for name, wrong := range map[string]string{"forged": "1.AAAA", "another instance's": h.signer.ReceiptToken(h.accepted("orders.send", "o-2").ID, 1)} {
		require.Equal(t, 404, target.json("POST", progressPath(in.ID), `{"token": "`+wrong+`"}`).status, name)
	}

	empty := target.with("Ax-Receipt-Token", token).json("POST", progressPath(in.ID), "")
	require.Equal(t, 200, empty.status, empty.body)

	// A person cancels: the target hears of it, and of the end.
	h.api(access.Operator).wants(v1+"/instances/"+in.ID+"/cancel", `{"reason": "not needed"}`, 200)
	got = target.wants(progressPath(in.ID), `{"token": "`+token+`"}`, 200)
	require.JSONEq(t, `{"state": "canceled", "already": true, "cancel": true, "stored": false}`, got.body)
}
