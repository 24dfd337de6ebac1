package views

import (
	"time"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/fault"
)

// accountExamples are the page as it stands, after refusals, and of somebody
// in no team.
func accountExamples() []Example {
	session := func(id, agent, address string, seen, begun time.Duration, this bool) access.OpenSession {
		return access.OpenSession{ID: id, This: this, Session: access.Session{
			Agent: agent, Address: address, SeenAt: ago(seen), CreatedAt: ago(begun), ExpiresAt: ago(begun - access.SessionAbsolute)}}
	}
	p := AccountPage{
		Person: access.Person{ID: 1, Login: "ops-lead", Name: "Li Wei 李伟", Email: "ops-lead@example.com"},
		Roles:  []TeamRole{{"Payments", access.Owner}, {"Marketplace", access.Viewer}, {"Store operations 门店运营", access.Operator}},
		Sessions: []access.OpenSession{
			session("6f1e09b2c4d5a783", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "10.8.2.14", 0, 6*time.Hour, true),
			session("91ab2c4d5e6f7081", "Mozilla/5.0 (iPhone; CPU iPhone OS 19_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.1 Mobile/15E148 Safari/604.1", "10.60.1.8", 41*time.Minute, 50*time.Hour, false),
			session("c0ffee4d5e6f7081", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36", "2001:db8:85a3:8d3:1319:8a2e:370:7348", 9*time.Hour, 166*time.Hour, false),
		},
		Values: access.Preferences{Language: "en", Zone: "Asia/Shanghai", Theme: "auto"},
		Zones:  []string{"Asia/Shanghai", "Europe/Berlin", "UTC"}, HomeZone: "UTC",
	}
	p.Reach = reachSample()
	return examplesOfAccount(p)
}

// examplesOfAccount are what the forms of the page answer.
func examplesOfAccount(p AccountPage) []Example {
	password, preferences, alone := p, p, p
	password.About, password.Errors = AboutPassword, []fault.FieldError{
		fault.Field("current", "This is not your present password"),
		fault.Field("password", "A password has %d to %d characters", access.MinPassword, access.MaxPassword),
		fault.Field("again", "The two are not the same"),
	}
	preferences.About, preferences.Values = AboutPreferences, access.Preferences{Zone: "Mars/Olympus"}
	preferences.Errors = []fault.FieldError{fault.Field("zone", "There is no zone %q", "Mars/Olympus")}
	on := access.SecondStep{UserID: 1, ConfirmedAt: ago(300 * 24 * time.Hour), UsedAt: ago(6 * time.Hour), Left: 7}
	p.SecondStep.SecondStep = on
	password.SecondStep.SecondStep = on
	begun, codes, refused := p, p, p
	begun.SecondStep = SecondStepPart{Begun: true, Setup: &access.SecondStepSetup{
		Secret: "JBSW Y3DP EHPK 3PXP JBSW Y3DP EHPK 3PXP",
		URI:    "otpauth://totp/ax.example.com:ops-lead?issuer=ax.example.com&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"}}
	codes.SecondStep.Codes = []string{"mzxw-6ytb-oi2d-g4lr", "jbsw-y3dp-ehpk-3pxp", "gezd-gnbv-gy3t-qojq"}
	refused.About, refused.Errors = AboutSecondStep, []fault.FieldError{fault.Field("code", "This code is wrong, or was used before")}
	late := refused
	late.SecondStep = SecondStepPart{Begun: true}
	alone.Roles, alone.Sessions = nil, p.Sessions[:1]
	alone.Person.Email, alone.Reach = "", Reach{NoServer: true, Other: ReachTeam{Key: OtherTeam}, Zone: "UTC"}
	reach := p
	reach.About, reach.Reach.ChatIDs = AboutChatIDs, map[alert.ChannelKind]string{alert.DingTalk: "1380", alert.Slack: "@li.wei"}
	reach.Errors = []fault.FieldError{fault.Field("slack", "A member id such as U012AB3CD; this is %q", "@li.wei")}
	mail := p
	mail.Person.Email, mail.About, mail.Reach.Zone, mail.Reach.NoServer = "", AboutMail, "Mars/Olympus", true
	mail.Errors = []fault.FieldError{fault.Field("person", "%s has no e-mail address", "ops-lead"), fault.Field("day_zone", "There is no time zone %q; write it as Asia/Shanghai", "Mars/Olympus")}
	through := alone
	through.NoPassword, through.Provider = true, "Example Corp 示例公司"
	return []Example{
		{Name: "account", Component: Account(p)},
		{Name: "account-password", Component: Account(password)},
		{Name: "account-preferences", Component: Account(preferences)},
		{Name: "account-alone", Component: Account(alone)},
		{Name: "account-provider", Component: Account(through)},
		{Name: "account-chat-ids", Component: Account(reach)},
		{Name: "account-mail", Component: Account(mail)},
		{Name: "account-step-begun", Component: Account(begun)},
		{Name: "account-step-codes", Component: Account(codes)},
		{Name: "account-step-refused", Component: Account(refused)},
		{Name: "account-step-late", Component: Account(late)},
		{Name: "login-code", Guest: true, Component: LoginCode(LoginCodePage{Host: "ax.example.com", Half: "h"})},
		{Name: "login-code-refused", Guest: true, Component: LoginCode(LoginCodePage{Host: "ax.example.com", Half: "h",
			Errors: []fault.FieldError{fault.Field("code", "This code is wrong, or was used before")}})},
	}
}

// reachSample is somebody who is told of two teams, and of a rule besides.
func reachSample() Reach {
	return Reach{
		ChatIDs: map[alert.ChannelKind]string{alert.Feishu: "ou_7d8a6e6df7621556ce0d21922b676706", alert.Slack: "U012AB3CD"},
		Teams: []ReachTeam{
			{Key: "1", Name: "Payments", OwnNews: alert.OwnNews{Team: "payments", Alerts: alert.P1, Daily: true, Weekly: true}},
			{Key: "2", Name: "Marketplace", OwnNews: alert.OwnNews{Team: "market"}},
			{Key: "3", Name: "Store operations 门店运营", OwnNews: alert.OwnNews{Team: "stores", Alerts: alert.Everything}},
		},
		Others: []Team{{Code: "ads", Name: "Advertising"}}, Other: ReachTeam{Key: OtherTeam}, Zone: "Asia/Shanghai",
		Also: []ReachAlso{{Team: "Payments", Subscribed: alert.Subscribed{Rule: "Success rate", Subscription: alert.Subscription{ID: 9, RuleID: 4, Level: alert.P1, After: 15 * time.Minute}}}},
	}
}
