package views

import (
	"fmt"
	"strings"
	"time"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/fault"
)

var (
	feishuGroup  = alert.Channel{ID: "a3f1", TeamID: 1, Kind: alert.Feishu, Name: "支付值班群", Hint: "open.feishu.cn …7c41"}
	slackGroup   = alert.Channel{ID: "b402", Kind: alert.Slack, Name: "#platform", Hint: "hooks.slack.com …x9Qa"}
	wecomGroup   = alert.Channel{ID: "c513", TeamID: 3, Kind: alert.WeCom, Name: "门店运营", Hint: "qyapi.weixin.qq.com …e0b2"}
	mailGroup    = alert.Channel{ID: "d624", TeamID: 1, Kind: alert.Email, Name: "ops", To: []string{"ops@example.com"}}
	dingtalkGone = alert.Channel{ID: "e735", TeamID: 1, Kind: alert.DingTalk, Name: "财务共享中心", Hint: "oapi.dingtalk.com …55d0", OffAt: ago(15 * time.Hour), OffWhy: "310000 · sign not match"}
)

// alertExamples are the tabs of the alerts, an incident and the form of a
// silence.
func alertExamples() []Example {
	top := AlertsTop{Firing: 5, Rules: 14, Channels: 5, Silences: 2, MaySilence: true, MayRule: true, MayChannel: true}
	now := AlertsNowPage{AlertsTop: top, Firing: firingSample(), Pending: pendingSample(), Over: overSample()[:3], Silent: silentSample()[:1], Listening: []alert.Channel{feishuGroup}, MayListen: true, Broken: 1}
	quiet := AlertsNowPage{AlertsTop: top, Listening: []alert.Channel{feishuGroup, slackGroup, mailGroup}, MayListen: true}
	quiet.Firing, quiet.AlertsTop.Firing, quiet.Silences = nil, 0, 0
	unheard := AlertsNowPage{AlertsTop: AlertsTop{Rules: 7, MaySilence: true, MayRule: true}, Unheard: true, MayListen: true}
	return append([]Example{
		{Name: "alerts", Component: AlertsNowTab(now)},
		{Name: "alerts-quiet", Component: AlertsNowTab(quiet)},
		{Name: "alerts-unheard", Component: AlertsNowTab(unheard)},
		{Name: "alerts-no-team", Component: AlertsNowTab(AlertsNowPage{NoTeam: true})},
		{Name: "alerts-rules", Component: AlertsRulesTab(RulesPage{AlertsTop: top, Rows: rulesSample()})},
		{Name: "alerts-rules-none", Component: AlertsRulesTab(RulesPage{AlertsTop: AlertsTop{MayRule: true}})},
		{Name: "alerts-channels", Component: AlertsChannelsTab(ChannelsPage{AlertsTop: top, Rows: channelsSample()})},
		{Name: "alerts-channels-none", Component: AlertsChannelsTab(ChannelsPage{AlertsTop: AlertsTop{MayChannel: true}})},
		{Name: "alerts-silences", Component: AlertsSilencesTab(SilencesPage{AlertsTop: top, Active: silentSample()[:1], Coming: silentSample()[1:3], Ended: silentSample()[3:]})},
		{Name: "alerts-silences-none", Component: AlertsSilencesTab(SilencesPage{AlertsTop: AlertsTop{MaySilence: true}})},
		{Name: "alerts-history", Component: AlertsHistoryTab(HistoryPage{AlertsTop: top, Rows: overSample(), Older: "x"})},
		{Name: "alerts-history-none", Component: AlertsHistoryTab(HistoryPage{AlertsTop: top, Query: HistoryQuery{Rule: 4}, Rule: "Run too long"})},
	}, append(incidentExamples(), silenceFormExamples()...)...)
}

func taskSubject(code, name string) alert.Subject {
	return alert.Subject{Kind: alert.TaskSubject, Key: code, Name: name}
}

