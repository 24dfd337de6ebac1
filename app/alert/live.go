package alert

import (
	"context"
	"fmt"
	"time"

	"ax/app/access"
)

// liveStore is what pages ask beside the use cases.
type liveStore interface {
	// Subscriptions are all whose channels are on.
	Subscriptions(ctx context.Context) ([]Subscription, error)
	TaskMarks(ctx context.Context) ([]TaskMark, error)
	// RuleCounts counts the incidents that rules opened since then, of the scope
	// and of the installation.
	RuleCounts(ctx context.Context, s access.Scope, rules []int64, since time.Time) (map[int64]Count30, error)
	// FiringCount counts those of the scope and of the installation.
	FiringCount(ctx context.Context, s access.Scope) (FiringCount, error)
}

// Live tells pages what goes on: what rules measure now, who would be told, and
// how much fires.
type Live struct {
	store liveStore
	from  Source // nil: no value can be read
	now   func() time.Time
}

// NewLive makes it.
func NewLive(store liveStore, from Source, now func() time.Time) *Live {
	return &Live{store: store, from: from, now: now}
}

// LiveValue is what a rule says now, or (Failed) that it can't be read.
type LiveValue struct {
	Value
	Failed error
}

// LiveValues are the values of rules, as nobody in particular sees them: many
// viewers can share one reading.
type LiveValues struct{ all map[int64]LiveValue }

// For gives the values by rule as the actor may see them: which task it is that
// is worst off is told only to who may see its team.
func (v LiveValues) For(by access.Actor) map[int64]LiveValue {
	out := make(map[int64]LiveValue, len(v.all))
	for id, x := range v.all {
		if x.Of.Kind == TaskSubject && !by.Sees(x.Team) {
			x.Of = Subject{}
		}
		out[id] = x
	}
	return out
}

// Values of the rules now. One that can't be read keeps no other from being
// read.
func (l *Live) Values(ctx context.Context, rules []Rule) (LiveValues, error) {
	out := LiveValues{all: make(map[int64]LiveValue, len(rules))}
	if l.from == nil {
		for _, r := range rules {
			out.all[r.ID] = LiveValue{Failed: ErrNotMine}
		}
		return out, nil
	}
	list, err := l.store.TaskMarks(ctx)
	if err != nil {
		return LiveValues{}, fmt.Errorf("read the tasks that rules watch: %w", err)
	}
	known := marksOf(list)
	answers := ask(ctx, l.from, questions(rules), l.now())
	if err := ctx.Err(); err != nil { // who asked went away: that is no news of the rules
		return LiveValues{}, fmt.Errorf("read the values of rules: %w", err)
	}
	for _, r := range rules {
		got := answers[r.asks()]
		v := LiveValue{Failed: got.err}
		if got.err == nil {
			v.Value = r.value(r.measured(got, known))
		}
		out.all[r.ID] = v
	}
	return out, nil
}

// Listening gives the ids of the channels that are told of each incident, by
// its id, each once, those that wait the least first. Of one that is not in it,
// nobody is told.
func (l *Live) Listening(ctx context.Context, incidents []Incident) (map[string][]string, error) {
	subs, err := l.store.Subscriptions(ctx)
	if err != nil {
		return nil, fmt.Errorf("read who is told: %w", err)
	}
	out := map[string][]string{}
	for _, i := range incidents {
		if to := told(subs, i); len(to) > 0 {
			out[i.ID] = to
		}
	}
	return out, nil
}

// Covered counts the tasks that a silence covers; team 0 is all teams.
func (l *Live) Covered(ctx context.Context, s Silence) (int, error) {
	list, err := l.store.TaskMarks(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the tasks that a silence covers: %w", err)
	}
	n := 0
	for _, t := range list {
		if s.Holds(s.RuleID, t.TeamID, t) {
			n++
		}
	}
	return n, nil
}

// countedFor is how long back the incidents of a rule are counted.
const countedFor = 30 * 24 * time.Hour

// Counts are the incidents of rules within 30 days that the actor may see, by
// rule.
func (l *Live) Counts(ctx context.Context, by access.Actor, rules []Rule) (map[int64]Count30, error) {
	ids := make([]int64, len(rules))
	for i, r := range rules {
		ids[i] = r.ID
	}
	return l.store.RuleCounts(ctx, by.Scope(), ids, l.now().Add(-countedFor))
}

// Firing counts what fires in the asked teams that the actor may read, and of
// the installation.
func (l *Live) Firing(ctx context.Context, by access.Actor, asked access.Scope) (FiringCount, error) {
	scope, ok := shared(by, asked)
	if !ok {
		return FiringCount{}, nil
	}
	return l.store.FiringCount(ctx, scope)
}

// HeldBack counts the firing incidents whose members the silence covers all.
func (l *Live) HeldBack(ctx context.Context, s Silence, open []Incident) (int, error) {
	list, err := l.store.TaskMarks(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the tasks that a silence covers: %w", err)
	}
	t := turn{silences: []Silence{s}, byCode: make(map[string]TaskMark, len(list))}
	for _, m := range list {
		t.byCode[m.Code] = m
	}
	n := 0
	for _, i := range open {
		if i.State == Firing && !i.Silenced && t.silenced(Rule{ID: i.RuleID}, i) {
			n++
		}
	}
	return n, nil
}
