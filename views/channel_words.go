package views

import (
	"context"
	"strconv"
	"strings"

	"ax/app/alert"
	"ax/views/ui"
)

// channelKind is what a person reads of a kind of channel.
type channelKind struct {
	name string
	say  string // one line
	how  string // where its address is found; "" of e-mail
	pace string // what the robot takes, and what becomes of more
}

// channelKinds are the channels in plain words.
var channelKinds = map[alert.ChannelKind]channelKind{
	alert.Feishu: {msg("Feishu"), msg("A robot of a group, with a card."),
		msg("In the group: Settings › Bots › Add Bot › Custom Bot. Copy its webhook address; with “signature verification” also the key."),
		msg("A robot takes 100 messages a minute. More of them wait, and go as one.")},
	alert.DingTalk: {msg("DingTalk"), msg("A robot of a group."),
		msg("In the group: Settings › Bots › Add Robot › Custom. Choose “additional signature”, then copy the address and the key that begins with SEC."),
		msg("A robot takes 20 messages a minute. More of them wait, and go as one.")},
	alert.WeCom: {msg("WeCom"), msg("A robot of a group."),
		msg("In the group: Settings › Group Robots › Add. Copy its webhook address."),
		msg("A robot takes 20 messages a minute. More of them wait, and go as one.")},
	alert.Slack: {msg("Slack"), msg("An incoming webhook of a channel."),
		msg("In the settings of your Slack app: Incoming Webhooks › Add New Webhook to Workspace. Copy its address."),
		msg("Slack takes one message a second. More of them wait, and go as one.")},
	alert.Teams: {msg("Microsoft Teams"), msg("A workflow of a channel."),
		msg("In the channel: Workflows › Post to a channel when a webhook request is received. Copy its address."),
		msg("More than a few messages a second wait, and go as one.")},
	alert.Webhook: {msg("Webhook"), msg("A program of yours gets signed JSON."),
		msg("Any address that takes a POST and answers 2xx."),
		msg("Each message goes by itself, those of one object in order, at least once.")},
	alert.Email: {msg("E-mail"), msg("One or more addresses."), "",
		msg("Messages that wait go as one.")},
}

// kindName of a channel: brands are the same in both languages, the Chinese
// ones go by their Chinese names there.
func kindName(ctx context.Context, k alert.ChannelKind) string {
	x, ok := channelKinds[k]
	if !ok {
		return string(k)
	}
	return t(ctx, x.name)
}

// signs tells whether messages to the kind can be signed with a key.
func signs(k alert.ChannelKind) bool {
	return k == alert.Feishu || k == alert.DingTalk || k == alert.Webhook
}

// calls tells whether messages to the kind can call people by name.
func calls(k alert.ChannelKind) bool { return k != alert.Webhook && k != alert.Email }

func mentionOptions(ctx context.Context) []ui.Option {
	return []ui.Option{
		{Value: string(alert.MentionOwner), Label: t(ctx, "The owner of the task")},
		{Value: string(alert.MentionAll), Label: t(ctx, "Everybody")},
		{Value: string(alert.MentionNobody), Label: t(ctx, "Nobody")},
	}
}

// eventWord says what an event is.
func eventWord(ctx context.Context, e alert.EventType) string {
	switch e {
	case alert.InstanceFinished:
		return t(ctx, "An instance has finished")
	case alert.LetterOpened:
		return t(ctx, "A dead letter was opened")
	case alert.LetterSolved:
		return t(ctx, "A dead letter was solved")
	case alert.IncidentOpened:
		return t(ctx, "An incident was opened")
	case alert.IncidentClosed:
		return t(ctx, "An incident is over")
	case alert.DigestDaily:
		return t(ctx, "Daily summary")
	case alert.DigestWeekly:
		return t(ctx, "Weekly review of dead letters")
	}
	return string(e)
}

