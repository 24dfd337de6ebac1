package alert

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"ax/app/fail"
)

// Times and bounds of events.
const (
	// EventsEvery is how often webhooks are told what ended, opened and closed,
	// by one node of all.
	EventsEvery = 2 * time.Second
	// eventsBack is how far before now is read again at each turn: a row may be
	// committed later than the moment that it names.
	eventsBack = time.Minute
	// eventsTurns is how many turns of this process are read again, however long
	// ago they are: a machine that slept commits what it began before.
	eventsTurns = 30
	// eventsMost is how many events of one type a channel is told of at once.
	eventsMost = 500
	// eventsRounds bounds what one turn catches up with.
	eventsRounds = 10
)

// Listener is a channel that is told of single objects of its team.
type Listener struct {
	ChannelID string
	TeamID    int64
	Since     map[EventType]time.Time // from when on it is told of each
}

// outbox is what the events need of the ledger. The rows of instances and dead
// letters are what is told of: what ended stands there in the transaction of
// its end.
type outbox interface {
	// Listeners are the channels that are told of InstanceFinished, LetterOpened
	// or LetterSolved. Those that are off since before then are not.
	Listeners(ctx context.Context, off time.Time) ([]Listener, error)
	// TakeTurnOf is true for one node within each span of time.
	TakeTurnOf(ctx context.Context, name string, every time.Duration, now time.Time) (bool, error)
	// EventCursor is since when rows are to be read; the zero time: never were.
	EventCursor(ctx context.Context) (time.Time, error)
	SetEventCursor(ctx context.Context, t time.Time) error
	// UntoldInstances are those of the team that ended since then and that the
	// channel has no message of, by Dedupe of their facts; the first to end first.
	UntoldInstances(ctx context.Context, l Listener, since time.Time, most int) ([]InstanceFacts, error)
	// UntoldOpened and UntoldSolved are the same of dead letters.
	UntoldOpened(ctx context.Context, l Listener, since time.Time, most int) ([]LetterFacts, error)
	UntoldSolved(ctx context.Context, l Listener, since time.Time, most int) ([]LetterFacts, error)
	// Hooked tells whether any task has hooks that tell of its ends.
	Hooked(ctx context.Context) (bool, error)
	// UntoldEnds are the ends since then that hooks name channels for which have
	// no message of them; the first to end first.
	UntoldEnds(ctx context.Context, since time.Time, most int) ([]HookEnd, error)
	// InsertDeliveries leaves out what a channel has already.
	InsertDeliveries(ctx context.Context, all []Delivery) error
}

// EventsOptions: all are required.
type EventsOptions struct {
	Box   outbox
	Now   func() time.Time
	NewID func() string // UUIDv7
	Log   *slog.Logger
}

// Events tells webhooks what became of instances and dead letters, and the
// channels of hooks how runs ended: each of them at least once, those of one
// object in order.
type Events struct {
	o EventsOptions

	mu    sync.Mutex
	turns []time.Time // of this process, the latest last, EventsEvery apart
}

// NewEvents makes them.
func NewEvents(o EventsOptions) *Events { return &Events{o: o} }

// Tick makes the messages of what happened since the last turn. again: there
// was more than one turn takes.
func (e *Events) Tick(ctx context.Context) (again bool, err error) {
	now := e.o.Now()
	listeners, err := e.o.Box.Listeners(ctx, now.Add(-TryFor))
	if err != nil {
		return false, err
	}
	hooked, err := e.o.Box.Hooked(ctx)
	if err != nil || !hooked && len(listeners) == 0 {
		return false, err
	}
	mine, err := e.o.Box.TakeTurnOf(ctx, "events", EventsEvery, now)
	if err != nil || !mine {
		return false, err
	}
	cursor, err := e.o.Box.EventCursor(ctx)
	if err != nil {
		return false, err
	}
	from := cursor
	if from.IsZero() || from.After(now.Add(-eventsBack)) { // the clock was set back
		from = now.Add(-eventsBack)
	}
	more := false
	if hooked {
		all, err := e.hooks(ctx, from, now)
		if err != nil {
			return false, err
		}
		more = !all
	}
	for _, l := range listeners {
		all, err := e.tell(ctx, l, from, now)
		if err != nil {
			return false, err
		}
		more = more || !all
	}
	if more { // the same rows are looked at again, and what is told of them left out
		return true, nil
	}
	return false, e.advance(ctx, cursor, from, now)
}

