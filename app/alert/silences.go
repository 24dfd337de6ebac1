package alert

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ax/app/access"
	"ax/app/fault"
)

// silenceStore keeps silences. Each method is one transaction.
type silenceStore interface {
	world
	Rule(ctx context.Context, id int64) (Rule, error)
	// OpenSilencesOf lists those of the scope and of the installation that are
	// not over, the newest first.
	OpenSilencesOf(ctx context.Context, s access.Scope, now time.Time) ([]Silence, error)
	// EndedSilencesOf lists those that are over with ids below before (0: from
	// the newest), the newest first.
	EndedSilencesOf(ctx context.Context, s access.Scope, now time.Time, before int64, limit int) ([]Silence, error)
	// Silence is NotFound when there is none with the id.
	Silence(ctx context.Context, id int64) (Silence, error)
	// InsertSilence is a Conflict when the team has most that are not over.
	InsertSilence(ctx context.Context, s Silence, most int, e access.Entry) (Silence, error)
	// ChangeSilence locks a silence and stores when change says it was ended.
	ChangeSilence(ctx context.Context, id int64, change func(Silence) (Silence, access.Entry, error)) (Silence, error)
}

// Silences are the use cases of silences. Those of a team are seen by its
// members and made by its operators; those of every team are seen by who is in
// any, and made by administrators.
type Silences struct {
	store silenceStore
	now   func() time.Time
}

// NewSilences keeps silences in the store.
func NewSilences(s silenceStore, now func() time.Time) *Silences {
	return &Silences{store: s, now: now}
}

// maxEnded bounds a list of silences that are over.
const maxEnded = 200

// Open gives the silences that are active or coming, of the asked teams that the
// actor may see and of every team, the newest first. The zero Scope asks for
// all teams.
func (s *Silences) Open(ctx context.Context, by access.Actor, asked access.Scope) ([]Silence, error) {
	scope, ok := shared(by, asked)
	if !ok {
		return nil, nil
	}
	return s.store.OpenSilencesOf(ctx, scope, s.now())
}

// List gives the silences of a state; before (an id, 0 for the first page) and
// limit narrow those that are over.
func (s *Silences) List(ctx context.Context, by access.Actor, asked access.Scope, state SilenceState, before int64, limit int) ([]Silence, error) {
	scope, ok := shared(by, asked)
	if !ok {
		return nil, nil
	}
	now := s.now()
	if state == SilenceEnded {
		return s.store.EndedSilencesOf(ctx, scope, now, before, min(max(limit, 1), maxEnded))
	}
	open, err := s.store.OpenSilencesOf(ctx, scope, now)
	return slices.DeleteFunc(open, func(x Silence) bool { return x.State(now) != state }), err
}

// Find gives a silence that the actor may see; NotFound otherwise.
func (s *Silences) Find(ctx context.Context, by access.Actor, id int64) (Silence, error) {
	x, err := s.store.Silence(ctx, id)
	if err != nil {
		return Silence{}, notFound(err)
	}
	if err := by.CheckShared(access.Read, x.TeamID); err != nil {
		return Silence{}, err
	}
	return x, nil
}

// Create makes a silence. Operators of the team; administrators for every team.
// Faults: NotFound, Denied, Invalid with all broken fields, Conflict
// (MaxSilences are there).
func (s *Silences) Create(ctx context.Context, by access.Actor, w SilenceSpec) (Silence, error) {
	team, err := teamOf(ctx, s.store, by, access.Silence, w.Team)
	if err == nil && w.Hold {
		err = by.Check(access.PauseTask, team)
	}
	if err != nil && fault.KindOf(err) != fault.KindInvalid {
		return Silence{}, err
	}
	now := s.now()
	made, resolved := w.Resolve(team, now)
	bad := append(fault.Fields(err), fault.Fields(resolved)...)
	if len(bad) == 0 {
		if bad, err = s.named(ctx, made, team); err != nil {
			return Silence{}, err
		}
	}
	if err := fault.Invalid(bad...); err != nil {
		return Silence{}, err
	}
	made.CreatedBy = by.Name
	stored, err := s.store.InsertSilence(ctx, made, MaxSilences, access.Entry{
		At: now, Actor: by, Action: "silence.create", Object: made.Object(), TeamID: team, Reason: made.Reason, Changes: diffSilences(Silence{}, made),
	})
	if err != nil {
		return Silence{}, fmt.Errorf("create a silence of %s: %w", made.Scope, err)
	}
	return stored, nil
}

// named looks whether task and rule are ones that the silence can cover.
func (s *Silences) named(ctx context.Context, x Silence, team int64) ([]fault.FieldError, error) {
	bad, err := taskOf(ctx, s.store, x.Scope, team)
	if err != nil || x.RuleID == 0 {
		return bad, err
	}
	r, err := s.store.Rule(ctx, x.RuleID)
	if err != nil && fault.KindOf(err) != fault.KindNotFound {
		return nil, err
	}
	if err != nil || team != 0 && r.TeamID != 0 && r.TeamID != team {
		bad = append(bad, fault.Field("rule_id", "The team has no such rule"))
	}
	return bad, nil
}

// EndNow ends a silence before its time; tasks that it held run again. Faults:
// NotFound, Denied, Invalid (reason), Conflict when it is over.
func (s *Silences) EndNow(ctx context.Context, by access.Actor, id int64, reason string) (Silence, error) {
	x, err := s.Find(ctx, by, id)
	if err != nil {
		return Silence{}, err
	}
	if err := by.CheckShared(access.Silence, x.TeamID); err != nil {
		return Silence{}, err
	}
	if err := checkReason(reason); err != nil {
		return Silence{}, err
	}
	now := s.now()
	x, err = s.store.ChangeSilence(ctx, id, func(old Silence) (Silence, access.Entry, error) {
		if old.Over(now) {
			return Silence{}, access.Entry{}, fault.Conflict("The silence is over already")
		}
		is := old
		is.EndedAt = now.UTC().Truncate(time.Millisecond)
		return is, access.Entry{
			At: now, Actor: by, Action: "silence.end", Object: is.Object(), TeamID: is.TeamID, Reason: reason, Changes: diffSilences(old, is),
		}, nil
	})
	if err != nil {
		return Silence{}, fmt.Errorf("end silence %d: %w", id, notFound(err))
	}
	return x, nil
}

// MayEnd tells whether the actor may end the silence.
func (s Silence) MayEnd(by access.Actor) bool { return by.CheckShared(access.Silence, s.TeamID) == nil }
