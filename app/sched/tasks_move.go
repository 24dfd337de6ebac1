package sched

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"ax/app/access"
	"ax/app/fault"
)

// TeamMove is the wish to give a task to another team.
type TeamMove struct {
	Team   string // code of the team that gets it
	Read   int    // the version that the caller read; 0: whatever it is
	Reason string // at most 500 characters
}

// Move gives a task to another team, with its code, versions, instances and
// dead letters; what runs goes on. It needs the right to edit in both teams.
// Faults: NotFound, Denied, Conflict (changed meanwhile, archived), and Invalid
// at "team": no such team, the same one, or one that can't use the calendar
// that the task goes by.
func (s *Tasks) Move(ctx context.Context, by access.Actor, code string, m TeamMove) (Task, error) {
	read, err := s.may(ctx, by, access.EditTask, code)
	if err != nil {
		return Task{}, err
	}
	to, err := s.teamFor(ctx, by, m.Team)
	if err != nil {
		return Task{}, err
	}
	from, err := s.teamByID(ctx, read.TeamID)
	if err != nil {
		return Task{}, err
	}
	if err := s.targetOf(ctx, to.ID, read); err != nil {
		return Task{}, err
	}
	now, version := s.clock.Now(), cmp.Or(m.Read, read.Version)
	t, due, err := s.store.ChangeTask(ctx, TaskChange{
		Code: code, Now: now, By: by, Version: true, Owed: true,
		Note: withReason(fmt.Sprintf("move from team %s to %s", from.Code, to.Code), m.Reason),
		Apply: func(old Task) (Task, access.Entry, error) {
			if err := s.mayMove(by, old, to, version); err != nil {
				return Task{}, access.Entry{}, err
			}
			next := old
			next.TeamID = to.ID
			return next.again(now), moveEntry(by, now, next, from, to, m.Reason), nil
		},
	})
	if err == nil && len(due) > 0 {
		_, _ = s.hand.HandOver(ctx, due) // the dispatcher repeats what failed
	}
	return t, err
}

// targetOf refuses a team that may not call what the task calls.
func (s *Tasks) targetOf(ctx context.Context, team int64, t Task) error {
	w := t.Written("")
	if w.Hooks != nil { // of channels, those of the other team are told nothing; the page says so
		w.Hooks = &Hooks{Before: w.Hooks.Before}
	}
	found, err := alongside(s.targetFor(ctx, team, w.Target), s.hooksFor(ctx, team, w.Hooks))
	if err != nil {
		return err
	}
	var bad []fault.FieldError
	for _, f := range found {
		bad = append(bad, fault.FieldError{Name: "team", Text: f.Text})
	}
	return fault.Invalid(bad...)
}

// mayMove judges a move by the task as it is under its lock.
func (s *Tasks) mayMove(by access.Actor, t Task, to access.Team, version int) error {
	if err := cmp.Or(by.Check(access.EditTask, t.TeamID), by.Check(access.EditTask, to.ID), t.fresh(version)); err != nil {
		return err
	}
	if t.TeamID == to.ID {
		return fault.Invalid(fault.Field("team", "The task belongs to this team already"))
	}
	if c := t.Calendar; c != nil && c.TeamID != 0 && c.TeamID != to.ID {
		return fault.Invalid(fault.Field("team", "The task goes by the calendar %q, which the team %q can't use", c.Code, to.Code))
	}
	// To the team that gets it, the task is a new one.
	return cmp.Or(s.unsafeAllowed(by, to.ID, Task{}, t), shellAllowed(by, t.TeamID, t, t), shellAllowed(by, to.ID, t, t))
}

// teamByID reads the team that an object belongs to.
func (s *Tasks) teamByID(ctx context.Context, id int64) (access.Team, error) {
	teams, err := s.store.Teams(ctx, access.Scope{Teams: []int64{id}})
	if err == nil && len(teams) != 1 {
		err = fmt.Errorf("team %d is not in the ledger", id)
	}
	if err != nil {
		return access.Team{}, err
	}
	return teams[0], nil
}

// moveEntry is the audit row of a move in the team that gets the task. The
// ledger writes the same one for the team that gives it.
func moveEntry(by access.Actor, now time.Time, t Task, from, to access.Team, reason string) access.Entry {
	return access.Entry{
		At: now, Actor: by, Action: "task.move", TeamID: to.ID, Reason: reason,
		Object:  access.Object{Kind: "task", ID: strconv.FormatInt(t.ID, 10), Name: t.Code},
		Changes: []access.Change{{Field: "team", Old: from.Code, New: to.Code}},
	}
}
