package oidc

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The bounds of a call to the provider.
const (
	dialLimit = 5 * time.Second
	callLimit = 10 * time.Second
	maxAnswer = 1 << 20 // bytes
)

// newClient calls the provider: no proxy of the environment, no redirect (a
// secret goes out with the code), and no endless answer.
func newClient() *http.Client {
	t := &http.Transport{
		Proxy:               nil,
		DialContext:         (&net.Dialer{Timeout: dialLimit}).DialContext,
		TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: dialLimit, MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute,
		ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 64 << 10,
	}
	return &http.Client{
		Timeout: callLimit, Transport: bounded{t},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("the provider redirects, which ax does not follow")
		},
	}
}

// bounded cuts answers, and lets none go to an address that can be read on
// the way. A provider that fails by its own account is one that is away.
type bounded struct{ next http.RoundTripper }

// RoundTrip asks the provider.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	if !encrypted(r.URL) {
		return nil, fmt.Errorf("%s://%s is not encrypted", r.URL.Scheme, r.URL.Host)
	}
	res, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= http.StatusInternalServerError {
		_ = res.Body.Close()
		return nil, fmt.Errorf("the provider answers %d", res.StatusCode)
	}
	res.Body = &limited{ReadCloser: res.Body, left: maxAnswer}
	return res, nil
}

// limited fails past its bound: half an answer must not be taken for a whole.
type limited struct {
	io.ReadCloser
	left int64
}

// Read gives what is left.
func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("the provider's answer has more than %d bytes", maxAnswer)
	}
	if int64(len(p)) > l.left {
		p = p[:l.left]
	}
	n, err := l.ReadCloser.Read(p)
	l.left -= int64(n)
	return n, err
}

// maxCause bounds what an error says, in bytes: some quote a whole answer.
const maxCause = 500

// scrubbed is an error that can be logged: a provider may send back what it
// was sent.
func scrubbed(err error, secrets ...string) error {
	text := err.Error()
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, "•••")
			text = strings.ReplaceAll(text, url.QueryEscape(s), "•••")
		}
	}
	if len(text) > maxCause {
		text = strings.ToValidUTF8(text[:maxCause], "") + "…"
	}
	return errors.New(text)
}

// away tells whether the provider could not be asked: nothing is known of the
// person then.
func away(ctx context.Context, err error) bool {
	_, ok := errors.AsType[*url.Error](err) // what the client makes of every failure
	return ok || ctx.Err() != nil
}
