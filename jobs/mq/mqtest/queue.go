package mqtest

import (
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Channel is a channel of guest, until the test ends.
func (b *Broker) Channel(t *testing.T) *amqp.Channel {
	t.Helper()
	conn, err := amqp.Dial("amqp://guest:guest@" + b.Addr + "/")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	return ch
}

// Declare makes an exchange with one queue behind it; all are durable.
func (b *Broker) Declare(t *testing.T, exchange, key, queue string, args amqp.Table) {
	t.Helper()
	ch := b.Channel(t)
	_, err := ch.QueueDeclare(queue, true, false, false, false, args)
	if err == nil && exchange != "" {
		err = ch.ExchangeDeclare(exchange, amqp.ExchangeTopic, true, false, false, false, nil)
		if err == nil {
			err = ch.QueueBind(queue, key, exchange, false, nil)
		}
	}
	if err != nil {
		t.Fatalf("declare %s and %s: %v", exchange, queue, err)
	}
}

// Take takes all that a queue holds now, in its order.
func (b *Broker) Take(t *testing.T, queue string) []amqp.Delivery {
	t.Helper()
	ch := b.Channel(t)
	var all []amqp.Delivery
	for {
		d, ok, err := ch.Get(queue, true)
		if err != nil {
			t.Fatalf("read queue %s: %v", queue, err)
		}
		if !ok {
			return all
		}
		all = append(all, d)
	}
}
