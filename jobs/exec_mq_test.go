package jobs_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
	"ax/jobs"
	"ax/jobs/mq/mqtest"
	"ax/jobs/redistest"
)

// brokerShelf holds the brokers of team 7.
type brokerShelf map[string]access.Broker

func (s brokerShelf) Open(_ context.Context, team int64, name string) (access.Broker, access.BrokerAccount, error) {
	b, ok := s[name]
	if !ok || team != b.TeamID {
		return access.Broker{}, access.BrokerAccount{}, errors.New("the team has no broker " + name)
	}
	account := access.BrokerAccount{User: "guest", Password: "guest"}
	if b.Kind == access.BrokerRedis {
		account = access.BrokerAccount{}
	}
	return b, account, nil
}

func rabbitAt(addr string, places ...string) access.Broker {
	return access.Broker{ID: "r1", TeamID: 7, Name: "rabbit", Kind: access.BrokerAMQP, Address: "amqp://" + addr, Places: places, ChangedAt: time.Unix(1, 0)}
}

func poster(t *testing.T, s brokerShelf, allow ...netip.Prefix) *jobs.MQ {
	t.Helper()
	if allow == nil {
		allow = jobs.PrivateNetworks()
	}
	x := jobs.NewMQ(jobs.MQOptions{
		Brokers: s, Egress: jobs.NewEgress(jobs.EgressPolicy{Allow: allow}), Signer: signer(t),
		Now: func() time.Time { return time.Unix(sentAt, 0) }, Local: time.Now,
	})
	t.Cleanup(x.Close)
	return x
}

func messageTo(exchange, key string) sched.Call {
	c := callTo("")
	c.TeamID = 7
	c.ReceiptURL, c.ReceiptToken = "https://ax.example.com/api/v1/instances/"+instanceID+"/receipt", "2.a-receipt-token"
	c.Target = sched.Target{
		Kind: sched.TargetMQ, Broker: "rabbit", Exchange: exchange, RoutingKey: key, Done: sched.DoneReceipt,
		Headers: map[string]string{"shop": "门店 17"},
	}
	return c
}

func TestAMessageCarriesWhatACallCarries(t *testing.T) {
	b := mqtest.Shared(t)
	b.Declare(t, "orders", "order.*", "exec-whole", nil)
	x := poster(t, brokerShelf{"rabbit": rabbitAt(b.Addr, "orders order.*")})
	r := x.Execute(t.Context(), messageTo("orders", "order.close"))
	require.Equal(t, sched.OutcomeAccepted, r.Outcome, r.Error)
	require.True(t, r.Definite)
	got := b.Take(t, "exec-whole")
	require.Len(t, got, 1)
	d := got[0]
	require.Equal(t, "close-order/order-7", d.MessageId)
	require.Equal(t, instanceID, d.CorrelationId)
	require.EqualValues(t, 2, d.DeliveryMode, "persistent")
	require.Equal(t, signer(t).Sign(time.Unix(sentAt, 0), instanceID, d.Body), d.Headers["ax-signature"])
	require.JSONEq(t, `{"instance_id":"`+instanceID+`","task":"close-order","biz_id":"order-7","attempt":2,"scheduled_at":"2026-11-30T00:53:20.123Z","payload":{"n":12345678901234567890,"s":"<&>"}}`, string(d.Body))
	for name, want := range map[string]string{
		"ax-instance": instanceID, "ax-attempt": "2", "ax-replay": "1", "ax-timestamp": "1796000000", "shop": "门店 17",
		"ax-receipt-url": "https://ax.example.com/api/v1/instances/" + instanceID + "/receipt", "ax-receipt-token": "2.a-receipt-token",
	} {
		require.Equal(t, want, d.Headers[name], name)
	}
	require.Contains(t, r.Request, "PUBLISH orders order.close\nbroker: rabbit (amqp)\nmessage-id: close-order/order-7\n")
	require.NotContains(t, r.Request, "a-receipt-token")
	require.NotContains(t, r.Request, d.Headers["ax-signature"])

	done := messageTo("orders", "order.close")
	done.Target.Done = sched.DoneConfirm
	require.Equal(t, sched.OutcomeSucceeded, x.Execute(t.Context(), done).Outcome)
	require.Len(t, b.Take(t, "exec-whole"), 1)
}