func firingSample() []IncidentRow {
	member := func(s alert.Subject) []alert.Member { return []alert.Member{{Subject: s, Level: alert.P1}} }
	row := func(i alert.Incident, team string, to ...alert.Channel) IncidentRow {
		i.State, i.OpenedAt = alert.Firing, i.Since
		return IncidentRow{Incident: i, Team: team, To: to, MayTouch: true, MaySilence: true}
	}
	rate := row(alert.Incident{ID: "i1", RuleID: 1, RuleName: "Success rate", Metric: alert.SuccessRate, Level: alert.P1, Threshold: 99, Value: 97.84, Worst: 96.1, Since: ago(12 * time.Minute), Told: 2,
		Members: member(alert.Subject{Kind: alert.ScopeSubject, Key: "all:"})}, "Payments", feishuGroup)
	forty := row(alert.Incident{ID: "i2", RuleID: 2, RuleName: "Failures in a row", Metric: alert.InARow, Level: alert.P1, Threshold: 3, Value: 7, Worst: 7, Since: ago(9 * time.Minute), Host: "pay-gw.internal",
		Members: fortyTasks(), Everyone: 41, Told: 1}, "Payments", feishuGroup, slackGroup, mailGroup)
	node := row(alert.Incident{ID: "i3", RuleID: 3, RuleName: "Node offline", Metric: alert.NodeOffline, Level: alert.P1, Threshold: 15, Value: 1396, Since: ago(23 * time.Minute), Told: 1, AckedBy: "ops-lead", AckedAt: ago(22 * time.Minute), Assignee: "ops-night",
		Members: member(alert.Subject{Kind: alert.NodeSubject, Key: "n1", Name: "wk-sg-2:4127"})}, "", slackGroup)
	queue := row(alert.Incident{ID: "i4", RuleID: 4, RuleName: "Queue depth", Metric: alert.QueueDepth, Level: alert.P2, Threshold: 10_000, Value: 12_400, Since: ago(4 * time.Minute),
		Members: member(alert.Subject{Kind: alert.QueueSubject, Key: "default"})}, "")
	queue.Unheard = true
	missed := row(alert.Incident{ID: "i5", RuleID: 5, RuleName: "Expected run missing", Metric: alert.MissedRun, Level: alert.P2, Threshold: 15, Value: 92, Since: ago(92 * time.Minute), Silenced: true,
		Members: member(taskSubject("store.stock-snapshot", "Store stock snapshot 门店库存快照"))}, "Store operations 门店运营", wecomGroup)
	return []IncidentRow{rate, forty, node, queue, missed}
}

func fortyTasks() []alert.Member {
	out := make([]alert.Member, 40)
	for i := range out {
		out[i] = alert.Member{
			Subject: taskSubject(fmt.Sprintf("billing.settle-%02d", i+1), fmt.Sprintf("Settlement of shard %d 清算分片", i+1)), Value: float64(max(7-i/3, 3)), Since: ago(9 * time.Minute),
			Detail: "dial tcp 10.4.0.17:443: connect: connection refused", Instance: "0193868e-2f40-7c11-9a02-6b1fd2f0c7e1", Owner: "ledger-dev", Level: alert.P1,
		}
	}
	return out
}

func pendingSample() []IncidentRow {
	return []IncidentRow{{Team: "Payments", Incident: alert.Incident{ID: "p1", RuleName: "Trigger lag", Metric: alert.TriggerLag, State: alert.Pending, Value: 6, Threshold: 5, Since: ago(20 * time.Second),
		Members: []alert.Member{{Subject: alert.Subject{Kind: alert.ScopeSubject, Key: "all:"}}}}}}
}

