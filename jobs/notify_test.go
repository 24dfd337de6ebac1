package jobs_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ax/app/access"
	"ax/app/alert"
	"ax/jobs"
	"ax/jobs/robottest"
)

const (
	hookKey        = "axTestSecret-01"
	dingTalkVector = "6Yeq7u8o+wHZ8C2rJRX7HWp4+qZsEsFbBOAUNX6UMzM="
)

// toldAt is the time of these tests, that of HOOK-03.
var toldAt = time.Unix(1599360473, 0).UTC()

func toldNow() time.Time { return toldAt }

// robots are the makers of each kind's fake.
func robots() map[alert.ChannelKind]func(testing.TB, robottest.Options) *robottest.Robot {
	return map[alert.ChannelKind]func(testing.TB, robottest.Options) *robottest.Robot{
		alert.Feishu: robottest.Feishu, alert.DingTalk: robottest.DingTalk, alert.WeCom: robottest.WeCom,
		alert.Slack: robottest.Slack, alert.Teams: robottest.Teams, alert.Webhook: robottest.Webhook,
	}
}

// teller sends to one robot.
type teller struct {
	*robottest.Robot
	n       *jobs.Notifier
	channel alert.Channel
	secret  alert.ChannelSecret
	to      jobs.Recipients
}

func tellerOf(t testing.TB, kind alert.ChannelKind, change ...func(*jobs.NotifierOptions)) *teller {
	t.Helper()
	r := robots()[kind](t, robottest.Options{Key: hookKey, Now: toldNow})
	o := jobs.NotifierOptions{
		Egress: jobs.NewEgress(jobs.EgressPolicy{Allow: jobs.PrivateNetworks()}), Now: toldNow, Version: "1.2.3",
		Base: "https://ax.example.org", Name: "production", RootCAs: r.Pool(),
	}
	for _, c := range change {
		c(&o)
	}
	return &teller{
		Robot: r, n: jobs.NewNotifier(o), channel: alert.Channel{Kind: kind, Language: "en", Mention: alert.MentionOwner, TeamID: 7},
		secret: alert.ChannelSecret{URL: r.URL, Key: hookKey},
	}
}

func (x *teller) send(ctx context.Context, messages ...alert.Message) alert.Answer {
	return x.n.Send(ctx, x.channel, x.secret, x.to, messages)
}

func failing(names ...string) alert.Message {
	m := alert.Message{
		ID: "0193b1f0-aaaa", Kind: alert.Opened, At: toldAt, IncidentID: "0193b1f0-bbbb", Rule: "Failures in a row", Metric: alert.InARow, Level: alert.P1,
		Team: "payments", Value: 7, Worst: 9, Threshold: 3, Since: toldAt.Add(-time.Hour), Count: len(names), Path: "/alerts/incidents/0193b1f0-bbbb",
		Scope: alert.Scope{Kind: alert.All}, Mention: []string{"ana", "bo"},
	}
	for _, n := range names {
		m.Members = append(m.Members, alert.Member{Subject: alert.Subject{Kind: alert.TaskSubject, Key: n}, Value: 7, Detail: `error "x"`})
	}
	return m
}

// HOOK-01: quotes, backslashes and brackets break nothing and arrive as they
// are, at every robot.
func TestHOOK01QuotesArriveUnchangedAtEveryRobot(t *testing.T) {
	t.Parallel()
	for kind := range robots() {
		for _, name := range []string{`对账"A"\任务`, "order_close_unpaid", `a\*b`, "1. x", "- y", "👩\u200d💻 & co"} {
			x := tellerOf(t, kind)
			m := failing(name, "other")
			m.Members[0].Detail = `unexpected token '"' in "{\"a\":1}" \ end`
			a := x.send(t.Context(), m)
			require.Equal(t, alert.Accepted, a.Verdict, "%s: %+v", kind, a)
			got := x.Got()
			require.Len(t, got, 1)
			require.True(t, json.Valid(got[0].Raw))
			want := name
			if kind == alert.WeCom {
				want = strings.ReplaceAll(name, "*", "＊") // it knows no escaping
			}
			require.Contains(t, got[0].Plain, "• "+want+": 7", kind)
			require.Contains(t, got[0].Plain, m.Members[0].Detail, kind)
			require.Equal(t, "[P1] Failures in a row: 2 tasks fail", got[0].Title, kind)
		}
	}
}

