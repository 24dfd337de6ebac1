package access

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"ax/app/fault"
)

// How long a token lives.
const (
	TokenLife    = 365 * 24 * time.Hour     // unless another life is asked for
	MaxTokenLife = 5 * 365 * 24 * time.Hour // unless it is to have no end
)

// APIToken lets a service act in one team with one role. The secret is shown
// once; Hash is the SHA-256 of it.
type APIToken struct {
	ID         int64
	TeamID     int64
	Name       string
	Role       Role
	Prefix     string // first characters of the secret, to know it by
	Last4      string
	Hash       string `json:"-"`
	CreatedBy  string
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero: never
	LastUsedAt time.Time // zero: never; at most a minute late
	RevokedAt  time.Time // zero: not
	// Executors are the names that its bearer may register, sorted; none: it
	// may register nobody. Only Token and Tokens of the store give them.
	Executors []string
}

// Live tells whether the token is good at now.
func (t APIToken) Live(now time.Time) bool {
	return t.RevokedAt.IsZero() && (t.ExpiresAt.IsZero() || now.Before(t.ExpiresAt))
}

// Object of the token in an audit row.
func (t APIToken) Object() Object { return object("token", t.ID, t.Name) }

// tokenStore keeps tokens. Each method is one transaction.
type tokenStore interface {
	InsertToken(ctx context.Context, t APIToken, e Entry) (int64, error)
	// Token and TokenByHash are NotFound when there is none.
	Token(ctx context.Context, id int64) (APIToken, error)
	TokenByHash(ctx context.Context, hash string) (APIToken, error)
	// Tokens of a team, newest first, the dead ones too.
	Tokens(ctx context.Context, team int64) ([]APIToken, error)
	TouchToken(ctx context.Context, id int64, at time.Time) error
	// RevokeToken is a Conflict when the token is revoked already.
	RevokeToken(ctx context.Context, id int64, at time.Time, e Entry) error
}

// Tokens are the doors for services.
type Tokens struct {
	store tokenStore
	now   func() time.Time
}

// NewTokens keeps tokens in the store.
func NewTokens(store tokenStore, now func() time.Time) *Tokens {
	return &Tokens{store: store, now: now}
}

// NewToken is what it takes to make a token.
type NewToken struct {
	TeamID int64
	Name   string
	Role   Role
	Life   time.Duration // 0: TokenLife
	NoEnd  bool          // never expires; Life must be 0
	// Executors are the names that its bearer may register.
	Executors []string
}

func (in NewToken) check() error {
	var bad []fault.FieldError
	if in.Name == "" {
		bad = append(bad, fault.Field("name", "A token needs a name"))
	}
	bad = append(bad, checkName("name", in.Name)...)
	if !in.Role.Valid() {
		bad = append(bad, fault.Field("role", "The role is viewer, operator, editor or owner"))
	}
	if in.Life < 0 || in.Life > MaxTokenLife || (in.NoEnd && in.Life != 0) {
		bad = append(bad, fault.Field("expires_at", "A token lives for up to 5 years, or has no end"))
	}
	bad = append(bad, checkExecutors(in.Role, in.Executors)...)
	return fault.Invalid(bad...)
}

// Create makes a token and gives its secret, which can't be had again.
// Owners of the team only. Faults: NotFound, Denied, Invalid.
func (t *Tokens) Create(ctx context.Context, a Actor, in NewToken) (string, APIToken, error) {
	if err := a.Check(ManageTeam, in.TeamID); err != nil {
		return "", APIToken{}, err
	}
	in.Name = strings.TrimSpace(in.Name)
	if err := in.check(); err != nil {
		return "", APIToken{}, err
	}
	in.Executors = slices.Compact(slices.Sorted(slices.Values(in.Executors)))
	secret, now := newToken(), t.now()
	made := APIToken{
		TeamID: in.TeamID, Name: in.Name, Role: in.Role,
		Prefix: secret[:len(tokenMark)+4], Last4: secret[len(secret)-4:], Hash: digest(secret),
		CreatedBy: a.Name, CreatedAt: now, Executors: in.Executors,
	}
	if !in.NoEnd {
		life := TokenLife
		if in.Life > 0 {
			life = in.Life
		}
		made.ExpiresAt = now.Add(life)
	}
	id, err := t.store.InsertToken(ctx, made, Entry{
		At: now, Actor: a, Action: "token.create", Object: made.Object(), TeamID: made.TeamID,
		Changes: made.changes(),
	})
	if err != nil {
		return "", APIToken{}, fmt.Errorf("create token %s: %w", made.Name, err)
	}
	made.ID = id
	return secret, made, nil
}

// List gives the team's tokens, newest first. Faults: NotFound.
func (t *Tokens) List(ctx context.Context, a Actor, team int64) ([]APIToken, error) {
	if err := a.Check(Read, team); err != nil {
		return nil, err
	}
	return t.store.Tokens(ctx, team)
}

// Revoke ends a token at once. Owners of its team only.
// Faults: NotFound, Denied, Conflict (revoked already).
func (t *Tokens) Revoke(ctx context.Context, a Actor, id int64) error {
	tok, err := t.store.Token(ctx, id)
	if fault.KindOf(err) == fault.KindNotFound {
		return NoObject()
	}
	if err != nil {
		return fmt.Errorf("revoke token %d: %w", id, err)
	}
	if err := a.Check(ManageTeam, tok.TeamID); err != nil {
		return err
	}
	now := t.now()
	e := Entry{At: now, Actor: a, Action: "token.revoke", Object: tok.Object(), TeamID: tok.TeamID}
	if err := t.store.RevokeToken(ctx, id, now, e); err != nil {
		return fmt.Errorf("revoke token %d: %w", id, err)
	}
	return nil
}

// Resolve tells which token a secret is. Faults: Unauthenticated, with one
// text for unknown, expired and revoked.
func (t *Tokens) Resolve(ctx context.Context, secret, address, requestID string) (Actor, error) {
	if !strings.HasPrefix(secret, tokenMark) || len(secret) != len(tokenMark)+tokenDigits {
		return Actor{}, badToken()
	}
	hash := digest(secret)
	tok, err := t.store.TokenByHash(ctx, hash)
	switch {
	case fault.KindOf(err) == fault.KindNotFound:
		return Actor{}, badToken()
	case err != nil:
		return Actor{}, fmt.Errorf("resolve the token: %w", err)
	}
	now := t.now()
	if !sameDigest(hash, tok.Hash) || !tok.Live(now) {
		return Actor{}, badToken()
	}
	if now.Sub(tok.LastUsedAt) >= seenEvery {
		if err := t.store.TouchToken(ctx, tok.ID, now); err != nil {
			return Actor{}, fmt.Errorf("note that token %d was used: %w", tok.ID, err)
		}
	}
	return Actor{
		Kind: Token, ID: tok.ID, Name: tok.Name, Roles: map[int64]Role{tok.TeamID: tok.Role},
		Address: host(address), RequestID: requestID,
	}, nil
}

func badToken() error {
	return fault.Unauthenticated("The token is unknown, expired or revoked")
}

// stamp is an instant as text in an audit row.
func stamp(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}
