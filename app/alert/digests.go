package alert

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"ax/app/cron"
)

// digestHour is when a digest is due in the zone of its subscription.
const digestHour = 9

// almanac is what digests need of the ledger.
type almanac interface {
	// Subscriptions are all whose channels are on.
	Subscriptions(ctx context.Context) ([]Subscription, error)
	// Told tells whether a channel has a message already.
	Told(ctx context.Context, channel, dedupe string) (bool, error)
	// DigestFigures are those of a team, 0 for all teams, from a moment until
	// before another, with the team's name.
	DigestFigures(ctx context.Context, team int64, from, to time.Time) (s Summary, name string, err error)
	// InsertDeliveries leaves out what a channel has already.
	InsertDeliveries(ctx context.Context, all []Delivery) error
}

// DigesterOptions: all are required.
type DigesterOptions struct {
	Book  almanac
	Now   func() time.Time
	NewID func() string // UUIDv7
	Log   *slog.Logger
}

// Digester tells of yesterday, and on Mondays of the week before.
type Digester struct{ o DigesterOptions }

// NewDigester makes one.
func NewDigester(o DigesterOptions) *Digester { return &Digester{o} }

// Tick makes the messages that are due. It may be called at any time and as
// often as one likes: each digest is made once, on its day or not at all.
func (s *Digester) Tick(ctx context.Context) error {
	now := s.o.Now()
	subs, err := s.o.Book.Subscriptions(ctx)
	if err != nil {
		return fmt.Errorf("read who gets digests: %w", err)
	}
	var failed error
	for _, sub := range subs {
		for _, event := range Digests() {
			if !slices.Contains(sub.Events, event) {
				continue
			}
			if err := s.tell(ctx, sub, event, now); err != nil {
				s.o.Log.ErrorContext(ctx, "a digest could not be made", "subscription", sub.ID, "error", err)
				failed = err
			}
		}
	}
	return failed
}

func (s *Digester) tell(ctx context.Context, sub Subscription, event EventType, now time.Time) error {
	zone, err := cron.LoadZone(sub.Zone)
	if err != nil {
		return fmt.Errorf("load the zone of subscription %d: %w", sub.ID, err)
	}
	from, to, due, ok := period(event, now, zone)
	if !ok || sub.CreatedAt.After(due) {
		return nil
	}
	dedupe := string(event) + "/" + from.Format(time.DateOnly)
	if told, err := s.o.Book.Told(ctx, sub.ChannelID, dedupe); err != nil || told {
		return err
	}
	sum, team, err := s.o.Book.DigestFigures(ctx, sub.TeamID, from, to)
	if err != nil {
		return err
	}
	sum.From, sum.To, sum.Zone = from, to, sub.Zone
	m := Message{ID: s.o.NewID(), Kind: Summing, Event: event, At: now, Team: team, Path: "/dead-letters", Digest: &sum}
	if event == DigestDaily {
		m.Path = "/"
	}
	return s.o.Book.InsertDeliveries(ctx, []Delivery{{
		ID: m.ID, TeamID: sub.TeamID, ChannelID: sub.ChannelID, Dedupe: dedupe, Kind: Summing, Message: m,
		State: Waiting, CreatedAt: now, DueAt: now,
	}})
}

// period is what the digest of now's day tells of, in the zone, and when it is
// due; ok is false before that, and on days without one.
func period(event EventType, now time.Time, zone *time.Location) (from, to, due time.Time, ok bool) {
	y, m, d := now.In(zone).Date()
	days := 1
	if event == DigestWeekly {
		days = 7
		if now.In(zone).Weekday() != time.Monday {
			return from, to, due, false
		}
	}
	due = time.Date(y, m, d, digestHour, 0, 0, 0, zone)
	return dayStart(y, m, d-days, zone), dayStart(y, m, d, zone), due, !now.Before(due)
}

// dayStart is the first moment of a day: midnight by the clock as it goes before
// or after, or the moment at which clocks are moved over it.
func dayStart(y int, m time.Month, d int, zone *time.Location) (start time.Time) {
	noon := time.Date(y, m, d, 12, 0, 0, 0, zone)
	before := time.Date(y, m, d-1, 12, 0, 0, 0, zone)
	y, m, d = noon.Date()
	midnight := func(at time.Time) time.Time {
		_, offset := at.Zone()
		return time.Date(y, m, d, 0, 0, -offset, 0, time.UTC)
	}
	_, moved := before.ZoneBounds()
	for _, t := range []time.Time{midnight(before), midnight(noon), moved} {
		if t = t.In(zone); t.Day() == d && t.After(before) && !t.After(noon) && (start.IsZero() || t.Before(start)) {
			start = t
		}
	}
	return start
}
