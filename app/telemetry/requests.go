package telemetry

import (
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"ax/app/sched"
)

// Request is a request that was answered.
type Request struct {
	Method      string
	Route       string // its pattern; "" when there is none
	Status      int
	From, To    time.Time
	TraceParent string           // as it came; "" for none
	Made        []sched.Instance // accepted by it
	Reported    string           // the instance of which it was a receipt; "": none
}

// Request tells of a request. With one that made instances their traces begin;
// each links to the trace of whoever asked, which may have asked for many.
func (t *Telemetry) Request(r Request) {
	t.meters.requests.WithLabelValues(method(r.Method), r.Route, class(r.Status)).Observe(r.To.Sub(r.From).Seconds())
	if t.spans == nil {
		return
	}
	x := span{
		name: method(r.Method) + " " + r.Route, kind: trace.SpanKindServer, from: r.From, to: r.To, links: linksTo(r.TraceParent),
		about: []attribute.KeyValue{attribute.String("http.route", r.Route), attribute.Int("http.response.status_code", r.Status)},
	}
	for _, in := range r.Made {
		if t.spans.records(in.ID) {
			x.instance, x.id = in.ID, begin(in.ID)
			t.spans.add(x)
		}
	}
	if t.spans.records(r.Reported) && r.Reported != "" {
		x.instance, x.id, x.parent = r.Reported, [8]byte{}, begin(r.Reported)
		t.spans.add(x)
	}
}

// linksTo reads a W3C traceparent; what is none gives no link.
func linksTo(traceParent string) []trace.Link {
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": traceParent})
	if from := trace.SpanContextFromContext(ctx); from.IsValid() {
		return []trace.Link{{SpanContext: from}}
	}
	return nil
}

// method is one that routes have: what a caller made up must not become a label.
func method(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return m
	}
	return "other"
}
