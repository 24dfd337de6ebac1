package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"ax/app/fault"
)

// tripLife is how long somebody may take at the provider.
const tripLife = 10 * time.Minute

// Trip is a sign-in that goes to the provider and comes back. The browser
// keeps it sealed; nothing is stored until it is back.
type Trip struct {
	State     string // comes back with the answer
	Nonce     string // comes back in the ID token
	Verifier  string // of PKCE: shown when the code is traded
	Next      string // local path to go on to
	ExpiresAt time.Time
}

// tripPlace is what sealed trips belong to, for the Sealer.
const tripPlace = "cookie.trip"

// BeginTrip makes a trip, and its sealed form for the browser. Next is a path
// that the caller has checked.
func (s *Sessions) BeginTrip(next string) (Trip, string, error) {
	t := Trip{State: newSecret(), Nonce: newSecret(), Verifier: newSecret(), Next: next, ExpiresAt: s.now().Add(tripLife)}
	plain, err := json.Marshal(t)
	if err != nil {
		return Trip{}, "", fmt.Errorf("write down a trip to the provider: %w", err)
	}
	sealed, err := s.sealer.Seal(string(plain), tripPlace)
	if err != nil {
		return Trip{}, "", fmt.Errorf("seal a trip to the provider: %w", err)
	}
	return t, sealed, nil
}

// Return is somebody who comes back from the provider.
type Return struct {
	Provider string // its name
	Grants   []Grant
	Trip     string // sealed, as the browser kept it
	State    string // as the answer has it
	// Ask trades the answer for what the provider says. A fault is passed on
	// as it is; any other error means that the answer can't be believed.
	Ask       func(ctx context.Context, t Trip) (Assertion, error)
	Address   string
	Agent     string
	RequestID string
}

func (in Return) credentials() Credentials {
	return Credentials{Address: host(in.Address), Agent: in.Agent, RequestID: in.RequestID, through: in.Provider}
}

// SignInThrough gives the token for the cookie to who comes back from the
// provider, and where to go on. What the person's groups give in ax is stored
// before. No second step is asked for: that is the provider's.
// Faults: Unauthenticated (the trip is over, was begun in another browser, or
// the answer can't be believed: its cause says why), Denied (disabled, no
// group that counts, or a login that is somebody else's), TooMany, those of
// Ask.
func (s *Sessions) SignInThrough(ctx context.Context, in Return) (string, Trip, error) {
	now, from := s.now(), throttled(host(in.Address))
	key := "through " + from // no login has a space
	if wait := s.throttle.begin(key, from, now); wait > 0 {
		return "", Trip{}, fault.TooMany("Too many wrong sign-ins. Try again in %d s", seconds(wait))
	}
	token, t, err := s.comeBack(ctx, in, now)
	if fault.KindOf(err) == fault.KindUnauthenticated && !errors.Is(err, errGaveUp) {
		return "", t, err // it counts as a wrong password does
	}
	if err != nil {
		s.throttle.forgive(key, from)
		return "", t, err
	}
	s.throttle.succeed(key, from)
	return token, t, nil
}

// errGaveUp marks what is nobody's fault.
var errGaveUp = errors.New("the provider signed nobody in")

// GaveUp is the fault of an answer by which the provider signs nobody in, for
// Ask. Cause is for the log.
func GaveUp(provider string, cause error) error {
	return &fault.Error{
		Kind: fault.KindUnauthenticated, Cause: errors.Join(errGaveUp, cause),
		Text: fault.Text{Format: "%s did not sign you in", Args: []any{provider}},
	}
}

func (s *Sessions) comeBack(ctx context.Context, in Return, now time.Time) (string, Trip, error) {
	t, err := s.endTrip(ctx, in, now)
	if err != nil {
		return "", Trip{}, err
	}
	said, err := in.Ask(ctx, t)
	if err == nil && !said.Valid() {
		err = errors.New("the subject can't be kept")
	}
	if err != nil {
		return "", t, s.disbelieve(ctx, in, now, err)
	}
	p, err := s.recognise(ctx, in, said, now)
	if err != nil {
		return "", t, err
	}
	token, _, err := s.open(ctx, p, in.credentials(), now, "session.create")
	if err != nil {
		return "", t, fmt.Errorf("sign in through %s: %w", in.Provider, err)
	}
	return token, t, nil
}

