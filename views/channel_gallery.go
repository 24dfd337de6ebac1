package views

import (
	"strings"
	"time"

	"ax/app/alert"
	"ax/app/fault"
)

const sampleDeliveryID = "0193868e-3a10-7d42-8b1c-52f0c7e19a02"

// sampleDeliveries are messages in every state, the latest first.
func sampleDeliveries() []alert.Delivery {
	message := func(rule string, metric alert.Metric, kind alert.MessageKind) alert.Message {
		return alert.Message{Kind: kind, Rule: rule, Metric: metric, Level: alert.P1, Team: "Payments", Value: 97.84, Threshold: 99, Since: ago(12 * time.Minute), At: ago(12 * time.Minute),
			Members: []alert.Member{{Subject: alert.Subject{Kind: alert.ScopeSubject, Key: "all"}, Value: 97.84}}, Count: 1, Path: "/alerts/incidents/0193868e-2f40-7c11-9a02-6b1fd2f0c7e1", Mention: []string{"ops-lead"}}
	}
	channels := sampleChannels()
	refused := alert.Answer{Verdict: alert.TurnOff, Status: 200, Code: "310000", Body: "the signature doesn't match: the key is wrong: sign not match", Took: 184 * time.Millisecond}
	fine := alert.Answer{Verdict: alert.Accepted, Status: 200, Body: `{"errcode":0,"errmsg":"ok"}`, Took: 172 * time.Millisecond}
	rate := message("Success rate", alert.SuccessRate, alert.Opened)
	over := message("Open dead letters", alert.OpenLetters, alert.Closed)
	over.Worst, over.Threshold, over.EndedAt = 43, 40, ago(60*time.Hour)
	event := alert.Message{Kind: alert.Event, Event: alert.LetterOpened, At: ago(time.Hour), Object: []byte(`{"id":9,"status":"open","task":"billing.settle-daily","biz_id":"@2026-12-02T06:20:00Z"}`)}
	return []alert.Delivery{
		{ID: "0193868e-9999-7d42-8b1c-52f0c7e19a02", TeamID: 1, ChannelID: channels[1].ID, Kind: alert.Repeated, Message: message("Success rate", alert.SuccessRate, alert.Repeated), State: alert.Waiting, CreatedAt: ago(20 * time.Second), DueAt: ago(20 * time.Second)},
		{ID: sampleDeliveryID, TeamID: 1, ChannelID: channels[1].ID, IncidentID: "0193868e-2f40-7c11-9a02-6b1fd2f0c7e1", Object: "incident/0193868e-2f40-7c11-9a02-6b1fd2f0c7e1", Kind: alert.Opened, Message: rate, State: alert.Refused, CreatedAt: ago(12 * time.Minute), DueAt: ago(12 * time.Minute), SentAt: ago(11 * time.Minute), EndedAt: ago(11 * time.Minute), Tries: 2, Answer: refused},
		{ID: "0193868e-7777-7d42-8b1c-52f0c7e19a02", TeamID: 1, ChannelID: channels[2].ID, Kind: alert.Event, Message: event, State: alert.Waiting, CreatedAt: ago(time.Hour), DueAt: ahead(4 * time.Minute), SentAt: ago(time.Minute), Tries: 7, Answer: alert.Answer{Verdict: alert.Again, Status: 503, Body: "<html><title>Service Unavailable</title>", Took: 30 * time.Second}},
		{ID: "0193868e-6666-7d42-8b1c-52f0c7e19a02", TeamID: 1, ChannelID: channels[0].ID, Kind: alert.Opened, Message: message("Failures in a row", alert.InARow, alert.Opened), State: alert.Delivered, MergedInto: sampleDeliveryID, CreatedAt: ago(2 * time.Hour), DueAt: ago(2 * time.Hour), Tries: 1},
		{ID: "0193868e-5555-7d42-8b1c-52f0c7e19a02", TeamID: 1, ChannelID: channels[0].ID, Kind: alert.Closed, Message: over, State: alert.Delivered, CreatedAt: ago(60 * time.Hour), DueAt: ago(60 * time.Hour), SentAt: ago(60 * time.Hour), EndedAt: ago(60 * time.Hour), Tries: 1, Answer: fine, ReplayOf: "0193868e-1111-7d42-8b1c-52f0c7e19a02"},
		{ID: "0193868e-4444-7d42-8b1c-52f0c7e19a02", TeamID: 1, ChannelID: "gone", Kind: alert.Test, Message: alert.Message{Kind: alert.Test, At: ago(90 * time.Hour)}, State: alert.Delivered, CreatedAt: ago(90 * time.Hour), DueAt: ago(90 * time.Hour), SentAt: ago(90 * time.Hour), EndedAt: ago(90 * time.Hour), Tries: 1, Answer: fine},
	}
}

func sampleChannelPage() ChannelPage {
	c := sampleChannels()[1]
	return ChannelPage{
		Stored: c, Team: Team{"payments", "Payments"}, MayEdit: true, MayTell: true, Base: "https://ax.example.com",
		Values: ChannelValues{Kind: c.Kind, Name: c.Name, Language: c.Language, Mention: c.Mention, Bad: c.Bad, Good: c.Good, Version: c.Version},
		Told: []ChannelTold{
			{ID: 1, Level: alert.P1, By: "ops-lead"},
			{ID: 2, RuleID: 7, Rule: "Success rate", After: 15 * time.Minute, By: "ops-lead"},
			{ID: 3, Events: []alert.EventType{alert.DigestWeekly}, Zone: "Asia/Shanghai", By: "ax"},
		},
		Telling: TellValues{What: TellAll, After: "0", Zone: "Asia/Shanghai"}, Zones: []string{"Asia/Shanghai", "Europe/Berlin", "UTC"},
		Rules: []alert.Rule{{ID: 3, Name: "Failures in a row"}, {ID: 7, Name: "Success rate"}}, Alone: []string{"Success rate", "月末结算"},
		Deliveries: sampleDeliveries()[:5],
	}
}

