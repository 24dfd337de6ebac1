package app_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
)

func TestAnOwnerSetsASecretThatIsOnNoPage(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	owner := h.as("owner")
	const value = "canary-of-pay-77"
	got := owner.post("/teams/payments/secrets", "secret_name", "PAY_TOKEN", "secret_value", value, "secret_hosts", "Pay.example.com, pay.example.com:8443")
	require.Equal(t, http.StatusSeeOther, got.status, got.body)
	page := owner.get("/teams/payments")
	require.Contains(t, page.text("[data-test=secret]"), "PAY_TOKEN")
	require.Contains(t, page.text("[data-test=secret]"), "pay.example.com, pay.example.com:8443")
	require.Contains(t, h.as("viewer").get("/teams/payments").text("[data-test=secret]"), "PAY_TOKEN", "names may be read: tasks name them")
	require.False(t, h.as("viewer").get("/teams/payments").has("#set-secret"))

	again := owner.post("/teams/payments/secrets", "secret_name", "PAY_TOKEN", "secret_value", value, "secret_hosts", "other.example.com")
	require.Equal(t, http.StatusConflict, again.status)
	require.True(t, again.has("#f-secret-name-error"))
	bad := owner.post("/teams/payments/secrets", "secret_name", "pay", "secret_value", "", "secret_hosts", "https://x/")
	require.Equal(t, http.StatusUnprocessableEntity, bad.status)
	for _, field := range []string{"secret-name", "secret-value", "secret-hosts"} {
		require.True(t, bad.has("#f-"+field+"-error"), field)
	}
	require.Equal(t, "https://x/", bad.value("secret_hosts"))

	further := owner.post("/teams/payments/secrets/change", "change_secret", "PAY_TOKEN", "change_value", "", "change_hosts", "evil.example.com")
	require.Equal(t, http.StatusUnprocessableEntity, further.status)
	require.True(t, further.has("#f-change-value-error"))
	require.Equal(t, http.StatusSeeOther, owner.post("/teams/payments/secrets/change", "change_secret", "PAY_TOKEN", "change_value", "canary-of-pay-78", "change_hosts", "").status)
	require.Equal(t, http.StatusUnprocessableEntity, owner.post("/teams/payments/secrets/change", "change_secret", "NONE", "change_value", "canary-of-pay-78").status)

	h.task("pay.out", func(s *sched.TaskSpec) {
		s.Target = sched.TargetSpec{Kind: sched.TargetHTTP, URL: "https://pay.example.com/", Headers: map[string]string{"Authorization": "Bearer {{secret:PAY_TOKEN}}"}}
	})
	used := owner.post("/teams/payments/secrets/remove", "remove_secret", "PAY_TOKEN")
	require.Equal(t, http.StatusUnprocessableEntity, used.status)
	require.Contains(t, used.text("#f-remove-secret-error"), "pay.out")
	require.Equal(t, http.StatusSeeOther, owner.post("/tasks/pay.out/archive", "reason", "over").status)
	require.Equal(t, http.StatusSeeOther, owner.post("/teams/payments/secrets/remove", "remove_secret", "PAY_TOKEN").status)
	require.Equal(t, http.StatusUnprocessableEntity, owner.post("/teams/payments/secrets/remove", "remove_secret", "PAY_TOKEN").status)

	audit := owner.get("/audit.csv").body
	for _, action := range []string{"secret.create", "secret.update", "secret.delete"} {
		require.Contains(t, audit, action)
	}
	for _, text := range []string{page.body, again.body, bad.body, audit, h.log.String(), owner.get("/audit").body} {
		require.NotContains(t, text, "canary")
	}
}

func TestHeadersOfATaskInFormPageAndAPI(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.found()
	_, err := h.opt.Secrets.Add(t.Context(), root, h.team, access.NewSecret{Name: "PAY_TOKEN", Value: "canary-of-pay-77", Hosts: "target.example.com"})
	require.NoError(t, err)
	editor := h.as("editor")
	lines := "x-shop: 17\r\nAuthorization:  Bearer {{ secret:PAY_TOKEN }}\r\n\r\n"
	require.Equal(t, http.StatusSeeOther, editor.post("/tasks/new", taskFields("target.headers", lines)...).status)
	want := map[string]string{"X-Shop": "17", "Authorization": "Bearer {{secret:PAY_TOKEN}}"}
	require.Equal(t, want, h.stored("orders.send").Spec.Target.Headers)
	require.Equal(t, "Authorization: Bearer {{secret:PAY_TOKEN}} X-Shop: 17", editor.get("/tasks/orders.send").text("[data-test=headers]"))
	form := editor.get("/tasks/orders.send/edit")
	require.Equal(t, "Authorization: Bearer {{secret:PAY_TOKEN}}\nX-Shop: 17", form.doc().Find("[name='target.headers']").Text())

	var task struct {
		Version int
		Target  sched.TargetSpec
	}
	h.api(access.Viewer).get(v1 + "/tasks/orders.send").into(&task)
	require.Equal(t, want, task.Target.Headers)
	for name, bad := range map[string]string{
		"no colon":      "X-Shop 17",
		"twice":         "X-Shop: 17\nX-Shop: 18",
		"a credential":  "Authorization: Bearer abc",
		"no such name":  "Authorization: {{secret:NONE}}",
		"one of ax's":   "Ax-Signature: x",
		"another brace": "X-A: {{biz_id}}",
	} {
		got := editor.post("/tasks/new", taskFields("code", "another", "target.headers", bad)...)
		require.Equal(t, http.StatusUnprocessableEntity, got.status, name)
		require.True(t, got.has("#f-target-headers-error"), name)
		require.Equal(t, bad, got.doc().Find("[name='target.headers']").Text(), "what was typed stays")
	}
	body := strings.ReplaceAll(order("by.api"), `"url": "https://orders.example.com/close"`, `"url": "https://orders.example.com/close", "headers": {"authorization": "{{secret:PAY_TOKEN}}"}`)
	got := h.api(access.Editor).json("POST", v1+"/tasks", body)
	require.Equal(t, 422, got.status, got.body+h.log.String())
	require.Contains(t, got.body, "The secret PAY_TOKEN is not for orders.example.com")
	require.Contains(t, got.body, `"target.headers"`)
	for typed, field := range map[string]string{`[]`: "target.headers", `{"X-A": 1}`: "target.headers.X-A", `{"X-A": "1", "X-A": "2"}`: "target.headers.X-A", `{"X-A": null}`: "target.headers.X-A"} {
		wrong := strings.ReplaceAll(body, `{"authorization": "{{secret:PAY_TOKEN}}"}`, typed)
		require.Equal(t, []string{field}, h.api(access.Editor).wants(v1+"/tasks", wrong, 422).fields(), typed)
	}
	h.api(access.Editor).wants(v1+"/tasks", strings.ReplaceAll(body, "orders.example.com", "target.example.com"), 201)
}
