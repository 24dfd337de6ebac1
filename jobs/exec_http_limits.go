package jobs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"time"

	"ax/app/access"
	"ax/app/sched"
)

// errFirstByte ends a call whose answer did not begin in time.
var errFirstByte = errors.New("no first byte of the answer in time")

// limitsKey finds a call's own limits in its context.
type limitsKey struct{}

// limits of the parts of a call; 0: the whole time limit alone.
type limits struct{ connect, tls, firstByte time.Duration }

func limitsOf(r *sched.HTTPRules) limits {
	if r == nil {
		return limits{}
	}
	return limits{connect: time.Duration(r.ConnectSeconds) * time.Second, tls: time.Duration(r.TLSSeconds) * time.Second, firstByte: time.Duration(r.FirstByteSeconds) * time.Second}
}

// within bounds a part of the connecting.
func within(ctx context.Context, part func(limits) time.Duration) (context.Context, context.CancelFunc) {
	if own, ok := ctx.Value(limitsKey{}).(limits); ok && part(own) > 0 {
		return context.WithTimeout(ctx, part(own))
	}
	return context.WithCancel(ctx)
}

// watch ends the call when its answer doesn't begin in time after the
// connection stood. begin and stop may be called any number of times.
func (l limits) watch(ctx context.Context) (_ context.Context, begin, stop func()) {
	if l.firstByte == 0 {
		return ctx, func() {}, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(l.firstByte, func() { cancel(errFirstByte) })
	timer.Stop()
	return ctx, func() { timer.Reset(l.firstByte) }, func() { timer.Stop() }
}

// transportOf is the transport of a call with certificates of its own: such
// connections are lent to nobody, so they aren't kept.
func (h *HTTP) transportOf(ctx context.Context, call sched.Call, c *httpCall, to access.Destination) error {
	r := call.Target.HTTP
	if r == nil || r.CA == "" && r.ClientCert == "" {
		return nil
	}
	roots := h.o.RootCAs
	if r.CA != "" {
		roots = x509.NewCertPool()
		if !roots.AppendCertsFromPEM([]byte(r.CA)) {
			return errors.New("the target's own certificates can't be read")
		}
	}
	var own []tls.Certificate
	if r.ClientCert != "" {
		cert, err := h.clientCert(ctx, call, to)
		if err != nil {
			return fmt.Errorf("certificate %s: %w", r.ClientCert, err)
		}
		own = append(own, cert)
	}
	c.by = newTransport(h.o.Egress, roots, h.o.Resolve, own...)
	c.by.DisableKeepAlives = true
	return nil
}

// clientCert opens the team's secret that holds a certificate and its key. It
// is a line, so the PEM is in base64.
func (h *HTTP) clientCert(ctx context.Context, call sched.Call, to access.Destination) (tls.Certificate, error) {
	if h.o.Secrets == nil {
		return tls.Certificate{}, errors.New("this process opens no secrets")
	}
	plain, err := h.o.Secrets.Reveal(ctx, call.TeamID, call.Target.HTTP.ClientCert, to)
	if err != nil {
		return tls.Certificate{}, err
	}
	both, err := base64.StdEncoding.DecodeString(plain)
	if err != nil {
		return tls.Certificate{}, errors.New("it must be the certificate and its key in PEM, in base64")
	}
	cert, err := tls.X509KeyPair(both, both)
	if err != nil {
		return tls.Certificate{}, errors.New("it must be the certificate and its key in PEM, in base64: they can't be read, or don't belong together")
	}
	return cert, nil
}

// wantsQuiet is how long a target that has too much to do asks to be left
// alone; 0: it doesn't.
func wantsQuiet(resp *http.Response, now time.Time) time.Duration {
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode != http.StatusServiceUnavailable {
		return 0
	}
	return retryAfter(resp.Header, now)
}
