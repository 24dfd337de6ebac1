package views

import (
	"context"
	"strconv"

	"ax/app/alert"
	"ax/views/ui"
)

// Reach is how messages find the person.
type Reach struct {
	ChatIDs map[alert.ChannelKind]string // as they are, or as they were typed
	Teams   []ReachTeam                  // the person's own, and those that they hear of
	Others  []Team                       // that the person sees besides
	Other   ReachTeam                    // of those, as typed
	Also    []ReachAlso
	Zone    string // in which the days of digests begin
	// NoServer: the installation has no mail server.
	NoServer bool
}

// ReachTeam is what the person is told of one team by e-mail. Key is its name in
// the form.
type ReachTeam struct {
	Key, Name string
	alert.OwnNews
}

// ReachAlso is a subscription that was made elsewhere, of one rule or with a
// wait.
type ReachAlso struct {
	alert.Subscribed
	Team string // name; "" is the installation
}

// OtherTeam is the key of the team that is chosen from the list.
const OtherTeam = "other"

func (r ReachTeam) alertsField(ctx context.Context) ui.Field {
	return ui.Field{Name: "alerts." + r.Key, Label: t(ctx, "Alerts"), Value: string(r.Alerts)}
}

func (r ReachTeam) check(name, label string, on bool) ui.Field {
	return ui.Field{Name: name + "." + r.Key, Label: label, Value: strconv.FormatBool(on)}
}

func reachOptions(ctx context.Context) []ui.Option {
	return []ui.Option{
		{Label: t(ctx, "None|alerts")}, {Value: string(alert.P1), Label: t(ctx, "P1 alone")}, {Value: string(alert.Everything), Label: t(ctx, "All|alerts")},
	}
}

func (p AccountPage) otherOptions(ctx context.Context) []ui.Option {
	out := []ui.Option{{Label: t(ctx, "No other team")}}
	for _, team := range p.Reach.Others {
		out = append(out, ui.Option{Value: team.Code, Label: team.Name})
	}
	return out
}

// chatIDHint says where people find their id at a kind of robot.
type chatIDHint struct{ say string }

var chatIDHints = map[alert.ChannelKind]chatIDHint{
	alert.Feishu:   {msg("Your open_id or user_id. Feishu’s administrators see the user_id in the admin console, at each member.")},
	alert.DingTalk: {msg("The mobile number of your account there, or your user ID, which its administrators see in the address book.")},
	alert.WeCom:    {msg("Your account in the address book of WeCom, such as zhangsan.")},
	alert.Slack:    {msg("In your Slack profile, behind the three dots: Copy member ID.")},
	alert.Teams:    {msg("The address that you sign in to Microsoft with.")},
}

func (p AccountPage) chatID(ctx context.Context, k alert.ChannelKind) ui.Field {
	f := p.field(ctx, AboutChatIDs, string(k), kindName(ctx, k))
	f.Value, f.Hint, f.Class, f.Attrs, f.Autocomplete, f.Optional = p.Reach.ChatIDs[k], t(ctx, chatIDHints[k].say), "mono", noSpelling, "off", t(ctx, "optional")
	return f
}

func chatIDNames() []string {
	var out []string
	for _, k := range alert.Mentioners() {
		out = append(out, string(k))
	}
	return out
}

// what the subscription tells of.
func (r ReachAlso) what(ctx context.Context) string {
	said := ""
	switch {
	case r.Rule != "":
		said = t(ctx, "the rule %s", ruleName(ctx, r.Rule))
	case len(r.Events) > 0:
		for _, e := range r.Events {
			said = joined(t(ctx, ", |list"), said, eventWord(ctx, e))
		}
	default:
		said = t(ctx, "every rule")
	}
	if r.Level == alert.P1 {
		said = joined(" · ", said, t(ctx, "P1 alone"))
	}
	if r.After > 0 {
		said = joined(" · ", said, t(ctx, "when nobody has acknowledged for %s", viewer(ctx).Span(r.After)))
	}
	return joined(" · ", teamOrHouse(ctx, r.Team), said)
}

func teamOrHouseTitle(ctx context.Context, r ReachTeam) string {
	if r.Team == "" {
		return t(ctx, "The whole installation")
	}
	return r.Name
}
