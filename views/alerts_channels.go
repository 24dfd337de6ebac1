package views

import (
	"context"
	"strings"

	"ax/app/alert"
	"ax/views/ui"
)

// ChannelRow is one channel in the list.
type ChannelRow struct {
	alert.Channel
	Team   string          // name; empty: the installation
	Last   *alert.Delivery // the latest that was sent or tried; nil: none
	Told   int             // subscriptions: of nothing when 0
	Tested *alert.Answer   // what came back from the test just sent
	// MayManage: send a test, turn it on, change it.
	MayManage bool
}

// ChannelsPage lists where messages go.
type ChannelsPage struct {
	AlertsTop
	Rows   []ChannelRow
	NoTeam bool
}

func (r ChannelRow) rowID() string { return "c-" + r.ID }

// where is what of the address may be shown.
func (r ChannelRow) where() string {
	if len(r.To) > 0 {
		return strings.Join(r.To, ", ")
	}
	return r.Hint
}

// state of the channel: of the test just sent, of being off, of its latest
// message.
func (r ChannelRow) state(ctx context.Context) ui.State {
	switch {
	case r.Tested != nil && r.Tested.Verdict == alert.Accepted:
		return ui.State{Icon: "circle-check", Class: "ok", Word: t(ctx, "Test delivered")}
	case r.Tested != nil:
		return ui.State{Icon: "circle-x", Class: "fail", Word: t(ctx, "Test refused")}
	case !r.On():
		return ui.State{Icon: "circle-off", Class: "fail", Word: t(ctx, "Switched off")}
	case r.Last == nil:
		return ui.State{Icon: "circle-dotted", Class: "idle", Word: t(ctx, "Nothing sent yet")}
	}
	return deliveryState(ctx, *r.Last)
}

// answer that came back, with how long a test took; of a channel that is off,
// why.
func (r ChannelRow) answer(ctx context.Context) string {
	switch {
	case r.Tested != nil:
		said := answerWords(*r.Tested)
		if r.Tested.Took > 0 {
			said = joined(" · ", said, duration(ctx, r.Tested.Took))
		}
		return said
	case !r.On():
		return r.OffWhy
	case r.Last == nil:
		return ""
	}
	said := answerWords(r.Last.Answer)
	if r.Last.State == alert.Waiting && r.Last.Tries > 0 {
		said = joined(" · ", said, t(ctx, "again at %s", clock(ctx, r.Last.DueAt)))
	}
	return said
}

// bad tells whether the answer is bad news.
func (r ChannelRow) bad() bool {
	switch {
	case r.Tested != nil:
		return r.Tested.Verdict != alert.Accepted
	case !r.On():
		return true
	}
	return r.Last != nil && r.Last.State == alert.Refused
}

// toldWords is of how much the channel is told.
func (r ChannelRow) toldWords(ctx context.Context) string {
	if r.Told == 0 {
		return t(ctx, "told of nothing")
	}
	return tn(ctx, "%d subscriptions", r.Told)
}
