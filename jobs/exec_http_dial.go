package jobs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"time"

	"ax/app/sched"
)

// connectTimeout bounds a connecting whose call has a longer deadline.
const connectTimeout = time.Minute

// dialer makes the connections of calls. http.Transport lets a dial and a TLS
// handshake go on when the call that wanted them is over, for others to use;
// from a target that doesn't answer they would pile up until its time limit,
// each with a descriptor, and in the end no other target could be called. So
// they end with their call.
type dialer struct {
	net *net.Dialer
	tls *tls.Config
}

// Of HTTP/2: a connection that is silent while calls wait is asked whether it
// lives, and what a target sends unread is bounded.
const (
	pingAfter  = 10 * time.Second
	pingWait   = 5 * time.Second
	unreadCall = 512 << 10
	unreadAll  = 4 << 20
)

// kept makes a transport keep its connections for the next calls of whom it is
// for, and speak HTTP/2 with targets that offer it under TLS.
func (d *dialer) kept(t *http.Transport) *http.Transport {
	d.tls.NextProtos = []string{"h2", "http/1.1"}
	t.Protocols.SetHTTP2(true)
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingWait, MaxReceiveBufferPerStream: unreadCall, MaxReceiveBufferPerConnection: unreadAll}
	t.MaxIdleConns, t.MaxIdleConnsPerHost, t.IdleConnTimeout = 1024, 256, idleFor
	return t
}

// single makes a transport use a connection for one call alone.
func single(t *http.Transport) *http.Transport {
	t.DisableKeepAlives = true
	return t
}

// newDialer connects only where the address rules let it. roots and resolve
// may be nil: the system's. own are certificates that ax shows.
func newDialer(e *Egress, roots *x509.CertPool, resolve *net.Resolver, own ...tls.Certificate) *dialer {
	return &dialer{
		net: &net.Dialer{KeepAlive: 15 * time.Second, ControlContext: e.ControlContext, Resolver: resolve},
		tls: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, Certificates: own, NextProtos: []string{"http/1.1"}},
	}
}

// transport calls over HTTP/1.1 and verified TLS, without proxies and
// compression.
func (d *dialer) transport() *http.Transport {
	plain := new(http.Protocols)
	plain.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  nil, // an address rule that a proxy gets around is none
		DialContext:            d.plain,
		DialTLSContext:         d.secure,
		MaxResponseHeaderBytes: maxHeader,
		DisableCompression:     true, // a bomb stays as small as it came
		Protocols:              plain,
	}
}

// callOf is the key of the context of a call, inside the one that the
// transport hands to the dialer: that one keeps values, but not the end.
type callOf struct{}

// withEnd makes a call's context known to the dialer.
func withEnd(ctx context.Context) context.Context { return context.WithValue(ctx, callOf{}, ctx) }

// bound gives a context that also ends with the call, and after connectTimeout.
func bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	call, ok := ctx.Value(callOf{}).(context.Context)
	if !ok {
		return ctx, cancel
	}
	stop := context.AfterFunc(call, cancel)
	return ctx, func() { stop(); cancel() }
}

// plain is http.Transport's DialContext.
func (d *dialer) plain(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := bound(ctx)
	defer cancel()
	ctx, stop := within(ctx, func(l limits) time.Duration { return l.connect })
	defer stop()
	defer watchOf(ctx).measure(func(p *sched.CallParts) *time.Duration { return &p.Connect })()
	c, err := d.net.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &markedConn{Conn: c}, nil
}

// secure is http.Transport's DialTLSContext.
func (d *dialer) secure(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := bound(ctx)
	defer cancel()
	c, err := d.plain(ctx, network, address)
	if err != nil {
		return nil, err
	}
	config := d.tls.Clone()
	if config.ServerName, _, err = net.SplitHostPort(address); err != nil {
		_ = c.Close()
		return nil, err
	}
	t := tls.Client(c, config)
	ctx, stop := within(ctx, func(l limits) time.Duration { return l.tls })
	defer stop()
	defer watchOf(ctx).measure(func(p *sched.CallParts) *time.Duration { return &p.TLS })()
	if err := t.HandshakeContext(ctx); err != nil {
		_ = c.Close()
		return nil, err
	}
	return t, nil
}
