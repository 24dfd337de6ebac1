package alert

import (
	"context"
	"fmt"
	"time"

	"ax/app/access"
	"ax/app/fault"
)

// ruleStore keeps rules. Each method is one transaction.
type ruleStore interface {
	world
	// RulesOf lists those of the scope and of the installation, by team and name.
	RulesOf(ctx context.Context, s access.Scope) ([]Rule, error)
	// Rule is NotFound when there is none with the id.
	Rule(ctx context.Context, id int64) (Rule, error)
	// InsertRule is a Conflict with the field when the team has the name
	// already, or has most of them.
	InsertRule(ctx context.Context, r Rule, most int, e access.Entry) (Rule, error)
	// ChangeRule locks a rule, asks change what is to become of it, and stores
	// that with the entry. An error of change undoes everything.
	ChangeRule(ctx context.Context, id int64, change func(Rule) (Rule, access.Entry, error)) (Rule, error)
	// DeleteRule also takes the subscriptions to it away; the entry is asked for
	// with how many.
	DeleteRule(ctx context.Context, id int64, entry func(was Rule, subscriptions int) (access.Entry, error)) error
}

// Rules are the use cases of rules. Those of a team are seen by its members and
// changed by its editors; those of the installation are seen by who is in any
// team, and changed by administrators.
type Rules struct {
	store  ruleStore
	queues []string
	now    func() time.Time
}

// NewRules keeps rules in the store; queues are those that a rule can name.
func NewRules(s ruleStore, queues []string, now func() time.Time) *Rules {
	return &Rules{store: s, queues: queues, now: now}
}

// List gives the rules of the asked teams that the actor may see, and those of
// the installation, by team and name. The zero Scope asks for all teams.
func (s *Rules) List(ctx context.Context, by access.Actor, asked access.Scope) ([]Rule, error) {
	scope, ok := shared(by, asked)
	if !ok {
		return nil, nil
	}
	return s.store.RulesOf(ctx, scope)
}

// Find gives a rule that the actor may see; NotFound otherwise.
func (s *Rules) Find(ctx context.Context, by access.Actor, id int64) (Rule, error) {
	return s.may(ctx, by, access.Read, id)
}

// may reads a rule and checks one right on it.
func (s *Rules) may(ctx context.Context, by access.Actor, v access.Verb, id int64) (Rule, error) {
	r, err := s.store.Rule(ctx, id)
	if err != nil {
		return Rule{}, notFound(err)
	}
	return r, by.CheckShared(v, r.TeamID)
}

// Draft checks a written rule without storing it, for a back-test: a new one of
// w.Team, or what is to become of the rule with the id. Faults: those of Create
// and Update, but for the name that is taken and the version.
func (s *Rules) Draft(ctx context.Context, by access.Actor, id int64, w RuleSpec) (Rule, error) {
	if id != 0 {
		old, err := s.may(ctx, by, access.EditRule, id)
		if err != nil {
			return Rule{}, err
		}
		return s.resolve(ctx, w, old, old.TeamID, nil)
	}
	team, err := teamOf(ctx, s.store, by, access.EditRule, w.Team)
	if err != nil && fault.KindOf(err) != fault.KindInvalid {
		return Rule{}, err
	}
	return s.resolve(ctx, w, Rule{}, team, fault.Fields(err))
}

// resolve checks what the rule says by itself, and what it names.
func (s *Rules) resolve(ctx context.Context, w RuleSpec, old Rule, team int64, bad []fault.FieldError) (Rule, error) {
	r, err := w.Resolve(old, team, s.queues)
	bad = append(bad, fault.Fields(err)...)
	if len(bad) == 0 && r.Scope != old.Scope { // what it covered before may be gone by now
		var failed error
		if bad, failed = taskOf(ctx, s.store, r.Scope, team); failed != nil {
			return Rule{}, failed
		}
	}
	return r, fault.Invalid(bad...)
}

// Create makes a rule. Editors of the team; administrators for the
// installation. Faults: NotFound, Denied, Invalid with all broken fields,
// Conflict at name (taken, or MaxRules are there).
func (s *Rules) Create(ctx context.Context, by access.Actor, w RuleSpec) (Rule, error) {
	r, err := s.Draft(ctx, by, 0, w)
	if err != nil {
		return Rule{}, err
	}
	now := s.now()
	r.Version, r.CreatedBy, r.CreatedAt, r.ChangedBy, r.ChangedAt = 1, by.Name, now, by.Name, now
	made, err := s.store.InsertRule(ctx, r, MaxRules, access.Entry{
		At: now, Actor: by, Action: "rule.create", Object: r.Object(), TeamID: r.TeamID, Reason: w.Reason,
		Changes: diffRules(Rule{Scope: Scope{}}, r),
	})
	if err != nil {
		return Rule{}, fmt.Errorf("create the rule %q: %w", r.Name, err)
	}
	return made, nil
}

