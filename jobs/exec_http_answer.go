package jobs

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"

	"ax/app/access"
	"ax/app/sched"
)

const (
	// maxRead is how much of a body is read; what is longer counts as whole
	// and the connection is closed.
	maxRead = 1 << 20
	// keptBody is how much of it is stored, in bytes; keptHead the same for
	// the headers.
	keptBody = 4 << 10
	keptHead = 2 << 10
	// keptSpare lets a secret be found that begins inside the stored part.
	keptSpare = access.MaxSecretValue
)

// broken is the result when no answer came. Sent tells whether any byte of
// the call went out: if not, the end is definite.
func broken(ctx context.Context, err error, sent bool) sched.Result {
	r := sched.Result{Outcome: sched.OutcomeFailed, Definite: !sent, Error: oneLine(reason(err))}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		r.Outcome, r.Error = sched.OutcomeCanceled, "canceled while the target was called"
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		r.Outcome, r.Error = sched.OutcomeTimedOut, "no answer in time"
		if !sent {
			r.Error = "no connection in time"
		}
	}
	return r
}

// reason puts the usual errors into plain words.
func reason(err error) string {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Sprintf("host %s can't be resolved: %s", dns.Name, dns.Err)
	}
	if errors.Is(err, errBlocked) {
		if op, ok := errors.AsType[*net.OpError](err); ok {
			return op.Err.Error()
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "the target closed the connection without a whole answer"
	}
	return overHTTP2(err.Error())
}

// overHTTP2 puts what net/http says of HTTP/2, in errors of its own, into
// plain words.
func overHTTP2(said string) string {
	switch {
	case strings.Contains(said, "GOAWAY"):
		return "the target closed the HTTP/2 connection (GOAWAY) without a whole answer"
	case strings.Contains(said, "stream error: "):
		_, code, _ := strings.Cut(said, "; ")
		return "the target ended the HTTP/2 call: " + strings.FieldsFunc(code+";", func(r rune) bool { return r == ';' || r == ']' })[0]
	}
	return said
}

// answered is the result when a status line and headers came: what the status
// says if the body comes whole, else a failure that is not definite.
func answered(ctx context.Context, resp *http.Response, c httpCall) sched.Result {
	secrets := c.secrets
	body := heldBody{most: keptBody + keptSpare}
	if c.rules.Decides() {
		body.most = maxRead
	}
	// A 101 hands over the bare connection; there is no body to wait for.
	if resp.StatusCode != http.StatusSwitchingProtocols {
		body.read(plainBody(resp))
	}
	excerpt, note := body.excerpt(secrets)
	r := sched.Result{StatusCode: resp.StatusCode}
	if body.err != nil {
		r = broken(ctx, body.err, true)
		r.StatusCode = resp.StatusCode
		if r.Outcome == sched.OutcomeFailed {
			r.Error = oneLine(fmt.Sprintf("answer %s broke off after %d bytes: %s", status(resp), body.size, reason(body.err)))
		}
	} else {
		r.Definite = true
		r.Outcome, r.Error = judge(resp, c, &body, excerpt)
	}
	r.Response = showHead(resp, secrets) + "\n\n" + excerpt + note
	r.ResponseBytes = body.size
	return r
}

// judge says what a complete answer means.
func judge(resp *http.Response, c httpCall, body *heldBody, excerpt string) (sched.Outcome, string) {
	code := resp.StatusCode
	awaits := code == http.StatusAccepted || c.rules != nil && c.rules.Await && c.rules.Accepts(code)
	switch {
	case awaits && c.strange:
		return sched.OutcomeFailed, oneLine("answered " + status(resp) + " by another host than the task's, which can't send a receipt")
	case code == http.StatusAccepted:
		return sched.OutcomeAccepted, ""
	case c.rules.Accepts(code):
		if c.rules.Decides() && body.cut {
			return sched.OutcomeFailed, fmt.Sprintf("the answer is longer than %d bytes, and its field %s decides", maxRead, c.rules.Field)
		}
		if why := c.rules.Refuse(body.kept.Bytes()); why != "" {
			return sched.OutcomeFailed, oneLine(mask(why, c.secrets))
		}
		if awaits {
			return sched.OutcomeAccepted, ""
		}
		return sched.OutcomeSucceeded, ""
	case strings.TrimSpace(excerpt) == "":
		return sched.OutcomeFailed, oneLine("answered " + status(resp))
	}
	return sched.OutcomeFailed, oneLine("answered " + status(resp) + ": " + firstRunes(excerpt, 300))
}

