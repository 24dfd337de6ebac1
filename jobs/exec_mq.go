package jobs

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"ax/app/access"
	"ax/app/sched"
	"ax/jobs/mq"
)

// brokers opens a team's broker with its account.
type brokers interface {
	Open(ctx context.Context, team int64, name string) (access.Broker, access.BrokerAccount, error)
}

// MQOptions of the executor of messages. All but RootCAs, Resolve and Sampled
// are required; without Brokers it only probes.
type MQOptions struct {
	Brokers brokers
	Egress  *Egress
	Signer  *Signer
	Now     func() time.Time
	Local   func() time.Time // this machine's clock: deadlines of connections go by it
	RootCAs *x509.CertPool   // nil: the system's
	Resolve *net.Resolver    // nil: the system's
	// Sampled tells whether ax records the instance's trace, as in HTTPOptions.
	Sampled func(instanceID string) bool
}

// MQ publishes messages (docs/mq.md). It waits for the broker's confirm: with
// it the work is accepted, or done if the task says so.
type MQ struct {
	o MQOptions

	mu   sync.Mutex
	open map[string]*publisher // by the broker's id
}

// publisher is the connection to a broker as it was configured.
type publisher struct {
	mq.Publisher
	version time.Time // when the broker was changed last
	used    time.Time
	calls   int // that publish now
}

// publisherIdle is how long a connection that nobody uses is kept.
const publisherIdle = 5 * time.Minute

// NewMQ makes the executor.
func NewMQ(o MQOptions) *MQ { return &MQ{o: o, open: map[string]*publisher{}} }

// Close ends all connections. What is being published fails.
func (x *MQ) Close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for id, p := range x.open {
		_ = p.Close()
		delete(x.open, id)
	}
}

// Execute publishes the call and waits for the confirm, or ctx.
func (x *MQ) Execute(ctx context.Context, call sched.Call) sched.Result {
	body, err := callBody(call)
	if err != nil {
		return unsent(fmt.Errorf("write the body: %w", err))
	}
	return x.send(ctx, call, "ax.run", body)
}

// send is Execute of a message of a type, with a body.
func (x *MQ) send(ctx context.Context, call sched.Call, kind string, body []byte) sched.Result {
	b, account, err := x.o.Brokers.Open(ctx, call.TeamID, call.Target.Broker)
	if err != nil {
		return unsent(err)
	}
	m, err := x.message(call, b, kind, body)
	if err != nil {
		return unsent(err)
	}
	err = x.publish(ctx, b, account, m)
	r := published(ctx, call.Target, err, hidden(account))
	r.Request = showMessage(b, m, call.ReceiptToken)
	return r
}

// Probe connects to a broker and looks whether what tasks may publish to is
// there. The error has nothing of the account in it.
func (x *MQ) Probe(ctx context.Context, b access.Broker, account access.BrokerAccount) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	p, err := mq.New(mq.Kind(b.Kind), x.options(b, account))
	if err != nil {
		return err
	}
	defer func() { _ = p.Close() }()
	var places []mq.Place
	for _, line := range b.Places {
		name, key, _ := strings.Cut(line, " ")
		switch {
		case b.Kind == access.BrokerRedis:
			places = append(places, mq.Place{Stream: name})
		case name == access.DefaultExchange:
			places = append(places, mq.Place{Key: key})
		default:
			places = append(places, mq.Place{Exchange: name})
		}
	}
	if err := p.Check(ctx, places); err != nil {
		return errors.New(oneLine(mask(reason(err), hidden(account))))
	}
	return nil
}

// message is what the call publishes, if the broker's list allows it. The list
// was asked when the task was written, and may have been narrowed.
func (x *MQ) message(call sched.Call, b access.Broker, kind string, body []byte) (mq.Message, error) {
	if bad := call.Target.Refused(b); len(bad) > 0 {
		return mq.Message{}, errors.New(bad[0].Text.String())
	}
	to := call.Target
	place := mq.Place{Exchange: to.Exchange, Key: to.RoutingKey, Stream: to.Stream}
	if place.Exchange == access.DefaultExchange {
		place.Exchange = ""
	}
	place.Most, _ = b.AllowsStream(to.Stream)
	now := x.o.Now()
	headers := map[string]string{
		"ax-instance":  call.InstanceID,
		"ax-attempt":   strconv.Itoa(call.Attempt),
		"ax-replay":    strconv.Itoa(call.Replay),
		"ax-timestamp": strconv.FormatInt(now.Unix(), 10),
		"ax-signature": x.o.Signer.Sign(now, call.InstanceID, body),
		"traceparent":  traceparent(call, x.o.Sampled),
	}
	if call.ReceiptURL != "" && call.ReceiptToken != "" {
		headers["ax-receipt-url"], headers["ax-receipt-token"] = call.ReceiptURL, call.ReceiptToken
	}
	for name, value := range to.Headers {
		if _, ours := headers[name]; !ours {
			headers[name] = value
		}
	}
	return mq.Message{Place: place, ID: call.Key, Correlation: call.InstanceID, Type: kind, Headers: headers, Body: body}, nil
}

