package app

// alertNotes tell of what makes rules, channels, subscriptions and silences.
func alertNotes() map[string]map[string]fieldNote {
	team := fieldNote{"Code of the owning team; left out: the installation, which only administrators may", "payments", ""}
	reason := fieldNote{"Why, at most 500 characters; kept in the audit", "Too loud", ""}
	version := fieldNote{"The version that was read: needed in a PUT, 409 when it is stale", 1, ""}
	return map[string]map[string]fieldNote{
		"RuleSpec": {
			"team": team, "reason": reason, "version": version,
			"name":           {"Unique in the team", "Success rate", ""},
			"metric":         {"What is measured; never changes", "success_rate", ""},
			"threshold":      {"In the metric's unit", 95, ""},
			"window_seconds": {"That windowed metrics look back over, 60 to 86,400", 3600, ""},
			"least":          {"Ended runs below which the metric says nothing", 20, ""},
			"for_seconds":    {"How long it must last, at most 3,600; 0: at once", 60, ""},
			"level":          {"p1 wakes people, p2 can wait, task is the task's own", "p1", "p1,p2,task"},
			"each_try":       {"Counts every failed attempt, not only what ended after its last retry", false, ""},
			"repeat_seconds": {"Between messages until somebody acknowledges; 0: never again", 1800, ""},
			"recovery":       {"Says when it is over", true, ""},
			"mention":        {"Mentions the owners of the tasks", true, ""},
			"enabled":        {"Left out: true for a new rule, unchanged for an old one", true, ""},
		},
		"ChannelSpec": {
			"team": team, "reason": reason, "version": version,
			"kind":      {"How it is reached; never changes", "webhook", "feishu,dingtalk,wecom,slack,teams,webhook,email"},
			"name":      {"Unique in the team", "On call", ""},
			"language":  {"Of messages: en or zh-CN", "en", ""},
			"mention":   {"Whom messages call by name: owner, all or nobody", "owner", ""},
			"url":       {"Nobody reads it again; left out of a PUT: the old one", "https://orders.example.com/ax", ""},
			"key":       {"That messages are signed with; nobody reads it again; left out of a PUT: the old one", nil, ""},
			"new_key":   {"Of a webhook: make another key", false, ""},
			"no_key":    {"Of a robot: it asks for no signature any more", false, ""},
			"to":        {"Of e-mail: at most 20 addresses", []string{"ops@example.com"}, ""},
			"bad_text":  {"Text when something breaks, with {{names}}; left out: ax's own", nil, ""},
			"good_text": {"Text when it is over; left out: ax's own", nil, ""},
		},
		"SubscriptionSpec": {
			"team": team, "reason": reason,
			"channel_id":    {"Channel of the team", "8c3f0d7e5b1a4f6c9e2d7a0b4c6e8f10", ""},
			"person":        {"Instead of a channel: login of a member, by e-mail", "li.na", ""},
			"rule_id":       {"Left out: every rule, or events", 7, ""},
			"events":        {"Instead of rules: events for webhooks, digest.daily and digest.weekly for every channel", []string{"instance.finished"}, ""},
			"level":         {"p1: of such alone; left out: of both", "p1", ""},
			"after_seconds": {"Told only when nobody has acknowledged for so long, 60 to 86,400", 900, ""},
			"zone":          {"Of digests: in which zone the day begins", "Asia/Shanghai", ""},
		},
		"SilenceSpec": {
			"team":          {"Code of the team; left out: every team, which only administrators may", "payments", ""},
			"rule_id":       {"Left out: every rule", 7, ""},
			"reason":        {"Why it is silent; needed", "Release 4.2", ""},
			"starts_at":     {"Left out: now", "2026-12-24T18:00:00+08:00", ""},
			"ends_at":       {"Once: needed, unless it lasts for so long; again and again: left out, without end", "2026-12-24T20:00:00+08:00", ""},
			"lasts_seconds": {"How long it lasts, each time", 1200, ""},
			"cron":          {"When it comes again; left out: once", "0 2 * * 7", ""},
			"zone":          {"IANA name; needed for cron", "Asia/Shanghai", ""},
			"hold":          {"Pauses the tasks too, until it is over", false, ""},
		},
	}
}
