package alert

import (
	"context"
	"fmt"
	"time"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
)

// deliveryStore is what people's acts on messages need of the ledger. Each
// method is one transaction.
type deliveryStore interface {
	// Delivery is NotFound when there is none.
	Delivery(ctx context.Context, id string) (Delivery, error)
	// Deliveries gives a page, the latest first.
	Deliveries(ctx context.Context, f DeliveryFilter, p sched.PageRequest) (sched.PageOf[Delivery], error)
	// AddDelivery stores a message that a person asked for. It is a Conflict
	// when its channel is gone.
	AddDelivery(ctx context.Context, d Delivery, e access.Entry) error
	// EndDelivery stores what became of a message, if it is not ended yet.
	EndDelivery(ctx context.Context, d Delivery) error
	// ChannelHead gives id, team, kind and name of a channel; NotFound when
	// there is none.
	ChannelHead(ctx context.Context, id string) (c Channel, team string, err error)
}

// DeliveryFilter narrows a list of messages. Empty fields don't.
type DeliveryFilter struct {
	Scope    access.Scope
	Channel  string // id
	Incident string // id
	State    DeliveryState
	Kind     MessageKind
}

// DeliveriesOptions: all are required but Send.
type DeliveriesOptions struct {
	Store deliveryStore
	Send  Sender        // of test messages; nil: this process sends none
	NewID func() string // UUIDv7
	Now   func() time.Time
}

// Deliveries are the use cases of people with messages: the log of what was
// sent, and sending by hand.
type Deliveries struct{ o DeliveriesOptions }

// NewDeliveries makes them.
func NewDeliveries(o DeliveriesOptions) *Deliveries { return &Deliveries{o} }

// List gives a page of the messages of teams that the actor may read, the
// latest first. Those of the installation's channels tell of every team: who
// reads the installation sees them. The zero Scope of the filter asks for all
// teams.
func (s *Deliveries) List(ctx context.Context, a access.Actor, f DeliveryFilter, p sched.PageRequest) (sched.PageOf[Delivery], error) {
	f.Scope = a.Scope().Narrow(f.Scope)
	return s.o.Store.Deliveries(ctx, f, p.Bounded())
}

// Find gives one. Faults: NotFound.
func (s *Deliveries) Find(ctx context.Context, a access.Actor, id string) (Delivery, error) {
	return s.may(ctx, a, access.Read, id)
}

func (s *Deliveries) may(ctx context.Context, a access.Actor, v access.Verb, id string) (Delivery, error) {
	d, err := s.o.Store.Delivery(ctx, id)
	if fault.KindOf(err) == fault.KindNotFound {
		return Delivery{}, access.NoObject()
	}
	if err == nil {
		err = a.Check(v, d.TeamID)
	}
	if err != nil {
		return Delivery{}, err
	}
	return d, nil
}

// Replay sends a message again, as it was and with its id, so that the receiver
// can tell that it is a repeat. It goes the way of all messages: after those of
// the same object that still wait, and when the channel may be sent to. Faults:
// NotFound, Denied, Conflict (it is still on its way, or its channel is gone).
func (s *Deliveries) Replay(ctx context.Context, a access.Actor, id string) (Delivery, error) {
	was, err := s.may(ctx, a, access.Acknowledge, id)
	if err != nil {
		return Delivery{}, err
	}
	if was.State == Waiting {
		return Delivery{}, fault.Conflict("It is still on its way: wait until it has ended")
	}
	now := s.o.Now()
	is := Delivery{
		ID: s.o.NewID(), TeamID: was.TeamID, ChannelID: was.ChannelID, IncidentID: was.IncidentID, Object: was.Object,
		Kind: was.Kind, Message: was.Message, State: Waiting, CreatedAt: now, DueAt: now, ReplayOf: was.ID,
	}
	is.Dedupe = "replay/" + is.ID
	e := entry(a, now, "delivery.replay", access.Object{Kind: "delivery", ID: was.ID, Name: was.Title()}, was.TeamID)
	e.Changes = []access.Change{{Field: "delivery", New: is.ID}}
	if err := s.o.Store.AddDelivery(ctx, is, e); err != nil {
		return Delivery{}, fmt.Errorf("replay message %s: %w", id, err)
	}
	return is, nil
}

// Title names a message in one word or two: the rule, the event, the task, or its kind.
func (d Delivery) Title() string {
	switch {
	case d.Message.Rule != "":
		return d.Message.Rule
	case d.Message.Event != "":
		return string(d.Message.Event)
	case d.Message.Run != nil:
		return d.Message.Run.Task
	}
	return string(d.Kind)
}

// Times of a test message.
const (
	// testFor is how long the answer to a test is waited for.
	testFor = 25 * time.Second
	// testKept is when a test that nobody stored the end of is given to the
	// courier, as every message is.
	testKept = 2 * time.Minute
)

// SendTest sends a test message to a channel at once, also to one that is off:
// so it is seen whether it is mended. It is tried once; what was answered is in
// the delivery. Faults: NotFound, Denied, Unavailable (this process sends none).
func (s *Deliveries) SendTest(ctx context.Context, a access.Actor, channel string) (Delivery, error) {
	c, team, err := s.o.Store.ChannelHead(ctx, channel)
	if fault.KindOf(err) == fault.KindNotFound {
		return Delivery{}, access.NoObject()
	}
	if err == nil {
		err = a.CheckShared(access.ManageChannels, c.TeamID)
	}
	if err != nil {
		return Delivery{}, err
	}
	if s.o.Send == nil {
		return Delivery{}, fault.Unavailable(nil, "This process sends no messages")
	}
	now := s.o.Now()
	d := Delivery{ID: s.o.NewID(), TeamID: c.TeamID, ChannelID: c.ID, Kind: Test, State: Waiting, Tries: 1, CreatedAt: now, DueAt: now.Add(testKept)}
	d.Dedupe = "test/" + d.ID
	d.Message = Message{ID: d.ID, Kind: Test, At: now, Team: team, Path: "/alerts"}
	e := entry(a, now, "channel.test", access.Object{Kind: "channel", ID: c.ID, Name: c.Name}, c.TeamID)
	if err := s.o.Store.AddDelivery(ctx, d, e); err != nil {
		return Delivery{}, fmt.Errorf("store a test message: %w", err)
	}
	// Whoever asked may have gone: what was answered is to be known all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), testFor)
	defer cancel()
	d.Answer, d.SentAt = s.o.Send.Send(ctx, c.ID, []Message{d.Message}), now
	if d.State = Refused; d.Answer.Verdict == Accepted {
		d.State = Delivered
	}
	d.EndedAt = s.o.Now()
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer done()
	if err := s.o.Store.EndDelivery(ctx, d); err != nil {
		return Delivery{}, fmt.Errorf("store what became of a test message: %w", err)
	}
	return d, nil
}
