package access

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"ax/app/fault"
)

// OpenSession is a session as its person sees it. The hash stays inside.
type OpenSession struct {
	ID   string // names it to End; opens nothing
	This bool   // the one that asks
	Session
}

// publicID names a session on pages. It is a hash of the hash: a page that is
// seen by others gives nobody a key to the table.
func (s Session) publicID() string { return digest("session " + s.Hash)[:16] }

// Open lists the person's sessions that still count: the asking one first,
// then by when they were last seen. Faults: Denied (not a person).
func (s *Sessions) Open(ctx context.Context, a Actor, token string) ([]OpenSession, error) {
	p, all, err := s.ofPerson(ctx, a)
	if err != nil {
		return nil, err
	}
	now, this := s.now(), digest(token)
	var out []OpenSession
	for _, one := range all {
		if !one.live(p, now) {
			continue
		}
		o := OpenSession{ID: one.publicID(), This: sameDigest(one.Hash, this), Session: one}
		o.Hash = ""
		out = append(out, o)
	}
	slices.SortStableFunc(out, func(x, y OpenSession) int {
		switch {
		case x.This:
			return -1
		case y.This:
			return 1
		}
		return cmp.Or(y.SeenAt.Compare(x.SeenAt), cmp.Compare(x.ID, y.ID))
	})
	return out, nil
}

// End ends one of the person's own sessions by its public id; one that is
// over already, or somebody else's, is NotFound.
func (s *Sessions) End(ctx context.Context, a Actor, id string) error {
	p, all, err := s.ofPerson(ctx, a)
	if err != nil {
		return err
	}
	now := s.now()
	i := slices.IndexFunc(all, func(o Session) bool { return o.publicID() == id && o.live(p, now) })
	if i < 0 {
		return fault.NotFound("This session has ended already")
	}
	e := Entry{At: now, Actor: a, Action: "session.end", Object: p.Object(), Changes: []Change{{Field: "address", Old: all[i].Address}}}
	if err := s.store.DeleteSession(ctx, all[i].Hash, e); err != nil {
		return fmt.Errorf("end a session of %s: %w", p.Login, err)
	}
	return nil
}

// EndOthers ends all of the person's sessions but the asking one, and counts
// those that still counted. Faults: Denied (not a person).
func (s *Sessions) EndOthers(ctx context.Context, a Actor, token string) (int, error) {
	open, err := s.Open(ctx, a, token)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, o := range open {
		if !o.This {
			n++
		}
	}
	e := Entry{At: s.now(), Actor: a, Action: "session.end_others", Object: object("user", a.ID, a.Name)}
	if _, err := s.store.DeleteSessionsOf(ctx, a.ID, digest(token), e); err != nil {
		return 0, fmt.Errorf("end the other sessions of %s: %w", a.Name, err)
	}
	return n, nil
}

func (s *Sessions) ofPerson(ctx context.Context, a Actor) (Person, []Session, error) {
	if a.Kind != User {
		return Person{}, nil, fault.Denied("Only a person has sessions")
	}
	p, err := s.store.User(ctx, a.ID)
	if err != nil {
		return Person{}, nil, fmt.Errorf("read whose sessions to list: %w", err)
	}
	all, err := s.store.SessionsOf(ctx, a.ID)
	return p, all, err
}
