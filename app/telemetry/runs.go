package telemetry

import (
	"context"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"ax/app/sched"
)

// runner looks at an instance and says what becomes of its message.
type runner interface {
	Run(ctx context.Context, m sched.Message) sched.Answer
}

// Runner tells of attempts: claim, call and settlement.
type Runner struct {
	t    *Telemetry
	next runner
}

// Runner wraps what answers messages; Executor tells it of the call.
func (t *Telemetry) Runner(next runner) Runner { return Runner{t, next} }

// Run answers the message by what it wraps. A message that led to no call is
// no part of the trace: it was a second one, or came too early.
func (r Runner) Run(ctx context.Context, m sched.Message) sched.Answer {
	if !r.t.spans.records(m.InstanceID) {
		return r.next.Run(ctx, m)
	}
	from := r.t.o.Now()
	seen := &called{}
	a := r.next.Run(context.WithValue(ctx, calledKey{}, seen), m)
	if !seen.to.IsZero() {
		r.t.spans.attempt(m, *seen, from, r.t.o.Now())
	}
	return a
}

type calledKey struct{}

// called is the call within a run.
type called struct {
	call     sched.Call
	result   sched.Result
	from, to time.Time
}

// Executor tells of calls.
type Executor struct {
	t    *Telemetry
	next sched.Executor
}

// Executor wraps what carries out calls.
func (t *Telemetry) Executor(next sched.Executor) Executor { return Executor{t, next} }

// Execute carries out the call by what it wraps.
func (e Executor) Execute(ctx context.Context, call sched.Call) sched.Result {
	if call.Attempt == 1 {
		e.t.meters.lag.Observe(max(0, e.t.o.Ledger().Sub(call.ScheduledAt).Seconds()))
	}
	from := e.t.o.Now()
	result := e.next.Execute(ctx, call)
	to := e.t.o.Now()
	e.t.meters.attempts.WithLabelValues(string(result.Outcome)).Observe(to.Sub(from).Seconds())
	if seen, ok := ctx.Value(calledKey{}).(*called); ok {
		*seen = called{call: call, result: result, from: from, to: to}
	}
	return result
}

// attempt makes the spans of a run. They say what is bounded and nobody's
// secret: neither payload nor path nor what the target answered.
func (s *spans) attempt(m sched.Message, c called, from, to time.Time) {
	bad := c.result.Outcome != sched.OutcomeSucceeded && c.result.Outcome != sched.OutcomeAccepted
	whole := s.add(span{
		instance: m.InstanceID, name: "attempt", parent: begin(m.InstanceID), kind: trace.SpanKindConsumer, from: from, to: to, bad: bad,
		about: []attribute.KeyValue{
			attribute.String("ax.task", c.call.TaskCode), attribute.String("ax.queue", m.Queue), attribute.Int("ax.attempt", c.call.Attempt),
			attribute.Int("ax.replay", c.call.Replay), attribute.String("ax.outcome", string(c.result.Outcome)),
		},
	})
	s.add(span{instance: m.InstanceID, name: "claim", parent: whole, kind: trace.SpanKindInternal, from: from, to: c.from})
	about := []attribute.KeyValue{attribute.String("ax.target", string(c.call.Target.Kind))}
	if u, err := url.Parse(c.call.Target.URL); err == nil && u.Host != "" {
		about = append(about, attribute.String("http.request.method", "POST"), attribute.String("server.address", u.Hostname()))
	}
	switch {
	case c.call.Target.Kind == sched.TargetMQ:
		about = append(about, attribute.String("messaging.destination.name", c.call.Target.Exchange+c.call.Target.Stream))
	case c.call.Target.Kind == sched.TargetShell:
		about = append(about, attribute.Int("process.exit.code", c.result.StatusCode))
	case c.result.StatusCode != 0:
		about = append(about, attribute.Int("http.response.status_code", c.result.StatusCode))
	}
	s.add(span{instance: m.InstanceID, name: "call", parent: whole, id: c.call.SpanID(), kind: trace.SpanKindClient, from: c.from, to: c.to, bad: bad, about: about})
	s.add(span{instance: m.InstanceID, name: "settle", parent: whole, kind: trace.SpanKindInternal, from: c.to, to: to})
}
