package access

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"ax/app/fault"
)

// How long a session lives.
const (
	SessionIdle     = 12 * time.Hour     // since it was last seen
	SessionAbsolute = 7 * 24 * time.Hour // since the sign-in
	seenEvery       = time.Minute        // SeenAt is written at most this often
)

// Session is one signed-in browser. Its token is in the browser only; Hash is
// the SHA-256 of it.
type Session struct {
	Hash      string
	UserID    int64
	Epoch     int // the person's at the sign-in; another one has ended it
	CreatedAt time.Time
	SeenAt    time.Time
	ExpiresAt time.Time
	Address   string
	Agent     string
	Half      bool // no session yet: the sign-in goes on with a code; never stored
}

// live tells whether the session still counts for the person at now.
func (s Session) live(p Person, now time.Time) bool {
	return !p.Disabled && s.Epoch == p.Epoch && s.UserID == p.ID &&
		now.Before(s.ExpiresAt) && now.Sub(s.SeenAt) < SessionIdle
}

// Identity is a session with whose it is, as the store has it now.
type Identity struct {
	Session Session
	Person  Person
	Roles   map[int64]Role // by team
}

// sessionStore keeps sessions. Each method is one transaction.
type sessionStore interface {
	secondStepStore
	halfStore
	providedStore
	User(ctx context.Context, id int64) (Person, error)
	UserByLogin(ctx context.Context, login string) (Person, error)
	ChangeUser(ctx context.Context, id int64, change func(Person) (Person, Entry, error)) (Person, error)
	// InsertSession also notes the person's last sign-in.
	InsertSession(ctx context.Context, s Session, e Entry) error
	// Identity is NotFound when there is no such session.
	Identity(ctx context.Context, hash string) (Identity, error)
	// TouchSession notes that the session was seen at the time.
	TouchSession(ctx context.Context, hash string, at time.Time) error
	DeleteSession(ctx context.Context, hash string, e Entry) error
	// SessionsOf lists the person's sessions, those that are over too.
	SessionsOf(ctx context.Context, user int64) ([]Session, error)
	// DeleteSessionsOf ends the person's sessions except the one with the
	// hash, and counts them. Nothing ended, nothing recorded.
	DeleteSessionsOf(ctx context.Context, user int64, except string, e Entry) (int64, error)
	// PruneSessions drops what expired before now or was last seen before
	// idle, and counts them; half sign-ins and spent states that expired go
	// with them.
	PruneSessions(ctx context.Context, now, idle time.Time) (int64, error)
	// RecordAudit writes a row that belongs to no change.
	RecordAudit(ctx context.Context, e Entry) error
}

// Sessions sign people in and out, and tell who a browser is.
type Sessions struct {
	store    sessionStore
	hasher   Hasher
	sealer   Sealer
	now      func() time.Time
	throttle *throttle
	dummy    string // a hash that no password has
}

// SessionsOptions are the parts of Sessions; all are required.
type SessionsOptions struct {
	Store  sessionStore
	Hasher Hasher
	Sealer Sealer // of the secrets of second steps
	Now    func() time.Time
}

// NewSessions hashes once, for the logins that don't exist. It panics when a
// part is missing: a programmer's error at start.
func NewSessions(o SessionsOptions) (*Sessions, error) {
	if o.Store == nil || o.Hasher == nil || o.Sealer == nil || o.Now == nil {
		panic("access.NewSessions: a required part is missing")
	}
	dummy, err := o.Hasher.Hash(newSecret())
	if err != nil {
		return nil, fmt.Errorf("make the hash for unknown logins: %w", err)
	}
	return &Sessions{store: o.Store, hasher: o.Hasher, sealer: o.Sealer, now: o.Now, throttle: newThrottle(), dummy: dummy}, nil
}

// Credentials are what somebody typed, and from where. Address is the
// socket's, never a header's.
type Credentials struct {
	Login     string
	Password  string
	Address   string
	Agent     string
	RequestID string

	through string // the provider's name; "": by password
}

// SignIn gives the token for the cookie, shown nowhere else. When the session
// is only half of one (Session.Half), the token is for FinishSignIn and opens
// nothing.
// Faults: Unauthenticated with one text for an unknown login, a wrong
// password and a disabled person, all in the same time; TooMany, whose only
// argument is the seconds to wait.
func (s *Sessions) SignIn(ctx context.Context, in Credentials) (string, Session, error) {
	in.Login, in.Address = foldLogin(in.Login), host(in.Address)
	now, key := s.now(), clip(in.Login, 64)
	if wait := s.throttle.begin(key, throttled(in.Address), now); wait > 0 {
		return "", Session{}, fault.TooMany("Too many wrong sign-ins. Try again in %d s", seconds(wait))
	}
	p, good, err := s.verify(ctx, in)
	if err != nil {
		s.throttle.forgive(key, throttled(in.Address))
		return "", Session{}, fmt.Errorf("sign in: %w", err)
	}
	if !good {
		return "", Session{}, s.refuse(ctx, p, in, now)
	}
	token, session, err := s.welcome(ctx, p, in, now)
	if err != nil || session.Half { // half a sign-in wins no fresh tries
		s.throttle.forgive(key, throttled(in.Address))
	} else {
		s.throttle.succeed(key, throttled(in.Address))
	}
	if err != nil {
		return "", Session{}, fmt.Errorf("sign in: %w", err)
	}
	return token, session, nil
}

