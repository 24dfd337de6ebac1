package alert

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"ax/app/access"
	"ax/app/fail"
)

// TurnEvery is how often the rules are judged, by one node of all.
const TurnEvery = 5 * time.Second

// rulebook is what the evaluator reads at each turn.
type rulebook interface {
	// AlertRules are all that are enabled, of every team and the installation.
	AlertRules(ctx context.Context) ([]Rule, error)
	// Subscriptions are all whose channels are on.
	Subscriptions(ctx context.Context) ([]Subscription, error)
	// ActiveSilences are those that may be active at now.
	ActiveSilences(ctx context.Context, now time.Time) ([]Silence, error)
	// SetBroken notes why a rule can't be judged; empty: it can.
	SetBroken(ctx context.Context, rule int64, why string, now time.Time) error
	Teams(ctx context.Context, s access.Scope) ([]access.Team, error)
}

// marker knows the tasks.
type marker interface {
	// TaskMarks are those of all tasks that are not archived; the list is not to
	// be changed.
	TaskMarks(ctx context.Context) ([]TaskMark, error)
}

// casebook keeps incidents. Each method is one transaction.
type casebook interface {
	// TakeTurn is true for one node within each TurnEvery.
	TakeTurn(ctx context.Context, now time.Time) (bool, error)
	// OpenIncidents are all that are not over, with the members that break the
	// rule now.
	OpenIncidents(ctx context.Context) ([]Incident, error)
	// RecordIncident stores the change with its deliveries; false when the
	// incident is not what it was any more, and nothing was stored.
	RecordIncident(ctx context.Context, c IncidentChange, now time.Time) (bool, error)
}

// IncidentChange is what one turn makes of one incident.
type IncidentChange struct {
	Is         Incident // Version is the one that was read; 0: it is new
	Members    bool     // the members are others than before
	Drop       bool     // it was pending, and is forgotten
	Deliveries []Delivery
}

// EvaluatorOptions: all are required.
type EvaluatorOptions struct {
	Rules  rulebook
	Tasks  marker
	Cases  casebook
	Source Source
	Now    func() time.Time
	NewID  func() string // UUIDv7
	Log    *slog.Logger
}

// Evaluator judges all rules, turn by turn.
type Evaluator struct {
	o     EvaluatorOptions
	drift drift
}

// NewEvaluator makes an evaluator.
func NewEvaluator(o EvaluatorOptions) *Evaluator { return &Evaluator{o: o, drift: drift{}} }

// turn is all that was read for one turn.
type turn struct {
	now      time.Time
	rules    []Rule
	subs     []Subscription
	silences []Silence
	marks    marks
	byCode   map[string]TaskMark
	teams    map[int64]access.Team
	answers  map[asked]answer
	open     map[int64][]Incident // by rule
}

// Tick judges the rules if it is this node's turn. A rule whose question fails
// is shown as broken and leaves its incidents as they are; the others go on.
func (e *Evaluator) Tick(ctx context.Context) (again bool, err error) {
	now := e.o.Now()
	mine, err := e.o.Cases.TakeTurn(ctx, now)
	if err != nil || !mine {
		return false, err
	}
	t, err := e.read(ctx, now)
	if err != nil {
		return false, err
	}
	for _, r := range t.rules {
		if err := e.judge(ctx, t, r); err != nil {
			e.o.Log.ErrorContext(ctx, "a rule could not be judged", "rule", r.ID, "error", err)
		}
		delete(t.open, r.ID)
	}
	e.drift.forget(t.now)
	for _, orphans := range t.open { // of rules that are gone or off
		for _, i := range orphans {
			if err := e.end(ctx, t, i); err != nil {
				e.o.Log.ErrorContext(ctx, "an incident could not be ended", "incident", i.ID, "error", err)
			}
		}
	}
	return false, nil
}

