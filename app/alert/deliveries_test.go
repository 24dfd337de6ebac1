package alert

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
)

// fakeLog is the log of messages, as the ledger keeps it.
type fakeLog struct {
	channels map[string]Channel
	all      map[string]Delivery
	entries  []access.Entry
	asked    access.Scope
}

func (f *fakeLog) Delivery(_ context.Context, id string) (Delivery, error) {
	d, ok := f.all[id]
	if !ok {
		return Delivery{}, fault.NotFound("none")
	}
	return d, nil
}

func (f *fakeLog) Deliveries(_ context.Context, q DeliveryFilter, _ sched.PageRequest) (sched.PageOf[Delivery], error) {
	f.asked = q.Scope
	return sched.PageOf[Delivery]{}, nil
}

func (f *fakeLog) AddDelivery(_ context.Context, d Delivery, e access.Entry) error {
	if _, ok := f.channels[d.ChannelID]; !ok {
		return fault.Conflict("gone")
	}
	f.all[d.ID] = d
	f.entries = append(f.entries, e)
	return nil
}

func (f *fakeLog) EndDelivery(ctx context.Context, d Delivery) error {
	f.all[d.ID] = d
	return ctx.Err()
}

func (f *fakeLog) ChannelHead(_ context.Context, id string) (Channel, string, error) {
	c, ok := f.channels[id]
	if !ok {
		return c, "", fault.NotFound("none")
	}
	return c, "Payments", nil
}

func deliveries(r *receiver) (*Deliveries, *fakeLog) {
	log := &fakeLog{
		channels: map[string]Channel{"ch": {ID: "ch", TeamID: 1, Kind: Webhook, Name: "Hook"}, "house": {ID: "house"}},
		all: map[string]Delivery{
			"sent": {
				ID: "sent", TeamID: 1, ChannelID: "ch", Object: "instance/1", Dedupe: "1", Kind: Event, State: Delivered, Tries: 3,
				Message: Message{ID: "sent", Kind: Event, Event: InstanceFinished}, Answer: Answer{Verdict: Accepted, Status: 200}, EndedAt: t0,
			},
			"waits": {ID: "waits", TeamID: 1, ChannelID: "ch", State: Waiting},
			"gone":  {ID: "gone", TeamID: 1, ChannelID: "deleted", State: Refused},
			"house": {ID: "house", ChannelID: "house", State: Refused},
		},
	}
	c := &wound{t0}
	return NewDeliveries(DeliveriesOptions{Store: log, Send: r, NewID: ids(), Now: c.Now}), log
}

func member(role access.Role, team int64) access.Actor {
	return access.Actor{Kind: access.User, Name: string(role), Roles: map[int64]access.Role{team: role}}
}

func TestAReplayIsTheSameMessageAgain(t *testing.T) {
	s, log := deliveries(nil)
	is, err := s.Replay(t.Context(), member(access.Operator, 1), "sent")
	require.NoError(t, err)
	require.Equal(t, Delivery{
		ID: "id-000001", TeamID: 1, ChannelID: "ch", Object: "instance/1", Dedupe: "replay/id-000001", Kind: Event, State: Waiting,
		Message: Message{ID: "sent", Kind: Event, Event: InstanceFinished}, CreatedAt: t0, DueAt: t0, ReplayOf: "sent",
	}, is)
	require.Equal(t, is, log.all[is.ID])
	require.Equal(t, "delivery.replay", log.entries[0].Action)
	require.Equal(t, access.Object{Kind: "delivery", ID: "sent", Name: "instance.finished"}, log.entries[0].Object)
}

