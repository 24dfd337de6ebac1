package jobs

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"ax/app/sched"
)

const (
	// idleFor is how long a connection is kept for the next call. Most
	// servers close theirs after 2 s or more; a call that meets that moment
	// fails without telling whether it was heard.
	idleFor = 1500 * time.Millisecond
	// maxHeader is how much status line and headers a target may send.
	maxHeader = 64 << 10
	// staleTries bounds how often a call takes another connection because the
	// kept one was closed before anything was written.
	staleTries = 3
)

// HTTPOptions of the executor. Egress, Signer and Now are required.
type HTTPOptions struct {
	Egress  *Egress
	Signer  *Signer
	Now     func() time.Time
	Version string         // of ax, for User-Agent
	RootCAs *x509.CertPool // nil: the system's
	Secrets secrets        // nil: no call carries any
	Resolve *net.Resolver  // nil: the system's
	// Local is the time of this machine, for how long the parts of a test call
	// take; nil: time.Now.
	Local func() time.Time
	// Sampled tells whether ax records the instance's trace, which targets go
	// by; nil: ax records none, and targets are asked to.
	Sampled func(instanceID string) bool
}

// HTTP calls HTTP targets (design.md section 11, "Callback"; docs/http.md). It
// knows no retries, proxies or cookies, and follows redirects only where the
// target says so.
type HTTP struct {
	o     HTTPOptions
	pools *pools
}

// NewHTTP makes the executor.
func NewHTTP(o HTTPOptions) *HTTP {
	if o.Local == nil {
		o.Local = time.Now
	}
	return &HTTP{o: o, pools: newPools(maxPools)}
}

// Close ends kept connections.
func (h *HTTP) Close() { h.pools.close() }

// httpCall is a call ready to be sent any number of times.
type httpCall struct {
	by      *http.Transport
	team    int64
	method  string
	url     string
	header  http.Header
	body    []byte
	secrets []string // not to be stored when the target sends them back
	sealed  []string // headers that hold secrets
	rules   *sched.HTTPRules

	redirects, hops int      // that may be followed, and were
	way             []string // where they led
	strange         bool     // to another host than the task's
}

// Execute sends the call and waits for the whole answer, or ctx. It succeeds
// only by a complete answer of a status of success.
func (h *HTTP) Execute(ctx context.Context, call sched.Call) sched.Result {
	body, err := bodyOf(call)
	if err != nil {
		return unsent(fmt.Errorf("write the body: %w", err))
	}
	return h.send(ctx, call, body)
}

// send is Execute with a body.
func (h *HTTP) send(ctx context.Context, call sched.Call, body []byte) sched.Result {
	c, err := h.prepare(ctx, call, body)
	if err != nil {
		return unsent(err)
	}
	watchOf(ctx).sends(c.body)
	shown := c.show()
	for {
		r, next := h.step(ctx, c)
		if next == nil {
			r.Request = shown + c.hopLines()
			return r
		}
		c = *next
	}
}

// step makes one call, by another connection when the kept one was closed
// before a byte was written. next is the call that its redirect asks for.
func (h *HTTP) step(ctx context.Context, c httpCall) (r sched.Result, next *httpCall) {
	for range staleTries {
		var stale bool
		if r, next, stale = h.once(ctx, c); !stale {
			break
		}
	}
	return r, next
}

// once makes one try. Stale tells that a kept connection turned out closed
// before a byte was written: nothing happened, and a fresh one will do.
func (h *HTTP) once(ctx context.Context, c httpCall) (r sched.Result, next *httpCall, stale bool) {
	own := limitsOf(c.rules)
	ctx = withTeam(context.WithValue(ctx, limitsKey{}, own), c.team)
	mark := sentMark{may: func(to netip.AddrPort) error { return h.o.Egress.Check(ctx, c.team, to) }}
	watched, begin, stop := own.watch(ctx)
	defer stop()
	seen := watchOf(ctx)
	trace := &httptrace.ClientTrace{
		GotConn:              func(info httptrace.GotConnInfo) { mark.got(info); begin(); seen.connected(info.Reused) },
		GotFirstResponseByte: func() { stop(); seen.answers() },
	}
	req, err := c.request(httptrace.WithClientTrace(withEnd(watched), trace))
	if err != nil {
		return unsent(err), nil, false
	}
	resp, err := c.by.RoundTrip(req)
	if err != nil {
		if mark.refused != nil { // before a byte of it was written
			return broken(ctx, mark.refused, false), nil, false
		}
		sent := mark.sent()
		if errors.Is(context.Cause(watched), errFirstByte) {
			return sched.Result{Outcome: sched.OutcomeTimedOut, Definite: !sent, Error: fmt.Sprintf("no first byte of the answer within %s", own.firstByte)}, nil, false
		}
		return broken(ctx, err, sent), nil, !sent && mark.reused && ctx.Err() == nil
	}
	defer func() { _ = resp.Body.Close() }()
	if moved(resp.StatusCode) && !c.rules.Accepts(resp.StatusCode) {
		to, err := c.next(resp)
		if err == nil {
			return r, &to, false
		}
		r = answered(ctx, resp, c)
		if r.Definite {
			r.Error = oneLine("answered " + status(resp) + "; " + err.Error())
		}
		return r, nil, false
	}
	r = answered(ctx, resp, c)
	r.RetryAfter = wantsQuiet(resp, h.o.Now())
	return r, nil, false
}

