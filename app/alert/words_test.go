package alert_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ax/app/alert"
)

var said = time.Date(2026, 11, 30, 11, 56, 0, 0, time.UTC)

func shanghai() *time.Location { return time.FixedZone("Asia/Shanghai", 8*3600) }

// where messages of these tests are told.
func where() alert.Where {
	return alert.Where{
		Base: "https://ax.example.org/", Name: "production", Zone: shanghai(), Now: said,
		People: []alert.Person{{Login: "ana", Name: "Ana Lima"}, {Login: "bo"}},
	}
}

// failing is a message of n failing tasks.
func failing(n int) alert.Message {
	m := alert.Message{
		ID: "d-1", Kind: alert.Opened, At: said, IncidentID: "i-1", Rule: "Failures in a row", Metric: alert.InARow, Level: alert.P1,
		Team: "payments", Scope: alert.Scope{Kind: alert.OfTag, Value: "pay"}, Value: 7, Worst: 9, Threshold: 3,
		Since: said.Add(-72 * time.Minute), Count: n, Mention: []string{"ana", "bo"}, Path: "/alerts/incidents/i-1",
	}
	for i := range min(n, alert.MaxNamed) {
		m.Members = append(m.Members, alert.Member{
			Subject: alert.Subject{Kind: alert.TaskSubject, Key: fmt.Sprintf("pay.%02d", i)}, Value: 7, Detail: "connection refused", Instance: "0193b1f0",
		})
	}
	return m
}

func TestAMessageSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	m := failing(40)
	m.Host = "pay-gw.internal"
	got := m.Text("en", where())
	require.Equal(t, "[P1] Failures in a row: 40 tasks fail at pay-gw.internal", got.Title)
	require.Equal(t, alert.ToneWorse, got.Tone)
	require.Equal(t, []alert.Line{
		{Label: "Value", Value: "7, threshold 3"},
		{Label: "Since", Value: "2026-11-30 18:44 UTC+08:00 (1 h 12 min)"},
		{Label: "Team", Value: "payments"},
		{Label: "Scope", Value: "tag pay"},
		{Label: "Owner", Value: "Ana Lima, bo"},
	}, got.Lines)
	require.Len(t, got.Items, alert.MaxNamed)
	require.Equal(t, alert.Item{Text: "pay.00: 7", Detail: "connection refused", Link: "https://ax.example.org/instances/0193b1f0"}, got.Items[0])
	require.Equal(t, "and 30 more", got.More)
	require.Equal(t, "https://ax.example.org/alerts/incidents/i-1", got.Link)
	require.Equal(t, "Open in ax", got.LinkWord)
	require.Equal(t, "ax · production", got.Foot)
	require.Equal(t, []alert.Person{{Login: "ana", Name: "Ana Lima"}, {Login: "bo"}}, got.Mentions)
}

func TestAMessageIsWordedInChinese(t *testing.T) {
	t.Parallel()
	m := failing(40)
	m.Host = "pay-gw.internal"
	got := m.Text("zh-CN", where())
	require.Equal(t, "[P1] 连续失败：40 个任务失败（主机 pay-gw.internal）", got.Title)
	require.Equal(t, []alert.Line{
		{Label: "当前值", Value: "7，阈值 3"},
		{Label: "开始于", Value: "2026-11-30 18:44 UTC+08:00（1 小时 12 分钟）"},
		{Label: "团队", Value: "payments"},
		{Label: "范围", Value: "标签 pay"},
		{Label: "负责人", Value: "Ana Lima、bo"},
	}, got.Lines)
	require.Equal(t, "另有 30 个", got.More)
	m.Rule = "夜间批次"
	require.Contains(t, m.Text("zh-CN", where()).Title, "夜间批次：")
}

func TestEachKindHasItsTitle(t *testing.T) {
	t.Parallel()
	for kind, want := range map[alert.MessageKind][2]string{
		alert.Opened:    {"[P1] Failures in a row: pay.00 fails", "[P1] 连续失败：pay.00 失败"},
		alert.Repeated:  {"[P1 · still] Failures in a row: pay.00 fails", "[P1 · 仍未恢复] 连续失败：pay.00 失败"},
		alert.Grown:     {"[P1 · growing] Failures in a row: pay.00 fails", "[P1 · 扩大] 连续失败：pay.00 失败"},
		alert.Escalated: {"[P1 · escalated] Failures in a row: pay.00 fails", "[P1 · 升级] 连续失败：pay.00 失败"},
		alert.Closed:    {"[P1 · over] Failures in a row: pay.00", "[P1 · 已恢复] 连续失败：pay.00"},
		alert.Test:      {"[P1 · test] Failures in a row: pay.00 fails", "[P1 · 测试] 连续失败：pay.00 失败"},
	} {
		m := failing(1)
		m.Kind = kind
		require.Equal(t, want[0], m.Text("en", where()).Title, kind)
		require.Equal(t, want[1], m.Text("zh-CN", where()).Title, kind)
	}
	bare := alert.Message{Kind: alert.Test, At: said}
	require.Equal(t, "Test message from ax", bare.Text("en", where()).Title)
	require.Equal(t, []alert.Line{{Value: "此通道可用，没有任何异常。"}}, bare.Text("zh-CN", where()).Lines)
}

