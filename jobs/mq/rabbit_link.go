package mq

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

const (
	heartbeat = 10 * time.Second
	maxFree   = 256 // channels kept for the next message
)

// link is one connection to a RabbitMQ.
type link struct {
	conn *countedConn
	amqp *amqp.Connection
	// blocked is why the broker takes nothing at present; nil: it does.
	blocked atomic.Pointer[string]

	mu   sync.Mutex
	free []*lane
}

// lane is a channel in confirm mode, for one message at a time.
type lane struct {
	ch       *amqp.Channel
	returned chan amqp.Return
	gone     chan *amqp.Error
}

// connect dials and signs in. The error is a *Failure: nothing was sent.
func connect(ctx context.Context, o Options) (*link, error) {
	c, err := o.dial(ctx)
	if err != nil {
		return nil, unsent("connect to the broker: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	limit := time.AfterFunc(connectLimit, func() { _ = c.Close() }) // of the greeting
	defer limit.Stop()
	properties := amqp.NewConnectionProperties()
	properties.SetClientConnectionName("ax")
	conn, err := amqp.Open(c, amqp.Config{
		SASL:  []amqp.Authentication{&amqp.PlainAuth{Username: o.User, Password: o.Password}},
		Vhost: o.Vhost, Heartbeat: heartbeat, Locale: "en_US", Properties: properties,
	})
	if !stop() && err == nil { // closed by the end of ctx
		err = ctx.Err()
	}
	if err != nil {
		_ = c.Close()
		return nil, greeting(ctx, err)
	}
	l := &link{conn: c, amqp: conn}
	go l.listen(conn.NotifyBlocked(make(chan amqp.Blocking, 16)))
	return l, nil
}

// greeting is the failure of a signing in.
func greeting(ctx context.Context, err error) *Failure {
	f := unsent("the broker refused the connection: %w", err)
	if said, ok := errors.AsType[*amqp.Error](err); ok && said.Server {
		f.Code = said.Code
		f.Err = fmt.Errorf("the broker refused the connection: %d %s", said.Code, said.Reason)
	}
	if ctx.Err() != nil {
		f.Err = fmt.Errorf("no connection to the broker in time: %w", ctx.Err())
	}
	return f
}

// listen notes when the broker takes nothing. The library waits for whoever
// listens, so this must never stop before the connection does.
func (l *link) listen(words <-chan amqp.Blocking) {
	for w := range words {
		if !w.Active {
			l.blocked.Store(nil)
			continue
		}
		l.blocked.Store(&w.Reason)
	}
}

func (l *link) close() {
	// Its own Close waits for the broker's word, which doesn't come when that
	// one is what is wrong.
	_ = l.conn.Close()
	go func() { _ = l.amqp.Close() }()
}

// lane gives a free channel, or opens one.
func (l *link) lane(ctx context.Context) (*lane, error) {
	l.mu.Lock()
	for n := len(l.free); n > 0; n = len(l.free) {
		free := l.free[n-1]
		l.free = l.free[:n-1]
		if !free.ch.IsClosed() {
			l.mu.Unlock()
			return free, nil
		}
	}
	l.mu.Unlock()
	return await(ctx, l.open, l.giveBack)
}

func (l *link) open() (*lane, error) {
	ch, err := l.amqp.Channel()
	if err != nil {
		return nil, err
	}
	if err := ch.Confirm(false); err != nil {
		_ = ch.Close()
		return nil, err
	}
	return &lane{
		ch: ch, returned: ch.NotifyReturn(make(chan amqp.Return, 1)), gone: ch.NotifyClose(make(chan *amqp.Error, 1)),
	}, nil
}

func (l *link) giveBack(free *lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.free) < maxFree && !free.ch.IsClosed() {
		l.free = append(l.free, free)
		return
	}
	go func() { _ = free.ch.Close() }()
}
