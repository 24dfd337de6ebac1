package alert

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/cron"
)

// fakeBook has subscriptions and figures.
type fakeBook struct {
	subs  []Subscription
	has   map[string]bool
	sent  []Delivery
	asked [][2]time.Time
	fails int64 // the team whose figures can't be read
}

func (f *fakeBook) Subscriptions(context.Context) ([]Subscription, error) { return f.subs, nil }
func (f *fakeBook) Told(_ context.Context, channel, dedupe string) (bool, error) {
	return f.has[channel+dedupe], nil
}

func (f *fakeBook) DigestFigures(_ context.Context, team int64, from, to time.Time) (Summary, string, error) {
	if team == f.fails {
		return Summary{}, "", errors.New("away")
	}
	f.asked = append(f.asked, [2]time.Time{from, to})
	return Summary{Good: 3}, "Payments", nil
}

func (f *fakeBook) InsertDeliveries(_ context.Context, all []Delivery) error {
	for _, d := range all {
		f.has[d.ChannelID+d.Dedupe] = true
		f.sent = append(f.sent, d)
	}
	return nil
}

func digests(subs ...Subscription) (*Digester, *fakeBook, *wound) {
	f, c := &fakeBook{subs: subs, has: map[string]bool{}, fails: -1}, &wound{}
	return NewDigester(DigesterOptions{Book: f, Now: c.Now, NewID: ids(), Log: slog.New(slog.DiscardHandler)}), f, c
}

func at(t *testing.T, zone, wall string) time.Time {
	t.Helper()
	loc, err := cron.LoadZone(zone)
	require.NoError(t, err)
	out, err := time.ParseInLocation("2006-01-02 15:04", wall, loc)
	require.NoError(t, err)
	return out
}

func TestADigestIsMadeOnceOnItsDay(t *testing.T) {
	const zone = "Asia/Shanghai"
	s, f, c := digests(
		Subscription{ID: 1, TeamID: 1, ChannelID: "a", Events: []EventType{DigestDaily, DigestWeekly}, Zone: zone},
		Subscription{ID: 2, TeamID: 1, ChannelID: "b", Events: []EventType{InstanceFinished}},
	)
	// A Sunday, then a Monday.
	for _, x := range []struct {
		wall string
		want []string
	}{
		{"2026-12-06 08:59", nil},
		{"2026-12-06 09:00", []string{"digest.daily/2026-12-05"}},
		{"2026-12-06 09:10", nil},
		{"2026-12-07 08:50", nil},
		{"2026-12-07 23:50", []string{"digest.daily/2026-12-06", "digest.weekly/2026-11-30"}}, // nobody was there before
		{"2026-12-08 00:00", nil},
		{"2026-12-08 08:00", nil},
		{"2026-12-10 12:00", []string{"digest.daily/2026-12-09"}}, // two days are lost: they are old news
	} {
		c.now = at(t, zone, x.wall).UTC()
		f.sent = nil
		require.NoError(t, s.Tick(t.Context()))
		var got []string
		for _, d := range f.sent {
			require.Equal(t, "a", d.ChannelID)
			got = append(got, d.Dedupe)
		}
		require.Equal(t, x.want, got, x.wall)
	}
}

func TestADigestIsOfTheZonesDays(t *testing.T) {
	for name, c := range map[string]struct {
		event    EventType
		zone     string
		now      string
		from, to string // UTC
	}{
		"plain":                        {DigestDaily, "Asia/Shanghai", "2026-12-02 09:00", "2026-11-30T16:00:00Z", "2026-12-01T16:00:00Z"},
		"of a quarter":                 {DigestDaily, "Asia/Kathmandu", "2026-12-02 09:00", "2026-11-30T18:15:00Z", "2026-12-01T18:15:00Z"},
		"of 23 hours":                  {DigestDaily, "Europe/Berlin", "2026-03-30 09:00", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"},
		"of 25 hours":                  {DigestDaily, "Europe/Berlin", "2026-10-26 09:00", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"},
		"a week with a change":         {DigestWeekly, "Europe/Berlin", "2026-03-30 10:00", "2026-03-22T23:00:00Z", "2026-03-29T22:00:00Z"},
		"that begins without midnight": {DigestDaily, "Africa/Cairo", "2026-04-25 09:00", "2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"},
		"that ends without midnight":   {DigestDaily, "Africa/Cairo", "2026-04-24 09:00", "2026-04-22T22:00:00Z", "2026-04-23T22:00:00Z"},
		"whose 23rd hour came twice":   {DigestDaily, "Africa/Cairo", "2026-10-30 09:00", "2026-10-28T21:00:00Z", "2026-10-29T22:00:00Z"},
		"whose midnight came twice":    {DigestDaily, "America/Havana", "2026-11-02 09:00", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			s, f, clock := digests(Subscription{TeamID: 1, ChannelID: "a", Events: []EventType{c.event}, Zone: c.zone})
			clock.now = at(t, c.zone, c.now)
			require.NoError(t, s.Tick(t.Context()))
			require.Len(t, f.asked, 1)
			require.Equal(t, c.from, f.asked[0][0].UTC().Format(time.RFC3339))
			require.Equal(t, c.to, f.asked[0][1].UTC().Format(time.RFC3339))
			d := f.sent[0]
			require.Equal(t, Message{
				ID: d.ID, Kind: Summing, Event: c.event, At: clock.now, Team: "Payments", Path: d.Message.Path,
				Digest: &Summary{From: f.asked[0][0], To: f.asked[0][1], Zone: c.zone, Good: 3},
			}, d.Message)
		})
	}
}

func TestWhoSubscribedAfterNineGetsTheNextOne(t *testing.T) {
	const zone = "Asia/Shanghai"
	s, f, c := digests(Subscription{TeamID: 1, ChannelID: "a", Events: []EventType{DigestDaily}, Zone: zone, CreatedAt: at(t, zone, "2026-12-02 09:01")})
	c.now = at(t, zone, "2026-12-02 10:00")
	require.NoError(t, s.Tick(t.Context()))
	require.Empty(t, f.sent)
	c.now = at(t, zone, "2026-12-03 09:00")
	require.NoError(t, s.Tick(t.Context()))
	require.Len(t, f.sent, 1)
}

func TestADigestThatCanNotBeMadeKeepsNoOtherBack(t *testing.T) {
	s, f, c := digests(
		Subscription{TeamID: 1, ChannelID: "a", Events: []EventType{DigestDaily}, Zone: "Mars/Olympus"},
		Subscription{TeamID: 2, ChannelID: "b", Events: []EventType{DigestDaily}, Zone: "UTC"},
		Subscription{TeamID: 3, ChannelID: "c", Events: []EventType{DigestDaily}, Zone: "UTC"},
	)
	f.fails = 2
	c.now = at(t, "UTC", "2026-12-02 09:00")
	require.Error(t, s.Tick(t.Context()))
	require.Len(t, f.sent, 1)
	require.Equal(t, "c", f.sent[0].ChannelID)
}
