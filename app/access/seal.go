package access

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Sealer encrypts secrets that ax must be able to read again. Where names
// the one place that the sealed text belongs to, as "table.column.row": it
// can't be opened for another one.
type Sealer interface {
	Seal(plain, where string) (string, error)
	Open(sealed, where string) (string, error)
}

// sealMark begins every sealed text, with the version of its form.
const sealMark = "ax1"

// minSealSecret bounds the installation's secret from below, in bytes.
const minSealSecret = 16

// errSealed is the one error of everything that can't be opened: what
// exactly is wrong helps only an attacker.
var errSealed = errors.New("this sealed text does not open here: another secret of the installation, another place, or changed")

// Vault is a Sealer with AES-256-GCM. A sealed text is "ax1.<key>.<data>":
// the key's name, then nonce and ciphertext in base64url.
type Vault struct {
	newest string // the key that seals
	keys   map[string]cipher.AEAD
}

// NewVault derives its key from the installation's secret by HKDF-SHA256.
// Older secrets open what they sealed, and seal nothing any more.
func NewVault(secret []byte, older ...[]byte) (*Vault, error) {
	v := &Vault{keys: map[string]cipher.AEAD{}}
	for i, s := range append([][]byte{secret}, older...) {
		name, aead, err := sealKey(s)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			v.newest = name
		}
		v.keys[name] = aead
	}
	return v, nil
}

// sealKey gives the key of a secret and its name. The name is derived beside
// the key, not from it, so that it tells nothing.
func sealKey(secret []byte) (string, cipher.AEAD, error) {
	if len(secret) < minSealSecret {
		return "", nil, fmt.Errorf("the secret has %d bytes, sealing needs %d", len(secret), minSealSecret)
	}
	raw, err := hkdf.Key(sha256.New, secret, nil, "ax: secrets at rest", 32+4)
	if err != nil {
		return "", nil, fmt.Errorf("derive the key for secrets: %w", err)
	}
	block, err := aes.NewCipher(raw[:32])
	if err != nil {
		return "", nil, fmt.Errorf("make the cipher for secrets: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return "", nil, fmt.Errorf("make the cipher for secrets: %w", err)
	}
	return hex.EncodeToString(raw[32:]), aead, nil
}

// Seal encrypts with a nonce of its own: the same text gives another one
// each time.
func (v *Vault) Seal(plain, where string) (string, error) {
	aead := v.keys[v.newest]
	nonce := make([]byte, aead.NonceSize())
	rand.Read(nonce) // never fails: it would crash the process
	data := aead.Seal(nonce, nonce, []byte(plain), []byte(where))
	return sealMark + "." + v.newest + "." + base64.RawURLEncoding.EncodeToString(data), nil
}

// Open decrypts what Seal made for the same place.
func (v *Vault) Open(sealed, where string) (string, error) {
	parts := strings.Split(sealed, ".")
	if len(parts) != 3 || parts[0] != sealMark {
		return "", errSealed
	}
	aead, known := v.keys[parts[1]]
	data, err := base64.RawURLEncoding.Strict().DecodeString(parts[2])
	if !known || err != nil || len(data) < aead.NonceSize() {
		return "", errSealed
	}
	plain, err := aead.Open(nil, data[:aead.NonceSize()], data[aead.NonceSize():], []byte(where))
	if err != nil {
		return "", errSealed
	}
	return string(plain), nil
}
