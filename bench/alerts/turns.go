package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"ax/app/alert"
	"ax/db"
)

// turn is what one turn of the evaluator cost.
type turn struct {
	took, own, base time.Duration
	statements      int64
}

// bench is what is measured: the evaluator and the courier as ax wires them,
// with a source that notes what each metric cost, and a receiver that counts.
type bench struct {
	w         *world
	evaluator *alert.Evaluator
	courier   *alert.Courier
	kinds     map[string]alert.ChannelKind // of the storm's team
	asked     map[alert.Metric]time.Duration

	mu   sync.Mutex
	sent map[alert.ChannelKind]map[string]int // by kind and what is told, each message as it went out
}

func newBench(w *world) *bench {
	b := &bench{w: w, kinds: map[string]alert.ChannelKind{}, asked: map[alert.Metric]time.Duration{}, sent: map[alert.ChannelKind]map[string]int{}}
	now, log := func() time.Time { return w.now }, slog.New(slog.DiscardHandler)
	b.evaluator = alert.NewEvaluator(alert.EvaluatorOptions{
		Rules: w.ax, Tasks: db.NewMarks(w.ax, now), Cases: w.ax, Source: alert.Sources{timed{db.NewGauges(w.ax), b}, redis{}}, Now: now, NewID: w.id, Log: log,
	})
	b.courier = alert.NewCourier(alert.CourierOptions{Box: w.ax, Post: b, Send: b, Now: now, NewID: w.id, Log: log})
	return b
}

// timed notes what each metric cost.
type timed struct {
	of alert.Source
	b  *bench
}

// Readings implements alert.Source.
func (t timed) Readings(ctx context.Context, q alert.Question, now time.Time) ([]alert.Reading, error) {
	began := time.Now()
	out, err := t.of.Readings(ctx, q, now)
	t.b.asked[q.Metric] += time.Since(began)
	if err != nil && !errors.Is(err, alert.ErrNotMine) {
		fmt.Println("a question failed:", err) // a rule that is not judged costs nothing
	}
	return out, err
}

// redis is one that is well.
type redis struct{}

// Readings implements alert.Source.
func (redis) Readings(context.Context, alert.Question, time.Time) ([]alert.Reading, error) {
	return []alert.Reading{{Subject: alert.Subject{Kind: alert.HouseSubject, Key: "redis"}}}, nil
}

// Post implements alert.Post: the carrier is prompt.
func (b *bench) Post(ctx context.Context, channel string) error {
	return b.courier.Deliver(ctx, channel)
}

// Send implements alert.Sender.
func (b *bench) Send(_ context.Context, channel string, messages []alert.Message) alert.Answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	accepted := alert.Answer{Verdict: alert.Accepted, Status: 200}
	kind, ok := b.kinds[channel]
	if !ok {
		return accepted
	}
	told := string(messages[0].Kind)
	if messages[0].Kind == alert.Event {
		told = string(messages[0].Event)
	}
	if b.sent[kind] == nil {
		b.sent[kind] = map[string]int{}
	}
	b.sent[kind][told]++
	return accepted
}

// tick takes one turn and tells what it cost.
func (w *world) tick(ctx context.Context) (turn, error) {
	before := w.spent()
	_, err := w.bench.evaluator.Tick(ctx)
	after := w.spent()
	t := turn{after.at.Sub(before.at), after.own - before.own, after.base - before.base, after.statements - before.statements}
	if err != nil {
		return t, fmt.Errorf("judge the rules: %w", err)
	}
	return t, nil
}

// figure is the middle of several turns, and what they asked.
type figure struct {
	middle turn
	asked  map[alert.Metric]time.Duration // of one turn
}

// turns lets the world go on and measures n turns after those in which what
// broke is found and told of.
func (w *world) turns(ctx context.Context, n int) (figure, error) {
	const first = 5
	var all []turn
	for i := range first + n {
		if err := w.live(ctx); err != nil {
			return figure{}, err
		}
		if i == 0 && w.broken > 0 { // they have failed before
			if err := w.breakTasks(ctx); err != nil {
				return figure{}, err
			}
		}
		if i == first {
			clear(w.bench.asked)
		}
		t, err := w.tick(ctx)
		if err != nil {
			return figure{}, err
		}
		if _, err := w.bench.courier.Tick(ctx); err != nil {
			return figure{}, err
		}
		if i >= first {
			all = append(all, t)
		}
	}
	f := figure{middle: median(all), asked: map[alert.Metric]time.Duration{}}
	for m, d := range w.bench.asked {
		f.asked[m] = d / time.Duration(n)
	}
	fmt.Printf("turn: %+v %v\n", f.middle, f.asked)
	return f, nil
}

// breakTasks has each broken task fail three times.
func (w *world) breakTasks(ctx context.Context) error {
	var all []run
	for i := range w.broken {
		for k := range 3 {
			all = append(all, run{w.o.storm + i, w.now.Add(-time.Duration(k) * time.Second), true})
		}
	}
	if err := w.end(ctx, all); err != nil {
		return err
	}
	w.now = w.now.Add(2 * time.Second)
	_, err := w.ax.Pulse(ctx, w.now)
	w.now = w.now.Add(step - 2*time.Second)
	return err
}

// median of each cost by itself; processor time is of the mean, for the clock of
// the database's has ticks of 10 ms.
func median(all []turn) turn {
	middle := func(of func(turn) time.Duration) time.Duration {
		list := make([]time.Duration, len(all))
		for i, t := range all {
			list[i] = of(t)
		}
		slices.Sort(list)
		return list[len(list)/2]
	}
	var out turn
	for _, t := range all {
		out.base += t.base / time.Duration(len(all))
		out.statements += t.statements
	}
	out.statements /= int64(len(all))
	out.took, out.own = middle(func(t turn) time.Duration { return t.took }), middle(func(t turn) time.Duration { return t.own })
	return out
}
