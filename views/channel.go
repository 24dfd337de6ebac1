package views

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"ax/app/alert"
	"ax/app/fault"
	"ax/views/ui"
)

// ChannelPage makes or changes a channel; what people will see stands beside
// it.
type ChannelPage struct {
	Stored  alert.Channel // the zero Channel: a new one
	Team    Team          // whose it is; no code: the installation's
	Teams   []Team        // of a new one: where else it may be made
	Values  ChannelValues
	Errors  []fault.FieldError
	Moved   string // who changed it meanwhile; "": nobody
	MayEdit bool
	MayTell bool // may change what it is told of

	Key        string // that ax made for a webhook: shown this once
	Base       string // address of the console, for links of the preview; "" is not known
	Told       []ChannelTold
	Telling    TellValues
	TellErrors []fault.FieldError
	Rules      []alert.Rule // that it can be told of
	Alone      []string     // names of rules that tell nobody else
	Deliveries []alert.Delivery
	Test       *alert.Delivery // that was just sent
	Zones      []string
}

// ChannelValues are the fields as they are typed. The key is never sent back.
type ChannelValues struct {
	Kind      alert.ChannelKind
	Name      string
	URL       string
	NoKey     bool
	NewKey    bool
	Language  string
	Mention   alert.Mentioning
	Bad, Good string
	To        string // of e-mail: one address on each line
	Reason    string
	Version   int
}

// ChannelTold is a subscription of the channel.
type ChannelTold struct {
	ID     int64
	Rule   string // name; "" of every alert, or of events
	RuleID int64
	Events []alert.EventType
	Level  alert.Level
	After  time.Duration
	Zone   string
	By     string
}

// TellValues are what a channel is to be told of, as it is typed.
type TellValues struct {
	What  string // TellAll, TellP1, TellEvents, a digest, or the id of a rule
	After string
	Zone  string
	// Events to tick, of a webhook.
	Events []string
}

// What a channel can be told of, beside single rules.
const (
	TellAll    = "all"
	TellP1     = "p1"
	TellEvents = "events"
)

var channelFields = []string{"name", "kind", "url", "key", "language", "mention", "to", "bad_text", "good_text", "reason"}

func (p ChannelPage) fresh() bool { return p.Stored.ID == "" }

func (p ChannelPage) house() bool { return p.Team.Code == "" }

func (p ChannelPage) kind() alert.ChannelKind { return p.Values.Kind }

func channelPath(id string) string { return "/alerts/channels/" + id }

func (p ChannelPage) path() string {
	if p.fresh() {
		return "/alerts/channels/new"
	}
	return channelPath(p.Stored.ID)
}

// kindPath is the form of a new channel of the kind.
func (p ChannelPage) kindPath(k alert.ChannelKind) string {
	return "/alerts/channels/new?kind=" + string(k) + "&team=" + p.Team.Code
}

func (p ChannelPage) title(ctx context.Context) string {
	switch {
	case !p.fresh():
		return p.Stored.Name
	case p.kind() == "":
		return t(ctx, "New channel")
	}
	return t(ctx, "New channel: %s", kindName(ctx, p.kind()))
}

func (p ChannelPage) crumbs(ctx context.Context) []ui.Crumb {
	return alertCrumbs(ctx, t(ctx, "Channels"), "/alerts/channels")
}

func (p ChannelPage) where(ctx context.Context) string {
	if p.house() {
		return t(ctx, "The whole installation")
	}
	return p.Team.Name
}

func (p ChannelPage) teamTabs() []ui.Tab {
	var tabs []ui.Tab
	for _, x := range p.Teams {
		tabs = append(tabs, ui.Tab{Label: x.Name, Href: "/alerts/channels/new?kind=" + string(p.kind()) + "&team=" + x.Code, On: x.Code == p.Team.Code})
	}
	return tabs
}

func (p ChannelPage) field(ctx context.Context, name, label, value string) ui.Field {
	return ui.Field{Name: name, Label: label, Value: value, Error: problem(ctx, p.Errors, name)}
}

