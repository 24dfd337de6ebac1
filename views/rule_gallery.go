package views

import (
	"math"
	"strconv"
	"time"

	"ax/app/alert"
	"ax/app/fault"
)

func sampleChannels() []alert.Channel {
	return []alert.Channel{
		{ID: "5f1c0de2a4b8493f8a1be2c07d3f9a61", TeamID: 1, Kind: alert.Feishu, Name: "支付值班群", Language: "zh-CN", Mention: alert.MentionOwner, Hint: "open.feishu.cn …8c1d", Version: 3, ChangedBy: "ops-lead", ChangedAt: ago(30 * 24 * time.Hour)},
		{ID: "0a9e3f9a61c2de5f1cb8493f8a1be2c0", TeamID: 1, Kind: alert.DingTalk, Name: "财务共享中心", Language: "zh-CN", Mention: alert.MentionOwner, Hint: "oapi.dingtalk.com …3f9a", Version: 5, ChangedBy: "ops-lead", ChangedAt: ago(9 * 24 * time.Hour),
			Bad: "[{{level}}] {{rule}}\n{{scope}}：{{value}}，阈值 {{threshold}}\n开始于 {{since}} · 负责人 {{owner}}\n{{link}}", Good: "[已恢复] {{rule}}，历时 {{lasted}}\n{{link}}",
			OffAt: ago(39 * time.Hour), OffWhy: "the signature doesn't match: the key is wrong: sign not match"},
		{ID: "77aa3f9a61c2de5f1cb8493f8a1be2c0", TeamID: 1, Kind: alert.Webhook, Name: "status-page", Language: "en", Mention: alert.MentionNobody, Hint: "status.example.com", Version: 1, ChangedBy: "ops-lead", ChangedAt: ago(2 * time.Hour)},
		{ID: "88bb3f9a61c2de5f1cb8493f8a1be2c0", TeamID: 1, Kind: alert.Email, Name: "Payments by e-mail", Language: "en", Mention: alert.MentionNobody, To: []string{"pay-oncall@example.com", "finance@example.com"}, Version: 2, ChangedBy: "ops-lead", ChangedAt: ago(50 * time.Hour)},
	}
}

func sampleRule() alert.Rule {
	return alert.Rule{ID: 7, TeamID: 1, Name: "Success rate", Metric: alert.SuccessRate, Scope: alert.Scope{Kind: alert.All}, Threshold: 99, Window: 15 * time.Minute, Least: 50, For: 3 * time.Minute,
		Level: alert.P1, Repeat: 30 * time.Minute, Recovery: true, Enabled: true, Version: 4, ChangedBy: "ops-lead", ChangedAt: ago(12 * 24 * time.Hour)}
}

// sampleIncident of the sample rule.
func sampleIncident(began, acked time.Duration, by string, ended time.Duration) *alert.Incident {
	i := &alert.Incident{ID: "0193868e-2f40-7c11-9a02-6b1fd2f0c7e1", RuleID: 7, RuleName: "Success rate", Metric: alert.SuccessRate, State: alert.Firing, Level: alert.P1, Since: ago(began), OpenedAt: ago(began)}
	if by != "" {
		i.AckedBy, i.AckedAt = by, ago(began-acked)
	}
	if ended > 0 {
		i.State, i.EndedAt = alert.Over, ago(ended)
	}
	return i
}

func sampleTest() BackTest {
	const day = 24 * time.Hour
	b := BackTest{Asked: true, Metric: alert.SuccessRate, Threshold: 99, From: ago(30 * day), To: ago(0), Messages: 9, Acted: 3, Real: 4}
	dips := []struct {
		at, lasts time.Duration
		low       float64
	}{{600 * time.Hour, 5 * time.Hour, 98.1}, {353 * time.Hour, 3 * time.Hour, 98.3}, {172 * time.Hour, 6 * time.Hour, 95.7}, {12 * time.Minute, time.Hour, 97.8}}
	for h := 720; h >= 0; h -= 3 {
		at := time.Duration(h) * time.Hour
		value := 99.6 + 0.35*math.Sin(float64(h)*1.7)*math.Cos(float64(h)*0.31)
		for _, d := range dips {
			if at <= d.at+2*time.Hour && at >= d.at-d.lasts {
				value = d.low + 0.2*math.Sin(float64(h))
			}
		}
		b.Points = append(b.Points, TestPoint{At: ago(at), Value: value, Gap: h > 420 && h < 432})
	}
	b.Incidents = []TestIncident{
		{From: ago(600 * time.Hour), To: ago(600*time.Hour - 34*time.Minute), Worst: 98.1, Real: sampleIncident(600*time.Hour, 4*time.Minute, "pay-oncall", 599*time.Hour)},
		{From: ago(353 * time.Hour), To: ago(353*time.Hour - 18*time.Minute), Worst: 98.3, Real: sampleIncident(353*time.Hour, 0, "", 352*time.Hour)},
		{From: ago(172 * time.Hour), To: ago(172*time.Hour - 51*time.Minute), Worst: 95.7, Real: sampleIncident(172*time.Hour, 2*time.Minute, "ops-night", 171*time.Hour)},
		{From: ago(12 * time.Minute), Worst: 97.8, Real: sampleIncident(12*time.Minute, time.Minute, "pay-oncall", 0)},
	}
	use := func(threshold float64, window time.Duration) string {
		return "/alerts/rules/7?metric=success_rate&threshold=" + strconv.FormatFloat(threshold, 'f', -1, 64) + "&window_seconds=" + strconv.Itoa(int(window/time.Second))
	}
	b.Others = []OtherNumbers{
		{99.5, 15 * time.Minute, 11, 4, false, use(99.5, 15*time.Minute)},
		{99, 15 * time.Minute, 4, 3, true, ""},
		{99, time.Hour, 2, 2, false, use(99, time.Hour)},
		{98, 15 * time.Minute, 3, 3, false, use(98, 15*time.Minute)},
	}
	return b
}

