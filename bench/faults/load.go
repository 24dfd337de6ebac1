package main

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// span is when a task was surely enabled (by the bench's clock, which is that
// of the ledger's machine), and when it may have been.
type span struct {
	task                       work
	askedOn, on, askedOff, off int64 // epoch ms; askedOff and off 0: still enabled
}

// load drives an installation as its users would, and keeps what they were
// told.
type load struct {
	*client
	h     *house
	works []work
	spans []*span
	stop  chan struct{}
	wait  sync.WaitGroup
	pace  float64 // factor on all rates

	mu     sync.Mutex
	recent []string // instances that callers know
}

// newLoad makes the tasks.
func (h *house) newLoad(works []work, pace float64) (*load, error) {
	l := &load{client: newClient(func() string { return h.api }, h.token), h: h, works: works, stop: make(chan struct{}), pace: pace}
	h.load = l
	for _, w := range works {
		s := &span{task: w, askedOn: time.Now().UnixMilli()}
		if _, err := l.insist(20*time.Second, "task.create", w.code, "POST", "/tasks", w.definition(h.sink.url)); err != nil {
			return l, err
		}
		s.on = time.Now().UnixMilli()
		if w.every > 0 {
			l.spans = append(l.spans, s)
		}
	}
	return l, nil
}

// begin starts the callers: one for each kind of request, two for orders, and
// people who cancel, replay, pause and edit.
func (l *load) begin() {
	for _, w := range l.works {
		if w.rate > 0 {
			l.every(time.Duration(float64(time.Second)/(w.rate*l.pace)), func(i int) { l.ask(w, i) })
		}
	}
	l.every(900*time.Millisecond, func(int) { l.cancelOne() })
	l.every(700*time.Millisecond, func(int) { l.replayOne() })
	if l.has("order") {
		l.every(1100*time.Millisecond, l.edit)
	}
	if l.has("two") {
		l.every(2300*time.Millisecond, func(int) { l.pauseAndResume("two") })
	}
}

func (l *load) has(code string) bool {
	for _, w := range l.works {
		if w.code == code {
			return true
		}
	}
	return false
}

// every runs do again and again until the load ends; a slow one is not
// overtaken.
func (l *load) every(pause time.Duration, do func(i int)) {
	l.wait.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-l.stop:
				return
			case <-time.After(time.Duration(float64(pause) * (0.5 + rand.Float64()))): // nobody is a metronome
			}
			do(i)
		}
	})
}

func (l *load) ask(w work, i int) {
	id, err := l.trigger(l.stop, w.code, fmt.Sprintf("%s-%d", w.code, i), w.more)
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.recent = append(l.recent, id)
	if len(l.recent) > 20 {
		l.recent = l.recent[1:]
	}
}

func (l *load) cancelOne() {
	l.mu.Lock()
	id := ""
	if len(l.recent) > 0 {
		id = l.recent[rand.IntN(len(l.recent))]
	}
	l.mu.Unlock()
	if id != "" {
		_, _ = l.change("instance.cancel", id, "POST", "/instances/"+id+"/cancel", nil)
	}
}

func (l *load) replayOne() {
	r, err := l.call("GET", "/dead-letters?status=open&limit=20", nil)
	if err != nil || r.status != 200 {
		return
	}
	items := r.items()
	if len(items) == 0 {
		return
	}
	id := fmt.Sprint(items[rand.IntN(len(items))]["id"])
	_, _ = l.change("letter.replay", id, "POST", "/dead-letters/"+id+"/replay", map[string]any{"reason": "again"})
}

// edit changes what an order carries, not when.
func (l *load) edit(i int) {
	r, err := l.call("GET", "/tasks/order", nil)
	if err != nil || r.status != 200 {
		return
	}
	for _, w := range l.works {
		if w.code == "order" {
			def := w.definition(l.h.sink.url)
			def["version"], def["payload"] = r.body["version"], map[string]any{"edit": i}
			_, _ = l.change("task.update", "order", "PUT", "/tasks/order", def)
		}
	}
}

func (l *load) pauseAndResume(code string) {
	until := time.Now().Add(30 * time.Second).UTC().Format(time.RFC3339)
	if r, err := l.change("task.pause", code, "POST", "/tasks/"+code+"/pause", map[string]any{"until": until}); err != nil || r.status >= 300 {
		return // it may be paused all the same: the next one resumes it
	}
	time.Sleep(700 * time.Millisecond)
	_, _ = l.change("task.resume", code, "POST", "/tasks/"+code+"/resume", nil)
}

// end stops the callers, resumes what is paused and disables what has slots.
// From here on nothing new is wanted.
func (l *load) end(limit time.Duration) error {
	close(l.stop)
	l.wait.Wait()
	if l.has("two") {
		r, err := l.insist(limit, "task.resume", "two", "POST", "/tasks/two/resume", nil)
		if err != nil && r.status != 409 { // it was not paused
			return err
		}
	}
	for _, s := range l.spans {
		if s.task.stays {
			continue
		}
		s.askedOff = time.Now().UnixMilli()
		if _, err := l.insist(limit, "task.disable", s.task.code, "POST", "/tasks/"+s.task.code+"/disable", nil); err != nil {
			return err
		}
		s.off = time.Now().UnixMilli()
	}
	return nil
}