// tell makes the messages of one channel, round by round; false when there is
// more than a turn takes.
func (e *Events) tell(ctx context.Context, l Listener, from, now time.Time) (all bool, err error) {
	for range eventsRounds {
		found, more, err := e.look(ctx, l, from)
		if err != nil {
			return false, fmt.Errorf("look what channel %s is to be told: %w", l.ChannelID, err)
		}
		var out []Delivery
		for _, h := range found {
			if d, ok := e.delivery(ctx, l, h, now); ok {
				out = append(out, d)
			}
		}
		if err := fail.At("events.found"); err != nil {
			return false, err
		}
		if len(out) > 0 {
			if err := e.o.Box.InsertDeliveries(ctx, out); err != nil {
				return false, err
			}
		}
		if !more {
			return true, nil
		}
	}
	return false, nil
}

// happening is something that a channel is to be told of.
type happening struct {
	event  EventType
	at     time.Time
	object string
	dedupe string
	facts  any
}

// look reads one round, in the order of the moments.
func (e *Events) look(ctx context.Context, l Listener, from time.Time) (out []happening, more bool, err error) {
	later := func(t time.Time) time.Time {
		if t.After(from) {
			return t
		}
		return from
	}
	if since, ok := l.Since[InstanceFinished]; ok {
		list, err := e.o.Box.UntoldInstances(ctx, l, later(since), eventsMost)
		if err != nil {
			return nil, false, err
		}
		more = len(list) == eventsMost
		for _, x := range list {
			out = append(out, happening{InstanceFinished, time.Time(x.FinishedAt), "instance/" + x.ID, x.Dedupe(), x})
		}
	}
	full := false
	if since, ok := l.Since[LetterOpened]; ok {
		list, err := e.o.Box.UntoldOpened(ctx, l, later(since), eventsMost)
		if err != nil {
			return nil, false, err
		}
		full = len(list) == eventsMost
		for _, x := range list {
			out = append(out, x.happened(LetterOpened, x.OpenedAt))
		}
	}
	// While there is more that opened, nothing is told of as solved: that a letter
	// opened goes before.
	if since, ok := l.Since[LetterSolved]; ok && !full {
		list, err := e.o.Box.UntoldSolved(ctx, l, later(since), eventsMost)
		if err != nil {
			return nil, false, err
		}
		more = more || len(list) == eventsMost
		for _, x := range list {
			out = append(out, x.happened(LetterSolved, x.ClosedAt))
		}
	}
	slices.SortStableFunc(out, func(a, b happening) int { return a.at.Compare(b.at) })
	return out, more || full, nil
}

func (e *Events) delivery(ctx context.Context, l Listener, h happening, now time.Time) (Delivery, bool) {
	object, err := json.Marshal(h.facts)
	if err != nil { // facts are texts, numbers and moments
		e.o.Log.ErrorContext(ctx, "an event can't be written as JSON", "object", h.object, "error", err)
		return Delivery{}, false
	}
	m := Message{ID: e.o.NewID(), Kind: Event, At: now, Event: h.event, Object: object}
	return Delivery{
		ID: m.ID, TeamID: l.TeamID, ChannelID: l.ChannelID, Object: h.object, Dedupe: h.dedupe, Kind: Event, Message: m,
		State: Waiting, CreatedAt: now, DueAt: now,
	}, true
}

// advance moves the cursor, but never beyond what may still be committed: a
// minute before now, nor beyond the turn of eventsTurns turns ago. Right after
// its start a process moves nothing.
func (e *Events) advance(ctx context.Context, cursor, from, now time.Time) error {
	to, ok := e.turn(now)
	if cursor.IsZero() || cursor.After(now) {
		to, ok = from, true
	}
	if back := now.Add(-eventsBack); to.After(back) {
		to = back
	}
	// Not at each turn: that would be a transaction for nothing.
	if !ok || !cursor.IsZero() && !cursor.After(now) && to.Sub(cursor) < 5*EventsEvery {
		return nil
	}
	return e.o.Box.SetEventCursor(ctx, to)
}

// turn notes a turn and gives the one of eventsTurns turns ago, if there is one.
// Turns that follow at once count as one; a clock that was set back begins anew.
func (e *Events) turn(now time.Time) (time.Time, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := len(e.turns)
	switch {
	case n > 0 && now.Before(e.turns[n-1]):
		e.turns = []time.Time{now}
	case n == 0 || now.Sub(e.turns[n-1]) >= EventsEvery:
		e.turns = append(e.turns, now)
	}
	if len(e.turns) <= eventsTurns {
		return time.Time{}, false
	}
	e.turns = e.turns[len(e.turns)-eventsTurns-1:]
	return e.turns[0], true
}
