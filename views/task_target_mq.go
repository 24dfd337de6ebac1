package views

import (
	"context"
	"slices"
	"strings"

	"ax/app/access"
	"ax/app/sched"
	"ax/views/ui"
)

// MQValues are the fields of a message as they were typed.
type MQValues struct {
	Broker, Exchange, RoutingKey, Stream, Done string
	Headers                                    string // lines, Name: value
	CancelKey                                  string
}

// BrokerChoice is a broker that a task may publish to.
type BrokerChoice struct {
	access.Broker
	Team string // whose it is; empty when it can be only one team's
}

// message sets the fields of a message.
func (v *TaskValues) message(to sched.Target) {
	v.MQ = MQValues{Done: string(sched.DoneReceipt)}
	if to.Kind == sched.TargetMQ {
		v.Headers = ""
		v.MQ = MQValues{
			Broker: to.Broker, Exchange: to.Exchange, RoutingKey: to.RoutingKey, Stream: to.Stream, Done: string(to.Done),
			Headers: headerLines(to.Headers), CancelKey: to.CancelRoutingKey,
		}
	}
}

// Message tells whether a message is chosen.
func (v TaskValues) Message() bool { return v.Target == string(sched.TargetMQ) }

// ofMQ is a value that only a message has.
func (v TaskValues) ofMQ(value string) string {
	if !v.Message() {
		return ""
	}
	return value
}

// offersMQ tells whether the form has the card of messages.
func (p TaskFormPage) offersMQ() bool { return len(p.Brokers) > 0 || p.Values.Message() }

// speaks tells whether one of the brokers is of the kind; where there is none,
// nothing is known of it.
func (p TaskFormPage) speaks(k access.BrokerKind) bool {
	return len(p.Brokers) == 0 || slices.ContainsFunc(p.Brokers, func(b BrokerChoice) bool { return b.Kind == k }) ||
		k == access.BrokerAMQP && p.Values.MQ.Exchange != "" || k == access.BrokerRedis && p.Values.MQ.Stream != ""
}

// brokerOptions are the brokers to choose from, and the one that the task
// names though it may be gone.
func (p TaskFormPage) brokerOptions(ctx context.Context) []ui.Option {
	var out []ui.Option
	for _, b := range p.Brokers {
		out = append(out, ui.Option{Value: b.Name, Label: joined(" · ", b.Name, brokerKindName(b.Kind), b.Team)})
	}
	named := p.Values.MQ.Broker
	if named != "" && !slices.ContainsFunc(out, func(o ui.Option) bool { return o.Value == named }) {
		out = append(out, ui.Option{Value: named, Label: t(ctx, "%s (not there)", named)})
	}
	return out
}

// brokerKindName is a kind as people know it.
func brokerKindName(k access.BrokerKind) string {
	if k == access.BrokerRedis {
		return "Redis Streams"
	}
	return "RabbitMQ"
}

func doneOptions(ctx context.Context) []ui.Option {
	return []ui.Option{
		{Value: string(sched.DoneReceipt), Label: t(ctx, "a receipt says so")},
		{Value: string(sched.DoneConfirm), Label: t(ctx, "the broker has it")},
	}
}

func doneText(ctx context.Context, d sched.MQDone) string {
	for _, o := range doneOptions(ctx) {
		if o.Value == string(d) {
			return o.Label
		}
	}
	return string(d)
}

// messagePlace is where a message goes, in one line.
func messagePlace(to sched.Target) string {
	if to.Stream != "" {
		return to.Broker + ": " + to.Stream
	}
	return to.Broker + ": " + strings.TrimSpace(to.Exchange+" "+to.RoutingKey)
}