func TestWhatIsNotReplayed(t *testing.T) {
	for name, c := range map[string]struct {
		by   access.Actor
		id   string
		want fault.Kind
	}{
		"by who only reads":       {member(access.Viewer, 1), "sent", fault.KindDenied},
		"of another team":         {member(access.Owner, 2), "sent", fault.KindNotFound},
		"of the installation":     {member(access.Owner, 1), "house", fault.KindNotFound},
		"what there is none of":   {member(access.Owner, 1), "x", fault.KindNotFound},
		"what is on its way":      {member(access.Owner, 1), "waits", fault.KindConflict},
		"to a channel that is no": {member(access.Owner, 1), "gone", fault.KindConflict},
	} {
		t.Run(name, func(t *testing.T) {
			s, log := deliveries(nil)
			_, err := s.Replay(t.Context(), c.by, c.id)
			require.Equal(t, c.want, fault.KindOf(err))
			require.Empty(t, log.entries)
		})
	}
}

func TestAListIsOfTheTeamsThatTheActorMayRead(t *testing.T) {
	s, log := deliveries(nil)
	for _, c := range []struct {
		by          access.Actor
		asked, want access.Scope
	}{
		{member(access.Viewer, 1), access.Scope{}, access.Scope{Teams: []int64{1}}},
		{member(access.Viewer, 1), access.Scope{All: true}, access.Scope{Teams: []int64{1}}},
		{member(access.Viewer, 1), access.Scope{Teams: []int64{1, 2}}, access.Scope{Teams: []int64{1}}},
		{member(access.Viewer, 1), access.Scope{Teams: []int64{2}}, access.Scope{}},
		{access.Actor{Auditor: true}, access.Scope{}, access.Scope{All: true}},
		{access.Actor{Admin: true}, access.Scope{Teams: []int64{2}}, access.Scope{Teams: []int64{2}}},
	} {
		_, err := s.List(t.Context(), c.by, DeliveryFilter{Scope: c.asked}, sched.PageRequest{})
		require.NoError(t, err)
		require.Equal(t, c.want, log.asked)
	}
}

func TestATestIsSentAtOnceAndOnceOnly(t *testing.T) {
	for name, c := range map[string]struct {
		answer Answer
		want   DeliveryState
	}{
		"taken":         {Answer{Verdict: Accepted, Status: 200}, Delivered},
		"busy":          {Answer{Verdict: Again, Status: 503, Body: "busy"}, Refused},
		"wrong address": {Answer{Verdict: TurnOff, Status: 404}, Refused},
	} {
		t.Run(name, func(t *testing.T) {
			r := &receiver{answers: []Answer{c.answer}}
			s, log := deliveries(r)
			ctx, cancel := context.WithCancel(t.Context())
			cancel() // who asked has gone: the end is stored all the same
			d, err := s.SendTest(ctx, member(access.Owner, 1), "ch")
			require.NoError(t, err)
			require.Len(t, r.got, 1)
			require.Equal(t, Message{ID: d.ID, Kind: Test, At: t0, Team: "Payments", Path: "/alerts"}, r.got[0][0])
			require.Equal(t, d, log.all[d.ID])
			require.Equal(t, c.want, d.State)
			require.Equal(t, c.answer, d.Answer)
			require.Equal(t, t0, d.EndedAt)
			require.Equal(t, "channel.test", log.entries[0].Action)
		})
	}
}

func TestOnlyOwnersSendTests(t *testing.T) {
	for _, c := range []struct {
		by      access.Actor
		channel string
		want    fault.Kind
	}{
		{member(access.Editor, 1), "ch", fault.KindDenied},
		{member(access.Owner, 2), "ch", fault.KindNotFound},
		{member(access.Owner, 1), "x", fault.KindNotFound},
		{member(access.Owner, 1), "house", fault.KindDenied},
	} {
		r := &receiver{answers: []Answer{{Verdict: Accepted}}}
		s, _ := deliveries(r)
		_, err := s.SendTest(t.Context(), c.by, c.channel)
		require.Equal(t, c.want, fault.KindOf(err))
		require.Empty(t, r.got)
	}
}

func TestAProcessWithoutASenderSaysSo(t *testing.T) {
	s, log := deliveries(nil)
	s.o.Send = nil
	_, err := s.SendTest(t.Context(), member(access.Owner, 1), "ch")
	require.Equal(t, fault.KindUnavailable, fault.KindOf(err))
	require.Empty(t, log.entries)
}
