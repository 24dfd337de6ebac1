package sched

import (
	"context"
	"strconv"
	"time"
	"unicode/utf8"

	"ax/app/access"
	"ax/app/fault"
)

// LetterStatus says where the work on a dead letter stands.
type LetterStatus string

// The statuses.
const (
	LetterOpen    LetterStatus = "open"
	LetterTaken   LetterStatus = "taken"
	LetterSolved  LetterStatus = "solved"
	LetterWontFix LetterStatus = "wont_fix"
)

// LetterStatuses lists the statuses in the order of the form.
func LetterStatuses() []LetterStatus {
	return []LetterStatus{LetterOpen, LetterTaken, LetterSolved, LetterWontFix}
}

// Valid tells whether s is one of the statuses.
func (s LetterStatus) Valid() bool {
	return s == LetterOpen || s == LetterTaken || s == LetterSolved || s == LetterWontFix
}

// Closed tells whether nobody needs to look at the letter any more.
func (s LetterStatus) Closed() bool { return s == LetterSolved || s == LetterWontFix }

// Letter is a dead letter: the open case of a business action that ended
// failed, timed_out or lost. There is one per task and biz_id.
type Letter struct {
	ID          int64
	TaskID      int64
	TeamID      int64
	BizID       string
	InstanceID  string // the latest that ended badly
	Replay      int    // highest number used
	Replaying   string // the replay that is open now
	Status      LetterStatus
	Outcome     Outcome
	Error       string
	Fingerprint string
	Cause       string
	Solution    string
	AssigneeID  int64
	Assignee    string // login, read with it
	Opens       int
	OpenedAt    time.Time
	ClosedAt    time.Time
	ClosedBy    string
	Version     int
}

// LetterFilter narrows a list of letters. Empty fields don't.
type LetterFilter struct {
	Scope    access.Scope
	TaskID   int64
	Statuses []LetterStatus
	BizID    string // its beginning
	Assignee int64
	Since    time.Time // opened at or after
}

// LetterEdit is a change of the work on a letter; nil leaves a field as it is.
type LetterEdit struct {
	Status   *LetterStatus `json:"status,omitempty"`
	Solution *string       `json:"solution,omitempty"`
	Cause    *string       `json:"cause,omitempty"`
	Assignee *string       `json:"assignee,omitempty" doc:"Login; empty: nobody"`
	Version  int           `json:"version,omitempty" doc:"The version that was read; 0: whatever it is"`
}

// letterStore is what the letter use cases need of the ledger.
type letterStore interface {
	Letter(ctx context.Context, id int64) (Letter, error)
	Letters(ctx context.Context, f LetterFilter, p PageRequest) (PageOf[Letter], error)
	// Member finds a user by login who may work for the team.
	Member(ctx context.Context, login string, teamID int64) (int64, error)
	// EditLetter applies the change to the row under its lock.
	EditLetter(ctx context.Context, id int64, apply func(Letter) (Letter, access.Entry, error)) (Letter, error)
	// Replay makes a new instance for an open letter without an open replay.
	Replay(ctx context.Context, id int64, newID string, now time.Time, by access.Actor, reason string) (Instance, error)
	// Lane that the instance's messages take.
	Lane(ctx context.Context, in Instance) (Lane, error)
}

// Letters are the use cases of dead letters.
type Letters struct {
	store letterStore
	hand  handover
	clock *Clock
	newID func() string
}

// NewLetters makes the use cases.
func NewLetters(store letterStore, hand handover, clock *Clock, newID func() string) *Letters {
	return &Letters{store: store, hand: hand, clock: clock, newID: newID}
}

// Get gives a letter that the actor may see; NotFound otherwise.
func (s *Letters) Get(ctx context.Context, by access.Actor, id int64) (Letter, error) {
	return s.may(ctx, by, access.Read, id)
}

func (s *Letters) may(ctx context.Context, by access.Actor, v access.Verb, id int64) (Letter, error) {
	l, err := s.store.Letter(ctx, id)
	if err != nil {
		return Letter{}, err
	}
	return l, by.Check(v, l.TeamID)
}

// List gives a page of the letters that the actor may see, newest first.
func (s *Letters) List(ctx context.Context, by access.Actor, f LetterFilter, p PageRequest) (PageOf[Letter], error) {
	f.Scope = by.Scope().Narrow(f.Scope)
	return s.store.Letters(ctx, f, p.Bounded())
}

