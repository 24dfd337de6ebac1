package demo

import (
	"context"
	"fmt"
	"time"

	"ax/app/access"
	"ax/app/alert"
)

// casebook stores incidents with their messages, as the evaluator does, and
// what became of these, as a test message does.
type casebook interface {
	RecordIncident(ctx context.Context, c alert.IncidentChange, now time.Time) (bool, error)
	EndDelivery(ctx context.Context, d alert.Delivery) error
}

// AlertsOptions are what the demo's alerts need; all are required.
type AlertsOptions struct {
	Alerts alert.Services
	Cases  casebook
	By     access.Actor
	Team   access.Team
	Base   string        // of the target
	NewID  func() string // UUIDv7
	Now    time.Time
}

// FillAlerts sets who is told, and gives the team a past: incidents that are
// over, some of them acknowledged, with what was sent. What the demo's tasks
// break from now on comes by itself, from the rules that every team begins with.
func FillAlerts(ctx context.Context, o AlertsOptions) error {
	hook, err := o.channels(ctx)
	if err != nil {
		return fmt.Errorf("make the demo's channels: %w", err)
	}
	_, err = o.Alerts.Silences.Create(ctx, o.By, alert.SilenceSpec{
		Team: o.Team.Code, Scope: alert.Scope{Kind: alert.OfTag, Value: "search"}, Reason: "The search servers restart",
		Cron: "0 3 * * 3", Zone: "Asia/Shanghai", Lasts: 3600, Hold: true,
	})
	if err != nil {
		return fmt.Errorf("make the demo's maintenance window: %w", err)
	}
	rules, err := o.Alerts.Rules.List(ctx, o.By, access.Scope{Teams: []int64{o.Team.ID}})
	if err != nil {
		return fmt.Errorf("read the demo's rules: %w", err)
	}
	byMetric := map[alert.Metric]alert.Rule{}
	for _, r := range rules {
		byMetric[r.Metric] = r
	}
	for n, p := range past() {
		r, ok := byMetric[p.metric]
		if !ok {
			continue
		}
		if err := o.record(ctx, o.incident(n, r, p, hook)); err != nil {
			return fmt.Errorf("make a past incident of the demo: %w", err)
		}
	}
	return nil
}