// HOOK-03: Feishu's signature, by its vector:
// printf ” | openssl dgst -sha256 -hmac "$(printf '1599360473\naxTestSecret-01')" -binary | base64
func TestHOOK03FeishuIsSignedInTheBody(t *testing.T) {
	t.Parallel()
	x := tellerOf(t, alert.Feishu)
	require.Equal(t, alert.Accepted, x.send(t.Context(), failing("a")).Verdict)
	var body struct{ Timestamp, Sign string }
	require.NoError(t, json.Unmarshal(x.Got()[0].Raw, &body))
	require.Equal(t, "1599360473", body.Timestamp)
	require.Equal(t, "Hb04iEdQKSgVL73EcCP0dtAUOD+OxIVO4RDk8M8lNJo=", body.Sign)

	x.secret.Key = "another"
	a := x.send(t.Context(), failing("a"))
	require.Equal(t, alert.TurnOff, a.Verdict)
	require.Equal(t, "19021", a.Code)
	require.Contains(t, a.Body, "the signature doesn't match")

	x.secret.Key = ""
	require.NotContains(t, string(encodedOf(t, x)), "sign")
}

// A message that is as long as any can be is cut to what the robot takes: the
// fakes refuse one byte more.
func TestTheLongestMessageStillFits(t *testing.T) {
	t.Parallel()
	for kind := range robots() {
		x := tellerOf(t, kind)
		var names []string
		for range alert.MaxNamed {
			names = append(names, strings.Repeat("🏴", 300))
		}
		m := failing(names...)
		m.Count, m.Note, m.Host = 1000, strings.Repeat(strings.Repeat("🏴", 500)+"\n", 30), strings.Repeat("\"", 300)
		for i := range m.Members {
			m.Members[i].Detail = strings.Repeat("🏴\"", 300)
		}
		var all []alert.Message
		for range alert.MaxMerged {
			all = append(all, m)
		}
		for _, messages := range [][]alert.Message{{m}, all} {
			a := x.send(t.Context(), messages...)
			require.Equal(t, alert.Accepted, a.Verdict, "%s %+v", kind, a)
		}
		if kind != alert.Webhook {
			require.Contains(t, x.Got()[0].Plain, "more", "what is cut is counted")
			require.Less(t, len(x.Got()[0].Raw), 20<<10, kind)
		}
		require.Contains(t, x.Got()[0].Links, "https://ax.example.org/alerts/incidents/0193b1f0-bbbb", kind)
	}
}

// Half a secret at the end of what is read of an answer is one too.
func TestHalfASecretAtTheEndIsNotShown(t *testing.T) {
	t.Parallel()
	x := tellerOf(t, alert.Webhook)
	long := strings.Repeat("canary", 150)
	x.secret.URL = strings.Replace(x.secret.URL, robottest.Token, long, 1)
	x.Play(robottest.Say(500, strings.Repeat(long, 100)))
	require.NotContains(t, x.send(t.Context(), failing("a")).Body, "canary")
}

// encodedOf is what is sent when nothing is signed.
func encodedOf(t *testing.T, x *teller) []byte {
	t.Helper()
	r := robottest.Feishu(t, robottest.Options{Now: toldNow})
	x.secret.URL = r.URL
	require.Equal(t, alert.Accepted, x.send(t.Context(), failing("a")).Verdict)
	return r.Got()[0].Raw
}

// DingTalk's signature, computed by
// printf '1599360473000\naxTestSecret-01' | openssl dgst -sha256 -hmac axTestSecret-01 -binary | base64
func TestDingTalkIsSignedInTheAddress(t *testing.T) {
	t.Parallel()
	x := tellerOf(t, alert.DingTalk)
	require.Equal(t, alert.Accepted, x.send(t.Context(), failing("a")).Verdict)
	q := x.Got()[0].Query
	require.Equal(t, "1599360473000", q.Get("timestamp"))
	require.Equal(t, dingTalkVector, q.Get("sign"))
	require.Equal(t, robottest.Token, q.Get("access_token"))
	x.secret.Key = "another"
	a := x.send(t.Context(), failing("a"))
	require.Equal(t, alert.TurnOff, a.Verdict)
	require.Contains(t, a.Body, "the key is wrong")
}

