// Package mq publishes messages to brokers and waits until they say that they
// have them. It knows nothing of tasks.
//
// Two brokers are behind one small interface: RabbitMQ, or whatever speaks
// AMQP 0-9-1 with publisher confirms, and Redis Streams.
package mq

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// Kind of broker.
type Kind string

// The kinds.
const (
	AMQP  Kind = "amqp"
	Redis Kind = "redis"
)

// Place is where a message goes: exchange and routing key of AMQP (an empty
// exchange is the default one, whose keys are queues), or a stream of Redis.
type Place struct {
	Exchange, Key string
	Stream        string
	// Most is about how many entries a stream keeps, the latest; 0: all.
	Most int64
}

// Message is what is published. It is persistent and JSON.
type Message struct {
	Place
	ID          string // the same for each repetition of one business action
	Correlation string
	Type        string
	Headers     map[string]string
	Body        []byte
}

// Publisher has one broker under one account. It is safe for concurrent use.
type Publisher interface {
	// Publish sends a message and waits for the broker's word, or for the end
	// of ctx. Nil: the broker has it, and it reached a queue or the stream.
	// Any error is a *Failure.
	Publish(ctx context.Context, m Message) error
	// Check connects and looks whether what the places name is there, changing
	// nothing. The error says all that is missing.
	Check(ctx context.Context, places []Place) error
	// Close ends the connections. What is being published fails.
	Close() error
}

// Options of a publisher; all but Vhost, DB, User, Password and TLS are
// required.
type Options struct {
	Addr           string // host:port
	Vhost          string // of AMQP
	DB             int    // of Redis
	User, Password string
	TLS            *tls.Config // nil: plain
	// Dial makes a connection, where the rules of addresses let it.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// May tells why nothing may be sent to an address any more; nil: it may. It
	// is asked before each message, for connections are kept.
	May func(ctx context.Context, to netip.AddrPort) error
	Now func() time.Time // this machine's clock
}

// Failure is why a message wasn't confirmed.
type Failure struct {
	// Definite: surely nobody gets this message. Otherwise it may be in a
	// queue.
	Definite bool
	Code     int // reply code of AMQP; 0: none came
	Err      error
}

// Error says what went wrong.
func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap gives the cause.
func (f *Failure) Unwrap() error { return f.Err }

// errClosed is what a publisher says after Close.
var errClosed = errors.New("the connection to the broker was closed here")

// New makes a publisher, which connects when it is first used.
func New(kind Kind, o Options) (Publisher, error) {
	switch kind {
	case AMQP:
		return newRabbit(o), nil
	case Redis:
		return newStreams(o), nil
	}
	return nil, fmt.Errorf("no broker of kind %q is known", kind)
}

// unsent is the failure when nothing of the message went out.
func unsent(said string, args ...any) *Failure {
	return &Failure{Definite: true, Err: fmt.Errorf(said, args...)}
}

// unknown is the failure when the broker may have the message.
func unknown(said string, args ...any) *Failure {
	return &Failure{Err: fmt.Errorf(said, args...)}
}

// await runs what knows no context, until ctx ends. What it gives after that
// goes to late.
func await[T any](ctx context.Context, do func() (T, error), late func(T)) (T, error) {
	type answer struct {
		v   T
		err error
	}
	got := make(chan answer, 1)
	go func() {
		v, err := do()
		got <- answer{v, err}
	}()
	select {
	case a := <-got:
		return a.v, a.err
	case <-ctx.Done():
		go func() {
			if a := <-got; a.err == nil {
				late(a.v)
			}
		}()
		var none T
		return none, ctx.Err()
	}
}
