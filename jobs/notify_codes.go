package jobs

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"ax/app/alert"
)

// robotCode is what a code in the body of a robot's answer means. The body
// decides, never the HTTP status: robots refuse with 200.
type robotCode struct {
	kind    alert.ChannelKind
	code    string
	with    string // in the robot's message, where one code says several things
	verdict alert.Verdict
	wait    time.Duration
	means   string
	source  string
}

// robotCodes are the codes that are known. Sources: "guide" is the vendor's
// page on custom robots, "codes" its list of error codes, "seen" what users
// report. A missing keyword is the fault of one message: another may hold it,
// so it doesn't switch the channel off.
var robotCodes = []robotCode{
	{alert.Feishu, "9499", "", alert.GiveUp, 0, "the robot can't read the message", "guide"},
	{alert.Feishu, "11232", "", alert.Again, time.Minute, "the robot was sent too much", "codes: 100 a minute, 5 a second"},
	{alert.Feishu, "11246", "", alert.GiveUp, 0, "the robot refuses the card", "codes"},
	{alert.Feishu, "19001", "", alert.TurnOff, 0, "the robot is gone, or the address is wrong", "guide: incoming webhook access token invalid"},
	{alert.Feishu, "19002", "", alert.GiveUp, 0, "the robot can't read the message", "seen: params error"},
	{alert.Feishu, "19021", "", alert.TurnOff, 0, "the signature doesn't match: the key is wrong, or the clock of this machine is more than an hour off", "guide: sign match fail or timestamp is not within one hour"},
	{alert.Feishu, "19022", "", alert.TurnOff, 0, "the robot doesn't take messages from this address", "guide: Ip Not Allowed"},
	{alert.Feishu, "19024", "", alert.GiveUp, 0, "the message has none of the robot's keywords", "guide: Key Words Not Found"},

	{alert.DingTalk, "-1", "", alert.Again, 0, "DingTalk is busy", "codes"},
	{alert.DingTalk, "40035", "", alert.GiveUp, 0, "the robot can't read the message", "codes"},
	{alert.DingTalk, "130101", "", alert.Again, 10 * time.Minute, "the robot was sent too much", "guide: send too fast, exceed 20 times per minute"},
	{alert.DingTalk, "410100", "", alert.Again, 10 * time.Minute, "the robot was sent too much", "guide"},
	{alert.DingTalk, "300001", "", alert.TurnOff, 0, "the robot is gone, or the address is wrong", "guide: token is not exist"},
	{alert.DingTalk, "300005", "", alert.TurnOff, 0, "the robot is gone, or the address is wrong", "seen: token is not exist"},
	{alert.DingTalk, "310000", "keywords", alert.GiveUp, 0, "the message has none of the robot's keywords", "guide: keywords not in content"},
	{alert.DingTalk, "310000", "sign", alert.TurnOff, 0, "the signature doesn't match: the key is wrong", "guide: sign not match"},
	{alert.DingTalk, "310000", "timestamp", alert.TurnOff, 0, "the clock of this machine is more than an hour off", "guide: invalid timestamp"},
	{alert.DingTalk, "310000", "whitelist", alert.TurnOff, 0, "the robot doesn't take messages from this address", "guide: ip X.X.X.X not in whitelist"},
	{alert.DingTalk, "310000", "", alert.TurnOff, 0, "the robot's safety rules refuse the message", "guide"},
	{alert.DingTalk, "400013", "", alert.TurnOff, 0, "the group is dissolved", "guide"},
	{alert.DingTalk, "400101", "", alert.TurnOff, 0, "the robot is gone, or the address is wrong", "guide: access_token does not exist"},
	{alert.DingTalk, "400102", "", alert.TurnOff, 0, "the robot is switched off", "guide"},
	{alert.DingTalk, "400105", "", alert.GiveUp, 0, "the robot doesn't take this type of message", "guide"},
	{alert.DingTalk, "400106", "", alert.TurnOff, 0, "the robot is gone", "guide"},
	{alert.DingTalk, "430101", "", alert.GiveUp, 0, "DingTalk takes a link for unsafe", "guide"},
	{alert.DingTalk, "430102", "", alert.GiveUp, 0, "DingTalk takes the text for improper", "guide"},
	{alert.DingTalk, "430104", "", alert.GiveUp, 0, "DingTalk takes the content for improper", "guide"},

	{alert.WeCom, "-1", "", alert.Again, 0, "WeCom is busy", "codes"},
	{alert.WeCom, "40008", "", alert.GiveUp, 0, "the robot doesn't take this type of message", "codes"},
	{alert.WeCom, "40058", "", alert.GiveUp, 0, "the robot can't read the message", "codes: invalid argument, such as a content over 4096 bytes"},
	{alert.WeCom, "44004", "", alert.GiveUp, 0, "the message is empty", "codes"},
	{alert.WeCom, "45002", "", alert.GiveUp, 0, "the message is too long", "codes"},
	{alert.WeCom, "45009", "", alert.Again, time.Minute, "the robot was sent too much", "codes: 20 a minute"},
	{alert.WeCom, "45033", "", alert.Again, 0, "the robot was sent too much at once", "codes"},
	{alert.WeCom, "93000", "", alert.TurnOff, 0, "the robot is gone from the group, or the address is wrong", "codes: invalid webhook url"},
	{alert.WeCom, "93004", "", alert.TurnOff, 0, "the robot is switched off", "codes"},
	{alert.WeCom, "93008", "", alert.TurnOff, 0, "the robot is not in the group", "codes"},

	{alert.Slack, "no_service", "", alert.TurnOff, 0, "the webhook was removed or switched off", "guide"},
	{alert.Slack, "no_service_id", "", alert.TurnOff, 0, "the webhook was removed", "guide"},
	{alert.Slack, "no_active_hooks", "", alert.TurnOff, 0, "the webhook is switched off", "guide"},
	{alert.Slack, "no_team", "", alert.TurnOff, 0, "the workspace is gone", "guide"},
	{alert.Slack, "team_disabled", "", alert.TurnOff, 0, "the workspace is switched off", "guide"},
	{alert.Slack, "invalid_token", "", alert.TurnOff, 0, "the address is wrong", "guide"},
	{alert.Slack, "action_prohibited", "", alert.TurnOff, 0, "an administrator of the workspace forbids it", "guide"},
	{alert.Slack, "posting_to_general_channel_denied", "", alert.TurnOff, 0, "the workspace doesn't let this webhook post to its general channel", "guide"},
	{alert.Slack, "channel_not_found", "", alert.TurnOff, 0, "the channel in Slack is gone", "guide"},
	{alert.Slack, "channel_is_archived", "", alert.TurnOff, 0, "the channel in Slack is archived", "guide"},
	{alert.Slack, "user_not_found", "", alert.GiveUp, 0, "Slack doesn't know a person who is called", "guide"},
	{alert.Slack, "invalid_payload", "", alert.GiveUp, 0, "Slack can't read the message", "guide"},
	{alert.Slack, "invalid_blocks", "", alert.GiveUp, 0, "Slack can't read the message", "seen"},
	{alert.Slack, "no_text", "", alert.GiveUp, 0, "the message is empty", "guide"},
	{alert.Slack, "too_many_attachments", "", alert.GiveUp, 0, "the message is too long", "guide"},
	{alert.Slack, "rate_limited", "", alert.Again, time.Second, "Slack was sent too much", "guide: one a second"},
	{alert.Slack, "rollup_error", "", alert.Again, 0, "Slack has a fault", "guide"},
}