func overSample() []IncidentRow {
	row := func(i alert.Incident, team string, lasted time.Duration) IncidentRow {
		i.State, i.EndedAt = alert.Over, i.Since.Add(lasted)
		return IncidentRow{Incident: i, Team: team}
	}
	queue := row(alert.Incident{ID: "o1", RuleID: 4, RuleName: "Queue depth", Metric: alert.QueueDepth, Level: alert.P1, Threshold: 10_000, Worst: 18_920, Since: ago(5*time.Hour + 20*time.Minute), Told: 2, AckedBy: "ops-lead", AckedAt: ago(5 * time.Hour),
		Members: []alert.Member{{Subject: alert.Subject{Kind: alert.QueueSubject, Key: "marketplace"}}}}, "", 19*time.Minute)
	row2 := row(alert.Incident{ID: "o2", RuleID: 2, RuleName: "Failures in a row", Metric: alert.InARow, Level: alert.P2, Threshold: 3, Worst: 4, Since: ago(16 * time.Hour), Told: 1,
		Members: []alert.Member{{Subject: taskSubject("fx.rates-ecb", "ECB rates")}}}, "Payments", 6*time.Minute)
	gone := row(alert.Incident{ID: "o3", RuleID: 9, RuleName: "Open dead letters", Metric: alert.OpenLetters, Level: alert.P2, Threshold: 10, Worst: 31, Since: ago(22 * time.Hour), EndedBy: "rule"}, "Payments", 3*time.Hour)
	offline := row(alert.Incident{ID: "o4", RuleID: 3, RuleName: "Node offline", Metric: alert.NodeOffline, Level: alert.P2, Threshold: 15, Worst: 240, Since: ago(3 * 24 * time.Hour), Told: 2, Everyone: 3,
		Members: []alert.Member{{Subject: alert.Subject{Kind: alert.NodeSubject, Key: "n", Name: "wk-bj-3:118"}}}}, "", 4*time.Minute)
	return []IncidentRow{queue, row2, gone, offline}
}

func rulesSample() []RuleRow {
	rule := func(id int64, name string, m alert.Metric, threshold float64, team string, v alert.Value, times, acted int, more func(*alert.Rule)) RuleRow {
		r := alert.Rule{ID: id, Name: name, Metric: m, Threshold: threshold, Scope: alert.Scope{Kind: alert.All}, Level: alert.P2, Enabled: true}
		if more != nil {
			more(&r)
		}
		return RuleRow{Rule: r, Team: team, Value: v, Count: alert.Count30{Times: times, Acted: acted}, MayEdit: team != ""}
	}
	known := func(v float64, n int, of alert.Subject) alert.Value {
		return alert.Value{Value: v, Known: true, N: n, Of: of}
	}
	all := alert.Subject{Kind: alert.ScopeSubject, Key: "all:"}
	long := func(r *alert.Rule) { r.Scope, r.Least = alert.Scope{Kind: alert.OfTag, Value: "critical"}, 20 }
	rows := []RuleRow{
		rule(1, "Success rate", alert.SuccessRate, 99, "Payments", known(97.84, 1, all), 4, 3, func(r *alert.Rule) { r.Level, r.Window = alert.P1, 15*time.Minute }),
		rule(4, "Queue depth", alert.QueueDepth, 10_000, "", known(12_400, 1, alert.Subject{Kind: alert.QueueSubject, Key: "default"}), 2, 2, func(r *alert.Rule) { r.Level, r.For = alert.P1, 5*time.Minute }),
		rule(6, "Trigger lag", alert.TriggerLag, 5, "Payments", known(0.212, 0, all), 0, 0, func(r *alert.Rule) { r.Window, r.For = 5*time.Minute, 3*time.Minute }),
		rule(2, "Failures in a row", alert.InARow, 3, "Payments", known(7, 40, taskSubject("billing.settle-01", "Settlement of shard 1 清算分片")), 19, 11, func(r *alert.Rule) { r.Level = alert.ByTask }),
		rule(7, "Open dead letters", alert.OpenLetters, 40, "Payments", known(23, 0, all), 1, 1, nil),
		rule(8, "Clock offset", alert.ClockOffset, 5, "", known(1.8, 0, alert.Subject{Kind: alert.NodeSubject, Key: "n1", Name: "wk-bj-3:118"}), 6, 0, nil),
		rule(9, "Run too long", alert.RunTooLong, 3, "Payments", alert.Value{}, 31, 2, long),
		rule(10, "Redis memory", alert.RedisMemory, 80, "", alert.Value{}, 0, 0, func(r *alert.Rule) {
			r.Broken, r.BrokenAt = "read redis_memory: dial tcp 127.0.0.1:6379: connect: connection refused", ago(3*time.Minute)
		}),
		rule(11, "Calendar without data", alert.CalendarEnds, 30, "Payments", known(395, 0, alert.Subject{Kind: alert.CalendarSubject, Key: "cn", Name: "China"}), 0, 0, nil),
		rule(12, "Retries of fx", alert.Failures, 5, "Payments", alert.Value{}, 2, 0, func(r *alert.Rule) { r.Enabled, r.Window = false, time.Hour }),
	}
	return rows
}

