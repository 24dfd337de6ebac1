package alert

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"ax/app/fail"
)

// Times and bounds of sending.
const (
	// Lease is how long one node may send to a channel by itself. It ends by
	// being given back; only a dead node's runs out.
	Lease = time.Minute
	// sendWithin is when a node takes nothing more under its lease: what it has
	// begun must end before another node may send the same.
	sendWithin = 30 * time.Second
	// expireEvery is how often messages are looked for that are too old.
	expireEvery = time.Minute
	// batch is how many messages are taken at once.
	batch = 20
	// sendAtOnce bounds the channels that one node sends to at the same time.
	sendAtOnce = 16
	// stuckAfter is when what the carrier was told of and nobody did is sent
	// without it.
	stuckAfter = 20 * time.Second
	// pauseMost bounds the pause of a channel whose receiver does not take
	// anything.
	pauseMost = time.Minute
)

// letterbox keeps deliveries. Each method is one transaction.
type letterbox interface {
	// DueChannels are those to which something may be sent now, with the moment
	// since when.
	DueChannels(ctx context.Context, now time.Time, most int) ([]DueChannel, error)
	// TakeDeliveries takes what is due of a channel for the claim, in order; ok
	// is false when another claim holds it, it is off or must rest.
	TakeDeliveries(ctx context.Context, t Taking) (kind ChannelKind, taken []Delivery, ok bool, err error)
	// SettleDeliveries stores what became of them, if the claim still holds the
	// channel, and gives the channel back.
	SettleDeliveries(ctx context.Context, s Settling) error
	// ExpireDeliveries gives up what waits since before then.
	ExpireDeliveries(ctx context.Context, before, now time.Time) error
}

// DueChannel is a channel with messages that are due.
type DueChannel struct {
	ID    string
	Since time.Time // when the first of them was due
}

// Taking asks for a channel's due messages.
type Taking struct {
	Channel, Claim string
	Now, Until     time.Time
	Most           int
}

// Settling is what became of the messages that a claim took.
type Settling struct {
	Channel, Claim string
	Now            time.Time
	Done           []Delivery
	FreeAt         time.Time // when the channel may be sent to again; zero: at once
	OffWhy         string    // the channel is switched off
}

// Post gives the carrier a hint to look at a channel; an error says that the
// carrier is away.
type Post interface {
	Post(ctx context.Context, channel string) error
}

// Sender sends messages to a channel by its id, as one where the channel
// merges.
type Sender interface {
	Send(ctx context.Context, channel string, messages []Message) Answer
}

// CourierOptions: all are required.
type CourierOptions struct {
	Box   letterbox
	Post  Post
	Send  Sender
	Now   func() time.Time
	NewID func() string
	Log   *slog.Logger
}

// Courier brings deliveries to their channels. The rows decide: the carrier
// only says where to look, and what it loses or is too slow for is sent
// without it.
type Courier struct {
	o     CourierOptions
	slots chan struct{}

	expired time.Time // when old messages were looked for

	mu      sync.Mutex
	sending map[string]bool // channels that this process sends to by itself
}

// NewCourier makes a courier.
func NewCourier(o CourierOptions) *Courier {
	return &Courier{o: o, slots: make(chan struct{}, sendAtOnce), sending: map[string]bool{}}
}

// Tick looks for what is due and posts it; what the carrier can't take, or has
// not done for a while, is sent from here.
func (c *Courier) Tick(ctx context.Context) (again bool, err error) {
	now := c.o.Now()
	if now.Before(c.expired) || now.Sub(c.expired) >= expireEvery {
		if err := c.o.Box.ExpireDeliveries(ctx, now.Add(-TryFor), now); err != nil {
			return false, err
		}
		c.expired = now
	}
	due, err := c.o.Box.DueChannels(ctx, now, 500)
	if err != nil {
		return false, err
	}
	away := false // the carrier is asked once, not once for each channel
	for _, ch := range due {
		if !away {
			away = c.o.Post.Post(ctx, ch.ID) != nil
		}
		if away || now.Sub(ch.Since) > stuckAfter {
			c.sendHere(ctx, ch.ID)
		}
	}
	return false, nil
}

// sendHere sends to a channel beside the loop, if a place is free: a slow
// receiver holds up nobody else.
func (c *Courier) sendHere(ctx context.Context, channel string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sending[channel] {
		return
	}
	select {
	case c.slots <- struct{}{}:
	default:
		return // the next turn looks again
	}
	c.sending[channel] = true
	go func() {
		defer func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			delete(c.sending, channel)
			<-c.slots
		}()
		if err := c.Deliver(ctx, channel); err != nil {
			c.o.Log.ErrorContext(ctx, "messages could not be sent", "channel", channel, "error", err)
		}
	}()
}