// HOOK-05: a burst goes in few messages that each fit the robot; nothing is
// left out, and what waited says so.
func TestHOOK05ABurstGoesInFewMessagesThatFit(t *testing.T) {
	t.Parallel()
	for kind := range robots() {
		if !kind.Merges() {
			continue
		}
		x := tellerOf(t, kind)
		var all []alert.Message
		for i := range 300 {
			m := failing(fmt.Sprintf("pay.%03d", i))
			m.At = toldAt.Add(-12 * time.Minute)
			all = append(all, m)
		}
		for i := 0; i < len(all); i += alert.MaxMerged {
			a := x.send(t.Context(), all[i:min(i+alert.MaxMerged, len(all))]...)
			require.Equal(t, alert.Accepted, a.Verdict, "%s: %+v", kind, a)
		}
		got := x.Got()
		require.Len(t, got, 15, kind)
		told := ""
		for _, g := range got {
			require.Less(t, len(g.Raw), 20<<10, kind)
			require.Contains(t, g.Title, "20 alerts", kind)
			told += g.Plain
		}
		for i := range 300 {
			if kind != alert.WeCom { // 4096 bytes hold half of them: the rest is counted, and a link leads to it
				require.Contains(t, told, fmt.Sprintf("pay.%03d", i), kind)
			}
		}
		require.Contains(t, told, "sent 12 min late", kind)
	}
}

// HOOK-10: lines stay lines, and Slack's three signs are escaped.
func TestHOOK10ThreeLinesArriveAsThreeLines(t *testing.T) {
	t.Parallel()
	for kind := range robots() {
		x := tellerOf(t, kind)
		x.channel.Bad = "title\none & <two>\nthree\\nfour\r\nfive *six*"
		require.Equal(t, alert.Accepted, x.send(t.Context(), failing("a")).Verdict, kind)
		got := x.Got()[0]
		require.Equal(t, "title", got.Title, kind)
		want := "one & <two>\nthree\\nfour\nfive *six*"
		if kind == alert.WeCom {
			want = "one & ＜two＞\nthree\\nfour\nfive ＊six＊"
		}
		require.Contains(t, got.Plain, want, kind)
		if kind == alert.DingTalk {
			x.channel.Bad = "t\n- one\n12. two\n1.5 is no list"
			x.send(t.Context(), failing("a"))
			require.Contains(t, string(x.Got()[1].Raw), `\\- one  \n12\\. two  \n1.5 is no list`, "lists would be numbered anew")
		}
		if kind == alert.Slack {
			require.Contains(t, string(got.Raw), "one &amp; &lt;two&gt;\\nthree")
		}
	}
}

func TestEachRobotCallsPeopleItsWay(t *testing.T) {
	t.Parallel()
	ids := map[alert.ChannelKind]string{alert.Feishu: "ou_1a2b", alert.DingTalk: "13800138000", alert.WeCom: "ana.lima", alert.Slack: "U024BE7LH", alert.Teams: "ana@example.org"}
	for kind, id := range ids {
		x := tellerOf(t, kind)
		x.to.People = []alert.Person{{Login: "ana", Name: "Ana <Lima>", IDs: map[alert.ChannelKind]string{kind: id}}, {Login: "bo", IDs: map[alert.ChannelKind]string{kind: "</at><at id=all>"}}, {Login: "cy"}}
		x.channel.Bad = "short"
		require.Equal(t, alert.Accepted, x.send(t.Context(), failing("a")).Verdict, kind)
		require.Equal(t, []string{id}, x.Got()[0].Called, kind)
		require.Contains(t, x.Got()[0].Plain, "@bo", "without a usable id it is the name")
		require.NotContains(t, x.Got()[0].Plain, "cy")

		x.channel.Mention = alert.MentionAll
		require.Equal(t, alert.Accepted, x.send(t.Context(), failing("a")).Verdict, kind)
		if kind == alert.Teams {
			require.Empty(t, x.Got()[1].Called, "no webhook of Teams can call everybody")
		} else {
			require.Equal(t, []string{"all"}, x.Got()[1].Called, kind)
		}
		x.channel.Mention = alert.MentionNobody
		require.Equal(t, alert.Accepted, x.send(t.Context(), failing("a")).Verdict, kind)
		require.Empty(t, x.Got()[2].Called, kind)
	}
	x := tellerOf(t, alert.DingTalk)
	x.to.People = []alert.Person{{Login: "ana", IDs: map[alert.ChannelKind]string{alert.DingTalk: "manager4220"}}}
	x.send(t.Context(), failing("a"))
	require.Contains(t, string(x.Got()[0].Raw), `"atUserIds":["manager4220"]`)
}