func channelsSample() []ChannelRow {
	sent := func(s alert.DeliveryState, at time.Time, tries int, a alert.Answer) *alert.Delivery {
		return &alert.Delivery{State: s, SentAt: at, Tries: tries, Answer: a, DueAt: GalleryViewer(English, "light").Now.Add(3 * time.Minute)}
	}
	return []ChannelRow{
		{Channel: feishuGroup, Team: "Payments", Told: 2, MayManage: true, Last: sent(alert.Delivered, ago(12*time.Minute), 1, alert.Answer{Status: 200, Code: "0", Body: `{"code":0,"msg":"success"}`})},
		{Channel: slackGroup, Told: 1, Last: sent(alert.Delivered, ago(22*time.Minute), 1, alert.Answer{Status: 200, Body: "ok"})},
		{Channel: wecomGroup, Team: "Store operations 门店运营", Told: 1, MayManage: true, Last: sent(alert.Waiting, ago(30*time.Minute), 3, alert.Answer{Status: 200, Code: "45009", Body: "api freq out of limit"})},
		{Channel: mailGroup, Team: "Payments", MayManage: true, Tested: &alert.Answer{Verdict: alert.Accepted, Status: 250, Body: "2.0.0 queued", Took: 184 * time.Millisecond}},
		{Channel: dingtalkGone, Team: "Payments", Told: 1, MayManage: true, Last: sent(alert.Refused, ago(15*time.Hour), 1, alert.Answer{Code: "310000", Body: "sign not match"})},
	}
}

func silentSample() []SilenceRow {
	base := func(s alert.Silence, team string) SilenceRow {
		s.CreatedBy = "ops-night"
		return SilenceRow{Silence: s, Team: team, MayEnd: true}
	}
	now := GalleryViewer(English, "light").Now
	active := base(alert.Silence{ID: 1, Scope: alert.Scope{Kind: alert.OfTask, Value: "store.stock-snapshot"}, Reason: "NTP is being moved"}, "Payments")
	active.Until, active.Rule = now.Add(3*time.Hour+28*time.Minute), "Expected run missing"
	weekly := base(alert.Silence{ID: 2, Scope: alert.Scope{Kind: alert.OfTag, Value: "gateway"}, Cron: "0 3 * * 3", Zone: "Asia/Shanghai", Lasts: time.Hour, Reason: "Gateway maintenance", Hold: true}, "Payments")
	weekly.Next = now.Add(6*24*time.Hour + 12*time.Hour)
	release := base(alert.Silence{ID: 3, Scope: alert.Scope{Kind: alert.All}, Reason: "Release 4.2"}, "")
	release.Next = now.Add(5 * time.Hour)
	over := base(alert.Silence{ID: 4, Scope: alert.Scope{Kind: alert.All}, Reason: "Switch was replaced", EndedAt: ago(26 * time.Hour)}, "Payments")
	over.MayEnd = false
	return []SilenceRow{active, weekly, release, over}
}

