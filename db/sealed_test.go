package db_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
	"ax/db"
	"ax/db/dbtest"
)

func vaultOf(t *testing.T, secret string, older ...string) *access.Vault {
	t.Helper()
	long := func(s string) []byte { return []byte(strings.Repeat(s, 32)) }
	var before [][]byte
	for _, s := range older {
		before = append(before, long(s))
	}
	v, err := access.NewVault(long(secret), before...)
	require.NoError(t, err)
	return v
}

// stepOf stores a second step whose secret is sealed by the vault.
func stepOf(t *testing.T, d *db.DB, v *access.Vault, user int64, secret, where string) {
	t.Helper()
	sealed, err := v.Seal(secret, where)
	require.NoError(t, err)
	at := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	require.NoError(t, d.BeginSecondStep(t.Context(), access.SecondStep{UserID: user, Secret: sealed, CreatedAt: at}, access.Entry{At: at, Actor: cli, Action: "second_step.begin"}))
}

func opened(t *testing.T, d *db.DB, v *access.Vault, user int64, where string) (string, error) {
	t.Helper()
	s, err := d.SecondStep(t.Context(), user)
	require.NoError(t, err)
	return v.Open(s.Secret, where)
}

func TestSecretsAreSealedAnewWithThePresentSecret(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		before, both, after := vaultOf(t, "a"), vaultOf(t, "b", "a"), vaultOf(t, "b")
		require.NoError(t, before.Check(t.Context(), d))
		stepOf(t, d, before, 7, "hush seven", "second_steps.secret.7")
		stepOf(t, d, before, 8, "hush eight", "second_steps.secret.8")

		require.NoError(t, both.Check(t.Context(), d))
		n, err := both.Reseal(t.Context(), d)
		require.NoError(t, err)
		require.Equal(t, 3, n, "two people's and the check's")
		n, err = both.Reseal(t.Context(), d)
		require.NoError(t, err)
		require.Zero(t, n)
		require.NoError(t, after.Check(t.Context(), d))
		plain, err := opened(t, d, after, 8, "second_steps.secret.8")
		require.NoError(t, err)
		require.Equal(t, "hush eight", plain)
		require.ErrorIs(t, before.Check(t.Context(), d), access.ErrOtherSecret)
	})
}

func TestAProcessWithAnotherSecretDoesNotServe(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		require.NoError(t, vaultOf(t, "a").Check(t.Context(), d))
		require.NoError(t, vaultOf(t, "a").Check(t.Context(), d), "another node of the same")
		stepOf(t, d, vaultOf(t, "a"), 7, "hush", "second_steps.secret.7")
		require.ErrorIs(t, vaultOf(t, "c").Check(t.Context(), d), access.ErrOtherSecret)
		_, err := vaultOf(t, "c").Reseal(t.Context(), d)
		require.ErrorContains(t, err, "second_steps.secret.7")
	})
}

func TestWhatShouldBeSealedIsNeverPlain(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		require.NoError(t, vaultOf(t, "a").Check(t.Context(), d))
		stored, _, err := d.Setting(t.Context(), "seal.check")
		require.NoError(t, err)
		require.NotContains(t, stored, "secrets")
		require.NoError(t, d.SetSetting(t.Context(), "seal.check", "ax can read its secrets"))
		require.ErrorContains(t, vaultOf(t, "a").Check(t.Context(), d), "plain text")
	})
}

// Two ciphertexts swapped by another hand open in neither place.
func TestSwappedSecretsOpenNowhere(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		v := vaultOf(t, "a")
		stepOf(t, d, v, 7, "hush seven", "second_steps.secret.8")
		stepOf(t, d, v, 8, "hush eight", "second_steps.secret.7")
		for user, where := range map[int64]string{7: "second_steps.secret.7", 8: "second_steps.secret.8"} {
			_, err := opened(t, d, v, user, where)
			require.Error(t, err)
		}
	})
}

func TestAChangeMeanwhileIsLeftAlone(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		stepOf(t, d, vaultOf(t, "a"), 7, "hush", "second_steps.secret.7")
		texts, err := d.SealedTexts(t.Context())
		require.NoError(t, err)
		require.Len(t, texts, 1)
		done, err := d.ReplaceSealed(t.Context(), access.SealedText{Place: texts[0].Place, Text: "what stood there before"}, "new")
		require.NoError(t, err)
		require.False(t, done)
		done, err = d.ReplaceSealed(t.Context(), texts[0], "new")
		require.NoError(t, err)
		require.True(t, done)
		_, err = d.ReplaceSealed(t.Context(), access.SealedText{Place: "tasks.spec.1"}, "x")
		require.Equal(t, fault.KindMalformed, fault.KindOf(err))
	})
}
