package mq

import (
	"context"
	"errors"
	"fmt"
	"sync"

	amqp "github.com/rabbitmq/amqp091-go"
)

// rabbit publishes over one connection, which is made anew when it broke. A
// channel carries one message at a time: what the broker says of a channel,
// closing it included, is said of that message and of no other.
type rabbit struct {
	o    Options
	turn chan struct{} // held while a connection is made

	mu     sync.Mutex
	link   *link // nil: none
	closed bool
}

func newRabbit(o Options) *rabbit { return &rabbit{o: o, turn: make(chan struct{}, 1)} }

// staleTries bounds how often one message finds its connection closed.
const staleTries = 3

// Publish makes another try when the kept connection turned out closed before
// a byte was written.
func (r *rabbit) Publish(ctx context.Context, m Message) error {
	for try := 1; ; try++ {
		l, fresh, err := r.connected(ctx)
		if err != nil {
			return err
		}
		if err := r.o.May(ctx, l.conn.to); err != nil {
			r.drop(l)
			return unsent("%w", err)
		}
		f := l.publish(ctx, m)
		if f == nil {
			return nil
		}
		if stale := errors.Is(f, amqp.ErrClosed) && f.Definite && f.Code == 0 && !fresh; !stale || try == staleTries || ctx.Err() != nil {
			return f
		}
		r.drop(l)
	}
}

// connected gives the connection, and whether it was made just now. One at a
// time makes one. The error is a *Failure: nothing was sent.
func (r *rabbit) connected(ctx context.Context) (l *link, fresh bool, err error) {
	if l, err := r.alive(); l != nil || err != nil {
		return l, false, err
	}
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return nil, false, unsent("no connection to the broker in time: %w", ctx.Err())
	}
	if l, err := r.alive(); l != nil || err != nil {
		return l, false, err
	}
	l, err = connect(ctx, r.o)
	if err != nil {
		return nil, false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		l.close()
		return nil, false, &Failure{Definite: true, Err: errClosed}
	}
	r.link = l
	return l, true, nil
}

// alive is the connection if it is one still.
func (r *rabbit) alive() (*link, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, &Failure{Definite: true, Err: errClosed}
	}
	if r.link != nil && r.link.amqp.IsClosed() {
		r.link = nil
	}
	return r.link, nil
}

func (r *rabbit) drop(l *link) {
	r.mu.Lock()
	if r.link == l {
		r.link = nil
	}
	r.mu.Unlock()
	l.close()
}

// Close ends the connection.
func (r *rabbit) Close() error {
	r.mu.Lock()
	l := r.link
	r.link, r.closed = nil, true
	r.mu.Unlock()
	if l != nil {
		l.close()
	}
	return nil
}

// Check asks for each exchange, or each queue of the default one.
func (r *rabbit) Check(ctx context.Context, places []Place) error {
	l, _, err := r.connected(ctx)
	if err != nil {
		return err
	}
	if err := r.o.May(ctx, l.conn.to); err != nil {
		r.drop(l)
		return unsent("%w", err)
	}
	var missing []error
	seen := map[Place]bool{}
	for _, p := range places {
		if p.Exchange != "" {
			p.Key = ""
		}
		if seen[p] {
			continue
		}
		seen[p] = true
		if err := l.look(ctx, p); err != nil {
			missing = append(missing, err)
		}
	}
	return errors.Join(missing...)
}

// look asks for one exchange or queue on a channel of its own, which the
// broker closes when there is none.
func (l *link) look(ctx context.Context, p Place) error {
	_, err := await(ctx, func() (struct{}, error) {
		ch, err := l.amqp.Channel()
		if err != nil {
			return struct{}{}, err
		}
		defer func() { _ = ch.Close() }()
		if p.Exchange == "" {
			_, err = ch.QueueDeclarePassive(p.Key, true, false, false, false, nil)
		} else {
			err = ch.ExchangeDeclarePassive(p.Exchange, amqp.ExchangeDirect, true, false, false, false, nil)
		}
		return struct{}{}, err
	}, func(struct{}) {})
	if said, ok := errors.AsType[*amqp.Error](err); ok {
		return fmt.Errorf("%d %s", said.Code, said.Reason)
	}
	return err
}