// channelExamples are the choice of a kind, the form of each, refused, off, a
// key just made, and for who may only read.
func channelExamples() []Example {
	p := sampleChannelPage()
	tested := p
	tested.Test = &p.Deliveries[1]
	kind := ChannelPage{Team: p.Team, Teams: []Team{{"payments", "Payments"}, {"", "The whole installation"}}, MayEdit: true}
	fresh := kind
	fresh.Base = p.Base
	fresh.Values = ChannelValues{Kind: alert.Feishu, Language: Chinese, Mention: alert.MentionAll}
	refused := fresh
	refused.Values = ChannelValues{Kind: alert.DingTalk, Name: "", URL: "http://oapi.dingtalk.com/robot/send", Language: English, Mention: alert.MentionOwner, Bad: "{{who}}"}
	refused.Errors = []fault.FieldError{
		fault.Field("name", "A name is needed"), fault.Field("url", "the address must begin with https://"),
		fault.Field("bad_text", "there is no {{%s}}; there are %s", "who", strings.Join(alert.TemplateNames(), ", ")),
	}
	mail := fresh
	mail.Values = ChannelValues{Kind: alert.Email, Language: English, To: "pay-oncall@example.com\nfinance@example.com"}
	hook := p
	hook.Stored = sampleChannels()[2]
	hook.Values = ChannelValues{Kind: alert.Webhook, Name: hook.Stored.Name, Language: English, Version: 1}
	hook.Key, hook.Told, hook.Deliveries, hook.Alone = "9f2c61d07c41e0b25b1b02fa9f02c61e7c41e0b25b1b02fa9f02c61e7c41e0b2", nil, nil, nil
	hook.Telling = TellValues{What: TellEvents, After: "0", Zone: "UTC", Events: []string{string(alert.LetterOpened)}}
	hook.TellErrors = []fault.FieldError{fault.Field("events", "Choose at least one event")}
	good := p.Deliveries[4]
	good.Kind, hook.Test = alert.Test, &good
	reader := p
	reader.MayEdit, reader.MayTell, reader.Stored.OffAt, reader.Stored.OffWhy = false, false, time.Time{}, ""
	moved := p
	moved.Moved = "pay-oncall changed the channel meanwhile: it is at version 6, you began from 5"
	return []Example{
		{Name: "channel", Component: ChannelForm(p)},
		{Name: "channel-tested", Component: ChannelForm(tested)},
		{Name: "channel-kind", Component: ChannelKindPage(kind)},
		{Name: "channel-new", Component: ChannelForm(fresh)},
		{Name: "channel-refused", Component: ChannelForm(refused)},
		{Name: "channel-mail", Component: ChannelForm(mail)},
		{Name: "channel-webhook", Component: ChannelForm(hook)},
		{Name: "channel-read", Component: ChannelForm(reader)},
		{Name: "channel-moved", Component: ChannelForm(moved)},
	}
}

// deliveryExamples are the log and messages in their states.
func deliveryExamples() []Example {
	rows, channels := sampleDeliveries(), sampleChannels()
	log := DeliveriesPage{Rows: rows, Channels: channels, Older: rows[5].ID, Kept: 30 * 24 * time.Hour}
	narrow := log
	narrow.Query = DeliveryQuery{Channel: "gone", State: alert.Refused, Incident: rows[1].IncidentID, After: rows[0].ID}
	narrow.Rows, narrow.Older, narrow.Newer = rows[1:2], "", rows[1].ID
	nothing := DeliveriesPage{Query: DeliveryQuery{State: alert.Refused}, Channels: channels}
	bad := DeliveriesPage{Errors: []fault.FieldError{fault.Field("", "There is no state %q", "gone")}, Query: DeliveryQuery{State: "gone"}}
	where := alert.Where{Base: "https://ax.example.com", Now: rows[1].SentAt, People: []alert.Person{{Login: "ops-lead", Name: "Li Wei 李伟"}}}
	refused := DeliveryPage{Delivery: rows[1], Channel: channels[1], Text: rows[1].Message.Text("zh-CN", where), MaySend: true}
	waiting := DeliveryPage{Delivery: rows[2], Channel: channels[2], Body: string(rows[2].Message.Object), MaySend: true}
	gone := DeliveryPage{Delivery: rows[4], Text: rows[4].Message.Text("en", where), MaySend: true}
	return []Example{
		{Name: "deliveries", Component: Deliveries(log)},
		{Name: "deliveries-narrow", Component: Deliveries(narrow)},
		{Name: "deliveries-none", Component: Deliveries(DeliveriesPage{})},
		{Name: "deliveries-nothing", Component: Deliveries(nothing)},
		{Name: "deliveries-refused", Component: Deliveries(bad)},
		{Name: "delivery", Component: DeliveryDetail(refused)},
		{Name: "delivery-waiting", Component: DeliveryDetail(waiting)},
		{Name: "delivery-gone", Component: DeliveryDetail(gone)},
	}
}
