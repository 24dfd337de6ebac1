package jobs

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"ax/app/alert"
	"ax/app/fault"
)

// ChannelSender sends messages to channels by their ids: it opens a channel,
// finds who is to be mentioned, and lets the notifier send. All fields are
// required but Zone.
type ChannelSender struct {
	By     *Notifier
	Open   func(ctx context.Context, id string) (alert.Channel, alert.ChannelSecret, error)
	People func(ctx context.Context, logins []string) ([]alert.Person, error)
	Zone   *time.Location // of the times in messages; nil: UTC
	Log    *slog.Logger
}

// Send sends the messages. A channel that can't be opened is tried again: the
// secret of the installation, or the ledger, may come back.
func (s ChannelSender) Send(ctx context.Context, channel string, messages []alert.Message) alert.Answer {
	ch, secret, err := s.Open(ctx, channel)
	if fault.KindOf(err) == fault.KindNotFound {
		return alert.Answer{Verdict: alert.GiveUp, Body: "there is no such channel any more"}
	}
	if err != nil {
		s.Log.ErrorContext(ctx, "a channel can't be opened", "channel", channel, "error", err)
		return alert.Answer{Verdict: alert.Again, Body: "the channel’s address can’t be opened: see the log of ax"}
	}
	return s.By.Send(ctx, ch, secret, s.to(ctx, ch, messages), messages)
}

// to is who the messages are for. Without their names they go all the same.
func (s ChannelSender) to(ctx context.Context, ch alert.Channel, messages []alert.Message) Recipients {
	to := Recipients{Addresses: ch.To, Zone: s.Zone}
	var logins []string
	for _, m := range messages {
		logins = append(logins, m.Mention...)
	}
	slices.Sort(logins)
	if logins = slices.Compact(logins); ch.Mention != alert.MentionOwner || len(logins) == 0 {
		return to
	}
	people, err := s.People(ctx, logins)
	if err != nil {
		s.Log.WarnContext(ctx, "who is to be mentioned can't be read", "channel", ch.ID, "error", err)
	}
	to.People = people
	return to
}