// Wait returns when nothing that Tick began is being sent any more.
func (c *Courier) Wait() {
	for range cap(c.slots) {
		c.slots <- struct{}{}
	}
	for range cap(c.slots) {
		<-c.slots
	}
}

// Deliver sends what is due of a channel until nothing is, the channel must
// rest, or another node has it.
func (c *Courier) Deliver(ctx context.Context, channel string) error {
	began := c.o.Now()
	for ctx.Err() == nil && c.o.Now().Sub(began) < sendWithin {
		now := c.o.Now()
		claim := c.o.NewID()
		kind, taken, ok, err := c.o.Box.TakeDeliveries(ctx, Taking{Channel: channel, Claim: claim, Now: now, Until: now.Add(Lease), Most: batch})
		if err != nil {
			return fmt.Errorf("take the messages of channel %s: %w", channel, err)
		}
		if !ok || len(taken) == 0 {
			return nil
		}
		if err := fail.At("deliver.taken"); err != nil {
			return err
		}
		s := Settling{Channel: channel, Claim: claim}
		if kind.Merges() {
			c.merged(ctx, &s, kind, taken)
		} else {
			c.each(ctx, &s, kind, taken)
		}
		if err := fail.At("deliver.sent"); err != nil {
			return err
		}
		s.Now = c.o.Now()
		if err := c.o.Box.SettleDeliveries(ctx, s); err != nil {
			return fmt.Errorf("store what became of the messages of channel %s: %w", channel, err)
		}
		if err := fail.At("deliver.settled"); err != nil {
			return err
		}
		if s.OffWhy != "" {
			c.o.Log.WarnContext(ctx, "a channel was switched off", "channel", channel, "why", s.OffWhy)
		}
	}
	return nil
}

// merged sends all that was taken as one message.
func (c *Courier) merged(ctx context.Context, s *Settling, kind ChannelKind, taken []Delivery) {
	messages := make([]Message, len(taken))
	for i, d := range taken {
		messages[i] = d.Message
	}
	at := c.o.Now()
	answer := c.o.Send.Send(ctx, s.Channel, messages)
	for i, d := range taken {
		if i > 0 {
			d.MergedInto = taken[0].ID
		}
		s.Done = append(s.Done, d.after(answer, at, c.o.Now()))
	}
	s.rest(kind, taken[0], answer, c.o.Now())
}

// each sends the messages one by one. When one is not taken, those after it
// wait: the receiver is away, or they might be of the same object.
func (c *Courier) each(ctx context.Context, s *Settling, kind ChannelKind, taken []Delivery) {
	began := c.o.Now()
	for i, d := range taken {
		if c.o.Now().Sub(began) > sendWithin {
			s.untried(taken[i:])
			return
		}
		at := c.o.Now()
		answer := c.o.Send.Send(ctx, s.Channel, []Message{d.Message})
		s.Done = append(s.Done, d.after(answer, at, c.o.Now()))
		s.rest(kind, d, answer, c.o.Now())
		if answer.Verdict == Again || answer.Verdict == TurnOff {
			s.untried(taken[i+1:])
			return
		}
	}
}

// untried takes back the tries of what was taken and not sent: how long a
// message waits after its first failure is not to depend on those before it.
func (s *Settling) untried(taken []Delivery) {
	for _, d := range taken {
		d.Tries--
		s.Done = append(s.Done, d)
	}
}

// rest decides when the channel may be sent to again.
func (s *Settling) rest(kind ChannelKind, d Delivery, a Answer, now time.Time) {
	wait := kind.Pace()
	switch a.Verdict {
	case Again:
		wait = max(wait, a.Wait, min(Backoff(d.Tries), pauseMost))
	case TurnOff:
		s.OffWhy = a.Body
		if s.OffWhy == "" {
			s.OffWhy = a.Code
		}
	}
	if s.FreeAt = (time.Time{}); wait > 0 {
		s.FreeAt = now.Add(wait)
	}
}

// after is the delivery after a try, which began at sent.
func (d Delivery) after(a Answer, sent, now time.Time) Delivery {
	d.Answer, d.SentAt = a, sent
	switch {
	case a.Verdict == Accepted:
		d.State, d.EndedAt = Delivered, now
	case a.Verdict == GiveUp, now.Sub(d.CreatedAt) >= TryFor:
		d.State, d.EndedAt = Refused, now
	case a.Verdict == TurnOff: // due at once when somebody has mended the channel
		d.DueAt = now
	default:
		d.DueAt = now.Add(max(Backoff(d.Tries), a.Wait))
	}
	return d
}
