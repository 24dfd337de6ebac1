package sched

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"ax/app/access"
	"ax/app/fault"
)

// RollBack is the wish to have a task's definition as an earlier version had
// it.
type RollBack struct {
	To   int    // the version to go back to
	Read int    // the version that the caller read; 0: whatever it is
	Note string // at most 500 characters
}

// Version gives a task with one of its definitions. Faults: NotFound.
func (s *Tasks) Version(ctx context.Context, by access.Actor, code string, n int) (Task, TaskVersion, error) {
	t, err := s.Get(ctx, by, code)
	if err != nil {
		return Task{}, TaskVersion{}, err
	}
	v, err := s.store.TaskVersion(ctx, t.ID, n)
	return t, v, err
}

// RollBack makes a new version of the task with the definition of an earlier
// one: an edit like any other, by the same rules. Whether the task is enabled
// is no part of it. Faults: those of Update; Invalid at "version" when there is
// no such version, or nothing in which it differs from the present one.
func (s *Tasks) RollBack(ctx context.Context, by access.Actor, code string, r RollBack) (Task, error) {
	read, err := s.may(ctx, by, access.EditTask, code)
	if err != nil {
		return Task{}, err
	}
	var bad problems
	bad.text("note", r.Note, maxNote)
	if err := fault.Invalid(bad...); err != nil {
		return Task{}, err
	}
	if err := read.fresh(r.Read); err != nil {
		return Task{}, err
	}
	v, err := s.store.TaskVersion(ctx, read.ID, r.To)
	if fault.KindOf(err) == fault.KindNotFound && err != nil {
		return Task{}, fault.Invalid(fault.Field("version", "There is no version %d of this task", r.To))
	}
	if err != nil {
		return Task{}, err
	}
	w := v.Of(read).Written("")
	w.Enabled, w.Version, w.Note = nil, cmp.Or(r.Read, read.Version), r.note()
	return s.update(ctx, by, read, w, func(old, t Task) error {
		if len(taskChanges(old, t)) == 0 {
			return fault.Invalid(fault.Field("version", "Version %d has the definition of the present one: there is nothing to roll back", r.To))
		}
		return nil
	})
}

// Of is the task as it would be by this version: whether it is enabled and what
// is no part of a version stay.
func (v TaskVersion) Of(t Task) Task {
	t.Spec = v.Spec
	if h := v.Heading; h != nil {
		t.Name, t.Group, t.Owner, t.Tags, t.Queue = h.Name, h.Group, h.Owner, h.Tags, h.Queue
	}
	return t
}

// note is what the history keeps of it.
func (r RollBack) note() string {
	return withReason(fmt.Sprintf("roll back to v%d", r.To), r.Note)
}

// withReason is what was done and why, as long as a note may be.
func withReason(what, why string) string {
	if why = strings.TrimSpace(why); why != "" {
		what += ": " + why
	}
	if all := []rune(what); len(all) > maxNote {
		return string(all[:maxNote-1]) + "…"
	}
	return what
}