func TestEachMetricIsWordedInItsUnit(t *testing.T) {
	t.Parallel()
	for metric, want := range map[alert.Metric][4]string{
		alert.SuccessRate:  {"all tasks: too few runs succeed", "94.99 %, threshold 95 %", "全部任务：成功率过低", "94.99%，阈值 95%"},
		alert.InARow:       {"x fails", "94.99, threshold 95", "x 失败", "94.99，阈值 95"},
		alert.Failures:     {"x fails", "94.99, threshold 95", "x 失败", "94.99，阈值 95"},
		alert.MissedRun:    {"x misses a run", "94.99 min, threshold 95 min", "x 未按时成功", "94.99 分钟，阈值 95 分钟"},
		alert.RunTooLong:   {"x runs too long", "94.99×, threshold 95×", "x 运行过久", "94.99 倍，阈值 95 倍"},
		alert.RunTooShort:  {"x ran too short", "94.99×, threshold 95×", "x 运行过短", "94.99 倍，阈值 95 倍"},
		alert.TriggerLag:   {"all tasks: late starts", "94.99 s, threshold 95 s", "全部任务：启动延迟", "94.99 秒，阈值 95 秒"},
		alert.OpenLetters:  {"all tasks: too many dead letters", "94.99, threshold 95", "全部任务：死信过多", "94.99，阈值 95"},
		alert.LetterAge:    {"all tasks: a dead letter waits too long", "94.99 h, threshold 95 h", "全部任务：死信等待过久", "94.99 小时，阈值 95 小时"},
		alert.NoExecutor:   {"executor x is offline", "94.99 s, threshold 95 s", "执行器 x 离线", "94.99 秒，阈值 95 秒"},
		alert.CalendarEnds: {"calendar x runs out of data", "94.99 days, threshold 95 days", "日历 x 的数据即将用完", "94.99 天，阈值 95 天"},
		alert.QueueDepth:   {"queue x is too deep", "94.99, threshold 95", "队列 x 积压过多", "94.99，阈值 95"},
		alert.NotServed:    {"no node serves queue x", "94.99 s, threshold 95 s", "没有节点处理队列 x", "94.99 秒，阈值 95 秒"},
		alert.NodeOffline:  {"node x is offline", "94.99 s, threshold 95 s", "节点 x 离线", "94.99 秒，阈值 95 秒"},
		alert.ClockOffset:  {"node x: clock is off", "94.99 s, threshold 95 s", "节点 x 时钟偏差", "94.99 秒，阈值 95 秒"},
		alert.PlanningLate: {"nothing is planned", "94.99 s, threshold 95 s", "没有计划新的实例", "94.99 秒，阈值 95 秒"},
		alert.RedisMemory:  {"Redis is short of memory", "94.99 %, threshold 95 %", "Redis 内存不足", "94.99%，阈值 95%"},
		alert.RedisEvicts:  {"Redis may throw away what it holds", "yes, threshold yes", "Redis 可能淘汰数据", "是，阈值 是"},
	} {
		meter, ok := alert.MeterOf(metric)
		require.True(t, ok)
		m := alert.Message{Kind: alert.Opened, Rule: "r", Metric: metric, Value: 94.996, Threshold: 95, Count: 1,
			Members: []alert.Member{{Subject: alert.Subject{Kind: alert.SubjectKind(meter.Per), Key: "x"}}}}
		if meter.Per == alert.PerScope {
			m.Members[0].Subject.Key = "all:"
		}
		if meter.Per == alert.PerHouse {
			m.Members[0].Subject.Kind = alert.HouseSubject
		}
		en, zh := m.Text("en", where()), m.Text("zh-CN", where())
		require.Equal(t, want, [4]string{strings.TrimPrefix(en.Title, "[ax] r: "), en.Lines[0].Value, strings.TrimPrefix(zh.Title, "[ax] r："), zh.Lines[0].Value}, metric)
	}
	require.Len(t, alert.Meters(), 18, "a new metric needs words")
}

