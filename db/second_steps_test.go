package db_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
)

func TestASecondStepIsStoredAndUsedOnce(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		p := h.person(t, "ops", false)
		e := access.Entry{At: h.now, Action: "second_step.test", Object: p.Object()}
		none, err := h.SecondStep(t.Context(), p.ID)
		require.NoError(t, err)
		require.Zero(t, none)
		require.Equal(t, fault.KindConflict, fault.KindOf(h.ReplaceRecoveryCodes(t.Context(), p.ID, []string{"x"}, e)))

		step := access.SecondStep{UserID: p.ID, Secret: "sealed-1", CreatedAt: h.now}
		require.NoError(t, h.BeginSecondStep(t.Context(), step, e))
		stale := step
		step.Secret = "sealed-2"
		require.NoError(t, h.BeginSecondStep(t.Context(), step, e), "begun anew")
		used, err := h.UseStep(t.Context(), p.ID, 100, h.now)
		require.NoError(t, err)
		require.False(t, used, "not on yet")
		step.ConfirmedAt, step.UsedAt, step.LastStep = h.now, h.now, 100
		stale.ConfirmedAt = h.now
		require.Equal(t, fault.KindConflict, fault.KindOf(h.ConfirmSecondStep(t.Context(), stale, nil, e)), "the secret of an older page")
		require.NoError(t, h.ConfirmSecondStep(t.Context(), step, []string{"one", "two"}, e))
		require.Equal(t, fault.KindConflict, fault.KindOf(h.BeginSecondStep(t.Context(), step, e)))
		step.Left = 2
		is, err := h.SecondStep(t.Context(), p.ID)
		require.NoError(t, err)
		require.Equal(t, step, is)

		for i, c := range []struct {
			step int64
			ok   bool
		}{{100, false}, {99, false}, {101, true}, {101, false}, {102, true}} {
			ok, err := h.UseStep(t.Context(), p.ID, c.step, h.now)
			require.NoError(t, err)
			require.Equal(t, c.ok, ok, i)
		}
		for i, ok := range []bool{true, false} {
			got, err := h.UseRecoveryCode(t.Context(), p.ID, "one", h.now, e)
			require.NoError(t, err)
			require.Equal(t, ok, got, i)
		}
		ok, err := h.UseRecoveryCode(t.Context(), p.ID+1, "two", h.now, e)
		require.NoError(t, err)
		require.False(t, ok, "another person’s")
		require.NoError(t, h.ReplaceRecoveryCodes(t.Context(), p.ID, []string{"three"}, e))
		ok, err = h.UseRecoveryCode(t.Context(), p.ID, "two", h.now, e)
		require.NoError(t, err)
		require.False(t, ok, "void")

		for i, want := range []bool{true, false} {
			gone, err := h.DropSecondStep(t.Context(), p.ID, e)
			require.NoError(t, err)
			require.Equal(t, want, gone, i)
		}
		is, err = h.SecondStep(t.Context(), p.ID)
		require.NoError(t, err)
		require.Zero(t, is)
	})
}

func TestOfManyWhoShowTheSameCodeOneWins(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		p := h.person(t, "ops", false)
		step := access.SecondStep{UserID: p.ID, Secret: "sealed", CreatedAt: h.now}
		require.NoError(t, h.BeginSecondStep(t.Context(), step, access.Entry{At: h.now, Action: "a"}))
		step.ConfirmedAt = h.now
		require.NoError(t, h.ConfirmSecondStep(t.Context(), step, []string{"one"}, access.Entry{At: h.now, Action: "b"}))
		require.NoError(t, h.InsertHalf(t.Context(), access.HalfSignIn{Hash: "half", UserID: p.ID, CreatedAt: h.now, ExpiresAt: h.now.Add(time.Minute)}))
		for name, try := range map[string]func() (bool, error){
			"a code": func() (bool, error) { return h.UseStep(t.Context(), p.ID, 7, h.now) },
			"a recovery code": func() (bool, error) {
				return h.UseRecoveryCode(t.Context(), p.ID, "one", h.now, access.Entry{At: h.now, Action: "c"})
			},
			"a half sign-in": func() (bool, error) { return h.TakeHalf(t.Context(), "half") },
		} {
			var won atomic.Int32
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					if ok, err := try(); err == nil && ok {
						won.Add(1)
					}
				})
			}
			all.Wait()
			require.EqualValues(t, 1, won.Load(), name)
		}
	})
}

func TestHalfSignInsAreStoredAndPruned(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		half := access.HalfSignIn{Hash: "half", UserID: 7, Epoch: 3, CreatedAt: h.now, ExpiresAt: h.now.Add(time.Minute)}
		require.NoError(t, h.InsertHalf(t.Context(), half))
		is, err := h.Half(t.Context(), "half")
		require.NoError(t, err)
		require.Equal(t, half, is)
		_, err = h.sessions.Prune(t.Context())
		require.NoError(t, err)
		is, err = h.Half(t.Context(), "half")
		require.NoError(t, err)
		require.NotZero(t, is, "not over yet")
		h.now = h.now.Add(time.Minute)
		_, err = h.sessions.Prune(t.Context())
		require.NoError(t, err)
		is, err = h.Half(t.Context(), "half")
		require.NoError(t, err)
		require.Zero(t, is)
	})
}
