package mq

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// streams publishes to Redis Streams: an entry's id is the broker's confirm.
type streams struct {
	o      Options
	client atomic.Pointer[redis.Client]
	// to is where the latest connection leads.
	to atomic.Pointer[netip.AddrPort]
}

const (
	streamPool = 64
	// streamIdle is how long a connection is kept.
	streamIdle = time.Minute
)

func newStreams(o Options) *streams {
	s := &streams{o: o}
	s.client.Store(s.open())
	return s
}

func (s *streams) open() *redis.Client {
	o := s.o
	return redis.NewClient(&redis.Options{
		Addr: o.Addr, DB: o.DB, Username: o.User, Password: o.Password, Protocol: 2, DisableIdentity: true,
		// A command that may have arrived isn't sent again by itself.
		MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true,
		DialTimeout: connectLimit, ReadTimeout: time.Minute, WriteTimeout: writeLimit,
		PoolSize: streamPool, ConnMaxIdleTime: streamIdle,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) {
			c, err := s.o.dial(ctx)
			if err != nil {
				return nil, &dialError{err}
			}
			s.to.Store(&c.to)
			if _, plain := c.Conn.(syscall.Conn); plain && o.TLS == nil {
				return plainConn{c}, nil
			}
			return c, nil
		},
	})
}

// may tells why nothing may be sent. Connections that lead where nothing may
// go any more are given up.
func (s *streams) may(ctx context.Context) *Failure {
	to := s.to.Load()
	if to == nil {
		return nil
	}
	err := s.o.May(ctx, *to)
	if err == nil {
		return nil
	}
	s.to.Store(nil)
	_ = s.client.Swap(s.open()).Close()
	return unsent("%w", err)
}

// dialError marks an error before anything was sent.
type dialError struct{ error }

// Unwrap gives the cause.
func (e *dialError) Unwrap() error { return e.error }

// Publish adds an entry. Its fields are id, correlation_id, type and body, and
// the headers under their names.
func (s *streams) Publish(ctx context.Context, m Message) error {
	if f := s.may(ctx); f != nil {
		return f
	}
	values := []any{"message-id", m.ID, "correlation-id", m.Correlation, "type", m.Type, "content-type", "application/json"}
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		values = append(values, name, m.Headers[name])
	}
	values = append(values, "body", m.Body)
	err := s.client.Load().XAdd(ctx, &redis.XAddArgs{Stream: m.Stream, MaxLen: m.Most, Approx: m.Most > 0, Values: values}).Err()
	if err == nil {
		return nil
	}
	return s.failed(ctx, err)
}

// failed tells what an error means for the message.
func (s *streams) failed(ctx context.Context, err error) *Failure {
	if said, ok := errors.AsType[redis.Error](err); ok {
		return unsent("the broker said %s", said.Error()) // it did nothing
	}
	if dial, ok := errors.AsType[*dialError](err); ok {
		return unsent("connect to the broker: %w", dial.error)
	}
	switch {
	case errors.Is(err, redis.ErrClosed):
		return &Failure{Definite: true, Err: errClosed}
	case errors.Is(err, redis.ErrPoolTimeout):
		return unsent("no free connection to the broker in time: %w", err)
	case ctx.Err() != nil:
		return unknown("sent, but the broker did not confirm it in time: %w", ctx.Err())
	case errors.Is(err, os.ErrDeadlineExceeded): // the connection has the same deadline
		return unknown("sent, but the broker did not confirm it in time: %w", context.DeadlineExceeded)
	}
	return unknown("the connection ended before the broker confirmed the message: %w", err)
}

// Check looks whether each name is a stream, or free to become one.
func (s *streams) Check(ctx context.Context, places []Place) error {
	if f := s.may(ctx); f != nil {
		return f
	}
	if err := s.client.Load().Ping(ctx).Err(); err != nil {
		return s.failed(ctx, err)
	}
	var wrong []error
	for _, p := range places {
		kind, err := s.client.Load().Type(ctx, p.Stream).Result()
		switch {
		case err != nil:
			wrong = append(wrong, s.failed(ctx, err))
		case kind != "stream" && kind != "none":
			wrong = append(wrong, fmt.Errorf("%s is no stream but a %s", p.Stream, kind))
		}
	}
	return errors.Join(wrong...)
}

// Close ends the connections.
func (s *streams) Close() error { return s.client.Load().Close() }