// Whatever a robot answers is judged by its body.
func TestTheBodyDecidesNotTheStatus(t *testing.T) {
	t.Parallel()
	type row struct {
		kind    alert.ChannelKind
		status  int
		body    string
		verdict alert.Verdict
		code    string
		wait    time.Duration
	}
	for _, c := range []row{
		{alert.Feishu, 200, `{"code":19021,"msg":"sign match fail"}`, alert.TurnOff, "19021", 0},
		{alert.Feishu, 200, `{"code":19022,"msg":"Ip Not Allowed"}`, alert.TurnOff, "19022", 0},
		{alert.Feishu, 200, `{"code":19024,"msg":"Key Words Not Found"}`, alert.GiveUp, "19024", 0},
		{alert.Feishu, 400, `{"code":19001,"msg":"param invalid"}`, alert.TurnOff, "19001", 0},
		{alert.Feishu, 400, `{"code":9499,"msg":"Bad Request"}`, alert.GiveUp, "9499", 0},
		{alert.Feishu, 200, `{"code":11232,"msg":"frequency limited psm"}`, alert.Again, "11232", time.Minute},
		{alert.Feishu, 200, `{"code":77777,"msg":"new"}`, alert.Again, "77777", 0},
		{alert.Feishu, 200, `{"StatusCode":0,"StatusMessage":"success"}`, alert.Accepted, "", 0},
		{alert.Feishu, 200, `{}`, alert.Again, "", 0},
		{alert.Feishu, 200, `"ok"`, alert.Again, "", 0},
		{alert.DingTalk, 200, `{"errcode":310000,"errmsg":"keywords not in content, more: [https://ding-doc]"}`, alert.GiveUp, "310000", 0},
		{alert.DingTalk, 200, `{"errcode":310000,"errmsg":"sign not match, more: [https://ding-doc]"}`, alert.TurnOff, "310000", 0},
		{alert.DingTalk, 200, `{"errcode":310000,"errmsg":"ip 1.2.3.4 not in whitelist"}`, alert.TurnOff, "310000", 0},
		{alert.DingTalk, 200, `{"errcode":310000,"errmsg":"invalid timestamp"}`, alert.TurnOff, "310000", 0},
		{alert.DingTalk, 200, `{"errcode":300001,"errmsg":"token is not exist"}`, alert.TurnOff, "300001", 0},
		{alert.DingTalk, 200, `{"errcode":130101,"errmsg":"send too fast, exceed 20 times per minute"}`, alert.Again, "130101", 10 * time.Minute},
		{alert.DingTalk, 200, `{"errcode":-1,"errmsg":"busy"}`, alert.Again, "-1", 0},
		{alert.WeCom, 200, `{"errcode":93000,"errmsg":"invalid webhook url"}`, alert.TurnOff, "93000", 0},
		{alert.WeCom, 200, `{"errcode":45009,"errmsg":"api freq out of limit"}`, alert.Again, "45009", time.Minute},
		{alert.WeCom, 200, `{"errcode":40058,"errmsg":"content exceed max length"}`, alert.GiveUp, "40058", 0},
		{alert.WeCom, 500, `{"errcode":0,"errmsg":"ok"}`, alert.Accepted, "", 0},
		{alert.Slack, 404, "no_service", alert.TurnOff, "no_service", 0},
		{alert.Slack, 403, "action_prohibited", alert.TurnOff, "action_prohibited", 0},
		{alert.Slack, 410, "channel_is_archived", alert.TurnOff, "channel_is_archived", 0},
		{alert.Slack, 400, "invalid_payload", alert.GiveUp, "invalid_payload", 0},
		{alert.Slack, 500, "rollup_error", alert.Again, "rollup_error", 0},
		{alert.Slack, 404, "something_new", alert.TurnOff, "something_new", 0},
		{alert.Slack, 200, "not ok", alert.Again, "", 0},
		{alert.Teams, 202, "", alert.Accepted, "", 0},
		{alert.Teams, 200, "1", alert.Accepted, "", 0},
		{alert.Teams, 200, "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429 with ContextId x", alert.Again, "429", 0},
		{alert.Teams, 200, "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 413", alert.GiveUp, "413", 0},
		{alert.Teams, 400, `{"error":{"code":"TriggerInputSchemaMismatch"}}`, alert.GiveUp, "", 0},
		{alert.Teams, 404, `{"error":{"code":"WorkflowNotFound"}}`, alert.TurnOff, "", 0},
		{alert.Teams, 401, `{"error":{"code":"DirectApiInvalidAuthorizationScheme"}}`, alert.TurnOff, "", 0},
		{alert.Webhook, 200, "", alert.Accepted, "", 0},
		{alert.Webhook, 204, "", alert.Accepted, "", 0},
		{alert.Webhook, 410, "gone", alert.TurnOff, "", 0},
		{alert.Webhook, 408, "", alert.Again, "", 0},
		{alert.Webhook, 425, "", alert.Again, "", 0},
		{alert.Webhook, 404, "", alert.GiveUp, "", 0},
		{alert.Webhook, 401, "", alert.GiveUp, "", 0},
		{alert.Webhook, 503, "", alert.Again, "", 0},
	} {
		x := tellerOf(t, c.kind)
		x.Play(robottest.Say(c.status, c.body))
		a := x.send(t.Context(), failing("a"))
		name := fmt.Sprintf("%s %d %s: %+v", c.kind, c.status, c.body, a)
		require.Equal(t, c.verdict, a.Verdict, name)
		require.Equal(t, c.code, a.Code, name)
		require.Equal(t, c.wait, a.Wait, name)
		require.Equal(t, c.status, a.Status, name)
		require.NotEmpty(t, a.Body, name)
	}
}