func TestDefaultRulesHaveChineseNames(t *testing.T) {
	t.Parallel()
	for _, r := range append(alert.TeamDefaults(), alert.HouseDefaults()...) {
		require.NotEqual(t, r.Name, alert.RuleName("zh-CN", r.Name))
		require.Equal(t, r.Name, alert.RuleName("en", r.Name))
	}
}

func TestValuesAreShownExactly(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"10,000":     alert.Show("en", alert.Count, 10_000),
		"1,234,567":  alert.Show("en", alert.Count, 1_234_567),
		"-12":        alert.Show("en", alert.Count, -12),
		"1 day":      alert.Show("en", alert.Days, 1),
		"3.3×":       alert.Show("en", alert.Factor, 3.3),
		"no":         alert.Show("en", alert.Yes, 0),
		"59 s":       alert.Lasted("en", 59*time.Second),
		"3 d 4 h":    alert.Lasted("en", 76*time.Hour),
		"3 天 4 小时":   alert.Lasted("zh-CN", 76*time.Hour+59*time.Minute),
		"1 h":        alert.Lasted("en", time.Hour+20*time.Second),
		"0 s":        alert.Lasted("en", -time.Second),
		"99.99 %":    alert.Show("en", alert.Percent, 99.999),
		"100 %":      alert.Show("en", alert.Percent, 100),
		"95 %":       alert.Show("en", alert.Percent, 95),
		"0.1 s":      alert.Show("en", alert.Seconds, 0.1),
		"2,000.5 小时": alert.Show("zh-CN", alert.Hours, 2000.5),
	} {
		require.Equal(t, want, got)
	}
}

func TestARecoveryTellsTheWorstAndCallsNobody(t *testing.T) {
	t.Parallel()
	m := failing(2)
	m.Kind, m.EndedAt = alert.Closed, said.Add(-12*time.Minute)
	got := m.Text("en", where())
	require.Equal(t, alert.ToneGood, got.Tone)
	require.Equal(t, alert.Line{Label: "Worst value", Value: "9, threshold 3"}, got.Lines[0])
	require.Equal(t, alert.Line{Label: "Since", Value: "2026-11-30 18:44 UTC+08:00 (1 h)"}, got.Lines[1])
	require.Equal(t, alert.Line{Label: "Over since", Value: "2026-11-30 19:44 UTC+08:00"}, got.Lines[2])
	require.Equal(t, "pay.00", got.Items[0].Text)
	require.Empty(t, got.Mentions)
}

func TestWhatWaitedIsMarked(t *testing.T) {
	t.Parallel()
	w := where()
	w.Now = said.Add(5 * time.Minute)
	require.Empty(t, failing(1).Text("en", w).Late)
	w.Now = said.Add(12*time.Minute + 30*time.Second)
	require.Equal(t, "sent 12 min late", failing(1).Text("en", w).Late)
	require.Equal(t, "延迟 12 分钟 送达", failing(1).Text("zh-CN", w).Late)
}

func TestWhoIsCalledIsTheChannelsChoice(t *testing.T) {
	t.Parallel()
	w := where()
	w.All = true
	require.True(t, failing(1).Text("en", w).All)
	require.Empty(t, failing(1).Text("en", w).Mentions)
	w.Quiet = true
	require.False(t, failing(1).Text("en", w).All)
	require.False(t, alert.Merge("en", []alert.Message{failing(1), failing(2)}, w).All)
}

func TestADigestListsWhatCounts(t *testing.T) {
	t.Parallel()
	m := alert.Message{Kind: alert.Summing, At: said, Event: alert.DigestDaily, Team: "payments", Path: "/teams/payments", Mention: []string{"ana"}, Digest: &alert.Summary{
		From: said.Add(-24 * time.Hour), To: said, Good: 12_345, Bad: 6, NotRun: 1, Opened: 3, Closed: 2, Open: 9, Oldest: said.Add(-50 * time.Hour),
		Worst: []alert.SummaryLine{{Name: "pay.close", N: 4}, {Name: "pay.open", N: 2}}, Letters: []alert.SummaryLine{{Name: "timeout", N: 9, More: "pay.close"}},
		Alerts: []alert.SummaryLine{{Name: "Success rate", N: 2}},
	}}
	got := m.Text("en", where())
	require.Equal(t, "Daily summary: payments", got.Title)
	require.Equal(t, []alert.Line{
		{Label: "Time", Value: "2026-11-29 19:56 UTC+08:00 – 2026-11-30 19:56 UTC+08:00"},
		{Label: "Runs", Value: "12,345 succeeded, 6 failed, 1 not run"},
		{Label: "Dead letters", Value: "3 new, 2 closed, 9 open"},
		{Label: "Oldest open one", Value: "2026-11-28 17:56 UTC+08:00"},
		{Label: "Most failures", Value: "pay.close: 4"},
		{Value: "pay.open: 2"},
		{Label: "Open by error", Value: "timeout: 9 · pay.close"},
		{Label: "Alerts", Value: "Success rate: 2"},
	}, got.Lines)
	require.Empty(t, got.Mentions)
	m.Event, m.Digest.Alerts = alert.DigestWeekly, nil
	zh := m.Text("zh-CN", where())
	require.Equal(t, "死信周报：payments", zh.Title)
	require.Equal(t, alert.Line{Label: "告警", Value: "无"}, zh.Lines[len(zh.Lines)-1])
}