func (x *MQ) publish(ctx context.Context, b access.Broker, account access.BrokerAccount, m mq.Message) error {
	p, err := x.publisher(b, account)
	if err != nil {
		return &mq.Failure{Definite: true, Err: err}
	}
	defer x.done(p)
	return p.Publish(ctx, m)
}

// publisher gives the connection to the broker as it is configured now.
func (x *MQ) publisher(b access.Broker, account access.BrokerAccount) (*publisher, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := x.o.Now()
	x.closeIdle(now)
	p := x.open[b.ID]
	if p == nil || !p.version.Equal(b.ChangedAt) {
		made, err := mq.New(mq.Kind(b.Kind), x.options(b, account))
		if err != nil {
			return nil, err
		}
		if p != nil && p.calls == 0 { // else the last call closes it
			_ = p.Close()
		}
		p = &publisher{Publisher: made, version: b.ChangedAt}
		x.open[b.ID] = p
	}
	p.used = now
	p.calls++
	return p, nil
}

// done gives a publisher back. One that was replaced ends with its last call.
func (x *MQ) done(p *publisher) {
	x.mu.Lock()
	defer x.mu.Unlock()
	p.calls--
	p.used = x.o.Now()
	for _, kept := range x.open {
		if kept == p {
			return
		}
	}
	if p.calls == 0 {
		_ = p.Close()
	}
}

func (x *MQ) closeIdle(now time.Time) {
	for id, p := range x.open {
		if p.calls == 0 && now.Sub(p.used) > publisherIdle {
			_ = p.Close()
			delete(x.open, id)
		}
	}
}

// options of a publisher: it dials where tasks of the broker's team may call.
func (x *MQ) options(b access.Broker, account access.BrokerAccount) mq.Options {
	addr, vhost, db := b.Endpoint()
	dialer := &net.Dialer{KeepAlive: 15 * time.Second, ControlContext: x.o.Egress.ControlContext, Resolver: x.o.Resolve}
	o := mq.Options{
		Addr: addr, Vhost: vhost, DB: db, User: account.User, Password: account.Password, Now: x.o.Local,
		Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return dialer.DialContext(withTeam(ctx, b.TeamID), network, addr)
		},
		May: func(ctx context.Context, to netip.AddrPort) error { return x.o.Egress.Check(ctx, b.TeamID, to) },
	}
	if b.TLS {
		o.TLS = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x.o.RootCAs}
	}
	return o
}

// hidden is what must not be said of an account, longest first.
func hidden(a access.BrokerAccount) []string {
	out := shapes(a.Password)
	out = slices.DeleteFunc(out, func(s string) bool { return s == "" })
	slices.SortFunc(out, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return out
}

// published says what a publishing means for the work.
func published(ctx context.Context, to sched.Target, err error, secrets []string) sched.Result {
	if err == nil {
		r := sched.Result{Outcome: sched.OutcomeAccepted, Definite: true, Response: "confirmed by the broker"}
		if to.Done == sched.DoneConfirm {
			r.Outcome = sched.OutcomeSucceeded
		}
		return r
	}
	r := sched.Result{Outcome: sched.OutcomeFailed, Error: oneLine(mask(reason(err), secrets))}
	if f, ok := errors.AsType[*mq.Failure](err); ok {
		r.Definite, r.StatusCode = f.Definite, f.Code
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		r.Outcome, r.Error = sched.OutcomeCanceled, "canceled while the message was published"
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		r.Outcome = sched.OutcomeTimedOut
	}
	if r.StatusCode != 0 {
		r.Response = r.Error
	}
	return r
}
