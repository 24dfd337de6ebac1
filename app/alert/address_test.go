package alert_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/alert"
	"ax/app/fault"
)

// HOOK-07: what a copied address brings along is taken off or refused at save.
func TestHOOK07AnAddressIsTrimmedOrRefused(t *testing.T) {
	t.Parallel()
	const feishu = "https://open.feishu.cn/open-apis/bot/v2/hook/1b2c-3f9a"
	for name, c := range map[string]struct {
		kind             alert.ChannelKind
		raw, clean, hint string
		bad              string
	}{
		"as it is":             {alert.Feishu, feishu, feishu, "open.feishu.cn …3f9a", ""},
		"spaces around":        {alert.Feishu, "  " + feishu + " \r\n", feishu, "open.feishu.cn …3f9a", ""},
		"hidden around":        {alert.Feishu, "\ufeff\u200b" + feishu + "\u00a0\u3000", feishu, "open.feishu.cn …3f9a", ""},
		"inner newline":        {alert.Feishu, "https://open.feishu.cn/open-apis/\nbot/v2/hook/1b2c", "", "", "there is a space, a line break or a hidden character within the address"},
		"inner space":          {alert.Feishu, "https://open.feishu.cn/open-apis/ bot", "", "", "there is a space, a line break or a hidden character within the address"},
		"inner zero width":     {alert.Feishu, "https://open.feishu\u200b.cn/open-apis", "", "", "there is a space, a line break or a hidden character within the address"},
		"full-width colon":     {alert.Feishu, "https：//open.feishu.cn/x", "", "", "the character '：' is a full-width one; write it in half width"},
		"full-width stop":      {alert.Feishu, "https://open。feishu.cn/x", "", "", "the character '。' is a full-width one; write it in half width"},
		"nothing":              {alert.Slack, " ", "", "", "an address is needed"},
		"no scheme":            {alert.Slack, "hooks.slack.com/services/T/B/x", "", "", "an address such as https://host/path is needed"},
		"robot without TLS":    {alert.Slack, "http://hooks.slack.com/services/T/B/x", "", "", "the address must begin with https://"},
		"webhook without TLS":  {alert.Webhook, "http://10.0.0.5:8080/in", "http://10.0.0.5:8080/in", "10.0.0.5:8080", ""},
		"webhook of a file":    {alert.Webhook, "file://host/etc/passwd", "", "", "the address must begin with https:// or http://"},
		"user and password":    {alert.Webhook, "https://a:b@host/x", "", "", "the address must not hold a user and a password"},
		"opaque":               {alert.Webhook, "mailto:a@b", "", "", "an address such as https://host/path is needed"},
		"fragment":             {alert.Webhook, "https://host/x#y", "https://host/x", "host", ""},
		"too long":             {alert.Webhook, "https://host/" + strings.Repeat("x", 2048), "", "", "at most 2048 characters"},
		"e-mail":               {alert.Email, "https://host/", "", "", "a channel of e-mail has no address of a robot"},
		"an own installation":  {alert.Feishu, "https://robot.corp.internal/open-apis/bot/v2/hook/abcd", "https://robot.corp.internal/open-apis/bot/v2/hook/abcd", "robot.corp.internal …abcd", ""},
		"a query is a secret":  {alert.DingTalk, "https://oapi.dingtalk.com/robot/send?access_token=0011223344", "https://oapi.dingtalk.com/robot/send?access_token=0011223344", "oapi.dingtalk.com …3344", ""},
		"a short path is bare": {alert.Webhook, "https://host/1234567890", "https://host/1234567890", "host", ""},
	} {
		clean, hint, err := alert.CheckAddress(c.kind, c.raw)
		if c.bad != "" {
			fields := fault.Fields(err)
			require.Len(t, fields, 1, name)
			require.Equal(t, "url", fields[0].Name, name)
			require.Equal(t, c.bad, fields[0].Text.String(), name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, c.clean, clean, name)
		require.Equal(t, c.hint, hint, name)
		again, _, err := alert.CheckAddress(c.kind, clean)
		require.NoError(t, err, name)
		require.Equal(t, clean, again, name)
	}
}

func TestARobotElsewhereIsTold(t *testing.T) {
	t.Parallel()
	for hint, c := range map[string]struct {
		kind alert.ChannelKind
		want bool
	}{
		"open.feishu.cn …3f9a":              {alert.Feishu, false},
		"open.feishu.cn:443 …3f9a":          {alert.Feishu, false},
		"OPEN.larksuite.com …3f9a":          {alert.Feishu, false},
		"open.feishu.cn.evil.example …3f9a": {alert.Feishu, true},
		"robot.corp.internal …3f9a":         {alert.Feishu, true},
		"prod-1.westeurope.logic.azure.com": {alert.Teams, false},
		"evillogic.azure.com …3f9a":         {alert.Teams, true},
		"anything.example":                  {alert.Webhook, false},
		"":                                  {alert.Slack, false},
	} {
		require.Equal(t, c.want, alert.Channel{Kind: c.kind, Hint: hint}.Elsewhere(), hint)
	}
}

func TestARecipientIsABareAddress(t *testing.T) {
	t.Parallel()
	got, err := alert.CheckRecipient(" ana@example.org\n")
	require.NoError(t, err)
	require.Equal(t, "ana@example.org", got)
	for _, bad := range []string{"", "ana", "Ana <ana@example.org>", "ana@example.org, bo@example.org", "ana@example.org\r\nBcc: x@y", "a b@example.org", strings.Repeat("a", 250) + "@example.org"} {
		_, err := alert.CheckRecipient(bad)
		require.Error(t, err, bad)
	}
}
