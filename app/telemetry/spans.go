package telemetry

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"ax/app/sched"
)

// What waits for a collector that is slow or away is bounded; what doesn't fit
// is dropped, and no run waits.
const (
	spansWaiting = 4096
	spansAtOnce  = 512
	spansEvery   = 2 * time.Second
	sendLimit    = 10 * time.Second // of one batch, with its repeats
)

// spans sends what happened to instances.
type spans struct {
	ratio    ratio
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	made     prometheus.Counter
}

func newSpans(o Options, count *prometheus.CounterVec) (*spans, error) {
	to, err := otlptracehttp.New(context.Background(), otlptracehttp.WithEndpointURL(o.url()), otlptracehttp.WithTimeout(sendLimit),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: true, InitialInterval: time.Second, MaxInterval: 5 * time.Second, MaxElapsedTime: sendLimit}))
	if err != nil {
		return nil, err
	}
	about := []attribute.KeyValue{
		attribute.String("service.name", "ax"), attribute.String("service.version", o.Version), attribute.String("service.instance.id", o.Node),
	}
	if o.Environment != "" {
		about = append(about, attribute.String("deployment.environment.name", o.Environment))
	}
	s := &spans{ratio: newRatio(o.SampleRatio), made: count.WithLabelValues("made")}
	s.provider = sdk.NewTracerProvider(sdk.WithResource(resource.NewSchemaless(about...)), sdk.WithSampler(s.ratio), sdk.WithIDGenerator(ids{}),
		sdk.WithBatcher(&counted{SpanExporter: to, count: count}, sdk.WithMaxQueueSize(spansWaiting), sdk.WithMaxExportBatchSize(spansAtOnce),
			sdk.WithBatchTimeout(spansEvery), sdk.WithExportTimeout(sendLimit)))
	s.tracer = s.provider.Tracer("ax", trace.WithInstrumentationVersion(o.Version))
	// The library's own way to say that a batch could not be sent.
	otel.SetErrorHandler(&seldom{log: o.Log, now: o.Now})
	return s, nil
}

// span is one that is over.
type span struct {
	instance string
	name     string
	parent   [8]byte // zero: the trace begins here
	id       [8]byte // zero: any
	kind     trace.SpanKind
	from, to time.Time
	bad      bool
	about    []attribute.KeyValue
	links    []trace.Link
}

// begin is the id of the span that an instance's trace begins with.
func begin(instanceID string) [8]byte { return sched.SpanID(instanceID, "begin") }

// add makes the span; it gives its id, for those below it.
func (s *spans) add(x span) [8]byte {
	ctx := context.WithValue(context.Background(), idsKey{}, wanted{sched.TraceID(x.instance), x.id})
	if x.parent != [8]byte{} {
		ctx = trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: sched.TraceID(x.instance), SpanID: x.parent, TraceFlags: trace.FlagsSampled, Remote: true,
		}))
	}
	about := append([]attribute.KeyValue{attribute.String("ax.instance_id", x.instance)}, x.about...)
	_, made := s.tracer.Start(ctx, x.name, trace.WithTimestamp(x.from), trace.WithSpanKind(x.kind), trace.WithAttributes(about...), trace.WithLinks(x.links...))
	if x.bad {
		made.SetStatus(codes.Error, "")
	}
	made.End(trace.WithTimestamp(x.to))
	s.made.Inc()
	return made.SpanContext().SpanID()
}

// ids gives the ids that a span asks for, so that another process can name it.
type ids struct{}

type idsKey struct{}

// wanted is what a span asks for; an id of zeros: any.
type wanted struct {
	trace trace.TraceID
	span  trace.SpanID
}

// NewIDs implements the library's IDGenerator.
func (i ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	want, _ := ctx.Value(idsKey{}).(wanted)
	if !want.trace.IsValid() {
		_, _ = rand.Read(want.trace[:]) // never fails
	}
	return want.trace, i.NewSpanID(ctx, want.trace)
}

// NewSpanID implements the library's IDGenerator.
func (ids) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	want, _ := ctx.Value(idsKey{}).(wanted)
	if !want.span.IsValid() {
		_, _ = rand.Read(want.span[:]) // never fails
	}
	return want.span
}

// counted notes what became of spans.
type counted struct {
	sdk.SpanExporter
	count *prometheus.CounterVec
}

// ExportSpans implements the library's SpanExporter.
func (c *counted) ExportSpans(ctx context.Context, all []sdk.ReadOnlySpan) error {
	err := c.SpanExporter.ExportSpans(ctx, all)
	result := "sent"
	if err != nil {
		result = "failed"
	}
	c.count.WithLabelValues(result).Add(float64(len(all)))
	return err
}

// seldomEvery is the least time between two lines about the collector.
const seldomEvery = time.Minute

// seldom writes errors of the library into the log, one a minute.
type seldom struct {
	log *slog.Logger
	now func() time.Time

	mu   sync.Mutex
	last time.Time
}

// Handle implements the library's ErrorHandler.
func (s *seldom) Handle(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.now(); s.last.IsZero() || now.Sub(s.last) >= seldomEvery {
		s.last = now
		s.log.Warn("traces are not sent; runs go on without them", "error", err)
	}
}
