package access

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"ax/app/fault"
)

// PasswordChange is a person's own change, from one of their browsers.
type PasswordChange struct {
	Current string
	Next    string
	Agent   string // of the browser, for its new session
}

// ChangePassword ends all of the person's sessions, and gives the browser that
// asked a new one:
// its token is for the cookie. A wrong present password is throttled and
// recorded like a refused sign-in.
// Faults: Invalid (fields current, password), TooMany, Conflict (somebody
// else changed the password meanwhile), Denied (not a person).
func (s *Sessions) ChangePassword(ctx context.Context, a Actor, in PasswordChange) (string, error) {
	p, err := s.confirm(ctx, a, "current", in.Current)
	if err != nil {
		return "", err
	}
	if bad := checkPassword(p.Login, in.Next); bad != nil {
		return "", fault.Invalid(bad...)
	}
	if in.Next == in.Current {
		return "", fault.Invalid(fault.Field("password", "This is the password you have"))
	}
	// Hashing is slow and must not happen while the row is locked.
	hash, err := s.hasher.Hash(in.Next)
	if err != nil {
		return "", fmt.Errorf("hash the password: %w", err)
	}
	now := s.now()
	is, err := s.store.ChangeUser(ctx, p.ID, func(was Person) (Person, Entry, error) {
		if was.PasswordHash != p.PasswordHash || was.Disabled {
			return was, Entry{}, fault.Conflict("Your password was changed meanwhile. Sign in again")
		}
		is := was
		is.PasswordHash = hash
		is.Epoch++
		return is, Entry{At: now, Actor: a, Action: "user.password", Object: was.Object(), Changes: diffPerson(was, is)}, nil
	})
	if err != nil {
		return "", fmt.Errorf("change the password of %s: %w", p.Login, err)
	}
	return s.renew(ctx, a, is, in.Agent, now)
}

// renew gives the browser of a person whose sessions have all ended a new one.
func (s *Sessions) renew(ctx context.Context, a Actor, p Person, agent string, now time.Time) (string, error) {
	in := Credentials{Address: a.Address, Agent: agent, RequestID: a.RequestID}
	token, _, err := s.open(ctx, p, in, now, "session.renew")
	if err != nil {
		return "", fmt.Errorf("renew the session of %s: %w", p.Login, err)
	}
	return token, nil
}

// confirm asks a person who is signed in for the password once more, before
// what a stolen session must not do. It counts with the sign-ins of the
// account, so that a session is no way round their throttle.
// Faults: Invalid at the field, TooMany, Denied (not a person).
func (s *Sessions) confirm(ctx context.Context, a Actor, field, password string) (Person, error) {
	if a.Kind != User {
		return Person{}, fault.Denied("Only a person has a password")
	}
	p, err := s.store.User(ctx, a.ID)
	if err != nil {
		return Person{}, fmt.Errorf("confirm the password: %w", err)
	}
	from, now := throttled(a.Address), s.now()
	if wait := s.throttle.begin(p.Login, from, now); wait > 0 {
		return Person{}, fault.TooMany("Too many wrong passwords. Try again in %d s", seconds(wait))
	}
	if utf8.RuneCountInString(password) <= MaxPassword && s.hasher.Verify(password, p.PasswordHash) {
		s.throttle.succeed(p.Login, from)
		return p, nil
	}
	e := Entry{At: now, Actor: a, Action: "user.password_refuse", Object: p.Object()}
	if err := s.store.RecordAudit(ctx, e); err != nil {
		return Person{}, fmt.Errorf("record the refused password: %w", err)
	}
	return Person{}, fault.Invalid(fault.Field(field, "This is not your present password"))
}
