package app

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPasswordHashesNameTheirPinnedCost(t *testing.T) {
	p := NewPasswords()
	one, err := p.Hash("correct horse battery")
	require.NoError(t, err)
	two, err := p.Hash("correct horse battery")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(one, "$argon2id$v=19$m=19456,t=2,p=1$"), one)
	require.NotEqual(t, one, two, "each has a salt of its own")
	require.True(t, p.Verify("correct horse battery", one))
	require.False(t, p.Verify("correct horse batterY", one))
}

func TestEveryCharacterOfAPasswordMatters(t *testing.T) {
	p := NewPasswords()
	for name, c := range map[string][2]string{
		"the 73rd byte":    {strings.Repeat("a", 72) + "b", strings.Repeat("a", 72) + "c"},
		"what follows NUL": {"0123456789\x00b", "0123456789\x00c"},
		"the last of 128":  {strings.Repeat("密", 127) + "b", strings.Repeat("密", 127) + "c"},
	} {
		t.Run(name, func(t *testing.T) {
			hash, err := p.Hash(c[0])
			require.NoError(t, err)
			require.True(t, p.Verify(c[0], hash))
			require.False(t, p.Verify(c[1], hash))
		})
	}
}

func TestAHashThatCanNotBeReadVerifiesNothing(t *testing.T) {
	p := NewPasswords()
	for _, hash := range []string{"", "plain", "$argon2id$v=19$m=19456,t=2,p=1$$",
		"$argon2id$v=19$m=19456,t=0,p=1$c2FsdHNhbHQ$a2V5a2V5a2V5", "$argon2id$v=19$m=19456,t=2,p=0$c2FsdHNhbHQ$a2V5a2V5a2V5",
		"$2a$10$aaaaaaaaaaaaaaaaaaaaaa"} {
		require.False(t, p.Verify("", hash), hash)
	}
}

func TestManyHashesAtOnceWaitForEachOther(t *testing.T) {
	p := NewPasswords()
	hash, err := p.Hash("correct horse battery")
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			require.LessOrEqual(t, len(p.working), hashesAtOnce)
			require.True(t, p.Verify("correct horse battery", hash))
		})
	}
	wg.Wait()
	require.Empty(t, p.working)
}
