// Package collectortest is a collector of OpenTelemetry for tests: it keeps the
// spans that were sent to it over HTTP.
package collectortest

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"

	take "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	wire "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Span is one that came, with its ids in hex.
type Span struct {
	Trace, ID, Parent string // Parent "": the trace begins here
	Name              string
	Node              string // service.instance.id of who sent it
	Kind              string // INTERNAL, SERVER, CLIENT, PRODUCER or CONSUMER
	From, To          uint64 // ns
	Bad               bool
	About             map[string]string
	Links             []string // traces
}

// Collector is a running one.
type Collector struct {
	*httptest.Server

	mu     sync.Mutex
	spans  []Span
	visits int
	status int // 0: 200
}

// Start starts one; it ends with the test.
func Start(t testing.TB) *Collector {
	c := &Collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(c.take))
	t.Cleanup(c.Close)
	return c
}

// Answer makes it answer with the status from now on, and keep nothing unless
// that is 200.
func (c *Collector) Answer(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status = status
}

// Spans are those that came so far.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Span(nil), c.spans...)
}

// Visits is how many requests came.
func (c *Collector) Visits() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.visits
}

func (c *Collector) take(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	var got take.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(raw, &got)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.visits++
	switch {
	case err != nil || r.URL.Path != "/v1/traces":
		w.WriteHeader(http.StatusBadRequest)
		return
	case c.status != 0 && c.status != http.StatusOK:
		w.WriteHeader(c.status)
		return
	}
	for _, group := range got.ResourceSpans {
		node := texts(group.Resource.GetAttributes())["service.instance.id"]
		for _, scope := range group.ScopeSpans {
			for _, s := range scope.Spans {
				c.spans = append(c.spans, spanOf(s, node))
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func spanOf(s *wire.Span, node string) Span {
	out := Span{
		Trace: hex.EncodeToString(s.TraceId), ID: hex.EncodeToString(s.SpanId), Parent: hex.EncodeToString(s.ParentSpanId), Name: s.Name, Node: node,
		Kind: s.Kind.String()[len("SPAN_KIND_"):], From: s.StartTimeUnixNano, To: s.EndTimeUnixNano,
		Bad: s.Status.GetCode() == wire.Status_STATUS_CODE_ERROR, About: texts(s.Attributes),
	}
	for _, l := range s.Links {
		out.Links = append(out.Links, hex.EncodeToString(l.TraceId))
	}
	return out
}

func texts(all []*common.KeyValue) map[string]string {
	out := map[string]string{}
	for _, a := range all {
		switch v := a.Value.GetValue().(type) {
		case *common.AnyValue_StringValue:
			out[a.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			out[a.Key] = strconv.FormatInt(v.IntValue, 10)
		}
	}
	return out
}
