package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// bridge takes messages from the broker and hands each to the sink, as a
// service would that does the work of one message once: what comes again, it
// knows by instance and attempt.
type bridge struct {
	h    *house
	addr string
	http *http.Client
	stop chan struct{}
	done sync.WaitGroup

	mu     sync.Mutex
	away   bool // it doesn't come back, so nothing is declared
	made   action
	conn   *amqp.Connection
	seen   map[string]bool
	twice  int // messages that came again
	latest time.Time
}

// The exchanges and queues of the bench.
const (
	exchange   = "orders"
	orderQueue = "orders.bench" // order.*; it is deleted
	doneQueue  = "done.bench"   // done.*; it stays
)

func startBridge(h *house, addr string) (*bridge, error) {
	b := &bridge{h: h, addr: addr, http: &http.Client{Timeout: 10 * time.Second}, stop: make(chan struct{}), seen: map[string]bool{}}
	ready := make(chan struct{})
	b.done.Go(func() { b.loop(ready) })
	err := within(20*time.Second, "the consumer has its queue", func() bool {
		select {
		case <-ready:
			return true
		default:
			return false
		}
	})
	return b, err
}

func (b *bridge) close() {
	close(b.stop)
	b.hangUp()
	b.done.Wait()
}

func (b *bridge) hangUp() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.conn != nil {
		_ = b.conn.CloseDeadline(time.Now().Add(time.Second))
	}
}

// stay lets the consumer not come back once its queue is gone, or come back.
func (b *bridge) stay(away bool) {
	b.mu.Lock()
	b.away = away
	b.mu.Unlock()
}

func (b *bridge) loop(ready chan struct{}) {
	var once sync.Once
	for {
		select {
		case <-b.stop:
			return
		case <-time.After(100 * time.Millisecond):
		}
		b.mu.Lock()
		away := b.away
		b.mu.Unlock()
		if !away {
			b.consume(func() { once.Do(func() { close(ready) }) })
		}
	}
}

// consume declares what tasks publish to, and takes messages until the
// connection or the queue is gone.
func (b *bridge) consume(ready func()) {
	conn, err := amqp.Dial("amqp://guest:guest@" + b.addr + "/")
	if err != nil {
		return
	}
	defer conn.Close()
	b.mu.Lock()
	b.conn = conn
	b.mu.Unlock()
	ch, err := conn.Channel()
	if err != nil || ch.ExchangeDeclare(exchange, amqp.ExchangeTopic, true, false, false, false, nil) != nil {
		return
	}
	var both [2]<-chan amqp.Delivery
	for i, q := range [][2]string{{orderQueue, "order.*"}, {doneQueue, "done.*"}} {
		if _, err := ch.QueueDeclare(q[0], true, false, false, false, nil); err != nil || ch.QueueBind(q[0], q[1], exchange, false, nil) != nil || ch.Qos(20, 0, false) != nil {
			return
		}
		if both[i], err = ch.Consume(q[0], "", false, false, false, false, nil); err != nil {
			return
		}
	}
	ready()
	b.done.Go(func() { b.take(both[1]) })
	b.take(both[0])
}

// take hands over what comes until its queue or the connection is gone.
func (b *bridge) take(got <-chan amqp.Delivery) {
	for d := range got {
		b.hand(d)
		_ = d.Ack(false) // what isn't known to be taken comes again
	}
}

// hand calls the sink as ax would have.
func (b *bridge) hand(d amqp.Delivery) {
	header := func(name string) string { s, _ := d.Headers[name].(string); return s }
	b.mu.Lock()
	id := header("ax-instance") + "/" + header("ax-attempt")
	again := b.seen[id]
	b.seen[id], b.latest = true, time.Now()
	if again {
		b.twice++
	}
	b.mu.Unlock()
	if again || d.Type != "ax.run" {
		return
	}
	var body struct {
		Task string `json:"task"`
	}
	_ = json.Unmarshal(d.Body, &body)
	path := "/accept/50"
	if body.Task == "mq-done" {
		path = "/ok"
	}
	req, err := http.NewRequest(http.MethodPost, b.h.sink.url+path, bytes.NewReader(d.Body))
	if err != nil {
		return
	}
	for name, value := range map[string]string{
		"Idempotency-Key": d.MessageId, "Ax-Instance": header("ax-instance"), "Ax-Attempt": header("ax-attempt"), "Ax-Replay": header("ax-replay"),
		"Ax-Receipt-Url": header("ax-receipt-url"), "Ax-Receipt-Token": header("ax-receipt-token"),
	} {
		req.Header.Set(name, value)
	}
	if resp, err := b.http.Do(req); err == nil {
		resp.Body.Close()
	}
}

// quiet waits until no message came for a while.
func (b *bridge) quiet() error {
	return within(30*time.Second, "the consumer has taken all", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return time.Since(b.latest) > 2*time.Second
	})
}