func (e *Evaluator) read(ctx context.Context, now time.Time) (t turn, err error) {
	t.now = now
	if t.rules, err = e.o.Rules.AlertRules(ctx); err != nil {
		return t, fmt.Errorf("read the rules: %w", err)
	}
	if t.subs, err = e.o.Rules.Subscriptions(ctx); err != nil {
		return t, fmt.Errorf("read who is told: %w", err)
	}
	if t.silences, err = e.o.Rules.ActiveSilences(ctx, now); err != nil {
		return t, fmt.Errorf("read the silences: %w", err)
	}
	t.silences = slices.DeleteFunc(t.silences, func(s Silence) bool { _, ok := s.Active(now); return !ok })
	teams, err := e.o.Rules.Teams(ctx, access.Scope{All: true})
	if err != nil {
		return t, fmt.Errorf("read the teams: %w", err)
	}
	t.teams = make(map[int64]access.Team, len(teams))
	for _, team := range teams {
		t.teams[team.ID] = team
	}
	list, err := e.o.Tasks.TaskMarks(ctx)
	if err != nil {
		return t, fmt.Errorf("read the tasks: %w", err)
	}
	t.marks, t.byCode = marksOf(list), make(map[string]TaskMark, len(list))
	for _, m := range list {
		t.byCode[m.Code] = m
	}
	incidents, err := e.o.Cases.OpenIncidents(ctx)
	if err != nil {
		return t, fmt.Errorf("read the incidents: %w", err)
	}
	t.open = map[int64][]Incident{}
	for _, i := range incidents {
		t.open[i.RuleID] = append(t.open[i.RuleID], i)
	}
	t.answers = ask(ctx, e.o.Source, questions(t.rules), now)
	return t, fail.At("alert.asked")
}

// judge compares a rule's breaches with its incidents.
func (e *Evaluator) judge(ctx context.Context, t turn, r Rule) error {
	got := t.answers[r.asks()]
	if err := e.note(ctx, t, r, got.err); err != nil || got.err != nil {
		return err
	}
	at := map[string]string{}
	for _, i := range t.open[r.ID] {
		for _, m := range i.Members {
			at[m.Subject.key()] = i.Fingerprint
		}
	}
	broken := map[string]*Breach{}
	for _, b := range r.breaches(r.measured(got, t.marks), at) {
		broken[b.Fingerprint] = &b
	}
	for _, was := range t.open[r.ID] {
		b := broken[was.Fingerprint]
		delete(broken, was.Fingerprint)
		if err := e.move(ctx, t, r, was, b); err != nil {
			return err
		}
	}
	for _, b := range broken {
		i := Begin(e.o.NewID(), r, *b, t.now)
		if err := e.record(ctx, t, r, Incident{}, i, false); err != nil {
			return err
		}
	}
	return nil
}

// note keeps with the rule whether it can be judged, when that changes.
func (e *Evaluator) note(ctx context.Context, t turn, r Rule, failed error) error {
	why := ""
	if failed != nil {
		why = failed.Error()
		e.o.Log.WarnContext(ctx, "a rule can't be judged", "rule", r.ID, "error", failed)
	}
	if (why == "") == (r.Broken == "") {
		return nil
	}
	return e.o.Rules.SetBroken(ctx, r.ID, why, t.now)
}

func (e *Evaluator) move(ctx context.Context, t turn, r Rule, was Incident, b *Breach) error {
	is, drop := e.drift.of(was, r.Meter()).Follow(r, b, t.now)
	return e.record(ctx, t, r, was, is, drop)
}

// end closes an incident whose rule is no more.
func (e *Evaluator) end(ctx context.Context, t turn, was Incident) error {
	is := was
	is.State, is.EndedAt, is.EndedBy = Over, t.now, "rule"
	r := Rule{ID: was.RuleID, Name: was.RuleName, TeamID: was.TeamID, Metric: was.Metric, Recovery: true}
	return e.record(ctx, t, r, was, is, was.State == Pending)
}

// record decides who is told and stores the incident with that, if anything
// is other than it was.
func (e *Evaluator) record(ctx context.Context, t turn, r Rule, was, is Incident, drop bool) error {
	is.Silenced = is.State == Firing && t.silenced(r, is)
	is, deliveries := e.tell(t, r, was, is)
	c := IncidentChange{Is: is, Members: !sameMembers(was.Members, is.Members), Drop: drop, Deliveries: deliveries}
	if !drop && was.ID != "" && len(deliveries) == 0 && e.drift.waits(was, is, t.now) {
		return nil
	}
	if _, err := e.o.Cases.RecordIncident(ctx, c, t.now); err != nil {
		return fmt.Errorf("record incident %s: %w", is.ID, err)
	}
	return fail.At("alert.recorded")
}

// silenced tells whether silences cover all members.
func (t turn) silenced(r Rule, i Incident) bool {
	covered := func(m Member) bool {
		return slices.ContainsFunc(t.silences, func(s Silence) bool {
			mark, ok := t.byCode[m.Subject.Key]
			if m.Subject.Kind != TaskSubject || !ok {
				mark = TaskMark{TeamID: i.TeamID, Queue: m.Subject.Key}
			}
			return s.Holds(r.ID, i.TeamID, mark)
		})
	}
	return len(t.silences) > 0 && !slices.ContainsFunc(i.Members, func(m Member) bool { return !covered(m) })
}
