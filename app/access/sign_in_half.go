package access

import (
	"context"
	"fmt"
	"time"

	"ax/app/fault"
)

// halfLife is how long the second step of a sign-in may take.
const halfLife = 5 * time.Minute

// HalfSignIn is a sign-in whose password was right and whose code is still to
// come. Its token opens nothing.
type HalfSignIn struct {
	Hash      string // SHA-256 of the token
	UserID    int64
	Epoch     int
	CreatedAt time.Time
	ExpiresAt time.Time
}

// halfStore keeps half sign-ins. Each method is one transaction.
type halfStore interface {
	InsertHalf(ctx context.Context, h HalfSignIn) error
	// Half is the zero value when there is none.
	Half(ctx context.Context, hash string) (HalfSignIn, error)
	// TakeHalf deletes it, and tells whether this call did.
	TakeHalf(ctx context.Context, hash string) (bool, error)
}

// SecondCredentials are the code that somebody typed, and from where.
type SecondCredentials struct {
	Half      string // the token that SignIn gave
	Code      string // of the app, or a recovery code
	Address   string
	Agent     string
	RequestID string
}

// halve remembers that the password was right. Session.Half tells the caller
// that the token is no session's.
func (s *Sessions) halve(ctx context.Context, p Person, now time.Time) (string, Session, error) {
	token := newSecret()
	h := HalfSignIn{Hash: digest(token), UserID: p.ID, Epoch: p.Epoch, CreatedAt: now, ExpiresAt: now.Add(halfLife)}
	return token, Session{Half: true, UserID: p.ID}, s.store.InsertHalf(ctx, h)
}

// FinishSignIn gives the token for the cookie to who shows the code after
// SignIn saw the password.
// Faults: Unauthenticated (the first step is unknown, over, or void by now:
// begin again), Invalid (code), TooMany.
func (s *Sessions) FinishSignIn(ctx context.Context, in SecondCredentials) (string, Session, error) {
	now, from := s.now(), Credentials{Address: host(in.Address), Agent: in.Agent, RequestID: in.RequestID}
	p, step, err := s.halfWay(ctx, in.Half, now)
	if err != nil {
		return "", Session{}, err
	}
	a := from.actor(p)
	err = s.guess(p, from.Address, now, func() (bool, error) { return s.spend(ctx, a, p, step, in.Code, now) })
	if err != nil {
		return "", Session{}, s.wrongCode(ctx, from.actor(Person{}), p, now, err) // nobody knows whether it was the person
	}
	taken, err := s.store.TakeHalf(ctx, digest(in.Half))
	if err != nil {
		return "", Session{}, fmt.Errorf("finish a sign-in: %w", err)
	}
	if !taken { // another request finished it
		return "", Session{}, beginAgain()
	}
	token, session, err := s.open(ctx, p, from, now, "session.create")
	if err != nil {
		return "", Session{}, fmt.Errorf("finish a sign-in: %w", err)
	}
	s.throttle.succeed(p.Login, throttled(from.Address))
	return token, session, nil
}

// halfWay reads whose sign-in it is, if all still is as it was at the
// password.
func (s *Sessions) halfWay(ctx context.Context, token string, now time.Time) (Person, SecondStep, error) {
	h, err := s.store.Half(ctx, digest(token))
	if err != nil {
		return Person{}, SecondStep{}, fmt.Errorf("read a half sign-in: %w", err)
	}
	if h.UserID == 0 || !now.Before(h.ExpiresAt) {
		return Person{}, SecondStep{}, beginAgain()
	}
	p, err := s.store.User(ctx, h.UserID)
	if err != nil {
		return Person{}, SecondStep{}, fmt.Errorf("read whose half sign-in it is: %w", err)
	}
	step, err := s.store.SecondStep(ctx, h.UserID)
	if err != nil {
		return Person{}, SecondStep{}, fmt.Errorf("read the second step of %s: %w", p.Login, err)
	}
	if p.Disabled || p.Epoch != h.Epoch || !step.On() {
		return Person{}, SecondStep{}, beginAgain()
	}
	return p, step, nil
}

func beginAgain() error {
	return fault.Unauthenticated("This sign-in is over. Begin again with login and password")
}
