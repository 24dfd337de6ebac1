package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

func executing() []scenario {
	return []scenario{
		{name: "F43", says: "executors that are killed while others go on, and one more that comes: by each route to one of them",
			worksAt: routedWork("round_robin", "least_busy", "random", "hash", "failover"), run: killExecutors, after: allByOthers},
		{name: "F43/broadcast", says: "the same in broadcasts, whose attempts are several calls, each with a key of its own",
			worksAt: routedWork("broadcast"), run: killExecutors, after: allByOthers, except: []string{"I17b", "I17c"}},
	}
}

// staff are three executors: ways to the sink that can be cut, as kill -9 cuts
// a service off.
const staff = 3

// routedWork registers the executors, and has a task for each route.
func routedWork(routes ...string) func(*house) ([]work, error) {
	return func(h *house) ([]work, error) { return h.routed(routes) }
}

func (h *house) routed(routes []string) ([]work, error) {
	token, err := h.command("token", "create", "--team", "default", "--role", "operator", "--executors", "worker")
	if err != nil {
		return nil, err
	}
	h.registrar = newClient(func() string { return h.api }, token)
	for range staff {
		if err := h.hire(); err != nil {
			return nil, err
		}
	}
	var out []work
	for _, route := range routes {
		out = append(out, work{
			code: "by-" + strings.ReplaceAll(route, "_", "-"), schedule: manual, idempotent: true, retries: 20, rate: 2,
			target: map[string]any{"kind": "http", "executor": "worker", "type": "50", "route": route},
		})
	}
	return out, nil
}

// hire registers one more executor, which beats until its way is cut.
func (h *house) hire() error {
	l, err := newLink("executor", strings.TrimPrefix(h.sink.url, "http://"))
	if err != nil {
		return err
	}
	r, err := h.registrar.change("executor.register", "worker", "POST", "/executors", map[string]any{
		"name": "worker", "address": "http://" + l.addr(), "task_types": []map[string]any{{"type": "50"}},
	})
	if err != nil || r.status != 201 {
		l.close()
		return fmt.Errorf("register an executor: %d %w", r.status, err)
	}
	stop := make(chan struct{})
	h.executors = append(h.executors, &executor{link: l, stop: stop})
	h.undo = append(h.undo, h.executors[len(h.executors)-1].end)
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Second):
				_, _ = h.registrar.call("PUT", "/executors/"+r.text("id")+"/heartbeat", map[string]any{"running": 0})
			}
		}
	}()
	return nil
}

// executor is one address under which the sink is known.
type executor struct {
	link *link
	stop chan struct{}
	over bool
}

// end cuts it off at once, and it says nothing more.
func (e *executor) end() {
	if !e.over {
		e.over = true
		close(e.stop)
		e.link.cut()
	}
}

// killExecutors ends two of three without a word, one after the other, and lets
// new ones come.
func killExecutors(ctx context.Context, h *house) error {
	for i := range 2 {
		h.executors[i].end()
		h.tell("executor %d killed", i)
		rest(ctx, 5*time.Second)
	}
	if err := h.hire(); err != nil {
		return err
	}
	h.tell("one more came")
	h.load.client.mu.Lock() // the audit is held against what was asked for
	h.load.actions = append(h.load.actions, h.registrar.actions...)
	h.load.client.mu.Unlock()
	rest(ctx, 6*time.Second)
	return nil
}

// allByOthers: idempotent work that the executors left behind was done by
// others.
func allByOthers(_ context.Context, h *house) error {
	want := map[string]ends{}
	for _, w := range h.load.works {
		want[w.code] = ends{states: "succeeded"}
	}
	return h.endAs(want)
}
