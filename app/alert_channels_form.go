package app

import (
	"cmp"
	"strconv"
	"strings"

	"ax/app/alert"
	"ax/views"
)

// channelValues are the fields of a channel as it is; its secrets are not
// among them.
func channelValues(c alert.Channel) views.ChannelValues {
	return views.ChannelValues{
		Kind: c.Kind, Name: c.Name, Language: cmp.Or(c.Language, views.English), Mention: cmp.Or(c.Mention, alert.MentionOwner),
		Bad: c.Bad, Good: c.Good, To: strings.Join(c.To, "\n"), Version: c.Version,
	}
}

// typedChannel are the fields as they were typed.
func (f *form) typedChannel(stored alert.Channel) views.ChannelValues {
	return views.ChannelValues{
		Kind: cmp.Or(stored.Kind, alert.ChannelKind(f.text("kind"))), Name: f.text("name"), URL: f.text("url"), NoKey: f.ticked("no_key"), NewKey: f.ticked("new_key"),
		Language: cmp.Or(f.text("language"), views.English), Mention: cmp.Or(alert.Mentioning(f.text("mention")), alert.MentionOwner),
		Bad: lines(f.raw("bad_text")), Good: lines(f.raw("good_text")), To: lines(f.raw("to")), Reason: f.text("reason"), Version: f.number("version"),
	}
}

// lines has the line ends that everything but forms has.
func lines(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }

// channelSpec is the channel that the fields describe.
func (f *form) channelSpec(v views.ChannelValues, team string) alert.ChannelSpec {
	w := alert.ChannelSpec{
		Team: team, Kind: v.Kind, Name: v.Name, Language: v.Language, Mention: v.Mention, URL: v.URL, Key: f.text("key"), NewKey: v.NewKey, NoKey: v.NoKey,
		Bad: v.Bad, Good: v.Good, Version: v.Version, Reason: v.Reason,
	}
	if v.Kind == alert.Email {
		w.To = strings.FieldsFunc(v.To, func(r rune) bool { return strings.ContainsRune("\n,;，；", r) })
	}
	return w
}

// tellSpec is the subscription that the fields describe.
func (f *form) tellSpec(v views.TellValues, team, channel string) alert.SubscriptionSpec {
	w := alert.SubscriptionSpec{Team: team, ChannelID: channel}
	after := f.secondsOf("after", v.After)
	switch v.What {
	case views.TellAll:
		w.After = after
	case views.TellP1:
		w.Level, w.After = alert.P1, after
	case views.TellEvents:
		for _, e := range v.Events {
			w.Events = append(w.Events, alert.EventType(e))
		}
		if len(w.Events) == 0 {
			f.refuse("events", "Choose at least one event")
		}
	case string(alert.DigestDaily), string(alert.DigestWeekly):
		w.Events, w.Zone = []alert.EventType{alert.EventType(v.What)}, v.Zone
	default:
		id, err := strconv.ParseInt(v.What, 10, 64)
		if err != nil || id <= 0 {
			f.refuse("what", "Choose one of the list")
		}
		w.RuleID, w.After = id, after
	}
	return w
}
