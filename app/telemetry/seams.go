package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"ax/app/sched"
)

// sender hands messages to the carrier, with one error per message.
type sender interface {
	Send(ctx context.Context, messages []sched.Message) []error
}

// Sender tells of what is handed over.
type Sender struct {
	t    *Telemetry
	next sender
}

// Sender wraps what sends messages.
func (t *Telemetry) Sender(next sender) Sender { return Sender{t, next} }

// Send sends the messages by what it wraps.
func (s Sender) Send(ctx context.Context, messages []sched.Message) []error {
	from := s.t.o.Now()
	errs := s.next.Send(ctx, messages)
	to := s.t.o.Now()
	for i, m := range messages {
		result := "sent"
		if errs[i] != nil {
			result = "failed"
		}
		s.t.meters.handed.WithLabelValues(result).Inc()
		if s.t.spans.records(m.InstanceID) {
			s.t.spans.add(span{
				instance: m.InstanceID, name: "hand over", parent: begin(m.InstanceID), kind: trace.SpanKindProducer, from: from, to: to, bad: errs[i] != nil,
				about: []attribute.KeyValue{attribute.String("ax.queue", m.Queue), attribute.Int("ax.dispatch", m.Dispatch)},
			})
		}
	}
	return errs
}

// planStore is one planning transaction of the ledger.
type planStore interface {
	Plan(ctx context.Context, r sched.PlanRequest) (sched.PlanReport, error)
}

// Plans tells of what is planned.
type Plans struct {
	t    *Telemetry
	next planStore
}

// Plans wraps what plans.
func (t *Telemetry) Plans(next planStore) Plans { return Plans{t, next} }

// Plan plans by what it wraps. With it the trace of a slot begins.
func (p Plans) Plan(ctx context.Context, r sched.PlanRequest) (sched.PlanReport, error) {
	from := p.t.o.Now()
	report, err := p.next.Plan(ctx, r)
	if err != nil {
		return report, err
	}
	to := p.t.o.Now()
	for what, n := range map[string]int{"tasks": report.Tasks, "instances": report.Instances, "missed": report.Missed, "failed": report.Failed} {
		p.t.meters.planned.WithLabelValues(what).Add(float64(n))
	}
	for _, m := range report.Messages {
		if p.t.spans.records(m.InstanceID) {
			p.t.spans.add(span{
				instance: m.InstanceID, name: "plan", id: begin(m.InstanceID), kind: trace.SpanKindInternal, from: from, to: to,
				about: []attribute.KeyValue{attribute.String("ax.queue", m.Queue)},
			})
		}
	}
	return report, nil
}

// Loop wraps a turn of a loop.
func (t *Telemetry) Loop(name string, turn func(context.Context) (bool, error)) func(context.Context) (bool, error) {
	good, bad := t.meters.turns.WithLabelValues(name, "ok"), t.meters.turns.WithLabelValues(name, "failed")
	turned := t.meters.turned.WithLabelValues(name)
	return func(ctx context.Context) (bool, error) {
		again, err := turn(ctx)
		if err != nil {
			bad.Inc()
			return again, err
		}
		good.Inc()
		turned.Set(float64(t.o.Now().UnixMilli()) / 1000)
		return again, nil
	}
}
