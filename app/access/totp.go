package access

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // RFC 6238 as authenticator apps speak it; HMAC-SHA-1 is not broken
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// The codes of authenticator apps, RFC 6238 with what every app can: SHA-1,
// six digits, 30 seconds.
const (
	totpPeriod = 30 * time.Second
	totpDigits = 6
	totpSkew   = 1 // steps that a phone's clock may be off, either way
)

// newTOTPSecret is 160 bits, as RFC 4226 recommends, in base32.
func newTOTPSecret() string {
	b := make([]byte, 20)
	rand.Read(b) // never fails
	return base32.StdEncoding.EncodeToString(b)
}

// totpStep is the number of the 30 seconds that at is in.
func totpStep(at time.Time) int64 { return at.Unix() / int64(totpPeriod/time.Second) }

// hotp is the code of RFC 4226 with n digits.
func hotp(key []byte, step int64, digits int) string {
	mac := hmac.New(sha1.New, key)
	var counter [8]byte
	binary.BigEndian.PutUint64(counter[:], uint64(step)) //nolint:gosec // steps since 1970 are positive
	mac.Write(counter[:])
	sum := mac.Sum(nil)
	at := sum[len(sum)-1] & 0xf
	value := binary.BigEndian.Uint32(sum[at:at+4]) & 0x7fffffff
	mod := uint32(1)
	for range digits {
		mod *= 10
	}
	return fmt.Sprintf("%0*d", digits, value%mod)
}

// totpMatch finds the step whose code it is, near now and later than the
// last one used. All are compared, so that time doesn't tell which it was.
func totpMatch(secret, code string, now time.Time, last int64) (step int64, ok bool) {
	key, err := base32.StdEncoding.DecodeString(secret)
	if err != nil || len(code) != totpDigits {
		return 0, false
	}
	for s := totpStep(now) - totpSkew; s <= totpStep(now)+totpSkew; s++ {
		same := subtle.ConstantTimeCompare([]byte(hotp(key, s, totpDigits)), []byte(code)) == 1
		if same && s > last && !ok {
			step, ok = s, true
		}
	}
	return step, ok
}

// totpURI is what an app reads from a picture or a link.
func totpURI(issuer, login, secret string) string {
	q := url.Values{"secret": {secret}, "issuer": {issuer}}
	return "otpauth://totp/" + url.PathEscape(issuer+":"+login) + "?" + strings.ReplaceAll(q.Encode(), "+", "%20")
}

// recoveryCodes is how many codes a person gets for the day the phone is
// gone.
const recoveryCodes = 10

// newRecoveryCode is 80 bits: too many to search from its plain hash.
func newRecoveryCode() string {
	b := make([]byte, 10)
	rand.Read(b) // never fails
	s := strings.ToLower(base32.StdEncoding.EncodeToString(b))
	return s[:4] + "-" + s[4:8] + "-" + s[8:12] + "-" + s[12:]
}

// typedCode is a code without what people put between its parts.
func typedCode(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case ' ', '-', '\t', '\u00a0':
			return -1
		}
		return r
	}, strings.ToLower(clip(s, 64)))
}

// recoveryDigest is what is stored of a recovery code. The person is in it,
// so that equal codes of two people don't look equal.
func recoveryDigest(user int64, code string) string {
	return digest(fmt.Sprintf("recovery %d %s", user, typedCode(code)))
}