// record stores the incident with its messages, which were delivered long ago.
func (o AlertsOptions) record(ctx context.Context, c alert.IncidentChange) error {
	if _, err := o.Cases.RecordIncident(ctx, c, o.Now); err != nil {
		return err
	}
	for _, d := range c.Deliveries {
		d.State, d.Tries, d.SentAt, d.EndedAt = alert.Delivered, 1, d.CreatedAt.Add(80*time.Millisecond), d.CreatedAt.Add(92*time.Millisecond)
		d.Answer = alert.Answer{Verdict: alert.Accepted, Status: 200, Body: `{"done":true}`, Took: 12 * time.Millisecond}
		if err := o.Cases.EndDelivery(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// channels makes one that works and is told of everything, and one that its
// robot refused.
func (o AlertsOptions) channels(ctx context.Context) (working string, err error) {
	hook, _, err := o.Alerts.Channels.Create(ctx, o.By, alert.ChannelSpec{Team: o.Team.Code, Kind: alert.Webhook, Name: "demo target", URL: o.Base + "/call/ok"})
	if err != nil {
		return "", err
	}
	for _, s := range []alert.SubscriptionSpec{
		{Team: o.Team.Code, ChannelID: hook.ID},
		{Team: o.Team.Code, ChannelID: hook.ID, Events: []alert.EventType{alert.LetterOpened, alert.LetterSolved}},
	} {
		if _, err := o.Alerts.Subscriptions.Create(ctx, o.By, s); err != nil {
			return "", err
		}
	}
	group, _, err := o.Alerts.Channels.Create(ctx, o.By, alert.ChannelSpec{
		Team: o.Team.Code, Kind: alert.Feishu, Name: "支付值班群", Language: "zh-CN",
		URL: "https://open.feishu.cn/open-apis/bot/v2/hook/0f0f0f0f-demo-demo-demo-000000007c41", Key: "not-the-key-of-the-robot",
	})
	if err != nil {
		return "", err
	}
	if _, err := o.Alerts.Subscriptions.Create(ctx, o.By, alert.SubscriptionSpec{Team: o.Team.Code, ChannelID: group.ID, Level: alert.P1}); err != nil {
		return "", err
	}
	_, err = o.Alerts.Channels.TurnOff(ctx, o.By, group.ID, "19021 sign match fail")
	return hook.ID, err
}

// bygone is an incident that is over.
type bygone struct {
	metric alert.Metric
	task   string // code; empty: of the rule's scope
	name   string
	worst  float64
	ago    time.Duration
	lasted time.Duration
	acked  time.Duration // after it opened; 0: nobody did
	note   string
}

// past is in the order in which lists show it: by when it was made.
func past() []bygone {
	const day = 24 * time.Hour
	return []bygone{
		{metric: alert.SuccessRate, worst: 88.2, ago: 26 * day, lasted: 34 * time.Minute, acked: 4 * time.Minute, note: "The gateway was redeployed"},
		{metric: alert.SuccessRate, worst: 93.1, ago: 17 * day, lasted: 12 * time.Minute},
		{metric: alert.SuccessRate, worst: 71.5, ago: 8 * day, lasted: 51 * time.Minute, acked: 2 * time.Minute, note: "Disk full on the journal's host"},
		{metric: alert.InARow, task: "billing.dunning", name: "Send payment reminders", worst: 9, ago: 6 * day, lasted: 40 * time.Minute, acked: 11 * time.Minute},
		{metric: alert.MissedRun, task: "billing.settle-daily", name: "Daily settlement run 每日清算", worst: 47, ago: 4 * day, lasted: 32 * time.Minute, acked: 6 * time.Minute},
		{metric: alert.OpenLetters, worst: 14, ago: 3 * day, lasted: 2 * time.Hour},
		{metric: alert.SuccessRate, worst: 90.4, ago: 2 * day, lasted: 23 * time.Minute, acked: 7 * time.Minute},
		{metric: alert.InARow, task: "ledger.post-journal", name: "Post journal entries", worst: 4, ago: 20 * time.Hour, lasted: 18 * time.Minute},
	}
}

// incident is one that opened, was told of, and is over.
func (o AlertsOptions) incident(n int, r alert.Rule, p bygone, channel string) alert.IncidentChange {
	since := o.Now.Add(-p.ago).UTC().Truncate(time.Second)
	opened := since.Add(r.For)
	i := alert.Incident{
		ID: o.NewID(), RuleID: r.ID, RuleName: r.Name, Metric: r.Metric, TeamID: o.Team.ID, Fingerprint: fmt.Sprintf("demo-%d", n),
		State: alert.Over, Level: alert.P2, Threshold: r.Threshold, Value: p.worst, Worst: p.worst,
		Since: since, OpenedAt: opened, EndedAt: since.Add(p.lasted), QuietSince: since.Add(p.lasted - time.Minute), Note: p.note,
		Members:  []alert.Member{{Subject: alert.Subject{Kind: alert.ScopeSubject, Key: "all:"}, Value: p.worst, Since: since, Level: alert.P2}},
		Everyone: 1, ToldAt: opened, ToldFirst: opened, TellAt: opened, Told: 1, ToldOf: 1,
	}
	if r.Level == alert.P1 {
		i.Level = alert.P1
	}
	if p.task != "" {
		i.Members[0].Subject = alert.Subject{Kind: alert.TaskSubject, Key: p.task, Name: p.name}
	}
	i.Members[0].Level = i.Level
	if p.acked > 0 {
		i.AckedAt, i.AckedBy, i.Assignee = opened.Add(p.acked), "demo", "demo"
	}
	return alert.IncidentChange{Is: i, Members: true, Deliveries: []alert.Delivery{
		o.told(i, channel, alert.Opened, opened), o.told(i, channel, alert.Closed, i.EndedAt),
	}}
}

// told is a message about an incident, of then.
func (o AlertsOptions) told(i alert.Incident, channel string, kind alert.MessageKind, at time.Time) alert.Delivery {
	id := o.NewID()
	m := alert.Message{
		ID: id, Kind: kind, At: at, IncidentID: i.ID, Rule: i.RuleName, Metric: i.Metric, Level: i.Level, Team: o.Team.Name,
		Value: i.Value, Worst: i.Worst, Threshold: i.Threshold, Since: i.Since, Members: i.Members, Count: 1, Path: "/alerts/incidents/" + i.ID,
	}
	if kind == alert.Closed {
		m.EndedAt = i.EndedAt
	}
	return alert.Delivery{
		ID: id, TeamID: i.TeamID, ChannelID: channel, IncidentID: i.ID, Object: "incident/" + i.ID, Dedupe: fmt.Sprintf("%s/%s/1", i.ID, kind),
		Kind: kind, Message: m, State: alert.Waiting, CreatedAt: at, DueAt: o.Now.Add(time.Hour), // not to be sent: it was
	}
}