// A message that comes twice is told by its id: each attempt, and a delivery
// that the consumer never acknowledged.
func TestADuplicateDeliveryHasTheSameID(t *testing.T) {
	b := mqtest.Shared(t)
	b.Declare(t, "orders", "order.*", "exec-twice", nil)
	x := poster(t, brokerShelf{"rabbit": rabbitAt(b.Addr, "orders order.*")})
	for attempt := range 2 {
		call := messageTo("orders", "order.close")
		call.Attempt = attempt + 1
		require.Equal(t, sched.OutcomeAccepted, x.Execute(t.Context(), call).Outcome)
	}
	dying := b.Channel(t)
	d, ok, err := dying.Get("exec-twice", false)
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, dying.Close())
	var ids []string
	for _, again := range b.Take(t, "exec-twice") {
		ids = append(ids, again.MessageId)
	}
	require.Equal(t, []string{d.MessageId, d.MessageId}, ids)
}

func TestWhatBecomesOfAMessage(t *testing.T) {
	b := mqtest.Shared(t)
	b.Declare(t, "orders", "order.*", "exec-ends", nil)
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, nobody.Close())
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	named := func(name string) access.Broker {
		other := rabbitAt(b.Addr, "orders #", "none #")
		other.ID, other.Name = name, name
		return other
	}
	gone, dumb, stranger := named("gone"), named("dumb"), named("stranger")
	gone.Address, dumb.Address, stranger.TeamID = "amqp://"+nobody.Addr().String(), "amqp://"+silent.Addr().String(), 8
	x := poster(t, brokerShelf{"rabbit": named("rabbit"), "gone": gone, "dumb": dumb, "stranger": stranger})
	for name, c := range map[string]struct {
		broker, exchange, key string
		outcome               sched.Outcome
		code                  int
		says                  string
	}{
		"no queue is bound":     {"rabbit", "orders", "invoice.close", sched.OutcomeFailed, 312, "no queue is bound"},
		"no such exchange":      {"rabbit", "none", "order.close", sched.OutcomeFailed, 404, "no exchange 'none'"},
		"not on the list":       {"rabbit", "amq.direct", "order.close", sched.OutcomeFailed, 0, "is not on the list of rabbit"},
		"nobody listens":        {"gone", "orders", "order.close", sched.OutcomeFailed, 0, "connection refused"},
		"no greeting":           {"dumb", "orders", "order.close", sched.OutcomeTimedOut, 0, "no connection to the broker in time"},
		"another team's broker": {"stranger", "orders", "order.close", sched.OutcomeFailed, 0, "the team has no broker stranger"},
		"no broker":             {"missing", "orders", "order.close", sched.OutcomeFailed, 0, "the team has no broker missing"},
	} {
		call := messageTo(c.exchange, c.key)
		call.Target.Broker = c.broker
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		r := x.Execute(ctx, call)
		cancel()
		require.Equal(t, c.outcome, r.Outcome, "%s: %s", name, r.Error)
		require.True(t, r.Definite, "%s: nobody got it", name)
		require.Equal(t, c.code, r.StatusCode, name)
		require.Contains(t, r.Error, c.says, name)
	}
	require.Empty(t, b.Take(t, "exec-ends"))
}

// F27 for messages: the address rules hold where a broker is dialed.
func TestABrokerInsideTheNetworkNeedsTheTeamsRange(t *testing.T) {
	b := mqtest.Shared(t)
	x := poster(t, brokerShelf{"rabbit": rabbitAt(b.Addr, "orders order.*")}, netip.MustParsePrefix("10.0.0.0/8"))
	r := x.Execute(t.Context(), messageTo("orders", "order.close"))
	require.Equal(t, sched.OutcomeFailed, r.Outcome)
	require.True(t, r.Definite)
	require.Contains(t, r.Error, "the address rules of this installation forbid it")
	err := x.Probe(t.Context(), rabbitAt(b.Addr, "orders order.*"), access.BrokerAccount{User: "guest", Password: "guest"})
	require.ErrorContains(t, err, "the address rules")
}