// known finds what a robot's code means.
func known(kind alert.ChannelKind, code, message string) (robotCode, bool) {
	message = strings.ToLower(message)
	for _, c := range robotCodes {
		if c.kind == kind && c.code == code && strings.Contains(message, c.with) {
			return c, true
		}
	}
	return robotCode{}, false
}

// byCode judges a robot's answer in JSON: code 0 is accepted. A code that isn't
// known is tried again: it may pass, and a message that can't be taken is given
// up in a day. code is nil where the body isn't a robot's answer.
func byCode(kind alert.ChannelKind, r reply, code *json.Number, message string) alert.Answer {
	if code == nil {
		return noRobot(r)
	}
	a := alert.Answer{Code: code.String(), Verdict: alert.Again, Body: message}
	if a.Code == "0" {
		a.Verdict, a.Code, a.Body = alert.Accepted, "", said(r)
		return a
	}
	return meant(kind, a, message)
}

// meant fills in what the code of the answer means.
func meant(kind alert.ChannelKind, a alert.Answer, message string) alert.Answer {
	if c, ok := known(kind, a.Code, message); ok {
		a.Verdict, a.Wait, a.Body = c.verdict, c.wait, c.means+": "+message
	}
	return a
}

// noRobot is the answer when what came isn't a robot's: a page of a proxy or of
// a gateway, whatever its status. A robot that is too busy says so by status.
func noRobot(r reply) alert.Answer {
	a := byStatus(r)
	if r.status < 300 || r.status >= 400 && r.status != http.StatusGone {
		a.Verdict = alert.Again
	}
	if r.status != http.StatusTooManyRequests && r.status < 500 {
		a.Body = "this is no robot's answer: " + a.Body
	}
	return a
}
