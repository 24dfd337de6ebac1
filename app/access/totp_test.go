package access

import (
	"encoding/base32"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Appendix B of RFC 6238 (SHA-1, eight digits) and appendix D of RFC 4226.
func TestTheVectorsOfTheRFCs(t *testing.T) {
	key := []byte("12345678901234567890")
	for at, want := range map[int64]string{
		59: "94287082", 1111111109: "07081804", 1111111111: "14050471",
		1234567890: "89005924", 2000000000: "69279037", 20000000000: "65353130",
	} {
		require.Equal(t, want, hotp(key, totpStep(time.Unix(at, 0)), 8), at)
	}
	for step, want := range []string{"755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"} {
		require.Equal(t, want, hotp(key, int64(step), 6), step)
	}
}

func TestACodeCountsNearItsTimeAndOnce(t *testing.T) {
	secret := base32.StdEncoding.EncodeToString([]byte("12345678901234567890"))
	key := []byte("12345678901234567890")
	now := time.Date(2026, 12, 1, 12, 0, 15, 0, time.UTC)
	at := totpStep(now)
	for name, c := range map[string]struct {
		step, last int64
		ok         bool
	}{
		"now":                     {at, 0, true},
		"a clock 30 s behind":     {at - 1, 0, true},
		"a clock 30 s ahead":      {at + 1, 0, true},
		"a minute behind":         {at - 2, 0, false},
		"a minute ahead":          {at + 2, 0, false},
		"used before":             {at, at, false},
		"older than the last one": {at - 1, at, false},
		"the next after the last": {at + 1, at, true},
	} {
		step, ok := totpMatch(secret, hotp(key, c.step, totpDigits), now, c.last)
		require.Equal(t, c.ok, ok, name)
		if ok {
			require.Equal(t, c.step, step, name)
		}
	}
	for _, odd := range []string{"", "12345", "1234567", "abcdef", "１２３４５６", strings.Repeat("1", 1000)} {
		_, ok := totpMatch(secret, odd, now, 0)
		require.False(t, ok, odd)
	}
	_, ok := totpMatch("not base32!", "123456", now, 0)
	require.False(t, ok)
}

func TestSecretsOfTheSecondStepAreLongAndReadable(t *testing.T) {
	require.Len(t, newTOTPSecret(), 32)
	require.NotEqual(t, newTOTPSecret(), newTOTPSecret())
	require.Regexp(t, `^([a-z2-7]{4}-){3}[a-z2-7]{4}$`, newRecoveryCode())
	require.Equal(t, recoveryDigest(7, "abcd-2345-abcd-2345"), recoveryDigest(7, " ABCD 2345abcd2345"))
	require.NotEqual(t, recoveryDigest(7, "abcd"), recoveryDigest(8, "abcd"))
	require.Equal(t, "otpauth://totp/ax.example.com:li@x?issuer=ax.example.com&secret=ABC", totpURI("ax.example.com", "li@x", "ABC"))
}
