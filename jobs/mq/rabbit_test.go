package mq_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/netip"
	"os"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"

	"ax/jobs/mq"
	"ax/jobs/mq/mqtest"
)

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard)
	os.Exit(mqtest.Main(m))
}

func open(addr string) mq.Options {
	return mq.Options{
		Addr: addr, Vhost: "/", User: "guest", Password: "guest", Now: time.Now,
		Dial: (&net.Dialer{}).DialContext,
		May:  func(context.Context, netip.AddrPort) error { return nil },
	}
}

func publisher(t *testing.T, kind mq.Kind, o mq.Options) mq.Publisher {
	t.Helper()
	p, err := mq.New(kind, o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func rabbit(t *testing.T, b *mqtest.Broker) mq.Publisher { return publisher(t, mq.AMQP, open(b.Addr)) }

func message(exchange, key, id string) mq.Message {
	return mq.Message{
		Place: mq.Place{Exchange: exchange, Key: key}, ID: id, Correlation: "c-" + id, Type: "ax.run",
		Headers: map[string]string{"ax-instance": "i-" + id, "shop": "门店 17"}, Body: []byte(`{"n":1}`),
	}
}

func failure(t *testing.T, err error) *mq.Failure {
	t.Helper()
	f, ok := errors.AsType[*mq.Failure](err)
	require.True(t, ok, "%v", err)
	return f
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestAConfirmedMessageIsInTheQueueAsItWasGiven(t *testing.T) {
	b := mqtest.Shared(t)
	b.Declare(t, "orders", "order.*", "confirmed", nil)
	require.NoError(t, rabbit(t, b).Publish(within(t, 20*time.Second), message("orders", "order.close", "a")))
	got := b.Take(t, "confirmed")
	require.Len(t, got, 1)
	d := got[0]
	require.Equal(t, amqp.Persistent, d.DeliveryMode)
	require.Equal(t, "application/json", d.ContentType)
	require.Equal(t, []string{"a", "c-a", "ax.run"}, []string{d.MessageId, d.CorrelationId, d.Type})
	require.Equal(t, amqp.Table{"ax-instance": "i-a", "shop": "门店 17"}, d.Headers)
	require.JSONEq(t, `{"n":1}`, string(d.Body))
}

// LOST-08: the library gives no error, and the next good message vanishes too.
func TestAMissingExchangeIsSaidAndTheNextMessageArrives(t *testing.T) {
	b := mqtest.Shared(t)
	b.Declare(t, "orders", "order.*", "after-missing", nil)
	p := rabbit(t, b)
	for range 3 {
		f := failure(t, p.Publish(within(t, 20*time.Second), message("no-such-exchange", "order.close", "lost")))
		require.True(t, f.Definite)
		require.Equal(t, amqp.NotFound, f.Code)
		require.ErrorContains(t, f, "no exchange 'no-such-exchange'")
		require.NoError(t, p.Publish(within(t, 20*time.Second), message("orders", "order.close", "good")))
	}
	require.Len(t, b.Take(t, "after-missing"), 3)
}

// A channel that is closed over one message must not take others with it.
func TestAMissingExchangeHarmsNoOtherMessage(t *testing.T) {
	b := mqtest.Shared(t)
	b.Declare(t, "orders", "order.*", "beside-missing", nil)
	p := rabbit(t, b)
	ctx := within(t, time.Minute)
	var all sync.WaitGroup
	errs := make([]error, 200)
	for i := range errs {
		all.Go(func() {
			exchange := "orders"
			if i%4 == 0 {
				exchange = "no-such-exchange"
			}
			errs[i] = p.Publish(ctx, message(exchange, "order.close", fmt.Sprint(i)))
		})
	}
	all.Wait()
	for i, err := range errs {
		if i%4 == 0 {
			require.Equal(t, amqp.NotFound, failure(t, err).Code, i)
			require.True(t, failure(t, err).Definite)
		} else {
			require.NoError(t, err, i)
		}
	}
	require.Len(t, b.Take(t, "beside-missing"), 150)
}

func TestAMessageThatNoQueueGetsIsAFailure(t *testing.T) {
	b := mqtest.Shared(t)
	b.Declare(t, "orders", "order.*", "routable", nil)
	p := rabbit(t, b)
	for range 3 {
		f := failure(t, p.Publish(within(t, 20*time.Second), message("orders", "invoice.close", "x")))
		require.True(t, f.Definite)
		require.Equal(t, amqp.NoRoute, f.Code)
		require.NoError(t, p.Publish(within(t, 20*time.Second), message("orders", "order.close", "y")))
	}
	require.Len(t, b.Take(t, "routable"), 3)
}

func TestADeletedQueueIsNoticedByTheNextMessage(t *testing.T) {
	b := mqtest.Shared(t)
	b.Declare(t, "dying", "order.*", "deleted", nil)
	p := rabbit(t, b)
	require.NoError(t, p.Publish(within(t, 20*time.Second), message("dying", "order.close", "a")))
	_, err := b.Ctl("delete_queue", "deleted")
	require.NoError(t, err)
	f := failure(t, p.Publish(within(t, 20*time.Second), message("dying", "order.close", "b")))
	require.True(t, f.Definite)
	require.Equal(t, amqp.NoRoute, f.Code)
}

// A full queue refuses, but another one behind the same exchange may have it.
func TestARefusedMessageMayBeInAnotherQueue(t *testing.T) {
	b := mqtest.Shared(t)
	b.Declare(t, "two", "order.*", "full", amqp.Table{"x-max-length": 1, "x-overflow": "reject-publish"})
	b.Declare(t, "two", "order.*", "roomy", nil)
	p := rabbit(t, b)
	require.NoError(t, p.Publish(within(t, 20*time.Second), message("two", "order.close", "a")))
	f := failure(t, p.Publish(within(t, 20*time.Second), message("two", "order.close", "b")))
	require.False(t, f.Definite)
	require.ErrorContains(t, f, "nack")
	require.Len(t, b.Take(t, "roomy"), 2, "which is why it is not definite")
	require.NoError(t, p.Publish(within(t, 20*time.Second), message("orders", "order.close", "c")))
}

func TestAChannelThatTheServerClosesIsADefiniteFailure(t *testing.T) {
	b := mqtest.Shared(t)
	_, err := b.Ctl("add_user", "narrow", "narrow-pass")
	require.NoError(t, err)
	_, err = b.Ctl("set_permissions", "narrow", "", "^allowed$", "")
	require.NoError(t, err)
	b.Declare(t, "allowed", "order.*", "allowed", nil)
	b.Declare(t, "orders", "order.*", "forbidden", nil)
	o := open(b.Addr)
	o.User, o.Password = "narrow", "narrow-pass"
	p := publisher(t, mq.AMQP, o)
	f := failure(t, p.Publish(within(t, 20*time.Second), message("orders", "order.close", "a")))
	require.True(t, f.Definite)
	require.Equal(t, amqp.AccessRefused, f.Code)
	require.NoError(t, p.Publish(within(t, 20*time.Second), message("allowed", "order.close", "b")))
	require.Empty(t, b.Take(t, "forbidden"))

	o.Password = "another-pass"
	f = failure(t, publisher(t, mq.AMQP, o).Publish(within(t, 20*time.Second), message("allowed", "order.close", "c")))
	require.True(t, f.Definite)
	require.ErrorContains(t, f, "refused the connection")
	require.NotContains(t, f.Error(), "another-pass")
}

func TestARuleOfAddressesHoldsForAKeptConnectionToo(t *testing.T) {
	b := mqtest.Shared(t)
	b.Declare(t, "orders", "order.*", "ruled", nil)
	o, forbidden := open(b.Addr), errors.New("forbidden by now")
	var rule error
	o.May = func(context.Context, netip.AddrPort) error { return rule }
	p := publisher(t, mq.AMQP, o)
	require.NoError(t, p.Publish(within(t, 20*time.Second), message("orders", "order.close", "a")))
	rule = forbidden
	f := failure(t, p.Publish(within(t, 20*time.Second), message("orders", "order.close", "b")))
	require.True(t, f.Definite)
	require.ErrorIs(t, f, forbidden)
	rule = nil
	require.NoError(t, p.Publish(within(t, 20*time.Second), message("orders", "order.close", "c")))
	require.Len(t, b.Take(t, "ruled"), 2)
}

func TestACheckSaysWhatIsMissingAndMakesNothing(t *testing.T) {
	b := mqtest.Shared(t)
	b.Declare(t, "orders", "order.*", "checked", nil)
	p := rabbit(t, b)
	require.NoError(t, p.Check(within(t, 20*time.Second), []mq.Place{{Exchange: "orders", Key: "order.close"}, {Key: "checked"}}))
	for range 2 {
		err := p.Check(within(t, 20*time.Second), []mq.Place{{Exchange: "none"}, {Exchange: "orders"}, {Key: "no-queue"}})
		require.ErrorContains(t, err, "no exchange 'none'")
		require.ErrorContains(t, err, "no queue 'no-queue'")
	}
	require.NoError(t, p.Publish(within(t, 20*time.Second), message("orders", "order.close", "a")))
}

func TestNobodyListensIsADefiniteFailure(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := l.Addr().String()
	require.NoError(t, l.Close())
	for _, kind := range []mq.Kind{mq.AMQP, mq.Redis} {
		f := failure(t, publisher(t, kind, open(addr)).Publish(within(t, 20*time.Second), message("orders", "order.close", "a")))
		require.True(t, f.Definite, kind)
		require.ErrorContains(t, f, "connect to the broker")
	}
}

// Whoever answers neither by a greeting nor by an error must not hold a run
// longer than it has time.
func TestASilentServerIsLeftInTime(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	f := failure(t, publisher(t, mq.AMQP, open(l.Addr().String())).Publish(within(t, 300*time.Millisecond), message("orders", "order.close", "a")))
	require.True(t, f.Definite, "nothing of the message was sent")
	require.ErrorIs(t, f, context.DeadlineExceeded)
	f = failure(t, publisher(t, mq.Redis, open(l.Addr().String())).Publish(within(t, 300*time.Millisecond), message("", "", "a")))
	require.ErrorIs(t, f, context.DeadlineExceeded)
}