// endTrip lets a trip end once, in the browser that began it.
func (s *Sessions) endTrip(ctx context.Context, in Return, now time.Time) (Trip, error) {
	over := fault.Unauthenticated("This sign-in is over, or was begun in another browser. Begin again")
	plain, err := s.sealer.Open(in.Trip, tripPlace)
	if err != nil {
		return Trip{}, over
	}
	var t Trip
	if err := json.Unmarshal([]byte(plain), &t); err != nil {
		return Trip{}, over
	}
	if !sameDigest(t.State, in.State) || !now.Before(t.ExpiresAt) {
		return Trip{}, over
	}
	first, err := s.store.SpendState(ctx, digest(t.State), t.ExpiresAt)
	if err != nil {
		return Trip{}, fmt.Errorf("end a trip to %s: %w", in.Provider, err)
	}
	if !first {
		return Trip{}, over
	}
	return t, nil
}

// disbelieve records an answer that is no good. A fault is none: the provider
// is away, or signed nobody in.
func (s *Sessions) disbelieve(ctx context.Context, in Return, now time.Time, cause error) error {
	if _, ok := fault.TextOf(cause); ok {
		return cause
	}
	if ctx.Err() != nil {
		return fmt.Errorf("ask %s: %w", in.Provider, cause)
	}
	e := Entry{At: now, Actor: in.credentials().actor(Person{}), Action: "session.refuse", Object: Object{Kind: "user"}, Reason: through(in.Provider)}
	if err := s.store.RecordAudit(ctx, e); err != nil {
		return fmt.Errorf("record the refused sign-in: %w", err)
	}
	return &fault.Error{
		Kind: fault.KindUnauthenticated, Cause: cause,
		Text: fault.Text{Format: "What %s answered can’t be trusted, so nobody was signed in", Args: []any{in.Provider}},
	}
}

// recognise finds or makes the person, and stores what the groups give.
func (s *Sessions) recognise(ctx context.Context, in Return, said Assertion, now time.Time) (Person, error) {
	var p Person
	var err error
	for range 2 { // two first sign-ins at once: the second finds the person of the first
		p, err = s.apply(ctx, in, said, now)
		if fault.KindOf(err) != fault.KindConflict {
			break
		}
	}
	switch fault.KindOf(err) {
	case fault.KindConflict:
		err = fault.Denied("The login %s belongs to somebody else in ax. An administrator can bind it to your account at %s", said.loginFor(), in.Provider)
	case fault.KindDenied:
	default:
		if err != nil {
			return Person{}, fmt.Errorf("sign in through %s: %w", in.Provider, err)
		}
		return p, nil
	}
	return Person{}, s.turnAway(ctx, in, said, p, now, err)
}

// apply stores what the groups give. Faults: Denied beside the person, whose
// rights are stored all the same; Conflict.
func (s *Sessions) apply(ctx context.Context, in Return, said Assertion, now time.Time) (Person, error) {
	var why error
	var who Person
	p, err := s.store.ApplyProvided(ctx, said.ProviderID, said.key(), func(was Provided) (ProvidedChange, error) {
		g := grantedTo(said.Groups, in.Grants, was.Teams)
		who, why = was.Person, nil
		switch {
		case was.Person.Disabled:
			return ProvidedChange{}, fault.Denied("This person is disabled")
		case g.none():
			why = fault.Denied("None of your groups at %s opens anything in ax", in.Provider)
		}
		if was.Person.ID != 0 {
			return settle(was, g, in.teller(was.Person, now)), nil
		}
		if why != nil {
			return ProvidedChange{}, why
		}
		was.Person = said.newcomer(now)
		tell := in.teller(was.Person, now)
		is := settle(was, g, tell)
		made := tell(Entry{Action: "user.create", Object: is.Person.Object(), Changes: rightsOf(is.Person)})
		is.Entries = append([]Entry{made}, is.Entries...)
		return is, nil
	})
	if err != nil {
		return who, err
	}
	return p, why
}

// teller completes the entries of a sign-in.
func (in Return) teller(p Person, now time.Time) func(Entry) Entry {
	return func(e Entry) Entry {
		e.At, e.Actor, e.Reason = now, in.credentials().actor(p), through(in.Provider)
		return e
	}
}

// turnAway records who was refused. The subject is told: it is what an
// administrator binds to a login.
func (s *Sessions) turnAway(ctx context.Context, in Return, said Assertion, p Person, now time.Time, why error) error {
	e := in.teller(Person{}, now)(Entry{Action: "session.refuse", Object: Object{Kind: "user"}})
	if p.ID != 0 {
		e.Object = p.Object()
	}
	e.Changes = []Change{{Field: "subject", New: said.Subject}, said.groupsTold()}
	if err := s.store.RecordAudit(ctx, e); err != nil {
		return fmt.Errorf("record the refused sign-in: %w", err)
	}
	return why
}

// through is the reason of what a sign-in through the provider brings.
func through(provider string) string {
	if provider == "" {
		return ""
	}
	return "through " + provider
}