func TestAProbeSaysWhatIsWrongWithoutTheAccount(t *testing.T) {
	b := mqtest.Shared(t)
	b.Declare(t, "orders", "order.*", "exec-probe", nil)
	x, guest := poster(t, brokerShelf{}), access.BrokerAccount{User: "guest", Password: "guest"}
	require.NoError(t, x.Probe(t.Context(), rabbitAt(b.Addr, "(default) exec-probe", "orders order.*"), guest))
	require.ErrorContains(t, x.Probe(t.Context(), rabbitAt(b.Addr, "(default) none", "nowhere #"), guest), "no exchange 'nowhere'")
	err := x.Probe(t.Context(), rabbitAt(b.Addr, "orders order.*"), access.BrokerAccount{User: "guest", Password: "canary-pass"})
	require.ErrorContains(t, err, "403")
	require.NotContains(t, err.Error(), "canary")
	vhost := rabbitAt(b.Addr, "orders order.*")
	vhost.Address += "/none"
	require.Error(t, x.Probe(t.Context(), vhost, guest))
	secure := rabbitAt(b.Addr, "orders order.*")
	secure.TLS = true
	require.Error(t, x.Probe(t.Context(), secure, guest), "no TLS is spoken there")
}

func TestAChangedBrokerIsConnectedAnew(t *testing.T) {
	b := mqtest.Shared(t)
	b.Declare(t, "orders", "order.*", "exec-changed", nil)
	s := brokerShelf{"rabbit": rabbitAt(b.Addr, "orders order.*")}
	x := poster(t, s)
	require.Equal(t, sched.OutcomeAccepted, x.Execute(t.Context(), messageTo("orders", "order.close")).Outcome)
	other := s["rabbit"]
	other.Address, other.ChangedAt = "amqp://127.0.0.1:1", time.Unix(2, 0)
	s["rabbit"] = other
	require.Equal(t, sched.OutcomeFailed, x.Execute(t.Context(), messageTo("orders", "order.close")).Outcome)
	back := rabbitAt(b.Addr, "orders order.*")
	back.ChangedAt = time.Unix(3, 0)
	s["rabbit"] = back
	require.Equal(t, sched.OutcomeAccepted, x.Execute(t.Context(), messageTo("orders", "order.close")).Outcome)
}

func TestAMessageToAStream(t *testing.T) {
	s := redistest.Start(t)
	b := access.Broker{ID: "r2", TeamID: 7, Name: "redis", Kind: access.BrokerRedis, Address: "redis://" + s.Addr, Places: []string{"orders 1000"}, ChangedAt: time.Unix(1, 0)}
	x := poster(t, brokerShelf{"redis": b})
	call := messageTo("", "")
	call.Target.Broker, call.Target.Stream = "redis", "orders"
	r := x.Execute(t.Context(), call)
	require.Equal(t, sched.OutcomeAccepted, r.Outcome, r.Error)
	require.True(t, strings.HasPrefix(r.Request, "PUBLISH orders\nbroker: redis (redis)\n"), r.Request)
	call.Target.Stream = "other"
	r = x.Execute(t.Context(), call)
	require.Equal(t, sched.OutcomeFailed, r.Outcome)
	require.Contains(t, r.Error, "The stream other is not on the list of redis")
	require.NoError(t, x.Probe(t.Context(), b, access.BrokerAccount{}))
	s.Kill()
	call.Target.Stream = "orders"
	r = x.Execute(t.Context(), call)
	require.Equal(t, []any{sched.OutcomeFailed, true}, []any{r.Outcome, r.Definite}, r.Error)
}