// What isn't a robot's answer, or none at all, is tried again and says why.
func TestTroubleOnTheWayIsTriedAgain(t *testing.T) {
	t.Parallel()
	for kind := range robots() {
		for name, c := range map[string]struct {
			play robottest.Play
			want string
		}{
			"page with 502": {robottest.HTML(502), "answered 502 with an HTML page"},
			"500":           {robottest.Say(500, ""), "answered 500 Internal Server Error"},
			"slow":          {robottest.Play{Hang: true}, "no answer within 200ms"},
			"closed":        {robottest.Play{Close: true}, "the receiver closed the connection without a whole answer"},
			"429":           {robottest.Play{Status: 429, Header: map[string]string{"Retry-After": "30"}}, "answered 429 Too Many Requests"},
		} {
			x := tellerOf(t, kind, func(o *jobs.NotifierOptions) { o.Timeout = 200 * time.Millisecond })
			x.Play(c.play)
			a := x.send(t.Context(), failing("a"))
			require.Equal(t, alert.Again, a.Verdict, "%s %s: %+v", kind, name, a)
			require.Contains(t, a.Body, c.want, "%s %s", kind, name)
			require.NotContains(t, a.Body, "<")
			if name == "429" {
				require.Equal(t, 30*time.Second, a.Wait, kind)
			}
		}
		if kind == alert.Webhook {
			continue // any 2xx is a yes
		}
		x := tellerOf(t, kind)
		x.Play(robottest.HTML(200))
		a := x.send(t.Context(), failing("a"))
		require.Equal(t, alert.Again, a.Verdict, "%s: a page is no yes: %+v", kind, a)
		require.Contains(t, a.Body, "with an HTML page")
	}
}

func TestTheNetworkIsToldInPlainWords(t *testing.T) {
	t.Parallel()
	x := tellerOf(t, alert.Feishu)
	good := x.secret.URL

	x.secret.URL = strings.Replace(good, "127.0.0.1", "localhost", 1)
	a := x.send(t.Context(), failing("a"))
	require.Equal(t, alert.Again, a.Verdict)
	require.Equal(t, "certificate", a.Code)
	require.Equal(t, "the receiver's certificate can't be trusted: it isn't for localhost", a.Body)

	x.secret.URL = strings.Replace(good, "127.0.0.1", "no-such-host.invalid", 1)
	a = x.send(t.Context(), failing("a"))
	require.Equal(t, alert.Again, a.Verdict)
	require.Contains(t, a.Body, "host no-such-host.invalid can't be resolved")

	x.secret.URL = strings.Replace(good, "https:", "http:", 1)
	a = x.send(t.Context(), failing("a"))
	require.Equal(t, alert.Again, a.Verdict, "%+v", a)

	plain := robottest.Slack(t, robottest.Options{Plain: true})
	x.secret.URL = strings.Replace(plain.URL, "http:", "https:", 1)
	a = x.send(t.Context(), failing("a"))
	require.Equal(t, alert.Again, a.Verdict)
	require.Contains(t, a.Body, "speaks no TLS")

	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	x.secret.URL = "https://" + l.Addr().String() + "/"
	a = x.send(t.Context(), failing("a"))
	require.Equal(t, alert.Again, a.Verdict)
	require.Equal(t, "the receiver refuses connections", a.Body)

	x.secret.URL = "https://[::1"
	require.Equal(t, alert.TurnOff, x.send(t.Context(), failing("a")).Verdict)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	x.secret.URL = good
	a = x.send(ctx, failing("a"))
	require.Equal(t, alert.Again, a.Verdict)
	require.Equal(t, "stopped", a.Code)
	require.Equal(t, alert.GiveUp, x.send(t.Context()).Verdict)
	require.Zero(t, x.Seen())
}

