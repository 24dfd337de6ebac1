package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

func messages() []scenario {
	return []scenario{
		{name: "F32", says: "the broker of messages is killed, stopped, short of memory, cut off, without its queue and its exchange; its workers die between a message and its confirm", worksAt: brokerWork,
			run: harmBroker, still: drained, after: messageEnds, quiet: 2 * time.Minute},
	}
}

// brokerWork starts a RabbitMQ and its consumer, and makes the team's broker.
func brokerWork(h *house) ([]work, error) {
	r, err := newRabbit(h.dir)
	if err != nil {
		return nil, err
	}
	h.undo = append(h.undo, r.close)
	b, err := startBridge(h, r.addr())
	if err != nil {
		return nil, err
	}
	h.undo = append(h.undo, b.close)
	h.rabbit, h.bridge = r, b
	c := newClient(func() string { return h.api }, h.token)
	said, err := c.call("POST", "/brokers", map[string]any{
		"name": "rabbit", "kind": "amqp", "address": "amqp://" + r.addr(), "user": "guest", "password": "guest", "places": []string{"orders #", "missing #"},
	})
	if err != nil || said.status != 201 {
		return nil, errors.Join(fmt.Errorf("make the broker: %d %v", said.status, said.body), err)
	}
	b.made = action{said.requestID, "broker.create", "rabbit", time.Now().UnixMilli()}
	to := func(exchange, key, done string) map[string]any {
		return map[string]any{"kind": "mq", "broker": "rabbit", "exchange": exchange, "routing_key": key, "done": done}
	}
	return append(fewSlots(),
		work{code: "mq-ask", target: to(exchange, "order.ask", "receipt"), schedule: manual, idempotent: true, retries: 4, rate: 6},
		work{code: "mq-done", target: to(exchange, "done.now", "confirm"), schedule: manual, idempotent: true, retries: 4, rate: 6},
		// Repeated only after a definite failure: a second call of one instance
		// would show one that was not.
		work{code: "mq-pay", target: to(exchange, "order.pay", "receipt"), schedule: manual, retries: 4, unsafe: true, rate: 6},
		work{code: "mq-nowhere", target: to(exchange, "invoice.ask", "receipt"), schedule: manual, idempotent: true, retries: 1, rate: 1},
		work{code: "mq-missing", target: to("missing", "order.ask", "receipt"), schedule: manual, idempotent: true, retries: 1, rate: 1},
	), nil
}

func harmBroker(ctx context.Context, h *house) error {
	r := h.rabbit
	h.load.client.mu.Lock()
	h.load.actions = append(h.load.actions, h.bridge.made) // before there were callers
	h.load.client.mu.Unlock()
	for _, harm := range []struct {
		says string
		do   func() error
	}{
		{"all connections are closed", func() error { return r.ctl("close_all_connections", "bench") }},
		{"kill -9 of the broker", func() error {
			r.kill()
			rest(ctx, h.between(0, 2*time.Second))
			return r.start()
		}},
		{"the broker stops and starts", func() error { return errors.Join(r.ctl("stop_app"), r.ctl("start_app")) }},
		{"it is short of memory for 4 s", func() error {
			err := r.ctl("set_vm_memory_high_watermark", "0")
			rest(ctx, 4*time.Second)
			return errors.Join(err, r.ctl("set_vm_memory_high_watermark", "0.8"))
		}},
		{"a worker dies before a confirm", func() error { return h.dieBeforeConfirm() }},
		{"the queue is gone for 1.5 s", func() error { return h.withoutQueue(ctx) }},
	} {
		rest(ctx, h.between(500*time.Millisecond, 1500*time.Millisecond))
		h.tell("%s", harm.says)
		if err := harm.do(); err != nil {
			return err
		}
	}
	return h.endForgotten(ctx)
}

// endForgotten lets the deadline of messages pass that went with their queue:
// RabbitMQ confirms what it had for a queue that is deleted, and nobody reports.
func (h *house) endForgotten(ctx context.Context) error {
	rest(ctx, 4*time.Second)
	done, err := h.ledger.ExecContext(ctx, "UPDATE instances SET receipt_deadline=1 WHERE state='awaiting' AND task_id IN (?,?) AND started_at<?",
		h.taskID("mq-ask"), h.taskID("mq-pay"), time.Now().Add(-3*time.Second).UnixMilli())
	if err != nil {
		return err
	}
	n, err := done.RowsAffected()
	h.facts["messages that went with their queue"] = float64(n)
	return err
}

// dieBeforeConfirm kills a worker between a message and its confirm.
func (h *house) dieBeforeConfirm() error {
	n := h.one("worker")
	if err := n.restart(fmt.Sprintf("AX_FAILPOINT=mq.published:%d=kill", 1+h.random.IntN(3))); err != nil {
		return err
	}
	n.doomed()
	died := n.p.ends(6 * time.Second)
	h.met("mq.published", died)
	return n.restart()
}

// withoutQueue takes the queue away in a moment when it is empty (what is in it
// would be lost rightly), and lets its consumer make it again.
func (h *house) withoutQueue(ctx context.Context) error {
	h.bridge.stay(true)
	defer h.bridge.stay(false)
	var err error
	late := within(10*time.Second, "the queue was empty", func() bool {
		err = h.rabbit.ctl("delete_queue", orderQueue, "--if-empty")
		return err == nil
	})
	if late != nil {
		return errors.Join(late, err)
	}
	rest(ctx, 1500*time.Millisecond)
	return nil
}

// drained waits until the consumer has handed all to the sink.
func drained(_ context.Context, h *house) error { return h.bridge.quiet() }

func messageEnds(_ context.Context, h *house) error {
	h.facts["messages that came again"] = float64(h.bridge.twice)
	return h.endAs(map[string]ends{
		"mq-ask": {"succeeded failed timed_out", 0}, "mq-done": {"succeeded failed timed_out", 0}, "mq-pay": {"succeeded failed timed_out lost", 0},
		"mq-nowhere": {"failed timed_out", 0}, "mq-missing": {"failed timed_out", 0},
	})
}