// state of the channel, for its head.
func (p ChannelPage) state(ctx context.Context) ui.State {
	if p.Stored.On() {
		return ui.State{Icon: "circle-check", Class: "ok", Word: t(ctx, "On|channel")}
	}
	return ui.State{Icon: "circle-x", Class: "fail", Word: t(ctx, "Off since %s", viewer(ctx).ShortDate(p.Stored.OffAt))}
}

// keyLabel and keyHint say what the key is, by kind.
func (p ChannelPage) keyLabel(ctx context.Context) string {
	if p.kind() == alert.Webhook {
		return t(ctx, "Key of your own")
	}
	return t(ctx, "Signing key")
}

func (p ChannelPage) keyHint(ctx context.Context) string {
	switch {
	case p.kind() == alert.Webhook && p.fresh():
		return t(ctx, "Empty: ax makes one and shows it once.")
	case p.kind() == alert.Webhook:
		return t(ctx, "Empty keeps the present one. Another host needs it typed again.")
	case p.fresh():
		return t(ctx, "Only if the robot asks for signing. Nobody can read it again.")
	}
	return t(ctx, "Empty keeps the present one. Nobody can read it.")
}

func (p ChannelPage) urlHint(ctx context.Context) string {
	if p.fresh() {
		return t(ctx, "Kept as a secret: nobody can read it again.")
	}
	return t(ctx, "Now: %s. Empty keeps it.", p.Stored.Hint)
}

// askChannel asks for the preview of what is typed. Address and key stay where
// they are: what is asked for with GET is written down on its way.
func askChannel(p ChannelPage) templ.Attributes {
	if !p.MayEdit {
		return nil
	}
	return templ.Attributes{
		"hx-get": p.path(), "hx-swap": "outerMorph", "hx-sync": "this:replace",
		"hx-trigger": "input from:#channel-words delay:300ms", "hx-include": "#channel-words, #f-kind, #f-team",
	}
}

// sample is the message of the preview.
func (p ChannelPage) sample(ctx context.Context, kind alert.MessageKind) alert.Message {
	now := viewer(ctx).Now
	m := alert.Message{
		Kind: kind, At: now, IncidentID: "0193868e-2f40-7c11-9a02-6b1fd2f0c7e1", Rule: "Failures in a row", Metric: alert.InARow, Level: alert.P1,
		Team: p.Team.Name, Value: 3, Worst: 3, Threshold: 3, Since: now.Add(-12 * time.Minute), Count: 1, Mention: []string{viewer(ctx).User.Login},
		Members: []alert.Member{{Subject: alert.Subject{Kind: alert.TaskSubject, Key: "billing.settle-daily", Name: "billing.settle-daily"}, Value: 3, Detail: "answered 504 Gateway Timeout"}},
		Path:    "/alerts/incidents/0193868e-2f40-7c11-9a02-6b1fd2f0c7e1",
	}
	if kind == alert.Closed {
		m.EndedAt = now
	}
	return m
}

// preview words the sample as the channel would.
func (p ChannelPage) preview(ctx context.Context, kind alert.MessageKind) alert.Text {
	v := viewer(ctx)
	return p.sample(ctx, kind).Text(p.Values.Language, alert.Where{
		Base: p.Base, Name: v.Env, Bad: p.Values.Bad, Good: p.Values.Good, Zone: v.zone(), Now: v.Now,
		People: []alert.Person{{Login: v.User.Login, Name: v.User.Name}},
		All:    p.Values.Mention == alert.MentionAll, Quiet: p.Values.Mention == alert.MentionNobody || !calls(p.kind()),
	})
}

// toneClass is the colour of a message's title.
func toneClass(x alert.Tone) string {
	switch x {
	case alert.ToneBad, alert.ToneWorse:
		return "st fail"
	case alert.ToneGood:
		return "st ok"
	case alert.TonePlain:
	}
	return "strong"
}