func TestAForbiddenAddressIsNotCalled(t *testing.T) {
	t.Parallel()
	for kind := range robots() {
		x := tellerOf(t, kind, func(o *jobs.NotifierOptions) { o.Egress = jobs.NewEgress(jobs.EgressPolicy{}) })
		a := x.send(t.Context(), failing("a"))
		require.Equal(t, alert.GiveUp, a.Verdict, kind)
		require.Equal(t, "blocked", a.Code, kind)
		require.Contains(t, a.Body, "the address rules of this installation forbid it")
		require.Zero(t, x.Seen(), kind)
	}
}

// The team of the channel decides what its channels may call.
func TestAChannelCallsWhatItsTeamMay(t *testing.T) {
	t.Parallel()
	lists := jobs.NewTeamLists(listed{7: {netip.MustParsePrefix("127.0.0.1/32")}}, time.Now)
	x := tellerOf(t, alert.Webhook, func(o *jobs.NotifierOptions) { o.Egress = jobs.NewEgress(jobs.EgressPolicy{Teams: lists}) })
	require.Equal(t, alert.Accepted, x.send(t.Context(), failing("a")).Verdict)
	x.channel.TeamID = 8
	require.Equal(t, alert.GiveUp, x.send(t.Context(), failing("a")).Verdict)
	x.channel.TeamID = 9 // whose list can't be read now
	a := x.send(t.Context(), failing("a"))
	require.Equal(t, alert.Again, a.Verdict, "%+v", a)
}

func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	for kind := range robots() {
		x, other := tellerOf(t, kind), tellerOf(t, kind)
		x.Play(robottest.Play{Status: http.StatusTemporaryRedirect, Header: map[string]string{"Location": other.URL}})
		a := x.send(t.Context(), failing("a"))
		require.Equal(t, alert.GiveUp, a.Verdict, "%s %+v", kind, a)
		require.Contains(t, a.Body, "redirects are not followed", kind)
		require.Zero(t, other.Seen(), kind)
	}
}

// Nothing of what lets somebody send is in an answer, whoever writes it there.
func TestAnAnswerShowsNoSecret(t *testing.T) {
	t.Parallel()
	for kind := range robots() {
		for _, status := range []int{200, 400, 404, 500} {
			x := tellerOf(t, kind)
			echo := "POST " + x.secret.URL + " " + strings.ReplaceAll(x.secret.URL, "/", `\/`) + " key " + hookKey + " " + dingTalkVector +
				" sig Hb04iEdQKSgVL73EcCP0dtAUOD+OxIVO4RDk8M8lNJo="
			say, err := json.Marshal(map[string]any{"code": 1, "errcode": 1, "msg": echo, "errmsg": echo})
			require.NoError(t, err)
			for _, body := range []string{string(say), echo, robottest.Token, strings.Repeat(robottest.Token, 5000)} {
				x.Play(robottest.Say(status, body))
				a := x.send(t.Context(), failing("a"))
				shown := fmt.Sprintf("%+v", a)
				for _, secret := range []string{robottest.Token, hookKey, "canary7f3a9c11", dingTalkVector} {
					if secret == dingTalkVector && kind != alert.DingTalk {
						continue
					}
					require.NotContains(t, shown, secret, kind)
				}
				require.LessOrEqual(t, len([]rune(a.Body)), 500)
				require.NotContains(t, a.Body, "\n")
			}
		}
		x := tellerOf(t, kind)
		x.secret.URL = "https://127.0.0.1:1/" + robottest.Token
		require.NotContains(t, fmt.Sprintf("%+v", x.send(t.Context(), failing("a"))), "canary7f3a9c11")
		x.secret.URL = "https://[::1/" + robottest.Token
		require.NotContains(t, fmt.Sprintf("%+v", x.send(t.Context(), failing("a"))), "canary7f3a9c11")
	}
}