// maxSolution is the length of a solution in bytes.
const maxSolution = 20_000

// Edit changes status, solution, cause or assignee. Errors: Invalid, Denied,
// Conflict for a stale version.
func (s *Letters) Edit(ctx context.Context, by access.Actor, id int64, e LetterEdit) (Letter, error) {
	l, err := s.may(ctx, by, access.Solve, id)
	if err != nil {
		return Letter{}, err
	}
	var bad problems
	if e.Status != nil && !e.Status.Valid() {
		bad.add("status", "One of open, taken, solved, wont_fix; this is %q", string(*e.Status))
	}
	if e.Solution != nil && len(*e.Solution) > maxSolution {
		bad.add("solution", "At most %d bytes; this has %d", maxSolution, len(*e.Solution))
	}
	if e.Solution != nil && !utf8.ValidString(*e.Solution) {
		bad.add("solution", "This is not valid UTF-8")
	}
	if e.Cause != nil {
		bad.text("cause", *e.Cause, maxShort)
	}
	assignee := l.AssigneeID
	if e.Assignee != nil {
		assignee, err = s.assignee(ctx, *e.Assignee, l.TeamID)
		if err != nil && fault.KindOf(err) != fault.KindNotFound {
			return Letter{}, err
		}
		if err != nil {
			bad.add("assignee", "%q is not a member of the team", *e.Assignee)
		}
	}
	if err := fault.Invalid(bad...); err != nil {
		return Letter{}, err
	}
	now := s.clock.Now()
	return s.store.EditLetter(ctx, id, func(old Letter) (Letter, access.Entry, error) {
		if e.Version != 0 && e.Version != old.Version {
			return Letter{}, access.Entry{}, fault.Conflict("The letter was changed meanwhile: it is at version %d, you began from %d", old.Version, e.Version)
		}
		next := e.apply(old, by, now)
		if e.Assignee != nil {
			next.AssigneeID, next.Assignee = assignee, *e.Assignee
		}
		return next, letterEntry(by, now, "letter.edit", old, next), nil
	})
}

func (s *Letters) assignee(ctx context.Context, login string, team int64) (int64, error) {
	if login == "" {
		return 0, nil
	}
	return s.store.Member(ctx, login, team)
}

// apply gives the letter with the change.
func (e LetterEdit) apply(l Letter, by access.Actor, now time.Time) Letter {
	if e.Solution != nil {
		l.Solution = *e.Solution
	}
	if e.Cause != nil {
		l.Cause = *e.Cause
	}
	if e.Status != nil && *e.Status != l.Status {
		l.Status = *e.Status
		l.ClosedAt, l.ClosedBy = time.Time{}, ""
		if l.Status.Closed() {
			l.ClosedAt, l.ClosedBy = now, by.Name
		}
	}
	return l
}

func letterEntry(by access.Actor, now time.Time, action string, old, l Letter) access.Entry {
	e := access.Entry{
		At: now, Actor: by, Action: action, TeamID: l.TeamID,
		Object: access.Object{Kind: "dead_letter", ID: strconv.FormatInt(l.ID, 10), Name: l.BizID},
	}
	for _, c := range []access.Change{
		{Field: "status", Old: string(old.Status), New: string(l.Status)},
		{Field: "solution", Old: old.Solution, New: l.Solution},
		{Field: "cause", Old: old.Cause, New: l.Cause},
		{Field: "assignee", Old: old.Assignee, New: l.Assignee},
	} {
		if c.Old != c.New {
			e.Changes = append(e.Changes, c)
		}
	}
	return e
}

// Replay runs the letter's business action again as a new instance with the
// same biz_id and key. Conflict when the letter is closed or a replay of it is
// open already.
func (s *Letters) Replay(ctx context.Context, by access.Actor, id int64, reason string) (Instance, error) {
	if _, err := s.may(ctx, by, access.Replay, id); err != nil {
		return Instance{}, err
	}
	in, err := s.store.Replay(ctx, id, s.newID(), s.clock.Now(), by, reason)
	if err != nil {
		return in, err
	}
	if lane, unread := s.store.Lane(ctx, in); unread == nil { // the dispatcher repeats what failed
		_, _ = s.hand.HandOver(ctx, []Message{lane.Message(in)})
	}
	return in, nil
}