// Update changes a rule. A stale version is a Conflict that names who changed
// it. Faults: NotFound, Denied, Invalid, Conflict.
func (s *Rules) Update(ctx context.Context, by access.Actor, id int64, w RuleSpec) (Rule, error) {
	draft, err := s.Draft(ctx, by, id, w)
	var bad problems = fault.Fields(err)
	if err != nil && len(bad) == 0 {
		return Rule{}, err
	}
	bad.version(w.Version)
	if err := fault.Invalid(bad...); err != nil {
		return Rule{}, err
	}
	return s.change(ctx, by, id, "rule.update", w.Reason, func(old Rule) (Rule, error) {
		if err := old.fresh(w.Version); err != nil {
			return Rule{}, err
		}
		is, err := w.Resolve(old, old.TeamID, s.queues)
		is.Scope = draft.Scope
		return is, err
	})
}

func (r Rule) fresh(version int) error {
	if version != r.Version {
		return fault.Conflict("%s changed the rule meanwhile: it is at version %d, you began from %d", r.ChangedBy, r.Version, version)
	}
	return nil
}

// SetEnabled switches a rule on or off; as it is already, nothing changes.
// Faults: NotFound, Denied, Invalid (reason).
func (s *Rules) SetEnabled(ctx context.Context, by access.Actor, id int64, on bool, reason string) (Rule, error) {
	r, err := s.may(ctx, by, access.EditRule, id)
	if err != nil || r.Enabled == on {
		return r, err
	}
	if err := checkReason(reason); err != nil {
		return Rule{}, err
	}
	action := map[bool]string{true: "rule.enable", false: "rule.disable"}[on]
	return s.change(ctx, by, id, action, reason, func(old Rule) (Rule, error) {
		old.Enabled = on
		return old, nil
	})
}

// change is the one shape of all changes; the right is asked for under the lock.
func (s *Rules) change(ctx context.Context, by access.Actor, id int64, action, reason string, set func(Rule) (Rule, error)) (Rule, error) {
	now := s.now()
	r, err := s.store.ChangeRule(ctx, id, func(old Rule) (Rule, access.Entry, error) {
		if err := by.CheckShared(access.EditRule, old.TeamID); err != nil {
			return Rule{}, access.Entry{}, err
		}
		is, err := set(old)
		is.Version, is.ChangedBy, is.ChangedAt, is.Broken, is.BrokenAt = old.Version+1, by.Name, now, "", time.Time{}
		return is, access.Entry{
			At: now, Actor: by, Action: action, Object: is.Object(), TeamID: is.TeamID, Reason: reason, Changes: diffRules(old, is),
		}, err
	})
	if err != nil {
		return Rule{}, fmt.Errorf("change rule %d: %w", id, notFound(err))
	}
	return r, nil
}

// Delete takes a rule away, with the subscriptions to it alone. Its incidents
// stay. Faults: NotFound, Denied, Invalid (reason).
func (s *Rules) Delete(ctx context.Context, by access.Actor, id int64, reason string) error {
	if _, err := s.may(ctx, by, access.EditRule, id); err != nil {
		return err
	}
	if err := checkReason(reason); err != nil {
		return err
	}
	err := s.store.DeleteRule(ctx, id, func(was Rule, subscriptions int) (access.Entry, error) {
		e := access.Entry{
			At: s.now(), Actor: by, Action: "rule.delete", Object: was.Object(), TeamID: was.TeamID, Reason: reason,
			Changes: diffRules(was, Rule{Scope: Scope{}}),
		}
		if subscriptions > 0 {
			e.Changes = append(e.Changes, access.Change{Field: "subscriptions", Old: fmt.Sprint(subscriptions), New: "0"})
		}
		return e, by.CheckShared(access.EditRule, was.TeamID)
	})
	if err != nil {
		return fmt.Errorf("delete rule %d: %w", id, notFound(err))
	}
	return nil
}

func checkReason(reason string) error {
	var bad problems
	bad.line("reason", reason, maxReason)
	return fault.Invalid(bad...)
}

// MayEdit tells whether the actor may change the rule.
func (r Rule) MayEdit(by access.Actor) bool {
	return by.CheckShared(access.EditRule, r.TeamID) == nil
}