func TestSeveralMessagesAreOneWithALineEach(t *testing.T) {
	t.Parallel()
	one := failing(1)
	require.Equal(t, one.Text("en", where()), alert.Merge("en", []alert.Message{one}, where()))
	over := failing(1)
	over.Kind, over.Path = alert.Closed, "/alerts/incidents/i-2"
	w := where()
	w.Now = said.Add(12 * time.Minute)
	got := alert.Merge("en", []alert.Message{one, over, failing(3)}, w)
	require.Equal(t, "3 alerts", got.Title)
	require.Equal(t, alert.ToneWorse, got.Tone)
	require.Equal(t, "[P1] Failures in a row: pay.00 fails · 7, threshold 3 (sent 12 min late)", got.Items[0].Text)
	require.Equal(t, "https://ax.example.org/alerts/incidents/i-2", got.Items[1].Link)
	require.Equal(t, "https://ax.example.org/alerts", got.Link)
	require.Len(t, got.Mentions, 2)
	require.Equal(t, "3 条告警", alert.Merge("zh-CN", []alert.Message{one, over, one}, w).Title)

	var many []alert.Message
	for range 300 {
		many = append(many, one)
	}
	got = alert.Merge("en", many, where())
	require.Equal(t, "300 alerts", got.Title)
	require.Len(t, got.Items, alert.MaxMerged)
	require.Equal(t, "and 280 more", got.More)
}

func TestAChannelsOwnTextIsFilledLiterally(t *testing.T) {
	t.Parallel()
	w := where()
	w.Bad = "{{level}} {{ rule }} x{{count}}\r\n{{scope}}: {{value}}/{{threshold}} {{nope}} {{\n\nsince {{since}} {{lasted}} {{owner}} {{link}}"
	m := failing(40)
	m.Rule, m.Scope.Value = "a {{link}} b", "{{level}}"
	got := m.Text("en", w)
	require.Equal(t, "P1 a {{link}} b x40", got.Title)
	require.Equal(t, []alert.Line{
		{Value: "tag {{level}}: 7/3 {{nope}} {{"},
		{Value: "since 2026-11-30 18:44 UTC+08:00 1 h 12 min Ana Lima, bo https://ax.example.org/alerts/incidents/i-1"},
	}, got.Lines)
	require.Empty(t, got.Items)
	m.Kind = alert.Closed
	require.Contains(t, m.Text("en", w).Title, "over", "the text for bad news isn't that for good ones")
	w.Good = "fine again"
	require.Equal(t, "fine again", m.Text("en", w).Title)
	w.Bad = " \n "
	require.Equal(t, "[P1] Failures in a row: pay.00 fails", failing(1).Text("en", w).Title)
}

func TestATemplateIsCheckedAtSave(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"empty":      {"", ""},
		"all names":  {"{{" + strings.Join(alert.TemplateNames(), "}} {{ ") + " }}", ""},
		"unknown":    {"{{level}} {{task}}", "bad: there is no {{task}}; there are level, rule, scope, value, threshold, since, lasted, owner, count, link"},
		"empty name": {"{{}}", "bad: there is no {{}}; there are level, rule, scope, value, threshold, since, lasted, owner, count, link"},
		"open":       {"{{level", "bad: a {{ is not closed by }}"},
		"two lines":  {"{{\nlevel}}", "bad: a {{ is not closed by }}"},
		"too long":   {strings.Repeat("字", 2001), "bad: at most 2000 characters"},
		"no text":    {"\xff", "bad: this is no text that can be read"},
	} {
		var got []string
		for _, f := range alert.CheckTemplate("bad", c.text) {
			got = append(got, f.Name+": "+f.Text.String())
		}
		require.Equal(t, c.want, strings.Join(got, "; "), name)
	}
}

