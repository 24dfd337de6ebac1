package sched

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"ax/app/access"
	"ax/app/fault"
)

// MQDone is what ends an instance whose target is a message.
type MQDone string

// The ends.
const (
	DoneReceipt MQDone = "receipt" // whoever works on the message reports; the default
	DoneConfirm MQDone = "confirm" // the broker has the message
)

// messageHeader is a name that a header of a message may have.
var messageHeader = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*$`)

// ownMessageHeader tells whether ax or the broker goes by a header: CC and BCC
// would carry a message past the list of what is allowed.
func ownMessageHeader(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "ax-") || strings.HasPrefix(name, "x-") ||
		slices.Contains([]string{"cc", "bcc", "traceparent", "tracestate", "message-id", "correlation-id", "type", "content-type", "body"}, name)
}

// mqTarget checks a message as written. Whether the team has the broker, and
// may publish there, the ledger knows.
func (p *problems) mqTarget(w TargetSpec) Target {
	t := Target{
		Kind: TargetMQ, Broker: strings.TrimSpace(w.Broker), Exchange: w.Exchange, RoutingKey: w.RoutingKey, Stream: w.Stream,
		Done: w.Done, CancelRoutingKey: w.CancelRoutingKey, Headers: p.messageHeaders("target.headers", w.Headers),
	}
	if w.URL != "" {
		p.add("target.url", "A message has no address; leave it out")
	}
	p.noShell(w)
	p.noExecutor(w)
	p.noHTTP(w)
	if t.Broker == "" {
		p.add("target.broker", "A broker is needed: an owner adds one on the team’s page")
	}
	if t.Done == "" {
		t.Done = DoneReceipt
	}
	if !slices.Contains([]MQDone{DoneReceipt, DoneConfirm}, t.Done) {
		p.add("target.done", "One of receipt, confirm; this is %q", string(w.Done))
	}
	switch {
	case t.Exchange == "" && t.Stream == "":
		p.add("target.exchange", "An exchange of RabbitMQ or a stream of Redis is needed")
	case t.Exchange != "" && t.Stream != "":
		p.add("target.stream", "Either an exchange or a stream; leave one out")
	case t.Stream != "":
		p.stream(t)
	default:
		p.exchange(t)
	}
	return t
}

func (p *problems) stream(t Target) {
	if !access.StreamName(t.Stream) {
		p.add("target.stream", "A name of at most %d bytes without blanks", 255)
	}
	if t.RoutingKey != "" {
		p.add("target.routing_key", "A stream has no routing key; leave it out")
	}
	if t.CancelRoutingKey != "" {
		p.add("target.cancel_routing_key", "A stream has no routing key; leave it out")
	}
}

func (p *problems) exchange(t Target) {
	if !access.ExchangeName(t.Exchange) {
		p.add("target.exchange", "Letters, digits and - _ . : only, or (default)")
	}
	if !access.RoutingKey(t.RoutingKey) {
		p.add("target.routing_key", "Words of letters and digits with dots between; no * and #")
	}
	if !access.RoutingKey(t.CancelRoutingKey) {
		p.add("target.cancel_routing_key", "Words of letters and digits with dots between; no * and #")
	}
	if t.Exchange == access.DefaultExchange && t.RoutingKey == "" {
		p.add("target.routing_key", "With the default exchange this is the name of a queue")
	}
}

// noMQ refuses the fields of a message for a target that is none.
func (p *problems) noMQ(w TargetSpec) {
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"target.broker", w.Broker != ""}, {"target.exchange", w.Exchange != ""}, {"target.routing_key", w.RoutingKey != ""},
		{"target.stream", w.Stream != ""}, {"target.done", w.Done != ""}, {"target.cancel_routing_key", w.CancelRoutingKey != ""},
	} {
		if f.has {
			p.add(f.name, "Only a target of kind mq has this; leave it out")
		}
	}
}

// messageHeaders checks the headers of a message, whose names stay as they are
// written.
func (p *problems) messageHeaders(field string, written map[string]string) map[string]string {
	if len(written) > maxHeaders {
		p.add(field, "At most %d headers; these are %d", maxHeaders, len(written))
		return nil
	}
	var out map[string]string
	for _, name := range slices.Sorted(maps.Keys(written)) {
		value := strings.TrimSpace(written[name])
		switch {
		case !messageHeader.MatchString(name) || len(name) > maxHeaderName:
			p.add(field, "%q is not the name of a header", name)
		case ownMessageHeader(name):
			p.add(field, "%s is not a task’s to set", name)
		case !headerLine(value):
			p.add(field, "%s needs a value on one line, of at most %d characters", name, maxHeaderValue)
		case strings.Contains(value, "{{") || credential(name):
			p.add(field, "%s: a message lies in its queue for everybody who may read it, so no secret goes into its headers", name)
		default:
			if out == nil {
				out = map[string]string{}
			}
			out[name] = value
		}
	}
	return out
}

// brokerFor refuses a message that the team may not publish. Faults: Invalid
// (target.broker, target.exchange, target.routing_key, target.stream).
func (s *Tasks) brokerFor(ctx context.Context, team int64, w TargetSpec) error {
	if w.Broker == "" {
		return nil // said by others
	}
	have, err := s.store.Brokers(ctx, team)
	if err != nil {
		return err
	}
	name := strings.TrimSpace(w.Broker)
	at := slices.IndexFunc(have, func(b access.Broker) bool { return b.Name == name })
	if at < 0 {
		return fault.Invalid(fault.Field("target.broker", "The team has no broker %s; an owner can add it on the team’s page", name))
	}
	to := Target{Broker: name, Exchange: w.Exchange, RoutingKey: w.RoutingKey, Stream: w.Stream, CancelRoutingKey: w.CancelRoutingKey}
	return fault.Invalid(append(to.Refused(have[at]), to.cancelRefused(have[at])...)...)
}

// Refused says what of the message the broker's list does not allow; nothing:
// it may be published. The list is asked when a task is written, and again for
// each message.
func (t Target) Refused(b access.Broker) []fault.FieldError {
	if t.Stream != "" {
		if b.Kind != access.BrokerRedis {
			return []fault.FieldError{fault.Field("target.stream", "The broker %s is no Redis; name an exchange", b.Name)}
		}
		if _, ok := b.AllowsStream(t.Stream); !ok {
			return []fault.FieldError{fault.Field("target.stream", "The stream %s is not on the list of %s; an owner can add it on the team’s page", t.Stream, b.Name)}
		}
		return nil
	}
	if t.Exchange == "" {
		return nil // said by others
	}
	if b.Kind != access.BrokerAMQP {
		return []fault.FieldError{fault.Field("target.exchange", "The broker %s is no RabbitMQ; name a stream", b.Name)}
	}
	if !b.Allows(t.Exchange, t.RoutingKey) {
		return []fault.FieldError{fault.Field("target.exchange", "%s with the key %q is not on the list of %s; an owner can add it on the team’s page", t.Exchange, t.RoutingKey, b.Name)}
	}
	return nil
}

// cancelRefused says whether the broker's list has the place where a run is told
// to stop.
func (t Target) cancelRefused(b access.Broker) []fault.FieldError {
	if t.CancelRoutingKey == "" || t.Exchange == "" || b.Kind != access.BrokerAMQP || b.Allows(t.Exchange, t.CancelRoutingKey) {
		return nil
	}
	return []fault.FieldError{fault.Field("target.cancel_routing_key", "%s with the key %q is not on the list of %s; an owner can add it on the team’s page", t.Exchange, t.CancelRoutingKey, b.Name)}
}

// sameMessage tells whether a message goes where the one before went.
func sameMessage(w TargetSpec, old Target) bool {
	return w.Kind == old.Kind && strings.TrimSpace(w.Broker) == old.Broker && w.Exchange == old.Exchange && w.RoutingKey == old.RoutingKey &&
		w.Stream == old.Stream && w.CancelRoutingKey == old.CancelRoutingKey
}