func incidentExamples() []Example {
	forty := firingSample()[1]
	rule := rulesSample()[3].Rule
	told := []ToldLine{
		{Channel: feishuGroup, Delivery: alert.Delivery{Kind: alert.Opened, State: alert.Delivered, CreatedAt: ago(8 * time.Minute), Tries: 1, Answer: alert.Answer{Status: 200, Body: `{"code":0,"msg":"success"}`}}},
		{Channel: slackGroup, Delivery: alert.Delivery{Kind: alert.Opened, State: alert.Waiting, CreatedAt: ago(8 * time.Minute), Tries: 4, Answer: alert.Answer{Status: 503, Body: "upstream connect error"}}},
		{Delivery: alert.Delivery{Kind: alert.Opened, State: alert.Refused, CreatedAt: ago(8 * time.Minute), Tries: 1, Answer: alert.Answer{Code: "310000", Body: "sign not match"}}},
	}
	forty.OpenedAt, forty.ToldFirst, forty.ToldAt = ago(8*time.Minute+50*time.Second), ago(8*time.Minute+40*time.Second), ago(8*time.Minute+40*time.Second)
	p := IncidentPage{IncidentRow: forty, Rule: &rule, Told: told, ToldAll: true, People: []string{"ledger-dev", "ops-night"}, Audit: "/audit?object=incident"}
	many := p
	many.Members = nil
	for i := range 260 {
		many.Members = append(many.Members, alert.Member{Subject: taskSubject(fmt.Sprintf("etl.part-%03d", i+1), ""), Value: 4, Level: alert.P2, Since: ago(time.Hour)})
	}
	many.Host, many.From, many.Silenced, many.AckedBy, many.AckedAt = "", 100, true, "ops-lead", ago(3*time.Minute)
	over := IncidentPage{IncidentRow: overSample()[0], Rule: &rulesSample()[1].Rule}
	over.OpenedAt, over.ToldFirst, over.ToldAt, over.Quiets = over.Since.Add(time.Minute), over.Since.Add(time.Minute), over.Since.Add(10*time.Minute), 2
	over.To = []alert.Channel{slackGroup}
	gone := IncidentPage{IncidentRow: overSample()[2]}
	refused := p
	refused.Note, refused.Assignee = strings.Repeat("The gateway’s certificate ran out. ", 3), "ledger-dev"
	refused.Errors = []fault.FieldError{fault.Field("note", "At most %d characters; this has %d", 2000, 2104)}
	return []Example{
		{Name: "incident", Component: Incident(p)}, {Name: "incident-many", Component: Incident(many)}, {Name: "incident-over", Component: Incident(over)},
		{Name: "incident-rule-gone", Component: Incident(gone)}, {Name: "incident-refused", Component: Incident(refused)},
	}
}

func silenceFormExamples() []Example {
	now := GalleryViewer(English, "light").Now
	p := SilenceFormPage{
		Teams: []access.Team{{ID: 1, Code: "payments", Name: "Payments"}}, MayHold: true, Rules: []alert.Rule{rulesSample()[3].Rule, rulesSample()[1].Rule}, Zones: []string{"Asia/Shanghai", "UTC"},
		Names:   []string{"billing.settle-01", "gateway"},
		Values:  SilenceValues{Team: "payments", What: string(alert.OfTask), Value: "billing.settle-01", Rule: "2", Length: "3600", Zone: "Asia/Shanghai"},
		Preview: SilencePreview{Silence: alert.Silence{Scope: alert.Scope{Kind: alert.OfTask, Value: "billing.settle-01"}, StartsAt: now, EndsAt: now.Add(time.Hour)}, Tasks: 1, Firing: 1},
	}
	again := p
	again.Values = SilenceValues{Team: "payments", What: string(alert.OfTag), Value: "gateway", Length: SilenceAgain, Cron: "0 3 * * 3", Zone: "Asia/Shanghai", Lasts: "60", Reason: "Gateway maintenance", Hold: true}
	again.Preview = SilencePreview{Silence: alert.Silence{Scope: alert.Scope{Kind: alert.OfTag, Value: "gateway"}, StartsAt: now, Cron: "0 3 * * 3", Zone: "Asia/Shanghai", Lasts: time.Hour}, Tasks: 12,
		Next: []time.Time{now.Add(6*24*time.Hour + 12*time.Hour + 28*time.Minute), now.Add(13*24*time.Hour + 12*time.Hour + 28*time.Minute)}}
	refused := p
	refused.Values = SilenceValues{Team: "payments", What: string(alert.All), Length: SilenceUntil, EndsAt: "2026-12-01T09:00"}
	refused.Preview = SilencePreview{}
	refused.Errors = []fault.FieldError{fault.Field("ends_at", "It must end after it begins, and after now"), fault.Field("reason", "Why is it silent? Others want to know")}
	return []Example{
		{Name: "silence-form", Component: SilenceForm(p)}, {Name: "silence-form-again", Component: SilenceForm(again)}, {Name: "silence-form-refused", Component: SilenceForm(refused)},
	}
}
