package alert

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func waiting(n int) (out []Delivery) {
	for i := range n {
		id := fmt.Sprintf("d-%03d", i)
		out = append(out, Delivery{ID: id, State: Waiting, CreatedAt: t0, DueAt: t0, Message: Message{ID: id, Kind: Opened}})
	}
	return out
}

func courier(b *fakeBox, p *post, r *receiver, c *wound) *Courier {
	return NewCourier(CourierOptions{Box: b, Post: p, Send: r, Now: c.Now, NewID: ids(), Log: slog.New(slog.DiscardHandler)})
}

func states(b *fakeBox) map[DeliveryState]int {
	out := map[DeliveryState]int{}
	for _, d := range b.waiting {
		out[d.State]++
	}
	return out
}

func TestWhatIsDueIsPostedOnceRedisIsThere(t *testing.T) {
	b, p, r, c := &fakeBox{kind: Webhook, waiting: waiting(3)}, &post{}, &receiver{answers: []Answer{{Verdict: Accepted}}}, &wound{now: t0}
	k := courier(b, p, r, c)
	_, err := k.Tick(t.Context())
	require.NoError(t, err)
	k.Wait()
	require.Equal(t, []string{"ch"}, p.got)
	require.Empty(t, r.got, "the carrier's hint sends")
	require.NoError(t, k.Deliver(t.Context(), "ch"))
	require.Equal(t, 3, states(b)[Delivered])
}

func TestWithoutRedisMessagesAreSentAllTheSame(t *testing.T) {
	b, p, r, c := &fakeBox{kind: Webhook, waiting: waiting(3)}, &post{away: true}, &receiver{answers: []Answer{{Verdict: Accepted}}}, &wound{now: t0}
	k := courier(b, p, r, c)
	_, err := k.Tick(t.Context())
	require.NoError(t, err)
	k.Wait()
	require.Equal(t, 3, states(b)[Delivered])
}

func TestWhatTheCarrierDoesNotDoIsSentWithoutIt(t *testing.T) {
	b, p, r, c := &fakeBox{kind: Webhook, waiting: waiting(1)}, &post{}, &receiver{answers: []Answer{{Verdict: Accepted}}}, &wound{now: t0.Add(stuckAfter + time.Second)}
	k := courier(b, p, r, c)
	_, err := k.Tick(t.Context())
	require.NoError(t, err)
	k.Wait()
	require.Equal(t, 1, states(b)[Delivered])
}

func TestWaitingMessagesToPeopleGoAsOne(t *testing.T) {
	b, r, c := &fakeBox{kind: DingTalk, waiting: waiting(30)}, &receiver{answers: []Answer{{Verdict: Accepted}}}, &wound{now: t0}
	k := courier(b, &post{}, r, c)
	require.NoError(t, k.Deliver(t.Context(), "ch"))
	require.Len(t, r.got, 1)
	require.Len(t, r.got[0], batch)
	require.Equal(t, "d-000", b.waiting[5].MergedInto)
	require.Empty(t, b.waiting[0].MergedInto)
	require.Equal(t, t0.Add(DingTalk.Pace()), b.freeAt, "the robot's limit")
	require.NoError(t, k.Deliver(t.Context(), "ch"))
	require.Len(t, r.got, 1, "it rests")
	c.now = b.freeAt
	require.NoError(t, k.Deliver(t.Context(), "ch"))
	require.Equal(t, 30, states(b)[Delivered])
}

func TestEachAnswerHasItsConsequence(t *testing.T) {
	for name, c := range map[string]struct {
		answer Answer
		state  DeliveryState
		due    time.Time
		free   time.Time
		off    string
	}{
		"again":              {Answer{Verdict: Again}, Waiting, t0.Add(10 * time.Second), t0.Add(10 * time.Second), ""},
		"again, and wait":    {Answer{Verdict: Again, Wait: 10 * time.Minute}, Waiting, t0.Add(10 * time.Minute), t0.Add(10 * time.Minute), ""},
		"never this one":     {Answer{Verdict: GiveUp}, Refused, t0, time.Time{}, ""},
		"never any":          {Answer{Verdict: TurnOff, Body: "sign not match"}, Waiting, t0, time.Time{}, "sign not match"},
		"never any, no text": {Answer{Verdict: TurnOff, Code: "410"}, Waiting, t0, time.Time{}, "410"},
	} {
		t.Run(name, func(t *testing.T) {
			b, clock := &fakeBox{kind: Webhook, waiting: waiting(1)}, &wound{now: t0}
			k := courier(b, &post{}, &receiver{answers: []Answer{c.answer}}, clock)
			require.NoError(t, k.Deliver(t.Context(), "ch"))
			require.Equal(t, c.state, b.waiting[0].State)
			require.Equal(t, c.due, b.waiting[0].DueAt)
			require.Equal(t, c.free, b.freeAt)
			require.Equal(t, c.off, b.off)
		})
	}
}

func TestBehindAMessageThatWaitsNothingIsSent(t *testing.T) {
	b, r := &fakeBox{kind: Webhook, waiting: waiting(3)}, &receiver{answers: []Answer{{Verdict: Accepted}, {Verdict: Again}}}
	require.NoError(t, courier(b, &post{}, r, &wound{now: t0}).Deliver(t.Context(), "ch"))
	require.Len(t, r.got, 2)
	require.Equal(t, map[DeliveryState]int{Delivered: 1, Waiting: 2}, states(b))
	require.Equal(t, 1, b.waiting[1].Tries)
	require.Zero(t, b.waiting[2].Tries, "it was taken and not sent: its first failure waits as any first one")
	require.Equal(t, t0, b.waiting[2].DueAt)
}

func TestAMessageIsGivenUpAfterADay(t *testing.T) {
	c := &wound{now: t0.Add(TryFor)}
	b := &fakeBox{kind: Webhook, waiting: waiting(1)}
	require.NoError(t, courier(b, &post{}, &receiver{answers: []Answer{{Verdict: Again, Body: "500"}}}, c).Deliver(t.Context(), "ch"))
	require.Equal(t, 1, states(b)[Refused])
	require.Equal(t, "500", b.waiting[0].Answer.Body)
}

func TestALedgerThatIsAwayEndsTheTry(t *testing.T) {
	b := &fakeBox{kind: Webhook, waiting: waiting(1), takeFail: errors.New("away")}
	require.Error(t, courier(b, &post{}, &receiver{}, &wound{now: t0}).Deliver(t.Context(), "ch"))
}
