package alert

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"ax/app/access"
)

// fakeLedger keeps what the evaluator needs, as the ledger does.
type fakeLedger struct {
	rules     []Rule
	subs      []Subscription
	silences  []Silence
	tasks     []TaskMark
	readings  map[Metric][]Reading
	failing   map[Metric]error
	incidents map[string]Incident
	sent      []Delivery
	broken    map[int64]string
	turns     int
	asked     []Question
}

func newFakeLedger() *fakeLedger {
	return &fakeLedger{
		readings: map[Metric][]Reading{}, failing: map[Metric]error{}, incidents: map[string]Incident{}, broken: map[int64]string{},
	}
}

func (f *fakeLedger) AlertRules(context.Context) ([]Rule, error) {
	out := slices.Clone(f.rules)
	for i := range out {
		out[i].Broken = f.broken[out[i].ID]
	}
	return out, nil
}
func (f *fakeLedger) Subscriptions(context.Context) ([]Subscription, error) { return f.subs, nil }
func (f *fakeLedger) ActiveSilences(context.Context, time.Time) ([]Silence, error) {
	return slices.Clone(f.silences), nil
}
func (f *fakeLedger) TaskMarks(context.Context) ([]TaskMark, error) { return f.tasks, nil }
func (f *fakeLedger) Teams(context.Context, access.Scope) ([]access.Team, error) {
	return []access.Team{{ID: 1, Code: "pay", Name: "Payments"}}, nil
}
func (f *fakeLedger) SetBroken(_ context.Context, rule int64, why string, _ time.Time) error {
	f.broken[rule] = why
	return nil
}
func (f *fakeLedger) TakeTurn(context.Context, time.Time) (bool, error) { f.turns++; return true, nil }

func (f *fakeLedger) OpenIncidents(context.Context) (out []Incident, err error) {
	for _, i := range f.incidents {
		if i.Open() {
			out = append(out, i)
		}
	}
	return out, nil
}

func (f *fakeLedger) RecordIncident(_ context.Context, c IncidentChange, _ time.Time) (bool, error) {
	if c.Drop {
		delete(f.incidents, c.Is.ID)
		return true, nil
	}
	if was, ok := f.incidents[c.Is.ID]; ok && was.Version != c.Is.Version {
		return false, nil
	}
	c.Is.Version++
	f.incidents[c.Is.ID] = c.Is
	f.sent = append(f.sent, c.Deliveries...)
	return true, nil
}

func (f *fakeLedger) Readings(_ context.Context, q Question, _ time.Time) ([]Reading, error) {
	f.asked = append(f.asked, q)
	if err := f.failing[q.Metric]; err != nil {
		if err.Error() == "panic" {
			panic("a bug")
		}
		return nil, err
	}
	return f.readings[q.Metric], nil
}

// one gives the only incident.
func (f *fakeLedger) one() Incident {
	if len(f.incidents) != 1 {
		panic(fmt.Sprint(len(f.incidents), " incidents"))
	}
	for _, i := range f.incidents {
		return i
	}
	return Incident{}
}

func (f *fakeLedger) kinds() (out []MessageKind) {
	for _, d := range f.sent {
		out = append(out, d.Kind)
	}
	return out
}

// ids counts, so that they sort by their making.
func ids() func() string {
	n := 0
	return func() string { n++; return fmt.Sprintf("id-%06d", n) }
}

type wound struct{ now time.Time }

func (c *wound) Now() time.Time { return c.now }

func evaluator(f *fakeLedger, c *wound) *Evaluator {
	return NewEvaluator(EvaluatorOptions{Rules: f, Tasks: f, Cases: f, Source: f, Now: c.Now, NewID: ids(), Log: slog.New(slog.DiscardHandler)})
}

// fakeBox is a channel's letterbox.
type fakeBox struct {
	mu       sync.Mutex
	kind     ChannelKind
	waiting  []Delivery
	freeAt   time.Time
	off      string
	settled  int
	takeFail error
}

func (b *fakeBox) DueChannels(_ context.Context, now time.Time, _ int) ([]DueChannel, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, d := range b.waiting {
		if d.State == Waiting && !d.DueAt.After(now) && b.off == "" && !b.freeAt.After(now) {
			return []DueChannel{{ID: "ch", Since: d.DueAt}}, nil
		}
	}
	return nil, nil
}

func (b *fakeBox) TakeDeliveries(_ context.Context, t Taking) (ChannelKind, []Delivery, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.takeFail != nil || b.off != "" || b.freeAt.After(t.Now) {
		return b.kind, nil, false, b.takeFail
	}
	var out []Delivery
	for i, d := range b.waiting {
		if d.State == Waiting && !d.DueAt.After(t.Now) && len(out) < t.Most {
			b.waiting[i].Tries++
			out = append(out, b.waiting[i])
		}
	}
	return b.kind, out, true, nil
}

func (b *fakeBox) SettleDeliveries(_ context.Context, s Settling) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.settled++
	b.freeAt, b.off = s.FreeAt, s.OffWhy
	for _, d := range s.Done {
		for i := range b.waiting {
			if b.waiting[i].ID == d.ID {
				b.waiting[i] = d
			}
		}
	}
	return nil
}

func (b *fakeBox) ExpireDeliveries(context.Context, time.Time, time.Time) error { return nil }

// receiver answers what it is told to, and keeps what it got.
type receiver struct {
	mu      sync.Mutex
	answers []Answer // the last one again and again
	got     [][]Message
}

func (r *receiver) Send(_ context.Context, _ string, messages []Message) Answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, messages)
	a := r.answers[0]
	if len(r.answers) > 1 {
		r.answers = r.answers[1:]
	}
	return a
}

// post is a carrier.
type post struct {
	away bool
	got  []string
}

func (p *post) Post(_ context.Context, channel string) error {
	if p.away {
		return errors.New("Redis does not answer")
	}
	p.got = append(p.got, channel)
	return nil
}