// oneLineEach walks over every string of a text.
func oneLineEach(t require.TestingT, got alert.Text) {
	check := func(s string, limit int) {
		require.True(t, utf8.ValidString(s), "%q", s)
		require.LessOrEqual(t, utf8.RuneCountInString(s), limit)
		for _, r := range s {
			require.False(t, unicode.IsControl(r) || r == '\u2028' || r == '\u2029', "%q", s)
			require.False(t, unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d', "%q", s)
		}
	}
	check(got.Title, 200)
	check(got.Foot, 80)
	check(got.More, 80)
	check(got.Late, 80)
	for _, l := range got.Lines {
		check(l.Label, 40)
		check(l.Value, 520)
	}
	require.LessOrEqual(t, len(got.Items), alert.MaxMerged)
	for _, i := range got.Items {
		check(i.Text, 450)
		check(i.Detail, 500)
		check(i.Link, 200)
	}
}

func TestNoTextLeavesItsPlace(t *testing.T) {
	t.Parallel()
	fixed := []string{
		`对账"A"\任务`, "a\nb\r\nc\u2028d", "\u202egnp.exe\u202c", "👩\u200d💻🏴", "\x00\x1b[31m\x7f", "</at><at id=all>", "{{link}}", "%s%d%!", strings.Repeat("长\"\\\n", 25_000), "\xff\xfe",
	}
	rapid.Check(t, func(t *rapid.T) {
		s := func(name string) string {
			if i := rapid.IntRange(0, len(fixed)).Draw(t, name); i < len(fixed) {
				return fixed[i]
			}
			return rapid.String().Draw(t, name)
		}
		m := alert.Message{
			Kind: rapid.SampledFrom([]alert.MessageKind{alert.Opened, alert.Closed, alert.Test, alert.Grown}).Draw(t, "kind"),
			At:   said, Rule: s("rule"), Metric: alert.InARow, Level: alert.P1, Team: s("team"), Scope: alert.Scope{Kind: alert.OfGroup, Value: s("scope")},
			Host: s("host"), Note: s("note"), Mention: []string{s("login"), "ana"}, Path: s("path"), Count: rapid.IntRange(0, 50).Draw(t, "n"), Since: said,
			Members: []alert.Member{{Subject: alert.Subject{Kind: alert.TaskSubject, Key: s("key"), Name: s("name")}, Detail: s("detail"), Instance: s("instance")}},
		}
		w := where()
		w.Name, w.People[0].Name, w.Now = s("house"), s("person"), said.Add(time.Hour)
		if rapid.Bool().Draw(t, "own") {
			w.Bad, w.Good = s("bad")+"{{rule}}\n{{owner}}", "{{scope}}\n{{rule}}"
		}
		for _, lang := range []string{"en", "zh-CN"} {
			oneLineEach(t, m.Text(lang, w))
			oneLineEach(t, alert.Merge(lang, []alert.Message{m, m}, w))
		}
		_, err := json.Marshal(m.Text("en", w))
		require.NoError(t, err)
	})
}

func TestPlainTextArrivesUnchanged(t *testing.T) {
	t.Parallel()
	for _, s := range []string{`对账"A"\任务`, "Ärger & <b>", "👩\u200d💻", "a_b*c", "سلام"} {
		m := failing(1)
		m.Members[0].Subject.Name, m.Members[0].Detail = s, s
		got := m.Text("en", where())
		require.Contains(t, got.Title, s)
		require.Equal(t, s, got.Items[0].Detail)
	}
}

func TestATextIsCutStepByStep(t *testing.T) {
	t.Parallel()
	m := failing(40)
	m.Note = strings.Repeat("n", 400)
	whole := m.Text("en", where())
	require.Equal(t, whole, whole.Cut(0))
	last := whole
	for n := range alert.Cuts {
		cut := whole.Cut(n)
		a, err := json.Marshal(cut)
		require.NoError(t, err)
		b, err := json.Marshal(last)
		require.NoError(t, err)
		require.LessOrEqual(t, len(a), len(b), n)
		last = cut
	}
	require.Empty(t, last.Items)
	require.Equal(t, "and 40 more", last.More, "what is left out is told")
	require.LessOrEqual(t, len(last.Lines), 3)
	require.Len(t, whole.Items, alert.MaxNamed, "the text itself is whole")
	require.NotEmpty(t, whole.Items[0].Detail)
}
