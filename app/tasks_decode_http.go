package app

import (
	"strings"

	"ax/app/fault"
	"ax/app/sched"
	"ax/views"
)

// typedHTTP are the rules of an HTTP target as they were typed.
func (f *form) typedHTTP() views.HTTPValues {
	return views.HTTPValues{
		Method: f.text("target.http.method"), Body: f.raw("target.http.body"),
		Statuses: f.text("target.http.statuses"), Field: f.text("target.http.field"), Equals: f.text("target.http.equals"), Await: f.ticked("target.http.await"),
		Redirects: f.text("target.http.redirects"),
		Connect:   f.text("target.http.connect_seconds"), TLS: f.text("target.http.tls_seconds"), FirstByte: f.text("target.http.first_byte_seconds"),
		CA: f.raw("target.http.ca"), ClientCert: f.text("target.http.client_cert"), CancelURL: f.text("target.http.cancel_url"),
	}
}

// httpRules are the rules that the form describes; what can't be read is
// gathered in f.
func (f *form) httpRules(v views.HTTPValues) *sched.HTTPRules {
	r := &sched.HTTPRules{
		Method: v.Method, Statuses: v.Statuses, Field: v.Field, Equals: v.Equals, Await: v.Await, ClientCert: v.ClientCert, CancelURL: v.CancelURL,
		CA: strings.TrimSpace(strings.ReplaceAll(v.CA, "\r\n", "\n")),
	}
	if strings.TrimSpace(v.Body) != "" {
		r.Body = strings.ReplaceAll(v.Body, "\r\n", "\n")
	}
	switch v.Redirects {
	case "", "0":
	case "1", "2", "3":
		r.Redirects = int(v.Redirects[0] - '0')
	default:
		f.bad = append(f.bad, fault.Field("target.http.redirects", "Between 0 and %d; this is %q", 3, v.Redirects))
	}
	for name, to := range map[string]struct {
		typed   string
		seconds *int
	}{
		"target.http.connect_seconds":    {v.Connect, &r.ConnectSeconds},
		"target.http.tls_seconds":        {v.TLS, &r.TLSSeconds},
		"target.http.first_byte_seconds": {v.FirstByte, &r.FirstByteSeconds},
	} {
		*to.seconds, _ = f.seconds(name, to.typed)
	}
	return r
}
