package app_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/alert"
)

// A channel and a rule by the pages alone, without a script.
func TestARuleAndItsChannelByThePages(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	owner := h.as("owner")
	require.Len(t, owner.get("/alerts/channels/new?team=payments").texts("[data-test=kind]"), 7)
	refused := owner.post("/alerts/channels/new", "team", "payments", "kind", "feishu", "name", "Group", "url", "http://open.feishu.cn/x", "language", "en", "mention", "owner", "bad_text", "{{who}}", "key", "s3cr3t")
	require.Equal(t, 422, refused.status)
	require.True(t, refused.has("#f-url-error"))
	require.True(t, refused.has("#f-bad-text-error"))
	require.NotContains(t, refused.body, "s3cr3t", "a key is never sent back")
	got := owner.post("/alerts/channels/new", "team", "payments", "kind", "webhook", "name", "hook", "url", "https://status.example.com/in?token=abcdef123456", "language", "en")
	require.Equal(t, 200, got.status, got.body)
	require.Len(t, strings.TrimSpace(got.text("#made-key")), 64)
	channels, err := h.opt.Alerts.Channels.List(t.Context(), root, access.Scope{Teams: []int64{h.team.ID}})
	require.NoError(t, err)
	hook := "/alerts/channels/" + channels[0].ID
	page := owner.get(hook)
	require.NotContains(t, page.body, "abcdef123456", "nobody reads an address again")
	require.True(t, page.has("[data-test=told-nothing]"))

	rule := owner.get("/alerts/rules/new?team=payments&metric=failures")
	require.True(t, rule.has("#f-window-seconds"))
	require.Equal(t, "failures", rule.attr("input[name=measured]", "value"))
	fields := []string{
		"team", "payments", "name", "Mine", "metric", "failures", "measured", "failures", "scope.kind", "all", "threshold", "3", "window_seconds", "3600", "for_seconds", "60",
		"repeat_seconds", "1800", "level", "p1", "last_try", "true", "recovery", "true", "enabled", "true", "tell", channels[0].ID, "after." + channels[0].ID, "600",
	}
	bad := owner.post("/alerts/rules/new", append(fields, "threshold", "x")...)
	require.Equal(t, 303, bad.status, "the first of two values counts")
	id := bad.location()
	made := owner.get(id)
	require.Contains(t, made.text("[data-test=sentence]"), "Tells hook when one of all tasks of")
	require.True(t, made.has(`input[name=tell][checked]`))
	require.Equal(t, "600", made.attr(`select[name^="after."] option[selected]`, "value"))
	require.True(t, made.has("[data-test=back-test]"))
	subs, err := h.opt.Alerts.Subscriptions.List(t.Context(), root, access.Scope{Teams: []int64{h.team.ID}})
	require.NoError(t, err)
	require.Len(t, subs, 1)

	query := url.Values{"measured": {"failures"}, "scope.kind": {"all"}, "threshold": {"many"}}.Encode()
	require.Contains(t, owner.htmx(id).get(id+"?"+query).text("#rule-words"), "is not a number")
	stale := owner.post(id, append(fields, "version", "9")...)
	require.Equal(t, 409, stale.status)
	require.Contains(t, stale.text("[data-test=moved]"), "changed the rule meanwhile")
	saved := owner.post(id, append(fields[:len(fields)-4:len(fields)-4], "version", "1")...)
	require.Equal(t, id, saved.location(), saved.body)
	require.False(t, owner.get(id).has(`input[name=tell][checked]`))
	require.Equal(t, 303, owner.post(id+"/disable").status)
	require.Contains(t, owner.get(id).text(".pill"), "Switched off")
	require.Equal(t, "/alerts/rules", owner.post(id+"/delete", "delete_reason", "x").location())
	require.Equal(t, 404, owner.get(id).status)
}

// What a channel is told of, a test in place, and the log of messages.
func TestAChannelIsToldTestedAndLogged(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	owner := h.as("owner")
	ch, _, err := h.opt.Alerts.Channels.Create(t.Context(), root, alert.ChannelSpec{Team: "payments", Kind: alert.Feishu, Name: "Group", URL: "https://open.feishu.cn/open-apis/bot/v2/hook/0123456789"})
	require.NoError(t, err)
	page := "/alerts/channels/" + ch.ID
	require.Equal(t, 303, owner.post(page+"/told", "what", "p1", "after", "300").status)
	require.Equal(t, 303, owner.post(page+"/told", "what", "digest.daily", "after", "0", "zone", "Asia/Shanghai").status)
	require.Equal(t, 409, owner.post(page+"/told", "what", "p1", "after", "300").status, "it is told of that already")
	require.Len(t, owner.get(page).texts("[data-test=told]"), 2)
	id := owner.get(page).attr("input[name=subscription]", "value")
	require.Equal(t, 303, owner.post(page+"/told/remove", "subscription", id).status)
	require.Len(t, owner.get(page).texts("[data-test=told]"), 1)

	require.Equal(t, 303, owner.post(page+"/off", "reason", "loud").status)
	require.Contains(t, owner.get(page).text("[data-test=off]"), "loud")
	h.robot.answer = alert.Answer{Verdict: alert.TurnOff, Status: 200, Code: "19021", Body: "sign match fail"}
	tested := owner.htmx(page).with("HX-Target", "section#channel-test").post(page + "/test")
	require.Contains(t, tested.text("[data-test=test-answer]"), "19021", tested.body)
	require.Contains(t, tested.text("[data-test=test-answer]"), "Paste the key")
	require.Equal(t, 303, owner.post(page+"/on").status)

	log := owner.get("/alerts/deliveries?state=refused&channel=" + ch.ID)
	require.Len(t, log.texts("[data-test=delivery]"), 1)
	require.Equal(t, 422, owner.get("/alerts/deliveries?state=gone").status)
	one := log.attr("[data-test=delivery] a.nm", "href")
	require.Contains(t, owner.get(one).text("#known"), "sign match fail")
	again := owner.post(one + "/replay")
	require.Equal(t, 303, again.status, again.body)
	require.Contains(t, owner.get(again.location()).text("#known"), one[strings.LastIndex(one, "/")+1:])

	preview := owner.htmx(page).get(page + "?language=zh-CN&mention=all&bad_text=" + url.QueryEscape("{{rule}}!"))
	require.Contains(t, preview.text("#channel-preview"), "连续失败!")
	require.Equal(t, "/alerts/channels", owner.post(page+"/delete").location())
	require.Equal(t, 404, owner.get(page).status)
	require.Contains(t, owner.get(one).text(".facts"), "deleted channel")
}