// Whatever people and targets write, each robot takes the message: valid, not
// too long, and calling nobody who isn't meant.
func TestEveryRobotTakesWhateverIsWritten(t *testing.T) {
	t.Parallel()
	fixed := []string{
		`对账"A"\任务`, "a\nb\r\nc\u2028d", "\u202egnp.exe\u202c", "👩\u200d💻", "\x00\x1b[31m\x7f", "</at><at id=all></at>", "<@all><!channel><@U1>", "[x](https://evil.example)",
		"![x](y) `z` **b** # h", strings.Repeat("长\"\\\n", 25_000), strings.Repeat("🏴&<>\"", 4000), "\xff\xfe", "&lt;at&gt;",
	}
	for kind := range robots() {
		x := tellerOf(t, kind)
		rapid.Check(t, func(rt *rapid.T) {
			s := func(name string) string {
				if i := rapid.IntRange(0, len(fixed)).Draw(rt, name); i < len(fixed) {
					return fixed[i]
				}
				return rapid.String().Draw(rt, name)
			}
			m := failing()
			m.Rule, m.Team, m.Host, m.Note, m.Scope = s("rule"), s("team"), s("host"), s("note"), alert.Scope{Kind: alert.OfTag, Value: s("tag")}
			for range rapid.IntRange(0, 12).Draw(rt, "members") {
				m.Members = append(m.Members, alert.Member{Subject: alert.Subject{Kind: alert.TaskSubject, Key: s("key")}, Detail: s("detail")})
			}
			x.to.People = []alert.Person{{Login: "ana", Name: s("person"), IDs: map[alert.ChannelKind]string{kind: s("id")}}}
			x.channel.Bad = rapid.SampledFrom([]string{"", "{{rule}}\n{{scope}}\n{{owner}}"}).Draw(rt, "own")
			messages := []alert.Message{m, m, m}[:rapid.IntRange(1, 3).Draw(rt, "n")]
			before := len(x.Got())
			a := x.send(t.Context(), messages...)
			require.Equal(rt, alert.Accepted, a.Verdict, "%s %+v", kind, a)
			for _, got := range x.Got()[before:] {
				require.Subset(rt, []string{x.to.People[0].IDs[kind]}, got.Called)
				require.NotContains(rt, got.Called, "all")
				for _, l := range got.Links {
					require.True(rt, strings.HasPrefix(l, "https://ax.example.org/"), l)
				}
			}
		})
	}
}

func TestAMissingKeywordIsToldAndTheFootIsOne(t *testing.T) {
	t.Parallel()
	for kind, start := range map[alert.ChannelKind]func(testing.TB, robottest.Options) *robottest.Robot{alert.Feishu: robottest.Feishu, alert.DingTalk: robottest.DingTalk} {
		x := tellerOf(t, kind)
		x.channel.Bad = "short"
		x.secret.URL = start(t, robottest.Options{Now: toldNow, Keyword: "ax · production"}).URL
		require.Equal(t, alert.Accepted, x.send(t.Context(), failing("a")).Verdict, kind)
		x.secret.URL = start(t, robottest.Options{Now: toldNow, Keyword: "告警"}).URL
		a := x.send(t.Context(), failing("a"))
		require.Equal(t, alert.GiveUp, a.Verdict, kind)
		require.Contains(t, a.Body, "the message has none of the robot's keywords")
	}
}

func TestTheFakesTrustOnlyTheirOwnPool(t *testing.T) {
	t.Parallel()
	x := tellerOf(t, alert.Teams, func(o *jobs.NotifierOptions) { o.RootCAs = x509.NewCertPool() })
	a := x.send(t.Context(), failing("a"))
	require.Equal(t, "certificate", a.Code)
	require.Zero(t, x.Seen())
}

// listed are the ranges of teams; of a team that isn't there they can't be
// read, but of 8, which has none.
type listed map[int64][]netip.Prefix

func (l listed) Allowances(_ context.Context, team int64) ([]access.Allowance, error) {
	ranges, ok := l[team]
	if !ok && team != 8 {
		return nil, errors.New("the ledger is away")
	}
	var out []access.Allowance
	for _, p := range ranges {
		out = append(out, access.Allowance{Prefix: p})
	}
	return out, nil
}
