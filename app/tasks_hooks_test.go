package app_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/alert"
	"ax/app/sched"
)

func TestHooksAreTypedKeptAndShown(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	editor := h.as("editor")
	ch, _, err := h.opt.Alerts.Channels.Create(t.Context(), root, alert.ChannelSpec{Team: "payments", Kind: alert.Webhook, Name: "pager", URL: "https://robot.example.com/in", Language: "en"})
	require.NoError(t, err)
	typed := []string{
		"hooks.before.url", "https://ledger.example.com/ready", "hooks.before.method", "HEAD", "hooks.before.headers", "X-Shop: 17", "hooks.before.statuses", "200, 404",
		"hooks.before.timeout_seconds", "3 s", "hooks.before.not_ready", "wait", "hooks.before.every_seconds", "2 min", "hooks.before.limit_seconds", "1 h", "hooks.before.then", "skip",
		"hooks.after.0.on", "change", "hooks.after.0.channel", ch.ID, "hooks.after.1.on", "failure", "hooks.after.1.channel", "",
	}
	made := editor.post("/tasks/new", taskFields(typed...)...)
	require.Equal(t, http.StatusSeeOther, made.status)
	require.Equal(t, &sched.Hooks{
		Before: &sched.BeforeHook{
			URL: "https://ledger.example.com/ready", Method: "HEAD", Headers: map[string]string{"X-Shop": "17"}, Statuses: "200, 404",
			TimeoutSeconds: 3, NotReady: sched.NotReadyWait, EverySeconds: 120, LimitSeconds: 3600, Then: sched.ThenSkip,
		},
		After: []sched.AfterHook{{On: sched.OnChange, Channel: ch.ID}},
	}, h.stored("orders.send").Spec.Hooks)

	page := editor.get("/tasks/orders.send")
	require.Contains(t, page.text("[data-test=hook-before]"), "https://ledger.example.com/ready")
	require.Contains(t, page.text("[data-test=hook-after]"), "after a change between success and failure: pager")
	form := editor.get("/tasks/orders.send/edit")
	require.Equal(t, "https://ledger.example.com/ready", form.value("hooks.before.url"))
	require.Equal(t, "2 min", form.value("hooks.before.every_seconds"))

	owner := h.as("owner")
	kept := owner.post("/alerts/channels/"+ch.ID+"/delete", "reason", "unused")
	require.Equal(t, http.StatusConflict, kept.status)

	bad := editor.post("/tasks/new", taskFields("code", "another", "hooks.before.url", "ftp://x", "hooks.before.timeout_seconds", "31 s", "hooks.after.0.on", "failure", "hooks.after.0.channel", "none")...)
	require.Equal(t, http.StatusUnprocessableEntity, bad.status)
	require.NotEmpty(t, fieldError(bad, "hooks.before.url"))
	require.NotEmpty(t, fieldError(bad, "hooks.before.timeout_seconds"))
	require.Equal(t, "ftp://x", bad.value("hooks.before.url"))

	none := editor.post("/tasks/new", taskFields("code", "plain", "hooks.before.url", "", "hooks.before.not_ready", "skip", "hooks.after.0.on", "failure", "hooks.after.0.channel", "")...)
	require.Equal(t, http.StatusSeeOther, none.status)
	require.Nil(t, h.stored("plain").Spec.Hooks)
}
