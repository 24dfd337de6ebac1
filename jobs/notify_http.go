package jobs

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ax/app/alert"
)

// maxReply is how much of an answer is read.
const maxReply = 64 << 10

// post is a message ready to be sent.
type post struct {
	team    int64
	url     string
	header  http.Header
	body    []byte
	secrets []string // besides the address
	judge   func(reply) alert.Answer
}

// reply is what came back.
type reply struct {
	status int
	header http.Header
	body   []byte
	wait   time.Duration // by Retry-After
	cut    bool          // there may be more of the body
}

// post sends once. Redirects are not followed, and the address is never part of
// what is said of it.
func (n *Notifier) post(ctx context.Context, p post) alert.Answer {
	hidden := masking(append(addressSecrets(p.url), p.secrets...))
	r, err := n.exchange(ctx, p)
	if r.cut && len(hidden) > 0 {
		// Half a secret at the end can't be told from other text.
		masked := mask(string(r.body), hidden)
		r.body = []byte(masked[:max(len(masked)-len(hidden[0]), 0)])
	}
	var a alert.Answer
	if err != nil {
		a = n.unheard(ctx, err)
	} else {
		a = p.judge(r)
		a.Status = r.status
		a.Wait = max(a.Wait, r.wait)
		if a.Verdict != alert.Again {
			a.Wait = 0
		}
	}
	a.Code = firstRunes(oneLine(mask(a.Code, hidden)), 60)
	a.Body = oneLine(mask(a.Body, hidden))
	return a
}

func (n *Notifier) exchange(ctx context.Context, p post) (reply, error) {
	ctx, cancel := context.WithTimeout(withTeam(ctx, p.team), n.o.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(withEnd(ctx), http.MethodPost, p.url, bytes.NewReader(p.body))
	if err != nil {
		return reply{}, errAddress
	}
	if p.header != nil {
		req.Header = p.header
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("User-Agent", "ax/"+cmp.Or(n.o.Version, "dev"))
	resp, err := n.by.RoundTrip(req)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if err != nil {
		return reply{}, err
	}
	return reply{status: resp.StatusCode, header: resp.Header, body: body, wait: retryAfter(resp.Header, n.o.Now()), cut: len(body) == maxReply}, nil
}

// errAddress is of an address that was stored before it could be checked.
var errAddress = errors.New("the channel's address can't be read")

// unheard is the answer when none came. What may pass by itself is tried again;
// a forbidden address stays one until somebody opens it, and this message would
// be old by then.
func (n *Notifier) unheard(ctx context.Context, err error) alert.Answer {
	a := alert.Answer{Verdict: alert.Again, Code: "network"}
	dns, isDNS := errors.AsType[*net.DNSError](err)
	record, isRecord := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case errors.Is(err, errNoList):
		a.Code, a.Body = "ledger", reason(err)
	case errors.Is(err, errBlocked):
		a.Verdict, a.Code, a.Body = alert.GiveUp, "blocked", reason(err)
	case errors.Is(err, errAddress):
		a.Verdict, a.Code, a.Body = alert.TurnOff, "address", err.Error()
	case isDNS:
		a.Code, a.Body = "dns", fmt.Sprintf("host %s can't be resolved: %s", dns.Name, dns.Err)
	case errors.Is(ctx.Err(), context.Canceled):
		a.Code, a.Body = "stopped", "ax was stopped while it was sent"
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) || timedOut(err):
		a.Code, a.Body = "timeout", fmt.Sprintf("no answer within %s", n.o.Timeout)
	case badCertificate(err):
		a.Code, a.Body = "certificate", "the receiver's certificate can't be trusted: "+certificateError(err)
	case isRecord:
		a.Code, a.Body = "tls", "the receiver speaks no TLS: "+record.Msg
	case errors.Is(err, syscall.ECONNREFUSED):
		a.Body = "the receiver refuses connections"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		a.Body = "the receiver closed the connection without a whole answer"
	default:
		a.Body = unwrapped(err).Error()
	}
	return a
}

func timedOut(err error) bool {
	t, ok := errors.AsType[net.Error](err)
	return ok && t.Timeout()
}

func badCertificate(err error) bool {
	_, ok := errors.AsType[*tls.CertificateVerificationError](err)
	return ok
}

func certificateError(err error) string {
	if h, ok := errors.AsType[x509.HostnameError](err); ok {
		return "it isn't for " + h.Host
	}
	if c, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return c.Err.Error()
	}
	return err.Error()
}

// unwrapped takes off what names the address: url.Error prints it.
func unwrapped(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// maxWait is the longest pause that a receiver can ask for.
const maxWait = time.Hour

// retryAfter reads seconds or a date, up to an hour (RFC 9110, section 10.2.3);
// 0: nothing is asked for.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	s, err := strconv.ParseInt(value, 10, 64)
	if err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(max(s, 0), int64(maxWait/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), maxWait)
	}
	return 0
}

// addressSecrets are what of an address lets its bearer send: all of it, and
// the tokens in it.
func addressSecrets(raw string) []string {
	out := []string{raw}
	u, err := url.Parse(raw)
	if err != nil {
		return out
	}
	if len(u.RequestURI()) > 8 {
		out = append(out, u.RequestURI(), u.EscapedPath())
	}
	for _, part := range strings.Split(u.Path, "/") {
		if len(part) >= 8 {
			out = append(out, part)
		}
	}
	for _, values := range u.Query() {
		for _, v := range values {
			if len(v) >= 6 {
				out = append(out, v)
			}
		}
	}
	return out
}

// masking makes secrets fit for mask: in every shape, the longest first.
func masking(secrets []string) []string {
	var out []string
	for _, s := range secrets {
		if s != "" && s != "/" {
			out = append(out, shapes(s)...)
		}
	}
	out = slices.DeleteFunc(out, func(s string) bool { return len(s) < 4 })
	slices.SortFunc(out, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return slices.Compact(out)
}

// byStatus judges by the HTTP status alone, where there is nothing better.
func byStatus(r reply) alert.Answer {
	a := alert.Answer{Verdict: alert.GiveUp, Body: said(r)}
	switch {
	case r.status >= 200 && r.status < 300:
		a.Verdict = alert.Accepted
	case r.status == http.StatusGone:
		a.Verdict = alert.TurnOff
	case r.status == http.StatusRequestTimeout, r.status == http.StatusTooEarly, r.status == http.StatusTooManyRequests, r.status >= 500:
		a.Verdict = alert.Again
	case r.status >= 300 && r.status < 400:
		a.Body = "redirects are not followed: " + a.Body
	}
	return a
}

// said is the answer in one line; of a page only that it is one.
func said(r reply) string {
	if isPage(r) {
		return fmt.Sprintf("answered %d with an HTML page", r.status)
	}
	if body := strings.TrimSpace(string(r.body)); body != "" {
		return body
	}
	return fmt.Sprintf("answered %d %s", r.status, http.StatusText(r.status))
}

func isPage(r reply) bool {
	head := strings.ToLower(strings.TrimSpace(string(r.body[:min(len(r.body), 200)])))
	return strings.HasPrefix(r.header.Get("Content-Type"), "text/html") || strings.HasPrefix(head, "<!doctype html") || strings.HasPrefix(head, "<html")
}
