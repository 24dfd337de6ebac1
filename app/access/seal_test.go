package access

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func vault(t *testing.T, secret string, older ...string) *Vault {
	t.Helper()
	var old [][]byte
	for _, o := range older {
		old = append(old, []byte(o))
	}
	v, err := NewVault([]byte(secret), old...)
	require.NoError(t, err)
	return v
}

func TestASealedSecretOpensOnlyInItsPlace(t *testing.T) {
	v := vault(t, "the installation's secret")
	sealed, err := v.Seal("hunter2", "second_steps.secret.7")
	require.NoError(t, err)
	require.NotContains(t, sealed, "hunter2")
	again, err := v.Seal("hunter2", "second_steps.secret.7")
	require.NoError(t, err)
	require.NotEqual(t, sealed, again)
	plain, err := v.Open(sealed, "second_steps.secret.7")
	require.NoError(t, err)
	require.Equal(t, "hunter2", plain)

	key := strings.Split(sealed, ".")[1]
	for name, c := range map[string]struct{ sealed, where string }{
		"another row":        {sealed, "second_steps.secret.8"},
		"another column":     {sealed, "second_steps.other.7"},
		"one bit changed":    {sealed[:len(sealed)-4] + "AAAA", "second_steps.secret.7"},
		"cut":                {sealed[:len(sealed)-8], "second_steps.secret.7"},
		"no data":            {"ax1." + key + ".", "second_steps.secret.7"},
		"an unknown key":     {strings.Replace(sealed, key, "00000000", 1), "second_steps.secret.7"},
		"another form":       {strings.Replace(sealed, "ax1", "ax2", 1), "second_steps.secret.7"},
		"plain text":         {"hunter2", "second_steps.secret.7"},
		"nothing":            {"", "second_steps.secret.7"},
		"more than a sealed": {sealed + ".x", "second_steps.secret.7"},
	} {
		_, err := v.Open(c.sealed, c.where)
		require.ErrorIs(t, err, errSealed, name)
	}
}

func TestAnOlderSecretStillOpensAndDoesNotSeal(t *testing.T) {
	was := vault(t, "the older secret of all")
	sealed, err := was.Seal("hunter2", "a.b.1")
	require.NoError(t, err)
	is := vault(t, "the newer secret of all", "the older secret of all")
	plain, err := is.Open(sealed, "a.b.1")
	require.NoError(t, err)
	require.Equal(t, "hunter2", plain)
	sealed, err = is.Seal("hunter2", "a.b.1")
	require.NoError(t, err)
	_, err = was.Open(sealed, "a.b.1")
	require.ErrorIs(t, err, errSealed)
	_, err = NewVault([]byte("short"))
	require.ErrorContains(t, err, "the secret has 5 bytes")
}
