package access

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"
	"unicode/utf8"

	"ax/app/fault"
)

// MaxAllowances is how many ranges a team may have: each call of one of its
// tasks to an address inside is compared with all of them.
const MaxAllowances = 50

// Allowance opens a range inside the network to the tasks of a team.
type Allowance struct {
	ID        int64
	TeamID    int64
	Prefix    netip.Prefix // masked, inside one of Openable
	Reason    string       // why, in the words of who opened it
	CreatedBy string
	CreatedAt time.Time
}

// Object of the allowance in an audit row.
func (a Allowance) Object() Object { return object("allowance", a.ID, a.Prefix.String()) }

// allowanceStore keeps allowances. Each method is one transaction.
type allowanceStore interface {
	// Allowances of a team, by range.
	Allowances(ctx context.Context, team int64) ([]Allowance, error)
	// InsertAllowance is a Conflict with the field when the team has the range
	// already, or has most of them.
	InsertAllowance(ctx context.Context, a Allowance, most int, e Entry) (int64, error)
	// DeleteAllowance is NotFound when the team has none with the id. It asks
	// for the audit row of what it found.
	DeleteAllowance(ctx context.Context, team, id int64, entry func(Allowance) Entry) error
}

// Allowances say which addresses inside the network tasks of a team may call,
// beside those that the configuration opens to every team.
type Allowances struct {
	store allowanceStore
	now   func() time.Time
}

// NewAllowances keeps allowances in the store.
func NewAllowances(store allowanceStore, now func() time.Time) *Allowances {
	return &Allowances{store: store, now: now}
}

// List gives the team's allowances by range. Faults: NotFound.
func (s *Allowances) List(ctx context.Context, a Actor, team int64) ([]Allowance, error) {
	if err := a.Check(Read, team); err != nil {
		return nil, err
	}
	return s.store.Allowances(ctx, team)
}

// Add opens a range, or a single address, to the team. Admins only.
// Faults: NotFound, Denied, Invalid (prefix, reason), Conflict at prefix.
func (s *Allowances) Add(ctx context.Context, a Actor, team Team, prefix, reason string) (Allowance, error) {
	if err := a.Check(Administer, team.ID); err != nil {
		return Allowance{}, err
	}
	reason = strings.TrimSpace(reason)
	p, bad := readNetwork(strings.TrimSpace(prefix))
	err := fault.Invalid(append(bad, checkReason(reason)...)...)
	if err != nil {
		return Allowance{}, err
	}
	made := Allowance{TeamID: team.ID, Prefix: p, Reason: reason, CreatedBy: a.Name, CreatedAt: s.now()}
	made.ID, err = s.store.InsertAllowance(ctx, made, MaxAllowances, Entry{
		At: made.CreatedAt, Actor: a, Action: "allowance.create", Object: made.Object(), TeamID: team.ID, Reason: reason,
		Changes: []Change{{Field: "prefix", New: p.String()}},
	})
	if err != nil {
		return Allowance{}, fmt.Errorf("allow team %s %s: %w", team.Code, p, err)
	}
	return made, nil
}

// Remove closes a range of the team again. Admins only.
// Faults: NotFound, Denied, Invalid (reason).
func (s *Allowances) Remove(ctx context.Context, a Actor, team Team, id int64, reason string) error {
	if err := a.Check(Administer, team.ID); err != nil {
		return err
	}
	reason = strings.TrimSpace(reason)
	if err := fault.Invalid(checkReason(reason)...); err != nil {
		return err
	}
	err := s.store.DeleteAllowance(ctx, team.ID, id, func(was Allowance) Entry {
		return Entry{
			At: s.now(), Actor: a, Action: "allowance.delete", Object: was.Object(), TeamID: team.ID, Reason: reason,
			Changes: []Change{{Field: "prefix", Old: was.Prefix.String()}},
		}
	})
	if fault.KindOf(err) == fault.KindNotFound {
		return NoObject()
	}
	if err != nil {
		return fmt.Errorf("close allowance %d of team %s: %w", id, team.Code, err)
	}
	return nil
}

func checkReason(reason string) []fault.FieldError {
	switch {
	case reason == "":
		return one(fault.Field("reason", "A reason is needed: it stands in the audit"))
	case !utf8.ValidString(reason) || utf8.RuneCountInString(reason) > 200 || strings.ContainsFunc(reason, isControl):
		return one(fault.Field("reason", "A reason has at most 200 characters, on one line"))
	}
	return nil
}