// webhookSample is what a program gets, as docs/channels.md describes it.
const webhookSample = `{
  "id": "0193868e-3a10-7d42-8b1c-52f0c7e19a02",
  "type": "alert.opened",
  "at": "2026-12-02T06:20:31.000Z",
  "title": "[P1] Failures in a row: billing.settle-daily fails",
  "link": "https://ax.example.com/alerts/incidents/0193868e-2f40-7c11-9a02-6b1fd2f0c7e1",
  "alert": {
    "incident_id": "0193868e-2f40-7c11-9a02-6b1fd2f0c7e1",
    "rule": "Failures in a row",
    "metric": "failures_in_row",
    "unit": "count",
    "level": "p1",
    "team": "Payments",
    "scope": { "kind": "all" },
    "value": 3,
    "worst": 3,
    "threshold": 3,
    "since": "2026-12-02T06:20:00Z",
    "count": 1,
    "members": [
      { "kind": "task", "key": "billing.settle-daily", "value": 3 }
    ],
    "owners": ["pay-oncall"]
  }
}`

// toldWords say what a subscription is of.
func (x ChannelTold) words(ctx context.Context) string {
	switch {
	case len(x.Events) > 0:
		var names []string
		for _, e := range x.Events {
			names = append(names, eventWord(ctx, e))
		}
		return joined(" · ", names...)
	case x.RuleID != 0:
		return t(ctx, "The rule %s", ruleTitle(ctx, x.Rule))
	case x.Level == alert.P1:
		return t(ctx, "Every P1 alert of the team")
	}
	return t(ctx, "Every alert of the team")
}

// more is the small print of a subscription.
func (x ChannelTold) more(ctx context.Context) string {
	var after, zone, by string
	if x.After > 0 {
		after = t(ctx, "after %s without an answer", viewer(ctx).Span(x.After))
	}
	if x.Zone != "" {
		zone = t(ctx, "the day of %s", x.Zone)
	}
	if x.By != "" {
		by = t(ctx, "set by %s", x.By)
	}
	return joined(" · ", after, zone, by)
}

// tellOptions are what the channel can be told of.
func (p ChannelPage) tellOptions(ctx context.Context) []optionGroup {
	general := optionGroup{Label: t(ctx, "In general"), Options: []ui.Option{
		{Value: TellAll, Label: t(ctx, "Every alert of the team")}, {Value: TellP1, Label: t(ctx, "Every P1 alert of the team")},
	}}
	if p.kind() == alert.Webhook {
		general.Options = append(general.Options, ui.Option{Value: TellEvents, Label: t(ctx, "The events ticked below")})
	}
	rules := optionGroup{Label: t(ctx, "One rule")}
	for _, r := range p.Rules {
		if !slices.ContainsFunc(p.Told, func(x ChannelTold) bool { return x.RuleID == r.ID }) {
			rules.Options = append(rules.Options, ui.Option{Value: strconv.FormatInt(r.ID, 10), Label: ruleTitle(ctx, r.Name)})
		}
	}
	digests := optionGroup{Label: t(ctx, "Summaries")}
	for _, e := range alert.Digests() {
		digests.Options = append(digests.Options, ui.Option{Value: string(e), Label: eventWord(ctx, e)})
	}
	out := []optionGroup{general}
	if len(rules.Options) > 0 {
		out = append(out, rules)
	}
	return append(out, digests)
}

// deleteEffects say what goes with the channel.
func (p ChannelPage) deleteEffects(ctx context.Context) []string {
	var out []string
	if n := len(p.Told); n > 0 {
		out = append(out, tn(ctx, "%d subscriptions go with it.", n))
	}
	if len(p.Alone) > 0 {
		out = append(out, t(ctx, "Nobody is told of these rules any more: %s.", listed(ctx, p.Alone)))
	}
	return append(out, t(ctx, "Its address and key are forgotten. What was sent stays in the log."))
}

// channelName is a channel in a list: a person's own is called by the person.
func channelName(ctx context.Context, c alert.Channel) string {
	if c.Name == "" {
		return t(ctx, "deleted channel")
	}
	return c.Name
}
