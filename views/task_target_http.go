package views

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"ax/app/sched"
	"ax/views/ui"
)

// HTTPValues are the rules of an HTTP target as they were typed.
type HTTPValues struct {
	Method, Body            string
	Statuses, Field, Equals string
	Await                   bool
	Redirects               string
	Connect, TLS, FirstByte string // lengths of time
	CA, ClientCert          string
	CancelURL               string
}

// httpValues are the rules to be typed again.
func (v Viewer) httpValues(r *sched.HTTPRules) HTTPValues {
	out := HTTPValues{Method: r.MethodOf(), Redirects: "0"}
	if r == nil {
		return out
	}
	out.Body, out.Statuses, out.Field, out.Equals, out.Await = r.Body, r.Statuses, r.Field, r.Equals, r.Await
	out.Redirects, out.CA, out.ClientCert, out.CancelURL = strconv.Itoa(r.Redirects), r.CA, r.ClientCert, r.CancelURL
	out.Connect, out.TLS, out.FirstByte = v.spanOrNone(r.ConnectSeconds), v.spanOrNone(r.TLSSeconds), v.spanOrNone(r.FirstByteSeconds)
	return out
}

// unusual tells whether something is said that the form hides at first, or
// something is wrong there.
func (p TaskFormPage) unusualHTTP() bool {
	v := p.Values.HTTP
	v.Method, v.Redirects = "", strings.Trim(v.Redirects, "0")
	return v != HTTPValues{} || slices.ContainsFunc(httpLabels, func(f formField) bool { return p.wrong(f.name) })
}

// httpLimit is the limit of a part of the call, as it was typed.
func (v TaskValues) httpLimit(name string) string {
	return map[string]string{"target.http.connect_seconds": v.HTTP.Connect, "target.http.tls_seconds": v.HTTP.TLS, "target.http.first_byte_seconds": v.HTTP.FirstByte}[name]
}

// wrong tells whether a field has an error.
func (p TaskFormPage) wrong(name string) bool {
	for _, e := range p.Errors {
		if e.Name == name && name != "target.http.method" {
			return true
		}
	}
	return false
}

// httpLabels are the fields of the rules, in the form's order.
var httpLabels = []formField{
	{"target.http.method", msg("Method"), func(v TaskValues) string { return v.ofHTTP(cmp.Or(v.HTTP.Method, "POST")) }},
	{"target.http.body", msg("Body"), func(v TaskValues) string { return v.ofHTTP(v.HTTP.Body) }},
	{"target.http.statuses", msg("Statuses of success"), func(v TaskValues) string { return v.ofHTTP(v.HTTP.Statuses) }},
	{"target.http.field", msg("Field of the answer"), func(v TaskValues) string { return v.ofHTTP(v.HTTP.Field) }},
	{"target.http.equals", msg("Must be"), func(v TaskValues) string { return v.ofHTTP(v.HTTP.Equals) }},
	{"target.http.await", msg("A receipt will follow"), func(v TaskValues) string { return v.ofHTTP(strconv.FormatBool(v.HTTP.Await)) }},
	{"target.http.cancel_url", msg("Address to stop it"), func(v TaskValues) string { return v.ofHTTP(v.HTTP.CancelURL) }},
	{"target.http.redirects", msg("Redirects"), func(v TaskValues) string { return v.ofHTTP(v.HTTP.Redirects) }},
	{"target.http.connect_seconds", msg("To connect"), func(v TaskValues) string { return v.ofHTTP(v.HTTP.Connect) }},
	{"target.http.tls_seconds", msg("To encrypt"), func(v TaskValues) string { return v.ofHTTP(v.HTTP.TLS) }},
	{"target.http.first_byte_seconds", msg("To the first byte"), func(v TaskValues) string { return v.ofHTTP(v.HTTP.FirstByte) }},
	{"target.http.ca", msg("Certificates of the target"), func(v TaskValues) string { return v.ofHTTP(v.HTTP.CA) }},
	{"target.http.client_cert", msg("Certificate of ours"), func(v TaskValues) string { return v.ofHTTP(v.HTTP.ClientCert) }},
}

func methodOptions() []ui.Option {
	var out []ui.Option
	for _, m := range []string{"POST", "PUT", "PATCH", "DELETE", "GET"} {
		out = append(out, ui.Option{Value: m, Label: m})
	}
	return out
}

func redirectOptions(ctx context.Context) []ui.Option {
	return []ui.Option{
		{Value: "0", Label: t(ctx, "Not followed")}, {Value: "1", Label: t(ctx, "One")}, {Value: "2", Label: t(ctx, "Two")}, {Value: "3", Label: t(ctx, "Three")},
	}
}

// httpFacts are the rules in words, for the definition of a task.
func httpFacts(ctx context.Context, r *sched.HTTPRules) []string {
	if r == nil {
		return nil
	}
	var out []string
	if r.Statuses != "" {
		out = append(out, t(ctx, "success is %s", r.Statuses))
	}
	if r.Field != "" {
		out = append(out, t(ctx, "and %s must be %s", r.Field, r.Equals))
	}
	if r.Await {
		out = append(out, t(ctx, "a receipt ends it"))
	}
	if r.CancelURL != "" {
		out = append(out, t(ctx, "told to stop at %s", r.CancelURL))
	}
	if r.Redirects > 0 {
		out = append(out, tn(ctx, "follows up to %d redirects", r.Redirects))
	}
	v := viewer(ctx)
	for _, l := range []struct {
		seconds int
		words   string
	}{{r.ConnectSeconds, msg("connects within %s")}, {r.TLSSeconds, msg("encrypts within %s")}, {r.FirstByteSeconds, msg("answers begin within %s")}} {
		if l.seconds > 0 {
			out = append(out, t(ctx, l.words, v.Exactly(l.seconds)))
		}
	}
	if r.CA != "" {
		out = append(out, t(ctx, "certificates of its own"))
	}
	if r.ClientCert != "" {
		out = append(out, t(ctx, "shows %s", r.ClientCert))
	}
	return out
}