// welcome opens a session, or asks for the code of the second step.
func (s *Sessions) welcome(ctx context.Context, p Person, in Credentials, now time.Time) (string, Session, error) {
	step, err := s.store.SecondStep(ctx, p.ID)
	if err != nil {
		return "", Session{}, err
	}
	if step.On() {
		return s.halve(ctx, p, now)
	}
	return s.open(ctx, p, in, now, "session.create")
}

// verify looks the person up and always hashes once, so that time tells
// nothing about the login.
func (s *Sessions) verify(ctx context.Context, in Credentials) (Person, bool, error) {
	p, err := findLogin(ctx, s.store, in.Login)
	if err != nil && fault.KindOf(err) != fault.KindNotFound {
		return Person{}, false, err
	}
	hash, may := p.PasswordHash, err == nil && !p.Disabled
	if hash == "" {
		hash, may = s.dummy, false
	}
	if utf8.RuneCountInString(in.Password) > MaxPassword {
		in.Password, may = "", false
	}
	right := s.hasher.Verify(in.Password, hash)
	return p, right && may, nil
}

// refuse leaves a row in the audit. The login typed is kept only if it is
// somebody's: people type passwords into that field.
func (s *Sessions) refuse(ctx context.Context, p Person, in Credentials, now time.Time) error {
	e := Entry{At: now, Actor: in.actor(Person{}), Action: "session.refuse", Object: Object{Kind: "user"}}
	if p.ID != 0 {
		e.Object = p.Object()
	}
	if err := s.store.RecordAudit(ctx, e); err != nil {
		return fmt.Errorf("record the refused sign-in: %w", err)
	}
	return fault.Unauthenticated("Login or password is wrong")
}

func (s *Sessions) open(ctx context.Context, p Person, in Credentials, now time.Time, action string) (string, Session, error) {
	token := newSecret()
	session := Session{
		Hash: digest(token), UserID: p.ID, Epoch: p.Epoch,
		CreatedAt: now, SeenAt: now, ExpiresAt: now.Add(SessionAbsolute),
		Address: in.Address, Agent: clip(in.Agent, 200),
	}
	e := Entry{At: now, Actor: in.actor(p), Action: action, Object: p.Object(), Reason: through(in.through)}
	return token, session, s.store.InsertSession(ctx, session, e)
}

// Resolve tells who the browser with this token is. Roles are read now, so
// that a role taken away is gone with the next request.
// Faults: Unauthenticated when the session is unknown, over or ended.
func (s *Sessions) Resolve(ctx context.Context, token, address, requestID string) (Actor, Person, error) {
	hash := digest(token)
	id, err := s.store.Identity(ctx, hash)
	switch {
	case fault.KindOf(err) == fault.KindNotFound:
		return Actor{}, Person{}, signInFirst()
	case err != nil:
		return Actor{}, Person{}, fmt.Errorf("resolve the session: %w", err)
	}
	now := s.now()
	if !sameDigest(hash, id.Session.Hash) || !id.Session.live(id.Person, now) {
		return Actor{}, Person{}, signInFirst()
	}
	if now.Sub(id.Session.SeenAt) >= seenEvery {
		if err := s.store.TouchSession(ctx, hash, now); err != nil {
			return Actor{}, Person{}, fmt.Errorf("note that the session was seen: %w", err)
		}
	}
	a := id.Person.actor(id.Roles)
	a.Address, a.RequestID = host(address), requestID
	return a, id.Person, nil
}

func signInFirst() error { return fault.Unauthenticated("Sign in first") }

// SignOut ends the session of the token. A token that is unknown or over is
// no error: the person wanted to be out, and is.
func (s *Sessions) SignOut(ctx context.Context, token, address, requestID string) error {
	a, p, err := s.Resolve(ctx, token, address, requestID)
	if fault.KindOf(err) == fault.KindUnauthenticated {
		return nil
	}
	if err != nil {
		return fmt.Errorf("sign out: %w", err)
	}
	e := Entry{At: s.now(), Actor: a, Action: "session.end", Object: p.Object()}
	if err := s.store.DeleteSession(ctx, digest(token), e); err != nil {
		return fmt.Errorf("sign out: %w", err)
	}
	return nil
}

// Prune drops the sessions that are over and counts them.
func (s *Sessions) Prune(ctx context.Context) (int64, error) {
	now := s.now()
	return s.store.PruneSessions(ctx, now, now.Add(-SessionIdle))
}

// actor of a person, by any door.
func (p Person) actor(roles map[int64]Role) Actor {
	return Actor{Kind: User, ID: p.ID, Name: p.Login, Admin: p.Admin, Auditor: p.Auditor, Roles: roles}
}

func (in Credentials) actor(p Person) Actor {
	a := p.actor(nil)
	a.Address, a.RequestID = in.Address, in.RequestID
	return a
}

// seconds rounds up: a wait that is told must be enough.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// clip cuts text that comes from outside to n characters of valid UTF-8.
func clip(s string, n int) string {
	s = strings.ToValidUTF8(s, "")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n])
}