// request is the call for one try.
func (c httpCall) request(ctx context.Context) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, c.method, c.url, bytes.NewReader(c.body))
	if err != nil {
		return nil, err
	}
	req.Header = c.header.Clone()
	// Without GetBody the transport can't send the request again by itself:
	// it would when a kept connection breaks, because of Idempotency-Key.
	req.GetBody = nil
	if len(c.body) == 0 { // nor by the mere method, as it would a GET without body
		req.Body = io.NopCloser(bytes.NewReader(nil))
	}
	return req, nil
}

// prepare builds what is sent. An error means that nothing can be.
func (h *HTTP) prepare(ctx context.Context, call sched.Call, body []byte) (httpCall, error) {
	u, err := url.Parse(call.Target.URL)
	if err != nil {
		return httpCall{}, errors.New("the target's address can't be read")
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.User != nil {
		return httpCall{}, errors.New("the target's address must be http or https with a host and without user and password")
	}
	rules := call.Target.HTTP
	now := h.o.Now()
	c := httpCall{team: call.TeamID, method: rules.MethodOf(), url: u.String(), body: body, header: http.Header{}, rules: rules}
	if call.Probe {
		c.header = h.probeHeaders(call)
		return c, h.fill(ctx, &c, call, u)
	}
	if call.Idempotent && rules != nil {
		c.redirects = rules.Redirects
	}
	for name, value := range map[string]string{
		"Content-Type":    "application/json",
		"Accept-Encoding": "identity",
		"User-Agent":      "ax/" + cmp.Or(h.o.Version, "dev"),
		"Idempotency-Key": call.Key,
		"Ax-Instance":     call.InstanceID,
		"Ax-Attempt":      strconv.Itoa(call.Attempt),
		"Ax-Replay":       strconv.Itoa(call.Replay),
		"Ax-Timestamp":    strconv.FormatInt(now.Unix(), 10),
		"Ax-Signature":    h.o.Signer.Sign(now, call.InstanceID, body),
		"Traceparent":     traceparent(call, h.o.Sampled),
	} {
		c.header.Set(name, value)
	}
	if call.Test {
		c.header.Set("Ax-Test", "1")
	}
	executorHeaders(c.header, call)
	c.secrets = []string{c.header.Get("Ax-Signature")}
	if call.ReceiptURL != "" && call.ReceiptToken != "" {
		c.header.Set("Ax-Receipt-Url", call.ReceiptURL)
		c.header.Set("Ax-Receipt-Token", call.ReceiptToken)
		c.secrets = append(c.secrets, call.ReceiptToken)
	}
	return c, h.fill(ctx, &c, call, u)
}

// bodyOf is what is sent: nothing with a GET or HEAD, and with a DELETE only what
// the target's rules say.
func bodyOf(call sched.Call) ([]byte, error) {
	rules := call.Target.HTTP
	if rules != nil && rules.Body != "" {
		return rules.FillBody(call)
	}
	switch rules.MethodOf() {
	case http.MethodGet, http.MethodHead, http.MethodDelete:
		return nil, nil
	}
	return callBody(call)
}

// callBody is the JSON that the target gets. The payload goes as it was
// given; without one it is null.
func callBody(call sched.Call) ([]byte, error) {
	payload := call.Payload
	if len(payload) == 0 {
		payload = json.RawMessage("null")
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(struct {
		InstanceID  string          `json:"instance_id"`
		Task        string          `json:"task"`
		BizID       string          `json:"biz_id"`
		Attempt     int             `json:"attempt"`
		ScheduledAt string          `json:"scheduled_at"`
		Payload     json.RawMessage `json:"payload"`
		TaskType    string          `json:"task_type,omitempty"`
		Shard       *sched.Shard    `json:"shard,omitempty"`
	}{
		call.InstanceID, call.TaskCode, call.BizID, call.Attempt,
		call.ScheduledAt.UTC().Format("2006-01-02T15:04:05.000Z"), payload,
		call.Target.Type, call.Shard,
	})
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// traceparent makes the instance the trace and the attempt the span, so all
// attempts stand together in the target's own tracing.
func traceparent(call sched.Call, sampled func(instanceID string) bool) string {
	trace, span := sched.TraceID(call.InstanceID), call.SpanID()
	flags := "01"
	if sampled != nil && !sampled(call.InstanceID) {
		flags = "00"
	}
	return "00-" + hex.EncodeToString(trace[:]) + "-" + hex.EncodeToString(span[:]) + "-" + flags
}

// show is the request as it is stored: secrets masked, without the body.
func (c httpCall) show() string {
	lines := []string{c.method + " " + readable(c.url)}
	names := make([]string, 0, len(c.header))
	for name := range c.header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		lines = append(lines, name+": "+readable(mask(c.header.Get(name), c.secrets)))
	}
	return strings.Join(lines, "\n")
}
