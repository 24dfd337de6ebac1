package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
)

func TestATokenIsGoodUntilItIsRevoked(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		team := h.team(t, "payments")
		secret, made, err := h.tokens.Create(t.Context(), cli, access.NewToken{TeamID: team.ID, Name: "部署 ci", Role: access.Editor})
		require.NoError(t, err)
		for range 3 {
			a, err := h.tokens.Resolve(t.Context(), secret, "10.0.0.9:1", "req-3")
			require.NoError(t, err)
			require.Equal(t, access.Actor{Kind: access.Token, ID: made.ID, Name: "部署 ci",
				Roles: map[int64]access.Role{team.ID: access.Editor}, Address: "10.0.0.9", RequestID: "req-3"}, a)
			h.now = h.now.Add(40 * time.Second)
		}
		list, err := h.tokens.List(t.Context(), cli, team.ID)
		require.NoError(t, err)
		made.LastUsedAt = h.now.Add(-40 * time.Second)
		require.Equal(t, []access.APIToken{made}, list)

		revoke := func() error { return h.tokens.Revoke(t.Context(), cli, made.ID) }
		oneWins(t, both(revoke, revoke), fault.KindConflict)
		_, err = h.tokens.Resolve(t.Context(), secret, "", "")
		require.Equal(t, fault.KindUnauthenticated, fault.KindOf(err))
		require.Equal(t, []string{"team.create", "token.create", "token.revoke"}, h.actions(t))
	})
}

func TestATokenEndsByItselfOrNever(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		team := h.team(t, "payments")
		year, _, err := h.tokens.Create(t.Context(), cli, access.NewToken{TeamID: team.ID, Name: "year", Role: access.Viewer})
		require.NoError(t, err)
		ever, _, err := h.tokens.Create(t.Context(), cli, access.NewToken{TeamID: team.ID, Name: "ever", Role: access.Viewer, NoEnd: true})
		require.NoError(t, err)
		h.now = h.now.Add(access.TokenLife - time.Millisecond)
		_, err = h.tokens.Resolve(t.Context(), year, "", "")
		require.NoError(t, err)
		h.now = h.now.Add(time.Millisecond)
		_, err = h.tokens.Resolve(t.Context(), year, "", "")
		require.Equal(t, fault.KindUnauthenticated, fault.KindOf(err))
		_, err = h.tokens.Resolve(t.Context(), ever, "", "")
		require.NoError(t, err)
	})
}
