package access

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"math/big"
	"strings"
)

// newSecret is 256 bits that fit a cookie and a link.
func newSecret() string {
	b := make([]byte, 32)
	rand.Read(b) // never fails: it would crash the process
	return base64.RawURLEncoding.EncodeToString(b)
}

// tokenDigits is how many base-62 digits hold 160 bits.
const tokenDigits = 27

// tokenMark begins every API token, so that scanners and people know it.
const tokenMark = "ax_"

// newToken is 160 bits in letters and digits: it survives a shell, a URL and
// a double click.
func newToken() string {
	b := make([]byte, 20)
	rand.Read(b) // never fails
	digits := new(big.Int).SetBytes(b).Text(62)
	return tokenMark + strings.Repeat("0", tokenDigits-len(digits)) + digits
}

// digest is what is stored of a secret. The secrets are random and long, so
// one plain SHA-256 can't be searched; a dump of the table opens nothing.
func digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// sameDigest compares in constant time.
func sameDigest(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
