package sched

import (
	"maps"
	"net/textproto"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ax/app/access"
)

// Bounds of a target's headers.
const (
	maxHeaders     = 20
	maxHeaderName  = 100
	maxHeaderValue = 2000 // characters, before secrets are filled in
)

// headerName is a token of RFC 9110, section 5.6.2.
var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// ownHeader tells whether a header is ax's to set, or the connection's: what a
// task says there would be lost or would break the call.
func ownHeader(name string) bool {
	switch name {
	case "Host", "Content-Length", "Content-Type", "Content-Encoding", "Connection", "Transfer-Encoding", "Te", "Trailer", "Upgrade",
		"Keep-Alive", "Expect", "Accept-Encoding", "Range", "User-Agent", "Idempotency-Key", "Traceparent", "Tracestate":
		return true
	}
	return strings.HasPrefix(name, "Ax-") || strings.HasPrefix(name, "Proxy-") || strings.HasPrefix(name, "Sec-") || strings.HasPrefix(name, ":")
}

// credential tells whether a header of the name usually carries one.
func credential(name string) bool {
	lower := strings.ToLower(name)
	for _, word := range []string{"authorization", "cookie", "token", "secret", "password", "api-key", "apikey", "credential", "signature"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}

// headerLine tells whether a header can have the value: one line.
func headerLine(value string) bool {
	return value != "" && utf8.RuneCountInString(value) <= maxHeaderValue && utf8.ValidString(value) && !strings.ContainsFunc(value, unicode.IsControl)
}

// headers checks what a task sends besides ax's own, and gives it with
// canonical names. Everybody who may read the task reads them, so credentials
// must be named as secrets.
func (p *problems) headers(field string, written map[string]string) map[string]string {
	if len(written) > maxHeaders {
		p.add(field, "At most %d headers; these are %d", maxHeaders, len(written))
		return nil
	}
	var out map[string]string
	for _, typed := range slices.Sorted(maps.Keys(written)) {
		name, value := textproto.CanonicalMIMEHeaderKey(typed), strings.TrimSpace(written[typed])
		refs, value, err := access.SecretRefs(value)
		switch _, twice := out[name]; {
		case !headerName.MatchString(typed) || len(typed) > maxHeaderName:
			p.add(field, "%q is not the name of a header", typed)
		case ownHeader(name):
			p.add(field, "%s is not a task’s to set", name)
		case twice:
			p.add(field, "%s is there twice", name)
		case err != nil:
			p.add(field, "%s: between braces only a secret of the team can be named, such as {{secret:PAY_TOKEN}}", name)
		case !headerLine(value):
			p.add(field, "%s needs a value on one line, of at most %d characters", name, maxHeaderValue)
		case len(refs) == 0 && credential(name):
			p.add(field, "%s looks like a credential, which everybody who may read the task would see: make it a secret of the team and write {{secret:NAME}}", name)
		default:
			if out == nil {
				out = map[string]string{}
			}
			out[name] = value
		}
	}
	return out
}

// Secrets are the names of the team's secrets that calls of the target carry,
// sorted.
func (t Target) Secrets() []string {
	var out []string
	for _, value := range t.Headers {
		refs, _, _ := access.SecretRefs(value) // as validated
		out = append(out, refs...)
	}
	if t.HTTP != nil && t.HTTP.ClientCert != "" {
		out = append(out, t.HTTP.ClientCert)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
