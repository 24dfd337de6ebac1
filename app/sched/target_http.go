package sched

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of the rules of an HTTP target.
const (
	maxStatuses  = 200
	maxField     = 200
	maxEquals    = 200
	maxRedirects = 3 // security.md item 29
	maxCA        = 32 << 10
)

var fieldPath = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)

// httpRules checks the rules of an HTTP target; nil when nothing is said that
// isn't the rule anyway.
func (p *problems) httpRules(w *HTTPRules) *HTTPRules {
	if w == nil || *w == (HTTPRules{}) {
		return nil
	}
	r := *w
	r.Method, r.Statuses, r.Field = strings.ToUpper(strings.TrimSpace(r.Method)), strings.TrimSpace(r.Statuses), strings.TrimSpace(r.Field)
	if r.Method == "POST" {
		r.Method = ""
	}
	if r.Method != "" && !slices.Contains([]string{"PUT", "PATCH", "DELETE", "GET"}, r.Method) {
		p.add("target.http.method", "One of POST, PUT, PATCH, DELETE, GET; this is %q", w.Method)
	}
	p.httpBody(r)
	p.successRule(r)
	if r.Redirects < 0 || r.Redirects > maxRedirects {
		p.add("target.http.redirects", "Between 0 and %d; this is %d", maxRedirects, r.Redirects)
	}
	p.certificates(r)
	if r.CancelURL = strings.TrimSpace(r.CancelURL); r.CancelURL != "" {
		p.httpURL("target.http.cancel_url", r.CancelURL)
	}
	if r == (HTTPRules{}) {
		return nil
	}
	return &r
}

// httpBody tries the body with values of every kind.
func (p *problems) httpBody(r HTTPRules) {
	const field = "target.http.body"
	switch {
	case r.Body == "":
		return
	case r.Method == "GET":
		p.add(field, "A GET has no body; leave it out")
		return
	case len(r.Body) > maxBody:
		p.add(field, "At most %d bytes; this has %d", maxBody, len(r.Body))
		return
	case !utf8.ValidString(r.Body):
		p.add(field, "Control characters and broken text can't be used here")
		return
	}
	if _, err := bodyParts(r.Body); err != nil {
		if name, _ := errors.AsType[unknownName](err); name != "" {
			p.add(field, "{{%s}} names nothing. There are: %s, and what is in the payload, such as {{payload.order.id}}. Credentials go into headers.", string(name), strings.Join(bodyNames(), ", "))
		} else {
			p.add(field, "A {{ is never closed by }}")
		}
		return
	}
	sample := Call{InstanceID: "i", TaskCode: "t", BizID: `"b\`, Key: "k", ScheduledAt: time.Unix(0, 0)}
	if _, err := r.FillBody(sample); err != nil {
		p.add(field, "This is not JSON once the values are put in. In quotes a value becomes part of the text; without quotes it is put in as JSON.")
	}
}

func (p *problems) successRule(r HTTPRules) {
	if _, ok := statusRanges(r.Statuses); r.Statuses != "" && (!ok || len(r.Statuses) > maxStatuses) {
		p.add("target.http.statuses", "Statuses between 200 and 599, such as 200-299 or 200, 404; this is %q", r.Statuses)
	}
	switch {
	case r.Field != "" && (len(r.Field) > maxField || !fieldPath.MatchString(r.Field)):
		p.add("target.http.field", "A path such as code or data.items.0.state; this is %q", r.Field)
	case r.Field == "" && r.Equals != "":
		p.add("target.http.field", "Which field must be %q?", r.Equals)
	}
	if utf8.RuneCountInString(r.Equals) > maxEquals || !utf8.ValidString(r.Equals) || strings.ContainsFunc(r.Equals, unicode.IsControl) {
		p.add("target.http.equals", "At most %d characters, on one line", maxEquals)
	}
}

func (p *problems) certificates(r HTTPRules) {
	if r.CA != "" && (len(r.CA) > maxCA || !onlyCertificates(r.CA)) {
		p.add("target.http.ca", "Certificates in PEM, each from BEGIN CERTIFICATE to END CERTIFICATE, at most %d bytes", maxCA)
	}
	if r.ClientCert != "" && !secretName.MatchString(r.ClientCert) {
		p.add("target.http.client_cert", "The name of a secret of the team, such as PAY_CERT")
	}
}

// secretName is the form of the names of secrets (access.Secret).
var secretName = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,63}$`)

// onlyCertificates tells whether the text holds certificates and nothing else:
// no key, which everybody who may read the task would see.
func onlyCertificates(text string) bool {
	rest, n := []byte(strings.TrimSpace(text)), 0
	for len(rest) > 0 {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil || block.Type != "CERTIFICATE" {
			return false
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return false
		}
		rest = []byte(strings.TrimSpace(string(rest)))
		n++
	}
	return n > 0
}

// httpLimits refuses limits that the whole time limit, or idempotence,
// contradicts.
func (p *problems) httpLimits(r *HTTPRules, policy Policy) {
	if r == nil {
		return
	}
	for _, l := range []struct {
		name    string
		seconds int
	}{
		{"target.http.connect_seconds", r.ConnectSeconds}, {"target.http.tls_seconds", r.TLSSeconds}, {"target.http.first_byte_seconds", r.FirstByteSeconds},
	} {
		switch {
		case l.seconds < 0:
			p.add(l.name, "More than 0 seconds, or nothing")
		case l.seconds > policy.TimeoutSeconds:
			p.add(l.name, "The whole time limit is %d s; a part of it can't be %d", policy.TimeoutSeconds, l.seconds)
		}
	}
	if r.Redirects > 0 && !policy.Idempotent {
		p.add("target.http.redirects", "Following a redirect sends the work again: only idempotent work may")
	}
}

// noHTTP refuses the rules of HTTP for a target that is none.
func (p *problems) noHTTP(w TargetSpec) {
	if w.HTTP != nil && *w.HTTP != (HTTPRules{}) {
		p.add("target.http", "Only a target of kind http has this; leave it out")
	}
}
