package alert

import (
	"crypto/subtle"
	"time"
)

// ChannelKind says how a channel is reached.
type ChannelKind string

// The kinds of channel.
const (
	Feishu   ChannelKind = "feishu"
	DingTalk ChannelKind = "dingtalk"
	WeCom    ChannelKind = "wecom"
	Slack    ChannelKind = "slack"
	Teams    ChannelKind = "teams" // Microsoft Teams
	Webhook  ChannelKind = "webhook"
	Email    ChannelKind = "email"
)

// ChannelKinds lists them in the order of pages.
func ChannelKinds() []ChannelKind {
	return []ChannelKind{Feishu, DingTalk, WeCom, Slack, Teams, Webhook, Email}
}

// Mentioning says whom a channel's messages call by name.
type Mentioning string

// Whom messages mention.
const (
	MentionOwner  Mentioning = "owner" // the owners of the tasks, by their ids at the robot
	MentionAll    Mentioning = "all"
	MentionNobody Mentioning = "nobody"
)

// Channel is where messages go. Its address and key are secrets, which are
// sealed in the ledger: see ChannelSecret.
type Channel struct {
	ID       string // 32 hex digits
	TeamID   int64  // 0: the installation's
	Kind     ChannelKind
	Name     string
	Language string // of messages: "en" or "zh-CN"
	Mention  Mentioning
	Hint     string   // what of the address may be shown: host and last four characters
	To       []string // of e-mail: addresses
	UserID   int64    // of e-mail: the person that it is, instead of To
	Bad      string   // text when something breaks, with {{names}}; empty: ax's own
	Good     string   // text when it is over; empty: ax's own

	OffAt  time.Time // since when nothing is sent; zero: it is on
	OffWhy string    // what switched it off: a person, or what the robot answered

	Version   int
	CreatedBy string
	CreatedAt time.Time
	ChangedBy string
	ChangedAt time.Time
}

// ChannelSecret is what nobody reads again.
type ChannelSecret struct {
	URL string `json:"url,omitempty"`
	Key string `json:"key,omitempty"` // signs messages, where the robot asks for it; of webhooks always there
}

// is compares without telling by its time how much was right.
func (s ChannelSecret) is(o ChannelSecret) bool {
	return subtle.ConstantTimeCompare([]byte(s.URL), []byte(o.URL))&subtle.ConstantTimeCompare([]byte(s.Key), []byte(o.Key)) == 1
}

// Place is the one place where the secret can be opened.
func (c Channel) Place() string { return "channels.sealed." + c.ID }

// On tells whether messages are sent.
func (c Channel) On() bool { return c.OffAt.IsZero() }

// Pace is the least time between two messages to a channel. The robots' own
// limits, each with some reserve: Feishu takes 100 a minute and 5 a second,
// DingTalk and WeCom 20 a minute (DingTalk is deaf for ten minutes to who sends
// more), Slack one a second, Teams four a second.
func (k ChannelKind) Pace() time.Duration {
	switch k {
	case Feishu, Slack:
		return time.Second
	case DingTalk, WeCom:
		return 4 * time.Second
	case Teams, Email:
		return 500 * time.Millisecond
	}
	return 0
}

// Merges tells whether several waiting messages go as one: people read them.
// Programs get each by itself.
func (k ChannelKind) Merges() bool { return k != Webhook }

// Subscription tells which channel is told of what.
type Subscription struct {
	ID        int64
	TeamID    int64
	ChannelID string
	// Rule, or 0: every rule of the team (and what the installation's rules find
	// of its work). Events: of the team's work instead of rules.
	RuleID int64
	Events []EventType
	Level  Level         // P1: only of such; empty: of both
	After  time.Duration // told only when nobody has acknowledged for so long after the first message
	// Zone that the day of a digest is counted in.
	Zone      string
	CreatedBy string
	CreatedAt time.Time
}

// EventType is something that a webhook is told of, or a digest.
type EventType string

// The events.
const (
	InstanceFinished EventType = "instance.finished"
	LetterOpened     EventType = "letter.opened"
	LetterSolved     EventType = "letter.solved"
	IncidentOpened   EventType = "incident.opened"
	IncidentClosed   EventType = "incident.closed"
	DigestDaily      EventType = "digest.daily"
	DigestWeekly     EventType = "digest.weekly"
)

// WebhookEvents are those of single objects, for webhooks.
func WebhookEvents() []EventType {
	return []EventType{InstanceFinished, LetterOpened, LetterSolved, IncidentOpened, IncidentClosed}
}

// Digests are the summaries, for every kind of channel.
func Digests() []EventType { return []EventType{DigestDaily, DigestWeekly} }
