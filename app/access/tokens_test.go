package access

import (
	"regexp"
	"testing"
	"time"

	"ax/app/fault"

	"github.com/stretchr/testify/require"
)

func ownerOf(team Team) Actor {
	return Actor{Kind: User, ID: 5, Name: "boss", Roles: map[int64]Role{team.ID: Owner}}
}

func TestATokenIsShownOnceAndStoredHashed(t *testing.T) {
	h := newHouse(t)
	team := h.team(t, "payments")
	secret, tok, err := h.tokens.Create(t.Context(), ownerOf(team), NewToken{TeamID: team.ID, Name: " ci-deploy ", Role: Editor})
	require.NoError(t, err)
	require.Regexp(t, regexp.MustCompile(`^ax_[0-9A-Za-z]{27}$`), secret)
	require.Equal(t, "ci-deploy", tok.Name)
	require.Equal(t, secret[:7], tok.Prefix)
	require.Equal(t, secret[26:], tok.Last4)
	require.Equal(t, digest(secret), h.memory.tokens[tok.ID].Hash)
	require.Equal(t, h.at.Add(365*24*time.Hour), tok.ExpiresAt)
	require.Equal(t, "boss", tok.CreatedBy)
	last := h.audit[len(h.audit)-1]
	require.Equal(t, "token.create", last.Action)
	require.Equal(t, team.ID, last.TeamID)
	require.NotContains(t, last.Changes, secret)

	a, err := h.tokens.Resolve(t.Context(), secret, "10.0.0.9:1", "req-2")
	require.NoError(t, err)
	require.Equal(t, Actor{Kind: Token, ID: tok.ID, Name: "ci-deploy", Roles: map[int64]Role{team.ID: Editor},
		Address: "10.0.0.9", RequestID: "req-2"}, a)
	require.False(t, a.Can(ManageTeam, team.ID))
	require.False(t, a.Can(Read, team.ID+1))
}

func TestSecretsDoNotRepeat(t *testing.T) {
	seen := map[string]bool{}
	for range 2000 {
		for _, s := range []string{newToken(), newSecret()} {
			require.False(t, seen[s])
			seen[s] = true
		}
	}
}

func TestTheFormOfANewToken(t *testing.T) {
	for name, c := range map[string]struct {
		in  NewToken
		bad []string
	}{
		"no name":            {NewToken{Role: Viewer}, []string{"name"}},
		"an unknown role":    {NewToken{Name: "x", Role: "admin"}, []string{"role"}},
		"no role":            {NewToken{Name: "x"}, []string{"role"}},
		"a life before now":  {NewToken{Name: "x", Role: Viewer, Life: -1}, []string{"expires_at"}},
		"a life of 6 years":  {NewToken{Name: "x", Role: Viewer, Life: 6 * 365 * 24 * time.Hour}, []string{"expires_at"}},
		"a life and no end":  {NewToken{Name: "x", Role: Viewer, Life: 1, NoEnd: true}, []string{"expires_at"}},
		"no end, on purpose": {NewToken{Name: "x", Role: Viewer, NoEnd: true}, nil},
		"an hour":            {NewToken{Name: "x", Role: Viewer, Life: time.Hour}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			team := h.team(t, "payments")
			c.in.TeamID = team.ID
			_, tok, err := h.tokens.Create(t.Context(), root, c.in)
			require.Equal(t, c.bad, fails(t, err))
			if err == nil && c.in.NoEnd {
				require.Zero(t, tok.ExpiresAt)
			}
		})
	}
}

func TestOnlyOwnersMakeAndRevokeTokens(t *testing.T) {
	h := newHouse(t)
	team, other := h.team(t, "payments"), h.team(t, "data")
	_, tok, err := h.tokens.Create(t.Context(), ownerOf(team), NewToken{TeamID: team.ID, Name: "x", Role: Viewer})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		actor Actor
		kind  fault.Kind
	}{
		"an editor of the team":    {Actor{Kind: User, Roles: map[int64]Role{team.ID: Editor}}, fault.KindDenied},
		"an owner of another team": {ownerOf(other), fault.KindNotFound},
		"an auditor":               {Actor{Kind: User, Auditor: true}, fault.KindDenied},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := h.tokens.Create(t.Context(), c.actor, NewToken{TeamID: team.ID, Name: "y", Role: Viewer})
			require.Equal(t, c.kind, fault.KindOf(err))
			require.Equal(t, c.kind, fault.KindOf(h.tokens.Revoke(t.Context(), c.actor, tok.ID)))
		})
	}
	require.EqualError(t, h.tokens.Revoke(t.Context(), ownerOf(other), 999), h.tokens.Revoke(t.Context(), ownerOf(other), tok.ID).Error(),
		"ids can't be counted up")
	_, err = h.tokens.List(t.Context(), ownerOf(other), team.ID)
	require.Equal(t, fault.KindNotFound, fault.KindOf(err))
	list, err := h.tokens.List(t.Context(), Actor{Kind: User, Roles: map[int64]Role{team.ID: Viewer}}, team.ID)
	require.NoError(t, err)
	require.Len(t, list, 1)
}

func TestADeadTokenIsRefusedAtOnceWithOneText(t *testing.T) {
	h := newHouse(t)
	team := h.team(t, "payments")
	revoked, tok, err := h.tokens.Create(t.Context(), root, NewToken{TeamID: team.ID, Name: "a", Role: Owner})
	require.NoError(t, err)
	expired, _, err := h.tokens.Create(t.Context(), root, NewToken{TeamID: team.ID, Name: "b", Role: Owner, Life: time.Hour})
	require.NoError(t, err)
	_, err = h.tokens.Resolve(t.Context(), revoked, "", "")
	require.NoError(t, err)
	require.NoError(t, h.tokens.Revoke(t.Context(), root, tok.ID))
	require.Equal(t, fault.KindConflict, fault.KindOf(h.tokens.Revoke(t.Context(), root, tok.ID)))
	h.forward(time.Hour)
	for name, secret := range map[string]string{
		"revoked": revoked, "expired": expired, "unknown": newToken(), "empty": "", "the hash": digest(revoked),
		"cut": revoked[:29], "longer": revoked + "0", "another mark": "az_" + revoked[3:],
	} {
		_, err := h.tokens.Resolve(t.Context(), secret, "", "")
		require.Equal(t, fault.KindUnauthenticated, fault.KindOf(err), name)
		require.EqualError(t, err, "The token is unknown, expired or revoked", name)
	}
}

func TestLastUseIsWrittenAtMostOnceAMinute(t *testing.T) {
	h := newHouse(t)
	team := h.team(t, "payments")
	secret, tok, err := h.tokens.Create(t.Context(), root, NewToken{TeamID: team.ID, Name: "a", Role: Owner})
	require.NoError(t, err)
	for range 180 {
		_, err := h.tokens.Resolve(t.Context(), secret, "", "")
		require.NoError(t, err)
		h.forward(time.Second)
	}
	require.Equal(t, 3, h.touches)
	require.WithinDuration(t, h.at, h.memory.tokens[tok.ID].LastUsedAt, time.Minute)
}