func sampleRulePage() RulePage {
	r, channels := sampleRule(), sampleChannels()
	return RulePage{
		Stored: r, Team: Team{"payments", "Payments"}, MayEdit: true, Draft: &r, Channels: channels[:2],
		Values: RuleValues{Name: r.Name, Metric: r.Metric, ScopeKind: alert.All, Threshold: "99", Least: "50", Window: "900", For: "180", Repeat: "1800", Level: alert.P1, Recovery: true, Enabled: true,
			Tell: []RuleTell{{channels[0].ID, "0"}}, Version: 4},
		Anyway: []RuleListener{{Channel: channels[2]}, {Channel: channels[3], P1: true, After: 15 * time.Minute}, {Person: "ops-lead", Channel: channels[3]}},
		Now:    RuleNow{Known: true, Value: 97.84, Firing: sampleIncident(12*time.Minute, time.Minute, "pay-oncall", 0)},
		Test:   sampleTest(),
	}
}

// ruleExamples are the form as it stands, of a new rule, refused, without
// history, of the installation and for who may only read.
func ruleExamples() []Example {
	p := sampleRulePage()
	fresh := p
	blank := alert.Rule{TeamID: 1, Metric: alert.InARow, Scope: alert.Scope{Kind: alert.OfTag, Value: "critical"}, Threshold: 3, Level: alert.ByTask, Repeat: 30 * time.Minute}
	fresh.Stored, fresh.Now, fresh.Draft, fresh.Anyway = alert.Rule{}, RuleNow{}, &blank, nil
	fresh.Teams = []Team{{"payments", "Payments"}, {"marketplace", "Marketplace"}, {"", "The whole installation"}}
	fresh.Values = RuleValues{Metric: alert.InARow, ScopeKind: alert.OfTag, ScopeValue: "critical", Threshold: "3", For: "0", Repeat: "1800", Level: alert.ByTask, Recovery: true, Mention: true, Enabled: true}
	fresh.Tags = []string{"critical", "nightly"}
	fresh.Test = BackTest{Asked: true, Metric: alert.InARow, Threshold: 3, From: ago(720 * time.Hour), To: ago(0), Kept: ago(240 * time.Hour),
		Incidents: []TestIncident{{From: ago(50 * time.Hour), To: ago(49 * time.Hour), Worst: 5, Subject: "billing.settle-daily"}}, Messages: 2,
		Points: []TestPoint{{At: ago(240 * time.Hour), Value: 0}, {At: ago(52 * time.Hour), Value: 1}, {At: ago(50 * time.Hour), Value: 5}, {At: ago(48 * time.Hour), Value: 0}, {At: ago(0), Value: 0}}}
	refused := fresh
	refused.Draft, refused.Channels, refused.Test = nil, nil, BackTest{}
	refused.Values.Threshold, refused.Values.ScopeValue = "many", ""
	refused.Errors = []fault.FieldError{
		fault.Field("name", "A name is needed"), fault.Field("threshold", "%q is not a number", "many"), fault.Field("scope.value", "Which one? Its name is needed"),
	}
	house := p
	node := alert.Rule{ID: 2, Name: "Node offline", Metric: alert.NodeOffline, Scope: alert.Scope{Kind: alert.All}, Threshold: 15, Level: alert.P2, Repeat: 30 * time.Minute, Recovery: true, Enabled: true, Version: 1, ChangedBy: "ax", ChangedAt: ago(90 * 24 * time.Hour)}
	house.Stored, house.Draft, house.Team, house.MayEdit = node, &node, Team{}, false
	house.Values = RuleValues{Name: node.Name, Metric: node.Metric, ScopeKind: alert.All, Threshold: "15", For: "0", Repeat: "1800", Level: alert.P2, Recovery: true, Enabled: true, Version: 1}
	house.Now, house.Test, house.Channels = RuleNow{Known: true, Value: 2.1, Subject: "node-3"}, BackTest{NoHistory: true}, nil
	moved := p
	moved.Moved, moved.Now.Firing, moved.Stored.Broken, moved.Stored.BrokenAt = "pay-oncall changed the rule meanwhile: it is at version 5, you began from 4", nil, "read the task pulses: context deadline exceeded", ago(3*time.Minute)
	moved.Anyway, moved.Values.Tell, moved.Test = nil, nil, BackTest{Failed: "The ledger took too long. Try a shorter window."}
	return []Example{
		{Name: "rule", Component: RuleForm(p)},
		{Name: "rule-new", Component: RuleForm(fresh)},
		{Name: "rule-refused", Component: RuleForm(refused)},
		{Name: "rule-house", Component: RuleForm(house)},
		{Name: "rule-moved", Component: RuleForm(moved)},
		{Name: "rule-fields", Component: onPage(RuleFieldsPart(house))},
	}
}