// kindOfMessage says why somebody was told.
func kindOfMessage(ctx context.Context, k alert.MessageKind) string {
	switch k {
	case alert.Opened:
		return t(ctx, "opened|message")
	case alert.Repeated:
		return t(ctx, "still so")
	case alert.Grown:
		return t(ctx, "grew")
	case alert.Escalated:
		return t(ctx, "escalated")
	case alert.Closed:
		return t(ctx, "over|message")
	case alert.Test:
		return t(ctx, "test|message")
	case alert.Summing:
		return t(ctx, "summary|message")
	case alert.Event:
		return t(ctx, "event|message")
	case alert.Ran:
		return t(ctx, "end of a run|message")
	}
	return string(k)
}

// deliveryState is how a message on its way is shown.
func deliveryState(ctx context.Context, d alert.Delivery) ui.State {
	switch {
	case d.MergedInto != "":
		return ui.State{Icon: "stack-2", Class: "ok", Word: t(ctx, "Merged")}
	case d.State == alert.Delivered:
		return ui.State{Icon: "circle-check", Class: "ok", Word: t(ctx, "Delivered")}
	case d.State == alert.Refused:
		return ui.State{Icon: "circle-x", Class: "fail", Word: t(ctx, "Given up")}
	case d.Tries > 0:
		return ui.State{Icon: "repeat", Class: "retry", Word: t(ctx, "Retrying")}
	}
	return ui.State{Icon: "hourglass", Class: "idle", Word: t(ctx, "Waiting")}
}

// answerCode is what came back, in a word: the robot's own code decides.
func answerCode(ctx context.Context, a alert.Answer) string {
	switch {
	case a.Code != "":
		return a.Code
	case a.Status != 0:
		return strconv.Itoa(a.Status)
	case a.Verdict != "":
		return t(ctx, "no answer")
	}
	return ""
}

// advice says what to do about an answer that is known; "" for others.
func advice(ctx context.Context, k alert.ChannelKind, a alert.Answer) string {
	body := strings.ToLower(a.Body)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(body, w) {
				return true
			}
		}
		return false
	}
	switch {
	case a.Verdict == alert.Accepted || a.Verdict == "":
		return ""
	case k == alert.Feishu && a.Code == "19021", k == alert.DingTalk && a.Code == "310000" && has("sign", "timestamp"):
		return t(ctx, "Paste the key from the robot’s security page again. If it is right, the clock of this node is off: see the nodes.")
	case k == alert.Feishu && a.Code == "19024", k == alert.DingTalk && a.Code == "310000" && has("keyword"):
		return t(ctx, "The robot only takes messages with its keywords. Add the keyword ax, or choose signing instead.")
	case k == alert.Feishu && a.Code == "19022", k == alert.DingTalk && a.Code == "310000" && has("whitelist", "ip "):
		return t(ctx, "The robot takes messages from listed addresses only. Add that of the nodes, or choose signing instead.")
	case k == alert.Feishu && (a.Code == "19001" || a.Code == "9499"), k == alert.DingTalk && (a.Code == "300001" || a.Code == "300005" || a.Code == "400101" || a.Code == "400106"),
		k == alert.WeCom && (a.Code == "93000" || a.Code == "93008"), k == alert.Slack && has("no_service", "invalid_token", "channel_not_found"):
		return t(ctx, "The robot is gone, or the address is incomplete. Copy the address again.")
	case a.Status == 429, a.Verdict == alert.Again && has("too much", "too fast"):
		return t(ctx, "It was sent too much. Wait a minute; nothing is lost.")
	case a.Status == 401 || a.Status == 403:
		return t(ctx, "The receiver doesn’t let ax in: address or key are wrong.")
	case a.Status == 404 || a.Status == 410:
		return t(ctx, "There is nothing at this address any more. Copy it again.")
	case a.Status == 0:
		return t(ctx, "No answer came. Is the address right, and may the nodes reach it?")
	}
	return ""
}