// status names the code in words of ours: the target's are its own.
func status(resp *http.Response) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode)))
}

// plainBody is the body, unpacked where the target packed it unasked. What it
// unpacks to is capped like every body.
func plainBody(resp *http.Response) io.Reader {
	if !strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		return resp.Body
	}
	return &unpacked{from: resp.Body}
}

// unpacked begins to unpack when it is read: a body that isn't gzip breaks off.
type unpacked struct {
	from io.Reader
	zip  *gzip.Reader
}

func (u *unpacked) Read(p []byte) (int, error) {
	if u.zip == nil {
		z, err := gzip.NewReader(u.from)
		if err != nil {
			return 0, fmt.Errorf("unpack gzip: %w", err)
		}
		u.zip = z
	}
	return u.zip.Read(p)
}

// heldBody is a body as far as it came.
type heldBody struct {
	most int64 // of it that is kept
	kept bytes.Buffer
	size int64 // bytes read
	cut  bool  // more than maxRead
	err  error // it broke off
}

func (b *heldBody) read(from io.Reader) {
	limited := io.LimitReader(from, maxRead)
	n, err := io.Copy(&b.kept, io.LimitReader(limited, b.most))
	b.size = n
	if err == nil {
		n, err = io.Copy(io.Discard, limited)
		b.size += n
	}
	if err == nil && b.size == maxRead {
		// Exactly that long, or longer?
		more, readErr := io.ReadFull(from, make([]byte, 1))
		b.cut = more > 0
		if !errors.Is(readErr, io.EOF) {
			err = readErr
		}
	}
	b.err = err
}

// excerpt is the stored part: readable, without secrets that came back, and a
// note when it is not all.
func (b *heldBody) excerpt(secrets []string) (text, note string) {
	kept := b.kept.String()
	end := wholeSecrets(kept, min(keptBody, len(kept)), secrets)
	whole := readable(mask(kept[:end], secrets))
	text = firstBytes(whole, keptBody)
	switch {
	case b.cut:
		note = fmt.Sprintf("\n[truncated: more than %d bytes]", maxRead)
	case len(text) < len(whole) || b.size > int64(end):
		note = fmt.Sprintf("\n[truncated: %d bytes]", b.size)
	}
	return text, note
}

// wholeSecrets moves the end of what is stored behind a secret that it would
// cut: half of one can't be told from other text.
func wholeSecrets(s string, end int, secrets []string) int {
	for _, secret := range secrets {
		for at := 0; at < end; { // as mask finds them
			next := strings.Index(s[at:], secret)
			if next < 0 || at+next >= end {
				break
			}
			at += next + len(secret)
			end = max(end, at)
		}
	}
	return end
}

// mask hides secrets; longer ones come first.
func mask(s string, secrets []string) string {
	for _, secret := range secrets {
		s = strings.ReplaceAll(s, secret, "***")
	}
	return s
}

// showHead is status line and headers as they are stored; cookies are masked.
func showHead(resp *http.Response, secrets []string) string {
	lines := []string{resp.Proto + " " + status(resp)}
	names := make([]string, 0, len(resp.Header))
	for name := range resp.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range resp.Header[name] {
			if name == "Set-Cookie" {
				value = "***"
			}
			lines = append(lines, oneLine(name+": "+mask(value, secrets)))
		}
	}
	return firstBytes(strings.Join(lines, "\n"), keptHead)
}
