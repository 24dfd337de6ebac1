package alert

import (
	"context"
	"log/slog"
	"time"
)

// engineStore is all that alerts need of the ledger by themselves.
type engineStore interface {
	rulebook
	casebook
	letterbox
	outbox
	almanac
	holdBook
}

// EngineOptions: all are required.
type EngineOptions struct {
	Store  engineStore
	Tasks  marker
	Source Source
	Post   Post
	Send   Sender
	Now    func() time.Time
	NewID  func() string // UUIDv7
	Log    *slog.Logger
}

// Engine is what alerts do by themselves: judge the rules, make messages and
// send them, and pause what a silence holds.
type Engine struct {
	Courier   *Courier
	evaluator *Evaluator
	events    *Events
	digester  *Digester
	holder    *Holder
}

// NewEngine makes the parts; nothing runs before its loops do.
func NewEngine(o EngineOptions) *Engine {
	return &Engine{
		Courier:   NewCourier(CourierOptions{Box: o.Store, Post: o.Post, Send: o.Send, Now: o.Now, NewID: o.NewID, Log: o.Log}),
		evaluator: NewEvaluator(EvaluatorOptions{Rules: o.Store, Tasks: o.Tasks, Cases: o.Store, Source: o.Source, Now: o.Now, NewID: o.NewID, Log: o.Log}),
		events:    NewEvents(EventsOptions{Box: o.Store, Now: o.Now, NewID: o.NewID, Log: o.Log}),
		digester:  NewDigester(DigesterOptions{Book: o.Store, Now: o.Now, NewID: o.NewID, Log: o.Log}),
		holder:    NewHolder(o.Store, o.Log, o.Now),
	}
}

// Loop is a periodic work of the engine, on every node that schedules.
type Loop struct {
	Name  string
	Every time.Duration
	Tick  func(ctx context.Context) (again bool, err error)
}

// Loops of the engine. The rules are judged by one node each TurnEvery; the
// others look more often, so that the next turn is late by a second at most
// when that node is gone.
func (e *Engine) Loops() []Loop {
	return []Loop{
		{"alerts", time.Second, e.evaluator.Tick},
		{"events", EventsEvery, e.events.Tick},
		{"courier", time.Second, e.Courier.Tick},
		{"hold", 5 * time.Second, e.holder.Tick},
	}
}

// Digest makes the summaries that are due; it is called each ten minutes.
func (e *Engine) Digest(ctx context.Context) error { return e.digester.Tick(ctx) }
